"""A density of some columns, given others."""

from __future__ import annotations

import numbers
from typing import Any, Mapping

import numpy as np
from numpy.typing import NDArray

from . import _upoe, _validate

Floats = NDArray[np.float64]

DRAWS = 4000
"""Rows whose means and quantiles are given where there is no exact answer."""


class Condition:
    """The density of the columns that are not given, from `UPoE.condition`.

    Values are met exactly. Ranges are met by leaving out draws: `acceptance_` is the share of draws
    inside, and less than 1 in 10,000 is refused.

    Attributes
    ----------
    columns_ : list of int
        The columns that the density is over.
    names_ : list of str
        Their names.
    acceptance_ : float
        The probability of the ranges, estimated from draws; 1 where there are none.

    Examples
    --------
    >>> import numpy as np
    >>> from upoe import UPoE
    >>> rng = np.random.default_rng(0)
    >>> a = rng.normal(size=2000)
    >>> model = UPoE().fit(np.c_[a, 2 * a + 0.5 * rng.normal(size=2000)])
    >>> second = model.condition({0: 1.0})
    >>> second.mean().round(1), second.quantile(0.9).round(1)
    (array([2.]), array([2.6]))
    >>> second.sample(3).shape, second.score_samples([[2.0]]).shape
    ((3, 1), (1,))
    >>> bool(0.14 < model.condition({0: (1.0, None)}).acceptance_ < 0.18)
    True
    """

    def __init__(
        self,
        model: _upoe.Model,
        given: Mapping[Any, Any],
        names: list[str] | None,
        *,
        seed: int,
        threads: int | None,
    ) -> None:
        if not isinstance(given, Mapping) or not given:
            raise ValueError(f"given = {given!r}: give a dict of columns and their values or ranges")
        features = model.n_features
        equal, ranges = [], []
        known: set[int] = set()
        for name, what in given.items():
            column = place(name, features, names, "given")
            if column in known:
                raise ValueError(f"given: column {column} is given twice, as {name!r} and by another name")
            known.add(column)
            if isinstance(what, (tuple, list)):
                ranges.append((column, *_range(name, what)))
            else:
                equal.append((column, _number(name, what)))
        self._model, self._given, self._seed, self._threads = model, (equal, ranges), seed, threads
        self._template: Floats = np.full(features, np.nan)
        for column, value in equal:
            self._template[column] = value
        self.columns_ = [i for i in range(features) if np.isnan(self._template[i])]
        self.names_ = [f"x{i}" if names is None else names[i] for i in self.columns_]
        self._drawn: Floats | None = None
        self.acceptance_ = 1.0
        # What cannot be met is refused here.
        if ranges:
            self._drawn, self.acceptance_ = self._draw(DRAWS, seed)
        else:
            self._draw(1, seed)

    def _draw(self, n: int, seed: int) -> tuple[Floats, float]:
        rows, share = _upoe.draw_given(self._model, self._given, n, seed, self._threads)
        return np.ascontiguousarray(rows[:, self.columns_]), share

    def sample(self, n_samples: int = 1, random_state: Any = None) -> Floats:
        """Values of the columns that are not given, drawn from their density.

        Parameters
        ----------
        n_samples : int, default=1
            How many.
        random_state : int, RandomState instance or None, default=None
            None takes the seed that `condition` was called with.

        Returns
        -------
        X : ndarray of shape (n_samples, len(columns_))
            The values.
        """
        seed = self._seed if random_state is None else _validate.seed(random_state)
        return self._draw(_validate.whole("n_samples", n_samples, 0), seed)[0]

    def score_samples(self, X: Any) -> Floats:
        """ln of the density of the columns that are not given: ln p(row) − ln p(given), in nats.

        Parameters
        ----------
        X : array-like of shape (n_samples, len(columns_))
            Values of the columns that are not given, in the order of `columns_`; a frame has their
            names.

        Returns
        -------
        log_density : ndarray of shape (n_samples,)
            ln of the density of each; -inf outside the ranges.
        """
        table = _validate.table(X, estimator="Condition")
        if table.rows.shape[1] != len(self.columns_):
            raise ValueError(
                f"X has {table.rows.shape[1]} features, but the density is over {len(self.columns_)} "
                f"columns: {', '.join(self.names_)}"
            )
        if table.names is not None and table.names != self.names_:
            raise ValueError(f"the columns of X must be {', '.join(self.names_)}, in this order")
        if not np.isfinite(table.rows).all():
            i, k = np.argwhere(~np.isfinite(table.rows))[0]
            raise ValueError(
                f"Input X contains {table.rows[i, k]}: row {i}, column {self.names_[k]!r}. Drop the row or "
                "replace the value."
            )
        rows = np.tile(self._template, (len(table.rows), 1))
        rows[:, self.columns_] = table.rows
        return _upoe.score_given(self._model, self._given, self.acceptance_, rows, self._threads)

    def mean(self) -> Floats:
        """The mean of each column that is not given.

        It is exact where a value is given for all columns but one, and otherwise the mean of 4,000
        draws.

        Returns
        -------
        mean : ndarray of shape (len(columns_),)
            The means.
        """
        exact = self._exact([])
        return self._rows().mean(axis=0) if exact is None else np.array([exact[0]])

    def quantile(self, q: Any) -> Floats:
        """Quantiles of each column that is not given.

        They are exact where a value is given for all columns but one, and otherwise those of 4,000
        draws.

        Parameters
        ----------
        q : float or array-like of float
            Probabilities in (0, 1).

        Returns
        -------
        quantile : ndarray of shape (len(columns_),) or (len(q), len(columns_))
            The quantiles.
        """
        asked = np.asarray(q, dtype=np.float64)
        if asked.ndim > 1 or not ((asked > 0.0) & (asked < 1.0)).all():
            raise ValueError(f"q = {q!r}: give probabilities between 0 and 1")
        exact = self._exact(np.atleast_1d(asked).tolist())
        if exact is None:
            found: Floats = np.quantile(self._rows(), asked, axis=0)
            return found
        values: Floats = np.array(exact[1])[:, None]
        return values if asked.ndim else values[0]

    def _exact(self, probabilities: list[float]) -> tuple[float, list[float]] | None:
        """Mean and quantiles where one column is not given."""
        if self._given[1]:
            return None
        return _upoe.quantiles_given(self._model, self._given, probabilities)

    def _rows(self) -> Floats:
        """Draws to take means and quantiles of."""
        if self._drawn is None:
            self._drawn, _ = self._draw(DRAWS, self._seed)
        return self._drawn

    def __repr__(self) -> str:
        return f"<density of {', '.join(self.names_)}, given the other columns>"


