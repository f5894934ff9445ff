"""Sources, in the manner of FastICA."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Sequence

import numpy as np
from numpy.typing import NDArray

from . import _validate
from ._base import ClassNamePrefixFeaturesOutMixin, TransformerMixin, UPoEWarning
from ._density import Density

if TYPE_CHECKING:
    from typing_extensions import Self

Floats = NDArray[np.float64]


class UPoEICA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Density):
    """Independent sources by maximum likelihood, with the manners of FastICA.

    Parameters
    ----------
    n_components : int or None, default=None
        The number of sources; None takes as many as the data have dimensions. Fewer sources
        than columns need no PCA: the other dimensions stay, as Gaussian.
    n_dims : int, float or None, default=None
        Dimensions kept by sphering: a number, a share of the variance in (0, 1], or all that
        have variance. Dropped ones are modelled as isotropic Gaussian noise, so that the
        density stays one over all columns.
    family : {"auto", "student-t", "mixture", "tilt"}, default="auto"
        The family of the experts; "auto" gives each direction the one with the best penalised
        gain.
    mixture_size : int, default=2
        Components of a mixture.
    fix_mu : float, sequence of float or None, default=None
        Locations that are held, in sphered units: one for "student-t", one a component for
        "mixture".
    fix_beta : float or None, default=None
        The shape that is held, in "student-t" and "mixture" experts.
    learner : {"pursuit", "sequential", "parallel"}, default="pursuit"
        One direction at a time, orthonormal; one at a time, free; or all together.
    parallel_start : {"sequential", "pursuit", "random", "grow"}, default="sequential"
        Where the parallel learner starts.
    n_starts : int or "auto", default="auto"
        Starts for each direction.
    max_iter : int, default=500
        Most steps of a descent.
    tol : float, default=1e-5
        Largest entry of the gradient at an answer.
    random_state : int, RandomState instance or None, default=None
        The seed; None is 0: a fit is always repeatable.
    n_jobs : int or None, default=None
        Threads; None and -1 take all cores. The result does not depend on it, to the bit.
    verbose : int, default=0
        Whether to show progress and a summary.

    Attributes
    ----------
    components_ : ndarray of shape (n_components_, n_features)
        Filters: `transform(X) = (X - mean_) @ components_.T`.
    mixing_ : ndarray of shape (n_features, n_components_)
        Patterns: how the columns move with each projection.
    mean_ : ndarray of shape (n_features,)
        The mean of the training rows.
    whitening_ : ndarray of shape (n_dims, n_features)
        The sphering matrix A.
    directions_ : ndarray of shape (n_components_, n_dims)
        The directions in sphered space.
    experts_ : list of Expert
        The experts: `kind`, `parameters`, `log_density(z)`, `cdf(z)` and more.
    gains_ : ndarray of shape (n_components_,)
        What each expert added to the mean ln p of the training rows, in nats.
    n_components_ : int
        The number of sources found.
    n_iter_ : int
        The most steps an expert's last descent took.
    stop_reason_ : str
        Why no further expert was added, in a word; `stop_message_` says it in a sentence.
    notices_ : list of str
        What a user should know about the fit.
    training_ : dict
        What the model was trained on, and how well it did.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where X had names that are all text.

    See Also
    --------
    UPoE : The density itself, with all that can be set.

    Examples
    --------
    >>> import numpy as np
    >>> from upoe import UPoEICA
    >>> rng = np.random.default_rng(0)
    >>> sources = rng.laplace(size=(2000, 2))
    >>> X = sources @ [[1.0, 2.0], [1.5, -1.0]]
    >>> ica = UPoEICA(n_components=2).fit(X)
    >>> S = ica.transform(X)                                  # of variance 1
    >>> recovered = np.abs(np.corrcoef(S.T, sources.T)[:2, 2:])
    >>> bool((recovered.max(axis=0) > 0.99).all())
    True
    >>> bool(np.allclose(ica.inverse_transform(S), X))
    True
    """

    def __init__(
        self,
        n_components: int | None = None,
        *,
        n_dims: int | float | None = None,
        family: str = "auto",
        mixture_size: int = 2,
        fix_mu: float | Sequence[float] | None = None,
        fix_beta: float | None = None,
        learner: str = "pursuit",
        parallel_start: str = "sequential",
        n_starts: int | str = "auto",
        max_iter: int = 500,
        tol: float = 1e-5,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.n_dims = n_dims
        self.family = family
        self.mixture_size = mixture_size
        self.fix_mu = fix_mu
        self.fix_beta = fix_beta
        self.learner = learner
        self.parallel_start = parallel_start
        self.n_starts = n_starts
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> Self:
        """Finds the sources.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The mixed signals, one a column.
        y : ignored

        Returns
        -------
        self : UPoEICA
            The fitted estimator.
        """
        wanted = self.n_components
        if wanted is not None:
            wanted = _validate.whole("n_components", wanted, 1)
        self._fit(X, None, experts=wanted, stop="train")
        if wanted is not None and self.n_components_ < wanted:
            warnings.warn(
                f"found {self.n_components_} of {wanted} sources: {self.stop_message_}",
                UPoEWarning,
                stacklevel=2,
            )
        return self

    def _take(self, model: Any) -> None:
        super()._take(model)
        # Sphered rows have unit variance along unit directions.
        self._scale: Floats = np.linalg.norm(self.directions_, axis=1)
        self.components_ = self.components_ / self._scale[:, None]
        self.mixing_ = self.mixing_ * self._scale
        self.n_components_ = self.n_experts_

    def transform(self, X: Any) -> Floats:
        """The sources, of variance 1 on the training rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Mixed signals.

        Returns
        -------
        S : ndarray of shape (n_samples, n_components_)
            The sources.
        """
        return self._project(self._rows(X)) / self._scale

    def inverse_transform(self, S: Any) -> Floats:
        """Mixed signals from sources.

        Parameters
        ----------
        S : array-like of shape (n_samples, n_components_)
            Sources.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
            The signals: `mean_ + S @ mixing_.T`.
        """
        self._check_fitted()
        s = _validate.projections(S, self.n_components_, type(self).__name__)
        return self._model.inverse_transform(s * self._scale, self._threads)
