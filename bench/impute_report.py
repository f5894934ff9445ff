"""The section of docs/benchmarks.md about missing cells."""

import numpy as np
from page import table, verdict

OURS = ["ours", "ours, best"]
TABLES = ["crabs", "Frey", "wine", "breast cancer", "diabetes", "digits"]


def means(runs, figure):
    """The mean of a figure over the runs, by method."""
    return {name: float(np.mean([run[name][figure] for run in runs])) for name in runs[0]}


def whole(result):
    """The sets of a result with the runs that have all methods; sets without such runs are left out."""
    sets = {}
    for name, data in result["sets"].items():
        shares = {share: [run for run in runs if all(name in run for name in OURS)] for share, runs in data["shares"].items()}
        if all(shares.values()):
            sets[name] = {**data, "shares": shares}
    return {**result, "sets": sets}


def goals(result, method):
    """What a fit of ours reaches, and where it does not."""
    best, close, inside, losses = 0, 0, 0, []
    for name, data in result["sets"].items():
        wins, near = True, True
        for share, runs in data["shares"].items():
            ln_p, rmse, coverage = (means(runs, figure) for figure in ("ln_p", "rmse", "coverage"))
            others = [other for other in ln_p if other not in OURS]
            top, low = max(others, key=ln_p.get), min(others, key=rmse.get)
            here, covered = f"{name}, {float(share):.0%}", coverage[method]
            if ln_p[top] > ln_p[method]:
                wins = False
                losses.append(f"{here}: {top} has {ln_p[top] - ln_p[method]:.3f} nats more")
            if rmse[method] > 1.02 * rmse[low]:
                near = False
                losses.append(f"{here}: the RMSE is {rmse[method] / rmse[low]:.2f} times that of {low}")
            if not 0.85 <= covered <= 0.95:
                losses.append(f"{here}: intervals of 90 % hold {covered:.1%}")
            inside += 0.85 <= covered <= 0.95
        best, close = best + wins, close + near
    sets, cases = len(result["sets"]), sum(len(data["shares"]) for data in result["sets"].values())
    return (
        f"\n**{method}.** Goal, the best ln p of all on every set: {verdict(best == len(TABLES))} ({best} of {sets} measured). Goal, an RMSE of at "
        f"most 1.02 times the best peer's on at least four of six: {verdict(close >= 4)} ({close} of {sets} measured). Goal, 85 to 95 % "
        f"in intervals of 90 %: {verdict(inside == cases)} ({inside} of {cases})."
        + (f" Losses: {'; '.join(losses)}." if losses else "") + "\n"
    )


def impute_section(result):
    result = whole(result)
    rows = []
    for name, data in result["sets"].items():
        for share, runs in data["shares"].items():
            ln_p, rmse, coverage = (means(runs, figure) for figure in ("ln_p", "rmse", "coverage"))
            top, low = max(ln_p, key=ln_p.get), min(rmse, key=rmse.get)
            few = f", {len(runs)} of {result['seeds']} seeds" if len(runs) < result["seeds"] else ""
            bold = lambda shown, is_best: f"**{shown}**" if is_best else shown  # noqa: E731
            for k, method in enumerate(ln_p):
                times = [run[method]["processor"] for run in runs if "processor" in run[method]]
                rows.append([
                    f"{name}, {float(share):.0%} of {data['rows']} × {data['columns']}{few}" if k == 0 else "", method,
                    bold(f"{ln_p[method]:.3f}", method == top), bold(f"{rmse[method]:.3f}", method == low),
                    f"{coverage[method]:.1%}", f"{float(np.median(times)):.2g} s" if times else "–",
                ])
    absent = [name for name in TABLES if name not in result["sets"]]
    return (
        f"Cells are removed at random, with {result['seeds']} seeds each. Every method learns from what is left, and is asked "
        f"about {result['cells']} removed values per seed: the mean ln p of the value, given what is left of its row; the RMSE "
        "of the best guess; how many values lie in intervals of 90 %. Columns are in deviations of the whole table. "
        "Frey is the faces' 50 widest axes, sphered; of Frey and digits, 500 rows at even distances are taken, because "
        "all methods together take too long on all of them. Mean, k nearest (`KNNImputer`) and iterative (`IterativeImputer`, the "
        "columns standardised) have scikit-learn's defaults and a Gaussian around their guess, whose variance is that of "
        "their errors at a further 10 % of the cells. Gaussian is our fit without experts, ours the default fit, and "
        '"ours, best" `UPoE(quality="best")`. Times are those of the processor, on all cores together, and include learning.'
        + (f" {', '.join(absent)}: not measured yet." if absent else "") + "\n\n"
        + table(["set", "method", "ln p", "RMSE", "in 90 %", "time"], rows)
        + "".join(goals(result, method) for method in reversed(OURS))
    )


