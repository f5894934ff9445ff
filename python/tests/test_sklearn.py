"""scikit-learn's own checks, and the company its estimators keep."""

import io
import pickle

import joblib
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from upoe import ConvergenceWarning, UPoE, UPoEDetector, UPoEICA, UPoEImputer


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(
    [UPoE(), UPoEDetector(), UPoEDetector(method="density"), UPoEICA(), UPoEImputer()],
    expected_failed_checks=lambda _: {
        "check_dataframe_column_names_consistency": "columns in another order are taken by their names"
    },
)
def test_checks(estimator, check):
    check(estimator)


def test_pipeline_and_search(X):
    pipe = make_pipeline(StandardScaler(), UPoE(n_experts=1))
    assert pipe.fit_transform(X).shape == (len(X), 1)
    search = GridSearchCV(UPoE(n_starts=8), {"n_experts": [0, 1]}, cv=3).fit(X)
    assert search.best_params_ == {"n_experts": 1}
    assert search.best_score_ > cross_val_score(UPoE(n_experts=0), X, cv=3).mean() + 0.5


def test_clone_and_parameters():
    model = UPoE(n_experts=3, fix_mu=(-1, 1), tol=1e-4)
    assert clone(model).get_params() == model.get_params()
    assert "n_experts=3" in repr(model)
    with pytest.raises(ValueError, match="Invalid parameter 'nonsense'"):
        model.set_params(nonsense=1)


def test_joblib_runs_fits_side_by_side(X):
    fit = joblib.delayed(lambda seed: UPoE(n_experts=1, random_state=seed).fit(X).gains_[0])
    gains = joblib.Parallel(n_jobs=2)(fit(seed) for seed in range(2))
    assert_allclose(gains, UPoE(n_experts=1).fit(X).gains_[0], rtol=1e-4)


def test_pickle_and_joblib_files(model, X, tmp_path):
    again = pickle.loads(pickle.dumps(model))
    assert_array_equal(again.score_samples(X), model.score_samples(X))
    assert again.get_params() == model.get_params()
    assert repr(again.experts_[0].parameters) == repr(model.experts_[0].parameters)
    joblib.dump(model, tmp_path / "model.joblib")
    assert_array_equal(joblib.load(tmp_path / "model.joblib").sample(9), model.sample(9))
    detector = UPoEDetector(n_experts=1).fit(X)
    buffer = io.BytesIO(pickle.dumps(detector))
    assert pickle.load(buffer).offset_ == detector.offset_


def test_set_output(X):
    frame = pd.DataFrame(X, columns=["a", "b", "c"], index=range(100, 100 + len(X)))
    z = UPoE(n_experts=2).set_output(transform="pandas").fit_transform(frame)
    assert list(z.columns) == ["z1", "z2"] and list(z.index) == list(frame.index)


def test_a_fit_without_enough_iterations_warns(X):
    with pytest.warns(ConvergenceWarning, match="ran out of iterations"):
        UPoE(n_experts=1, max_iter=1, n_starts=1, tol=1e-12).fit(X)


def test_zero_experts_fit_a_pipeline(X):
    # nothing was found: a column that says so, with which the next step can go on
    pipe = make_pipeline(UPoE(n_experts=0), StandardScaler())
    assert_array_equal(pipe.fit_transform(X), np.zeros((len(X), 1)))
    assert np.isfinite(UPoE(n_experts=0).fit(X).score(X))
