"""Odd rows: laws of the detector that users rely on."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.covariance import EllipticEnvelope

from upoe import UPoEDetector, UPoEWarning


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    return rng.normal(size=(400, 5)) @ rng.normal(size=(5, 5)) + 10.0


def test_false_alarms_on_fresh_rows_come_at_the_nominal_rate():
    rates = []
    for draw in range(120):
        rng = np.random.default_rng(draw)
        detector = UPoEDetector(alpha=0.05).fit(rng.normal(size=(100, 4)))
        rates.append((detector.predict(rng.normal(size=(500, 4))) == -1).mean())
    assert 0.04 < np.mean(rates) < 0.06


def test_training_rows_are_judged_by_a_tail(rows):
    clean = UPoEDetector().fit(rows)
    assert (clean.training_p_values_ <= 0.01).mean() <= 0.02
    shifted = rows.copy()
    shifted[:20, 2] += 8 * rows[:, 2].std()
    found = UPoEDetector().fit(shifted).training_p_values_ <= 0.01
    assert found[:20].mean() > 0.8 and found[20:].mean() < 0.02


def test_masked_outliers_are_found_nearly_as_often_as_by_a_minimum_covariance_determinant():
    ours, theirs = [], []
    for draw in range(10):
        rng = np.random.default_rng(draw)
        X = rng.normal(size=(500, 6)) @ rng.normal(size=(6, 6))
        X[np.arange(15), rng.integers(6, size=15)] += 6 * X.std()
        ours.append((UPoEDetector(contamination=0.03).fit_predict(X)[:15] == -1).mean())
        peer = EllipticEnvelope(contamination=0.03, random_state=0)
        theirs.append((peer.fit_predict(X)[:15] == -1).mean())
    # Within three rows of 150.
    assert np.mean(ours) >= np.mean(theirs) - 0.021


@pytest.mark.parametrize("method", ["core", "density"])
def test_contamination_calls_that_share_odd(method, rows):
    detector = UPoEDetector(method=method, contamination=0.1).fit(rows)
    labels = detector.predict(rows)
    assert (labels == -1).sum() == 40
    assert_array_equal(labels == -1, detector.decision_function(rows) < 0)
    for wrong in (0.0, 0.6, "much"):
        with pytest.raises(ValueError, match=r"contamination must be in \(0, 0.5]"):
            UPoEDetector(method=method, contamination=wrong).fit(rows)


def test_parts_are_exact_and_blame_the_right_column(rows):
    detector = UPoEDetector().fit(pd.DataFrame(rows, columns=list("abcde")))
    odd = rows[:50].copy()
    odd[:, 3] += 6 * rows[:, 3].std()
    odd[7, 1] = 1e15
    parts = detector.explain(pd.DataFrame(odd, columns=list("abcde")))
    oddness = -detector.score_samples(pd.DataFrame(odd, columns=list("abcde")))
    assert_allclose(parts.base + parts.columns.sum(axis=1), oddness, rtol=1e-9)
    total = parts.base + parts.directions.sum(axis=1) + parts.rest + parts.alone.sum(axis=1)
    assert_allclose(total, oddness, rtol=1e-9)
    blamed = np.delete(parts.columns, 7, axis=0).argmax(axis=1)
    assert (blamed == 3).mean() > 0.9
    assert ((odd[:, 3] > parts.high[:, 3]) & (parts.expected[:, 3] < parts.high[:, 3])).mean() > 0.9
    said, low, high = parts.reasons[0], parts.low[0, 3], parts.high[0, 3]
    expected = f"d {odd[0, 3]:.1f}, expected {parts.expected[0, 3]:.1f} ({low:.1f} to {high:.1f}) given the others"
    assert said.startswith(expected), (said, expected)
    frame = parts.to_frame()
    assert_allclose(frame["base"] + frame[list("abcde")].sum(axis=1), frame["oddness"])
    assert parts.to_frame("direction").shape == (50, 6)


def test_saved_detectors_give_the_same_bits(rows, tmp_path):
    for given in ({"alpha": 0.02}, {"contamination": 0.05}):
        detector = UPoEDetector(random_state=3, **given).fit(rows)
        detector.save(tmp_path / "rows.detector")
        for again in (UPoEDetector.load(tmp_path / "rows.detector"), pickle.loads(pickle.dumps(detector))):
            assert again.get_params() == {**detector.get_params(), "n_experts": again.n_experts}
            assert_array_equal(again.decision_function(rows), detector.decision_function(rows))
            assert_array_equal(again.p_values(rows), detector.p_values(rows))
    with pytest.raises(AttributeError, match="has no density: set method='density'"):
        detector.sample(3)


def test_p_values_agree_with_predictions(rows):
    detector = UPoEDetector(alpha=0.1).fit(rows)
    fresh = rows + np.random.default_rng(1).normal(size=rows.shape)
    assert_array_equal(detector.predict(fresh) == -1, detector.p_values(fresh) <= 0.1)


def test_rows_that_say_little_are_said_to(rows):
    constant = rows.copy()
    constant[:, 2] = 7.0
    with pytest.warns(UPoEWarning, match="column x2 is constant"):
        assert np.isfinite(UPoEDetector().fit(constant).score_samples(constant)).all()
    with pytest.warns(UPoEWarning, match="fit at least 99 rows"):
        UPoEDetector(alpha=0.01).fit(rows[:50])
    for wrong, match in (
        (rows[:1], "minimum of 2"),
        (np.ones((9, 2)), "none of the 2 column"),
        (np.where(rows > 15, np.inf, rows), "contains infinity"),
    ):
        with pytest.raises(ValueError, match=match):
            UPoEDetector().fit(wrong)
    with pytest.raises(ValueError, match="6 features"):
        UPoEDetector().fit(rows).predict(np.ones((3, 6)))
    with pytest.raises(ValueError, match="method = 'ln p': must be 'core' or 'density'"):
        UPoEDetector(method="ln p").fit(rows)


def test_another_fit_leaves_nothing_behind(rows):
    detector = UPoEDetector(1, method="density").fit(rows)
    assert detector.tail(rows, 99).shape == (400,)
    detector.set_params(method="core").fit(rows)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert detector.score_samples(rows).shape == (400,) and not hasattr(detector, "experts_")
