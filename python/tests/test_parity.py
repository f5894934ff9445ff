"""The command and the package report the same figures, to the bit."""

import json
import math
import warnings

import numpy as np
import pandas as pd
import pytest
from test_files import CRABS, upoe

from upoe import UPoE, UPoEDetector, UPoEICA, _settings


def crabs(rng):
    """Real measurements, rows held out at random."""
    columns = ["FL", "RW", "CL", "CW", "BD"]
    return pd.read_csv(CRABS)[columns], {}, {"holdout": 0.2}


def weighted(rng):
    """Unequal weights, some of them 0, in training and held-out rows."""
    X = rng.normal(size=(300, 4))
    X[:, 0] += rng.choice([-3, 3], 300)
    return X, {"weights": rng.integers(0, 4, 300) * 0.7}, {"holdout": 0.3}


def degenerate(rng):
    """A constant and a dependent column; rows of weight 0 that leave the subspace."""
    X = rng.normal(size=(200, 5))
    X[:, 0] += rng.choice([-3, 3], 200)
    X[:, 3], X[:, 4] = 2.0, X[:, 0] - X[:, 1]
    weights = rng.exponential(size=200)
    weights[::7] = 0.0
    X[::7, 4] += 1.0
    return X, {"weights": weights}, {"holdout": 0.25}


def reduced(rng):
    """Dropped dimensions, modelled as noise."""
    X = rng.standard_t(3, size=(400, 6)) @ rng.normal(size=(6, 6))
    return X, {}, {"holdout": 0.2, "n_dims": 3}


def grouped(rng):
    """Whole groups held out."""
    X = np.exp(rng.normal(size=(250, 3)))
    return X, {"groups": rng.integers(0, 9, 250)}, {"holdout": 0.2}


@pytest.mark.parametrize("table", [crabs, weighted, degenerate, reduced, grouped])
def test_all_figures_agree_to_the_bit(table, tmp_path):
    X, extra, params = table(np.random.default_rng(11))
    X = pd.DataFrame(X)
    X.columns = [str(c) if isinstance(c, str) else f"x{c}" for c in X.columns]
    file = tmp_path / "table.csv"
    X.assign(**extra).to_csv(file, index=False)
    flags = ["--holdout", params["holdout"], "--seed", 4, "--quiet", "--json"]
    flags += ["--columns", ",".join(X.columns)]
    flags += ["--weights", "weights"] if "weights" in extra else []
    flags += ["--holdout-by", "groups"] if "groups" in extra else []
    flags += ["--dims", params["n_dims"]] if "n_dims" in params else []
    command = json.loads(upoe("fit", file, *flags))

    model = UPoE(random_state=4, **params)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model.fit(X, sample_weight=extra.get("weights"), groups=extra.get("groups"))

    training = model.training_
    for key in ("rows", "holdout_rows", "weight"):
        assert command[key] == training[key], key
    for space in ("log_likelihood", "log_density"):
        for figure in ("train", "holdout", "holdout_standard_error"):
            assert command[space].get(figure) == training[space][figure], (space, figure)
    assert training["log_density"]["holdout"] is not None
    assert command["stop_reason"] == model.stop_reason_
    assert command["stop_message"] == model.stop_message_
    # The command and the package name their own remedies.
    assert len(command["notices"]) == len(model.notices_)
    notices = [notice.split(" (`")[0] for notice in model.notices_]
    assert all(map(str.startswith, command["notices"], notices))
    path = [[p["train"], math.nan if p["holdout"] is None else p["holdout"]] for p in command["path"]]
    np.testing.assert_array_equal(path, model.path_)
    assert command["rank"] == model.rank_
    assert len(command["experts"]) == model.n_experts_ > 0
    for j, expert in enumerate(command["experts"]):
        assert expert["gain"] == -expert["q"] == model.gains_[j]
        assert expert.get("p_value", math.nan) == model.p_values_[j]
        assert expert["family"] == model.experts_[j].family
        assert expert["filter"] == expert["loadings"] == model.components_[j].tolist()
        assert expert["pattern"] == model.mixing_[:, j].tolist()
        assert expert["direction"] == model.directions_[j].tolist()
        assert expert["parameters"] == model.experts_[j].parameters
        assert expert["iterations"] == model.experts_[j].n_iter


def test_defaults_agree():
    for estimator in (UPoE(), UPoEDetector(), UPoEICA()):
        asked = _settings.settings(estimator.get_params())
        assert {name: asked[name] for name in _settings.DEFAULTS} == _settings.DEFAULTS


def test_tails_agree_to_the_bit(tmp_path):
    X = pd.read_csv(CRABS)[["FL", "RW", "CL", "CW", "BD"]]
    model = UPoE(random_state=4).fit(X)
    model.save(tmp_path / "crabs.upoe")
    lines = upoe("score", tmp_path / "crabs.upoe", CRABS, "--tail", 2000, "--seed", 4, "--quiet")
    cells = np.array([line.split(",") for line in lines.split()[1:]], dtype=float)
    np.testing.assert_array_equal(cells[:, 0], model.score_samples(X))
    np.testing.assert_array_equal(cells[:, 1], model.tail(X, 2000))


