"""Section 6: rows per second of `score_samples`, against GaussianMixture at equal dimensions."""

import numpy as np
from common import measure, quiet, save, say
from sklearn.mixture import GaussianMixture
from upoe import UPoE

ROWS = 100_000


def scorers(train):
    """Fitted models; how well they fit does not matter here."""
    dims = train.shape[1]
    hasty = {"family": "student-t", "n_starts": 1, "tol": 0.1, "max_iter": 3}
    yield "upoe, 10 experts", UPoE(10, **hasty)
    if dims > 10:
        yield f"upoe, {dims} experts", UPoE(dims, learner="parallel", parallel_start="random", **hasty)
    for k in (1, 10):
        yield f"GaussianMixture, {k} component{'s' * (k > 1)}", GaussianMixture(k, max_iter=2, random_state=0)


def main():
    results = []
    for dims in (10, 50, 200):
        rows = np.random.default_rng(0).standard_t(5, size=(ROWS, dims))
        for name, model in scorers(rows[:5000]):
            with quiet():
                model.fit(rows[:5000])
            timing, _ = measure(lambda: model.score_samples(rows), runs=7)
            speed = ROWS / timing["median"]
            say(f"scoring: {dims} dimensions, {name}: {speed:,.0f} rows per second")
            results.append({"dims": dims, "model": name, "rows_per_second": speed, **timing})
    save("scoring", {"rows": ROWS, "results": results})


if __name__ == "__main__":
    main()
