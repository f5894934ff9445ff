"""The estimator: a density and a transformer in one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence

import numpy as np
from numpy.typing import NDArray

from . import _validate
from ._base import ClassNamePrefixFeaturesOutMixin, DensityMixin, TransformerMixin
from ._density import Density
from ._docs import LAST, SHARED, documented

if TYPE_CHECKING:
    from typing_extensions import Self

Floats = NDArray[np.float64]


@documented(*SHARED, "p_values_", "n_experts_", "n_iter_", "path_", *LAST)
class UPoE(ClassNamePrefixFeaturesOutMixin, TransformerMixin, DensityMixin, Density):
    """An under-complete product of experts: projection pursuit with an exact likelihood.

    The density is Gaussian, except along a few learned directions, where a one-dimensional
    expert describes the data.

    See Also
    --------
    UPoEDetector : Outliers, by the model's own tail probability.
    UPoEICA : Sources, with FastICA's API.

    Examples
    --------
    >>> import numpy as np
    >>> from upoe import UPoE
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 3))
    >>> X[:, 0] += np.where(rng.random(500) < 0.5, -4, 4)     # two groups along a column
    >>> model = UPoE(n_experts=1).fit(X)
    >>> model.experts_[0].family
    'mixture'
    >>> np.abs(model.mixing_[:, 0]).argmax()
    np.int64(0)
    >>> model.score_samples(X).shape, model.transform(X).shape, model.sample(10).shape
    ((500,), (500, 1), (10, 3))
    """

    def __init__(
        self,
        n_experts: int | str = "auto",
        *,
        n_dims: int | float | None = None,
        family: str = "auto",
        mixture_size: int = 2,
        fix_mu: float | Sequence[float] | None = None,
        fix_beta: float | None = None,
        learner: str = "pursuit",
        parallel_start: str = "sequential",
        stop: str | None = None,
        holdout: float | None = None,
        n_starts: int | str = "auto",
        max_iter: int = 500,
        tol: float = 1e-5,
        recipe: str = "best",
        precision: str = "f64",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_experts = n_experts
        self.n_dims = n_dims
        self.family = family
        self.mixture_size = mixture_size
        self.fix_mu = fix_mu
        self.fix_beta = fix_beta
        self.learner = learner
        self.parallel_start = parallel_start
        self.stop = stop
        self.holdout = holdout
        self.n_starts = n_starts
        self.max_iter = max_iter
        self.tol = tol
        self.recipe = recipe
        self.precision = precision
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        groups: Any = None,
        blocks: Any = None,
        counts: bool = False,
        ordered: bool = False,
    ) -> Self:
        """Fits the model.

        Ctrl-C stops it within a second.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            A numpy array, a pandas or polars frame, or anything with `__arrow_c_stream__` or
            `__array__`. It is copied once, so other threads may write to it meanwhile.
        y : ignored
        sample_weight : array-like of shape (n_samples,), default=None
            How much each row counts.
        groups : array-like of shape (n_samples,), default=None
            Blocks of which some are held out whole: 20 % of the rows, or the share `holdout`.
        blocks : array-like of shape (n_samples,), default=None
            Rows of one block belong together and may resemble each other: p-values and standard
            errors take blocks, not rows, as independent.
        counts : bool, default=False
            Whether weights, and how often a row is repeated, are numbers of independent rows.
            Otherwise p-values count repeated rows once, and weights as what they are worth in
            equal rows.
        ordered : bool, default=False
            Whether rows follow one another in time: p-values then count as many rows as could be
            independent.

        Returns
        -------
        self : UPoE
            The fitted estimator.
        """
        self._fit(X, sample_weight, groups, blocks, counts, ordered)
        return self

    def transform(self, X: Any) -> Floats:
        """The projections of each row: what each expert sees.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        Z : ndarray of shape (n_samples, n_experts_)
            The projections, of mean 0 and variance 1 on the training rows where the learner
            is "pursuit".
        """
        return self._project(self._rows(X))

    def inverse_transform(self, Z: Any) -> Floats:
        """The most probable rows (under a Gaussian) with these projections.

        Parameters
        ----------
        Z : array-like of shape (n_samples, n_experts_)
            Projections.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
            The rows: `mean_ + Z @ mixing_.T`.
        """
        self._check_fitted()
        z = _validate.projections(Z, self.n_experts_, type(self).__name__)
        return self._model.inverse_transform(z, self._threads)

    def score(self, X: Any, y: Any = None) -> float:
        """Mean ln p of rows, in nats: what a search over parameters should raise.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.
        y : ignored

        Returns
        -------
        score : float
            The mean of `score_samples(X)`.
        """
        return float(np.mean(self.score_samples(X)))
