"""What all three estimators share: the fit, ln p, its parts, sampling, pictures, files."""

from __future__ import annotations

import json
import numbers
import os
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import _frames, _settings, _upoe, _validate
from ._base import BaseEstimator, ConvergenceWarning, NotFittedError, UPoEWarning, in_container
from ._explanation import Explanation
from ._progress import progress
from ._told import Told

if TYPE_CHECKING:
    from typing_extensions import Self

Floats = NDArray[np.float64]


def _numbered(blocks: list[str] | None, rows: Any) -> list[int] | None:
    """The blocks of some rows, numbered from 0."""
    if blocks is None:
        return None
    known: dict[str, int] = {}
    return [known.setdefault(b, len(known)) for b in np.asarray(blocks, dtype=object)[rows]]


class Density(Told, BaseEstimator):
    """A product of experts fitted to rows."""

    # Whether a fit looks for groups.
    _finds_groups = False
    feature_names_in_: NDArray[np.object_]

    def _fit(
        self,
        X: Any,
        sample_weight: Any,
        groups: Any = None,
        blocks: Any = None,
        counts: bool = False,
        ordered: bool = False,
        missing: str = "error",
        **changes: Any,
    ) -> None:
        """Fits the model."""
        if missing not in ("model", "error", "drop"):
            raise ValueError(f"missing = {missing!r}: must be one of 'model', 'error', 'drop'")
        settings = {**_settings.settings(self.get_params(deep=False)), **changes}
        settings |= {"counts": bool(counts), "ordered": bool(ordered)}
        if groups is not None and blocks is not None:
            raise ValueError("groups and blocks: give one of them; groups are blocks held out whole")
        table = _validate.table(X, estimator=type(self).__name__, min_rows=2)
        _validate.distinct(table.names)
        weight = _validate.weights(sample_weight, len(table.rows))
        given = "blocks" if groups is None else "groups"
        together = blocks if groups is None else groups
        if together is not None:
            together = _validate.groups(together, len(table.rows), given)
        if missing == "drop":
            table, weight, together = _validate.complete(table, weight, together)
        held = None
        if groups is not None or getattr(self, "holdout", None) is not None:
            held = self._held_out(len(table.rows), together, settings["seed"])
        train_weight, holdout, holdout_weight, holdout_blocks = weight, None, None, None
        if held is None:
            train = table.private()
            train_blocks = _numbered(together, slice(None))
        else:
            train, holdout = table.private(~held), table.private(held)
            if weight is not None:
                train_weight, holdout_weight = weight[~held], weight[held]
            train_blocks, holdout_blocks = _numbered(together, ~held), _numbered(together, held)
        names = table.names
        del table  # what it has converted is not needed any more
        about = _frames.suspicious(train, names)
        if about is not None:
            warnings.warn(_validate.harmless(about), UPoEWarning, stacklevel=3)
        said = _upoe.missing(train, names) if missing == "model" else None
        if said is not None:
            warnings.warn(_validate.harmless(said), UPoEWarning, stacklevel=3)
        verbose = int(getattr(self, "verbose", 0) or 0)
        device = getattr(self, "device", "cpu")
        if not isinstance(device, str):
            raise ValueError(f"device = {device!r}: must be 'cpu', 'auto', 'cuda' or 'cuda:N'")
        with progress(verbose, settings["experts"]) as show:
            model = _upoe.fit(
                train,
                train_weight,
                train_blocks,
                holdout,
                holdout_weight,
                holdout_blocks,
                json.dumps(settings),
                device,
                self._finds_groups,
                names,
                missing == "model",
                show,
            )
        self._take(model)
        if verbose:
            print(self.summary())
        for about_convergence, notice in model.notices:
            if said is not None and notice.startswith(said):
                continue  # said before the fit
            category = ConvergenceWarning if about_convergence else UPoEWarning
            warnings.warn(notice, category, stacklevel=3)

    def _held_out(
        self, rows: int, groups: list[str] | None, seed: int
    ) -> NDArray[np.bool_] | None:
        """Which rows are held out, where any are."""
        share = getattr(self, "holdout", None)
        if share is None and groups is None:
            return None
        if share is not None and not isinstance(share, numbers.Real):
            raise ValueError(f"holdout = {share!r}: must be a number")
        return _upoe.held_out(rows, groups, None if share is None else float(share), seed)

    def _take(self, model: _upoe.Model) -> None:
        """Makes a fitted model this estimator's own."""
        self._model = model
        self.n_features_in_ = model.n_features
        if hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        if model.feature_names is not None:
            self.feature_names_in_ = np.asarray(model.feature_names, dtype=object)
        self.experts_ = model.experts
        self.components_ = model.components
        self.mixing_ = model.mixing
        self.directions_ = model.directions
        self.mean_ = model.mean
        self.whitening_ = model.whitening
        self.rank_ = model.rank
        self.gains_ = np.array([expert.gain for expert in self.experts_])
        self.p_values_ = np.array(
            [np.nan if e.p_value is None else e.p_value for e in self.experts_], dtype=float
        )
        self.n_experts_ = len(self.experts_)
        self.n_iter_ = max([1] + [expert.n_iter for expert in self.experts_])
        self.path_ = model.path
        self.stop_reason_, self.stop_message_ = model.stop
        self.notices_ = [_validate.harmless(notice) for _, notice in model.notices]
        self.training_ = json.loads(model.training)
        self._n_features_out = max(1, self.n_experts_)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_model")

    def _check_fitted(self) -> None:
        if not hasattr(self, "_model"):
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet. Call 'fit' with "
                "appropriate arguments before using this estimator."
            )

    def _rows(self, X: Any) -> _validate.Rows:
        """Rows to apply the fitted model to."""
        self._check_fitted()
        rows, names, _ = _validate.table(X, estimator=type(self).__name__)
        rows, names = _validate.in_order(self, rows, names)
        _validate.same_columns(self, rows.shape[1], names)
        return rows

    def _warn_outside(self, rows: _validate.Rows) -> None:
        """Says which rows have density 0, where the training rows do not span all columns."""
        outside = self._model.outside(rows, self._threads)
        if outside is not None:
            warnings.warn(_validate.harmless(outside), UPoEWarning, stacklevel=3)

    @property
    def _threads(self) -> int | None:
        return _validate.threads(getattr(self, "n_jobs", None))

    def score_samples(self, X: Any, *, sphered: bool = False) -> Floats:
        """ln p of each row, in nats.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.
        sphered : bool, default=False
            Whether to give the density of the sphered rows, as the paper reports it, instead
            of the density over the data's own columns.

        Returns
        -------
        log_density : ndarray of shape (n_samples,)
            ln p of each row; -inf for a row outside the subspace that the training rows span,
            where they do not span all columns.
        """
        rows = self._rows(X)
        scores = self._model.score(rows, sphered, self._threads)
        if not sphered:
            self._warn_outside(rows)
        return scores

    def tail(self, X: Any, n_samples: int = 10_000) -> Floats:
        """The probability, under the model, of a row no more probable than each row.

        It is estimated as (k + 1) / (n_samples + 1), where k of `n_samples` rows drawn from
        the model are no more probable: the p-value of the row as a member of the population.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.
        n_samples : int, default=10_000
            How many rows are drawn.

        Returns
        -------
        tail : ndarray of shape (n_samples,)
            Probabilities; small ones are outliers.
        """
        rows = self._rows(X)
        drawn = _validate.whole("n_samples", n_samples, 1)
        self._warn_outside(rows)
        return self._model.tail(rows, drawn, self._own_seed, self._threads)

    @property
    def _own_seed(self) -> int:
        return int(json.loads(self._model.settings)["seed"])

    def sample(self, n_samples: int = 1, random_state: Any = None) -> Floats:
        """Rows drawn from the model, in the data's own units.

        Parameters
        ----------
        n_samples : int, default=1
            How many.
        random_state : int, RandomState instance or None, default=None
            None takes the estimator's own; the same seed gives the same rows.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
            The rows; a frame where `set_output(transform="pandas")` or "polars" asks for one.
        """
        self._check_fitted()
        own = getattr(self, "random_state", None)
        seed = _validate.seed(own if random_state is None else random_state)
        count = _validate.whole("n_samples", n_samples, 0)
        drawn = self._model.sample(count, seed, self._threads)
        rows: Floats = in_container(self, drawn, self._names())
        return rows

    def explain(self, X: Any, *, split: bool = False) -> Explanation:
        """The exact parts of each row's ln p, by expert and by column.

        The parts say how ln p moves from the baseline on the way to the row, and add up to ln p
        exactly. The baseline is ln p at the data's mean; for stacks and pools it is the mean ln p of
        rows drawn from the model, and parts are those of every layer's experts. Cells may be missing
        (NaN): parts are then means over draws of these, and what it adds that they are not known is in
        the rest, in their columns.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.
        split : bool, default=False
            Whether to split each expert's part over the columns, too: an array of
            (n_samples, n_experts, n_features).

        Returns
        -------
        explanation : Explanation
            `log_density`, `baseline`, `experts`, `rest`, `columns` and, if asked for,
            `experts_by_column` and `rest_by_column`; `to_frame()` makes it a table.
        """
        rows = self._rows(X)
        self._warn_outside(rows)
        ln_p, baseline, experts, rest, columns, full = self._model.explain(
            rows, split, self._threads
        )
        experts_by_column, rest_by_column = full or (None, None)
        return Explanation(
            log_density=ln_p,
            baseline=baseline,
            experts=experts,
            rest=rest,
            columns=columns,
            experts_by_column=experts_by_column,
            rest_by_column=rest_by_column,
            names=self._names(),
            parts=self._model.part_names,
            index=_frames.index(X),
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model file, which the `upoe` command and crate read, too.

        Parameters
        ----------
        path : str or path-like
            Where to.
        """
        self._check_fitted()
        self._model.save(os.fspath(path))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """A fitted estimator from a model file, of this package, the command or the crate.

        Parameters
        ----------
        path : str or path-like
            The file.

        Returns
        -------
        estimator : instance of the class
            Fitted, with the parameters that the model was fitted with.
        """
        try:
            model = _upoe.Model.load(os.fspath(path))
        except (OSError, ValueError) as error:  # which may quote the file
            raise type(error)(_validate.harmless(str(error))) from None
        known = cls().get_params(deep=False)
        params = {k: v for k, v in _settings.parameters(json.loads(model.settings)).items() if k in known}
        estimator = cls(**params)
        estimator._take(model)
        estimator._loaded()
        return estimator

    def _loaded(self) -> None:
        """What is left to do after loading."""

    def plot_experts(self, X: Any = None, *, axes: Any = None) -> Any:
        """Draws each expert's density, and the projections of X where it is given.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), default=None
            Rows whose projections are drawn as histograms.
        axes : sequence of matplotlib axes, default=None
            Where to draw, one per expert.

        Returns
        -------
        figure : matplotlib.figure.Figure
            The picture.
        """
        from . import _plots

        z = None if X is None else self._project(self._rows(X))
        self._check_fitted()
        return _plots.experts(self, z, axes)

    def plot_gain(self, *, ax: Any = None) -> Any:
        """Draws the mean ln p of training and held-out rows against the number of experts.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Where to draw.

        Returns
        -------
        figure : matplotlib.figure.Figure
            The picture.
        """
        from . import _plots

        self._check_fitted()
        return _plots.gain(self, ax)

    def plot_pairs(self, X: Any, *, color: Any = None, n_experts: int = 4) -> Any:
        """Draws the projections of X on the first experts, each against each.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.
        color : array-like of shape (n_samples,), default=None
            A number or label for each row, shown as its colour.
        n_experts : int, default=4
            The largest number of experts shown.

        Returns
        -------
        figure : matplotlib.figure.Figure
            The picture.
        """
        from . import _plots

        return _plots.pairs(self, self._project(self._rows(X)), color, n_experts)

    def _project(self, rows: _validate.Rows, *, missing: bool = False) -> Floats:
        return self._model.transform(rows, missing, self._threads)
