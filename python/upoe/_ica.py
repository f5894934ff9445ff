"""Sources, with FastICA's API."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Sequence

import numpy as np
from numpy.typing import NDArray

from . import _validate
from ._base import ClassNamePrefixFeaturesOutMixin, TransformerMixin, UPoEWarning
from ._density import Density
from ._docs import LAST, SHARED, documented

if TYPE_CHECKING:
    from typing_extensions import Self

Floats = NDArray[np.float64]


@documented(*SHARED, "n_components_", "n_iter_", *LAST, count="n_components_")
class UPoEICA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Density):
    """Independent sources by maximum likelihood, with FastICA's API.

    `UPoEICA.adaptive()` has the settings for EEG and other long recordings.

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
        device: str = "cpu",
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
        self.device = device
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @classmethod
    def adaptive(cls, n_components: int | None = None, **params: Any) -> Self:
        """An estimator for EEG and other long recordings: all sources are learned together, each
        with a density of its own.

        The density is a mixture of three Student-t components, which can have heavy tails, light
        tails or several peaks; AMICA's, a mixture of three generalised Gaussians, can too. This sets
        `family="mixture"`, `mixture_size=3`, `learner="parallel"`, `parallel_start="random"`,
        `n_starts=1` and `tol=1e-3`. The command's flags for the same are `--family mixture
        --mixture-size 3 --learner parallel --start random --starts 1 --stop train --tol 1e-3`.

        Parameters
        ----------
        n_components : int or None, default=None
            As in the constructor.
        **params
            Other parameters of UPoEICA, also in place of those named above.

        Returns
        -------
        ica : UPoEICA
            The estimator, not yet fitted.

        Examples
        --------
        >>> import numpy as np
        >>> from upoe import UPoEICA
        >>> rng = np.random.default_rng(0)
        >>> sources = np.c_[rng.laplace(size=2000), rng.uniform(size=2000)]
        >>> X = sources @ [[1.0, 2.0], [1.5, -1.0]]
        >>> S = UPoEICA.adaptive().fit_transform(X)
        >>> recovered = np.abs(np.corrcoef(S.T, sources.T)[:2, 2:])
        >>> bool((recovered.max(axis=0) > 0.99).all())
        True
        """
        preset = {
            "family": "mixture",
            "mixture_size": 3,
            "learner": "parallel",
            "parallel_start": "random",
            "n_starts": 1,
            "tol": 1e-3,
        }
        return cls(n_components, **{**preset, **params})

    def fit(self, X: Any, y: Any = None) -> Self:
        """Finds the sources.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The mixed signals, one per column.
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
