"""Missing cells are learned from, filled in and conditioned on."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from upoe import UPoE, UPoEImputer, UPoEWarning

NAMES = ["a", "b", "c"]
CRABS = Path(__file__).parents[2] / "crates/upoe/tests/data/crabs.csv"


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    a = np.where(rng.random(400) < 0.5, -2.0, 2.0) + 0.5 * rng.normal(size=400)
    return np.column_stack([a, a + 0.3 * rng.normal(size=400), rng.normal(size=400)])


@pytest.fixture(scope="module")
def holed(rows):
    holed = rows.copy()
    holed[np.random.default_rng(1).random(rows.shape) < 0.2] = np.nan
    return holed


@pytest.fixture(scope="module")
def model(rows):
    return UPoE().fit(pd.DataFrame(rows, columns=NAMES))


@pytest.fixture(scope="module")
def fitted(holed):
    with pytest.warns(UPoEWarning, match="% of all cells are missing, in .* of 400 rows") as said:
        model = UPoE().fit(holed)
    assert len(said) == 1 and "`c1`" in str(said[0].message)
    return model


def line(model, row, column):
    """A grid along a column, and the density on it by ratios of the model's own."""
    t = np.linspace(-15, 15, 30_001)
    points = np.tile(row, (len(t), 1))
    points[:, column] = t
    p = np.exp(model.score_samples(points))
    return t, p / (p.sum() * (t[1] - t[0]))


def frame(rows):
    return pd.DataFrame(rows, columns=NAMES)


def test_one_missing_cell_has_the_mean_and_quantiles_of_its_line(rows, model):
    cut = rows[:5].copy()
    cut[:, 1] = np.nan
    found = model.impute(frame(cut), interval=0.8)
    medians = model.impute(frame(cut), method="median")
    for i, row in enumerate(cut):
        t, p = line(model, row, 1)
        cdf = np.cumsum(p) * (t[1] - t[0])
        assert_allclose(found.values[i, 1], (t * p).sum() * (t[1] - t[0]), atol=1e-6)
        at = np.interp([0.1, 0.5, 0.9], cdf, t)
        assert_allclose([found.low[i, 1], medians[i, 1], found.high[i, 1]], at, atol=2e-3)
    assert_array_equal(found.low[:, [0, 2]], cut[:, [0, 2]])
    expected = model.expect(frame(cut), "b", interval=0.8)
    assert_array_equal(expected.mean, found.values[:, 1])
    assert_array_equal(expected.low, found.low[:, 1])
    # What is in the column does not matter.
    assert_array_equal(model.expect(frame(rows[:5]), 1).mean, expected.mean)


def test_values_that_are_there_stay_and_draws_repeat(holed, fitted):
    there = ~np.isnan(holed)
    for filled in (fitted.impute(holed), fitted.impute(holed, method="draw")):
        assert_array_equal(filled[there], holed[there])
        assert np.isfinite(filled).all()
    five = fitted.impute(holed, n_draws=5)
    assert five.shape == (5, *holed.shape)
    assert_array_equal(five[0], fitted.impute(holed, method="draw"))
    assert_array_equal(five, fitted.impute(holed, n_draws=5, random_state=0))
    assert (fitted.impute(holed, n_draws=5, random_state=1) != five).any()
    assert_array_equal(fitted.impute(holed[there.all(axis=1)]), holed[there.all(axis=1)])
    assert_array_equal(UPoE(n_jobs=1).fit(holed).impute(holed), fitted.impute(holed))


def test_draws_have_the_mean_of_the_cells(rows, model):
    cut = [[1.9, np.nan, np.nan]]
    draws = model.impute(frame(cut), n_draws=4000)[:, 0, 1:]
    means = model.condition({"a": 1.9}).mean()
    error = draws.std(axis=0) / np.sqrt(len(draws))
    assert (np.abs(draws.mean(axis=0) - means) < 5 * np.sqrt(2) * error).all()


