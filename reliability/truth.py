"""Known truths: what the default fit says of tables whose density is known, some of them spoiled.

`python reliability/truth.py` writes the section, `python reliability/truth.py spoiled far` only these tables of it; `test_truth.py` is its quick form."""

import functools
import json
import sys
import warnings

import common
import numpy as np
import reported
from upoe import UPoE, detectable

N, D = 2_000, 5


def correlated(rng, n, d):
    """Columns with one common cause."""
    rows = rng.normal(size=(n, d))
    return 0.6 * rows + rows[:, :1]


def grouped(rng, n, d):
    """Two groups, four deviations apart, along one direction."""
    rows = rng.normal(size=(n, d))
    return rows + 4 * (rng.random((n, 1)) < 0.5) * np.ones(d) / d**0.5


CLEAN = {
    "Gaussian": lambda rng, n, d: rng.normal(size=(n, d)),
    "correlated": correlated,
    "two groups": grouped,
    "Student-t, ν = 5": lambda rng, n, d: rng.standard_t(5, (n, d)),
    "Laplace": lambda rng, n, d: rng.laplace(size=(n, d)),
    "exponential": lambda rng, n, d: rng.exponential(size=(n, d)),
}
# Where 1 % of the rows are spoiled: clean rows, and their number and columns.
SIZES = [(clean, N, D) for clean in CLEAN] + [
    (clean, n, d) for clean in ("Laplace", "exponential") for n, d in ((600, 5), (2_000, 20))
]
# What is added to 1 % of the rows, in deviations.
SPOILED = {
    "every column": lambda rng, n, d: np.full((n, d), 10.0),
    "one column": lambda rng, n, d: 10.0 * (np.arange(d) == 1) * np.ones((n, 1)),
    "two columns": lambda rng, n, d: 10.0 * (np.arange(d) < 2) * np.ones((n, 1)),
    "both sides": lambda rng, n, d: 10.0 * np.ones(d) * (-1.0) ** np.arange(n)[:, None],
    "one column each": lambda rng, n, d: 10.0 * (np.arange(d) == np.arange(n)[:, None] % d),
    "noise": lambda rng, n, d: 10.0 * rng.normal(size=(n, d)),
}
FAR = (1e15, 1e6, 1e4)


