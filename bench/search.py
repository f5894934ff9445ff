"""Section 7: does the default fit find what is plainly there, whatever the seed?

Tables with planted directions, mixed by a random matrix. A fit must reach the gain that the planted
directions have by themselves, to 0.001 nats or 1 %, wherever that gain is more than twice what
Gaussian rows of this size reach in 5 % of samples.

`UPOE_SEARCH=quick` takes a few of the tables.
"""

import os

import numpy as np
from common import save, say, timed
from upoe import UPoE, detectable

DIMS = [5, 20, 50]
ROWS = [1_000, 10_000, 50_000]
SEEDS = range(10)


def two_groups(rng, n):
    return rng.choice([-1.5, 1.5], (n, 1)) + rng.normal(size=(n, 1))


def three_groups(rng, n):
    return rng.choice([-1.2, 0.0, 1.2], (n, 1)) + 0.2 * rng.normal(size=(n, 1))


def scale_mixture(rng, n):
    return rng.normal(size=(n, 1)) * rng.choice([0.5, 2.0], (n, 1))


def plane(rng, n):
    """Three groups, six standard deviations apart, in a plane."""
    angle = 2 * np.pi * rng.integers(3, size=n) / 3
    corners = 6 / np.sqrt(3) * np.c_[np.cos(angle), np.sin(angle)]
    return corners + rng.normal(size=(n, 2))


def several(rng, n):
    return np.hstack([
        rng.standard_t(3, (n, 1)), rng.laplace(size=(n, 1)), two_groups(rng, n),
        rng.exponential(size=(n, 1)),
    ])


SHAPES = {
    "Student-t, 3 degrees of freedom": lambda rng, n: rng.standard_t(3, (n, 1)),
    "Laplace": lambda rng, n: rng.laplace(size=(n, 1)),
    "two groups": two_groups,
    "three groups": three_groups,
    "uniform": lambda rng, n: rng.uniform(size=(n, 1)),
    "exponential": lambda rng, n: rng.exponential(size=(n, 1)),
    "scale mixture": scale_mixture,
    "groups in a plane": plane,
    "several": several,
}


def table(shape, n, d):
    """Mixed rows, and the planted sources."""
    rng = np.random.default_rng([n, d, sum(shape.encode())])
    sources = SHAPES[shape](rng, n)
    noise = rng.normal(size=(n, d - sources.shape[1]))
    return np.hstack([sources, noise]) @ rng.normal(size=(d, d)), sources


def planted(shape, sources):
    """The gains of the planted directions by themselves."""
    if shape == "groups in a plane":
        return UPoE(n_experts=2).fit(sources).gains_
    alone = [UPoE(n_experts=1).fit(sources[:, [k]]).gains_[0] for k in range(sources.shape[1])]
    return np.sort(alone)[::-1]


def one(shape, n, d, seeds):
    """What fits with these seeds find, and whether it is enough."""
    rows, sources = table(shape, n, d)
    truth = planted(shape, sources)
    visible = truth[truth > 2 * detectable(n, d)["noise"]]
    due = float(visible.sum())
    fits = [timed(lambda seed=seed: UPoE(random_state=seed).fit(rows)) for seed in seeds]
    found = [float(np.sort(fit.gains_)[::-1][: len(visible)].sum()) for _, fit in fits]
    enough = [gain >= due - max(1e-3, 0.01 * due) for gain in found]
    return {
        "shape": shape, "rows": n, "dims": d, "due": due, "visible": len(visible),
        "planted": len(truth), "found": found, "enough": enough,
        "experts": [len(fit.gains_) for _, fit in fits],
        "seconds": float(np.median([seconds for seconds, _ in fits])),
    }


def main():
    quick = os.environ.get("UPOE_SEARCH") == "quick"
    sizes = [(1_000, 5), (1_000, 20), (10_000, 20)] if quick else [(n, d) for n in ROWS for d in DIMS]
    seeds = list(SEEDS)[:3] if quick else list(SEEDS)
    results = []
    for n, d in sizes:
        for shape in SHAPES:
            result = one(shape, n, d, seeds)
            results.append(result)
            spread = max(result["found"]) - min(result["found"])
            say(
                f"search: {n} x {d}, {shape}: due {result['due']:.4f} ({result['visible']} of"
                f" {result['planted']}), found {min(result['found']):.4f} + {spread:.4f},"
                f" {sum(result['enough'])} of {len(seeds)}, experts {result['experts']}, {result['seconds']:.2f} s"
            )
    if not quick:
        save("search", {"tables": results, "seeds": len(seeds)})


if __name__ == "__main__":
    main()
