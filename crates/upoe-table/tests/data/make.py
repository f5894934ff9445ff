"""Writes the fixtures beside this file: `python make.py` with numpy, scipy, pyarrow and openpyxl."""

import datetime
import decimal
import pathlib

import numpy as np
import openpyxl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import scipy.io

here = pathlib.Path(__file__).parent
m = np.array([[0, 1, 2], [3, 4, 100]])

for dtype in ["?", "i1", "u1", "<i2", ">i2", "<u2", "<i4", ">u4", "<i8", ">i8", "<u8",
              "<f2", ">f2", "<f4", ">f4", "<f8", ">f8"]:
    name = dtype.replace("<", "le_").replace(">", "be_").replace("?", "bool")
    np.save(here / f"{name}.npy", m.astype(dtype))
np.save(here / "fortran.npy", np.asfortranarray(m.astype(float)))
np.save(here / "one_dimension.npy", np.array([1.5, 2.5, -1.0]))
np.save(here / "three_dimensions.npy", np.zeros((2, 2, 2)))
np.save(here / "complex.npy", m.astype(complex))
np.save(here / "structured.npy", np.zeros(2, dtype=[("a", "<f8"), ("b", "<i4")]))

n = 5
table = pa.table({
    "id": pa.array(["a", "b", None, "d", "é"]),
    "bool": pa.array([True, False, True, True, False]),
    "i8": pa.array([1, -2, 3, -4, 5], pa.int8()),
    "u32": pa.array([4294967295, 0, 1, 2, 3], pa.uint32()),
    "u64": pa.array([18446744073709551615, 0, 1, 2, 3], pa.uint64()),
    "i64": pa.array([-5, 4, 3, 2, 1], pa.int64()),
    "f16": pa.array(np.array([0.5, 1, 2, -4, 0], "f2")),
    "f32": pa.array([0.25, 1, 2, 3, 5], pa.float32()),
    "f64": pa.array([0.1, 1e300, -2, 3, 5], pa.float64()),
    "dec": pa.array([decimal.Decimal("1.25"), decimal.Decimal("-0.50")] * 2 + [None],
                    pa.decimal128(10, 2)),
    "null": pa.array([1.0, None, 3.0, 4.5, None]),
    "day": pa.array([0, 1, 2, 3, 4], pa.date32()),
})
for codec in ["none", "snappy", "gzip", "zstd", "lz4"]:
    columns = table if codec == "none" else table.select(["id", "i8", "f64", "null"])
    pq.write_table(columns, here / f"{codec}.parquet", compression=codec, row_group_size=2,
                   write_statistics=False, store_schema=False)

more = table.append_column("kind", pa.array(["x", "y", "x", None, "x"]).dictionary_encode())
pyarrow.feather.write_feather(more, here / "none.feather", compression="uncompressed", chunksize=2)
pyarrow.feather.write_feather(more, here / "lz4.feather", compression="lz4")
pyarrow.feather.write_feather(more, here / "zstd.arrow", compression="zstd")
with pa.ipc.new_stream(here / "stream.arrows", more.schema) as stream:
    stream.write_table(more, max_chunksize=2)

book = openpyxl.Workbook()
book.active.title = "Read me"
book.active.append(["Only text here"])
sheet = book.create_sheet("Measured")
sheet["B2"] = "Crabs of 2024, in mm"
rows = [["id", "FL", "CL ", "day", "ok", "sp", None, "note"],
        ["a", 1.5, "2.25", datetime.date(2024, 1, 31), True, "B", None, None],
        ["b", 2, "n/a", datetime.datetime(2024, 2, 1, 12, 30), False, "O", None, "seen twice"],
        ["c", -1e-3, "#N/A", datetime.date(2024, 2, 2), True, "O", None, None]]
for number, row in enumerate(rows, 4):
    for column, value in enumerate(row, 2):
        sheet.cell(number + (number == 7), column, value)  # an empty row before the last one
book.create_sheet("Other").append([1, 2])
book["Other"].append([3, 4])
book.create_sheet("Away").append([9, 9])
book["Away"].sheet_state = "hidden"
book.save(here / "book.xlsx")

a = m.astype(float)
scipy.io.savemat(here / "plain.mat", {"a": a})
scipy.io.savemat(here / "deflated.mat", {"a": a}, do_compression=True)
scipy.io.savemat(here / "several.mat", {"a": a, "small": np.array([[7]], "u1"), "text": "hi",
                                        "z": a.astype(complex) * 1j, "cube": np.zeros((2, 2, 2))},
                 do_compression=True)
scipy.io.savemat(here / "single.mat", {"s": np.array([[1.5, -2]], "f4")})
