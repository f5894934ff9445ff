"""The density section of docs/benchmarks.md."""

from math import inf

from density_sets import NOISE
from page import digits, table, verdict

METHODS = ["upoe", "good", "best", "GMM", "KDE", "SINF", "spline flow"]
PEERS = METHODS[3:]
REPORTED_ONLY = ["ionosphere"]

INTRODUCTION = f"""\
Mean ln p of held-out rows in nats per row (higher is better) ± its standard error over rows; the highest of each row \
is bold. Nothing is chosen on held-out rows. Columns of tables are standardised on the training rows of each of the \
first 1 to 5 of five folds; the figures are over the held-out rows of all folds used. Faces, patches and the synthetic \
set are sphered on their training rows.

- **upoe** is the single layer, `UPoE()`; **good** and **best** are `UPoE(quality=…)`.
- **GMM**: scikit-learn's `GaussianMixture` on sphered rows. Number of components (up to 64), kind of covariance and \
its floor are chosen by five-fold cross-validation on the training rows (by one of the folds beyond 5,000 rows). That \
it gets sphered rows and floors of 0.001 and 0.1 was decided after a look at held-out rows of parkinsons and breast \
cancer, which flatters it there.
- **KDE**: Gaussian kernels on sphered rows, **summed exactly**; the bandwidth is chosen in the same way. \
scikit-learn's `KernelDensity` is not used, because its tree is wrong in many dimensions: on the Frey faces with \
h = 0.4 it gives about −44 where the exact mean is −58.11, and its figure changes when axes change their signs. With \
`leaf_size` ≥ N it agrees with direct summation. Earlier versions of this page had the tree's figures.
- **SINF**: sliced iterative normalising flow, `sinflow` with its defaults. Its figures depend on the seed.
- **spline flow**: `zuko`'s neural spline flow on three sets. A fifth of the training rows stops it and chooses one of \
three sizes.
- **Ties**: ionosphere has columns in which a quarter of the values are equal. Density on ties is not gain, so its \
training and held-out rows get Gaussian noise of {NOISE} of a column's standard deviation, the same numbers for every \
method: none gains by a density narrower than that. It is reported only.
- **Repeated rows**: 23 % of the held-out rows of red and 27 % of those of white equal a training row, which favours \
narrow kernels: on white KDE has −5.45 on these and −11.41 on the others.
- **Dependent rows**: the Frey faces are a video, and most held-out frames of the random split have a training frame \
next to them. In "Frey in blocks", whole blocks of successive frames are held out. GMM and KDE are chosen on \
whole blocks too. `UPoE` is not told of them: with `blocks=` ten blocks count as ten rows, too few to find an expert \
in, and the single layer is a Gaussian with −70.8. Both figures were known when this was decided.

"""
TIMES = """
Seconds of one fit, including its choices. Peers have one thread, ours has all cores. What was chosen is in \
`bench/results/density.json`. All methods take about 30 minutes; `make bench SECTION=density METHODS=upoe,good,best` \
measures ours alone and keeps the peers' figures.

"""


def cell(methods, name):
    """ln p of one method on one set."""
    if name not in methods:
        return "–"
    figure = f"{methods[name]['held']:.2f} ± {methods[name]['standard_error']:.2f}"
    highest = max(methods, key=lambda m: methods[m]["held"])
    return f"**{figure}**" if name == highest else figure


def took(methods, name):
    return digits(methods[name]["seconds"]) if name in methods else "–"


def goals(sets, prototype):
    """Which goals `good` and `best` meet, and where a peer is above `best` (or above what there is of ours).
    `prototype` has what a prototype reached with a stack and with a pool, by set."""
    lines = []
    for column, name in enumerate(["good", "best"]):
        judged = {s: sets[s]["methods"][name] for s in prototype if name in sets.get(s, {"methods": {}})["methods"]}
        missed = [
            f"{s} ({r['held']:.2f}, goal {prototype[s][column]:.2f})"
            for s, r in judged.items()
            if r["held"] + r["standard_error"] < prototype[s][column]
        ]
        if judged:
            lines.append(
                f"Goal for `{name}`, within one standard error of the prototype or better: "
                f"{verdict(not missed)}, {len(judged) - len(missed)} of {len(judged)} sets"
                + (f" (not {', '.join(missed)})." if missed else ".")
            )
    losses = []
    for s, data in sets.items():
        held = {m: r["held"] for m, r in data["methods"].items()}
        ours = next((m for m in ("best", "good", "upoe") if m in held), None)
        if ours is None or s in REPORTED_ONLY:
            continue
        above = [f"{peer} by {held[peer] - held[ours]:.2f}" for peer in PEERS if held.get(peer, -inf) > held[ours]]
        if above:
            losses.append(f"{s} (against {ours}): {', '.join(above)}")
    lines.append(f"Peers above us: {'; '.join(losses) or 'none'}.")
    return "\n".join(f"\n{line}" for line in lines) + "\n"


def density_section(result):
    sets = result["sets"]
    shown = [m for m in METHODS if any(m in data["methods"] for data in sets.values())]
    sizes = {s: f"{d['rows']:,} × {d['dims']}" for s, d in sets.items()}
    values = [
        [s, sizes[s], f"{d['held_rows']:,} × {d['folds']}", *(cell(d["methods"], m) for m in shown)]
        for s, d in sets.items()
    ]
    times = [[s, sizes[s], *(took(d["methods"], m) for m in shown)] for s, d in sets.items()]
    parts = [
        INTRODUCTION,
        table(["set", "training rows × columns", "held-out rows × folds", *shown], values),
        goals(sets, result.get("goals", {})),
        TIMES,
        table(["set", "training rows × columns", *shown], times),
    ]
    for s, data in sets.items():
        errors = [f"{m} {r['block_error']:.2f}" for m, r in data["methods"].items() if "block_error" in r]
        if errors:
            parts.append(f"\nStandard errors on {s} over blocks instead of rows: {', '.join(errors)}.\n")
    kept = {(m, r["date"]) for d in sets.values() for m, r in d["methods"].items() if r["date"] != result["date"]}
    if kept:
        parts.append(f"\nKept from earlier runs: {', '.join(f'{m} ({date})' for m, date in sorted(kept))}.\n")
    return "".join(parts)
