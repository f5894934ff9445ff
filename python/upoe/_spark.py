"""Rows of a Spark dataframe as partitions of a fit, which the executors keep.

A partition is one cell of a dataframe, so that Spark persists it, and computes it again where an
executor is lost.
"""

from __future__ import annotations

import contextlib
import signal
import threading
import uuid
from typing import Any, Callable, Iterable, Iterator

import numpy as np
import pyarrow as pa
from pyspark import TaskContext
from pyspark.storagelevel import StorageLevel

from . import _upoe

_PACKED = "partition long, rows long, columns long, values binary, weights binary, error string"
_ANSWERED = "partition long, answer binary, error string"
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


def _one(schema: list[str], *cells: Any) -> Any:
    kinds = {"values": pa.binary(), "weights": pa.binary(), "answer": pa.binary(), "error": pa.string()}
    arrays = [pa.array([cell], kinds.get(name, pa.int64())) for name, cell in zip(schema, cells)]
    return pa.RecordBatch.from_arrays(arrays, schema)


def _fields(schema: str) -> list[str]:
    return [field.split()[0] for field in schema.split(", ")]


def _pack(batches: Iterable[Any]) -> Iterator[Any]:
    """All rows of a partition in one cell, which Spark keeps."""
    index = TaskContext.get().partitionId()
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
        yield _one(_fields(_PACKED), index, count, columns, values, weight, None)
    except Exception as error:
        yield _one(_fields(_PACKED), index, 0, 0, None, None, f"partition {index}: {error}")


def _work(work: Callable[[dict[str, Any]], bytes]) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """Works on each partition. What it raises is an answer too: Spark need not try again."""

    def each(batches: Iterable[Any]) -> Iterator[Any]:
        for batch in batches:
            for k in range(batch.num_rows):
                cells = {name: batch.column(name)[k] for name in batch.schema.names}
                index = cells["partition"].as_py()
                try:
                    yield _one(_fields(_ANSWERED), index, work(cells), None)
                except Exception as error:
                    text = str(error)
                    text = text if text.startswith("partition ") else f"partition {index}: {text}"
                    yield _one(_fields(_ANSWERED), index, None, text)

    return each


def _private(cell: Any) -> Any:
    """The numbers of a cell, in memory of their own."""
    return None if not cell.is_valid else np.frombuffer(cell.as_buffer(), dtype=np.float64).copy()


class Executors:
    """Partitions that executors keep, and recompute where one of them is lost."""

    def __init__(self, frame: Any, names: list[str] | None) -> None:
        self.names = names
        self.tag = f"upoe-{uuid.uuid4()}"
        self.context = frame.sparkSession.sparkContext
        self.level = StorageLevel.MEMORY_AND_DISK
        self.raw = frame.mapInArrow(_pack, _PACKED).persist(self.level)
        self.kept: Any = None
        self.columns = 0

    def count(self) -> dict[str, int]:
        """How many rows and columns there are."""
        seen = self._collect(self.raw.select("partition", "rows", "columns", "error"))
        seen = [row for row in seen if row["rows"]]
        if not seen:
            raise ValueError("the dataframe has no rows")
        self.columns = seen[0]["columns"]
        for row in seen:
            if row["columns"] != self.columns:
                raise ValueError(
                    f"partition {row['partition']}: its rows have {row['columns']} numbers, and those "
                    f"before it have {self.columns}"
                )
        return {"rows": sum(row["rows"] for row in seen), "columns": self.columns}

    def _collect(self, frame: Any) -> list[Any]:
        self.context.addJobTag(self.tag)
        try:
            rows = sorted(frame.collect(), key=lambda row: row["partition"])
        finally:
            self.context.removeJobTag(self.tag)
        for row in rows:
            if row["error"] is not None:
                raise ValueError(row["error"])
        return rows

    def _piece(self) -> Callable[[dict[str, Any]], tuple[int, Any, Any]]:
        columns = self.columns

        def piece(cells: dict[str, Any]) -> tuple[int, Any, Any]:
            x = _private(cells["values"]).reshape(-1, columns)
            return cells["partition"].as_py(), x, _private(cells["weights"])

        return piece

    def look(self, question: bytes) -> list[bytes]:
        piece, names = self._piece(), self.names or []

        def look(cells: dict[str, Any]) -> bytes:
            index, x, weights = piece(cells)
            return _upoe.look(index, x, weights, names, question)

        frame = self.raw.mapInArrow(_work(look), _ANSWERED)
        return [bytes(row["answer"]) for row in self._collect(frame)]

    def sphere(self, plan: bytes) -> None:
        piece = self._piece()

        def sphere(cells: dict[str, Any]) -> bytes:
            index, x, weights = piece(cells)
            sphered: bytes = _upoe.sphere(index, x, weights, plan).to_bytes()
            return sphered

        self.kept = self.raw.mapInArrow(_work(sphere), _ANSWERED).persist(self.level)
        self._collect(self.kept.select("partition", "error"))
        self.raw.unpersist()

    def ask(self, question: bytes) -> list[bytes]:
        def ask(cells: dict[str, Any]) -> bytes:
            partition = _upoe.Partition.from_bytes(cells["answer"].as_py())
            return partition.answer(question)

        frame = self.kept.mapInArrow(_work(ask), _ANSWERED)
        return [bytes(row["answer"]) for row in self._collect(frame)]

    def close(self) -> None:
        self.context.cancelJobsWithTag(self.tag)
        for frame in (self.raw, self.kept):
            if frame is not None:
                frame.unpersist()


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
