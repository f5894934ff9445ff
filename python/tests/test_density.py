"""What the estimator computes."""

import numpy as np
import pytest
from conftest import groups
from numpy.testing import assert_allclose, assert_array_equal

from upoe import UPoE, UPoEDetector, UPoEICA


def test_the_density_is_equation_4(model, X):
    z = (X - model.mean_) @ model.components_.T
    assert_allclose(model.transform(X), z, atol=1e-12)
    x = (X - model.mean_) @ model.whitening_.T
    rest = x - z @ model.directions_  # the directions are orthonormal
    free = x.shape[1] - model.n_experts_
    ln_p = sum(e.log_density(np.ascontiguousarray(z[:, j])) for j, e in enumerate(model.experts_))
    ln_p = ln_p - 0.5 * (rest**2).sum(axis=1) - 0.5 * free * np.log(2 * np.pi)
    assert_allclose(model.score_samples(X, sphered=True), ln_p, atol=1e-11)
    ln_det = np.linalg.slogdet(model.whitening_)[1]
    assert_allclose(model.score_samples(X), ln_p + ln_det, atol=1e-11)
    assert_allclose(model.score(X), model.score_samples(X).mean())


def test_the_density_integrates_to_one():
    model = UPoE(n_experts=2).fit(groups(columns=2))
    low, high = model.sample(2000).min(axis=0) - 4, model.sample(2000).max(axis=0) + 4
    a, b = (np.linspace(low[i], high[i], 400) for i in range(2))
    grid = np.stack(np.meshgrid(a, b), axis=-1).reshape(-1, 2)
    cell = (a[1] - a[0]) * (b[1] - b[0])
    assert_allclose(np.exp(model.score_samples(grid)).sum() * cell, 1.0, atol=5e-3)


def test_gains_are_the_path(model):
    assert_allclose(np.diff(model.path_[:, 0]), model.gains_, atol=1e-6)
    assert model.gains_[0] > 0.5
    assert model.experts_[0].family == "mixture"
    assert model.experts_[0].kind == "mixture"  # the former name
    assert model.stop_reason_ == "experts" and model.n_iter_ >= 1
    assert np.isnan(model.p_values_).all()


def test_there_and_back(model, X):
    z = model.transform(X)
    rows = model.inverse_transform(z)
    assert_allclose(rows, model.mean_ + z @ model.mixing_.T, atol=1e-12)
    assert_allclose(model.transform(rows), z, atol=1e-10)
    with pytest.raises(ValueError, match="expecting 2 projections"):
        model.inverse_transform(z[:, :1])


def test_the_parts_add_up(model, X):
    parts = model.explain(X, split=True)
    assert_array_equal(parts.log_density.shape, (len(X),))
    assert_allclose(parts.log_density, model.score_samples(X), atol=1e-11)
    total = parts.baseline + parts.experts.sum(axis=1) + parts.rest
    assert_allclose(parts.log_density, total, atol=1e-10)
    assert_allclose(parts.log_density, parts.baseline + parts.columns.sum(axis=1), atol=1e-10)
    assert_allclose(parts.experts_by_column.sum(axis=2), parts.experts, atol=1e-10)
    by_column = parts.experts_by_column.sum(axis=1) + parts.rest_by_column
    assert_allclose(by_column, parts.columns, atol=1e-10)
    short = model.explain(X)
    assert short.experts_by_column is None and short.rest_by_column is None
    assert_array_equal(short.columns, parts.columns)
    assert list(short.to_frame().columns[:3]) == ["log_density", "baseline", "expert1"]
    assert list(short.to_frame("column").columns[2:]) == ["x0", "x1", "x2"]


def test_samples_follow_the_model(model, X):
    rows = model.sample(20_000, random_state=1)
    assert_allclose(rows.mean(axis=0), X.mean(axis=0), atol=0.2)
    assert_allclose(np.cov(rows.T), np.cov(X.T), rtol=0.15, atol=0.3)
    assert_array_equal(model.sample(300), model.sample(300))
    assert (model.sample(5) != model.sample(5, random_state=2)).all()
    assert model.sample(0).shape == (0, 3)
    with pytest.raises(ValueError, match="n_samples"):
        model.sample(-1)


def test_the_tail_of_the_models_own_rows_is_uniform(model):
    tail = model.tail(model.sample(2000, random_state=5))
    assert_allclose(np.quantile(tail, [0.05, 0.5, 0.95]), [0.05, 0.5, 0.95], atol=0.04)
    assert model.tail([[1e3, 0, 0]])[0] == 1 / 10_001


