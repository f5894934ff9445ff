"""`UPoE` for dask arrays and dataframes: `pip install upoe[dask]`.

Rows stay on the workers. Only questions, sums and a sample travel. The result does not depend on
the number of workers.
"""

from __future__ import annotations

from typing import Any, Callable, Sequence

import numpy as np

from . import _cluster, _validate
from ._estimator import UPoE as _UPoE

try:
    import dask
    import dask.array as da
    from distributed import Client, get_client, wait
except ImportError as error:
    raise _cluster.missing("dask", "dask[distributed]") from error

__all__ = ["UPoE"]


def _together(*pieces: Any) -> list[Any]:
    return list(pieces)


def _piece(index: int, rows: Any, weights: Any, names: list[str] | None) -> _cluster.Piece:
    return index, rows, weights, names


class _Workers:
    """Partitions in groups, one group per worker thread, as futures that dask computes again where a
    worker is lost."""

    def __init__(self, client: Client, parts: Sequence[Any], weights: Any, names: Any) -> None:
        self.client = client
        later = [
            dask.delayed(_piece)(k, part, None if weights is None else weights[k], names)
            for k, part in enumerate(parts)
        ]
        count = max(1, len(client.scheduler_info()["workers"]))
        size = -(-len(later) // count)
        groups = [later[k : k + size] for k in range(0, len(later), size)]
        self.raw = client.compute([dask.delayed(_together)(*group) for group in groups])
        self.kept: list[Any] = []

    def _each(self, work: Callable[..., Any], on: list[Any], bytes_: bytes) -> list[bytes]:
        sent = self.client.scatter(bytes_, broadcast=True) if len(bytes_) > 1 << 20 else bytes_
        futures = [self.client.submit(work, group, sent, pure=False) for group in on]
        return _cluster.in_order(a for some in self.client.gather(futures) for a in some)

    def look(self, question: bytes) -> list[bytes]:
        return self._each(_cluster.look, self.raw, question)

    def sphere(self, plan: bytes) -> None:
        self.kept = [
            self.client.submit(_cluster.sphere, group, plan, pure=False) for group in self.raw
        ]
        wait(self.kept)
        for future in self.kept:
            if future.status == "error":
                future.result()
        # The sphered rows replace them. Dask still knows how to make them where a worker is lost.
        self.raw = []

    def ask(self, question: bytes) -> list[bytes]:
        return self._each(_cluster.ask, self.kept, question)


class UPoE(_UPoE):
    """A product of experts fitted to a dask array or dataframe.

    Parameters and attributes are those of :class:`upoe.UPoE`, and the fitted model is the same:
    `save` writes the same file. One layer is fitted. Where rows are repeated, p-values count
    distinct rows, estimated from a sample of them. Rows far away from all others are not left out.

    `fit` needs a client: the current one of `distributed`, or `client=`. Most steps are made on a
    sample of the rows, which travels to the client; all rows decide at the end.
    """

    def fit(  # type: ignore[override]
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        sample: int | str = "auto",
        client: Any = None,
    ) -> UPoE:
        """Fits the model.

        Parameters
        ----------
        X : dask array of shape (n_samples, n_features), or dask dataframe
            The rows. Their partitions stay where they are.
        y : ignored
        sample_weight : dask array or series of shape (n_samples,), default=None
            How often each row counts. Its partitions must be those of X.
        sample : int, "auto" or "all", default="auto"
            How many rows most steps are made on. "auto" depends on the shape of X alone.
        client : distributed.Client, default=None
            The client of the cluster; None takes the current one.

        Returns
        -------
        self : UPoE
            The fitted estimator.
        """
        client = get_client() if client is None else client
        X, names, columns = _rows(X)
        parts = X.to_delayed()
        parts = list(parts.ravel()) if hasattr(parts, "ravel") else list(parts)
        weights = None
        if sample_weight is not None:
            weights = sample_weight.to_delayed()
            weights = list(weights.ravel()) if hasattr(weights, "ravel") else list(weights)
            if len(weights) != len(parts):
                raise ValueError(
                    f"sample_weight has {len(weights)} partitions, and X has {len(parts)}: "
                    "rechunk one like the other"
                )
        workers = _Workers(client, parts, weights, names)
        counts = client.gather([client.submit(_lengths, group) for group in workers.raw])
        rows = sum(counts)
        named = names if names != [f"c{i + 1}" for i in range(columns)] else None
        _cluster.fit(self, workers, named, sample, rows=rows, columns=columns)
        return self

    def score_samples(self, X: Any, *, sphered: bool = False) -> Any:
        """ln p of each row, in nats: lazy for a dask collection."""
        score = super().score_samples
        return self._lazy(X, lambda part: score(part, sphered=sphered), ())

    def transform(self, X: Any) -> Any:
        """The projections of each row: lazy for a dask collection."""
        return self._lazy(X, super().transform, (self.n_experts_,))

    def _lazy(self, X: Any, work: Callable[[Any], Any], shape: tuple[int, ...]) -> Any:
        self._check_fitted()
        if isinstance(X, da.Array):
            X = X if X.numblocks[1] == 1 else X.rechunk({1: -1})
            chunks = (X.chunks[0], *((size,) for size in shape))
            drop = [] if shape else [1]
            meta = np.empty((0,) * (1 + len(shape)))
            return X.map_blocks(
                _guarded, work, shape, dtype=np.float64, chunks=chunks, drop_axis=drop, meta=meta
            )
        if hasattr(X, "map_partitions"):
            meta = np.empty((0, *shape))
            return X.map_partitions(_guarded, work, shape, meta=meta)
        return work(X)


def _guarded(part: Any, work: Callable[[Any], Any], shape: tuple[int, ...]) -> Any:
    """The work on a part, which may have no rows."""
    return work(part) if len(part) else np.empty((0, *shape))


def _lengths(group: list[_cluster.Piece]) -> int:
    return sum(len(rows) for _, rows, _, _ in group)


def _rows(X: Any) -> tuple[Any, list[str] | None, int]:
    """A dask collection in partitions of whole rows, the names of its columns, their number."""
    if isinstance(X, da.Array):
        if X.ndim != 2:
            raise ValueError(f"X has {X.ndim} dimensions: rows and columns are needed, which is two")
        X = X if X.numblocks[1] == 1 else X.rechunk({1: -1})
        return X, None, int(X.shape[1])
    if hasattr(X, "to_delayed") and hasattr(X, "columns"):
        names = [str(column) for column in X.columns]
        _validate.distinct(names)
        return X, names, len(names)
    raise TypeError(f"X is a {type(X).__name__}: a dask array or dataframe is needed")
