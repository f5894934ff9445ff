"""Odd rows: how well they are found, how long a fit takes, and whether thresholds keep their promise.

Tables of ADBench in `UPOE_DATA`/adbench (X, y; tables of more than 10,000 rows are the first 10,000 of
`default_rng(0).permutation(n)`). Every method is fitted to all rows without labels and scores the same rows.
`--sets cardio,wine` measures some of them."""

import argparse
import time

import numpy as np
from common import quiet, save, say
from data import folder
from sklearn.covariance import EllipticEnvelope
from sklearn.ensemble import IsolationForest
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import LocalOutlierFactor
from upoe import UPoEDetector


class Copod:
    """COPOD, and its sibling ECOD: empirical tails of the columns alone (Li et al. 2020, 2022), as pyod has them."""

    def __init__(self, kind):
        self.kind = kind

    def fit(self, X):
        from pyod.models.copod import COPOD
        from pyod.models.ecod import ECOD

        self.model = (COPOD if self.kind == "COPOD" else ECOD)()
        self.model.fit(X)
        return self

    def score_samples(self, X):
        return -self.model.decision_scores_


class Lof:
    """Local outlier factor with scikit-learn's defaults."""

    def fit(self, X):
        self.scores = LocalOutlierFactor().fit(X).negative_outlier_factor_
        return self

    def score_samples(self, X):
        return self.scores


METHODS = {
    "upoe": lambda: UPoEDetector(),
    "upoe, −ln p": lambda: UPoEDetector(method="density"),
    "IsolationForest": lambda: IsolationForest(random_state=0),
    "EllipticEnvelope": lambda: EllipticEnvelope(random_state=0),
    "COPOD": lambda: Copod("COPOD"),
    "ECOD": lambda: Copod("ECOD"),
    "LOF": lambda: Lof(),
    "GaussianMixture": lambda: GaussianMixture(4, reg_covar=1e-3, random_state=0),
}
STANDARDISED = ("EllipticEnvelope", "LOF", "GaussianMixture")
# Runs of the two whose times are compared; of the others one.
RUNS = {"upoe": 3, "IsolationForest": 3}


def tables(names):
    """Name, rows and labels of each table."""
    for path in sorted((folder() / "adbench").glob("*.npz")):
        if not names or path.stem in names:
            with np.load(path, allow_pickle=True) as table:
                yield path.stem, np.asarray(table["X"], float), np.asarray(table["y"]).ravel()


def standardised(X):
    spread = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)


def detection(names, methods):
    """AUC, average precision and seconds of the processor of each method on each table."""
    sets = {}
    for name, X, y in tables(names):
        row = {}
        for method in methods:
            given = standardised(X) if method in STANDARDISED else X
            seconds = []
            for _ in range(RUNS.get(method, 1)):
                model, began = METHODS[method](), time.process_time()
                with quiet():
                    model.fit(given)
                seconds.append(time.process_time() - began)
                if seconds[-1] > 5:
                    break
            scores = -np.asarray(model.score_samples(given))
            scores = np.nan_to_num(scores, posinf=1e300, neginf=-1e300)
            row[method] = {
                "auc": roc_auc_score(y, scores),
                "ap": average_precision_score(y, scores),
                "seconds": float(np.median(seconds)),
            }
        sets[name] = {"rows": len(X), "columns": X.shape[1], "odd": float(y.mean()), "methods": row}
        say(name, {m: f"{r['auc']:.3f}/{r['ap']:.3f} {r['seconds']:.2f}s" for m, r in row.items()})
    return sets


