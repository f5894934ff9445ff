"""The quick form of layers.py: some of its draws."""

import layers


def test_gaussian_rows_get_no_layer():
    # At 95 %, 16 or fewer of 20 draws in 1 of 60 runs.
    assert layers.gaussian(300, 5, 20) > 16


def test_elliptical_rows_get_one_radial_expert():
    # At 90 %, 6 or fewer of 10 draws in 1 of 80 runs.
    assert layers.elliptical(1000, 10, 10) > 6
