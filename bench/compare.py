"""What changed: how often a change between two tables is found, next to other two-sample tests.

    make bench SECTION=compare        everything
    DRAWS=20 make bench SECTION=compare    no more draws than these

Every test works at 5 %. The table goes to docs/answers.md, between its marks.
"""

import os
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
from common import save, say
from page import table
from scipy.stats import ks_2samp, mannwhitneyu
from sklearn.ensemble import RandomForestClassifier
from threadpoolctl import threadpool_limits
from upoe import compare

LEVEL = 0.05
SIZES = ((100, 5), (300, 20))
DRAWS = [min(n, int(os.environ.get("DRAWS", n))) for n in (100, 40)]  # at each size
PAGE = Path("docs/answers.md")
MARKS = "<!-- power: written by bench/compare.py -->", "<!-- end of power -->"


def base(rng, n, d):
    """Rows of d columns: correlated, the last two heavy-tailed and skewed."""
    mixing = np.random.default_rng(d).normal(size=(d, d)) / d**0.5 + np.eye(d)
    rows = rng.normal(size=(n, d))
    rows[:, -1] = np.exp(0.5 * rows[:, -1])
    rows[:, -2] = rng.standard_t(5, size=n)
    return rows @ mixing.T


def shift(rng, rows, size):
    rows[:, 0] += size * base(np.random.default_rng(0), 10_000, rows.shape[1])[:, 0].std()
    return rows


def independent(rng, n, d):
    return rng.normal(size=(n, d))


def correlation(rng, rows, size):
    rows[:, 1] = size * rows[:, 0] + (1 - size**2) ** 0.5 * rows[:, 1]
    return rows


def tails(rng, rows, freedom):
    rows[:, 0] = rng.standard_t(freedom, size=len(rows)) * ((freedom - 2) / freedom) ** 0.5
    return rows


def groups(rng, n, d, share=0.5):
    """Two groups, 1.2 deviations apart in each of the first four columns."""
    rows = rng.normal(size=(n, d))
    rows[:, :4] += 1.2 * (rng.random(n) < share)[:, None]
    return rows


# Each: how rows of A are drawn, what is done to those of B, and how much at either size of tables.
SCENARIOS = {
    "none (the level)": (base, lambda rng, rows, size: rows, (0, 0)),
    "shift of one of the correlated columns": (base, shift, (0.25, 0.2)),
    "shift of one independent column": (independent, shift, (0.5, 0.3)),
    "correlation of two columns": (independent, correlation, (0.45, 0.3)),
    "tails of one column": (independent, tails, (2.2, 2.5)),
    "share of one group, from 50 %": (groups, None, (0.75, 0.65)),
}


def draw(scenario, n, d, seed):
    make, change, sizes = SCENARIOS[scenario]
    size = sizes[SIZES.index((n, d))]
    rng = np.random.default_rng([n, d, seed, list(SCENARIOS).index(scenario)])
    a = make(rng, n, d)
    if change is None:
        return a, groups(rng, n, d, size)
    return a, change(rng, make(rng, n, d), size)


def ours(a, b, seed):
    return compare(a, b, random_state=seed, n_jobs=1).p_value


def kolmogorov_smirnov(a, b, seed):
    return min(1.0, a.shape[1] * min(ks_2samp(x, y).pvalue for x, y in zip(a.T, b.T)))


def classifier(a, b, seed):
    """A random forest learned on half of the rows: does it hold the other rows of B more probable to be of B than those of
    A? By their ranks, which find more than the share of right answers."""
    rng = np.random.default_rng(seed)
    rows, label = np.vstack([a, b]), np.repeat([0, 1], [len(a), len(b)])
    order = rng.permutation(len(rows))
    train, test = order[::2], order[1::2]
    forest = RandomForestClassifier(200, min_samples_leaf=5, random_state=seed, n_jobs=1)
    chance = forest.fit(rows[train], label[train]).predict_proba(rows[test])[:, 1]
    return float(mannwhitneyu(chance[label[test] == 1], chance[label[test] == 0], alternative="greater").pvalue)


def maximum_mean_discrepancy(a, b, seed, exchanges=199):
    """A Gaussian kernel as wide as the median distance, over standardised columns; rows exchanged."""
    rng = np.random.default_rng(seed)
    rows = np.vstack([a, b])
    rows = (rows - rows.mean(0)) / rows.std(0)
    squares = (rows**2).sum(1)
    distance = np.maximum(squares[:, None] + squares - 2 * rows @ rows.T, 0)
    kernel = np.exp(-distance / np.median(distance[np.triu_indices(len(rows), 1)]))
    label = np.repeat([1 / len(a), -1 / len(b)], [len(a), len(b)])
    labels = np.array([label, *(rng.permutation(label) for _ in range(exchanges))])
    found = ((labels @ kernel) * labels).sum(1)
    return (found[1:] >= found[0] - 1e-12).sum() / (exchanges + 1) + 1 / (exchanges + 1)


METHODS = {
    "upoe": ours,
    "Kolmogorov–Smirnov per column, Bonferroni": kolmogorov_smirnov,
    "classifier (random forest)": classifier,
    "MMD (Gaussian kernel)": maximum_mean_discrepancy,
}


def job(what):
    scenario, n, d, seed = what
    with threadpool_limits(limits=1):
        a, b = draw(scenario, n, d, seed)
        return {name: bool(method(a.copy(), b.copy(), seed) <= LEVEL) for name, method in METHODS.items()}


def written(cells):
    """The table, with the best of each line in bold and losses named."""
    lines, losses = [], []
    for cell in cells:
        found, n, d = cell["found"], cell["rows"], cell["columns"]
        level = cell["size"] == 0
        best = max(found.values())
        bold = lambda k: f"**{k}**" if k == best and not level else str(k)
        size = "" if level else f" ({cell['size']:g})"
        shares = (bold(found[name]) for name in METHODS)
        lines.append([f"{cell['scenario']}{size}", f"{n} × {d}", cell["draws"], *shares])
        if not level and found["upoe"] < best - 5:
            losses.append(f"{cell['scenario']}, {n} × {d}: {found['upoe']} against {best}")
    text = table(["change", "tables", "draws", *METHODS], lines)
    text += "\nIn per cent of the draws; every test works at 5 %. "
    text += "Losses of more than five points: " + ("; ".join(losses) if losses else "none") + ".\n"
    return text


def measured(pool, scenario, at):
    """How often each test finds a change, at one size of tables."""
    (n, d), draws = SIZES[at], DRAWS[at]
    found = list(pool.map(job, [(scenario, n, d, seed) for seed in range(draws)]))
    share = {name: round(100 * float(np.mean([f[name] for f in found]))) for name in METHODS}
    say(scenario, n, d, share)
    size = SCENARIOS[scenario][2][at]
    return {"scenario": scenario, "rows": n, "columns": d, "draws": draws, "size": size, "found": share}


def write(cells):
    save("compare", {"cells": cells})
    page = PAGE.read_text()
    before, rest = page.split(MARKS[0])
    after = rest.split(MARKS[1])[1]
    PAGE.write_text(before + MARKS[0] + "\n" + written(cells) + MARKS[1] + after)
    say(f"wrote {PAGE}")


def main():
    with ProcessPoolExecutor(2) as pool:
        write([measured(pool, scenario, at) for scenario in SCENARIOS for at in range(len(SIZES))])


if __name__ == "__main__":
    main()
