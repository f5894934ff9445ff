"""The section of docs/benchmarks.md about missing cells."""

import numpy as np
from page import table, verdict

OURS = "ours"
TABLES = ["crabs", "Frey", "wine", "breast cancer", "diabetes", "digits"]


def means(runs, figure):
    """The mean of a figure over the runs, by method."""
    return {name: float(np.mean([run[name][figure] for run in runs])) for name in runs[0]}


def impute_section(result):
    rows, best, close, inside, losses = [], 0, 0, 0, []
    for name, data in result["sets"].items():
        wins, near = True, True
        for share, runs in data["shares"].items():
            ln_p, rmse, coverage = (means(runs, figure) for figure in ("ln_p", "rmse", "coverage"))
            top, low = max(ln_p, key=ln_p.get), min(rmse, key=rmse.get)
            peers = min(value for method, value in rmse.items() if method != OURS)
            here = f"{name}, {float(share):.0%}"
            if top != OURS:
                wins = False
                losses.append(f"{here}: {top} has {ln_p[top] - ln_p[OURS]:.3f} nats more")
            if rmse[OURS] > 1.02 * peers:
                near = False
                losses.append(f"{here}: the RMSE is {rmse[OURS] / peers:.2f} times that of {low}")
            covered = 0.85 <= coverage[OURS] <= 0.95
            inside += covered
            if not covered:
                losses.append(f"{here}: intervals of 90 % hold {coverage[OURS]:.0%}")
            bold = lambda shown, is_best: f"**{shown}**" if is_best else shown  # noqa: E731
            for k, method in enumerate(ln_p):
                seconds = float(np.median([run[method]["seconds"] for run in runs]))
                rows.append([
                    f"{here} of {data['rows']} × {data['columns']}" if k == 0 else "", method,
                    bold(f"{ln_p[method]:.3f}", method == top), bold(f"{rmse[method]:.3f}", method == low),
                    f"{coverage[method]:.0%}", f"{seconds:.2g} s",
                ])
        best, close = best + wins, close + near
    sets = len(result["sets"])
    absent = [name for name in TABLES if name not in result["sets"]]
    cases = sum(len(data["shares"]) for data in result["sets"].values())
    return (
        f"Cells are removed at random, with {result['seeds']} seeds each. Every method learns from what is left, and is asked "
        f"about {result['cells']} removed values per seed: the mean ln p of the value, given what is left of its row; the RMSE "
        "of the best guess; how many values lie in intervals of 90 %. Columns are in deviations of the whole table. "
        "Frey is the faces' 50 widest axes, sphered; of Frey and digits, 500 rows at even distances are taken, because "
        "all methods together take too long on all. Mean, k nearest (`KNNImputer`) and iterative (`IterativeImputer`, the "
        "columns standardised) have scikit-learn's defaults and a Gaussian around their guess, whose variance is that of "
        "their errors at a further 10 % of the cells. Gaussian is our fit without experts, ours the default fit. "
        "Times include learning, and ran beside other programs."
        + (f" {', '.join(absent)}: not measured yet." if absent else "") + "\n\n"
        + table(["set", "method", "ln p", "RMSE", "in 90 %", "time"], rows)
        + f"\nGoal, ours has the best ln p on every set: {verdict(best == len(TABLES))} ({best} of {sets} measured). Goal, an RMSE of at most "
        f"1.02 times the best peer's on at least four of six: {verdict(close >= 4)} ({close} of {sets} measured). Goal, 85 to 95 % in "
        f"intervals of 90 %: {verdict(inside == cases)} ({inside} of {cases}).\n"
        + ("\nLosses: " + "; ".join(losses) + ".\n" if losses else "")
    )
