"""Rows that count less than one each: weights, repeats, blocks, order."""

import warnings

import numpy as np
import pytest
from upoe import UPoE, UPoEDetector, UPoEWarning, detectable


def noise(rows, columns=5, seed=0):
    return np.random.default_rng(seed).normal(size=(rows, columns))


def experts(rows, **how):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return UPoE().fit(rows, **how).n_experts_


def test_the_scale_of_weights_is_no_evidence():
    rows = noise(300)
    assert experts(rows, sample_weight=np.full(300, 10.0)) == experts(rows) == 0
    # As counts they are ten times the rows.
    assert experts(rows, sample_weight=np.full(300, 10.0), counts=True) > 0
    with pytest.raises(ValueError, match="counts.*whole numbers"):
        experts(rows, sample_weight=np.full(300, 2.5), counts=True)


def test_repeated_rows_count_once_and_a_warning_says_so():
    rows = np.repeat(noise(200), 5, axis=0)
    with pytest.warns(UPoEWarning, match="200 independent rows instead of 1000.*repeated"):
        assert UPoE().fit(rows).n_experts_ == 0
    assert experts(rows, counts=True) > 0


def test_ordered_rows_count_less():
    rows = noise(1000)
    for i in range(1, len(rows)):
        rows[i] = 0.95 * rows[i - 1] + (1 - 0.95**2) ** 0.5 * rows[i]
    with pytest.warns(UPoEWarning, match="resemble those before them"):
        UPoE().fit(rows)
    assert experts(rows, ordered=True) == 0


def test_blocks_count_less_and_are_held_out_whole():
    rng = np.random.default_rng(1)
    blocks = np.repeat(np.arange(40), 25)
    rows = 0.6 * noise(1000) + 0.8 * rng.normal(size=(40, 5))[blocks]
    assert experts(rows, blocks=blocks) == 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = UPoE(holdout=0.2).fit(rows, blocks=[f"block {b}" for b in blocks])
        by_groups = UPoE(holdout=0.2).fit(rows, groups=blocks)
        detector = UPoEDetector().fit(rows, blocks=blocks, ordered=True, counts=True)
    assert model.training_["rows"] == 800 and detector.n_experts_ >= 0
    np.testing.assert_array_equal(model.path_, by_groups.path_)
    with pytest.raises(ValueError, match="give one of them"):
        UPoE().fit(rows, blocks=blocks, groups=blocks)
    with pytest.raises(ValueError, match=r"blocks.shape == \(3,\)"):
        UPoE().fit(rows, blocks=[1, 2, 3])


def test_what_can_be_found_grows_with_the_rows():
    few, many = detectable(300, 10), detectable(3000, 10)
    assert 0 < many["noise"] < many["gain"] < few["gain"]
    assert many["groups"] < few["groups"] and many["degrees_of_freedom"] > few["degrees_of_freedom"]
    assert detectable(10, 100)["gain"] is None
    with pytest.warns(UPoEWarning, match="found in 80 % of samples"):
        UPoE().fit(noise(300, 10))
