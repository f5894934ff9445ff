"""The estimator: a density and a transformer in one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Sequence

import numpy as np
from numpy.typing import NDArray

from . import _frames, _validate
from ._base import DensityMixin, NamedProjections, TransformerMixin
from ._docs import LAST, SHARED, documented
from ._explanation import Surprises
from ._groups import Group, groups_of
from ._missing import MissingCells

if TYPE_CHECKING:
    from typing_extensions import Self

Floats = NDArray[np.float64]


class Layer(NamedTuple):
    """A layer of a stack."""

    kind: str
    """ "directions" or "radial"."""
    gain: float
    """What it adds to the mean ln p of the training rows, in nats per row."""
    holdout_gain: float | None
    """The same of the held-out rows, where there are any."""
    gains: list[float]
    """What each of its experts adds."""
    p_values: list[float | None]
    """The chance of such a gain on Gaussian rows, of each expert."""
    n_dims: int
    """Dimensions that a radial expert covers, or how many directions there are."""


@documented(*SHARED, "p_values_", "n_experts_", "n_iter_", "path_", "layers_", "members_", "groups_", *LAST)
class UPoE(NamedProjections, TransformerMixin, DensityMixin, MissingCells):
    """An under-complete product of experts: projection pursuit with an exact likelihood.

    The density is Gaussian, except along a few learned directions, where a one-dimensional
    expert describes the data.

    See Also
    --------
    UPoEDetector : Outliers, by the model's own tail probability.
    UPoEImputer : Missing cells filled in, as a step of a pipeline.
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

    _finds_groups = True
    groups_: list[Group]
    n_merged_groups_: int

    def __init__(
        self,
        n_experts: int | str = "auto",
        *,
        quality: str | None = None,
        depth: int | str | None = None,
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
        device: str = "cpu",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_experts = n_experts
        self.quality = quality
        self.depth = depth
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
        self.device = device
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
        sample: int | None = None,
        missing: str = "model",
    ) -> Self:
        """Fits the model.

        Ctrl-C stops it within a second.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            A numpy array, a pandas or polars frame, or anything with `__arrow_c_stream__` or
            `__array__`. It is copied once, so other threads may write to it meanwhile. NaN is a
            missing cell.
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
        sample : int, default=None
            Make starts and most steps on this many rows, at least 10,000; all rows decide at the
            end. None takes all rows.
        missing : {"model", "error", "drop"}, default="model"
            What to do with rows that have missing cells (NaN). "model" learns from the values that
            they have: missing cells are drawn and the model is learned in turns, which assumes that
            whether a cell is missing does not depend on its value, given the values that its row
            has. What is missing where is said first, as a `UPoEWarning`. "error" refuses such rows,
            "drop" leaves them out.

        Returns
        -------
        self : UPoE
            The fitted estimator.
        """
        self._fit(
            X, sample_weight, groups, blocks, counts, ordered, sample=sample, missing=missing
        )
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.allow_nan = True
        return tags

    def _take(self, model: Any) -> None:
        super()._take(model)
        self.layers_ = [Layer(*parts) for parts in model.layers]
        self.members_ = model.members
        if hasattr(self, "groups_"):
            del self.groups_, self.n_merged_groups_
        if (found := groups_of(model.groups)) is not None:
            self.groups_, self.n_merged_groups_ = found

    def score_samples(self, X: Any, *, sphered: bool = False) -> Floats:
        """ln p of each row, in nats.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows. A row with missing cells (NaN) has ln p of the cells that are there: the
            density is integrated over the others (`score_present` gives the error of that).
        sphered : bool, default=False
            Whether to give the density of the sphered rows, as the paper reports it, instead
            of the density over the data's own columns. Needs complete rows.

        Returns
        -------
        log_density : ndarray of shape (n_samples,)
            ln p of each row; -inf for a row outside the subspace that the training rows span,
            where they do not span all columns; 0 for a row without any cell.
        """
        if sphered:
            return super().score_samples(X, sphered=True)
        rows = self._rows(X)
        scores, _ = self._model.score_present(rows, self._threads)
        self._warn_outside(rows)
        return scores

    def score_present(self, X: Any) -> tuple[Floats, Floats]:
        """ln p of the cells of each row that are there, NaN standing for a missing one.

        Up to two missing cells, or experts that they concern, of a model of one layer are
        integrated exactly, others by importance sampling.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        log_density : ndarray of shape (n_samples,)
            ln p of the cells that are there, in nats.
        standard_error : ndarray of shape (n_samples,)
            Its standard error; 0 where it is exact.
        """
        rows = self._rows(X)
        found = self._model.score_present(rows, self._threads)
        self._warn_outside(rows)
        return found

    def surprises(self, X: Any) -> Surprises:
        """Each value of each row beside what is expected, given the row's other values.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows. Cells may be missing (NaN); values are then given those that are there.

        Returns
        -------
        surprises : Surprises
            `observed`, `expected`, `low`, `high`, `surprise`, `blame` and `blamed`; `to_frame()`
            makes it a table, `words(i)` says it in words.
        """
        rows = self._rows(X)
        found = self._model.expected(rows, self._threads)
        self._warn_outside(rows)
        observed = np.array(rows, dtype=np.float64)
        expected, low, high, surprise, blame = np.moveaxis(found, 2, 0)
        parts = (observed, expected, low, high, surprise, blame)
        return Surprises(*parts, self._names(), _frames.index(X))

    def transform(self, X: Any) -> Floats:
        """The projections of each row: what each expert of the first layer sees.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows; of those with missing cells (NaN), the expected projections.

        Returns
        -------
        Z : ndarray of shape (n_samples, max(1, n_experts_))
            The projections, of mean 0 and variance 1 on the training rows where the learner
            is "pursuit". Of a model without experts, one column of zeros: it tells rows apart by
            nothing, and the next step of a pipeline can go on.
        """
        rows = self._rows(X)
        if self.n_experts_ == 0:
            return np.zeros((len(rows), 1))
        return self._project(rows, missing=True)

    def inverse_transform(self, Z: Any) -> Floats:
        """The most probable rows (under a Gaussian) with these projections.

        Parameters
        ----------
        Z : array-like of shape (n_samples, max(1, n_experts_))
            Projections.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
            The rows: `mean_ + Z @ mixing_.T`.
        """
        self._check_fitted()
        z = _validate.projections(Z, max(1, self.n_experts_), type(self).__name__)
        return self._model.inverse_transform(z[:, : self.n_experts_], self._threads)

    def to_normal(self, X: Any) -> Floats:
        """The standard normal rows that a stack of layers maps rows to.

        Where the model is right, they look like draws from a standard normal distribution.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        Z : ndarray of shape (n_samples, n_dims)
            Standard normal rows.
        """
        return self._model.to_normal(self._rows(X), self._threads)

    def from_normal(self, Z: Any) -> Floats:
        """The rows that a stack of layers maps to these standard normal ones: the inverse of
        `to_normal`, exact where no dimensions were dropped.

        Parameters
        ----------
        Z : array-like of shape (n_samples, n_dims)
            Standard normal rows.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
            The rows.
        """
        self._check_fitted()
        z = _validate.projections(Z, self.whitening_.shape[0], type(self).__name__)
        return self._model.from_normal(z, self._threads)

    def predict_proba(self, X: Any) -> Floats:
        """The probability of each row to be of each group.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_groups)
            One column per group, in the order of `groups_`. They depend on the row alone.
        """
        rows = self._rows(X)
        if not hasattr(self, "groups_"):
            raise ValueError(
                "The model has no groups: its rows did not fit in memory or were in several places, or "
                "version 0.1 wrote its file. Fit rows that fit in memory with UPoE.fit or `upoe fit`."
            )
        return self._model.probabilities(rows, self._threads)

    def predict(self, X: Any) -> NDArray[np.int64]:
        """The most probable group of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            The position of each row's group in `groups_`. The `upoe groups` command counts from 1.
        """
        labels: NDArray[np.int64] = np.argmax(self.predict_proba(X), axis=1)
        return labels

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
