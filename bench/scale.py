"""`make scale`: a fit of a table larger than the memory that it may take, with its figures.

    python bench/scale.py --gb 12 --limit 2G --binary target/release/upoe

Makes a table of heavy-tailed sources, mixed, fits 10 experts under a hard limit of address space
(`ulimit -v`), and the first rows of it in memory and in a file, in turn. The tables are deleted afterwards.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

COLUMNS = 50
BLOCK = 100_000


def make(path: Path, rows: int, columns: int = COLUMNS) -> float:
    """Writes rows of float64; returns the seconds it took."""
    began = time.perf_counter()
    rng = np.random.default_rng(1)
    mixing = rng.normal(size=(columns, columns)) / np.sqrt(columns)
    with open(path, "wb") as file:
        header = {"descr": "<f8", "fortran_order": False, "shape": (rows, columns)}
        np.lib.format.write_array_header_1_0(file, header)
        for start in range(0, rows, BLOCK):
            x = rng.standard_normal((min(BLOCK, rows - start), columns))
            scale = rng.exponential(size=(len(x), columns // 5))
            x[:, : columns // 5] *= np.sqrt(scale)
            x[:, columns // 5] += np.where(rng.random(len(x)) < 0.5, -2, 2)
            file.write((x @ mixing).tobytes())
    return time.perf_counter() - began


def size(text: str) -> int:
    return int(float(text[:-1]) * 1024 ** ("KMGT".index(text[-1]) + 1))


def fit(binary: str, table: Path, limit: str | None, *more: str) -> dict[str, object]:
    """Fits; returns its figures."""

    def confine() -> None:
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_AS, (size(limit), size(limit)))

    command = [binary, "fit", str(table), "--json", "--scratch", str(table.parent), *more]
    began = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, preexec_fn=confine)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}\n{done.stderr}")
    passes = re.search(r"(\d+) passes over", done.stderr)
    read = re.search(r"^read .*\((.*)\)$", done.stderr, re.M)
    fitted = json.loads(done.stdout)
    return {
        "total": time.perf_counter() - began,
        "learning": fitted["seconds"],
        "passes": int(passes[1]) if passes else None,
        "read": read[1] if read else "",
        "experts": len(fitted["experts"]),
        "ln p": fitted["log_density"]["train"],
        "peak": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024**2,
    }


def dd(table: Path) -> float:
    """GB/s at which `dd` reads a file from the disk, past the page cache."""
    command = ["dd", f"if={table}", "of=/dev/null", "bs=16M", "iflag=direct"]
    began = time.perf_counter()
    subprocess.run(command, capture_output=True, check=True)
    return os.path.getsize(table) / 1e9 / (time.perf_counter() - began)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--gb", type=float, default=12.0)
    parser.add_argument("--limit", default="2G")
    parser.add_argument("--binary", default="target/release/upoe")
    parser.add_argument("--experts", default="10")
    parser.add_argument("--folder", default=None)
    given = parser.parse_args()
    rows = int(given.gb * 1e9 / 8 / COLUMNS)
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        table = Path(folder) / "table.npy"
        seconds = make(table, rows)
        gb = os.path.getsize(table) / 1e9
        print(f"table: {rows:,} rows × {COLUMNS}, {gb:.1f} GB, made in {seconds:.0f} s", flush=True)
        print(f"dd reads it from the disk at {dd(table):.2f} GB/s", flush=True)
        half = f"{size(given.limit) // 2**21}M"
        large = fit(given.binary, table, given.limit, "--experts", given.experts, "--memory", half)
        print(f"limit {given.limit}: {large}", flush=True)
        if large["passes"]:
            rate = large["passes"] * gb / float(large["learning"])
            print(f"{large['passes']} passes, {rate:.2f} GB/s while learning", flush=True)
        table.unlink()
        for n in (100_000, 1_000_000):
            if n > rows:
                continue
            make(table, n)
            sample = ["--experts", given.experts, "--sample", "50000"]
            inside = fit(given.binary, table, None, *sample)
            outside = fit(given.binary, table, None, *sample, "--memory", "1M")
            ratio = float(outside["learning"]) / float(inside["learning"])
            print(f"{n:,} rows: in memory {inside['learning']:.1f} s, from a file "
                  f"{outside['learning']:.1f} s ({ratio:.2f} ×, {outside['passes']} passes); "
                  f"ln p apart {abs(inside['ln p'] - outside['ln p']):.1e}", flush=True)
            table.unlink()


if __name__ == "__main__":
    main()
