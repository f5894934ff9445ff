"""Writes docs/benchmarks.md and its plots from bench/results/*.json."""

import json
from pathlib import Path

import numpy as np
from scipy.stats import mannwhitneyu
from common import RESULTS, say
from density_report import density_section
from impute_report import impute_section, kept_section
from outliers_report import outliers_section
from page import digits, seconds, table, verdict
from plots import IMAGES, growth_plot, ica_plot

PAGE = Path("docs/benchmarks.md")


def machine(result):
    m = result["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in m["versions"].items())
    blas = ", ".join(f"{name} {n}" for name, n in m["blas_threads"].items())
    other = m["other_programs"]
    warning = ""
    if other is not None and other > 0.05:
        warning = f"\n**Other programs took {100 * other:.0f} % of the machine meanwhile: the times are rough.**\n"
    return warning + (
        f"\n*{m['cpu']}, {m['cores']} cores, {m['instructions']}; {m['system']}; Python {m['python']}, "
        f"{versions}; threads of the peers' libraries: {blas}; {result['date']}.*\n"
    )


def pass_section(result):
    first = result["passes"][0]
    rows = []
    for p in result["passes"]:
        goal = ""
        if p["k"] == 1:
            goal = f"≥ 90 % read: {verdict(p['of_bandwidth'] >= 0.9)}"
        elif p["k"] == 16:
            least = 0.65 if p["precision"] == "f32" else 0.75
            goal = f"≥ {100 * least:.0f} % peak: {verdict(p['of_peak'] >= least)}"
        rows.append([
            p["precision"], p["expert"], p["k"], p["threads"],
            f"{1e3 * p['median']:.2f} ms ({1e3 * p['least']:.2f}–{1e3 * p['most']:.2f})",
            f"{p['gb_s']:.1f} of {p['read_gb_s']:.1f} ({100 * p['of_bandwidth']:.0f} %)",
            f"{p['gflop_s']:.1f} of {p['peak_gflop_s']:.0f} ({100 * p['of_peak']:.0f} %)", goal,
        ])
    p = next(p for p in result["passes"] if (p["k"], p["precision"], p["threads"]) == (16, "f32", 2))
    values = p["rows"] * p["columns"]
    reading, adding = 4 * values / p["read_gb_s"] / 1e6, 4 * 16 * values / p["peak_gflop_s"] / 1e6
    return (
        f"One pass over {first['rows']:,} × {first['columns']} sphered rows for K directions: "
        "projections, expert terms, gradients. The machine's limits are measured in turns with "
        "it, one run of each: reading as many doubles from memory, and multiply-adds in registers. "
        f"Medians (least–most) of {result['passes'][0]['runs']} runs at K = 1 and "
        f"{result['passes'][1]['runs']} at more, of the one of three times in which multiply-adds were fastest: "
        "other programs may share caches and memory unnoticed.\n\n"
        + table(["rows", "experts", "K", "threads", "time", "GB/s", "GFLOP/s", "goal"], rows)
        + f"\nAt K = 16 in single precision, both cores need {reading:.1f} ms to read the rows and {adding:.1f} ms for the "
        f"multiply-adds at their peak; the goal allows {adding / 0.65:.1f} ms for both and for the experts' terms. A mixture "
        "of two evaluates five logarithms and exponentials for each projection.\n"
        "\nKernels by themselves: `cargo bench -p upoe-kernels`.\n"
    )


def ica_section(result):
    parts = [
        "All directions of complete ICA (J = D). Every method gets the same sphered rows in double "
        "precision and all cores; our fit spheres them again, in its time. One function scores "
        "all directions: W scaled to unit rows, a Student-t T fitted to each projection "
        "z = Wx, and\n\n"
        "    gain = ⟨Σ ln T(zⱼ)⟩ + ln|det W| + ½ D (1 + ln 2π)      nats per row over the Gaussian\n\n"
        "A peer's time is that of its fastest run that comes within 0.1 % of the gain of its "
        "default settings; ours is that of our fastest run that reaches all of that gain. "
        "Medians (least–most) of five runs, fewer once one took over 30 s; one seed.\n\n"
        "AMICA and `UPoEICA.adaptive` learn the density of each source along with the directions, so each is scored "
        "by its own density, on the same rows and over the same Gaussian. AMICA has its defaults: mixtures of three, "
        "500 iterations (100 on the patches). Its time is that of the iterations it takes to come within 0.1 % of its "
        "last gain; ours is that of our fastest run that reaches all of it. One run each. A set with a line of its own about the "
        "machine was measured later than the others, with the threads that the line names, for us too. Where other programs took "
        "most of the machine, times are those of the processor, on all cores together.\n"
    ]
    for name, data in result["sets"].items():
        rows = []
        for row in data["comparison"]:
            ours, goal = row.get("our_run"), row["goal"]
            met = ours is not None and (goal is None or row["share"] <= goal)
            higher = row["our_best"] >= row["target"]
            processor = lambda run: f"{digits(run['processor'])} s of processor"
            shown = processor if row.get("clock") == "processor" else seconds
            rows.append([
                row["peer"], f"{row['target']:.4f}", shown(row["peer_run"]), row["ours"],
                shown(ours) if ours else "not reached",
                f"{row['share']:.3f}" if ours else "–",
                f"{row['our_best']:.4f}" + ("" if higher else " (lower)"),
                f"≤ {goal:.2g}: {verdict(met and (higher or row['ours'] == 'pursuit'))}" if goal else "–",
            ])
        parts.append(f"\n### {name[0].upper() + name[1:]}: {data['rows']:,} × {data['dims']}\n\n")
        head = ["peer", "its gain", "its time", "ours", "our time to it", "share", "our best gain", "goal"]
        parts.append(table(head, rows))
        if "adaptive" in data:
            parts.append(adaptive_tables({"machine": data.get("machine", {})} | data["adaptive"]))
        # What was measured alone, later than the rest.
        parts += [machine(alone) for alone in (data.get("adaptive", {}), data) if "machine" in alone]
    ica_plot(result["sets"])
    parts.append(f"\n![gain against time](images/bench/{IMAGES['ica'].name})\n")
    return "".join(parts)


def adaptive_tables(data):
    """AMICA beside the preset, and the preset with each family."""
    ours, best = data["run"], max(p["gain"] for p in data["points"])
    # On a busy machine the time of the processor says more than the clock's.
    busy = data.get("machine", {}).get("other_programs", 0) > 0.5 and "amica_processor" in data
    theirs, own = ("amica_processor", "processor") if busy else ("amica_seconds", "seconds")
    share = ours[own] / data[theirs] if ours else None
    unit = "s of processor" if busy else "s"
    head = ["peer", "its gain", "its time", "ours", "our time to it", "share", "our best gain", "goal"]
    row = [
        f"AMICA, {data['iterations']} iterations", f"{data['target']:.4f}", f"{digits(data[theirs])} {unit}",
        f"adaptive, {settings(ours['settings'])}" if ours else "adaptive",
        f"{digits(ours[own])} {unit}" if ours else "not reached", f"{share:.3f}" if ours else "–",
        f"{best:.4f}", f"≤ 0.02: {verdict(ours and share <= 0.02)}",
    ]
    used = ""
    if ours and "amica_processor" in data and not busy:
        peer = data["amica_processor"]
        used = (
            f" Processor time, on all cores together: {digits(peer)} s and {digits(ours['processor'])} s, a share of "
            f"{ours['processor'] / peer:.3f}."
        )
    if busy:
        used = " Other programs took so much of the machine that times are the processor's, on all cores together."
    families = {f["family"]: f for f in data["families"]}
    single = max(f["gain"] for name, f in families.items() if name != "auto")
    listed = ", ".join(f"{name} {f['gain']:.4f} in {digits(f['seconds'])} s" for name, f in families.items())
    auto = families["auto"]["gain"] / single
    return (
        "\n" + table(head, [row])
        + f"\n`UPoEICA.adaptive` with other families: {listed}. Goal, auto at 99 % or more of the best family: "
        f"{100 * auto:.1f} %, {verdict(auto >= 0.99)}.{used}\n"
    )


def images_section(result):
    plain, ours, best = result["default"], result["ours"], result["converged"]

    def row(name, r):
        held = f"{r['held']:.3f}"
        if "held_least" in r:
            held += f" ({r['held_least']:.3f}–{r['held_most']:.3f})"
        return [name, seconds(r), f"{r['train']:.3f}", held, f"{100 * r['held'] / best['held']:.1f} %"]

    rows = [row("default", plain), row("Student-t, f32", ours), row("Student-t to the end", best)]
    rows += [row(name, r) for name, r in result["peers"].items()]
    return (
        f"{result['rows']:,} patches of 30 × 30 of images 1–11 in {result['dims']} sphered "
        f"dimensions, {result['experts']} directions, with {settings(ours['settings'])}; gain in "
        f"nats per patch on {result['held_rows']:,} patches of images 12 and 13. Sphering the "
        f"sphered rows once more, {seconds(result['sphering'])}, is in our time. \"To the end\" "
        f"is {settings(best['settings'])}. Medians (least–most) of {ours['runs']} seeds each: which of many "
        "near-equal optima a fit ends in makes more difference to the held-out gain than its tolerance. FastICA and Picard learn as many directions as there "
        "are dimensions, so they get the 100 widest only; FastICA in single precision as ours, Picard "
        "in double, into which it turns single-precision rows.\n\n"
        + table(["", "time", "gain, learned from", "gain, held out", "of the converged fit"], rows)
        + f"\nGoal for the default, 17.5 held-out nats in 60 s: {verdict(plain['held'] >= 17.5 and plain['median'] <= 60)}. "
        f"Goal for Student-t in f32, 20 s or less: {verdict(ours['median'] <= 20)}. "
        f"Goal, 98 % of the converged fit's held-out gain: {verdict(result['share_of_converged'] >= 0.98)}.\n"
    )


def layers_section(result):
    rows, held, since = [], 0.0, 0.0
    for number, layer in enumerate(result["layers"], 1):
        held += layer["held"]
        what = "a radial expert" if layer["radial"] else f"{layer['directions']} directions"
        rows.append([f"{number}: {what}", f"{layer['seconds'] - since:.1f} s", f"{layer['train']:.2f}", f"{layer['held']:.2f}", f"{held:.2f}"])
        since = layer["seconds"]
    radial, after = result["layers"][0], result["radial_after_sphering"]
    return (
        f"`quality=\"good\"` on the {result['rows']:,} patches of section 3 in {result['dims']} sphered dimensions: gains in nats per "
        f"patch, held out on {result['held_rows']:,} patches of images 12 and 13. The first layer's time has sphering in it, "
        f"{result['sphering']:.2f} s; without that the radial expert takes {seconds(after)}.\n\n"
        + table(["layer", "time", "gain, learned from", "gain, held out", "all layers so far, held out"], rows)
        + f"\nGoal for the radial expert, 153 held-out nats in 3 s after sphering: {verdict(radial['held'] >= 153 and after['median'] <= 3)}. "
        f"Goal, more with directions on top: {verdict(held > radial['held'])}.\n"
    )


def settings(chosen):
    return ", ".join(f"`{name}={value}`" for name, value in chosen.items())


def growth_section(result):
    growth_plot(result)
    base = ", ".join(f"{name} = {value:,}" for name, value in result["base"].items())
    rows, within = [], True
    for over, sweep in result["sweeps"].items():
        for p in sweep["points"]:
            bound = 1.3 * p["sphered"] + 50e6
            within &= p["memory"] <= bound
            rows.append([
                f"{over} = {p[over]:,}", seconds(p), f"{p['memory'] / 1e6:.0f} MB",
                f"{p['sphered'] / 1e6:.1f} MB", f"{bound / 1e6:.0f} MB",
                "" if p["memory"] <= bound else "**over**",
            ])
    exponents = ", ".join(f"{over}^{sweep['exponent']:.2f}" for over, sweep in result["sweeps"].items())
    return (
        f"Fits of independent Student-t columns, one size varied and the others at {base}; each in "
        "a process of its own. Memory is what the fit adds to the rows it is given. Time grows as "
        f"{exponents} (fitted without the smallest size).\n\n"
        f"![time and memory](images/bench/{IMAGES['growth'].name})\n\n"
        + table(["", "time", "memory", "sphered rows", "1.3 × rows + 50 MB", ""], rows)
        + f"\nGoal, memory within 1.3 × the sphered rows plus 50 MB: {verdict(within)}.\n"
    )


def scoring_section(result):
    rows = [
        [r["dims"], r["model"], f"{r['rows_per_second']:,.0f}", seconds(r)] for r in result["results"]
    ]
    return (
        f"`score_samples` of {result['rows']:,} rows, ln p over the data's own columns.\n\n"
        + table(["dimensions", "model", "rows per second", "time"], rows)
    )


def search_section(result):
    rows, counted, reached = [], 0, 0
    for t in result["tables"]:
        if not t["visible"]:
            continue
        counted, reached = counted + len(t["found"]), reached + sum(t["enough"])
        least, most = min(t["found"]), max(t["found"])
        rows.append([
            t["shape"], f"{t['rows']:,} × {t['dims']}", f"{t['visible']} of {t['planted']}", f"{t['due']:.4f}",
            f"{least:.4f}" if most - least < 5e-5 else f"{least:.4f}–{most:.4f}",
            f"{sum(t['enough'])} of {len(t['found'])}", f"{t['seconds']:.2g} s",
        ])
    hidden = [f"{t['shape']}, {t['rows']:,} × {t['dims']}" for t in result["tables"] if not t["visible"]]
    goal = f"{reached} of {counted} fits ({100 * reached / counted:.1f} %) find it; goal, at least 99 %: {verdict(reached >= 0.99 * counted)}."
    return (
        "Directions planted in Gaussian noise and mixed, default fits with ten seeds each. A fit must reach the "
        "gain that the planted directions have by themselves (due), to 0.001 nats or 1 %, wherever each of them gains "
        f"more than twice what Gaussian rows reach in 5 % of samples. {goal}\n\n"
        + table(["shape", "rows × columns", "directions", "due", "found", "reached", "time"], rows)
        + (f"\nToo weak for that many rows, and not counted: {'; '.join(hidden)}.\n" if hidden else "")
    )


def default_section(result):
    rows, met, higher = [], True, True
    for name, data in result["sets"].items():
        held = data["held"]
        higher &= held["auto"] >= held["student-t"]
        for way, title in (("command", "`upoe fit`"), ("python", "`UPoE().fit`")):
            met &= data[way]["ratio"] <= result["goal"]
            rows.append([
                f"{name}, {data['rows']:,} × {data['dims']}", title, seconds(data[way]["auto"]),
                seconds(data[way]["student-t"]), f"{data[way]['ratio']:.2f}", f"{held['auto']:.2f}",
                f"{held['student-t']:.2f}",
            ])
    head = ["set", "", "default", "Student-t", "ratio", "held-out ln p, default", "Student-t"]
    return (
        "The default fit (all families) next to Student-t alone, on the training and held-out rows of the density section. "
        "Both include all that a user gets: sphering, outliers, p-values, the search for groups; the command also reads "
        "the rows and writes the model. Seconds of the processor with one thread, in turns; medians (least–most) of "
        f"{result['sets']['Frey']['python']['auto']['runs']} runs. `make bench SECTION=default` measures it.\n\n"
        + table(head, rows)
        + f"\nGoal, at most {result['goal']} times the time of Student-t alone: {verdict(met)}. Goal, equal or better held-out "
        f"ln p: {verdict(higher)}.\n"
    )


def gpu_section(result):
    passes = [p for p in result["passes"] if "seconds" in p and p["k"] in (1, 2, 4, 8, 32, 100)]
    copy = next(p["copy_bytes_per_second"] for p in result["passes"] if "copy_bytes_per_second" in p)
    products = {(p["rows"], p["precision"], p["k"]): p for p in result["passes"] if "cublas_forward" in p}
    rows = []
    for p in passes:
        own = products.get((p["rows"], p["precision"], p["k"]))
        # In double precision more than four candidates go another way.
        queued = p["queued_seconds"] if p["precision"] == "float" or p["k"] <= 4 else None
        rows.append([
            f"{p['rows']:,} × {p['dims']}", {"float": "f32", "double": "f64"}[p["precision"]], p["family"], p["k"],
            f"{1e6 * p['seconds']:.0f} µs", f"{1e6 * queued:.0f} µs" if queued else "",
            f"{100 * p['queued_share_of_copy']:.0f} %" if queued else "",
            f"{100 * (own['cublas_forward'] + own['cublas_back']) / p['seconds']:.0f} %" if own else "",
        ])
    one = next(p for p in passes if (p["k"], p["rows"], p["precision"], p["family"]) == (1, 100_000, "float", "student-t"))
    many = products[100_000, "float", 100]
    share = (many["cublas_forward"] + many["cublas_back"]) / (many["cublas_forward"] + many["cublas_back_in_batches"])
    fits = {}
    for line in result["images"]:
        if "fit" in line:
            fits.setdefault(line["fit"].removeprefix("images "), []).append(line)
    def label(name):
        kind, device, precision = name.split()
        return f"{ {'fast': 'Student-t', 'default': 'default'}[kind]}, {precision}, {device.upper()}"

    def range_of(runs, what):
        values = sorted(run[what] for run in runs)
        return f"{np.median(values):.2f} ({values[0]:.2f}–{values[-1]:.2f})" if len(values) > 1 else f"{values[0]:.2f}"

    images = [
        [label(name), range_of(runs, "seconds") + " s", range_of(runs, "train_gain"), range_of(runs, "held_gain")]
        for name, runs in fits.items()
    ]
    package = [
        [f"the Python package, `device=\"{device}\"`, sphering included", seconds(r), "", f"{r['held']:.2f}"]
        for device, r in result["package"].items()
    ]
    others = [[name, seconds(r), "", f"{r['held']:.2f}"] for name, r in result["peers"].items()]
    slowest = {kind: max(f["seconds"] for f in fits[f"{kind} gpu f32"]) for kind in ("fast", "default")}
    later = [f"{part}: {date}" for part, date in result.get("dates", {}).items()]

    def by_seed(kind, device, what):
        return np.array([*{f["seed"]: f[what] for f in fits[f"{kind} {device} f32"]}.values()])

    def inside(kind, what):
        """How many fits on the GPU end within the range of the CPU's."""
        gpu, cpu = (by_seed(kind, device, what) for device in ("gpu", "cpu"))
        return f"{np.sum((cpu.min() <= gpu) & (gpu <= cpu.max()))} of {len(gpu)}"

    def ranks(kind, what):
        """How likely the ranks of the fits on both devices lie so far apart by chance (Mann and Whitney's test)."""
        return f"p = {mannwhitneyu(by_seed(kind, 'gpu', what), by_seed(kind, 'cpu', what)).pvalue:.2f}"

    same = next(line["same_bits"] for line in result["images"] if "same_bits" in line)
    score = next(line for line in result["images"] if "scoring_seconds" in line)
    large = {line["large"]: line for line in result["large"] if "large" in line}
    learning = next(line for line in result["large"] if "fit" in line)
    return (
        f"On one {result['device']}, next to the {result['machine']['cores']} cores of the same machine. A copy on the "
        f"device moves {copy / 1e12:.2f} TB/s, bytes read and written together. A pass is timed with its candidates on "
        "their way down and its sums on their way back, and, for up to 8 candidates, also when passes are queued one "
        "after the other, as copies are. Single-precision products are plain f32, without TF32.\n\n"
        + table(["rows", "precision", "family", "K", "a pass", "queued", "of the copy's rate", "of cuBLAS's rate"], rows)
        + f"\nGoal, 60 % of the copy's rate at K = 1: {verdict(one['queued_share_of_copy'] >= 0.6)} "
        f"({100 * one['queued_share_of_copy']:.0f} % queued, {100 * one['share_of_copy']:.0f} % with the way to the host and "
        "back). Of cuBLAS's rate: the time of both products as cuBLAS makes them in one call each, over that of the whole "
        f"pass. The products alone reach {100 * share:.0f} % at K = 100; goal, 60 %: {verdict(share >= 0.6)}.\n\n"
        "The paper's images of section 3 from sphered rows to the model, 100 directions: medians (least–most) over seeds. "
        "On both devices the rows go into an engine as they are. FastICA and Picard as there:\n\n"
        + table(["", "time", "gain, learned from", "gain, held out"], images + package + others)
        + f"\nGoal, in f32 in 2 s or less on the GPU: {verdict(slowest['fast'] <= 2)} by Student-t, "
        f"{verdict(slowest['default'] <= 2)} by the default. Within the range of the CPU's seeds end, in training, "
        f"{inside('fast', 'train_gain')} fits with Student-t and {inside('default', 'train_gain')} by default, and held out "
        f"{inside('fast', 'held_gain')} and {inside('default', 'held_gain')}. The ranks of "
        f"held-out gains do not tell the devices apart: {ranks('fast', 'held_gain')} and {ranks('default', 'held_gain')}. From "
        "the same experts both devices find the same next one; rounding, and which of nearly equal starts wins by it, "
        "decides the rest. "
        f"Two runs of one seed have the same bits: {'yes' if same else '**no**'}. ln p of the held-out rows by the GPU, {1e3 * score['scoring_seconds']:.0f} ms, "
        f"differs from the CPU's by at most {score['largest_difference']:.0e}.\n\n"
        f"{large['gpu']['rows']:,} × 100 in single precision, 20 experts, from the rows to the model: "
        f"{large['gpu']['seconds']:.1f} s with the GPU and {large['cpu']['seconds']:.1f} s without, at a gain of "
        f"{large['gpu']['gain']:.3f} and {large['cpu']['gain']:.3f} nats. Of these, {large['gpu']['seconds_to_first_pass']:.1f} s "
        f"and {large['cpu']['seconds_to_first_pass']:.1f} s pass before the first expert is sought: the CPU looks for "
        "repeated rows and outliers, and rows are sphered. "
        f"Learning alone takes {learning['seconds']:.2f} s on the GPU.\n"
        + (f"\nMeasured again since: {', '.join(later)}.\n" if later else "")
    )


SECTIONS = {
    "pass": ("The pass", pass_section),
    "ica": ("ICA, complete: time to the same likelihood", ica_section),
    "images": ("The paper's images", images_section),
    "density": ("Density", density_section),
    "outliers": ("Odd rows", outliers_section),
    "growth": ("Growth", growth_section),
    "scoring": ("Scoring", scoring_section),
    "search": ("Search: what is plainly there is found", search_section),
    "gpu": ("GPU", gpu_section),
    "impute": ("Missing cells", impute_section),
    "kept": ("Missing cells: what a fit keeps", kept_section),
    "default": ("The default next to Student-t alone", default_section),
    "layers": ("Layers of the paper's images", layers_section),
}


def main():
    parts = [
        "# Benchmarks\n\n`make bench` measures all of this again in about 80 minutes, and "
        "`make bench SECTION=ica` one section; it installs its own peers. Figures are in "
        "`bench/results/`, the programs in `bench/`. Losses are listed like wins. The "
        "paper's faces and images are read from `UPOE_DATA`.\n"
    ]
    measured = [name for name in SECTIONS if (RESULTS / f"{name}.json").exists()]
    for number, name in enumerate(measured, 1):
        result, (title, write) = json.loads((RESULTS / f"{name}.json").read_text()), SECTIONS[name]
        parts += [f"\n## {number}. {title}\n\n", write(result), machine(result)]
    PAGE.write_text("".join(parts))
    say(f"wrote {PAGE}")


if __name__ == "__main__":
    main()
