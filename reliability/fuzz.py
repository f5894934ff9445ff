"""Fuzzing: every reader, model files, the report page, fit and score, by libFuzzer with a bound on memory.

    python reliability/fuzz.py [--seconds 600] [--keep] [target ...]

Builds the targets, runs each for so long from the corpus in reliability/fuzz/corpus, and writes
what happened. `--keep` adds to the corpus the smallest inputs that reach new code.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from common import RESULTS, write

FUZZ = Path("reliability/fuzz")
BUILD = Path(os.environ.get("CARGO_TARGET_DIR", "target")).absolute() / "fuzz"
TARGETS = {
    "csv": "CSV and TSV, plain or gzipped",
    "npy": "NPY",
    "parquet": "Parquet",
    "xlsx": "Excel workbooks, and the parts of one",
    "jsonl": "JSON lines, plain or gzipped",
    "arrow": "Arrow files and streams",
    "mat": "MATLAB",
    "tiff": "grey TIFF pictures",
    "model": "model files and checkpoints, with the checksum corrected; one that loads is described, scores, explains, transforms and draws rows, and evaluates cdf and quantiles",
    "fields": "valid models of every kind with up to four fields or arrays replaced, under a right checksum; then as `model`",
    "report": "the page of such models, and of any bytes as a model, with rows of any numbers",
    "fit": "fits: all learners, families and stop rules",
    "score": "scores by arbitrary models",
}
LONGEST = 60  # kept inputs per target
QUICK = 500  # inputs of the quick form, those of the corpus among them
HANG = 60  # seconds an input may take, on a machine that may be busy


def build():
    subprocess.run(["cargo", "build", "--release"], cwd=FUZZ, check=True, env=os.environ | {"CARGO_TARGET_DIR": str(BUILD)})


def program(target):
    return BUILD / "release" / target


def run(target, seconds):
    """Runs a target for this long, at random; its figures, and the input that broke it, if one did."""
    return fuzz(target, BUILD / "grown" / target, f"-max_total_time={seconds}") | {"seconds": seconds}


def quick(target):
    """Runs a target on its corpus and on inputs made from it, always the same ones."""
    grown = BUILD / "quick" / target
    shutil.rmtree(grown, ignore_errors=True)
    return fuzz(target, grown, f"-runs={QUICK}", "-seed=1")


def fuzz(target, grown, *options):
    """Runs a target, keeping new inputs in a folder; its figures, and the input that broke it, if one did."""
    crashes = BUILD / "crashes" / target
    shutil.rmtree(crashes, ignore_errors=True)
    for folder in (grown, crashes):
        folder.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        [program(target), grown, FUZZ / "corpus" / target, *options,
         f"-timeout={HANG}", f"-report_slow_units={HANG}", "-rss_limit_mb=2048", f"-artifact_prefix={crashes}/",
         "-print_final_stats=1", "-max_len=4096"],
        env=os.environ | {"RAYON_NUM_THREADS": "1", "RUST_BACKTRACE": "0"}, capture_output=True, text=True, errors="replace",
    )
    (BUILD / f"{target}.log").write_text(done.stderr)
    stats = dict(re.findall(r"stat::(\w+):\s+(\d+)", done.stderr))
    edges = re.findall(r"cov: (\d+) ft: \d+ corp: (\d+)", done.stderr)
    return {
        "target": target,
        "what": TARGETS[target],
        "executions": int(stats.get("number_of_executed_units", 0)),
        "edges": int(edges[-1][0]) if edges else 0,
        "corpus": int(edges[-1][1]) if edges else 0,
        "slowest": int(stats.get("slowest_unit_time_sec", 0)),
        "memory": int(stats.get("peak_rss_mb", 0)),
        "caught": len(re.findall(r"^PANIC at", done.stderr, re.M)),
        "broken": sorted(path.name for path in crashes.iterdir()),
        "said": "" if done.returncode == 0 else done.stderr[-3000:],
    }


def keep(target):
    """Adds the smallest inputs that reach new code to the corpus, up to a number of them."""
    corpus, least = FUZZ / "corpus" / target, BUILD / "least" / target
    shutil.rmtree(least, ignore_errors=True)
    least.mkdir(parents=True)
    subprocess.run([program(target), "-merge=1", least, corpus, BUILD / "grown" / target], check=True, capture_output=True)
    known = {path.read_bytes() for path in corpus.iterdir()}
    new = sorted((path for path in least.iterdir() if path.read_bytes() not in known), key=lambda path: path.stat().st_size)
    room = LONGEST - 1 - len(known)
    step = max(1, len(new) // max(1, room))
    for path in new[::step][:room]:
        shutil.copy(path, corpus / f"found-{path.name[:12]}")


def report(runs):
    """The section: the figures of all targets that were ever run long, this time's first."""
    figures = RESULTS / "fuzz-runs.json"
    known = {r["target"]: r for r in json.loads(figures.read_text())} if figures.exists() else {}
    known |= {r["target"]: {k: v for k, v in r.items() if k != "said"} for r in runs}
    runs = [known[target] for target in TARGETS if target in known]
    RESULTS.mkdir(parents=True, exist_ok=True)
    figures.write_text(json.dumps(runs, indent=1) + "\n")
    rows = [
        [r["target"], r["what"], r["seconds"], f"{r['executions']:,}", f"{r['edges']:,}", f"{r['corpus']:,}",
         f"{r['slowest'] or '< 1'} s", f"{r['memory']} MB", len(r["broken"]) or "none"]
        for r in runs
    ]
    columns = ["target", "what", "seconds", "inputs", "edges", "kept inputs", "slowest", "peak memory", "broken by"]
    write("fuzz", "Fuzzing", "make fuzz SECONDS=600", TEXT, [{"caption": "", "columns": columns, "rows": rows}])


