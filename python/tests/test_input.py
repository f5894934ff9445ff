"""What goes in: arrays without a copy, frames with their names, and what is refused."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from numpy.testing import assert_allclose, assert_array_equal

from upoe import NotFittedError, UPoE, UPoEWarning, _validate


class ArrowOnly:
    """A table that offers nothing but an Arrow stream."""

    def __init__(self, table):
        self._table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)


class ArrayOnly:
    """A table that offers nothing but an array."""

    def __init__(self, array):
        self._array = array

    def __array__(self, dtype=None, copy=None):
        return self._array


NAMES = ["a", "b", "c"]
FRAMES = {
    "pandas": lambda X: pd.DataFrame(X, columns=NAMES),
    "polars": lambda X: pl.DataFrame(X, schema=NAMES),
    "pyarrow": lambda X: pa.table({n: X[:, i] for i, n in enumerate(NAMES)}),
    "arrow stream": lambda X: ArrowOnly(pa.table({n: X[:, i] for i, n in enumerate(NAMES)})),
}


@pytest.mark.parametrize("kind", FRAMES)
def test_frames_keep_their_names(kind, X):
    frame = FRAMES[kind](X)
    model = UPoE(n_experts=1).fit(frame)
    assert list(model.feature_names_in_) == NAMES
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scores = model.score_samples(frame)
    assert_array_equal(scores, UPoE(n_experts=1).fit(X).score_samples(X))
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.score_samples(X)
    with pytest.raises(ValueError, match="same order"):
        model.score_samples(pd.DataFrame(X, columns=NAMES[::-1]))


def test_pyarrow_alone_reads_a_stream(X):
    frame = _validate._ArrowFrame(FRAMES["pyarrow"](X))
    assert_array_equal(_validate._frame_values(frame, NAMES), X)


@pytest.mark.parametrize("make", [ArrayOnly, np.asfortranarray, np.ndarray.tolist, pd.DataFrame])
def test_other_tables_give_the_same_bits(make, X):
    model = UPoE(n_experts=1).fit(make(X))
    assert not hasattr(model, "feature_names_in_")
    assert_array_equal(model.components_, UPoE(n_experts=1).fit(X).components_)


def test_float32_and_integers(X):
    single = UPoE(n_experts=1).fit(X.astype(np.float32))
    assert_allclose(single.gains_, UPoE(n_experts=1).fit(X).gains_, rtol=1e-3)
    assert single.score_samples(X.astype(np.float32)).dtype == np.float64
    UPoE(n_experts=0).fit((10 * X).astype(int))


def test_contiguous_arrays_are_not_copied(X):
    rows, names = _validate.table(X, estimator="UPoE")
    assert rows is X and names is None
    X = X.copy()
    X.flags.writeable = False
    UPoE(n_experts=1).fit(X).score_samples(X)


def test_nullable_frames(X):
    frame = pd.DataFrame(X, columns=NAMES).convert_dtypes()
    UPoE(n_experts=0).fit(frame)
    frame.loc[3, "b"] = pd.NA
    with pytest.raises(ValueError, match="NaN: row 3, column \"b\""):
        UPoE(n_experts=0).fit(frame)
    with pytest.raises(ValueError, match="NaN: row 3, column \"b\""):
        UPoE(n_experts=0).fit(pl.DataFrame({"a": [1.0, 2, 3, 4], "b": [1.0, 2, 3, None]}))


BAD = {
    "one dimension": ([1.0, 2.0, 3.0], ValueError, "Reshape your data"),
    "no dimension": (np.array(3.0), ValueError, "Expected 2D array, got scalar"),
    "three dimensions": (np.zeros((3, 3, 3)), ValueError, "Found array with dim 3"),
    "no rows": (np.zeros((0, 3)), ValueError, r"0 sample\(s\)"),
    "one row": (np.zeros((1, 3)), ValueError, r"1 sample\(s\)"),
    "no columns": (np.zeros((5, 0)), ValueError, r"0 feature\(s\)"),
    "NaN": ([[1.0, 2.0], [np.nan, 3.0], [0.0, 1.0]], ValueError, "contains NaN: row 1, column 0"),
    "infinity": ([[1.0, 2.0], [3.0, np.inf], [0.0, 1.0]], ValueError, "contains infinity"),
    "text": ([["a", "b"], ["c", "d"]], ValueError, "could not convert string to float"),
    "objects": (np.array([[{}, 1], [2, 3]], dtype=object), TypeError, "must be a string or a"),
    "complex": (np.ones((4, 2)) * 1j, ValueError, "Complex data not supported"),
    "sparse": (scipy.sparse.eye(4).tocsr(), TypeError, "dense data"),
    "text column": (pd.DataFrame({"a": [1.0, 2], "b": ["u", "v"]}), ValueError, "Column 'b'"),
    "text in polars": (pl.DataFrame({"a": [1.0, 2], "b": ["u", "v"]}), ValueError, "Column 'b'"),
    "dates": (pd.DataFrame({"t": pd.to_datetime(["2020", "2021"])}), ValueError, "Column 't'"),
    "mixed names": (pd.DataFrame(np.eye(3), columns=[0, "b", 2]), TypeError, "string names"),
    "constant": (np.ones((5, 2)), ValueError, "none of the 2 column"),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_input_is_refused(what):
    X, error, text = BAD[what]
    with pytest.raises(error, match=text):
        UPoE(n_experts=1).fit(X)


@pytest.mark.parametrize("method", ["score_samples", "transform", "explain", "sample", "save"])
def test_nothing_works_before_fit(method, X):
    with pytest.raises(NotFittedError, match="not fitted yet"):
        getattr(UPoE(), method)(X)


def test_the_columns_of_the_fit_are_needed(model, X):
    with pytest.raises(ValueError, match="X has 2 features, but UPoE is expecting 3"):
        model.score_samples(X[:, :2])
    with pytest.raises(ValueError, match="NaN: row 0, column 1"):
        model.transform([[0.0, np.nan, 0.0]])


@pytest.mark.parametrize(
    "rows",
    [
        [[0.0], [1.0]],
        [[0.0], [0.0], [1.0]],
        [[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]],
        np.eye(4).tolist(),
        np.repeat(np.eye(3), 20, axis=0).tolist(),
        np.c_[np.arange(9.0), np.ones(9)].tolist(),
        np.c_[np.arange(50.0) % 7, np.arange(50.0) % 7].tolist(),
    ],
    ids=lambda rows: f"{len(rows)}x{len(rows[0])}",
)
@pytest.mark.filterwarnings("ignore")
def test_small_and_degenerate_tables(rows):
    for n_experts in (0, 1, "auto"):
        model = UPoE(n_experts=n_experts).fit(rows)
        assert np.isfinite(model.score_samples(rows)).all()


def test_degenerate_data_are_mentioned(X):
    X = np.c_[X, np.ones(len(X))]
    with pytest.warns(UPoEWarning, match="vary in 3 of 4 dimensions"):
        model = UPoE(n_experts=1).fit(X)
    assert model.rank_ == 3 and len(model.notices_) >= 1
    X[0, 3] = 2.0
    assert model.score_samples(X)[0] == -np.inf
