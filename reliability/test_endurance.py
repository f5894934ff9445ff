"""The quick form: ten seconds of random fits by the package, ten by the command."""

import endurance
import pytest


@pytest.mark.parametrize("round_of", [endurance.by_package, endurance.by_command])
def test_nothing_grows(round_of):
    endurance.check(round_of.__name__, 10, round_of)