def test_missing_cells_agree_to_the_bit(tmp_path):
    X = pd.read_csv(CRABS)[["FL", "RW", "CL", "CW", "BD"]]
    holed = X.mask(np.random.default_rng(6).random(X.shape) < 0.15)
    holed.to_csv(tmp_path / "holes.csv", index=False)
    file, table = tmp_path / "crabs.upoe", tmp_path / "holes.csv"
    fit = ("fit", table, "--missing", "model", "--holdout", 0.2, "--seed", 4, "--quiet")
    command = json.loads(upoe(*fit, "--json"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model = UPoE(random_state=4, holdout=0.2).fit(holed)
    assert command["log_density"]["train"] == model.training_["log_density"]["train"]
    assert command["log_density"]["holdout"] == model.training_["log_density"]["holdout"]
    assert [e["gain"] for e in command["experts"]] == model.gains_.tolist() != []
    model.save(file)

    def numbers(*args):
        return np.array([line.split(",") for line in upoe(*args, "--quiet").split()[1:]], dtype=float)

    few = holed[:60]
    few.to_csv(table, index=False)
    for method in ("mean", "median", "draw"):
        found = numbers("impute", file, table, "--method", method, "--seed", 4)
        np.testing.assert_array_equal(found, model.impute(few, method=method))
    found = numbers("impute", file, table, "--interval", 0.8)
    ours = model.impute(few, interval=0.8, random_state=0)
    np.testing.assert_array_equal(found, np.dstack(ours).reshape(len(few), -1))
    found = numbers("impute", file, table, "--draws", 3, "--seed", 4).reshape(len(few), 3, -1)
    np.testing.assert_array_equal(found[:, :, 1:].swapaxes(0, 1), model.impute(few, n_draws=3))
    found = numbers("expect", file, table, "--target", "BD", "--seed", 4)
    np.testing.assert_array_equal(found[:, 1:].T, model.expect(few, "BD"))
    found = numbers("sample", file, "-n", 50, "--given", "CW=40", "--seed", 4)
    condition = model.condition({"CW": 40})
    np.testing.assert_array_equal(found[:, condition.columns_], condition.sample(50))
    found = numbers("sample", file, "-n", 50, "--given", "CW>40,FL<18", "--seed", 4)
    np.testing.assert_array_equal(found, model.condition({"CW": (40, None), "FL": (None, 18)}).sample(50))


@pytest.mark.parametrize("drawn", [20, 100, 1000])
def test_outliers_are_the_rows_of_small_tail_probability(drawn):
    X = np.random.default_rng(5).laplace(size=(500, 3))
    detector = UPoEDetector(method="density", n_tail_samples=drawn, random_state=4).fit(X)
    np.testing.assert_array_equal(detector.predict(X) == -1, detector.tail(X, drawn) <= 0.05)


def test_groups_agree_to_the_bit(tmp_path):
    X = pd.read_csv(CRABS)[["FL", "RW", "CL", "CW", "BD"]]
    model = UPoE(random_state=4).fit(X)
    by_command, by_package = tmp_path / "command.upoe", tmp_path / "package.upoe"
    model.save(by_package)
    upoe("fit", CRABS, "--columns", ",".join(X), "--seed", 4, "--quiet", "-o", by_command)
    told = [json.loads(upoe("groups", f, CRABS, "--quiet", "--json")) for f in (by_command, by_package)]
    assert told[0] == told[1] and len(told[0]["groups"]) == len(model.groups_) > 1
    assert told[0]["merged"] == model.n_merged_groups_
    labels = model.predict(X)
    for k, (group, ours) in enumerate(zip(told[0]["groups"], model.groups_)):
        assert (group["group"], group["rows"]) == (k + 1, np.count_nonzero(labels == k))
        for key in ("name", "training_rows", "share"):
            assert group[key] == getattr(ours, key), key
        for key in ("named_by", "profile"):
            differences = [{**d._asdict(), "interval": list(d.interval)} for d in getattr(ours, key)]
            assert group[key] == differences, key
    upoe("groups", by_package, CRABS, "--quiet", "-o", tmp_path / "labels.csv")
    written = pd.read_csv(tmp_path / "labels.csv")
    shares = model.predict_proba(X)
    np.testing.assert_array_equal(written["group"], labels + 1)
    np.testing.assert_array_equal(written["probability"], shares.max(axis=1))
    np.testing.assert_allclose(shares.sum(axis=1), 1, atol=1e-12)
    again = UPoE.load(by_command)
    assert again.groups_ == model.groups_
    np.testing.assert_array_equal(again.predict_proba(X), shares)


def test_a_model_without_groups_says_so(tmp_path):
    X = pd.read_csv(CRABS)[["FL", "RW", "CL", "CW", "BD"]]
    UPoEICA(n_components=1).fit(X).save(tmp_path / "ica.upoe")
    model = UPoE.load(tmp_path / "ica.upoe")
    assert not hasattr(model, "groups_")
    with pytest.raises(ValueError, match="The model has no groups: .* Fit rows that fit in memory"):
        model.predict(X)
    one = UPoE().fit(np.random.default_rng(0).normal(size=(200, 3)))
    assert [g.name for g in one.groups_] == ["all rows"]
    np.testing.assert_array_equal(one.predict_proba(np.zeros((2, 3))), 1)
