"""What changed between two tables."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from . import _upoe, _validate
from ._density import Density

EXCHANGES = 999


class Drop(NamedTuple):
    """How much lower the mean ln p of B is than that of A, under a model of A."""

    nats: float
    """Per row; negative where the rows of B are the more probable ones."""
    standard_error: float
    """Its standard error."""
    p_value: float
    """The chance of as large a drop or rise between tables of the same distribution."""
    impossible: int
    """Rows of B that are impossible under the model of A; they do not count in ``nats``."""


class Change(NamedTuple):
    """One change from A to B."""

    sentence: str
    """The change in words."""
    kind: str
    """shift, spread, skewness, tails, groups, share, correlation or distance."""
    columns: list[str]
    """The columns that it is about; the first is the one that changed."""
    before: float
    """The value in A."""
    after: float
    """The value in B."""
    size: float
    """``after - before``; for spread and distance their ratio."""
    interval: tuple[float, float]
    """The 95 % interval of ``size``."""
    p_value: float
    """The chance of as large a change anywhere between tables of the same distribution."""
    beyond: bool
    """Whether the changes listed earlier were taken out of B first."""
    rows: list[int]
    """The rows of B that drive it, from 0, those that add most first."""


class Comparison(NamedTuple):
    """What changed between two tables."""

    answer: str
    """The answer in one sentence."""
    p_value: float | None
    """The chance that tables of the same distribution differ as much; None with too few rows to tell."""
    drop: Drop | None
    """The overall figure."""
    changes: list[Change]
    """What moved, in the order in which it was found."""
    notes: list[str]
    """What a user should know, such as columns in other units."""
    rows_a: int
    """Rows of A that were compared, or drawn from its model."""
    rows_b: int
    """Rows of B that were compared."""

    def __str__(self) -> str:
        lines = [self.answer]
        lines += [f"{i}. {c.sentence} (p {c.p_value:.3g})" for i, c in enumerate(self.changes, 1)]
        lines += [f"note: {note}" for note in self.notes]
        return "\n".join(lines)


def compare(
    A: Any,
    B: Any,
    *,
    level: float = 0.05,
    exchanges: int = EXCHANGES,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> Comparison:
    """Is B drawn from the distribution of A, and if not, what moved?

    Rows are exchanged between the tables to see how much they differ by chance, so the p-value holds whatever
    the distribution of rows; it counts rows as independent. Each change is taken out of B before the next is
    looked for.

    Parameters
    ----------
    A : table or fitted estimator
        The rows to compare with, or a model of them. With a model, what it misses counts as a change too.
    B : table
        The rows. Columns with names are matched by name.
    level : float
        Changes are listed up to this p-value.
    exchanges : int
        How often rows are exchanged; the smallest p-value is about ``1.1 / exchanges``.
    random_state, n_jobs
        The seed of the exchanges, and the number of threads, on which nothing depends.

    Examples
    --------
    >>> import numpy as np
    >>> from upoe import compare
    >>> rng = np.random.default_rng(0)
    >>> A, B = rng.normal(size=(300, 3)), rng.normal(size=(300, 3))
    >>> B[:, 1] += 0.7
    >>> [change.columns for change in compare(A, B).changes]
    [['c2']]
    """
    b = _validate.table(B, estimator="compare")
    rows_b = b
    model: _upoe.Model | None = None
    rows_a: _validate.Rows | None = None
    names: list[str] | None
    if isinstance(A, Density):
        A._check_fitted()
        model = A._model
        names = None if model.feature_names is None else list(model.feature_names)
    else:
        a = _validate.table(A, estimator="compare")
        rows_a, names = a.private(), a.names
    _validate.distinct(names)
    _validate.distinct(b.names)
    for table, rows in (("A", rows_a), ("B", b.rows)):
        if rows is not None and len(rows) < 2:
            raise ValueError(f"{table} has {len(rows)} row(s), and at least 2 are needed in each table.")
    if names is not None and b.names is not None:
        if missing := [name for name in names if name not in b.names]:
            raise ValueError(f"B lacks columns that A has: {', '.join(map(repr, missing))}.")
        order = [b.names.index(name) for name in names]
        rows_b = b._replace(rows=b.rows[:, order], fresh=True)
    found = json.loads(
        _upoe.compare(
            model,
            rows_a,
            rows_b.private(),
            names,
            float(level),
            _validate.whole("exchanges", exchanges, 99),
            _validate.seed(random_state),
            _validate.threads(n_jobs),
        )
    )
    drop = found["drop"] and Drop(**found["drop"])
    changes = [_change(change) for change in found["changes"]]
    keep = {key: found[key] for key in ("answer", "p_value", "notes", "rows_a", "rows_b")}
    return Comparison(drop=drop, changes=changes, **keep)


def _change(found: dict[str, Any]) -> Change:
    columns = found.get("columns") or [
        name for name in [found.get("column"), *found.get("given", [])] if name is not None
    ]
    low, high = found["interval"]
    fields = {name: found[name] for name in Change._fields if name not in ("columns", "interval")}
    return Change(columns=columns, interval=(low, high), **fields)
