"""Base classes: scikit-learn's where it is installed, small ones of our own otherwise."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

__all__ = [
    "BaseEstimator",
    "ConvergenceWarning",
    "DensityMixin",
    "NotFittedError",
    "OutlierMixin",
    "TransformerMixin",
    "UPoEWarning",
    "HAS_SKLEARN",
]


class UPoEWarning(UserWarning):
    """Something a user should know about a fit, other than its convergence."""


class _OwnBase:
    """Parameters by name, as scikit-learn has them."""

    @classmethod
    def _parameters(cls) -> list[str]:
        names = inspect.signature(cls.__init__).parameters
        return sorted(name for name in names if name != "self")

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters of this estimator, by name."""
        return {name: getattr(self, name) for name in self._parameters()}

    def set_params(self, **params: Any) -> Any:
        """Sets parameters by name; returns the estimator."""
        known = self._parameters()
        for name, value in params.items():
            if name not in known:
                raise ValueError(
                    f"Invalid parameter {name!r} for estimator {self!r}. "
                    f"Valid parameters are: {known!r}."
                )
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        given = inspect.signature(type(self).__init__).parameters
        changed = (
            f"{name}={value!r}"
            for name, value in self.get_params().items()
            if value is not given[name].default and value != given[name].default
        )
        return f"{type(self).__name__}({', '.join(changed)})"


class _OwnTransformer:
    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
        """Fits to X, then transforms it."""
        return self.fit(X, y, **fit_params).transform(X)  # type: ignore[attr-defined]


class _OwnOutlier:
    def fit_predict(self, X: Any, y: Any = None, **kwargs: Any) -> Any:
        """Fits to X; -1 for its outliers, 1 for its inliers."""
        return self.fit(X, **kwargs).predict(X)  # type: ignore[attr-defined]


class _OwnDensity:
    pass


class _OwnNotFittedError(ValueError, AttributeError):
    """Raised when an estimator is used before it is fitted."""


class _OwnConvergenceWarning(UserWarning):
    """A fit ran out of iterations."""


if TYPE_CHECKING:
    HAS_SKLEARN: bool
    BaseEstimator = _OwnBase
    DensityMixin = _OwnDensity
    OutlierMixin = _OwnOutlier
    TransformerMixin = _OwnTransformer
    ConvergenceWarning = _OwnConvergenceWarning
    NotFittedError = _OwnNotFittedError
else:
    try:
        from sklearn.base import (
            BaseEstimator,
            DensityMixin,
            OutlierMixin,
            TransformerMixin,
        )
        from sklearn.exceptions import ConvergenceWarning, NotFittedError

        HAS_SKLEARN = True
    except ImportError:
        HAS_SKLEARN = False
        BaseEstimator = _OwnBase
        DensityMixin = _OwnDensity
        OutlierMixin = _OwnOutlier
        TransformerMixin = _OwnTransformer
        ConvergenceWarning = _OwnConvergenceWarning
        NotFittedError = _OwnNotFittedError


class NamedProjections:
    """Names of projections, as the command's tables have them."""

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Names of the transformed columns: z1, z2, ...

        Parameters
        ----------
        input_features : ignored

        Returns
        -------
        names : ndarray of str
            The names.
        """
        import numpy as np

        self._check_fitted()  # type: ignore[attr-defined]
        count = self._n_features_out  # type: ignore[attr-defined]
        return np.asarray([f"z{i + 1}" for i in range(count)], dtype=object)


def in_container(estimator: Any, rows: Any, names: list[str]) -> Any:
    """Rows as the estimator's `set_output` asks for: an array, or a frame of pandas or polars."""
    asked = getattr(estimator, "_sklearn_output_config", {}).get("transform")
    if asked is None and HAS_SKLEARN:
        from sklearn import get_config

        asked = get_config().get("transform_output")
    if asked == "pandas":
        import pandas as pd

        return pd.DataFrame(rows, columns=names)
    if asked == "polars":
        import polars as pl

        return pl.DataFrame(rows, schema=names, orient="row")
    return rows
