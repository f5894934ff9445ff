"""What users pass in, as arrays of floats with the columns' names.

Errors have scikit-learn's types and words, and name the column where there is one.
"""

from __future__ import annotations

import numbers
import sys
import warnings
from typing import Any, NamedTuple, Union

import numpy as np
from numpy.typing import NDArray

from . import _arrow
from ._base import UPoEWarning

Floats = NDArray[np.float64]
Rows = Union[NDArray[np.float64], NDArray[np.float32]]


class Table(NamedTuple):
    """Rows and what is known about them."""

    rows: Rows
    """float64 or float32, perhaps X itself."""
    names: list[str] | None
    """The names of the columns, where all of them are strings."""
    fresh: bool
    """Whether nobody else has the array."""

    def private(self, which: NDArray[np.bool_] | None = None) -> Rows:
        """C-contiguous rows, or some of them, that nobody else has.

        Rust reads them while other threads run, which may write to X meanwhile.
        """
        rows = self.rows if which is None else self.rows[which]
        if (self.fresh or which is not None) and rows.flags.c_contiguous:
            return rows
        return rows.copy()


def table(X: Any, *, estimator: str, min_rows: int = 1) -> Table:
    """The rows of X: an array of float64 or float32 as it is, anything else converted."""
    if hasattr(X, "toarray") and hasattr(X, "nnz"):
        raise TypeError(
            f"Sparse data was passed for X, but {estimator} needs dense data. "
            "Use '.toarray()' to convert it to a dense array."
        )
    names: list[str] | None = None
    fresh = True
    if _is_frame(X):
        columns = list(X.columns)
        names = _text_names(columns)
        given = _frame_values(X, columns)
    elif not isinstance(X, np.ndarray) and _is_stream(X):
        columns, given = _arrow.read(X)
        names = _text_names(columns)
    else:
        given = array(X, "X")
        fresh = type(X) in (list, tuple)
    given = _two_dimensional(given)
    rows = given if given.dtype == np.float32 else _floats(given)
    if rows.shape[0] < min_rows:
        raise ValueError(
            f"Found array with {rows.shape[0]} sample(s) (shape={rows.shape}) while a minimum "
            f"of {min_rows} is required by {estimator}."
        )
    if rows.shape[1] < 1:
        raise ValueError(
            f"Found array with 0 feature(s) (shape={rows.shape}) while a minimum of 1 is "
            f"required by {estimator}."
        )
    return Table(rows, names, fresh or not np.may_share_memory(rows, given))


def array(values: Any, name: str) -> NDArray[Any]:
    """The array of anything array-like, unless cells are masked, which numpy would ignore."""
    given = np.asanyarray(values)
    rows = values if isinstance(values, (list, tuple)) else [given]
    if any(np.ma.is_masked(row) for row in rows):
        raise ValueError(
            f"{name} has masked values. Replace them first, for example by {name}.filled(number), "
            f"or leave out their rows, for example by numpy.ma.compress_rows({name})."
        )
    return np.asarray(given)


def _is_frame(X: Any) -> bool:
    """Whether X is a pandas or polars frame."""
    libraries = (sys.modules.get(name) for name in ("pandas", "polars"))
    return any(library is not None and isinstance(X, library.DataFrame) for library in libraries)


def _is_stream(X: Any) -> bool:
    """Whether X is another table of Arrow columns; a single column is an array."""
    tabular = hasattr(X, "column_names") or hasattr(X, "columns") or not hasattr(X, "to_numpy")
    return hasattr(X, "__arrow_c_stream__") and tabular


def _text_names(columns: list[Any]) -> list[str] | None:
    """Names, if all are text; None, if none is; mixed names are an error."""
    text = [isinstance(name, str) for name in columns]
    if columns and all(text):
        return [str(name) for name in columns]
    if any(text):
        types = sorted({type(name).__name__ for name in columns})
        raise TypeError(
            "Feature names are only supported if all input features have string names, but "
            f"your input has {types} as feature name / column name types. If you want feature "
            "names to be stored and validated, you must convert them all to strings, by using "
            "X.columns = X.columns.astype(str) for example. Otherwise you can remove feature / "
            "column names from your input data, or convert them all to a non-string data type."
        )
    return None


