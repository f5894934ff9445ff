"""Python's inputs: arrays of any type, shape, stride, mask and byte order, by Hypothesis.

    python reliability/inputs.py [--examples 2000]

Runs python/tests/test_properties.py with so many examples per law, drawn anew each time.
"""

import argparse
import os
import re
import resource
import subprocess
import sys
import time

from common import write

LAWS = {
    "test_fits": "`fit` of rows, then their scores",
    "test_uses": "`score_samples`, `transform`, `explain` and `tail` of rows",
    "test_ways_back": "`inverse_transform` of projections",
    "test_weights": "`fit` with weights",
    "test_experts": "`log_density`, `cdf` and `quantile` of an expert",
}


def run(law, examples):
    """The figures of one law, and what it said if it broke."""
    start = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-c", "../pyproject.toml", "--rootdir=..", "-p", "no:cacheprovider",
         "--hypothesis-show-statistics", "-o", "faulthandler_timeout=0", "test_properties.py", "-k", law],
        cwd="python/tests", env=os.environ | {"UPOE_EXAMPLES": str(examples)}, capture_output=True, text=True,
    )
    tried = sum(map(int, re.findall(r"(\d+) passing,", done.stdout)))
    return {
        "law": law,
        "examples": tried,
        "seconds": time.monotonic() - start,
        "memory": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024,
        "broken": done.returncode != 0,
        "said": "" if done.returncode == 0 else done.stdout[-3000:] + done.stderr[-500:],
    }


TEXT = [
    "Hypothesis draws arrays of every numeric type and byte order, of complex numbers, dates, text, objects and "
    "records, with 0 to 3 dimensions, 0 to 14 rows, reversed, repeated, Fortran-ordered, broadcast or unaligned memory, "
    "masks, read-only flags, nested lists, NaN, infinities and 1e±300. Each is refused with a ValueError or TypeError "
    "that says why, or gives the bits that the plain float64 array gives, and no NaN. "
    "`make test` runs the same laws with 150 fixed examples each.",
    "Found and fixed: with `n_jobs` and few rows a call waited for itself; complex weights lost their imaginary part, "
    "dates were taken for weights, an integer beyond 1e308 ended in an OverflowError.",
]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--examples", type=int, default=2000)
    options = parser.parse_args()
    runs = []
    for law in LAWS:
        runs.append(run(law, options.examples))
        print({name: value for name, value in runs[-1].items() if name != "said"}, flush=True)
        print(runs[-1]["said"], end="", flush=True)
    rows = [
        [LAWS[r["law"]], f"{r['examples']:,}", f"{r['seconds']:.0f}", f"{r['memory']:.0f} MB", "one" if r["broken"] else "none"]
        for r in runs
    ]
    columns = ["law", "arrays", "seconds", "peak memory", "broken by"]
    write("inputs", "Python's inputs", "make reliability SECTION=inputs", TEXT, [{"caption": "", "columns": columns, "rows": rows}])
    sys.exit(any(r["broken"] for r in runs))


if __name__ == "__main__":
    main()
