"""Which column is blamed after one of them is shifted by three standard deviations.

Models are fitted to half of the rows; of the other half every row is shifted in one column, up or down, and the
column with the largest blame of `UPoE.surprises` is blamed. The peer is the conditional residual of a Gaussian
over its deviation, as a linear regression of each column on all others gives it. Both see the same rows.

    python bench/blame.py
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np
from sklearn import datasets

from upoe import UPoE

CRABS = Path(__file__).parent.parent / "crates/upoe/tests/data/crabs.csv"


def sets() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    mixing = rng.normal(size=(8, 8))
    return {
        "Crabs": np.genfromtxt(CRABS, delimiter=",", skip_header=1, usecols=range(4, 9)),
        "wine": datasets.load_wine().data,
        "breast cancer": datasets.load_breast_cancer().data,
        "diabetes": datasets.load_diabetes().data,
        "iris": datasets.load_iris().data,
        "20 independent columns": rng.normal(size=(2000, 20)),
        "8 Laplace sources, mixed": rng.laplace(size=(2000, 8)) @ mixing,
        "8 t sources (nu = 3), mixed": rng.standard_t(3, size=(2000, 8)) @ mixing,
    }


def shifted(rows: np.ndarray, deviations: np.ndarray, seed: int, most: int):
    """Rows, each shifted in one column, and which."""
    rng = np.random.default_rng(seed)
    varying = np.flatnonzero(deviations > 0)
    chosen = rng.choice(len(rows), size=min(most, len(rows)), replace=False)
    odd = rows[chosen].copy()
    column = rng.choice(varying, size=len(odd))
    sign = rng.choice([-3.0, 3.0], size=len(odd))
    odd[np.arange(len(odd)), column] += sign * deviations[column]
    return odd, column


def residuals(train: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """|x − conditional mean| / conditional deviation under a Gaussian."""
    precision = np.linalg.pinv(np.cov(train.T))
    diagonal = np.sqrt(np.clip(np.diag(precision), 1e-300, None))
    return np.abs((rows - train.mean(axis=0)) @ precision) / diagonal


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--rows", type=int, default=200, help="shifted rows per seed at most")
    args = parser.parse_args()
    print("| set | rows × columns | blamed: ours | by surprise alone | Gaussian residual | difference |")
    print("|---|---|---|---|---|---|")
    worst = 1.0
    for name, X in sets().items():
        ours, tails, gaussian, start = [], [], [], time.perf_counter()
        for seed in range(args.seeds):
            order = np.random.default_rng(100 + seed).permutation(len(X))
            train, test = X[order[: len(X) // 2]], X[order[len(X) // 2 :]]
            odd, column = shifted(test, train.std(axis=0), seed, args.rows)
            found = UPoE(random_state=seed).fit(train).surprises(odd)
            ours += list(np.argmax(np.nan_to_num(found.blame, nan=-1.0), axis=1) == column)
            tails += list(np.argmin(np.nan_to_num(found.surprise, nan=2.0), axis=1) == column)
            gaussian += list(np.argmax(residuals(train, odd), axis=1) == column)
        a, t, b = np.mean(ours), np.mean(tails), np.mean(gaussian)
        worst = min(worst, a - b)
        print(f"| {name} | {len(X)} × {X.shape[1]} | {a:.1%} | {t:.1%} | {b:.1%} | {100 * (a - b):+.1f} |")
        print(f"{name}: {time.perf_counter() - start:.0f} s", file=sys.stderr, flush=True)
    print(f"\nThe worst difference is {100 * worst:+.1f} points.")
    return 0 if worst >= -0.01 else 1


if __name__ == "__main__":
    sys.exit(main())
