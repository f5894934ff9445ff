"""Dirty data: every data set by every learner and family, against the Gaussian on the same rows.

`python reliability/dirty.py` writes the section; `test_dirty.py` is its quick form."""

import subprocess
import sys
import tempfile
import time
import warnings

import common
import numpy as np
from upoe import UPoE

LEARNERS = ("pursuit", "sequential", "parallel")
FAMILIES = ("student-t", "mixture", "tilt", "auto")
# What a warning may say; a new one has to be looked at before it is listed here.
SENSIBLE = {
    "does not prove that all are Gaussian": "nothing found",
    "different values": "few values",
    "independent rows instead of": "fewer rows count",
    "rows resemble those before them": "neighbours alike",
    "vary in": "fewer dimensions",
    "ended at the": "a bound",
    "outside the simulated table": "table left",
    "are too few: structure": "too few rows",
    "ran out of iterations": "iterations",
    "too far away from all others": "outliers",
    "cells are missing": "missing cells",
}
# Rows that the Gaussian puts this many nats below the median were not learned from.
FAR = 1e6
# How an error says what to do.
REMEDIES = (
    "rescale it",
    "at least 2 are needed",
    "drop the row",
    "nothing to model",
    "--missing drop",
)


def sets(small):
    """Name → rows. Small ones have the same faults in fewer rows and columns."""
    rng = np.random.default_rng(1)
    n = 200 if small else 2000
    normal = lambda *shape: rng.normal(size=shape)
    base = normal(n, 4) @ normal(4, 4)

    def put(column, values):
        rows = base.copy()
        rows[:, column] = values
        return rows

    ordered = np.cumsum(normal(n, 3), axis=0)
    kinds = rng.integers(0, 5, n)
    few = 20 if small else 100
    yield "clean, for comparison", base
    yield "ties: every row ten times", np.repeat(base[: n // 10], 10, axis=0)
    yield "ties: rounded to one digit", np.round(base, 1)
    yield "zero-inflated columns", np.where(
        rng.random((n, 4)) < 0.8, 0.0, rng.exponential(size=(n, 4))
    )
    yield "integers", rng.poisson(3, (n, 4)).astype(float)
    yield "one value of 1e15", put(1, np.where(np.arange(n) == 7, 1e15, base[:, 1]))
    yield "near-collinear columns (1e-9)", np.column_stack([base, base[:, 0] + 1e-9 * normal(n)])
    yield "collinear columns", np.column_stack([base, base.sum(1)])
    yield "more columns than rows", normal(few, 2 * few)
    yield ("1,000 columns" if small else "10,000 columns"), normal(few, 1000 if small else 10_000)
    yield "all rows equal", np.ones((n, 3))
    yield "two rows", normal(2, 3)
    yield "three rows", normal(3, 3)
    yield "one column", base[:, :1]
    yield "two groups, a gap of 1e6", put(0, base[:, 0] + 1e6 * (np.arange(n) % 2))
    yield "Cauchy columns", rng.standard_cauchy((n, 4))
    yield "log-normal columns", np.exp(2 * normal(n, 4))
    yield "scales of 1e-12 and 1e12", base * [1e-12, 1, 1e12, 1]
    yield "scales of 1e-200 and 1e200", base * [1e-200, 1, 1e200, 1]
    yield "one-hot columns", np.column_stack([np.eye(5)[kinds], base[:, :2]])
    yield "time-ordered rows (random walks)", ordered
    yield "a mean of 1e9 deviations", base + 1e9
    yield "a missing value", put(2, np.where(np.arange(n) == 5, np.nan, base[:, 2]))
    yield "an infinity", put(2, np.where(np.arange(n) == 5, np.inf, base[:, 2]))


def outcome(rows, learner, family, gaussian):
    """The outcome of one fit: experts, gain over the Gaussian, warnings; or the error."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model = UPoE(learner=learner, family=family, random_state=1).fit(rows)
    scores = model.score_samples(rows)
    assert np.isfinite(scores).all(), f"{(~np.isfinite(scores)).sum()} rows have no finite ln p"
    near = gaussian > np.median(gaussian) - FAR
    gaussian = gaussian[near].mean()
    gain = scores[near].mean() - gaussian
    assert gain >= -1e-9 * max(1.0, abs(gaussian)), f"{gain} nats below the Gaussian"
    told = set()
    for warning in said:
        known = [short for text, short in SENSIBLE.items() if text in str(warning.message)]
        assert known, f"an unknown warning: {warning.message}"
        told.update(known)
    return model.n_experts_, gain, told


def study(rows):
    """A row of the table: all learners and families on one data set."""
    began, experts, gains, told, failed = time.time(), [], [], set(), set()
    gaussian = None
    for learner in LEARNERS:
        for family in FAMILIES:
            try:
                if gaussian is None:
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        gaussian = UPoE(0, random_state=1).fit(rows).score_samples(rows)
                found = outcome(rows, learner, family, gaussian)
            except ValueError as error:
                failed.add(str(error))
                continue
            except AssertionError as error:
                raise AssertionError(f"{learner}, {family}: {error}") from None
            experts.append(found[0])
            gains.append(found[1])
            told |= found[2]
    if failed:
        assert not experts and len(failed) == 1, f"some fits failed: {failed}"
        (error,) = failed
        assert any(remedy in error.lower() for remedy in REMEDIES), f"no remedy in: {error}"
        return ["error", "", "", error, time.time() - began]
    span = lambda low, high: f"{low}" if low == high else f"{low} to {high}"
    gain = span(f"{min(gains):.3f}", f"{max(gains):.3f}")
    return [
        "fit",
        span(min(experts), max(experts)),
        gain,
        ", ".join(sorted(told)),
        time.time() - began,
    ]


def by_command(rows):
    """`upoe fit` on a file with missing cells: refused by row and column, then dropped."""
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/dirty.csv"
        cells = [["" if np.isnan(x) else repr(float(x)) for x in row] for row in rows]
        text = "\n".join(["a,b,c,d", *map(",".join, cells)])
        open(path, "w").write(text + "\n")
        fit = [common.UPOE, "fit", path, "-o", f"{folder}/m.upoe", "--quiet"]
        refused = subprocess.run(fit, capture_output=True, text=True)
        assert refused.returncode == 1 and "--missing drop" in refused.stderr, refused
        dropped = subprocess.run([*fit, "--missing", "drop"], capture_output=True, text=True)
        assert dropped.returncode == 0, dropped
        return refused.stderr.strip().replace(folder + "/", "")


def table(small, say=lambda *words: None):
    """All rows of the table."""
    found = []
    for name, rows in sets(small):
        try:
            result = study(rows)
        except AssertionError as error:
            raise AssertionError(f"{name}: {error}") from None
        if name == "a missing value":
            result[3] += "; the command: " + by_command(rows)
        say(name, rows.shape, *result)
        shape = f"{rows.shape[0]:,} × {rows.shape[1]:,}"
        found.append([name, shape, *result[:-1], f"{result[-1]:.1f}"])
    return found


def main():
    columns = [
        "data",
        "rows × columns",
        "outcome",
        "experts",
        "gain, nats per row",
        "said",
        "seconds",
    ]
    rows = table(False, lambda *words: print(*words, flush=True))
    text = [
        "Each data set is fitted by all three learners with each of the families Student-t, "
        "mixture and tilt and with all of them: twelve fits per line, whose experts and gains over "
        "the Gaussian on the same rows are given as a range. For every fit, ln p is finite on all "
        "rows, its mean is not below the Gaussian's, and every warning is one of those named: "
        "*fewer dimensions* (the density is over a subspace), *a bound* (ties or far outliers "
        "would make the likelihood infinite), *table left* (p-values are continued), *too few rows* (to separate structure from noise), "
        "*iterations*, *missing cells* (which are learned from). Errors name the remedy.",
    ]
    caption = "Dirty data sets; seconds are of all twelve fits."
    tables = [{"caption": caption, "columns": columns, "rows": rows}]
    common.write("dirty", "Dirty data", "make reliability SECTION=dirty", text, tables)


if __name__ == "__main__":
    sys.exit(main())
