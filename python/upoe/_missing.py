"""What a density says about missing cells and about columns given others."""

from __future__ import annotations

import numbers
from typing import Any, Mapping, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _upoe, _validate
from ._condition import Condition, place
from ._density import Density

Floats = NDArray[np.float64]

METHODS = ("mean", "median", "draw")
"""What missing cells are filled in with."""


class Imputed(NamedTuple):
    """Rows whose missing cells are filled in, with intervals. All arrays are (n, features)."""

    values: Floats
    """The rows."""
    low: Floats
    """Where the interval of each missing cell begins; the value itself where it is there."""
    high: Floats
    """Where it ends."""


class Expected(NamedTuple):
    """A column from the others. All arrays are (n,)."""

    mean: Floats
    """The conditional mean."""
    median: Floats
    """The conditional median."""
    low: Floats
    """Where the interval begins."""
    high: Floats
    """Where it ends."""


class MissingCells(Density):
    """The part of a density that fills in missing cells and answers for columns given others."""

    def impute(
        self,
        X: Any,
        *,
        method: str | None = None,
        n_draws: int | None = None,
        interval: float | None = None,
        random_state: Any = None,
    ) -> Floats | Imputed:
        """Rows with their missing cells (NaN) filled in, given the values that each row has.

        Values that are there are never changed. Where one cell of a row is missing, the result is
        exact; where several are, it is the mean over draws of the others. Means make a table look more
        certain than it is: use draws for statistics of the filled table.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.
        method : {"mean", "median", "draw"} or None, default=None
            What to fill in: the mean or the median of the cell's density, or a draw from it. None
            is "mean", and "draw" where `n_draws` is given.
        n_draws : int, default=None
            Fill in every row this many times, with draws.
        interval : float, default=None
            Also give the ends between which a missing cell lies with this probability.
        random_state : int, RandomState instance or None, default=None
            None takes the estimator's own; the same seed gives the same values.

        Returns
        -------
        filled : ndarray of shape (n_samples, n_features)
            The rows; of shape (n_draws, n_samples, n_features) where `n_draws` is given. With
            `interval`, an `Imputed` of `values`, `low` and `high`.
        """
        rows, seed = self._private(X), self._seed_of(random_state)
        if method is None:
            method = "mean" if n_draws is None else "draw"
        if not (isinstance(method, str) and method in METHODS):
            raise ValueError(f"method = {method!r}: must be one of {', '.join(map(repr, METHODS))}")
        if n_draws is not None and method != "draw":
            raise ValueError(f"n_draws = {n_draws!r}: draws are of method='draw', not {method!r}")
        if method == "draw":
            if interval is not None:
                raise ValueError(f"interval = {interval!r}: draws have no interval; take the mean or the median")
            draws = 1 if n_draws is None else _validate.whole("n_draws", n_draws, 1)
            drawn = _upoe.draw_missing(self._model, rows, draws, seed, self._threads)
            return drawn[:, 0] if n_draws is None else np.ascontiguousarray(drawn.swapaxes(0, 1))
        share = None if interval is None else _share(interval)
        found = _upoe.impute(self._model, rows, method == "median", share, seed, self._threads)
        parts = [np.ascontiguousarray(found[:, :, k]) for k in range(found.shape[2])]
        return parts[0] if share is None else Imputed(*parts)

    def expect(
        self, X: Any, target: str | int, *, interval: float = 0.9, random_state: Any = None
    ) -> Expected:
        """What a column should be, given the other columns of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows. What they have in the column `target` is not used, and may be NaN; other cells
            may be missing, too.
        target : str or int
            The column: its name or its number.
        interval : float, default=0.9
            How much of the probability lies between `low` and `high`.
        random_state : int, RandomState instance or None, default=None
            None takes the estimator's own. It matters where several cells of a row are missing.

        Returns
        -------
        expected : Expected
            The conditional `mean`, `median`, `low` and `high` of each row.
        """
        rows = self._private(X)
        column = place(target, self.n_features_in_, self._known_names(), "target")
        rows[:, column] = np.nan
        seed, share = self._seed_of(random_state), _share(interval)
        found = _upoe.expect(self._model, rows, column, share, seed, self._threads)
        return Expected(*(np.ascontiguousarray(part) for part in found.T))

    def condition(self, given: Mapping[Any, Any], *, random_state: Any = None) -> Condition:
        """The density of the other columns, where some are given.

        Parameters
        ----------
        given : dict
            Columns, by name or number, with their values, or with ranges: `{"CW": 40}` is a value,
            `{"CW": (40, None)}` is more than 40, `{"CW": (40, 45)}` lies between. The density is also
            one over the columns that have ranges.
        random_state : int, RandomState instance or None, default=None
            The seed of draws; None takes the estimator's own.

        Returns
        -------
        condition : Condition
            The density, with `score_samples`, `sample`, `mean` and `quantile`.
        """
        self._check_fitted()
        seed = self._seed_of(random_state)
        return Condition(
            self._model, given, self._known_names(), seed=seed, threads=self._threads
        )

    def _known_names(self) -> list[str] | None:
        names = getattr(self, "feature_names_in_", None)
        return None if names is None else list(names)

    def _private(self, X: Any) -> Floats:
        """Rows to apply the fitted model to, in an array that nobody else has."""
        rows = self._rows(X)
        return np.array(rows, dtype=np.float64, order="C")

    def _seed_of(self, random_state: Any) -> int:
        own = getattr(self, "random_state", None)
        return _validate.seed(own if random_state is None else random_state)


def _share(interval: Any) -> float:
    if not isinstance(interval, numbers.Real) or not 0.0 < float(interval) < 1.0:
        raise ValueError(f"interval = {interval!r}: give a share of probability between 0 and 1")
    return float(interval)
