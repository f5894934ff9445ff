"""Tables from anything with `__arrow_c_stream__`, read by numpy alone.

The Arrow C stream interface is a few C structs behind a capsule: a schema, and record batches
one after another. Only columns of numbers are read; others are refused by name.
"""

from __future__ import annotations

import ctypes
from typing import Any, Callable

import numpy as np
from numpy.typing import NDArray

# Arrow's letters for numbers, and numpy's.
_TYPES = dict(zip("cCsSiIlLefg", ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8")))


class _Schema(ctypes.Structure):
    pass


class _Array(ctypes.Structure):
    pass


class _Stream(ctypes.Structure):
    pass


def _release(of: type[ctypes.Structure]) -> Any:
    return ctypes.CFUNCTYPE(None, ctypes.POINTER(of))


def _getter(of: type[ctypes.Structure]) -> Any:
    return ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Stream), ctypes.POINTER(of))


_Schema._fields_ = [
    ("format", ctypes.c_char_p),
    ("name", ctypes.c_char_p),
    ("metadata", ctypes.c_void_p),
    ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("children", ctypes.POINTER(ctypes.POINTER(_Schema))),
    ("dictionary", ctypes.POINTER(_Schema)),
    ("release", _release(_Schema)),
    ("private_data", ctypes.c_void_p),
]
_Array._fields_ = [
    ("length", ctypes.c_int64),
    ("null_count", ctypes.c_int64),
    ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(_Array))),
    ("dictionary", ctypes.POINTER(_Array)),
    ("release", _release(_Array)),
    ("private_data", ctypes.c_void_p),
]
_Stream._fields_ = [
    ("get_schema", _getter(_Schema)),
    ("get_next", _getter(_Array)),
    ("get_last_error", ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.POINTER(_Stream))),
    ("release", _release(_Stream)),
    ("private_data", ctypes.c_void_p),
]


def read(source: Any) -> tuple[list[str], NDArray[np.float64]]:
    """The names of the columns and their numbers, row after row; missing ones are NaN."""
    capsule = source.__arrow_c_stream__()
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    stream = _Stream.from_address(pointer(capsule, b"arrow_array_stream"))
    schema = _Schema()
    _next(stream, stream.get_schema, schema)
    try:
        fields = [schema.children[j].contents for j in range(schema.n_children)]
        if schema.format != b"+s":
            raise ValueError("the Arrow stream is one of values, not of rows with columns")
        names = [(field.name or b"").decode() for field in fields]
        formats = [_format(field, name) for field, name in zip(fields, names)]
    finally:
        schema.release(ctypes.byref(schema))
    batches = []
    while True:
        batch = _Array()
        _next(stream, stream.get_next, batch)
        if not batch.release:
            break
        try:
            batches.append(_rows(batch, formats))
        finally:
            batch.release(ctypes.byref(batch))
    del capsule  # which releases the stream
    return names, np.concatenate(batches) if batches else np.empty((0, len(names)))


def _next(stream: _Stream, get: Callable[..., int], out: ctypes.Structure) -> None:
    if get(ctypes.byref(stream), ctypes.byref(out)) != 0:
        said = stream.get_last_error(ctypes.byref(stream)) or b"no reason given"
        raise OSError(f"the Arrow stream ended with an error: {said.decode(errors='replace')}")


def _format(field: _Schema, name: str) -> str:
    """The letter of a column of numbers, of truth values (b) or of nothing (n)."""
    letter = (field.format or b"").decode()
    if field.dictionary or letter not in (*_TYPES, "b", "n"):
        raise ValueError(
            f"Column {name!r} is not numeric (its Arrow format is {letter!r}). "
            "Leave it out or encode it."
        )
    return letter


def _rows(batch: _Array, formats: list[str]) -> NDArray[np.float64]:
    rows = np.empty((batch.length, len(formats)))
    for j, letter in enumerate(formats):
        column = batch.children[j].contents
        # Rows of the batch may start within its columns.
        rows[:, j] = _column(column, letter, column.offset + batch.offset, batch.length)
    present = _bits(batch.buffers[0], batch.offset, batch.length) if batch.null_count else None
    if present is not None:
        rows[~present] = np.nan
    return rows


def _column(column: _Array, letter: str, offset: int, length: int) -> NDArray[np.float64]:
    if letter == "n" or length == 0:
        return np.full(length, np.nan)
    if letter == "b":
        truth = _bits(column.buffers[1], offset, length)
        values = np.zeros(length) if truth is None else truth.astype(np.float64)
    else:
        type_ = np.dtype(_TYPES[letter])
        memory = _memory(column.buffers[1], type_.itemsize * (offset + length))
        values = np.frombuffer(memory, type_)[offset:].astype(np.float64)
    present = _bits(column.buffers[0], offset, length) if column.null_count else None
    if present is not None:
        values[~present] = np.nan
    return values


def _bits(address: int | None, offset: int, length: int) -> NDArray[np.bool_] | None:
    """Truth values from a bitmap, least significant bit first; None where there is none."""
    if not address:
        return None
    memory = _memory(address, (offset + length + 7) // 8)
    bits = np.unpackbits(np.frombuffer(memory, np.uint8), bitorder="little")
    return bits[offset : offset + length].astype(np.bool_)


def _memory(address: int, size: int) -> memoryview:
    return memoryview((ctypes.c_uint8 * size).from_address(address))
