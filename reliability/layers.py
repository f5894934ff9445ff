"""Layers: how often a stack finds something in Gaussian rows, and what it finds in elliptical ones.

`python reliability/layers.py` writes the section (`--draws 20` makes fewer); `test_layers.py` is its quick form."""

import argparse
import sys
import warnings

import common
import numpy as np
from upoe import UPoE

DRAWS = 100
GAUSSIAN = ((300, 5), (1000, 10), (3000, 20))
ELLIPTICAL = (1000, 10)


def kinds(rows):
    """The kinds of the layers of a stack that is fitted to these rows."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that nothing was found
        return [layer.kind for layer in UPoE(quality="good").fit(rows).layers_]


def gaussian(n, d, draws):
    """In how many draws Gaussian rows get no layer."""
    return sum(not kinds(np.random.default_rng([1, n, d, i]).normal(size=(n, d))) for i in range(draws))


def elliptical(n, d, draws):
    """In how many draws correlated rows of a Student-t with ν = 5 get one radial expert and nothing else."""
    found = 0
    for i in range(draws):
        rng = np.random.default_rng([2, n, d, i])
        scale = np.sqrt(5 / rng.chisquare(5, size=(n, 1)))
        found += kinds(scale * rng.normal(size=(n, d)) @ rng.normal(size=(d, d))) == ["radial"]
    return found


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--draws", type=int, default=DRAWS)
    draws = options.parse_args().draws
    rows = [[f"Gaussian, {n:,} × {d}", "no layer", f"{gaussian(n, d, draws)} of {draws}", "95 %"] for n, d in GAUSSIAN]
    n, d = ELLIPTICAL
    found = f"{elliptical(n, d, draws)} of {draws}"
    rows.append([f"elliptical t, ν = 5, {n:,} × {d}", "one radial expert, no direction", found, "90 %"])
    for row in rows:
        print(*row, sep=" | ", flush=True)
    table = {"caption": "", "columns": ["rows", "what is right", "found", "promised"], "rows": rows}
    text = ["What the stack (`quality=\"good\"`) finds where the right answer is known. Rows are new in every draw."]
    if draws == DRAWS:
        common.write("layers", "Layers", "make reliability SECTION=layers", text, [table])


if __name__ == "__main__":
    sys.exit(main())