TEXT = [
    "libFuzzer throws bytes at every reader and at model files; it replaces fields and arrays of valid models under a "
    "right checksum; and it reaches the report page, `fit` and `score` by way of such models and small "
    "matrices with ties, whole numbers, NaN, infinities, denormals and 1e±300. An input breaks a target by "
    "a panic, by taking over a minute, by allocating more than a stated number of bytes per byte of "
    "input plus a fixed number (the head of each file in `reliability/fuzz/fuzz_targets`), or by a wrong result: a table with a "
    "cell that is not finite; a model that loads and gives NaN, a probability outside [0, 1] or falling quantiles; a page with a "
    "script that is not its own; a fitted model whose own rows have no finite ln p, whose two ways to ln p "
    "differ, or one of whose experts does not integrate to one. Models and pages also have a bound on processor time: 2 s and 1 ms per "
    "byte of the file to load a model, describe it, and score, explain, transform and draw a few rows, 5 s and 5 ms per byte for its "
    "page. Our crates are compiled with debug "
    "assertions and overflow checks. The corpus is in the repository; the quick form runs it and more "
    "inputs made from it, 500 in all for each target and the same every time.",
    "Found and fixed: ln p was NaN for a degenerate table of unequal scales, and for rows so far away that "
    "squares overflow, also where such rows were held out; a spread that only tiny weights made finite "
    "ended in a panic; rows of almost no weight, very far away, left no finite likelihood; a column that varies in the last "
    "digit of 1e15 was taken for a dimension, and rows next to a degenerate subspace for impossible ones, once more where the variances of dimensions differ by 1e12; damaged Parquet files made the decoder reserve up to 2.7 GB, or panic because a "
    "dictionary was missing (which was caught), and damaged TIFF files 195 MB; a notice about expert 2⁶⁴ − 1 of a model file overflowed.",
    "Times are wall times on a busy machine: the Parquet input of 26 s takes about 1.2 s of CPU; `fields`, `report` and `model` ran at low "
    "priority beside other work, with a fifth to a third of a core.",
    "The kernels' unsafe blocks each argue their indices. "
    "`crates/upoe-kernels/src/tests/edges.rs` compares them with plain loops at every size next to a lane, tile or block, on slices "
    "that end at pages which cannot be touched, for each instruction set of the machine. Miri needs a nightly compiler, which nothing "
    "else here does, so it is not part of `make`: in one run of fewer sizes (`cargo +nightly miri test -p upoe-kernels --lib edges`) the copies of "
    "rows ended without a fault; the products had not ended after 13 minutes on a busy machine, when they were stopped. Kani was not available.",
]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("targets", nargs="*", default=list(TARGETS))
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    build()
    runs = []
    for target in options.targets:
        runs.append(run(target, options.seconds))
        print({name: value for name, value in runs[-1].items() if name != "said"}, flush=True)
        print(runs[-1]["said"], end="", flush=True)
        if options.keep and not runs[-1]["broken"]:
            keep(target)
        report(runs)
    sys.exit(any(run["said"] or run["broken"] for run in runs))


if __name__ == "__main__":
    main()
