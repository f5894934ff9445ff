"""The quick form: every target survives its corpus and five seconds more."""

import fuzz
import pytest


@pytest.fixture(scope="session")
def built():
    fuzz.build()


@pytest.mark.parametrize("target", fuzz.TARGETS)
def test_nothing_breaks(target, built):
    run = fuzz.run(target, seconds=5, seed=1)
    assert run["executions"] > 0 and not run["said"], run["said"]
