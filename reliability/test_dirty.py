"""The quick form of dirty.py: every fault, in smaller tables."""

import dirty
import pytest


@pytest.mark.parametrize(
    "name, rows", [pytest.param(*case, id=case[0]) for case in dirty.sets(True)]
)
def test_every_learner_and_family_fits_or_names_the_remedy(name, rows):
    dirty.study(rows)


def test_the_command_refuses_missing_cells_or_drops_their_rows():
    rows = next(rows for name, rows in dirty.sets(True) if name == "a missing value")
    assert "row" in dirty.by_command(rows)