def place(name: Any, features: int, names: list[str] | None, argument: str) -> int:
    """The number of a column from its name or number."""
    if isinstance(name, str) and names is not None and name in names:
        return names.index(name)
    if isinstance(name, numbers.Integral) and not isinstance(name, bool):
        if 0 <= int(name) < features:
            return int(name)
        raise ValueError(f"{argument}: there is no column {name}; columns are numbered from 0 to {features - 1}")
    shown = "it has no names; give numbers" if names is None else "its columns are " + ", ".join(
        _validate.harmless(known) for known in names[:20]
    ) + (", …" if len(names) > 20 else "")
    raise ValueError(f"{argument}: the model has no column {name!r}; {shown}")


def _number(name: Any, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, numbers.Real) or not np.isfinite(float(value)):
        raise ValueError(f"given[{name!r}] = {value!r}: give a finite number, or a range (low, high)")
    return float(value)


def _range(name: Any, what: Any) -> tuple[float, float]:
    if len(what) != 2:
        raise ValueError(f"given[{name!r}] = {what!r}: a range is (low, high), with None for no bound")
    bounds = []
    for bound, none in zip(what, (-np.inf, np.inf)):
        if bound is not None and (not isinstance(bound, numbers.Real) or np.isnan(float(bound))):
            raise ValueError(f"given[{name!r}] = {what!r}: bounds are numbers, or None for no bound")
        bounds.append(none if bound is None else float(bound))
    if not bounds[0] < bounds[1]:
        raise ValueError(f"given[{name!r}] = {what!r}: no value lies in this range; give the lower bound first")
    return bounds[0], bounds[1]