def test_any_number_of_threads_gives_the_same_bits(X):
    one, two = (UPoE(n_experts=2, n_jobs=n).fit(X) for n in (1, 2))
    assert_array_equal(one.components_, two.components_)
    assert_array_equal(one.score_samples(X), two.score_samples(X))
    assert_array_equal(one.sample(1000), two.sample(1000))


def test_seeds(X):
    assert_array_equal(
        UPoE(n_experts=1, random_state=None).fit(X).components_,
        UPoE(n_experts=1, random_state=0).fit(X).components_,
    )
    drawn = UPoE(n_experts=1, random_state=np.random.RandomState(3)).fit(X)
    assert_allclose(np.abs(drawn.gains_), UPoE(n_experts=1).fit(X).gains_, rtol=1e-4)
    with pytest.raises(ValueError, match="seed"):
        UPoE(random_state="x").fit(X)


def test_weights_are_repetitions(X):
    weights = np.arange(len(X)) % 3
    weighted = UPoE(n_experts=1).fit(X, sample_weight=weights)
    repeated = UPoE(n_experts=1).fit(X.repeat(weights, axis=0))
    assert_allclose(weighted.mean_, repeated.mean_)
    assert_allclose(weighted.gains_, repeated.gains_, rtol=1e-4)
    with pytest.raises(ValueError, match="Negative"):
        UPoE(n_experts=1).fit(X, sample_weight=-weights)
    with pytest.raises(ValueError, match="sample_weight.shape"):
        UPoE(n_experts=1).fit(X, sample_weight=weights[1:])


def test_held_out_rows(X):
    model = UPoE(n_experts=2, holdout=0.25).fit(X)
    assert np.isfinite(model.path_).all()
    assert model.training_["rows"] == 300 and model.training_["holdout_rows"] == 100
    stopped = UPoE(stop="holdout", holdout=0.25).fit(X)
    assert stopped.stop_reason_ in ("holdout", "dimensions")
    grouped = UPoE(n_experts=1, holdout=0.25).fit(X, groups=np.arange(len(X)) % 8)
    assert grouped.training_["holdout_rows"] == 100
    with pytest.raises(ValueError, match="^parallel_start = 'random': set learner='parallel'"):
        UPoE(parallel_start="random").fit(X)
    with pytest.raises(ValueError, match="^stop = holdout: held-out rows are needed; set holdout="):
        UPoE(stop="holdout").fit(X)
    with pytest.raises(ValueError, match="holdout"):
        UPoE(holdout=1.5).fit(X)


def test_no_expert_is_the_gaussian(X):
    model = UPoE(n_experts=0).fit(X)
    centred = X - X.mean(axis=0)
    covariance = centred.T @ centred / len(X)
    square = np.einsum("ij,jk,ik->i", centred, np.linalg.inv(covariance), centred)
    ln_det = np.linalg.slogdet(2 * np.pi * covariance)[1]
    assert_allclose(model.score_samples(X), -0.5 * square - 0.5 * ln_det, atol=1e-10)
    assert_array_equal(model.transform(X), np.zeros((len(X), 1)))
    assert_allclose(model.inverse_transform(np.zeros((2, 1))), [model.mean_] * 2)
    assert model.components_.shape == (0, 3) and model.mixing_.shape == (3, 0)


