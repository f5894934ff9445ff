"""What changed: how often a change is found between two tables of the same distribution.

`python reliability/changes.py` writes the section (`--share 0.05` makes a twentieth of the draws);
`test_changes.py` is its quick form."""

import argparse
import time
from concurrent.futures import ProcessPoolExecutor

import common
import numpy as np
from scipy.stats import binom
from upoe import UPoE, compare

ROWS = (50, 200, 1000, 10_000)
COLUMNS = (2, 10, 50)
DRAWS = 200
SECONDS = 300  # of one core, per cell, unless `--seconds` says otherwise; slower cells get fewer draws
KINDS = ("Gaussian", "groups, heavy tails and ties", "drawn from a model file's model")


def rows_of(rng, n, d, kind):
    """Rows of a distribution."""
    rows = rng.normal(size=(n, d)) @ np.random.default_rng(d).normal(size=(d, d))
    if kind.startswith("groups"):
        rows[:, 0] += 6 * d**0.5 * (rng.random(n) < 0.3)
        rows[:, 1] = np.round(rng.standard_t(2, size=n))
    return rows


def found(job):
    """Whether a change is found at 5 %, and whether the drop of ln p is; and the seconds."""
    n, d, kind, seed = job
    rng = np.random.default_rng([n, d, seed])
    began = time.process_time()
    if kind == KINDS[2]:
        model = UPoE(n_jobs=1).fit(rows_of(rng, 1000, d, KINDS[1]))
        a, b = model, model.sample(n, random_state=seed)
    else:
        # Tables of unequal sizes, n and a little less.
        a, b = rows_of(rng, n, d, kind), rows_of(rng, max(3 * d, 2 * n // 3), d, kind)
    result = compare(a, b, random_state=seed, n_jobs=1)
    return result.p_value <= 0.05, result.drop.p_value <= 0.05, time.process_time() - began


def study(cells, workers, seconds=SECONDS, say=print):
    """Key → changes found, drops found, draws made."""
    counts = {}
    with ProcessPoolExecutor(workers) as pool:
        for key, draws in cells.items():
            first = found(draws[0])
            some = draws[1 : max(10, min(len(draws), int(seconds / max(first[2], 1e-3))))]
            answers = [first, *pool.map(found, some)]
            counts[key] = (sum(a[0] for a in answers), sum(a[1] for a in answers), len(answers))
            say(*key, counts[key])
    return counts


def share_of(count, draws):
    share = f"{100 * count / draws:.1f} %"
    share = f"**{share}**" if binom.sf(count - 1, draws, 0.05) < 0.02 else share
    return share + ("" if draws >= DRAWS else f" of {draws}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--share", type=float, default=1.0, help="the share of draws to make")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of one core, for each cell")
    given = parser.parse_args()
    draws = max(2, round(DRAWS * given.share))
    sizes = [(n, d) for n in ROWS for d in COLUMNS if n >= 3 * d and not (n == 10_000 and d == 50)] + [(10_000, 50)]
    cells = {(k, n, d): [(n, d, k, s) for s in range(draws)] for k in KINDS for n, d in sizes}
    counts = study(cells, given.workers, given.seconds)
    tables = []
    for which, what in enumerate(("a change is found", "the drop of ln p is significant")):
        lines = [
            [kind, *(share_of(counts[kind, n, d][which], counts[kind, n, d][2]) for n, d in sizes)] for kind in KINDS
        ]
        head = ["rows", *(f"{n:,} × {d}" for n, d in sizes)]
        tables.append({"caption": f"Share of comparisons in which {what}, at 5 %.", "columns": head, "rows": lines})
    text = [
        "Two tables of the same distribution, n and two thirds of n rows, compared by `upoe.compare`; or rows "
        "drawn from a fitted model, compared with the model. Bold: so many would be found by chance in less than "
        "2 % of cases if the level were 5 %. Cells whose comparisons are slow have fewer draws."
    ]
    command = "make reliability SECTION=changes"
    common.write("changes", "What changed: false alarms", command, text, tables)


if __name__ == "__main__":
    main()
