"""The figures of `make scale` as a part of docs/scale.md, between its marks."""

import statistics
from pathlib import Path

from page import digits, table, verdict

PAGE = Path("docs/scale.md")
MARKS = "<!-- figures: written by bench/scale.py -->", "<!-- end of figures -->"
NAMES = {"memory": "memory", "file": "file", "dask": "Dask", "spark": "Spark"}
# Of the worked estimate: machines, cores of each, GB/s from storage to each.
MACHINES, CORES, STORAGE = 100, 16, 0.5
# Numbers in the sample that most steps are made on.
SAMPLE = 1 << 24


def power(rows: int) -> str:
    """1e6 as 10⁶."""
    whole = f"{rows:.0e}".split("e")
    raised = str(int(whole[1])).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"10{raised}" if whole[0] == "1" else f"{whole[0]}·10{raised}"


def large(found: dict) -> str:
    gb, passes, experts = found["gb"], found["passes"], found["experts"]
    rate, disk = passes * gb / found["learning"], statistics.median(found["dd"])
    per_expert = passes / max(experts, 1)
    work = found["processor"] / passes / gb
    lines = [
        ["table", f"{found['rows']:,} rows × {found['columns']} columns, {gb:.1f} GB"],
        ["hard limit of address space", found["limit"]],
        ["experts", experts],
        ["passes over all rows", f"{passes}: {per_expert:.1f} per expert (at most 8: {verdict(per_expert <= 8)})"],
        ["whole fit", f"{found['seconds']:.0f} s, processor {found['processor']:.0f} s; {found['load']:.0f} programs wanted to run"],
        ["from the moments to the last expert", f"{found['learning']:.0f} s, {rate:.2f} GB/s read"],
        ["`dd` from the same disk", f"{disk:.2f} GB/s; the fit reads {100 * rate / disk:.0f} % of it (at least 70 %: {verdict(rate >= 0.7 * disk)})"],
        ["processor time per GB and pass", f"{work:.2f} s, all included: at most {2 / work:.1f} GB/s on two idle cores"],
        ["share of the two cores that it had", f"{50 * found['processor'] / found['seconds']:.0f} %"],
    ]
    return table(["", ""], lines)


def middle(runs: list[dict], name: str) -> float:
    return statistics.median(run[name] for run in runs)


def beside(found: list[dict]) -> str:
    lines = []
    for line in found:
        memory, file = line["memory"], line["file"]
        ratio = middle(file, "learning") / middle(memory, "learning")
        work = middle(file, "processor") / middle(memory, "processor")
        lines.append(
            [
                f"{line['rows']:,} × {line['columns']}",
                line["sample"] if line["sample"] == "all" else f"{int(line['sample']):,}",
                file[0]["passes"],
                f"{digits(middle(memory, 'learning'))} s ({digits(middle(memory, 'processor'))} s)",
                f"{digits(middle(file, 'learning'))} s ({digits(middle(file, 'processor'))} s)",
                f"{ratio:.2f} ({work:.2f}): {verdict(ratio <= 2)}",
                "yes" if line["same"] else "**no**",
                f"{line['apart']:.0e}",
            ]
        )
    head = ["rows", "sample", "passes", "in memory", "from a file", "ratio, at most 2", "same bits", "ln p apart"]
    return table(head, lines)


def at(found: list[dict], place: str, rows: int) -> dict | None:
    return next((f for f in found if f["place"] == place and f["rows"] == rows), None)


def curve(found: list[dict]) -> str:
    rows = sorted({f["rows"] for f in found})
    lines = []
    for place, name in NAMES.items():
        cells = [at(found, place, n) for n in rows]
        shown = [f"{digits(c['seconds'])} s ({digits(c['processor'])} s)" if c else "–" for c in cells]
        lines.append([name, *shown])
    return table(["", *(power(n) for n in rows)], lines)