@pytest.mark.parametrize(
    "settings",
    [
        {"learner": "sequential"},
        {"learner": "parallel"},
        {"family": "student-t", "fix_mu": 0.0},
        {"family": "mixture", "fix_mu": (-1, 1), "fix_beta": 20.0},
        {"family": "tilt", "stop": "bic"},
        {"n_dims": 2},
        {"n_dims": 0.9},
        {"precision": "f32", "n_starts": 4},
        {"recipe": "paper", "family": "mixture", "max_iter": 50},
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore")
def test_every_setting_reaches_the_fit(settings, X):
    model = UPoE(n_experts=2, **settings).fit(X)
    assert np.isfinite(model.score_samples(X)).all()
    assert model.n_experts_ >= 1


@pytest.mark.parametrize(
    "settings",
    [
        {"n_experts": -1},
        {"n_experts": "three"},
        {"n_experts": 1.5},
        {"n_dims": 0},
        {"n_dims": 4},
        {"n_dims": -0.5},
        {"family": "gauss"},
        {"mixture_size": 0},
        {"fix_mu": float("nan")},
        {"fix_mu": (1, 2, 3)},
        {"fix_beta": 0.5},
        {"learner": "both"},
        {"stop": "never"},
        {"n_starts": 0},
        {"max_iter": 0},
        {"tol": 0.0},
        {"tol": float("nan")},
        {"tol": "small"},
        {"n_jobs": 0},
        {"random_state": -1},
    ],
    ids=str,
)
def test_bad_settings_are_named(settings, X):
    (name,) = settings
    with pytest.raises(ValueError, match=f"^{name} = |cannot be used to seed"):
        UPoE(**settings).fit(X)


def test_detector_thresholds_by_tail_probability(X):
    detector = UPoEDetector(n_experts=2, method="density", alpha=0.02).fit(X)
    fresh = detector.sample(5000, random_state=9)
    assert abs((detector.predict(fresh) == -1).mean() - 0.02) < 0.01
    assert_array_equal(detector.predict(fresh) == -1, detector.decision_function(fresh) < 0)
    with pytest.raises(ValueError, match="alpha"):
        UPoEDetector(alpha=0.0).fit(X)


@pytest.mark.parametrize("learner", ["pursuit", "parallel"])
def test_sources_have_unit_variance_and_are_found(learner):
    rng = np.random.default_rng(4)
    sources = rng.laplace(size=(3000, 3))
    noise = rng.normal(size=(3000, 2))
    X = np.c_[sources, noise] @ rng.normal(size=(5, 5))
    ica = UPoEICA(n_components=3, family="student-t", learner=learner).fit(X)
    S = ica.transform(X)
    assert_allclose(S.std(axis=0), 1.0, atol=1e-9)
    assert_allclose(S, (X - ica.mean_) @ ica.components_.T, atol=1e-10)
    match = np.abs(np.corrcoef(S.T, sources.T)[:3, 3:])
    assert (match.max(axis=0) > 0.97).all()
    assert_allclose(ica.components_ @ ica.mixing_, np.eye(3), atol=1e-9)
    assert_allclose(ica.inverse_transform(S), ica.mean_ + S @ ica.mixing_.T, atol=1e-10)


def shapes(n=4000):
    """Light-tailed, bimodal and heavy-tailed sources, mixed."""
    rng = np.random.default_rng(6)
    sources = np.c_[
        rng.uniform(-1, 1, size=(n, 2)),
        rng.choice([-1.0, 1.0], size=(n, 2)) + 0.4 * rng.normal(size=(n, 2)),
        rng.laplace(size=(n, 2)),
    ]
    return sources, sources @ rng.normal(size=(6, 6))


def test_the_adaptive_preset_finds_sources_of_any_shape():
    sources, X = shapes()
    ica = UPoEICA.adaptive().fit(X)
    assert ica.n_components_ == 6
    assert {expert.family for expert in ica.experts_} == {"mixture"}
    match = np.abs(np.corrcoef(ica.transform(X).T, sources.T)[:6, 6:])
    assert (match.max(axis=0) > 0.99).all()
    assert sorted(match.argmax(axis=0)) == list(range(6))


def test_the_adaptive_preset_is_a_set_of_parameters():
    ica = UPoEICA.adaptive(3, tol=1e-2, random_state=4)
    assert (ica.n_components, ica.mixture_size, ica.learner) == (3, 3, "parallel")
    assert (ica.tol, ica.random_state) == (1e-2, 4)
    with pytest.raises(TypeError, match="density"):
        UPoEICA.adaptive(density="x")


def test_auto_gains_as_much_as_the_best_family():
    _, X = shapes()
    fits = {f: UPoEICA.adaptive(family=f).fit(X) for f in ("auto", "student-t", "mixture")}
    gains = {f: ica.path_[-1, 0] - ica.path_[0, 0] for f, ica in fits.items()}
    assert gains["auto"] >= 0.99 * max(gains.values())


def test_the_seed_does_not_decide_between_families():
    """The table "several, 1,000 × 5" of `bench/search.py`, on which two families gain nearly the same."""
    rng = np.random.default_rng([1_000, 5, sum(b"several")])
    sources = [
        rng.standard_t(3, (1_000, 1)),
        rng.laplace(size=(1_000, 1)),
        rng.choice([-1.5, 1.5], (1_000, 1)) + rng.normal(size=(1_000, 1)),
        rng.exponential(size=(1_000, 1)),
        rng.normal(size=(1_000, 1)),
    ]
    table = np.hstack(sources) @ rng.normal(size=(5, 5))
    totals = [UPoE(random_state=seed).fit(table).gains_.sum() for seed in (0, 1, 3)]
    assert max(totals) - min(totals) < 1e-4, totals
