"""Missing cells: how much of the gain of a fit is left.

20 % of the cells of the training rows are removed at random. The fit is judged by ln p of complete held-out rows, a
quarter of the table, over that of the Gaussian of the complete training rows.
"""

import numpy as np
from common import quiet, save, say
from impute import SETS, remove
from upoe import UPoE

SEEDS = range(8)
SHARE = 0.2
TABLES = ["crabs", "wine"]


def run(X, seed):
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(X))
    held, train = X[order[: len(X) // 4]], X[order[len(X) // 4 :]]
    holed, _ = remove(train, SHARE, rng)
    whole = holed[~np.isnan(holed).any(axis=1)]
    fits = {
        "Gaussian": (train, dict(n_experts=0)),
        "complete": (train, {}),
        "missing, Gaussian": (holed, dict(n_experts=0)),
        "missing": (holed, {}),
        "dropped": (whole, {}),
        "complete, best": (train, dict(quality="best")),
        "missing, best": (holed, dict(quality="best")),
        # As many numbers as are left, in whole rows.
        "fewer": (train[: round((1 - SHARE) * len(train))], {}),
    }
    found = {"rows left": len(whole)}
    for name, (rows, params) in fits.items():
        with quiet():
            model = UPoE(random_state=seed, **params).fit(rows)
            mean = float(np.mean(model.score_samples(held)))
        # Rows of a degenerate fit have no density outside its subspace.
        found[name] = {"ln_p": mean if np.isfinite(mean) else None, "experts": model.n_experts_}
    return found


def main():
    sets = {}
    for name in TABLES:
        X = np.asarray(SETS[name](), dtype=float)
        runs = []
        for seed in SEEDS:
            runs.append(run(X, seed))
            line = "; ".join(f"{m} {r['ln_p']} ({r['experts']})" for m, r in runs[-1].items() if isinstance(r, dict))
            say(f"{name} {seed}: {line}")
        sets[name] = {"rows": len(X) - len(X) // 4, "columns": X.shape[1], "runs": runs}
    save("kept", {"share": SHARE, "seeds": len(SEEDS), "sets": sets})


if __name__ == "__main__":
    main()
