"""Section 12: what the default fit takes next to Student-t alone, with all that a user gets: the search of all
families, outliers, significance, groups, and for the command reading and writing files.

Needs the command, built by `cargo build --release`, or its path in `UPOE`.
"""

import os
import resource
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
from common import quiet, save, say, summary
from density_sets import SETS
from upoe import UPoE

COMMAND = os.environ.get("UPOE", "target/release/upoe")
RUNS = 5
GOAL = 2.5
FAMILIES = ("auto", "student-t")


def processor(task):
    """Seconds of the processor that a task takes in this process, and its result."""
    with quiet():
        began = time.process_time()
        result = task()
        return time.process_time() - began, result


def by_command(folder, family):
    """Seconds of the processor that the command takes."""
    chosen = [] if family == "auto" else ["--family", family]
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    fit = [COMMAND, "fit", f"{folder}/rows.npy", "-o", f"{folder}/model.upoe", "--threads", "1", "--quiet", *chosen]
    subprocess.run(fit, check=True, capture_output=True)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def compare(train, held):
    """Times of both fits in turn, from Python and by the command, and their held-out ln p."""
    took = {(way, family): [] for way in ("python", "command") for family in FAMILIES}
    models = {}
    with tempfile.TemporaryDirectory() as folder:
        np.save(Path(folder) / "rows.npy", train)
        for run in range(RUNS + 1):
            for family in FAMILIES:
                seconds, models[family] = processor(lambda: UPoE(family=family, n_jobs=1).fit(train))
                pair = {"python": seconds, "command": by_command(folder, family)}
                for way in pair if run else ():  # the first warms up
                    took[way, family].append(pair[way])
    ways = {}
    for way in ("python", "command"):
        both = {family: summary(took[way, family]) for family in FAMILIES}
        ways[way] = {**both, "ratio": both["auto"]["median"] / both["student-t"]["median"]}
    held = {family: float(model.score(held)) for family, model in models.items()}
    return {"rows": len(train), "dims": train.shape[1], "held": held, **ways}


def main():
    results = {}
    for name in ("patches", "Frey"):
        split = next(iter(SETS[name]()))
        results[name] = compare(split.train, split.held)
        say(f"default: {name}", *(f"{way} {results[name][way]['ratio']:.2f}" for way in ("python", "command")), results[name]["held"])
    save("default", {"goal": GOAL, "sets": results})


if __name__ == "__main__":
    main()
