"""The plots of docs/benchmarks.md."""

from pathlib import Path

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams.update({"svg.hashsalt": "upoe", "svg.fonttype": "none", "font.size": 9})
import matplotlib.pyplot as plt  # noqa: E402

FOLDER = Path("docs/images/bench")
IMAGES = {name: FOLDER / f"{name}.svg" for name in ("ica", "growth")}
COLORS = {
    "pursuit": "#0b5fa5",
    "parallel": "#d1495b",
    "FastICA deflation": "#8d8d8d",
    "FastICA parallel": "#444444",
    "Picard-O": "#66a182",
    "Picard": "#edae49",
}


def write(figure, name):
    FOLDER.mkdir(parents=True, exist_ok=True)
    # White, since a page may be dark; without a date, so that equal plots are equal files.
    figure.savefig(IMAGES[name], facecolor="white", metadata={"Date": None})
    plt.close(figure)


def ica_plot(sets):
    """Gain against time, one panel per data set."""
    figure, axes = plt.subplots(1, len(sets), figsize=(3.6 * len(sets), 3.4), squeeze=False, layout="constrained")
    for ax, (name, data) in zip(axes[0], sets.items()):
        for method, points in data["curves"].items():
            points = sorted(points, key=lambda p: p["seconds"])
            own = method in ("pursuit", "parallel")
            ax.plot(
                [p["seconds"] for p in points],
                [p["gain"] for p in points],
                marker="o" if own else ".",
                linewidth=2 if own else 1,
                color=COLORS[method],
                label=method,
            )
        best = max(p["gain"] for points in data["curves"].values() for p in points)
        ax.set(xscale="log", title=name, xlabel="seconds", ylim=(0.75 * best, 1.02 * best))
        ax.grid(alpha=0.3)
    axes[0][0].set_ylabel("gain, nats per row")
    handles, labels = axes[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2 * len(sets), frameon=False)
    write(figure, "ica")


def growth_plot(result):
    """Time above, memory below, a column for each size that was varied."""
    sweeps = result["sweeps"]
    figure, axes = plt.subplots(2, len(sweeps), figsize=(3 * len(sweeps), 5.2), sharex="col", sharey="row", layout="constrained")
    for (time, memory), (over, sweep) in zip(axes.T, sweeps.items()):
        sizes = [p[over] for p in sweep["points"]]
        time.loglog(sizes, [p["median"] for p in sweep["points"]], "o-", color=COLORS["pursuit"])
        time.set_title(f"{over}: exponent {sweep['exponent']:.2f}")
        # What rounds to nothing is drawn at 1 MB.
        used = [max(p["memory"], 1e6) / 1e6 for p in sweep["points"]]
        bound = [(1.3 * p["sphered"] + 50e6) / 1e6 for p in sweep["points"]]
        memory.loglog(sizes, used, "o-", color=COLORS["parallel"], label="a fit adds")
        memory.loglog(sizes, bound, "--", color=COLORS["FastICA parallel"], label="1.3 × sphered rows + 50 MB")
        memory.set_xlabel(over)
        for ax in (time, memory):
            ax.grid(alpha=0.3)
    axes[0][0].set_ylabel("seconds")
    axes[1][0].set_ylabel("MB")
    axes[1][2].legend(loc="upper left", frameon=False, fontsize=8)
    write(figure, "growth")
