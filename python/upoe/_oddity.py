"""Why rows are odd."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Oddity(NamedTuple):
    """The exact parts of the oddness of rows, and what each column should be.

    ``oddness = base + directions.sum(axis=1) + rest + alone.sum(axis=1)`` and
    ``oddness = base + columns.sum(axis=1)``.
    """

    oddness: Floats
    """How odd each row is: (n,)."""
    base: float
    """The oddness of the most ordinary row there could be."""
    directions: Floats
    """What the distance along each heavy direction adds: (n, directions)."""
    rest: Floats
    """What the distance along all other directions adds: (n,)."""
    alone: Floats
    """What the rarity of each value in its own column adds: (n, features)."""
    columns: Floats
    """What each column adds, through distance and rarity: (n, features)."""
    expected: Floats
    """What each column should be, given the others; NaN for a constant column: (n, features)."""
    low: Floats
    """5 % of the training rows lie below this: (n, features)."""
    high: Floats
    """5 % of the training rows lie above this: (n, features)."""
    reasons: list[str]
    """Why each row is odd, in the words of `upoe outliers`: the columns most to blame first."""
    names: list[str]
    """The columns' names."""

    def to_frame(self, by: str = "column") -> Any:
        """A pandas frame with one line per row: parts by ``"column"`` or by ``"direction"``."""
        import pandas as pd

        parts: dict[str, Any] = {"oddness": self.oddness}
        parts["base"] = np.full(len(self.oddness), self.base)
        if by == "column":
            parts.update(dict(zip(self.names, self.columns.T)))
        elif by == "direction":
            parts.update({f"direction{j + 1}": d for j, d in enumerate(self.directions.T)})
            parts["rest"] = self.rest
            parts["alone"] = self.alone.sum(axis=1)
        else:
            raise ValueError(f"by = {by!r}: must be 'column' or 'direction'")
        return pd.DataFrame(parts)
