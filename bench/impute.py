"""Missing cells: how well each method says what was removed.

10 % and 30 % of the cells of six tables are removed at random, five times each. Every method learns from
what is left. It is asked for the density of removed values, given what is left of their rows (mean ln p),
for its best guess (RMSE) and for intervals of 90 % (how many values they hold). Columns are measured in
deviations of the whole table. Peers that give no density get a Gaussian around their guess: its variance
for each column is that of their errors at a further 10 % of the cells, which are hidden from them for that.

`UPOE_IMPUTE=crabs,wine` takes some of the tables, in this order, and keeps the results of the others. Results are
written after every run; with `UPOE_MORE=1`, what they already have is not measured again, for each method.
"""

import csv
import itertools
import json
import os
import time

import numpy as np
from common import RESULTS, quiet, save, say
from data import folder, sphering
from sklearn import datasets
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, KNNImputer, SimpleImputer
from upoe import UPoE

SEEDS = range(5)
SHARES = [0.1, 0.3]
ROWS = 500  # of Frey and digits
CELLS = 100  # removed values that are asked about, per run
Z90 = 1.6448536269514722


def crabs():
    with open("crates/upoe-cli/data/crabs.csv") as file:
        rows = list(csv.DictReader(file))
    return np.array([[float(row[name]) for name in ("FL", "RW", "CL", "CW", "BD")] for row in rows])


def some(X):
    """Rows at even distances, columns that vary among them."""
    X = X[np.linspace(0, len(X) - 1, ROWS).astype(int)]
    return X[:, X.std(axis=0) > 0]


def frey():
    rows = np.load(folder() / "frey/frey_rawface.npy") / 255.0
    mean, matrix = sphering(rows, 50)
    return some((rows - mean) @ matrix.T)


SETS = {
    "crabs": crabs,
    "Frey": frey,
    "wine": lambda: datasets.load_wine().data,
    "breast cancer": lambda: datasets.load_breast_cancer().data,
    "diabetes": lambda: datasets.load_diabetes().data,
    "digits": lambda: some(datasets.load_digits().data),
}
PEERS = {
    "mean": lambda seed: SimpleImputer(),
    "k nearest": lambda seed: KNNImputer(),
    "iterative": lambda seed: IterativeImputer(random_state=seed),
}
OURS = {"Gaussian": dict(n_experts=0), "ours": {}, "ours, best": dict(quality="best")}


def remove(X, share, rng):
    """X without a share of its cells; every row and column keeps some."""
    gone = (rng.random(X.shape) < share) & ~np.isnan(X)
    for i in np.flatnonzero((np.isnan(X) | gone).all(axis=1)):
        gone[i, rng.choice(np.flatnonzero(~np.isnan(X[i])))] = False
    for k in np.flatnonzero((np.isnan(X) | gone).all(axis=0)):
        gone[rng.choice(np.flatnonzero(~np.isnan(X[:, k])), 2), k] = False
    return np.where(gone, np.nan, X), gone


def peer(make, holed, cells, rng):
    """Guesses and deviations of a peer at some cells, from standardised columns."""
    mean, scale = np.nanmean(holed, axis=0), np.nanstd(holed, axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    unit = (holed - mean) / scale
    filled = make.fit_transform(unit)
    fewer, hidden = remove(unit, 0.1, rng)
    errors = np.where(hidden, make.fit_transform(fewer) - unit, np.nan)
    whole = np.nanmean(errors**2)
    count = hidden.sum(axis=0)
    # One column's few errors, and those of all columns as one more.
    variance = (np.nansum(errors**2, axis=0) + whole) / (count + 1)
    i, k = cells
    return mean[k] + scale[k] * filled[i, k], scale[k] * np.sqrt(variance[k])


def gaussian(value, guess, deviation):
    return -0.5 * ((value - guess) / deviation) ** 2 - np.log(deviation * np.sqrt(2 * np.pi))


def density(params, seed, holed, X, cells):
    """ln p, guess and interval of a density at some cells."""
    i, k = cells
    model = UPoE(random_state=seed, **params).fit(holed)
    rows, at = np.unique(i, return_inverse=True)
    without = model.score_present(holed[rows])[0][at]
    known = holed[i].copy()
    known[np.arange(len(i)), k] = X[i, k]
    ln_p = model.score_present(known)[0] - without
    found = model.impute(holed[rows], interval=0.9)
    return ln_p, found.values[at, k], found.low[at, k], found.high[at, k], model.n_experts_


def run(X, share, seed, before):
    """The figures of all methods; those that `before` has are not measured again."""
    rng = np.random.default_rng(seed)
    holed, gone = remove(X, share, rng)
    places = np.argwhere(gone)
    cells = tuple(places[rng.choice(len(places), min(CELLS, len(places)), replace=False)].T)
    i, k = cells
    truth, unit = X[i, k], X.std(axis=0)[k]
    results = {}
    for name in [*PEERS, *OURS]:
        if name in before:
            results[name] = before[name]
            continue
        began, experts = time.process_time(), None
        with quiet():
            if name in PEERS:
                hide = np.random.default_rng([seed, 1])  # other cells than those that are gone
                guess, deviation = peer(PEERS[name](seed), holed, cells, hide)
                ln_p = gaussian(truth, guess, deviation)
                low, high = guess - Z90 * deviation, guess + Z90 * deviation
            else:
                ln_p, guess, low, high, experts = density(OURS[name], seed, holed, X, cells)
        results[name] = {
            "ln_p": float(np.mean(ln_p + np.log(unit))),
            "rmse": float(np.sqrt(np.mean(((guess - truth) / unit) ** 2))),
            "coverage": float(np.mean((low <= truth) & (truth <= high))),
            "experts": experts,
            "processor": time.process_time() - began,
        }
    return results


def main():
    wanted, path = os.environ.get("UPOE_IMPUTE"), RESULTS / "impute.json"
    more = bool(os.environ.get("UPOE_MORE"))
    sets = json.loads(path.read_text())["sets"] if (wanted or more) and path.exists() else {}
    chosen = [name for name in wanted.split(",") if name in SETS] if wanted else list(SETS)
    tables = {name: np.asarray(SETS[name](), dtype=float) for name in chosen}
    for name, X in tables.items():
        shares = sets[name]["shares"] if more and name in sets else {str(share): [] for share in SHARES}
        sets[name] = {"rows": len(X), "columns": X.shape[1], "shares": shares}
    for seed, (name, X), share in itertools.product(SEEDS, tables.items(), SHARES):
        runs = sets[name]["shares"][str(share)]
        before = runs[seed] if len(runs) > seed else {}
        if all(method in before for method in [*PEERS, *OURS]):
            continue
        results = run(X, share, seed, before)
        runs[seed : seed + 1] = [results]
        line = "; ".join(f"{m} {r['ln_p']:.3f} {r['rmse']:.3f} {r['coverage']:.2f} {r['processor']:.1f}s" for m, r in results.items())
        say(f"{name} {share} {seed}: {line}")
        done = {name: sets[name] for name in SETS if name in sets and all(sets[name]["shares"].values())}
        save("impute", {"cells": CELLS, "seeds": len(SEEDS), "sets": done})


if __name__ == "__main__":
    main()
