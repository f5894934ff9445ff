"""Section 4: held-out ln p of this and other density estimators.

    make bench SECTION=density                         all sets and methods
    make bench SECTION=density METHODS=upoe,good,best  ours alone; the peers' figures stay as they are
    make bench SECTION=density SETS=red,white          some sets

What is not measured anew is kept from bench/results/density.json, with its date. What a prototype reached is read
from the notes beside the folder of the data, where they are.
"""

import json
import os
import re
import time

import numpy as np
from common import RESULTS, save, say, timed
from data import folder
from density_methods import METHODS, ONLY_ON
from density_report import REPORTED_ONLY
from density_sets import SETS, WITHOUT_FOLDER
from threadpoolctl import threadpool_limits


def wanted(variable, known):
    """The names that an environment variable lists, or all."""
    names = [name.strip() for name in os.environ.get(variable, "").split(",") if name.strip()]
    if unknown := set(names) - set(known):
        raise SystemExit(f"{variable}: unknown {', '.join(unknown)}; known are {', '.join(known)}")
    return names or list(known)


def figures(splits, fit):
    """A method's ln p on the held-out rows of all splits, and the mean seconds of a fit with its choices."""
    seconds, settings, values, blocks = [], [], [], []
    for split in splits:
        took, (setting, score) = timed(lambda split=split: fit(split.train, split.train_blocks))
        seconds.append(took)
        settings.append(setting)
        values.append(timed(lambda split=split, score=score: score(split.held))[1])
        blocks.append(split.held_blocks)
    values = np.concatenate(values)
    result = {
        "held": float(values.mean()),
        "standard_error": float(values.std() / np.sqrt(len(values))),
        "seconds": float(np.mean(seconds)),
        "settings": settings,
        "date": time.strftime("%Y-%m-%d"),
    }
    if blocks[0] is not None:
        means = [values[blocks[0] == b].mean() for b in np.unique(blocks[0])]
        result["block_error"] = float(np.std(means, ddof=1) / np.sqrt(len(means)))
    return result


def prototype():
    """Set → mean held-out ln p of the prototype's stack, to come within one standard error of which is the goal of
    `good`, and of its pool, that of `best`; empty without the notes."""
    notes = folder() and folder().parent / "research/README.md"
    found = {}
    for line in notes.read_text().splitlines() if notes and notes.exists() else []:
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        name = re.sub(r" \(.*|, 63 dimensions", "", cells[0]).replace(", blocks", " in blocks")
        if name in SETS and name not in REPORTED_ONLY and name not in found and len(cells) > 3:
            pool, stack = (float(re.match(r"−?[\d.]+", cell)[0].replace("−", "-")) for cell in cells[2:4])
            found[name] = [stack, pool]
    return found


# The peers get one thread: most of these sets are so small that a second one costs more than it gives.
@threadpool_limits.wrap(limits=1)
def main():
    path = RESULTS / "density.json"
    before = json.loads(path.read_text()) if path.exists() else {}
    results, goals = before.get("sets", {}), prototype() or before.get("goals", {})
    methods = wanted("METHODS", METHODS)
    for name in wanted("SETS", SETS):
        if name not in WITHOUT_FOLDER and not folder():
            say(f"density: {name} skipped; set UPOE_DATA to the folder of the data")
            continue
        splits = list(SETS[name]())
        train, held = splits[0].train, splits[0].held
        entry = results.setdefault(name, {"methods": {}})
        entry |= {"rows": len(train), "held_rows": len(held), "dims": train.shape[1], "folds": len(splits)}
        for method in methods:
            if name in ONLY_ON.get(method, SETS):
                entry["methods"][method] = r = figures(splits, METHODS[method])
                say(
                    f"density: {name}, {method}: {r['held']:.3f} ± {r['standard_error']:.3f} in {r['seconds']:.2g} s "
                    f"({'; '.join(r['settings'])})"
                )
        save("density", {"goals": goals, "sets": {name: results[name] for name in SETS if name in results}})


if __name__ == "__main__":
    main()
