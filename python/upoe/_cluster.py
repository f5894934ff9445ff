"""What fits on clusters share: the fit, and what a worker does with its partition."""

from __future__ import annotations

import json
import warnings
from typing import Any, Iterable

import numpy as np

from . import _settings, _upoe, _validate
from ._base import ConvergenceWarning, UPoEWarning
from ._progress import progress


def missing(extra: str, module: str) -> ImportError:
    """The error where a package of an extra is not installed."""
    return ImportError(
        f"upoe.{extra} needs the package {module!r}: install it with `pip install upoe[{extra}]`"
    )


def fit(estimator: Any, cluster: Any, names: list[str] | None, sample: Any, **changes: Any) -> None:
    """Fits an estimator to rows that a cluster reaches: see `_upoe.fit_cluster`.

    `sample` is how many rows most steps are made on: "auto" (as many as a file larger than memory
    would take, given by `rows` and `columns` in `changes`), "all", or a number.
    """
    rows, columns = changes.pop("rows"), changes.pop("columns")
    params = estimator.get_params(deep=False)
    if params.get("quality") not in (None, "fast") or params.get("depth") not in (None, 1):
        raise ValueError("quality, depth: rows on a cluster are fitted by one layer; set neither")
    settings = {**_settings.settings({**params, "quality": "fast", "depth": None}), **changes}
    if sample == "auto":
        settings["sample"] = _upoe.sample_rows(rows, columns)
    elif sample != "all":
        count = _validate.whole("sample", sample, 1)
        settings["sample"] = count if count < rows else None
    holdout = getattr(estimator, "holdout", None)
    verbose = int(getattr(estimator, "verbose", 0) or 0)
    with progress(verbose, settings["experts"]) as show:
        model = _upoe.fit_cluster(cluster, holdout, json.dumps(settings), names, show)
    estimator._take(model)
    if verbose:
        print(estimator._summary())
    if estimator.stop_reason_ == "interrupted":
        warnings.warn(model.stop[1], ConvergenceWarning, stacklevel=4)
    for about_convergence, notice in model.notices:
        category = ConvergenceWarning if about_convergence else UPoEWarning
        warnings.warn(notice, category, stacklevel=4)


Piece = tuple[int, Any, Any, "list[str] | None"]
"""A partition: its number, rows (an array or a frame), weights or None, names of the columns or
None."""


def _arrays(piece: Piece) -> tuple[int, Any, Any, list[str]]:
    """A partition as arrays that nobody else has. Errors name the partition."""
    index, rows, weights, names = piece
    try:
        if names is not None and hasattr(rows, "columns"):
            found = [str(column) for column in rows.columns]
            if found != names:
                raise ValueError(f"its columns are {found}, and those of the table are {names}")
            rows = rows.to_numpy(dtype=np.float64) if len(found) else rows.to_numpy()
        x = np.array(rows, dtype=np.float32 if _single(rows) else np.float64, order="C")
        if x.ndim != 2 or (names is not None and x.shape[1] != len(names)):
            raise ValueError(f"its shape is {x.shape}: rows of {len(names or [])} columns are needed")
        w = None if weights is None else np.array(weights, dtype=np.float64, order="C").reshape(-1)
        if w is not None and len(w) != len(x):
            raise ValueError(f"it has {len(x)} rows and {len(w)} weights")
    except (TypeError, ValueError) as error:
        raise ValueError(f"partition {index}: {error}") from None
    return index, x, w, list(names or [])


def _single(rows: Any) -> bool:
    return getattr(rows, "dtype", None) == np.float32


def look(pieces: Iterable[Piece], question: bytes) -> list[tuple[int, bytes]]:
    """What some partitions say of their rows."""
    answers = []
    for piece in pieces:
        index, x, w, names = _arrays(piece)
        answers.append((index, _upoe.look(index, x, w, names, question)))
    return answers


def sphere(pieces: Iterable[Piece], plan: bytes) -> list[_upoe.Partition]:
    """The sphered rows of some partitions."""
    spheres = []
    for piece in pieces:
        index, x, w, _ = _arrays(piece)
        spheres.append(_upoe.sphere(index, x, w, plan))
    return spheres


def ask(partitions: Iterable[Any], question: bytes) -> list[tuple[int, bytes]]:
    """What some sphered partitions answer."""
    return [(partition.index, partition.answer(question)) for partition in partitions]


def in_order(answers: Iterable[tuple[int, bytes]]) -> list[bytes]:
    """The answers of all partitions, in the order of their numbers."""
    return [answer for _, answer in sorted(answers, key=lambda pair: pair[0])]
