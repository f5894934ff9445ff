"""Endurance: random fits, scores and samples for half an hour, with memory, file handles and
threads watched.

    python reliability/endurance.py [--seconds 1800]

In one process through the Python package and, next to it, by the command, one process per call. After the
first third nothing may grow in the process that watches: resident memory by less than 4 MB from the
median of the second third to that of the last, handles and threads not at all.
"""

import argparse
import itertools
import os
import statistics
import subprocess
import tempfile
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
from common import UPOE, write

MEMORY = 4.0  # MB that the median may grow
KINDS = ["normal", "heavy", "groups", "whole numbers", "copied column", "few rows"]


def table(draw):
    """A random table of up to 800 × 8, its kind, and perhaps weights."""
    kind, rows, columns = KINDS[draw.integers(len(KINDS))], int(draw.integers(20, 800)), int(draw.integers(1, 9))
    if kind == "few rows":
        rows = int(draw.integers(2, 10))
    x = draw.standard_normal((rows, columns))
    if kind == "heavy":
        x[:, 0] = draw.standard_t(2, rows)
    elif kind == "groups":
        x[:, 0] += 5 * draw.integers(0, 2, rows)
    elif kind == "whole numbers":
        x = np.round(2 * x)
    elif kind == "copied column" and columns > 1:
        x[:, 1] = x[:, 0]
    return kind, x, draw.random(rows) if draw.random() < 0.3 else None


def settings(draw):
    """Random settings of a fit."""
    return {
        "learner": str(draw.choice(["pursuit", "sequential", "parallel"])),
        "family": str(draw.choice(["auto", "student-t", "mixture", "tilt"])),
        "stop": str(draw.choice(["null", "train", "bic"])),
        "starts": int(draw.integers(1, 6)),
    }


def by_package(draw, folder):
    """One round through the package; a table that cannot be modelled is an error that is caught."""
    from upoe import UPoE

    (_, x, weights), chosen = table(draw), settings(draw)
    chosen |= {"n_starts": chosen.pop("starts"), "random_state": int(draw.integers(1000))}
    try:
        model = UPoE(max_iter=50, **chosen).fit(x, sample_weight=weights)
    except ValueError:
        return
    model.score_samples(x)
    model.sample(100)
    model.explain(x[:5])
    model.save(folder / "m.upoe")
    UPoE.load(folder / "m.upoe").score(x)


def by_command(draw, folder):
    """One round by the command: fit, score, sample."""
    _, x, _ = table(draw)
    np.save(folder / "x.npy", x)
    options = itertools.chain(*((f"--{name}", value) for name, value in settings(draw).items()))
    model = folder / "m.upoe"
    model.unlink(missing_ok=True)
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    fitted = subprocess.run([UPOE, "fit", folder / "x.npy", "-o", model, "--max-iter", "50", *map(str, options)], **quiet)
    assert fitted.returncode in (0, 1), fitted
    if fitted.returncode == 0:
        subprocess.run([UPOE, "score", model, folder / "x.npy", "-o", folder / "s.csv"], check=True, **quiet)
        subprocess.run([UPOE, "sample", model, "-n", "100", "-o", folder / "n.parquet"], check=True, **quiet)


def own():
    """Resident MB, open files and threads of this process."""
    status = dict(line.split(":", 1) for line in open("/proc/self/status"))
    return int(status["VmRSS"].split()[0]) / 1024, len(os.listdir("/proc/self/fd")), int(status["Threads"])


def watch(round_of, seconds, seed):
    """Runs rounds for this long; samples of what this process holds, and the number of rounds."""
    draw, samples, rounds = np.random.default_rng(seed), [], 0
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        while (elapsed := time.monotonic() - began) < seconds:
            round_of(draw, Path(folder))
            rounds += 1
            samples.append((elapsed, *own()))
        left = sorted(path.name for path in Path(folder).iterdir())
    return samples, rounds, left


def growth(samples):
    """The medians of the second and the last third: memory, handles, threads."""
    third = len(samples) // 3
    middle, last = samples[third : 2 * third], samples[2 * third :]
    return [tuple(statistics.median(column) for column in list(zip(*part))[1:]) for part in (middle, last)]


def check(name, seconds, round_of, seed=1):
    """Runs, and fails if anything grew; a row of the table."""
    samples, rounds, left = watch(round_of, seconds, seed)
    before, after = growth(samples)
    assert after[0] - before[0] < MEMORY, f"{name}: resident memory went from {before[0]:.1f} to {after[0]:.1f} MB"
    assert after[1:] == before[1:], f"{name}: handles and threads went from {before[1:]} to {after[1:]}"
    assert not [file for file in left if "tmp" in file], left
    return [name, f"{seconds} s", f"{rounds:,}", *(f"{b:.1f} → {a:.1f} MB" for b, a in [(before[0], after[0])]),
            f"{before[1]:.0f} → {after[1]:.0f}", f"{before[2]:.0f} → {after[2]:.0f}"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=int, default=1800)
    seconds = parser.parse_args().seconds
    names = ["package, one process", "command, one process per call"]
    with ProcessPoolExecutor(2) as both:
        rows = list(both.map(check, names, [seconds] * 2, [by_package, by_command]))
    text = [
        "Fits of random tables (heavy tails, groups, whole numbers, a copied column, two to ten rows) by random "
        "learners, families and stop rules, each followed by scores, samples, explanations, and a model file written "
        "and read. Medians of the second and of the last third of the time; the criterion is "
        f"less than {MEMORY:.0f} MB more memory, and no more file handles or threads, in the process that "
        "makes the calls; no call left a temporary file behind.",
    ]
    columns = ["what", "for", "rounds", "resident memory", "file handles", "threads"]
    print(*rows, sep="\n")
    write("endurance", "Endurance", "make reliability SECTION=endurance", text, [{"caption": "", "columns": columns, "rows": rows}])


if __name__ == "__main__":
    main()
