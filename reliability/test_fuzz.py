"""The quick form: every target survives its corpus, and all but `fit` five seconds more."""

import fuzz
import pytest


@pytest.fixture(scope="session")
def built():
    fuzz.build()


@pytest.mark.parametrize("target", fuzz.TARGETS)
def test_nothing_breaks(target, built):
    # Chance still finds faults of fits: see docs/reliability.md.
    run = fuzz.run(target, seconds=0 if target == "fit" else 5)
    assert run["executions"] > 0 and not run["said"], run["said"]
