"""Whatever comes in, a clean exception or the results of the plain float64 array comes out.

`UPOE_EXAMPLES=20000` makes it the long form.
"""

import os
import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from upoe import UPoE

EXAMPLES = int(os.environ.get("UPOE_EXAMPLES", 150))
many = settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize="UPOE_EXAMPLES" not in os.environ,
    suppress_health_check=list(HealthCheck),
)

NUMBERS = ["f2", "f4", "f8", ">f4", ">f8", "<f8", "g", "i1", "i4", "i8", ">i8", "u1", "u8", "?"]
OTHERS = ["c8", "c16", "U4", "S4", "M8[s]", "m8[D]", "O", [("a", "f8")], [("a", "f8"), ("b", "f4")]]
HUGE = [1e300, -1e300, 1e160, 5e-324, np.nan, np.inf, -np.inf, 0.0, -0.0]
CELLS = [None, 1, 2.5, "3", b"4", "x", 1 + 2j, [1], {}, np.ma.masked, 10**400, True, object()]


def tables(draw, dtype, shape):
    """An array of a type and shape, most of its numbers small."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    if dtype == "O":
        cells = st.one_of(st.floats(-9, 9), st.sampled_from(CELLS))
        array = np.empty(shape, dtype=object)
        for place in np.ndindex(*shape):
            array[place] = draw(cells)
        return array
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        numbers = np.array(rng.normal(size=shape)) * draw(st.sampled_from([1, 30, 1e-3, 1e6]))
        if dtype in ("U4", "S4"):
            return np.array(np.round(numbers)).astype(dtype)
        if isinstance(dtype, list):
            array = np.zeros(shape, dtype=dtype)
            array["a"] = numbers
            return array
        array = np.array((np.round(numbers).astype("i8") if dtype[0] in "mM" else numbers).astype(dtype))
        if np.dtype(dtype).kind == "f" and array.size and draw(st.integers(0, 3)) == 0:
            array[np.unravel_index(draw(st.integers(0, array.size - 1)), shape)] = draw(st.sampled_from(HUGE))
    return array


@st.composite
def inputs(draw, columns=None):
    """Arrays of every kind: types, byte orders, shapes, strides, masks, flags."""
    dtype = draw(st.one_of(st.sampled_from(NUMBERS), st.sampled_from(NUMBERS + OTHERS)))
    dims = draw(st.sampled_from([2, 2, 2, 2, 2, 2, 2, 0, 1, 3]))
    shape = (draw(st.integers(0, 14)), columns or draw(st.integers(0, 4)), 2)[:dims]
    array = tables(draw, dtype, shape)
    way = draw(st.integers(0, 9))
    if way == 1:
        array = np.asfortranarray(array)
    elif way == 2 and dims:
        array = array[::-1]
    elif way == 3 and dims == 2:
        array = array[:, ::-1]
    elif way == 4 and dims == 2 and len(array):
        array = np.broadcast_to(array[0], array.shape)
    elif way == 5 and dims:
        array = np.repeat(array, 2, axis=0)[::2]
    elif way == 6:
        raw = np.zeros(array.nbytes + 1, "u1")
        if array.dtype.kind != "O":  # not aligned
            raw[1:] = np.frombuffer(array.tobytes(), "u1")
            array = raw[1:].view(array.dtype)[: array.size].reshape(array.shape)
    elif way == 7 and not isinstance(dtype, list):
        array = np.ma.array(array, mask=draw(hnp.arrays(bool, array.shape)))
    elif way == 8:
        array = array.tolist()
    if isinstance(array, np.ndarray) and draw(st.booleans()):
        array.flags.writeable = False
    return array


def outcome(call):
    """What a call returns, or None where it refuses cleanly."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return call()
        except (ValueError, TypeError) as error:
            assert str(error).strip(), repr(error)
            assert "please report it" not in str(error)
            return None


def plain(X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.array(X, dtype=np.float64, order="C")


def fitted(X, **more):
    return UPoE(n_experts=1, family="student-t", n_starts=1, max_iter=20, n_jobs=1).fit(X, **more)


@many
@given(inputs())
def test_fits(X):
    model = outcome(lambda: fitted(X))
    if model is None:
        return
    same = fitted(plain(X))
    for name in ("mean_", "components_", "whitening_", "gains_", "path_"):
        np.testing.assert_array_equal(getattr(model, name), getattr(same, name))
    assert np.isfinite(model.components_).all() and np.isfinite(model.whitening_).all()
    scores = model.score_samples(X)
    np.testing.assert_array_equal(scores, same.score_samples(plain(X)))
    assert not np.isnan(scores).any() and not (scores == np.inf).any()


@pytest.fixture(scope="module")
def three():
    rng = np.random.default_rng(0)
    return UPoE(n_experts=2, family="student-t").fit(rng.standard_t(4, size=(300, 3)))


@many
@given(X=st.one_of(inputs(columns=3), inputs()))
def test_uses(three, X):
    for name in ("score_samples", "transform", "explain", "tail"):
        found = outcome(lambda: getattr(three, name)(X))
        if found is not None:
            same = getattr(three, name)(plain(X))
            for a, b in zip(found, same) if name == "explain" else [(found, same)]:
                np.testing.assert_array_equal(a, b)
            if name in ("score_samples", "transform", "tail"):
                assert not np.isnan(found).any(), name


@many
@given(Z=st.one_of(inputs(columns=2), inputs()))
def test_ways_back(three, Z):
    found = outcome(lambda: three.inverse_transform(Z))
    if found is not None:
        np.testing.assert_array_equal(found, three.inverse_transform(plain(Z)))


@many
@given(weight=inputs(columns=1), flat=st.booleans())
def test_weights(weight, flat):
    if flat and isinstance(weight, np.ndarray) and weight.ndim == 2:
        weight = weight[:, 0]
    X = np.random.default_rng(1).normal(size=(max(2, np.shape(weight)[0] if np.ndim(weight) else 9), 2))
    model = outcome(lambda: fitted(X, sample_weight=weight))
    if model is not None:
        same = fitted(X, sample_weight=plain(weight))
        np.testing.assert_array_equal(model.components_, same.components_)
        assert np.isfinite(model.components_).all()


@many
@given(z=inputs(columns=2))
def test_experts(three, z):
    for name in ("log_density", "cdf", "quantile"):
        found = outcome(lambda: getattr(three.experts_[0], name)(z))
        assert found is None or found.shape == np.shape(z)
