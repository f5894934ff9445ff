"""What comes with the rows of a frame: their index, labels, and columns that may not be measurements."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from ._validate import Rows


def index(X: Any) -> Any:
    """The index of a frame of pandas."""
    pandas = sys.modules.get("pandas")
    return X.index if pandas is not None and isinstance(X, pandas.DataFrame) else None


def labels(given: Any, rows: int) -> list[tuple[str, list[str]]]:
    """Columns of labels, each with its name and the text of each row."""
    if given is None:
        return []
    columns = getattr(given, "columns", None)
    if columns is not None:
        found = [(str(name), list(given[name])) for name in columns]
    else:
        found = [(str(getattr(given, "name", None) or "label"), list(given))]
    for name, cells in found:
        if len(cells) != rows:
            raise ValueError(f"labels: {name!r} has {len(cells)} labels for {rows} rows")
    return [(name, ["" if _is_nothing(cell) else str(cell) for cell in cells]) for name, cells in found]


def _is_nothing(cell: Any) -> bool:
    return cell is None or type(cell).__name__ in ("NAType", "NaTType") or cell != cell


def suspicious(rows: Rows, names: list[str] | None) -> str | None:
    """What may not be a measurement among columns with names, by the rules of the command."""
    if names is None or len(rows) < 20:
        return None
    found = []
    for name, column in zip(names, rows.T):
        known = column[~np.isnan(column)]
        if len(known) < 20 or not np.isfinite(known).all():
            continue
        values = np.unique(known)
        whole = bool((values == np.floor(values)).all())
        steps = np.diff(known)
        if len(values) == 2:
            found.append(f"{name!r} has two values")
        elif whole and len(values) == len(known) == values[-1] - values[0] + 1:
            found.append(f"{name!r} numbers the rows")
        elif len(values) > 2 and np.allclose(steps, steps[0], rtol=1e-9, atol=0.0):
            found.append(f"{name!r} numbers the rows")
    if not found or len(found) == len(names):
        return None
    shown = ", ".join(found[:5]) + (f" and {len(found) - 5} more" if len(found) > 5 else "")
    return f"{shown}: if these are no measurements, leave the columns out"