def apart(found: list[dict]) -> float:
    """How far ln p of the same rows differs between places, at most."""
    worst = 0.0
    for rows in {f["rows"] for f in found}:
        values = [f["ln_p"] for f in found if f["rows"] == rows]
        worst = max(worst, max(values) - min(values))
    return worst


def slope(found: list[dict], place: str) -> float:
    """Processor seconds for each further row: of the two largest tables."""
    of = sorted((f for f in found if f["place"] == place), key=lambda f: f["rows"])[-2:]
    if len(of) < 2:
        return float("nan")
    return (of[1]["processor"] - of[0]["processor"]) / (of[1]["rows"] - of[0]["rows"])


def rounds(found: list[dict]) -> str:
    """What a round costs beside the work on the rows."""
    lines = []
    for place, name in NAMES.items():
        of = sorted((f for f in found if f["place"] == place), key=lambda f: f["rows"])
        if not of:
            continue
        cost = "–"
        if "round" in of[0]:
            cost = f"{1000 * of[0]['round']:.0f} ms for {power(of[0]['rows'])} rows"
        elif of[0]["passes"]:
            # Reading, and what the scratch file takes besides.
            same = [f for f in of if at(found, "memory", f["rows"])][-1]
            more = same["processor"] - at(found, "memory", same["rows"])["processor"]
            cost = f"{1000 * more / same['passes']:.0f} ms of" if more > 0 else "no"
            cost += f" processor time more than in memory for {power(same['rows'])} rows"
        count = of[0].get("rounds") or of[0]["passes"] or "–"
        further = "–" if len(of) < 2 else f"{1e6 * slope(found, place):.2f} µs"
        lines.append([name, count, cost, further])
    return table(["", "rounds", "one round", "processor time per further row"], lines)


def scaling(found: list[dict]) -> str:
    lines = []
    pick = lambda place, cores, rows: next(
        (f for f in found if (f["place"], f["cores"], f["rows"]) == (place, cores, rows)), None
    )
    small, twice = sorted({f["rows"] for f in found})[:2]
    for place, name in NAMES.items():
        one, two, weak = pick(place, 1, twice), pick(place, 2, twice), pick(place, 1, small)
        if None in (one, two, weak):
            continue
        lines.append(
            [
                name,
                f"{digits(one['seconds'])} s ({digits(one['processor'])} s)",
                f"{digits(two['seconds'])} s ({digits(two['processor'])} s)",
                f"{one['seconds'] / two['seconds']:.2f} ({one['processor'] / two['processor']:.2f})",
                f"{weak['seconds'] / two['seconds']:.2f}",
            ]
        )
    head = ["", f"{power(twice)} rows, 1 core", "2 cores", "strong: 2 is best", f"weak: {power(small)} on 1 against {power(twice)} on 2, 1 is best"]
    return table(head, lines)


def estimate(found: list[dict], disk: float) -> str:
    """1e9 and 1e10 rows, in a file of one machine and on many machines, from the figures above."""
    of = sorted((f for f in found if f["place"] == "dask"), key=lambda f: f["rows"])
    # A round of the smallest table is all overhead, half of it for each of two workers.
    task, count, columns = of[0]["round"] / 2, of[-1]["rounds"], of[0]["columns"]
    passes = max((f for f in found if f["place"] == "file"), key=lambda f: f["rows"])["passes"]
    memory = at(found, "memory", 10**6) or of[0]
    fixed = memory["processor"] * SAMPLE / columns / memory["rows"]
    lines = []
    for rows in (10**9, 10**10):
        gb = 8 * rows * columns / 1e9
        alone = {"disk": passes * gb / disk, "work": rows * slope(found, "file") / CORES}
        many = {
            "storage": gb / MACHINES / STORAGE,
            "work on the rows": rows * slope(found, "dask") / (MACHINES * CORES),
            "rounds": count * task * MACHINES,
            "steps on the sample": fixed,
        }
        worst = [max(where, key=lambda name: where[name]) for where in (alone, many)]
        times = [f"{digits(x)} s" for x in (*alone.values(), *many.values())]
        lines.append([power(rows), f"{gb:.0f} GB", *times[:2], *times[2:], f"{worst[0]}; {worst[1]}"])
    names = ["one file: disk", "one file: work", *(f"cluster: {name}" for name in many)]
    return table(["rows", "numbers", *names, "bottlenecks"], lines)


