"""Rows with missing cells, and values beside what is expected."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from upoe import UPoE, UPoEDetector


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    group = np.where(rng.random(400) < 0.5, -2.0, 2.0)
    a = group + 0.5 * rng.normal(size=400)
    return np.column_stack([a, a + 0.3 * rng.normal(size=400), rng.normal(size=400)])


@pytest.fixture(scope="module")
def model(rows):
    return UPoE().fit(rows)


def test_marginals_are_integrals_of_the_density(rows, model):
    cut = rows[:4].copy()
    cut[:, 1] = np.nan
    scores, errors = model.score_present(cut)
    assert_array_equal(errors, 0.0)
    t = np.linspace(-12, 12, 4801)
    for row, score in zip(rows, scores):
        line = np.tile(row, (len(t), 1))
        line[:, 1] = t
        total = np.log(np.exp(model.score_samples(line)).sum() * (t[1] - t[0]))
        assert_allclose(score, total, atol=1e-8)


def test_rows_without_holes_and_without_cells(rows, model):
    some = np.vstack([rows[:3], np.full((1, 3), np.nan)])
    assert_array_equal(model.score_samples(some)[:3], model.score_samples(rows[:3]))
    assert model.score_samples(some)[3] == 0.0
    assert_array_equal(model.transform(some)[:3], model.transform(rows[:3]))
    assert np.isfinite(model.transform(some)).all()


def test_the_shifted_column_is_blamed(rows, model):
    odd = rows[:50].copy()
    odd[:, 1] += 3 * rows[:, 1].std()
    found = model.surprises(odd)
    assert found.expected.shape == (50, 3) and found.names == ["x0", "x1", "x2"]
    assert np.mean([name == "x1" for name in found.blamed]) > 0.8
    assert (found.low < found.expected).all() and (found.expected < found.high).all()
    inside = (found.observed >= found.low) & (found.observed <= found.high)
    assert_array_equal(inside, found.surprise >= 0.1)
    assert found.words(0).startswith(found.blamed[0]) and ", expected " in found.words(0)
    assert list(found.to_frame().columns[:3]) == ["x0", "x0:expected", "x0:low"]


def test_intervals_hold_nine_of_ten(model):
    fresh = model.sample(400, random_state=1)
    found = model.surprises(fresh)
    inside = (fresh >= found.low) & (fresh <= found.high)
    assert 0.87 < inside.mean() < 0.93


def test_expected_values_of_a_row_with_holes(rows, model):
    cut = rows[:1].copy()
    cut[0, 2] = np.nan
    found = model.surprises(cut)
    assert np.isnan(found.observed[0, 2]) and found.blame[0, 2] == 0.0
    # The third column says nothing about the others.
    assert_allclose(found.expected[0, :2], model.surprises(rows[:1]).expected[0, :2], atol=0.3)


def test_the_detector_and_explain_take_rows_with_missing_cells():
    rng = np.random.default_rng(0)
    common = rng.normal(size=(800, 1))
    X = 10 + common + 0.4 * rng.normal(size=(800, 4))
    X[rng.random(X.shape) < 0.15] = np.nan
    detector = UPoEDetector(alpha=0.01).fit(X)
    odd = np.array([[10.0, 10.1, 14.0, np.nan], [10.0, 10.1, np.nan, np.nan]])
    assert detector.predict(odd).tolist() == [-1, 1]
    assert detector.p_values(odd)[0] < 0.01 < detector.p_values(odd)[1]
    parts = detector.explain(odd)
    assert_allclose(parts.base + parts.columns.sum(axis=1), -detector.score_samples(odd), rtol=1e-9)
    assert parts.columns[0].argmax() == 2 and (parts.columns[np.isnan(odd)] == 0).all()
    assert np.isfinite(parts.expected).all()

    model = UPoE(1).fit(X)
    why = model.explain(odd, split=True)
    assert_allclose(why.log_density, model.score_present(odd)[0], rtol=1e-9)
    whole = why.baseline + why.experts.sum(axis=1) + why.rest
    assert_allclose(whole, why.log_density, rtol=1e-9)
    by_column = why.baseline + why.experts_by_column.sum(axis=(1, 2)) + why.rest_by_column.sum(axis=1)
    assert_allclose(by_column, why.log_density, rtol=1e-9)
