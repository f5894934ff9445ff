"""The quick form: every target survives its corpus and inputs made from it."""

import fuzz
import pytest


@pytest.fixture(scope="session")
def built():
    fuzz.build()


@pytest.mark.parametrize("target", fuzz.TARGETS)
def test_nothing_breaks(target, built):
    run = fuzz.quick(target)
    assert run["executions"] > 0 and not run["said"], run["said"]
