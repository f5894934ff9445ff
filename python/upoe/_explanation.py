"""The parts of ln p."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Explanation(NamedTuple):
    """The exact parts of the ln p of rows, in nats.

    ``log_density = baseline + experts.sum(axis=1) + rest`` and
    ``log_density = baseline + columns.sum(axis=1)``.
    """

    log_density: Floats
    """ln p of each row: (n,)."""
    baseline: float
    """ln p at the data's mean."""
    experts: Floats
    """How each expert moves ln p from the baseline: (n, experts)."""
    rest: Floats
    """How the Gaussian rest moves it: (n,)."""
    columns: Floats
    """How each column moves it, through all experts and the rest: (n, features)."""
    experts_by_column: Floats | None
    """Each expert's move split over the columns: (n, experts, features)."""
    rest_by_column: Floats | None
    """The rest's move split over the columns: (n, features)."""
    names: list[str]
    """The columns' names."""

    def to_frame(self, by: str = "expert") -> Any:
        """A pandas frame with one line per row: parts by ``"expert"`` or by ``"column"``."""
        import pandas as pd

        parts: dict[str, Any] = {"log_density": self.log_density}
        parts["baseline"] = np.full(len(self.log_density), self.baseline)
        if by == "expert":
            parts.update({f"expert{j + 1}": e for j, e in enumerate(self.experts.T)})
            parts["rest"] = self.rest
        elif by == "column":
            parts.update(dict(zip(self.names, self.columns.T)))
        else:
            raise ValueError(f"by = {by!r}: must be 'expert' or 'column'")
        return pd.DataFrame(parts)
