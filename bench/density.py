"""Section 4: density estimators on the same sphered rows, scored on rows held out.

GaussianMixture and KernelDensity get the number of components and the bandwidth that do best on
the held-out rows themselves, which flatters them; their times are those of that one choice.
"""

import numpy as np
from common import measure, save, say, timed
from data import folder, frey, patches, sphering, synthetic
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import KernelDensity
from upoe import UPoE

COMPONENTS = [1, 2, 4, 8, 16]
BANDWIDTHS = [0.4, 0.6, 0.8, 1.0, 1.2, 1.5]


def split_patches():
    """8 × 8 patches: 10,000 of images 1–11, and 1,000 of images 12 and 13."""
    rows = [patches(range(1, 12), 8, 10_000, seed=3), patches([12, 13], 8, 1_000, seed=4)]
    return *(r - r.mean(axis=1, keepdims=True) for r in rows), 63


def split_frey():
    """The paper's split: 1000 faces, and the 965 others."""
    rows, dims = frey()
    train = np.loadtxt(folder() / "frey/train_rows.txt", dtype=int)
    return rows[train], np.delete(rows, train, axis=0), dims


def split_synthetic():
    rows, dims = synthetic()
    return rows[:10_000], rows[10_000:11_000], dims


SETS = {"patches": split_patches, "Frey faces": split_frey, "synthetic": split_synthetic}


def best(make, choices, train, held):
    """The estimator of the choice that does best on the held-out rows."""
    scores = {}
    for choice in choices:
        scores[choice] = timed(lambda: make(choice).fit(train).score_samples(held).mean())[1]
    chosen = max(scores, key=scores.get)
    return f"{chosen}", lambda: make(chosen)


def estimators(train, held):
    """Name → (setting, function that makes the estimator)."""
    few = [k for k in COMPONENTS if k * train.shape[1] < len(train)]

    def mixture(k):
        return GaussianMixture(k, random_state=0, reg_covar=1e-3)

    def kernels(bandwidth):
        return KernelDensity(bandwidth=bandwidth)

    return {
        "upoe": ("default", UPoE),
        "upoe, Student-t": ("family", lambda: UPoE(family="student-t")),
        "GaussianMixture": best(mixture, few, train, held),
        "KernelDensity": best(kernels, BANDWIDTHS, train, held),
    }


def main():
    results = {}
    for name, make in SETS.items():
        if name != "synthetic" and not folder():
            say(f"density: {name} skipped; set UPOE_DATA to the folder of the paper's data")
            continue
        train, held, dims = make()
        mean, matrix = sphering(train, dims)
        train, held = (train - mean) @ matrix.T, (held - mean) @ matrix.T
        say(f"density: {name}, {len(train)} rows, {len(held)} held out, {dims} dimensions")
        rows = []
        for title, (setting, make_estimator) in estimators(train, held).items():
            fit, model = measure(lambda: make_estimator().fit(train))
            score, values = measure(lambda: model.score_samples(held))
            row = {"estimator": title, "setting": setting, "fit": fit, "score": score}
            row["held"] = float(values.mean())
            row["standard_error"] = float(values.std() / np.sqrt(len(held)))
            say(f"  {title}: fit {fit['median']:.2f} s, held-out ln p {row['held']:.3f}")
            rows.append(row)
        results[name] = {"rows": len(train), "held_rows": len(held), "dims": dims, "estimators": rows}
    save("density", {"sets": results})


if __name__ == "__main__":
    main()
