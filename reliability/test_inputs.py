"""The quick form of the laws is python/tests/test_properties.py; this checks that they are counted."""

import inputs


def test_examples_are_counted():
    run = inputs.run("test_ways_back", examples=5)
    assert run["examples"] >= 5 and not run["broken"], run["said"]
