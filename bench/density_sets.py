"""The sets of the density section: rows to learn from and rows held out, the same for every method.

Tables are split by folds: `default_rng(0).permutation(N)`, a row's fold is its position there modulo 5, and the first
few folds are held out in turn. Columns are standardised on the fold's training rows. Faces, patches and the synthetic
set have one split each and are sphered on the training rows.
"""

from typing import NamedTuple

import numpy as np
from data import folder, frey, patches, sphering, synthetic

CRABS = "crates/upoe-cli/data/crabs.csv"
# What ties get: Gaussian noise of this share of a column's standard deviation, on training and held-out rows alike.
# Every method then has the same smallest scale, and none gains by a density narrower than that.
NOISE = 0.01


class Split(NamedTuple):
    """Training and held-out rows, and the block of each, where the rows of a block depend on each other."""

    train: np.ndarray
    held: np.ndarray
    train_blocks: np.ndarray | None = None
    held_blocks: np.ndarray | None = None


def table(name):
    """The numbers of a table."""
    if name == "crabs":
        return np.genfromtxt(CRABS, delimiter=",", skip_header=1, usecols=range(4, 9))
    if name == "breast cancer":
        from sklearn.datasets import load_breast_cancer

        return load_breast_cancer().data
    return np.loadtxt(folder() / f"density/{name}.csv", delimiter=",", skiprows=1)


def folds(rows, count, noise=0.0):
    """The first `count` of five folds, standardised on their training rows."""
    rng = np.random.default_rng(0)
    order = rng.permutation(len(rows))
    fold = np.arange(len(rows)) % 5
    for f in range(count):
        train, held = rows[order[fold != f]], rows[order[fold == f]]
        mean, scale = train.mean(axis=0), train.std(axis=0)
        yield Split(*((part - mean) / scale + noise * rng.normal(size=part.shape) for part in (train, held)))


def sphered(train, held, dims, *blocks):
    mean, matrix = sphering(train, dims)
    yield Split((train - mean) @ matrix.T, (held - mean) @ matrix.T, *blocks)


def patch_split():
    """8 × 8 patches: 10,000 of images 1–11, and 1,000 of images 12 and 13."""
    rows = [patches(range(1, 12), 8, 10_000, seed=3), patches([12, 13], 8, 1_000, seed=4)]
    return sphered(*(r - r.mean(axis=1, keepdims=True) for r in rows), 63)


def frey_split():
    """The paper's split: 1000 faces, and the 965 others. Most held-out frames have a training frame next to them."""
    rows, dims = frey()
    train = np.loadtxt(folder() / "frey/train_rows.txt", dtype=int)
    return sphered(rows[train], np.delete(rows, train, axis=0), dims)


def frey_blocks():
    """20 blocks of successive frames: those of even numbers to learn from, the others held out."""
    rows, dims = frey()
    block = np.arange(len(rows)) * 20 // len(rows)
    even = block % 2 == 0
    return sphered(rows[even], rows[~even], dims, block[even], block[~even])


def synthetic_split():
    rows, dims = synthetic()
    return sphered(rows[:10_000], rows[10_000:11_000], dims)


# Name → the splits.
SETS = {
    "crabs": lambda: folds(table("crabs"), 5),
    "parkinsons": lambda: folds(table("parkinsons"), 5),
    "ionosphere": lambda: folds(table("ionosphere"), 3, NOISE),
    "breast cancer": lambda: folds(table("breast cancer"), 2),
    "vowels": lambda: folds(table("vowels"), 2),
    "red": lambda: folds(table("red"), 2),
    "white": lambda: folds(table("white"), 1),
    "magic": lambda: folds(table("magic"), 1),
    "Frey": frey_split,
    "Frey in blocks": frey_blocks,
    "synthetic": synthetic_split,
    "patches": patch_split,
}
WITHOUT_FOLDER = ["crabs", "breast cancer", "synthetic"]