def test_intervals_hold_what_was_removed(rows, holed, fitted):
    found = fitted.impute(holed, interval=0.9)
    gone = np.isnan(holed)
    inside = (found.low <= rows) & (rows <= found.high)
    assert 0.83 < inside[gone].mean() < 0.97 and inside[~gone].all()
    # Better than the columns' means by far where another column knows.
    error = np.abs(found.values - rows)[gone[:, 1] & ~gone[:, 0], 1].mean()
    assert error < 0.4 < np.abs(rows[:, 1] - rows[:, 1].mean()).mean()


def test_a_condition_is_a_density(rows, model):
    one = model.condition({"a": 2.0, "c": 0.0})
    assert (one.columns_, one.names_, one.acceptance_) == ([1], ["b"], 1.0)
    t, p = line(model, [2.0, 0.0, 0.0], 1)
    assert_allclose(np.exp(one.score_samples(t[:, None])), p, atol=1e-9)
    cdf = np.cumsum(p) * (t[1] - t[0])
    assert_allclose(one.quantile([0.05, 0.5])[:, 0], np.interp([0.05, 0.5], cdf, t), atol=2e-3)
    assert_allclose(one.mean(), (t * p).sum() * (t[1] - t[0]), atol=1e-6)
    drawn = one.sample(3000)[:, 0]
    assert abs(drawn.mean() - one.mean()[0]) < 5 * drawn.std() / np.sqrt(3000)
    assert_array_equal(one.sample(40), one.sample(100)[:40])
    # Of two columns: ln p(row) − ln p(given), which is the ratio of what the model says.
    two = model.condition({0: 2.0})
    some = np.array([[2.1, 0.3], [1.5, -1.0]])
    whole = frame(np.column_stack([[2.0, 2.0], some]))
    given = model.score_samples(frame([[2.0, np.nan, np.nan]]))
    assert_allclose(two.score_samples(some), model.score_samples(whole) - given, atol=1e-12)
    assert_array_equal(two.score_samples(pd.DataFrame(some, columns=["b", "c"])), two.score_samples(some))
    assert two.quantile(0.5).shape == (2,) and two.quantile([0.1, 0.9]).shape == (2, 2)


def test_ranges_are_met_and_the_density_counts_them(model):
    above = model.condition({"a": (0.0, None)})
    assert 0.4 < above.acceptance_ < 0.6
    assert (above.sample(500)[:, 0] > 0.0).all()
    scores = above.score_samples([[-0.1, 0.0, 0.0], [1.9, 2.0, 0.0]])
    inside = model.score_samples(frame([[1.9, 2.0, 0.0]]))[0] - np.log(above.acceptance_)
    assert scores[0] == -np.inf and scores[1] == inside
    assert 1.5 < above.mean()[1] < 2.5 and above.quantile(0.01)[0] > 0.0
    # Beside a value.
    both = model.condition({"c": 0.0, "a": (None, 0.0)})
    assert both.names_ == ["a", "b"] and (both.sample(50)[:, 0] < 0.0).all()


def test_bad_conditions_are_refused(model):
    for given, said in [
        ({}, "give a dict"),
        (5, "give a dict"),
        ({"x": 1.0}, "no column 'x'; its columns are a, b, c"),
        ({3: 1.0}, "no column 3; columns are numbered from 0 to 2"),
        ({"a": "high"}, "give a finite number, or a range"),
        ({"a": np.inf}, "give a finite number, or a range"),
        ({"a": 1.0, 0: 2.0}, "column 0 is given twice"),
        ({"a": (2.0, 1.0)}, "no value lies in this range"),
        ({"a": (1.0,)}, "a range is"),
        ({"a": (1e6, None)}, "fewer than 1 in 10,000"),
        ({"a": 1.0, "b": 1.0, "c": 1.0}, "all columns are given"),
    ]:
        with pytest.raises(ValueError, match=said):
            model.condition(given)
    one = model.condition({"a": 1.0})
    for X, said in [([[1.0]], "over 2 columns: b, c"), ([[1.0, np.nan]], "row 0, column 'c'")]:
        with pytest.raises(ValueError, match=said):
            one.score_samples(X)
    with pytest.raises(ValueError, match="must be b, c, in this order"):
        one.score_samples(pd.DataFrame([[1.0, 2.0]], columns=["c", "b"]))
    with pytest.raises(ValueError, match="probabilities between 0 and 1"):
        one.quantile(1.5)


