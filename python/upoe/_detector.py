"""Outliers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence

import numpy as np
from numpy.typing import NDArray

from . import _validate
from ._base import OutlierMixin
from ._density import Density
from ._docs import LAST, SHARED, documented

if TYPE_CHECKING:
    from typing_extensions import Self

Floats = NDArray[np.float64]


@documented("offset_", *SHARED, "p_values_", "n_experts_", "n_iter_", "path_", *LAST)
class UPoEDetector(OutlierMixin, Density):
    """Outliers, by the model's own tail probability.

    A row is an outlier when the fitted model says that a row no more probable comes with a
    probability below `alpha`. No share of outliers is guessed: clean data give about `alpha`
    of them.

    See Also
    --------
    UPoE : The density itself.

    Examples
    --------
    >>> import numpy as np
    >>> from upoe import UPoEDetector
    >>> rng = np.random.default_rng(0)
    >>> X = rng.laplace(size=(1000, 3))
    >>> detector = UPoEDetector(n_experts=3, alpha=0.001).fit(X)
    >>> detector.predict([[0.0, 0.0, 0.0], [30.0, 0.0, 0.0]])
    array([ 1, -1])
    >>> parts = detector.explain([[30.0, 0.0, 0.0]])
    >>> parts.columns.argmin()                                # the column to blame
    np.int64(0)
    """

    def __init__(
        self,
        n_experts: int | str = "auto",
        *,
        alpha: float = 0.05,
        n_tail_samples: int = 10_000,
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
        self.alpha = alpha
        self.n_tail_samples = n_tail_samples
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
        """Fits the model and finds the threshold.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.
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
        self : UPoEDetector
            The fitted estimator.
        """
        if not 0.0 < self.alpha < 1.0:
            raise ValueError(f"alpha = {self.alpha!r}: a probability lies in (0, 1)")
        self._drawn()
        self._fit(X, sample_weight, groups, blocks, counts, ordered)
        self._loaded()
        return self

    def _drawn(self) -> int:
        """How many rows are drawn, checked."""
        drawn = _validate.whole("n_tail_samples", self.n_tail_samples, 1)
        if self.alpha * (drawn + 1) < 1.0:
            raise ValueError(
                f"n_tail_samples = {drawn}: too few for alpha = {self.alpha!r}; "
                f"draw at least {int(np.ceil(1.0 / self.alpha)) - 1}"
            )
        return drawn

    def _loaded(self) -> None:
        drawn = self._drawn()
        self.offset_ = self._model.threshold(self.alpha, drawn, self._own_seed, self._threads)

    def decision_function(self, X: Any) -> Floats:
        """How far ln p of each row lies above the threshold, in nats; negative for outliers.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        decision : ndarray of shape (n_samples,)
            ln p less `offset_`.
        """
        return self.score_samples(X) - self.offset_

    def predict(self, X: Any) -> NDArray[np.int64]:
        """-1 for outliers, 1 for the others.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            -1 or 1.
        """
        return np.where(self.decision_function(X) >= 0, 1, -1)
