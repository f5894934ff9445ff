"""The outlier section of docs/benchmarks.md and docs/answers.md."""

from page import digits, table, verdict

INTRODUCTION = """\
Tables of ADBench, each method fitted to all rows without labels; ROC AUC / average precision. Ours, isolation forest, \
COPOD and ECOD get the rows as they are, the others standardised columns. Default settings; the mixture has four \
components.

"""


def means(sets, methods):
    """Mean AUC and average precision of each method, and seconds of all its fits."""
    mean = lambda m, figure: sum(s["methods"][m][figure] for s in sets.values()) / len(sets)
    return {m: (mean(m, "auc"), mean(m, "ap"), len(sets) * mean(m, "seconds")) for m in methods}


def outliers_section(result):
    sets = result["sets"]
    methods = list(next(iter(sets.values()))["methods"])
    overall = means(sets, methods)
    cell = lambda figures: f"{figures['auc']:.3f} / {figures['ap']:.3f}"
    rows = [
        [f"`{name}`", f"{s['rows']:,} × {s['columns']}", f"{100 * s['odd']:.1f} %", *(cell(s["methods"][m]) for m in methods)]
        for name, s in sets.items()
    ]
    rows.append(["**mean**", "", "", *(f"**{auc:.3f} / {ap:.3f}**" for auc, ap, _ in overall.values())])
    rows.append(["seconds of the processor, all fits", "", "", *(digits(seconds) for _, _, seconds in overall.values())])
    auc, ap, seconds = overall["upoe"]
    forest = overall["IsolationForest"][2]
    slower = [n for n, s in sets.items() if s["methods"]["upoe"]["seconds"] > s["methods"]["IsolationForest"]["seconds"]]
    far, masking, gaussian = result["far_value"], result["masking"], result["gaussian_masking"]
    alarms = result["false_alarms"]
    one, five = (100 * sum(rates[k] for rates in alarms.values()) / len(alarms) for k in (0, 1))
    return (
        INTRODUCTION
        + table(["table", "rows × columns", "odd", *methods], rows)
        + f"\nGoal, mean AUC / average precision of at least .802 / .386: {verdict(auc >= 0.802 and ap >= 0.386)}. "
        f"Goal, no slower to fit than IsolationForest: {verdict(seconds <= forest)} "
        f"({digits(seconds)} s against {digits(forest)} s for all sets"
        + (f"; slower on {', '.join(f'`{name}`' for name in slower)}" if slower else "; faster on each")
        + f"). Largest difference between oddness and the sum of its parts: {result['attribution']:.0e}; goal, below 1e-6: "
        f"{verdict(result['attribution'] < 1e-6)}. One value of 1e15, in each of twenty cells, changes AUC on `cardio` ({far['auc']:.3f}) by at most "
        f"{far['largest_change']:.4f}; goal, below 0.005: {verdict(far['largest_change'] < 0.005)}.\n\n"
        "Masking: 3 % of the clean rows of each table shifted by 6 standard deviations in one column each, "
        f"`contamination=0.03` for both; mean recall {masking['upoe']:.3f}, EllipticEnvelope "
        f"{masking['EllipticEnvelope']:.3f}: {verdict(masking['upoe'] >= masking['EllipticEnvelope'])}. All in the same column of "
        f"correlated Gaussian rows (1,000 × 10): {gaussian['upoe']:.3f} and {gaussian['EllipticEnvelope']:.3f}: "
        f"{verdict(gaussian['upoe'] >= gaussian['EllipticEnvelope'])}.\n\n"
        "False alarms on clean rows that were not learned from (half of each table's), mean over sets: "
        f"{one:.2f} % at 1 % (goal 0.7–1.3 %: {verdict(0.7 <= one <= 1.3)}) and {five:.2f} % at 5 % (goal 4.5–5.5 %: "
        f"{verdict(4.5 <= five <= 5.5)}).\n"
    )