def _frame_values(frame: Any, columns: list[Any]) -> NDArray[Any]:
    """The numbers of a frame, column by column so that a bad one can be named."""
    values = np.empty((len(frame), len(columns)), dtype=np.float64)
    bad: list[tuple[Any, str]] = []
    for j, name in enumerate(columns):
        column = frame.iloc[:, j] if hasattr(frame, "iloc") else frame[name]
        try:
            values[:, j] = _column(column)
        except (TypeError, ValueError, OverflowError) as error:
            bad.append((name, f"its type is {getattr(column, 'dtype', 'object')}: {error}"))
    if bad:
        shown = "; ".join(f"{name!r} ({why})" for name, why in bad[:5])
        more = f"; and {len(bad) - 5} more" if len(bad) > 5 else ""
        what = "Column" if len(bad) == 1 else "Columns"
        are = "is" if len(bad) == 1 else "are"
        names = [name for name, _ in bad]
        remedy = f"X.drop(columns={names!r})" if len(bad) <= 5 else "X.select_dtypes('number')"
        if not hasattr(frame, "iloc"):
            remedy = f"X.drop({names!r})" if len(bad) <= 5 else "X.select(polars.selectors.numeric())"
        raise ValueError(
            f"{what} {shown}{more} {are} not numeric. Leave {'it' if are == 'is' else 'them'} out, "
            f"for example by {remedy}, or encode as numbers what can be."
        )
    return values


def in_order(estimator: Any, rows: Rows, names: list[str] | None) -> tuple[Rows, list[str] | None]:
    """Rows with their columns in the order of the fit, where their names are the same in another one."""
    fitted = getattr(estimator, "feature_names_in_", None)
    if names is None or fitted is None or names == list(fitted) or sorted(names) != sorted(fitted):
        return rows, names
    place = {name: i for i, name in enumerate(names)}
    return rows[:, [place[name] for name in fitted]], list(fitted)


def _column(column: Any) -> NDArray[Any]:
    try:
        array = np.asarray(column.to_numpy())
    except (TypeError, ValueError, AttributeError):
        array = np.asarray(column)
    if array.dtype.kind in "mM":
        raise ValueError("dates and times are not numeric")
    if array.dtype.kind == "c":
        raise ValueError("Complex data not supported")
    if array.dtype.kind == "O":
        # Missing values of every library become NaN, which is refused later, with its place.
        missing = np.array([x is None or type(x).__name__ in ("NAType", "NaTType") for x in array])
        array = np.where(missing, np.nan, array)
    return array.astype(np.float64)


def _two_dimensional(array: NDArray[Any]) -> NDArray[Any]:
    if array.ndim == 2:
        return array
    if array.ndim > 2:
        raise ValueError(f"Found array with dim {array.ndim}, while dim <= 2 is required.")
    what = "scalar array instead" if array.ndim == 0 else "1D array instead"
    raise ValueError(
        f"Expected 2D array, got {what}:\narray={array}.\n"
        "Reshape your data either using array.reshape(-1, 1) if your data has a single feature "
        "or array.reshape(1, -1) if it contains a single sample."
    )


def _floats(array: NDArray[Any], name: str = "X") -> Floats:
    if array.dtype.kind == "c":
        raise ValueError(f"Complex data not supported\n{array}\n")
    if array.dtype.kind in "mM":
        raise ValueError(f"Dates and times are not numeric: the type of {name} is {array.dtype}.")
    if array.dtype.kind == "O":
        for place, x in np.ndenumerate(array):
            if isinstance(x, complex) and not isinstance(x, numbers.Real):
                raise ValueError(f"Complex data not supported: {_place(place)}{name}.")
            if not isinstance(x, (numbers.Number, str, bytes, np.generic, type(None))):
                _number(x, f"{_place(place)}{name}")
    try:
        return np.asarray(array, dtype=np.float64)
    except (ValueError, OverflowError) as error:
        raise ValueError(f"{name} is not numeric: {error}") from None
    except TypeError as error:
        raise TypeError(f"{name} is not numeric: {error}") from None


def _place(place: tuple[int, ...]) -> str:
    where = (f"{what} {i}" for what, i in zip(("row", "column"), place))
    return ", ".join(where) + (" of " if place else "")


def _number(x: Any, where: str) -> None:
    try:
        float(x)
    except TypeError:
        raise TypeError(
            f"argument must be a string or a number, not {type(x).__name__!r}: {where}"
        ) from None


def weights(sample_weight: Any, rows: int) -> Floats | None:
    """One weight per row, private as the rows are, or None where all count once."""
    if sample_weight is None:
        return None
    given = _floats(array(sample_weight, "sample_weight"), "sample_weight")
    weights = np.full(rows, given) if given.ndim == 0 else given.copy()
    if weights.ndim != 1:
        raise ValueError(f"Sample weights must be 1D array or scalar, got {weights.ndim}D array.")
    if len(weights) != rows:
        raise ValueError(f"sample_weight.shape == {weights.shape}, expected {(rows,)}!")
    if not np.isfinite(weights).all():
        raise ValueError("Input sample_weight contains NaN or infinity.")
    if (weights < 0).any():
        raise ValueError("Negative values in data passed to `sample_weight`.")
    if not weights.any():
        raise ValueError("Sample weights must contain at least one non-zero number.")
    return weights