def fitted(rows, told=None, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return UPoE(**settings).fit(rows, **(told or {}))


def mean_ln_p(model, rows):
    return float(model.score_samples(rows).mean())


def one_value(clean, far):
    """By how much the clean rows' mean ln p changes with one more row that has a value so far away."""
    rng = np.random.default_rng(1)
    rows = CLEAN[clean](rng, N, D)
    bad = rows[:1].copy()
    bad[0, 2] = far * rows[:, 2].std()
    return mean_ln_p(fitted(np.vstack([rows, bad])), rows) - mean_ln_p(fitted(rows), rows)


def one_percent(clean, way, n=N, d=D):
    """The same with 1 % more rows at ten deviations."""
    rng = np.random.default_rng(2)
    rows = CLEAN[clean](rng, n, d)
    bad = rows[: n // 100] + SPOILED[way](rng, n // 100, d) * rows.std(0)
    return mean_ln_p(fitted(np.vstack([rows, bad])), rows) - alone(clean, n, d)


@functools.cache
def alone(clean, n, d):
    """The clean rows' mean ln p by a fit of them."""
    rows = CLEAN[clean](np.random.default_rng(2), n, d)
    return mean_ln_p(fitted(rows), rows)


def cauchy(n, d):
    """The mean ln p of fresh rows less the true one, in nats per column."""
    rng = np.random.default_rng(3)
    model, fresh = fitted(rng.standard_cauchy((n, d))), rng.standard_cauchy((n, d))
    truth = -np.log(np.pi * (1 + fresh**2)).sum(axis=1).mean()
    return (mean_ln_p(model, fresh) - truth) / d


def exponential(family):
    """How far ln T falls from the mean to ten deviations (truth: 10), and the true probability beyond the
    model's upper 1e-4 point."""
    rows = np.random.default_rng(4).exponential(size=(10_000, 5))
    expert = fitted(rows, family=family).experts_[0]
    # An expert's projection has unit variance and zero mean: it is the exponential value less one.
    middle, far = expert.log_density(np.array([0.0, 10.0]))
    return float(middle - far), float(np.exp(-(expert.quantile(np.array([1 - 1e-4]))[0] + 1)))


def standard_error(draws):
    """With held-out groups: the reported standard error, and the deviation of the mean over draws."""
    reported, means = [], []
    for seed in range(draws):
        rng = np.random.default_rng([5, seed])
        groups = np.arange(2_000) // 50
        rows = rng.normal(size=(2_000, 3)) + rng.normal(size=(40, 3))[groups]
        found = fitted(rows, {"groups": groups}, random_state=seed).training_
        reported.append(found["log_density"]["holdout_standard_error"])
        means.append(found["log_density"]["holdout"])
    return float(np.median(reported)), float(np.std(means))


def shown(n, d, draws):
    """The share of tables in which two groups, as far apart as the fit says it can show, are found."""
    gap = detectable(n, d)["groups"]
    found = 0
    for seed in range(draws):
        rng = np.random.default_rng([6, n, d, seed])
        rows = rng.normal(size=(n, d))
        rows[:, 0] += gap * (rng.random(n) < 0.5)
        rows = rows @ np.linalg.qr(rng.normal(size=(d, d)))[0]
        found += fitted(rows, n_experts=1, stop="null", random_state=seed).n_experts_ > 0
    return gap, found / draws


def far_values(draws):
    rows = [[clean, *(f"{one_value(clean, far):+.4f}" for far in FAR)] for clean in CLEAN]
    columns = ["rows", *(f"{far:.0e} deviations" for far in FAR)]
    caption = f"One value far away in {N:,} × {D}: change of the clean rows' mean ln p, in nats (allowed: 0.05)."
    return {"caption": caption, "columns": columns, "rows": rows}


def spoiled(draws):
    rows = [
        [f"{clean}, {n:,} × {d}", *(f"{one_percent(clean, way, n, d):+.3f}" for way in SPOILED)] for clean, n, d in SIZES
    ]
    caption = "1 % of rows at ten deviations: the same (allowed: 0.2)."
    return {"caption": caption, "columns": ["rows", *SPOILED], "rows": rows}


def cauchys(draws):
    sizes = [(2_000, 5), (5_000, 10), (10_000, 2)]
    rows = [[f"{n:,} × {d}", f"{cauchy(n, d):+.3f}"] for n, d in sizes]
    caption = "Independent Cauchy columns: mean ln p of fresh rows less the true one, in nats per column (allowed: 0.3)."
    return {"caption": caption, "columns": ["rows", "difference"], "rows": rows}


def tails(draws):
    rows = []
    for family in ("auto", "tilt"):
        fall, beyond = exponential(family)
        rows.append([f"`{family}`", f"{fall:.2f}", f"{beyond:.1e}"])
    caption = "Exponential rows, 10,000 × 5: how far ln p falls from the mean to ten deviations (truth: 10), and the true probability beyond the model's upper 1e-4 point."
    return {"caption": caption, "columns": ["family", "fall", "probability"], "rows": rows}


def could_be_found(draws):
    rows = []
    for n, d in [(100, 2), (300, 10), (1_000, 20), (5_000, 50)]:
        gap, share = shown(n, d, draws)
        rows.append([f"{n:,} × {d}", f"{gap:.2f}", f"{100 * share:.0f} %"])
    caption = f"What a fit says it could have found with 80 % power: two groups so many deviations apart, and the share of {draws} tables in which they are found."
    return {"caption": caption, "columns": ["rows", "gap", "found"], "rows": rows}


TABLES = {
    "far": far_values,
    "spoiled": spoiled,
    "cauchy": cauchys,
    "tails": tails,
    "power": could_be_found,
    "reported": lambda draws: reported.table(),
}
# What a table is called where only some are made again.
TABLES_SHORT = {
    "far": "one value far away",
    "spoiled": "1 % of rows",
    "cauchy": "Cauchy columns",
    "tails": "exponential rows",
    "power": "what could be found",
    "reported": "where version 0.1 went wrong",
}


def main():
    """All tables, or those that are named, beside the others as they were."""
    chosen = sys.argv[1:] or list(TABLES)
    kept = common.RESULTS / "truth.json"
    old = json.loads(kept.read_text()) if sys.argv[1:] else {"tables": [], "text": []}
    made = dict(zip(TABLES, old["tables"]))
    for name in chosen:
        table = made[name] = TABLES[name](draws=50)
        print(table["caption"], *(" | ".join(row) for row in table["rows"]), sep="\n", flush=True)
    text = [line for line in old["text"] if not line.startswith("Of these tables")]
    if text:
        later = ", ".join(f"“{TABLES_SHORT[name]}”" for name in chosen)
        text.append(f"Of these tables, {later} are of the date below, the others of {old['date']} or before.")
    else:
        reported_error, true = standard_error(60)
        text = [
            "Default settings throughout.",
            "Held-out rows that belong to 40 groups: the reported standard error of the held-out mean is "
            f"{reported_error:.3f} nats (median of 60 fits), the deviation of that mean over the fits {true:.3f}.",
        ]
        print(text[-1])
    tables = [made[name] for name in TABLES if name in made]
    common.write("truth", "Known truths", "make reliability SECTION=truth", text, tables)


if __name__ == "__main__":
    sys.exit(main())
