"""What a fit from Python costs beyond the same fit by the command, on 100,000 × 50 rows.

    python bench/python_overhead.py [path to upoe]

Both fit the same rows with the same settings, in turn. The command's time is the `seconds` it
reports, without reading the file; Python's is that of the whole call `fit(X)`. Needs the
package installed, and the command built by `cargo build --release`.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from upoe import UPoE

RUNS = 5
ROWS, COLUMNS, EXPERTS = 100_000, 50, 1


def main() -> None:
    command = sys.argv[1] if len(sys.argv) > 1 else "target/release/upoe"
    rng = np.random.default_rng(0)
    X = rng.standard_t(4, size=(ROWS, COLUMNS)) @ rng.normal(size=(COLUMNS, COLUMNS))
    seconds: dict[str, list[float]] = {"rust": [], "python": []}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows.npy"
        np.save(file, X)
        fit = [command, "fit", str(file), "--experts", str(EXPERTS), "--json", "--quiet"]
        for run in range(RUNS + 1):
            fitted = json.loads(subprocess.run(fit, capture_output=True, check=True).stdout)
            start = time.perf_counter()
            model = UPoE(n_experts=EXPERTS).fit(X)
            elapsed = time.perf_counter() - start
            gains = [-expert["q"] for expert in fitted["experts"]]
            assert np.array_equal(model.gains_, gains), "the two fits differ"
            if run > 0:  # the first warms up
                seconds["rust"].append(fitted["seconds"])
                seconds["python"].append(elapsed)
                print(f"run {run}: rust {fitted['seconds']:.3f} s, python {elapsed:.3f} s", flush=True)
    rust, python = (statistics.median(seconds[who]) for who in ("rust", "python"))
    print(f"median of {RUNS}: rust {rust:.3f} s, python {python:.3f} s")
    print(f"overhead {100 * (python / rust - 1):+.1f} %")


if __name__ == "__main__":
    main()