def attribution(names):
    """The largest difference between the oddness of a row and the sum of its parts, both ways."""
    worst = 0.0
    for _, X, _ in tables(names):
        with quiet():
            detector = UPoEDetector().fit(X)
        rows = X[:: max(1, len(X) // 500)]
        parts, oddness = detector.explain(rows), -detector.score_samples(rows)
        by_column = parts.base + parts.columns.sum(axis=1)
        by_direction = parts.base + parts.directions.sum(axis=1) + parts.rest + parts.alone.sum(axis=1)
        worst = max(worst, *(np.abs(total - oddness).max() for total in (by_column, by_direction)))
    return float(worst)


def far_value():
    """AUC on cardio with and without one value of 1e15, in each of twenty cells."""
    ((_, X, y),) = tables(["cardio"])
    with quiet():
        plain = roc_auc_score(y, -UPoEDetector().fit(X).score_samples(X))
        changes = []
        rng = np.random.default_rng(0)
        others = zip(rng.integers(len(X), size=16), rng.integers(X.shape[1], size=16))
        for row, column in ((0, 0), (100, 5), (1700, 12), (9, 20), *others):
            far = X.copy()
            far[row, column] = 1e15
            changes.append(abs(roc_auc_score(y, -UPoEDetector().fit(far).score_samples(far)) - plain))
    return {"auc": plain, "largest_change": max(changes)}


def masking(names, draws=3):
    """Recall of rows shifted by 6 deviations in one column, 3 % of the clean rows of each table, with
    contamination = 0.03 for both."""
    found = {"upoe": [], "EllipticEnvelope": []}
    for name, X, y in tables(names):
        clean = standardised(X[y == 0][:2000])
        clean = clean[:, clean.std(axis=0) > 0]
        for draw in range(draws):
            rng = np.random.default_rng([draw, len(clean)])
            rows, count = clean.copy(), round(0.03 * len(clean))
            if count == 0:
                continue
            shifted = rng.permutation(len(rows))[:count]
            rows[shifted, rng.integers(rows.shape[1], size=count)] += 6.0
            with quiet():
                ours = UPoEDetector(contamination=0.03).fit(rows).predict(rows)
                theirs = EllipticEnvelope(contamination=0.03, random_state=0).fit(rows).predict(rows)
            found["upoe"].append(float((ours[shifted] == -1).mean()))
            found["EllipticEnvelope"].append(float((theirs[shifted] == -1).mean()))
    return {name: float(np.mean(recall)) for name, recall in found.items()}


def gaussian_masking(draws=20):
    """The same on correlated Gaussian rows, 1,000 × 10."""
    found = {"upoe": [], "EllipticEnvelope": []}
    for draw in range(draws):
        rng = np.random.default_rng(draw)
        rows = standardised(rng.normal(size=(1000, 10)) @ rng.normal(size=(10, 10)))
        rows[:30, rng.integers(10)] += 6.0
        with quiet():
            ours = UPoEDetector(contamination=0.03).fit_predict(rows)
            theirs = EllipticEnvelope(contamination=0.03, random_state=0).fit_predict(rows)
        found["upoe"].append(float((ours[:30] == -1).mean()))
        found["EllipticEnvelope"].append(float((theirs[:30] == -1).mean()))
    return {name: float(np.mean(recall)) for name, recall in found.items()}


def false_alarms(names, draws=5):
    """False alarms at 1 % and 5 % on clean rows held out (half of each table's), mean over sets: our
    conformal threshold, and the tail of the density."""
    rates = {}
    for name, X, y in tables(names):
        clean = X[y == 0]
        if len(clean) < 200:
            continue
        found = []
        for draw in range(draws):
            order = np.random.default_rng(draw).permutation(len(clean))
            half = len(clean) // 2
            with quiet():
                detector = UPoEDetector().fit(clean[order[:half]])
                p = detector.p_values(clean[order[half:]])
            found.append([float((p <= alpha).mean()) for alpha in (0.01, 0.05)])
        rates[name] = np.mean(found, axis=0).tolist()
        say("false alarms", name, [f"{100 * r:.2f} %" for r in rates[name]])
    return rates


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--sets", default="")
    arguments.add_argument("--methods", default="")
    given = arguments.parse_args()
    names = [name for name in given.sets.split(",") if name]
    methods = [m for m in given.methods.split(";") if m] or list(METHODS)
    result = {
        "sets": detection(names, methods),
        "attribution": attribution(names),
        "far_value": far_value(),
        "masking": masking(names),
        "gaussian_masking": gaussian_masking(),
        "false_alarms": false_alarms(names),
    }
    say({key: value for key, value in result.items() if key not in ("sets", "false_alarms")})
    save("outliers", result)


if __name__ == "__main__":
    main()
