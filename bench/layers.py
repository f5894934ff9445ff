"""Layers of the paper's images: what a radial expert gains and takes, and what directions on top of it gain.

The same patches as in the section on images, sphered on their training rows. `crates/upoe/examples/layers.rs` measures
from the rows on, and sphering once more on its own. Three fits end after the first layer, one after the second.
"""

import json
import statistics
import subprocess
import tempfile
from pathlib import Path

from common import save, say, summary
from data import folder, large_patches

RUNS = 3


def measured(files, columns, layers):
    command = "cargo run --quiet --release -p upoe --example layers --".split()
    done = subprocess.run([*command, *files, str(columns), str(layers)], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def main():
    if not folder():
        return say("layers: skipped; set UPOE_DATA to the folder of the paper's data")
    train, held = large_patches()
    with tempfile.TemporaryDirectory() as where:
        files = [str(Path(where) / name) for name in ("train", "held")]
        for file, rows in zip(files, (train, held)):
            rows.astype("<f8").tofile(file)
        first = [measured(files, train.shape[1], 1) for _ in range(RUNS)]
        both = measured(files, train.shape[1], 2)
    after = [run["layers"][0]["seconds"] - run["sphering"] for run in first]
    results = {
        "rows": train.shape[0],
        "held_rows": held.shape[0],
        "dims": train.shape[1],
        "sphering": statistics.median(run["sphering"] for run in first),
        "radial_after_sphering": summary(after),
        "layers": both["layers"],
    }
    say(f"layers: {results}")
    save("layers", results)


if __name__ == "__main__":
    main()