@pytest.mark.filterwarnings("ignore")
def test_values_outside_a_subspace_are_refused(rows):
    twice = frame(np.column_stack([rows[:, 0], rows[:, 1], 2 * rows[:, 0]]))
    model = UPoE().fit(twice)
    with pytest.raises(ValueError, match='do not go together: column "[ac]" would leave the subspace'):
        model.condition({"a": 1.0, "c": 5.0})
    one = model.condition({"a": 1.0})
    assert_allclose(one.sample(5)[:, 1], 2.0, atol=1e-6)
    cut = twice.to_numpy()[:1].copy()
    cut[0, 1], cut[0, 2] = np.nan, cut[0, 2] + 1.0
    with pytest.raises(ValueError, match="row 0: its values do not go together"):
        model.impute(frame(cut))


def test_bad_requests_are_refused(rows, model):
    X = frame(rows)
    for call, said in [
        (lambda: model.impute(X, method="mode"), "'mean', 'median', 'draw'"),
        (lambda: model.impute(X, method="mean", n_draws=2), "draws are of method='draw'"),
        (lambda: model.impute(X, n_draws=0), "at least 1"),
        (lambda: model.impute(X, n_draws=2, interval=0.9), "draws have no interval"),
        (lambda: model.impute(X, interval=1.0), "between 0 and 1"),
        (lambda: model.impute(frame(rows + np.inf)), "infinity: row 0"),
        (lambda: model.expect(X, "x"), "target: the model has no column 'x'"),
        (lambda: model.expect(X, 1, interval=0), "between 0 and 1"),
        (lambda: UPoE().fit(rows, missing="ignore"), "must be one of 'model', 'error', 'drop'"),
        (lambda: UPoE().fit([[np.nan, 1.0], [np.nan, 2.0]]), "column 0 has no value in any row"),
        (lambda: UPoE().fit([[np.nan, 1.0], [1.0, np.nan]], missing="drop"), "every row has a missing cell"),
    ]:
        with pytest.raises(ValueError, match=said):
            call()


def test_a_fit_says_or_refuses_or_drops(rows, holed):
    with pytest.raises(ValueError, match="contains NaN: row"):
        UPoE().fit(holed, missing="error")
    complete = ~np.isnan(holed).any(axis=1)
    with pytest.warns(UPoEWarning, match=f"{(~complete).sum()} of 400 rows have missing cells"):
        dropped = UPoE(1).fit(holed, missing="drop", sample_weight=np.arange(400.0))
    plain = UPoE(1).fit(holed[complete], sample_weight=np.arange(400.0)[complete])
    assert_array_equal(dropped.score_samples(rows), plain.score_samples(rows))
    # Without missing cells nothing changes, to the bit.
    for missing in ("model", "error", "drop"):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model = UPoE(1).fit(rows, missing=missing)
        assert_array_equal(model.score_samples(rows), UPoE(1).fit(rows).score_samples(rows))