def complete(
    table: Table, weight: Floats | None, blocks: list[str] | None
) -> tuple[Table, Floats | None, list[str] | None]:
    """The rows without missing cells, with their weights and blocks; says how many others there are."""
    kept: NDArray[np.bool_] = np.asarray(~np.isnan(table.rows).any(axis=1))
    gone = int((~kept).sum())
    if gone == 0:
        return table, weight, blocks
    if gone == len(kept):
        raise ValueError("missing = 'drop': every row has a missing cell (NaN); use missing='model'")
    text = f"{gone} of {len(kept)} rows have missing cells and are left out; missing='model' learns from them"
    warnings.warn(text, UPoEWarning, stacklevel=4)
    weight = None if weight is None else weight[kept]
    blocks = None if blocks is None else [b for b, keep in zip(blocks, kept) if keep]
    return Table(table.rows[kept], table.names, True), weight, blocks


def groups(given: Any, rows: int, name: str = "groups") -> list[str]:
    """The group of each row, as text."""
    found = array(given, name)
    if found.shape != (rows,):
        raise ValueError(f"{name}.shape == {found.shape}, expected {(rows,)}!")
    return [str(group) for group in found.tolist()]


def harmless(text: str) -> str:
    """Text from elsewhere, such as a name in a file, that is safe to print.

    What a terminal obeys or cannot show (control characters, marks that turn the direction of
    writing) is replaced by its escape.
    """
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def distinct(names: list[str] | None) -> None:
    """Refuses columns that have the same name: models know their columns by name."""
    places: dict[str, list[int]] = {}
    for place, name in enumerate(names or []):
        places.setdefault(name, []).append(place)
    twice = [f"{name!r} (columns {places[name]})" for name in places if len(places[name]) > 1]
    if twice:
        more = f" and {len(twice) - 5} more" if len(twice) > 5 else ""
        raise ValueError(
            f"Columns have the same name: {', '.join(twice[:5])}{more}. A model knows its columns "
            "by their names; rename them or leave some out."
        )


def same_columns(estimator: Any, columns: int, names: list[str] | None) -> None:
    """Refuses rows whose columns are not those of the fit."""
    name = type(estimator).__name__
    fitted = getattr(estimator, "feature_names_in_", None)
    if names is not None and fitted is None:
        warnings.warn(
            f"X has feature names, but {name} was fitted without feature names",
            UserWarning,
            stacklevel=4,
        )
    elif names is None and fitted is not None:
        warnings.warn(
            f"X does not have valid feature names, but {name} was fitted with feature names",
            UserWarning,
            stacklevel=4,
        )
    elif names is not None and fitted is not None and names != list(fitted):
        raise ValueError(_other_names(list(fitted), names))
    if columns != estimator.n_features_in_:
        raise ValueError(
            f"X has {columns} features, but {name} is expecting {estimator.n_features_in_} "
            "features as input."
        )


def _other_names(fitted: list[str], names: list[str]) -> str:
    message = "The feature names should match those that were passed during fit.\n"
    unseen = sorted(set(names) - set(fitted))
    missing = sorted(set(fitted) - set(names))
    for title, which in (
        ("Feature names unseen at fit time:", unseen),
        ("Feature names seen at fit time, yet now missing:", missing),
    ):
        if which:
            message += title + "\n" + "".join(f"- {harmless(name)}\n" for name in which[:5])
            message += "- ...\n" if len(which) > 5 else ""
    if not unseen and not missing:
        message += "Feature names must be in the same order as they were in fit.\n"
    return message


def seed(random_state: Any) -> int:
    """The seed of an int, None (0), or a numpy generator, which advances."""
    if random_state is None:
        return 0
    if isinstance(random_state, numbers.Integral):
        if not 0 <= int(random_state) < 2**64:
            raise ValueError(f"random_state = {random_state}: a seed is from 0 to 2**64 - 1")
        return int(random_state)
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    raise ValueError(f"{random_state!r} cannot be used to seed: give an int or a RandomState")


def threads(n_jobs: Any) -> int | None:
    """Threads of scikit-learn's n_jobs: None and -1 are all cores, -2 all but one."""
    if n_jobs is None:
        return None
    if not isinstance(n_jobs, numbers.Integral) or n_jobs == 0:
        raise ValueError(f"n_jobs = {n_jobs!r}: give a number of threads, or -1 for all")
    if int(n_jobs) > 0:
        return int(n_jobs)
    import os

    return max(1, (os.cpu_count() or 1) + 1 + int(n_jobs))


def projections(Z: Any, count: int, estimator: str) -> Floats:
    """Projections to go back from."""
    rows = _floats(_two_dimensional(array(Z, "X")))
    if rows.shape[1] != count:
        raise ValueError(
            f"X has {rows.shape[1]} features, but {estimator} is expecting {count} projections"
        )
    return rows


def whole(name: str, value: Any, least: int) -> int:
    """A whole number of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or int(value) < least:
        raise ValueError(f"{name} = {value!r}: must be a whole number of at least {least}")
    if int(value) > sys.maxsize:
        raise ValueError(f"{name} = {value!r}: is too large")
    return int(value)
