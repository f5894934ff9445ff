"""What estimators say of what they have learned: in words, on a page, as a table."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _frames, _upoe, _validate
from ._report import Report
from ._summary import summary

Floats = NDArray[np.float64]


class Told:
    """Summary, page and loadings of a fitted density."""

    # The fitted model.
    _model: _upoe.Model
    n_features_in_: int
    components_: Floats
    mixing_: Floats

    def _check_fitted(self) -> None:
        raise NotImplementedError

    def _rows(self, X: Any) -> _validate.Rows:
        raise NotImplementedError

    @property
    def _threads(self) -> int | None:
        raise NotImplementedError

    def summary(self, most: int = 8) -> str:
        """What was found, in words, as `upoe fit` prints it.

        Parameters
        ----------
        most : int, default=8
            The largest number of experts shown.

        Returns
        -------
        text : str
            Experts, the columns that move with them, groups, likelihood and notices; print it.
        """
        self._check_fitted()
        return summary(self, _validate.whole("most", most, 1))

    def report(self, X: Any, *, labels: Any = None, title: str = "upoe") -> Report:
        """The page that `upoe report` writes: findings, odd rows, directions and pictures.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows to look at, the training rows for example.
        labels : array-like of shape (n_samples,), Series or DataFrame, default=None
            Labels or identifiers of the rows, shown but not modelled.
        title : str, default="upoe"
            The heading.

        Returns
        -------
        report : Report
            A notebook shows it; `report.save("page.html")` writes it.
        """
        rows = self._rows(X)
        kept = _frames.labels(labels, len(rows))
        return Report(_upoe.report(self._model, rows, str(title), kept, self._threads))

    def loadings(self, kind: str = "pattern") -> Any:
        """How projections and columns go together, as a table.

        Parameters
        ----------
        kind : {"pattern", "filter", "correlation"}, default="pattern"
            "pattern": how each column changes with z, in its own unit; "filter": what z is made of,
            per unit of the column; "correlation": of each column with z.

        Returns
        -------
        loadings : pandas.DataFrame
            One line per column, one column per projection: z1, z2, ...
        """
        import pandas as pd

        self._check_fitted()
        parts = {"pattern": self.mixing_, "filter": self.components_.T, "correlation": self._correlations().T}
        if kind not in parts:
            raise ValueError(f"kind = {kind!r}: must be one of 'pattern', 'filter', 'correlation'")
        columns = [f"z{j + 1}" for j in range(parts[kind].shape[1])]
        return pd.DataFrame(parts[kind], index=self._names(), columns=columns)

    def _correlations(self) -> Floats:
        return self._model.correlations

    def _names(self) -> list[str]:
        names = getattr(self, "feature_names_in_", None)
        return [f"x{i}" for i in range(self.n_features_in_)] if names is None else list(names)