def test_weights_blocks_and_held_out_rows_may_be_there_too(holed, fitted):
    with pytest.warns(UPoEWarning, match="are missing"):
        model = UPoE(1, holdout=0.2).fit(holed, sample_weight=np.ones(400), groups=np.arange(400) // 4)
    held = model.training_["log_density"]["holdout"]
    assert np.isfinite(held) and abs(held - fitted.score(holed)) < 0.5
    assert any("missing at random" in notice for notice in fitted.notices_)


def test_stacks_fill_in_too(holed, rows):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        stack = UPoE(quality="good").fit(rows)
    some = holed[:8]
    filled = stack.impute(some, interval=0.9)
    assert np.isfinite(filled.values).all() and (filled.low <= filled.high).all()
    assert stack.condition({0: 2.0}).sample(3).shape == (3, 2)


@pytest.mark.filterwarnings("ignore")
def test_the_imputer_is_the_density_with_iterative_imputers_manners(rows, holed, fitted):
    imputer = UPoEImputer().fit(holed)
    assert_array_equal(imputer.transform(holed), fitted.impute(holed))
    drawn = UPoEImputer(sample_posterior=True, random_state=3)
    assert (drawn.fit_transform(holed) != imputer.transform(holed)).any()
    assert_array_equal(drawn.transform(holed), drawn.transform(holed))
    # Names, indicators and empty columns are IterativeImputer's.
    X = pd.DataFrame(np.column_stack([holed, np.full(400, np.nan)]), columns=[*NAMES, "empty"])
    for keep in (False, True):
        asked = dict(add_indicator=True, keep_empty_features=keep)
        ours, theirs = UPoEImputer(**asked).fit(X), IterativeImputer(**asked).fit(X.to_numpy().copy())
        names = theirs.get_feature_names_out(X.columns)
        assert list(ours.get_feature_names_out()) == list(names)
        a, b = ours.transform(X), theirs.transform(X.to_numpy().copy())
        assert a.shape == b.shape
        gone = np.isnan(holed).any(axis=0).sum() + 1
        assert_array_equal(a[:, -gone:], b[:, -gone:])
        assert_array_equal(a[:, 3], 0.0 if keep else b[:, 3])
    coded = np.where(np.isnan(holed), -999.0, holed)
    assert_array_equal(UPoEImputer(missing_values=-999).fit_transform(coded), imputer.transform(holed))
    with pytest.raises(ValueError, match="NaN: row .*missing_values is -999"):
        UPoEImputer(missing_values=-999).fit(holed)
    with pytest.raises(ValueError, match="must be one of 'mean', 'median'"):
        UPoEImputer(strategy="mode").fit(holed)
    pipe = make_pipeline(StandardScaler(), UPoEImputer(), UPoE(1)).fit(holed)
    assert pipe.transform(holed).shape == (400, 1)
    assert list(UPoEImputer().set_output(transform="pandas").fit_transform(X[NAMES]).columns) == NAMES


def test_experts_that_are_significant_with_missing_cells_stay():
    # The same splits as bench/kept.py; a price of ½ ln N for each parameter leaves one expert here.
    rows = pd.read_csv(CRABS)[["FL", "RW", "CL", "CW", "BD"]].to_numpy(float)
    rng = np.random.default_rng(4)
    order = rng.permutation(len(rows))
    held, train = rows[order[:50]], rows[order[50:]]
    holed = np.where(rng.random(train.shape) < 0.2, np.nan, train)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model, gaussian = UPoE(random_state=4).fit(holed), UPoE(0).fit(holed)
    assert model.n_experts_ == 2
    assert model.score(held) > gaussian.score(held) + 0.3


def test_best_pools_mixtures_that_learn_from_the_cells_that_are_there(holed, fitted, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UPoEWarning)
        best = UPoE(quality="best").fit(holed)
    assert any(kind == "mixture" for kind, _ in best.members_)
    fresh = np.random.default_rng(5)
    a = np.where(fresh.random(2000) < 0.5, -2.0, 2.0) + 0.5 * fresh.normal(size=2000)
    rows = np.column_stack([a, a + 0.3 * fresh.normal(size=2000), fresh.normal(size=2000)])
    # The entropies of two groups of deviation 0.5, and of normals of deviation 0.3 and 1.
    truth = -np.log(2) - np.log(0.5 * 0.3) - 1.5 * (1 + np.log(2 * np.pi))
    assert best.score(rows) > truth - 0.1
    found = best.impute(holed, interval=0.9)
    known = ~np.isnan(holed)
    assert_array_equal(found.values[known], holed[known])
    gone = ~known
    assert (found.low[gone] < found.high[gone]).all()
    best.save(tmp_path / "best.upoe")
    again = UPoE.load(tmp_path / "best.upoe")
    assert_array_equal(again.score_present(holed[:50])[0], best.score_present(holed[:50])[0])
    assert_array_equal(again.impute(holed[:50]), best.impute(holed[:50]))