def kept_section(result):
    rows, least, beats, fewer = [], [], True, 0
    for name, data in result["sets"].items():
        mean = {key: float(np.mean([run[key]["ln_p"] for run in data["runs"]])) for key in ("Gaussian", "complete", "missing, Gaussian", "missing", "fewer", "complete, best", "missing, best")}
        dropped = [run["dropped"]["ln_p"] for run in data["runs"]]
        without = None if None in dropped else float(np.mean(dropped)) - mean["Gaussian"]
        gain, left = mean["complete"] - mean["Gaussian"], mean["missing"] - mean["Gaussian"]
        least.append(left / gain)
        beats = beats and (without is None or left > without)
        fewer += sum(run["missing"]["experts"] < run["complete"]["experts"] for run in data["runs"])
        left_over = float(np.mean([run["rows left"] for run in data["runs"]]))
        rows.append([
            f"{name}, {data['rows']} × {data['columns']}", f"{gain:.3f}", f"{left:.3f}", f"{left / gain:.1%}",
            f"{mean['missing, Gaussian'] - mean['Gaussian']:.3f}",
            f"{(mean['missing'] - mean['missing, Gaussian']) / gain:.1%}",
            f"{mean['fewer'] - mean['Gaussian']:.3f} ({(mean['fewer'] - mean['Gaussian']) / gain:.1%})",
            f"{mean['complete, best'] - mean['Gaussian']:.3f}, {mean['missing, best'] - mean['Gaussian']:.3f} ({(mean['missing, best'] - mean['Gaussian']) / (mean['complete, best'] - mean['Gaussian']):.1%})",
            f"{left_over:.0f} left; " + ("no density of the held-out rows" if without is None else f"{without:.3f}"),
        ])
    return (
        f"{result['share']:.0%} of the cells of the training rows are removed at random, and the fit is judged "
        "by ln p of complete held-out rows, a quarter of the table, over that of the Gaussian of the complete training rows. Means "
        f"over {result['seeds']} random splits, in nats per row. \"Kept above its own Gaussian\" compares each fit with the "
        "Gaussian of the same rows, so that what the Gaussian itself loses does not count. \"Fewer rows\" are complete rows with as "
        "many numbers as the table with missing cells has left: no fit can be asked to keep much more than they do. \"best\" is "
        "`UPoE(quality=\"best\")` on complete rows and on those with missing cells.\n\n"
        + table(["table", "complete rows", "with missing cells", "kept", "Gaussian with missing cells", "kept above its own Gaussian", "fewer rows (kept)", "best: complete, with missing cells (kept)", "rows with missing cells dropped"], rows)
        + f"\nGoal, at least 90 % of the gain kept on both: {verdict(min(least) >= 0.9)}. Goal, more than dropping rows: {verdict(beats)}. "
        f"In {fewer} of {sum(len(data['runs']) for data in result['sets'].values())} splits the fit with missing cells has fewer experts.\n"
    )
