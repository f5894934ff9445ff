"""Sources, with FastICA's API."""

from __future__ import annotations

import json
import warnings
from typing import TYPE_CHECKING, Any, Sequence

import numpy as np
from numpy.typing import NDArray

from . import _validate
from ._base import NamedProjections, TransformerMixin, UPoEWarning
from ._density import Density
from ._docs import LAST, SHARED, documented

if TYPE_CHECKING:
    from typing_extensions import Self

Floats = NDArray[np.float64]


@documented(*SHARED, "n_components_", "n_iter_", *LAST, count="n_components_")
class UPoEICA(NamedProjections, TransformerMixin, Density):
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
        if wanted is not None and self.n_experts_ < wanted:
            warnings.warn(
                f"{self.n_experts_} of {self.n_components_} sources are not Gaussian; the others are "
                f"uncorrelated with them and arbitrary among themselves ({self.stop_message_})",
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
        wanted = json.loads(model.settings).get("experts")
        lacking = min(int(wanted or 0), len(self.whitening_)) - self.n_experts_
        if lacking > 0:
            others = self._other_components()[:lacking]
            self.components_ = np.vstack([self.components_, others])
            self.mixing_ = np.hstack([self.mixing_, self._patterns(others)])
            self._scale = np.asarray(np.append(self._scale, np.ones(lacking)), dtype=np.float64)
            self.n_components_ += lacking
        self._n_features_out = self.n_components_

    def _other_components(self) -> Floats:
        """Filters of Gaussian sources in the dimensions that these leave, most variance first."""
        unit = self.components_ @ np.linalg.pinv(self.whitening_)
        _, _, right = np.linalg.svd(unit, full_matrices=True)
        left: Floats = right[len(unit) :] @ self.whitening_
        order = np.argsort(-np.linalg.norm(self._patterns(left), axis=0), kind="stable")
        return left[order]

    def _patterns(self, filters: Floats) -> Floats:
        """How the columns change with sources that are uncorrelated and of variance 1."""
        back = np.asarray(np.linalg.pinv(self.whitening_), dtype=np.float64)
        patterns: Floats = back @ (filters @ back).T
        return patterns

    def _correlations(self) -> Floats:
        variances = np.sum(np.linalg.pinv(self.whitening_) ** 2, axis=1)
        deviations = np.sqrt(np.where(variances > 0.0, variances, np.inf))
        return (self.mixing_ / deviations[:, None]).T

    def to_mne(self, info: Any) -> Any:
        """These sources as an `mne.preprocessing.ICA`, for MNE-Python's plots, labels and `apply`.

        Fit the data of MNE as they are: `UPoEICA(...).fit(raw.get_data(picks).T)`, in volts. The first
        `n_components_` components are the sources; those after them are the Gaussian rest, so that
        taking out a source takes out nothing else.

        Parameters
        ----------
        info : mne.Info
            What MNE knows of the channels that were fitted, in their order.

        Returns
        -------
        ica : mne.preprocessing.ICA
            Fitted.
        """
        from ._mne import to_mne

        self._check_fitted()
        return to_mne(self, info)

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
        rows = self._rows(X)
        found = self.n_experts_
        sources = self._project(rows) / self._scale[:found]
        others = (rows - self.mean_) @ self.components_[found:].T
        return np.hstack([sources, others]) if self.n_components_ > found else sources

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
        found = self.n_experts_
        x = self._model.inverse_transform(s[:, :found] * self._scale[:found], self._threads)
        return x + s[:, found:] @ self.mixing_[:, found:].T
