"""Groups: the adjusted Rand index of the default fit next to a Gaussian mixture chosen by BIC.

Prints the table of docs/answers.md. Data sets: Crabs (five lengths; species x sex), those of
scikit-learn, and planted ones. The mixture has 1 to 10 components with full covariances, once over the
columns as they are and once standardised; `types` lets BIC choose the kind of covariance, too.
"""

import csv

import numpy as np
from common import quiet, save, say
from sklearn import datasets, metrics, mixture
from upoe import UPoE


def crabs():
    with open("crates/upoe-cli/data/crabs.csv") as file:
        rows = list(csv.DictReader(file))
    X = [[float(row[name]) for name in ("FL", "RW", "CL", "CW", "BD")] for row in rows]
    return np.array(X), np.array([row["sp"] + row["sex"] for row in rows])


def plane(rng):
    """Four groups in a plane of 12 correlated columns."""
    y = rng.integers(4, size=800)
    X = rng.normal(size=(800, 12)) * np.r_[1, 1, [5] * 10]
    X[:, :2] += np.array([[0, 0], [0, 6], [6, 0], [6, 6]])[y]
    return X @ rng.normal(size=(12, 12)), y


def skewed(rng):
    """Three skewed groups with heavy tails in 6 columns."""
    y = rng.choice(3, 700, p=[0.4, 0.35, 0.25])
    return 5 * rng.normal(size=(3, 6))[y] + rng.gamma(2, 1, size=(700, 6)) + 0.5 * rng.standard_t(4, size=(700, 6)), y


def unequal(rng):
    """Three groups of 60, 30 and 10 % in 10 columns."""
    y = rng.choice(3, 600, p=[0.6, 0.3, 0.1])
    return 2 * rng.normal(size=(3, 10))[y] + rng.normal(size=(600, 10)), y


def sets():
    yield "crabs", *crabs()
    for name in ("wine", "iris", "breast_cancer"):
        yield name.replace("_", " "), *getattr(datasets, f"load_{name}")(return_X_y=True)
    for make in (plane, skewed, unequal):
        yield f"planted: {make.__name__}", *make(np.random.default_rng(0))


def by_bic(X, types):
    fits = [
        mixture.GaussianMixture(k, covariance_type=kind, n_init=3, random_state=0).fit(X)
        for kind in types
        for k in range(1, 11)
    ]
    return min(fits, key=lambda fit: fit.bic(X)).predict(X)


def main():
    rows = []
    for name, X, y in sets():
        with quiet():
            model = UPoE().fit(X)
            Z = (X - X.mean(0)) / X.std(0)
            found = {
                "upoe": model.predict(X),
                "GMM": by_bic(X, ["full"]),
                "GMM, standardised": by_bic(Z, ["full"]),
                "GMM, types": by_bic(X, ["full", "tied", "diag", "spherical"]),
            }
        scores = {method: metrics.adjusted_rand_score(y, labels) for method, labels in found.items()}
        counts = {method: len(set(labels)) for method, labels in found.items()}
        rows.append({"set": name, "scores": scores, "groups": counts})
        say(name, ", ".join(f"{m} {s:.3f} ({counts[m]})" for m, s in scores.items()))
    without = [row["scores"] for row in rows if row["set"] != "crabs"]
    means = {method: float(np.mean([row[method] for row in without])) for method in without[0]}
    say("mean without crabs:", ", ".join(f"{m} {s:.3f}" for m, s in means.items()))
    save("groups", {"sets": rows, "means": means})


if __name__ == "__main__":
    main()
