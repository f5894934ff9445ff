"""Thresholds of the detector: false alarms on fresh clean rows, and what contaminated training rows do.

`python reliability/alarms.py` writes the section (`--share 0.1` makes a tenth of the draws);
`test_alarms.py` is its quick form."""

import argparse
import os
import warnings
from concurrent.futures import ProcessPoolExecutor
from itertools import product, repeat

import common
import numpy as np
from upoe import UPoEDetector

ROWS = (100, 300, 1000)
COLUMNS = (2, 5, 10, 20, 50)
ALPHAS = (0.01, 0.05)
DRAWS = 500
FRESH = 1000
SHARES = (0.0, 0.01, 0.03, 0.05, 0.1)


def alarms(rows, columns, draws):
    """False alarms on fresh Gaussian rows at each alpha, and the share of training rows with a p-value below it."""
    fresh, training = [], []
    for draw in range(draws):
        rng = np.random.default_rng([draw, rows, columns])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            detector = UPoEDetector().fit(rng.normal(size=(rows, columns)))
        p = detector.p_values(rng.normal(size=(FRESH, columns)))
        fresh.append([(p <= alpha).mean() for alpha in ALPHAS])
        training.append([(detector.training_p_values_ <= alpha).mean() for alpha in ALPHAS])
    return np.mean(fresh, axis=0), np.mean(training, axis=0)


def contaminated(share, draws, rows=1000, columns=6):
    """Training rows of which a share is shifted by 6 deviations in one column: false alarms among clean fresh rows and
    shifted fresh rows found at alpha = 0.01; training rows with p ≤ 0.01, clean and shifted; clean training rows called
    odd by contamination = 0.05."""
    figures = []
    for draw in range(draws):
        rng = np.random.default_rng([draw, 7])
        mixing = rng.normal(size=(columns, columns))

        def make(n, odd):
            made = rng.normal(size=(n, columns)) @ mixing
            made[np.arange(odd), rng.integers(columns, size=odd)] += 6 * np.sqrt((mixing**2).sum(axis=0).mean())
            return made

        odd = round(share * rows)
        X, clean, shifted = make(rows, odd), make(FRESH, 0), make(FRESH, FRESH)
        detector = UPoEDetector(alpha=0.01).fit(X)
        called = UPoEDetector(contamination=0.05).fit_predict(X) == -1
        small = detector.training_p_values_ <= 0.01
        figures.append([
            (detector.predict(clean) == -1).mean(), (detector.predict(shifted) == -1).mean(),
            small[odd:].mean(), small[:odd].mean() if odd else np.nan, called[odd:].mean(),
        ])
    return np.mean(figures, axis=0)


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--share", type=float, default=1.0, help="of the draws")
    draws = max(2, round(options.parse_args().share * DRAWS))
    percent = lambda x: "–" if np.isnan(x) else f"{100 * x:.2f} %"
    fresh, training = [], []
    with ProcessPoolExecutor(int(os.environ.get("WORKERS", os.cpu_count()))) as pool:
        found = pool.map(alarms, *zip(*product(ROWS, COLUMNS), strict=True), repeat(draws))
        cells = dict(zip(product(ROWS, COLUMNS), found, strict=True))
        found = pool.map(contaminated, SHARES, repeat(max(2, draws // 10)))
        shifted = [[percent(share), *map(percent, figures)] for share, figures in zip(SHARES, found, strict=True)]
    for n in ROWS:
        found = {d: cells[n, d] for d in COLUMNS}
        for k, alpha in enumerate(ALPHAS):
            judged = lambda x: percent(x) if 0.8 * alpha <= x <= 1.2 * alpha else f"**{percent(x)}**"
            fresh.append([f"{n:,}", f"{100 * alpha:.0f} %", *(judged(found[d][0][k]) for d in COLUMNS)])
            training.append([f"{n:,}", f"{100 * alpha:.0f} %", *(percent(found[d][1][k]) for d in COLUMNS)])
    head = ["training rows", "alpha", *(f"{d} columns" for d in COLUMNS)]
    common.write(
        "alarms",
        "Thresholds of the detector",
        "make reliability SECTION=alarms",
        [
            f"`UPoEDetector` fitted to Gaussian rows, {draws} draws per cell, {FRESH:,} fresh rows each. Where a share is "
            "more than 20 % off alpha, it is bold.",
            "Contaminated training rows raise the conformal threshold: fewer rows are called odd, not more. The tail that "
            "judges training rows sees only those up to the 90 % point. `contamination` calls a share of the rows odd, clean "
            "ones where there are no others.",
        ],
        [
            {"caption": "Fresh rows called odd: the conformal threshold.", "columns": head, "rows": fresh},
            {"caption": "Training rows with a p-value of at most alpha: the fitted tail.", "columns": head, "rows": training},
            {
                "caption": "1,000 × 6 correlated Gaussian training rows, some shifted by 6 deviations in one column, alpha = 1 %.",
                "columns": [
                    "shifted training rows", "clean fresh rows called odd", "shifted fresh rows found",
                    "clean training rows, p ≤ 0.01", "shifted training rows, p ≤ 0.01",
                    "clean training rows called odd by contamination = 0.05",
                ],
                "rows": shifted,
            },
        ],
    )


if __name__ == "__main__":
    main()
