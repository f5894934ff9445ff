"""Makes the first corpus: small files by our own writers, and the fixtures of the readers' tests.

Run at the root after `cargo build --release`, in the environment of `make test-python`. What
fuzzing finds beside them is added by `python reliability/fuzz.py --keep`.
"""

import gzip
import random
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, "reliability")
from common import UPOE

CORPUS = Path("reliability/fuzz/corpus")
FIXTURES = Path("crates/upoe-table/tests/data")
TABLES = {
    "plain": b"a,b,c\n1,2,1\n3,4.5,2\n-1e-300,1e300,1\n",
    "dirty": b"\xef\xbb\xbfid;x;y\r\n\"a;\n\"\"\";1;NA\r\nb;;2\r\n\r\nc;nan;3\r\n",
    "tabs": b"x\ty\n0x1\t2\n1e5\t-inf\n",
    "numbers": b"1,2,3\n4,5,6\n7,8,9\n",
    "comma": b"x;y\n1,5;2\n1.234,5;3\n",
}
JSON = {
    "plain": b'{"a": 1, "b": 2.5, "c": 1}\n{"a": -1e300, "b": "3", "c": 0}\n',
    "dirty": b'\xef\xbb\xbf{"id": "a\\u00e9", "x": null, "t": [1, {}]}\r\n\r\n{"x": true, "y": 9007199254740993}\n',
}
CELLS = b'<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="inlineStr"><is><t>y</t></is></c></row>'
SHEETS = {
    "plain": [
        b'<worksheet><sheetData>' + CELLS + b'<row r="3"><c r="A3"><v>1.5</v></c><c r="B3" t="b"><v>1</v></c></row>'
        b'<row><c><v>2</v></c><c t="e"><v>#N/A</v></c></row></sheetData></worksheet>',
        b'<sst uniqueCount="1"><si><t>x</t></si></sst>',
    ],
    "dates": [
        b'<worksheet><dimension ref="A1:B9"/><sheetData><row r="2"><c r="B2" s="1"><v>45000.5</v></c><c r="C2"><v>7</v></c></row>'
        b'<row r="9"><c r="B9" s="1"><v>45001</v></c><c r="C9" t="str"><v>8</v></c></row></sheetData></worksheet>',
        b"",
        b'<styleSheet><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>',
    ],
}


def keep(target, name, content, how=0):
    """A file of the corpus; of a table the first byte says how to read it."""
    (CORPUS / target).mkdir(parents=True, exist_ok=True)
    (CORPUS / target / name).write_bytes((b"" if how is None else bytes([how])) + content)


def tiff(compression, pixels):
    """A grey picture of 3 × 2."""
    entries = [(256, 3), (257, 2), (258, 8), (259, compression), (262, 1), (273, 8), (278, 2), (279, len(pixels))]
    body = pixels + b"\0" * (-len(pixels) % 2)
    table = b"".join(struct.pack("<HHII", tag, 4, 1, value) for tag, value in entries)
    return b"II*\0" + struct.pack("<I", 8 + len(body)) + body + struct.pack("<H", 8) + table + bytes(4)


def upoe(*arguments):
    subprocess.run([UPOE, *map(str, arguments)], check=True, capture_output=True)


def main():
    for name, text in TABLES.items():
        keep("csv", name, text, 1 if name == "dirty" else 0)
        keep("csv", f"{name}-gz", gzip.compress(text, mtime=0), 28)
    keep("csv", "utf-16", "\ufeffa,b\n1,2\n3,NA\n".encode("utf-16-le"), 0)
    keep("csv", "utf-16-be", "a,b\n1,2\n3,4".encode("utf-16-be"), 0)
    keep("csv", "cr", b'a,"b\n"\r1,9007199254740993\r3,4', 0)
    keep("csv", "members-gz", gzip.compress(b"a,b\n1,2\n", mtime=0) + gzip.compress(b"3,4\n", mtime=0) + bytes(9), 0)
    for path in sorted(FIXTURES.glob("*.*")):
        if path.suffix in (".npy", ".mat", ".parquet", ".xlsx"):
            keep(path.suffix[1:], path.stem, path.read_bytes())
        if path.suffix in (".feather", ".arrow", ".arrows"):
            keep("arrow", path.stem, path.read_bytes())
    for name, text in JSON.items():
        keep("jsonl", name, text)
        keep("jsonl", f"{name}-gz", gzip.compress(text, mtime=0), 28)
    for name, parts in SHEETS.items():
        keep("xlsx", name, b"\0".join(parts), 64)
    keep("tiff", "packed", tiff(32773, bytes([253, 7, 1, 200, 255])), None)
    keep("tiff", "plain", tiff(1, b"abcdef"), None)
    draw = random.Random(1)
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        rows = "".join(f"{draw.gauss(0, 1) ** 3},{draw.gauss(0, 1)}\n" for _ in range(60))
        (folder / "t.csv").write_text("x,y\n" + rows)
        for name, options in {
            "student": ["--family", "student-t", "--experts", 2],
            "mixture": ["--family", "mixture", "--experts", 1],
            "tilt": ["--family", "tilt", "--experts", 1, "--dims", 1],
            "gaussian": ["--experts", 0],
        }.items():
            checkpoint = folder / f"{name}.ckpt"
            model = folder / f"{name}.upoe"
            upoe("fit", folder / "t.csv", "-o", model, "--checkpoint", checkpoint, "--quiet", *options)
            keep("model", name, model.read_bytes(), None)
            if checkpoint.exists():
                keep("model", f"{name}-checkpoint", checkpoint.read_bytes(), None)
        for extension in ("npy", "parquet", "csv"):
            upoe("sample", folder / "student.upoe", "-n", 9, "-o", folder / f"s.{extension}")
            keep(extension, "ours", (folder / f"s.{extension}").read_bytes())
    for number in range(12):
        keep("fit", f"noise{number}", draw.randbytes(60 + 40 * number), None)
        keep("score", f"noise{number}", draw.randbytes(60 + 40 * number), None)
    for number in range(12):
        keep("fields", f"noise{number}", draw.randbytes(20 + 20 * number), None)
        keep("report", f"noise{number}", draw.randbytes(100 + 40 * number), None)


if __name__ == "__main__":
    main()
