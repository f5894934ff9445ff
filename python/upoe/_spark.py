"""Rows of a Spark dataframe as partitions of a fit, which the executors keep.

A partition is one element of an RDD, so that Spark persists it, and computes it again where an executor
is lost. Cells of a dataframe would pass through Java's rows and Arrow in every round, which takes five times the
processor time.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import signal
import threading
import uuid
from typing import Any, Callable, Iterable, Iterator, NamedTuple

import numpy as np
import pyarrow as pa
from pyspark.storagelevel import StorageLevel

from . import _upoe

_PACKED = "rows long, columns long, values binary, weights binary, error string"
# The most bytes of a cell.
_MOST = (1 << 31) - (1 << 20)
# Names of columns: an array of the numbers of each row, and its weight.
ROWS, WEIGHT = "rows", "weight"


def matrix(column: Any, before: int = 0) -> Any:
    """Arrays of numbers as the rows of a matrix. Cells that are null are NaN."""
    null = column.is_null().to_numpy(zero_copy_only=False)
    if null.any():
        raise ValueError(f"row {before + int(null.argmax())} is null: drop it")
    widths = np.diff(column.offsets.to_numpy())
    if len(widths) and (widths != widths[0]).any():
        row = int((widths != widths[0]).argmax())
        raise ValueError(
            f"row {before + row} has {widths[row]} numbers, and those before it have {widths[0]}"
        )
    values = column.flatten().to_numpy(zero_copy_only=False).astype(np.float64, copy=False)
    return values.reshape(len(column), widths[0] if len(widths) else 0)


def _one(*cells: Any) -> Any:
    schema = [field.split()[0] for field in _PACKED.split(", ")]
    kinds = {"values": pa.binary(), "weights": pa.binary(), "error": pa.string()}
    arrays = [pa.array([cell], kinds.get(name, pa.int64())) for name, cell in zip(schema, cells)]
    return pa.RecordBatch.from_arrays(arrays, schema)


def _pack(batches: Iterable[Any]) -> Iterator[Any]:
    """All rows of a partition in one row of a dataframe."""
    rows: list[Any] = []
    weights: list[Any] = []
    count = 0
    try:
        for batch in batches:
            rows.append(matrix(batch.column(ROWS), count))
            if len({part.shape[1] for part in rows if len(part)}) > 1:
                raise ValueError(f"the rows from {count} on have another number of columns")
            if WEIGHT in batch.schema.names:
                weights.append(batch.column(WEIGHT).to_numpy(zero_copy_only=False))
            count += batch.num_rows
        rows = [part for part in rows if len(part)]
        columns = rows[0].shape[1] if rows else 0
        if 8 * count * (columns + 1) > _MOST:
            raise ValueError("it has more than 2 GB: repartition the rows into more partitions")
        values = np.concatenate(rows).tobytes() if rows else b""
        weight = np.concatenate(weights).astype(np.float64).tobytes() if weights else None
        yield _one(count, columns, values, weight, None)
    except Exception as error:
        yield _one(0, 0, None, None, str(error) or repr(error))


class _Raw(NamedTuple):
    """The rows of a partition as they came, or an error."""

    partition: int
    rows: int
    columns: int
    values: Any
    weights: Any
    error: str | None


def _numbered(index: int, packed: Iterable[Any]) -> Iterator[_Raw]:
    return (_Raw(index, *row) for row in packed)


@functools.cache
def _freeze() -> None:
    """Once for each Python process of an executor: Spark collects garbage after every task, and would walk
    through everything that is imported, for longer than the task works."""
    gc.collect()
    gc.freeze()


class _Answer(NamedTuple):
    """What a partition answers: bytes, sphered rows to be kept, or an error."""

    partition: int
    answer: Any
    error: str | None


def _work(work: Callable[[Any], Any]) -> Callable[[Any], _Answer]:
    """Works on a partition. What it raises is an answer too: Spark need not try again."""

    def answer(given: Any) -> _Answer:
        _freeze()
        error = given.error
        try:
            return _Answer(given.partition, None if error is not None else work(given), error)
        except Exception as raised:
            return _Answer(given.partition, None, str(raised) or repr(raised))

    return answer


class Executors:
    """Partitions that executors keep, and recompute where one of them is lost."""

    def __init__(self, frame: Any, names: list[str] | None) -> None:
        self.names = names
        self.tag = f"upoe-{uuid.uuid4()}"
        self.context = frame.sparkSession.sparkContext
        # Java keeps the bytes as they are: serialised again, they would be compressed.
        self.level = StorageLevel.MEMORY_AND_DISK_DESER
        packed = frame.mapInArrow(_pack, _PACKED).rdd
        self.raw = packed.mapPartitionsWithIndex(_numbered, True).persist(self.level)
        self.kept: Any = None
        self.columns = 0

    def count(self) -> dict[str, int]:
        """How many rows and columns there are."""
        seen = self._answers(self.raw, lambda raw: (raw.rows, raw.columns))
        if not any(rows for rows, _ in seen):
            raise ValueError("the dataframe has no rows")
        self.columns = next(columns for rows, columns in seen if rows)
        for index, (rows, columns) in enumerate(seen):
            if rows and columns != self.columns:
                raise ValueError(
                    f"partition {index}: its rows have {columns} numbers, and those before it have "
                    f"{self.columns}"
                )
        return {"rows": sum(rows for rows, _ in seen), "columns": self.columns}

    def _answers(self, partitions: Any, work: Callable[[Any], Any]) -> list[Any]:
        """What all partitions answer, in the order of their numbers."""
        self.context.addJobTag(self.tag)
        try:
            answers = sorted(partitions.map(_work(work)).collect(), key=lambda a: a.partition)
        finally:
            self.context.removeJobTag(self.tag)
        for index, _, error in answers:
            if error is not None:
                known = error.startswith("partition ")
                raise ValueError(error if known else f"partition {index}: {error}")
        return [answer for _, answer, _ in answers]

    def _piece(self) -> Callable[[Any], tuple[int, Any, Any]]:
        columns = self.columns

        def piece(raw: _Raw) -> tuple[int, Any, Any]:
            weights = None if raw.weights is None else np.frombuffer(raw.weights)
            return raw.partition, np.frombuffer(raw.values).reshape(-1, columns), weights

        return piece

    def look(self, question: bytes) -> list[bytes]:
        piece, names = self._piece(), self.names or []

        def look(raw: _Raw) -> bytes:
            index, x, weights = piece(raw)
            return _upoe.look(index, x, weights, names, question)

        return self._answers(self.raw, look)

    def sphere(self, plan: bytes) -> None:
        piece = self._piece()

        def sphere(raw: _Raw) -> _upoe.Partition:
            index, x, weights = piece(raw)
            return _upoe.sphere(index, x, weights, plan)

        self.kept = self.raw.map(_work(sphere)).persist(self.level)
        self._answers(self.kept, lambda kept: None)
        self.raw.unpersist()

    def ask(self, question: bytes) -> list[bytes]:
        def ask(kept: _Answer) -> bytes:
            answer: bytes = kept.answer.answer(question)
            return answer

        return self._answers(self.kept, ask)

    def close(self) -> None:
        self.context.cancelJobsWithTag(self.tag)
        for partitions in (self.raw, self.kept):
            if partitions is not None:
                partitions.unpersist()


@contextlib.contextmanager
def own_signals() -> Iterator[None]:
    """Ctrl-C reaches Python, which keeps what is learned, before Spark cancels its jobs."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
