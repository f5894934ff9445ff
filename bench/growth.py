"""Section 5: how time and memory grow with rows N, dimensions D, experts J and starts K.

Each point is a process of its own: its peak memory is what the fit adds to the rows it is given,
which are independent Student-t columns.
"""

import json
import resource
import subprocess
import sys

import numpy as np
from common import measure, save, say

BASE = {"N": 20_000, "D": 50, "J": 5, "K": 8}
SWEEPS = {
    "N": [1_000, 10_000, 100_000, 1_000_000],
    "D": [10, 30, 100, 300, 1_000],
    "J": [1, 3, 10, 30],
    "K": [1, 4, 16, 64, 256],
}


def peak():
    """The most memory this process has had, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def fit(n, d, j, k):
    """Seconds of fits, and the memory that the first adds."""
    from upoe import UPoE

    rng = np.random.default_rng(0)
    rows = np.empty((n, d))
    for block in np.array_split(rows, max(1, n // 1000)):
        block[:] = rng.standard_t(5, size=block.shape)
    before, after = peak(), []

    def learn():
        UPoE(j, family="student-t", n_starts=k, tol=1e-3).fit(rows)
        after.append(peak())

    timing = measure(learn)[0]
    return {**timing, "memory": after[0] - before, "sphered": rows.nbytes}


def exponent(points, over):
    """The slope of seconds against a size, both logarithmic, without the smallest size."""
    x, y = ([np.log(p[name]) for p in points[1:]] for name in (over, "median"))
    return float(np.polyfit(x, y, 1)[0])


def main():
    sweeps = {}
    for over, sizes in SWEEPS.items():
        points = []
        for size in sizes:
            at = {**BASE, over: size}
            command = [sys.executable, __file__, *map(str, at.values())]
            out = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
            points.append({**at, **json.loads(out)})
            p = points[-1]
            say(f"growth: {over} = {size}: {p['median']:.3f} s, {p['memory'] / 1e6:.0f} MB more")
        sweeps[over] = {"exponent": exponent(points, over), "points": points}
    save("growth", {"base": BASE, "sweeps": sweeps})


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(fit(*map(int, sys.argv[1:]))))
    else:
        main()
