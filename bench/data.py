"""The fixed data sets, sphered: rows of mean 0 and covariance I, as every method gets them."""

import os
from pathlib import Path

import numpy as np

CACHE = Path("target/bench/data")


def folder() -> Path | None:
    """The folder of the paper's data, if there is one."""
    path = Path(os.environ.get("UPOE_DATA") or "../shared/data")
    return path if (path / "images").is_dir() else None


def sphering(rows, dims):
    """Mean and matrix (dims × columns) that sphere rows along their widest axes."""
    mean = rows.mean(axis=0)
    centred = rows - mean
    values, vectors = np.linalg.eigh(centred.T @ centred / len(rows))
    order = np.argsort(values)[::-1][:dims]
    return mean, (vectors[:, order] / np.sqrt(values[order])).T


def patches(images, size, count, seed):
    """`count` square patches of the numbered images, one per row, from random places."""
    from PIL import Image

    files = [folder() / "images" / f"{i}.tiff" for i in images]
    pictures = [np.asarray(Image.open(file), dtype=float) for file in files]
    rng = np.random.default_rng(seed)
    rows = np.empty((count, size * size))
    for row in rows:
        picture = pictures[rng.integers(len(pictures))]
        top, left = (rng.integers(length - size + 1) for length in picture.shape)
        row[:] = picture[top : top + size, left : left + size].ravel()
    return rows


def small_patches():
    """100,000 patches of 8 × 8, each less its mean: 63 dimensions."""
    rows = patches(range(1, 14), 8, 100_000, seed=0)
    return rows - rows.mean(axis=1, keepdims=True), 63


def frey():
    """The Frey faces, all 1965, in 50 dimensions."""
    return np.load(folder() / "frey/frey_rawface.npy") / 255.0, 50


def synthetic():
    """30,000 × 32: 8 Laplace, 8 Student-t, 8 bimodal sources, and 8 that share one random scale."""
    rng = np.random.default_rng(0)
    n = 30_000
    laplace = rng.laplace(size=(n, 8))
    student = rng.standard_t(5, size=(n, 8))
    bimodal = rng.choice([-1.0, 1.0], size=(n, 8)) + 0.5 * rng.normal(size=(n, 8))
    group = rng.normal(size=(n, 8)) * np.sqrt(3 / rng.gamma(3, size=(n, 1)))
    sources = np.hstack([laplace, student, bimodal, group])
    return sources @ rng.normal(size=(32, 32)), 32


def eeg_like():
    """30,000 × 32, like two minutes of EEG at 250 Hz without what is slower than 1 Hz: 31 sources of 1/f spectra
    whose amplitudes vary within seconds, and one that is nearly Gaussian, mixed."""
    rng = np.random.default_rng(0)
    n = 30_000

    def noise(exponent, slowest):
        """A column of variance 1 whose power falls as 1 / frequency^exponent, above the slowest one."""
        spectrum = np.fft.rfft(rng.normal(size=n))
        frequency = np.arange(len(spectrum))
        spectrum *= np.maximum(frequency, slowest) ** (-exponent / 2) * (frequency > 0)
        column = np.fft.irfft(spectrum, n)
        return column / column.std()

    swings = np.append(rng.uniform(0.1, 0.7, size=31), 0.02)
    sources = [noise(rng.uniform(0.5, 1.5), 120) * np.exp(swing * noise(2, 6)) for swing in swings]
    return np.column_stack(sources) @ rng.normal(size=(32, 32)), 32


ICA_SETS = {"patches": small_patches, "Frey faces": frey, "synthetic": synthetic, "EEG-like": eeg_like}


def cached(name, make):
    """The arrays that `make` returns, kept in a file from the first call on."""
    path = CACHE / f"{name}.npz"
    if not path.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        np.savez(path, *make())
    with np.load(path) as file:
        return [file[key] for key in file.files]


def ica_set(name):
    """A set of ICA_SETS, sphered."""

    def make():
        rows, dims = ICA_SETS[name]()
        mean, matrix = sphering(rows, dims)
        return [(rows - mean) @ matrix.T]

    return cached(f"ica-{name.replace(' ', '-')}", make)[0]


def large_patches():
    """Patches of 30 × 30 in 400 sphered dimensions: 100,000 of images 1–11 to learn from and
    20,000 of images 12 and 13 held out. The dimensions fall in variance."""

    def make():
        train = patches(range(1, 12), 30, 100_000, seed=1)
        held = patches([12, 13], 30, 20_000, seed=2)
        mean, matrix = sphering(train, 400)
        return [(train - mean) @ matrix.T, (held - mean) @ matrix.T]

    return cached("large-patches", make)
