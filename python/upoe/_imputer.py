"""A transformer that fills in missing cells, with IterativeImputer's API."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import _validate
from ._base import BaseEstimator, NotFittedError, TransformerMixin, UPoEWarning
from ._docs import documented
from ._estimator import UPoE

if TYPE_CHECKING:
    from typing_extensions import Self

Floats = NDArray[np.float64]


@documented("density_", "empty_features_", "indicator_features_", "n_features_in_", "feature_names_in_")
class UPoEImputer(TransformerMixin, BaseEstimator):
    """Fills in missing cells from a density of whole rows, with `IterativeImputer`'s API.

    A `UPoE` is fitted to all rows, those with missing cells included. `transform` fills in each
    missing cell from its density, given the values that the row has. Values that are there are never
    changed. Columns without any value cannot be learned: they are left out, as `IterativeImputer`
    does, or kept as zeros.

    See Also
    --------
    UPoE : The density itself, whose `impute` also gives intervals and several draws.

    Examples
    --------
    >>> import numpy as np
    >>> from upoe import UPoEImputer
    >>> rng = np.random.default_rng(0)
    >>> a = rng.normal(size=1000)
    >>> X = np.c_[a, 2 * a + 0.1 * rng.normal(size=1000)]
    >>> X[::5, 1] = np.nan
    >>> filled = UPoEImputer().fit_transform(X)
    >>> bool(np.abs(filled[::5, 1] - 2 * a[::5]).max() < 0.5)
    True
    """

    density_: UPoE
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]

    def __init__(
        self,
        n_experts: int | str = "auto",
        *,
        strategy: str = "mean",
        sample_posterior: bool = False,
        missing_values: Any = np.nan,
        add_indicator: bool = False,
        keep_empty_features: bool = False,
        quality: str | None = None,
        n_dims: int | float | None = None,
        family: str = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_experts = n_experts
        self.strategy = strategy
        self.sample_posterior = sample_posterior
        self.missing_values = missing_values
        self.add_indicator = add_indicator
        self.keep_empty_features = keep_empty_features
        self.quality = quality
        self.n_dims = n_dims
        self.family = family
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fits the density.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.
        y : ignored
        sample_weight : array-like of shape (n_samples,), default=None
            How much each row counts.

        Returns
        -------
        self : UPoEImputer
            The fitted estimator.
        """
        if self.strategy not in ("mean", "median"):
            raise ValueError(f"strategy = {self.strategy!r}: must be one of 'mean', 'median'")
        table = _validate.table(X, estimator=type(self).__name__, min_rows=2)
        _validate.distinct(table.names)
        rows = self._with_nan(table.rows)
        gone = np.isnan(rows)
        empty = gone.all(axis=0)
        if empty.all():
            raise ValueError("Input X contains NaN alone: no column has a value")
        names = table.names
        if empty.any():
            columns = [i if names is None else names[i] for i in np.flatnonzero(empty)]
            what = "filled with 0" if self.keep_empty_features else "left out"
            warnings.warn(f"columns without any value are {what}: {columns}", UPoEWarning, stacklevel=2)
        density = UPoE(
            self.n_experts,
            quality=self.quality,
            n_dims=self.n_dims,
            family=self.family,
            random_state=_validate.seed(self.random_state),
            n_jobs=self.n_jobs,
            verbose=self.verbose,
        )
        density._fit(np.ascontiguousarray(rows[:, ~empty]), sample_weight, missing="model")
        self.density_ = density
        self.n_features_in_ = rows.shape[1]
        if hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        if names is not None:
            self.feature_names_in_ = np.asarray(names, dtype=object)
        self.empty_features_ = np.flatnonzero(empty)
        self.indicator_features_ = np.flatnonzero(gone.any(axis=0))
        return self

    def transform(self, X: Any) -> Floats:
        """The rows with their missing cells filled in.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        filled : ndarray of shape (n_samples, n_features_out)
            The rows without columns that had no value in the fit; with `add_indicator`, followed
            by 0 and 1 for each column that had missing cells in the fit.
        """
        self._check_fitted()
        given, names, _ = _validate.table(X, estimator=type(self).__name__)
        given, names = _validate.in_order(self, given, names)
        _validate.same_columns(self, given.shape[1], names)
        rows = self._with_nan(given)
        gone = np.isnan(rows)
        kept = np.ones(rows.shape[1], dtype=bool)
        kept[self.empty_features_] = False
        method = "draw" if self.sample_posterior else self.strategy
        seed = _validate.seed(self.random_state)
        known = np.ascontiguousarray(rows[:, kept])
        filled = self.density_.impute(known, method=method, random_state=seed)
        assert isinstance(filled, np.ndarray)
        if self.keep_empty_features:
            whole = np.zeros_like(rows)
            whole[:, kept] = filled
            filled = whole
        if self.add_indicator:
            filled = np.hstack([filled, gone[:, self.indicator_features_].astype(np.float64)])
        return filled

    def _with_nan(self, rows: _validate.Rows) -> Floats:
        """A copy with NaN in missing cells."""
        copy = np.array(rows, dtype=np.float64, order="C")
        if not (isinstance(self.missing_values, float) and np.isnan(self.missing_values)):
            if np.isnan(copy).any():
                i, k = np.argwhere(np.isnan(copy))[0]
                raise ValueError(
                    f"Input X contains NaN: row {i}, column {k}, and missing_values is "
                    f"{self.missing_values!r}. Drop the row or replace the value."
                )
            copy[copy == self.missing_values] = np.nan
        return copy

    def _check_fitted(self) -> None:
        if not hasattr(self, "density_"):
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet. Call 'fit' with "
                "appropriate arguments before using this estimator."
            )

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "density_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.allow_nan = True
        return tags

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """The names of the columns that `transform` gives.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Names of the columns of X; None takes those of the fit, or x0, x1, ...

        Returns
        -------
        names : ndarray of str
            The names; those of indicators begin with "missingindicator_".
        """
        self._check_fitted()
        names = getattr(self, "feature_names_in_", None)
        if input_features is not None:
            given = np.asarray(input_features, dtype=object)
            if names is not None and list(given) != list(names):
                raise ValueError("input_features is not equal to feature_names_in_")
            if len(given) != self.n_features_in_:
                raise ValueError(
                    "input_features should have length equal to number of features "
                    f"({self.n_features_in_}), got {len(given)}"
                )
            names = given
        if names is None:
            names = np.array([f"x{i}" for i in range(self.n_features_in_)], dtype=object)
        empty = set() if self.keep_empty_features else set(self.empty_features_.tolist())
        out = [name for i, name in enumerate(names) if i not in empty]
        if self.add_indicator:
            out += [f"missingindicator_{names[i]}" for i in self.indicator_features_]
        return np.asarray(out, dtype=object)
