"""Outliers."""

from __future__ import annotations

import numbers
import os
import warnings
from typing import TYPE_CHECKING, Any, Sequence

import numpy as np
from numpy.typing import NDArray

from . import _upoe, _validate
from ._base import OutlierMixin, UPoEWarning
from ._density import Density, _numbered
from ._docs import documented
from ._oddity import Oddity

if TYPE_CHECKING:
    from typing_extensions import Self

Floats = NDArray[np.float64]


@documented(
    "offset_", "training_p_values_", "components_", "n_experts_", "notices_", "n_features_in_", "feature_names_in_"
)
class UPoEDetector(OutlierMixin, Density):
    """Odd rows, with exact reasons and thresholds that keep their promise.

    The method "core" measures how far a row lies from a robust core of the data, counts distance
    along heavy directions as evidence, and adds how rare each value is in its own column. It needs
    no density, so a fit takes a fraction of a second; `components_` are its heavy directions. The
    method "density" is ln p of `UPoE`, which has all of its methods and attributes too.

    A row is called an outlier when its p-value is at most `alpha`. For "core" this is a conformal
    p-value: each training row is judged by a detector that was fitted without it, and a new row
    is compared with them. About a share `alpha` of clean new rows is called odd. Outliers among the
    training rows raise the threshold: fewer rows are called odd, not more. With `contamination`
    that share of the training rows is called odd instead, whatever they are: on clean rows all of
    them are false alarms.

    Cells may be missing (NaN), in `fit` and later: such a row is judged by its other cells, so that as
    many of them are called odd as of whole rows. With `method="density"` rows must be whole.

    `predict` takes every row for a new one. For the training rows themselves ranks say little, since
    the same share of every table has the smallest p-values; `training_p_values_` are those of a tail
    that is fitted to the bulk of the rows. Of a clean table few of them are small, of a contaminated
    one more.

    See Also
    --------
    UPoE : The density itself.

    Examples
    --------
    >>> import numpy as np
    >>> from upoe import UPoEDetector
    >>> rng = np.random.default_rng(0)
    >>> X = rng.laplace(size=(1000, 3))
    >>> detector = UPoEDetector(alpha=0.001).fit(X)
    >>> detector.predict([[0.0, 0.0, 0.0], [30.0, 0.0, 0.0]])
    array([ 1, -1])
    >>> parts = detector.explain([[30.0, 0.0, 0.0]])
    >>> parts.columns.argmax()                                # the column to blame
    np.int64(0)
    """

    def __init__(
        self,
        n_experts: int | str = "auto",
        *,
        method: str = "core",
        alpha: float = 0.05,
        contamination: float | None = None,
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
        device: str = "cpu",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_experts = n_experts
        self.method = method
        self.alpha = alpha
        self.contamination = contamination
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
    ) -> Self:
        """Fits the detector and finds the threshold.

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
        self._check_parameters()
        self._forget()
        if self.method == "core":
            if groups is not None:
                raise ValueError("groups: nothing is held out with method='core'; give blocks instead")
            self._fit_core(X, sample_weight, blocks)
        else:
            self._fit(X, sample_weight, groups, blocks, counts, ordered)
            self._set_threshold(X, sample_weight)
        return self

    def _check_parameters(self) -> None:
        if self.method not in ("core", "density"):
            raise ValueError(f"method = {self.method!r}: must be 'core' or 'density'")
        if not isinstance(self.alpha, numbers.Real) or not 0.0 < self.alpha < 1.0:
            raise ValueError(f"alpha = {self.alpha!r}: a probability lies in (0, 1)")
        share = self.contamination
        if share is not None and (not isinstance(share, numbers.Real) or not 0.0 < share <= 0.5):
            raise ValueError(f"contamination = {share!r}: contamination must be in (0, 0.5]")
        if self.method == "density" and share is None:
            self._drawn()

    def _forget(self) -> None:
        """Removes what an earlier fit, perhaps with another method, has left."""
        for name in [n for n in vars(self) if n.endswith("_") or n in ("_model", "_detector")]:
            delattr(self, name)

    def _fit_core(self, X: Any, sample_weight: Any, blocks: Any) -> None:
        directions = 2 if self.n_experts == "auto" else _validate.whole("n_experts", self.n_experts, 1)
        table = _validate.table(X, estimator=type(self).__name__, min_rows=2)
        _validate.distinct(table.names)
        weight = _validate.weights(sample_weight, len(table.rows))
        if blocks is not None:
            blocks = _numbered(_validate.groups(blocks, len(table.rows), "blocks"), slice(None))
        detector, oddness, p_values = _upoe.fit_detector(
            table.private(),
            weight,
            blocks,
            directions,
            _validate.seed(self.random_state),
            float(self.alpha),
            None if self.contamination is None else float(self.contamination),
            table.names,
            self._threads,
        )
        self._take_core(detector)
        self.training_oddness_ = oddness
        self.training_p_values_ = p_values
        for notice in self.notices_:
            warnings.warn(notice, UPoEWarning, stacklevel=3)

    def _take_core(self, detector: _upoe.Detector) -> None:
        """Makes a fitted detector this estimator's own."""
        self._detector = detector
        self.n_features_in_ = detector.n_features
        if detector.feature_names is not None:
            self.feature_names_in_ = np.asarray(detector.feature_names, dtype=object)
        self.components_ = detector.directions
        self.n_experts_ = len(self.components_)
        self.n_iter_ = 1
        self.offset_ = -detector.verdict[2]
        names = self._names()
        self.notices_ = [
            _validate.harmless(f"column {names[c]} is constant in the training rows: it is not looked at")
            for c in detector.constant
        ]
        rows = detector.training_rows
        if self.contamination is None and self.alpha * (rows + 1.0) < 1.0:
            self.notices_.append(
                f"alpha = {self.alpha:g}: {rows:g} rows are too few for so small a p-value, so the threshold "
                f"is that of a fitted tail; fit at least {int(np.ceil(1.0 / self.alpha)) - 1} rows"
            )

    def _drawn(self) -> int:
        """How many rows are drawn, checked."""
        drawn = _validate.whole("n_tail_samples", self.n_tail_samples, 1)
        if self.alpha * (drawn + 1) < 1.0:
            raise ValueError(
                f"n_tail_samples = {drawn}: too few for alpha = {self.alpha!r}; "
                f"draw at least {int(np.ceil(1.0 / self.alpha)) - 1}"
            )
        return drawn

    def _set_threshold(self, X: Any, sample_weight: Any) -> None:
        if self.contamination is None:
            self._loaded()
            return
        oddness = -super().score_samples(X)
        weight = _validate.weights(sample_weight, len(oddness))
        self.offset_ = -_upoe.exceeded_by(oddness, weight, float(self.contamination))

    def _loaded(self) -> None:
        self.method = "density"
        self.offset_ = self._model.threshold(self.alpha, self._drawn(), self._own_seed, self._threads)

    def __getattr__(self, name: str) -> Any:
        # Only for what is not there: "core" has no density.
        if "_detector" in self.__dict__ and name in ("_model", "experts_", "mean_", "mixing_"):
            raise AttributeError(
                "UPoEDetector(method='core') has no density: set method='density', or use UPoE"
            )
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.allow_nan = self.method == "core"
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return "_detector" in self.__dict__ or "_model" in self.__dict__

    def _check_fitted(self) -> None:
        if "_detector" not in self.__dict__:
            super()._check_fitted()

    def score_samples(self, X: Any, *, sphered: bool = False) -> Floats:
        """How ordinary each row is: the lower, the odder.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.
        sphered : bool, default=False
            Of the method "density": whether to give the density of the sphered rows.

        Returns
        -------
        scores : ndarray of shape (n_samples,)
            The negative oddness for the method "core", ln p for "density".
        """
        rows = self._rows(X)
        if "_detector" in self.__dict__:
            return -self._detector.oddness(rows, self._threads)[0]
        return super().score_samples(X, sphered=sphered)

    def p_values(self, X: Any) -> Floats:
        """The p-value of each row as a new one.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        p_values : ndarray of shape (n_samples,)
            For the method "core" (1 + k) / (1 + N), where k of N training rows, each judged without
            it, are at least as odd. For "density" the tail probability under the model.
        """
        rows = self._rows(X)
        if "_detector" in self.__dict__:
            return self._detector.oddness(rows, self._threads)[1]
        return self.tail(X, self._drawn())

    def explain(self, X: Any, *, split: bool = False) -> Any:
        """The exact parts of each row's score, by direction and by column.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.
        split : bool, default=False
            Of the method "density": whether to split each expert's part over the columns, too.

        Returns
        -------
        explanation : Oddity or Explanation
            For the method "core" the parts of the oddness, and what each column should be given
            the others; for "density" the parts of ln p.
        """
        rows = self._rows(X)
        if "_detector" not in self.__dict__:
            return super().explain(X, split=split)
        parts, expected, reasons = self._detector.explain(rows, self._threads)
        return Oddity(*parts, *expected, reasons, self._names())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the detector file, or for the method "density" the model file.

        Parameters
        ----------
        path : str or path-like
            Where to. `upoe outliers` reads both.
        """
        self._check_fitted()
        if "_detector" in self.__dict__:
            self._detector.save(os.fspath(path))
        else:
            super().save(path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """A fitted detector from a detector file, or from a model file.

        Parameters
        ----------
        path : str or path-like
            The file, of this package, the command or the crate.

        Returns
        -------
        estimator : UPoEDetector
            Fitted, with the parameters that it was fitted with.
        """
        try:
            detector = _upoe.Detector.load(os.fspath(path))
        except ValueError:
            return super().load(path)  # a model, or a message that says what it is
        alpha, contamination, _ = detector.verdict
        directions, seed = detector.settings
        estimator = cls(directions, alpha=alpha, contamination=contamination, random_state=seed)
        estimator._take_core(detector)
        return estimator

    def decision_function(self, X: Any) -> Floats:
        """How far each row's score lies above the threshold; negative for outliers.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        decision : ndarray of shape (n_samples,)
            `score_samples(X) - offset_`.
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