def written(results: dict) -> str:
    out = ["", "## Figures", ""]
    loads = [f["load"] for part in ("curve", "scaling") for f in results.get(part, {}).get("found", [])]
    loads += [results["large"]["found"]["load"]] if "large" in results else []
    busy = bool(loads) and min(loads) > 4
    alone = f"{min(loads):.1f} to {max(loads):.1f} programs that wanted to run, ours among them" if loads else "nothing else to do"
    dates = sorted({part["date"] for part in results.values()})
    out += [
        f"Measured by `make scale` ({' and '.join(dates)}) on a machine of 2 cores with {alone}: seconds on the clock and,",
        "in brackets, of the processor. Fits of a file read a scratch file of double precision.",
        "",
    ]
    if "large" in results:
        out += ["### Larger than memory", "", large(results["large"]["found"])]
        out += ["The scratch file was taken out of the page cache every four seconds, so that passes read the disk.", ""]
    if "beside" in results:
        out += ["### A file beside memory", "", beside(results["beside"]["found"])]
        out += ["The scratch file is in the page cache; the figures are those of learning, processor time of all.", ""]
    if "curve" in results:
        found = results["curve"]["found"]
        out += ["### Time against rows", "", "10 columns of single precision, 2 experts, a sample of 50,000 rows:", ""]
        out += [curve(found)]
        out += [f"Means of ln p of the same rows differ by at most {apart(found):.0e} nats between places. {stops(found)}", ""]
        out += ["### Rounds", "", rounds(found)]
    if "scaling" in results:
        out += ["### One core and two", "", scaling(results["scaling"]["found"])]
        if busy:
            out += ["Other programs had most of both cores, so a second thread or worker was given little more, and the clock says", "nothing of an idle machine. The ratio of processor times, where 1 is best, says what a second one costs.", ""]
        if not any(f["place"] == "spark" for f in results["scaling"]["found"]):
            out += ["Spark was not measured here: it took too long on so busy a machine.", ""]
    if "curve" in results:
        disk = statistics.median(results["large"]["found"]["dd"]) if "large" in results else STORAGE
        out += ["### 10⁹ and 10¹⁰ rows", ""]
        out += [
            f"Worked out for {found[0]['columns']} columns and two experts, from processor time per further row: a file on one machine",
            f"of {CORES} cores, whose disk reads {disk:.2f} GB/s as here; and Dask on {MACHINES} such machines, with {STORAGE:g} GB/s from storage",
            f"to each, and rounds with one task per machine that cost what one of the two tasks above cost, one after another.",
            "Further experts take as much again as these for every two.",
            "",
            estimate(found, disk),
        ]
    return "\n".join(out) + "\n"


def stops(found: list[dict]) -> str:
    """How far each place was taken, and why no further."""
    most = 10**8
    why = {
        "memory": "10⁸ rows need 19 GB",
        "dask": "10⁸ rows need 16 GB on the workers while they are sphered",
        "spark": "ten times as many take more than a quarter of an hour, most of it before the first round, while rows become packed partitions",
        "file": "the table above has more numbers",
    }
    ends = []
    for place, name in NAMES.items():
        last = max((f["rows"] for f in found if f["place"] == place), default=0)
        if 0 < last < most:
            ends.append(f"{name[0].upper()}{name[1:]} stops at {power(last)} rows: {why[place]}.")
    return " ".join(ends)


def write(results: dict) -> None:
    page = PAGE.read_text()
    before, rest = page.split(MARKS[0])
    after = rest.split(MARKS[1])[1]
    PAGE.write_text(before + MARKS[0] + "\n" + written(results) + "\n" + MARKS[1] + after)
    print(f"wrote {PAGE}")
