"""`make scale`: tables larger than memory, and clusters, with their figures for docs/scale.md.

    python bench/scale.py                         everything
    python bench/scale.py --part large --gb 1     one part, smaller

`large` fits a table of 12 GB under a hard limit of address space (`ulimit -v`). `beside` fits the same rows in memory
and in a file, in turn. `curve` fits tables of more and more rows in memory, from a file, on Dask and on
Spark, and `scaling` the same on one and two cores. `page` writes what was found to docs/scale.md. Tables are
deleted afterwards.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from pathlib import Path

import scale_clusters as clusters
import scale_page
from scale_place import dd, fit, forget, load, make, size

RESULTS = Path("bench/results/scale.json")
# Of the large table, and of the curves, in columns.
WIDE, NARROW = 50, 10
PARTS = ("large", "beside", "curve", "scaling", "page")


def say(*words: object) -> None:
    print(time.strftime("%H:%M:%S"), *words, flush=True)


def keep(part: str, found: object) -> None:
    """Writes the results of a part beside those of the others."""
    known = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    known[part] = {"date": time.strftime("%Y-%m-%d"), "cores": os.cpu_count(), "found": found}
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    RESULTS.write_text(json.dumps(known, indent=1) + "\n")


def known(part: str) -> list[dict[str, object]]:
    """What a part has found so far."""
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    return results.get(part, {}).get("found", [])


def add(part: str, figures: dict[str, object]) -> None:
    """Adds a line to what a part has found, in place of the one before of the same fit."""
    which = lambda line: (line["place"], line["rows"], line.get("cores"))
    others = [line for line in known(part) if which(line) != which(figures)]
    keep(part, sorted([*others, figures], key=lambda line: line["rows"]))
    say(part, figures)


def without_model(figures: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in figures.items() if name != "model"}


def large(given: argparse.Namespace, folder: Path) -> dict[str, object]:
    """A table larger than the memory that a fit may take."""
    table, rows = folder / "table.npy", int(given.gb * 1e9 / 8 / WIDE)
    seconds = make(table, rows, WIDE)
    gb = os.path.getsize(table) / 1e9
    say(f"table: {rows:,} rows × {WIDE}, {gb:.1f} GB, made in {seconds:.0f} s")
    forget(str(table))
    disk = [dd(table, True)]
    say(f"dd reads it from the disk at {disk[0]:.2f} GB/s; load {load():.1f}")
    half = f"{size(given.limit) // 2**21}M"
    settings = ["--experts", given.experts, "--memory", half]
    found = fit(given.binary, table, *settings, limit=given.limit, cold=True)
    disk.append(dd(table, True))
    # From the moments on; the scratch file is as large as the table.
    rate = found["passes"] * gb / found["learning"]
    say(f"limit {given.limit}: {without_model(found)}; {rate:.2f} GB/s; dd {disk[1]:.2f} GB/s")
    table.unlink()
    return {**without_model(found), "rows": rows, "columns": WIDE, "gb": gb, "limit": given.limit, "dd": disk}


def beside(given: argparse.Namespace, folder: Path) -> list[dict[str, object]]:
    """The same rows in memory and in a file, in turn: with all rows for all steps, and with a sample."""
    table, found = folder / "table.npy", []
    for rows in (200_000, 1_000_000):
        if rows > given.most:
            continue
        make(table, rows, WIDE)
        for sample in ("all", "50000"):
            settings = ["--experts", "2", "--family", "student-t", "--sample", sample]
            runs = {"memory": [], "file": []}
            for _ in range(given.runs):
                runs["memory"].append(fit(given.binary, table, *settings))
                runs["file"].append(fit(given.binary, table, *settings, "--memory", "1M"))
            same = runs["memory"][0]["model"] == runs["file"][0]["model"]
            apart = abs(runs["memory"][0]["ln_p"] - runs["file"][0]["ln_p"])
            line = {"rows": rows, "columns": WIDE, "sample": sample, "same": same, "apart": apart}
            for where, of in runs.items():
                line[where] = [without_model(run) for run in of]
            found.append(line)
            say(rows, sample, "same bits" if same else "OTHER BITS", f"{apart:.1e}", line["file"][0])
        forget(str(table))
        table.unlink()
    return found


def settings(sample: int) -> dict[str, object]:
    return {"n_experts": 2, "family": "student-t", "random_state": 0, "sample": sample}


def places(given: argparse.Namespace, table: Path, rows: int, sample: int, cores: int):
    """A fit in each place: its name and what fits there."""
    own = ["--experts", "2", "--family", "student-t", "--sample", str(sample), "--threads", str(cores)]

    def on(cluster):
        with cluster(cores) as run:
            return run(table, rows, NARROW, **settings(sample))

    yield "memory", lambda: fit(given.binary, table, *own, "--memory", "1T")
    yield "file", lambda: fit(given.binary, table, *own, "--memory", "1M")
    yield "dask", lambda: on(clusters.dask)
    yield "spark", lambda: on(clusters.spark)


def curve(given: argparse.Namespace, folder: Path) -> list[dict[str, object]]:
    """Time against rows in every place, as far as each goes on this machine."""
    most = {"memory": given.memory_most, "file": given.most, "dask": given.dask_most, "spark": given.spark_most}
    table = folder / "table.npy"
    for rows in (100_000, 1_000_000, 10_000_000, 100_000_000):
        if not given.least <= rows <= given.most:
            continue
        make(table, rows, NARROW, "<f4")
        for place, run in places(given, table, rows, 50_000, 2):
            if rows <= most[place] and place in given.places:
                add("curve", {"place": place, "rows": rows, "columns": NARROW, **without_model(run())})
        table.unlink()
    return known("curve")


def scaling(given: argparse.Namespace, folder: Path) -> list[dict[str, object]]:
    """One core and two: the same rows (strong), and twice as many (weak)."""
    table = folder / "table.npy"
    for rows in (500_000, 1_000_000):
        make(table, rows, NARROW, "<f4")
        for cores in (1, 2):
            for place, run in places(given, table, rows, 50_000, cores):
                if place in given.places:
                    add("scaling", {"place": place, "cores": cores, "rows": rows, **without_model(run())})
        table.unlink()
    return known("scaling")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--part", default=",".join(PARTS))
    parser.add_argument("--gb", type=float, default=12.0)
    parser.add_argument("--limit", default="2G")
    parser.add_argument("--binary", default="target/release/upoe")
    parser.add_argument("--experts", default="10")
    parser.add_argument("--folder", default=None)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--least", type=int, default=0, help="rows of the smallest table of a curve")
    parser.add_argument("--most", type=int, default=100_000_000, help="rows of the largest table of a curve")
    parser.add_argument("--places", default="memory,file,dask,spark", type=lambda text: text.split(","))
    parser.add_argument("--memory-most", type=int, default=100_000_000, help="rows at most in memory: 19 GB")
    parser.add_argument("--dask-most", type=int, default=100_000_000, help="rows at most on Dask: 16 GB")
    parser.add_argument("--spark-most", type=int, default=100_000_000)
    given = parser.parse_args()
    for part in given.part.split(","):
        if part == "page":
            scale_page.write(json.loads(RESULTS.read_text()))
            continue
        with tempfile.TemporaryDirectory(dir=given.folder) as folder:
            keep(part, globals()[part](given, Path(folder)))


if __name__ == "__main__":
    main()
