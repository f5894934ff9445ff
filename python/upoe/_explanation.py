"""The parts of ln p."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _upoe

Floats = NDArray[np.float64]


class Surprises(NamedTuple):
    """Each value of each row beside its conditional, given the row's other values.

    All arrays are (n, features). Entries are NaN for a column that the others determine.
    """

    observed: Floats
    """The values; NaN where a cell is missing."""
    expected: Floats
    """The median of the conditional."""
    low: Floats
    """Where the interval of 90 % begins."""
    high: Floats
    """Where it ends."""
    surprise: Floats
    """The two-sided tail probability of the value: small ones are odd."""
    blame: Floats
    """How much more probable the row would be with the likeliest value here, in nats."""
    names: list[str]
    """The columns' names."""
    index: Any = None
    """The index of X, where it was a frame of pandas; `to_frame` keeps it."""

    @property
    def blamed(self) -> list[str]:
        """The column to blame for each row: the one with the largest blame."""
        return [self.names[i] for i in np.argmax(np.nan_to_num(self.blame, nan=-1.0), axis=1)]

    def words(self, row: int, most: int = 3) -> str:
        """What is odd about a row: the columns most to blame first."""
        order = np.argsort(-np.nan_to_num(self.blame[row], nan=-1.0), kind="stable")[:most]
        parts = (self.observed, self.expected, self.low, self.high)
        said = (
            _upoe.Model.words(self.names[i], *(float(part[row, i]) for part in parts))
            for i in order
            if not np.isnan(self.expected[row, i])
        )
        return "; ".join(said)

    def to_frame(self) -> Any:
        """A pandas frame with one line per row and six columns per feature."""
        import pandas as pd

        parts: dict[str, Any] = {}
        for i, name in enumerate(self.names):
            parts[name] = self.observed[:, i]
            for kind in ("expected", "low", "high", "surprise", "blame"):
                parts[f"{name}:{kind}"] = getattr(self, kind)[:, i]
        return pd.DataFrame(parts, index=self.index)


class Explanation(NamedTuple):
    """The exact parts of the ln p of rows, in nats.

    ``log_density = baseline + experts.sum(axis=1) + rest`` and
    ``log_density = baseline + columns.sum(axis=1)``.
    """

    log_density: Floats
    """ln p of each row: (n,)."""
    baseline: float
    """ln p at the data's mean; for stacks and pools the mean ln p of rows drawn from the model."""
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
    parts: list[str]
    """The names of `experts`: "expert1", or "layer1.expert1", "layer2.radial", "pool"."""
    index: Any = None
    """The index of X, where it was a frame of pandas; `to_frame` keeps it."""

    def to_frame(self, by: str = "expert") -> Any:
        """A pandas frame with one line per row: parts by ``"expert"`` or by ``"column"``."""
        import pandas as pd

        parts: dict[str, Any] = {"log_density": self.log_density}
        parts["baseline"] = np.full(len(self.log_density), self.baseline)
        if by == "expert":
            parts.update(dict(zip(self.parts, self.experts.T)))
            parts["rest"] = self.rest
        elif by == "column":
            parts.update(dict(zip(self.names, self.columns.T)))
        else:
            raise ValueError(f"by = {by!r}: must be 'expert' or 'column'")
        return pd.DataFrame(parts, index=self.index)
