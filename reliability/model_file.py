"""Model files in plain Python, from docs/model-file.md alone: to read what a fit wrote, and to
write models that no fit would find."""

import hashlib
import json
import struct

import numpy as np


def read(path):
    """The header, and the arrays by name."""
    raw = open(path, "rb").read()
    start = 8 + struct.unpack("<Q", raw[:8])[0]
    top = json.loads(raw[8:start])
    header = json.loads(top.pop("__metadata__")["header"])
    arrays = {}
    for name, entry in top.items():
        first, last = entry["data_offsets"]
        arrays[name] = np.frombuffer(raw[start + first : start + last], "<f8").reshape(
            entry["shape"]
        )
    return header, arrays


def write(path, header, arrays):
    """A file of these, with its length and checksum."""
    metadata = {"checksum": "0" * 64, "format": "upoe", "file_bytes": "0" * 16}
    metadata |= {"format_version": "1", "writer": "a script", "header": json.dumps(header)}
    top, end = {"__metadata__": metadata}, 0
    for name in sorted(arrays):
        first, end = end, end + arrays[name].size * 8
        top[name] = {"dtype": "F64", "shape": arrays[name].shape, "data_offsets": [first, end]}
    text = json.dumps(top, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    body = b"".join(np.ascontiguousarray(arrays[name], "<f8").tobytes() for name in sorted(arrays))
    raw = struct.pack("<Q", len(text)) + text + body
    raw = raw.replace(b'"file_bytes":"' + b"0" * 16, b'"file_bytes":"%016d' % len(raw), 1)
    checksum = hashlib.sha256(raw).hexdigest().encode()
    raw = raw.replace(b'"checksum":"' + b"0" * 64, b'"checksum":"' + checksum, 1)
    open(path, "wb").write(raw)
