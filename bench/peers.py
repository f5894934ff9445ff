"""What other methods reach on the rows of `upoe reproduce`: FastICA and Gaussian mixtures.

    python -m venv venv && venv/bin/pip install -r bench/requirements.txt
    venv/bin/python bench/peers.py crabs  --data crabs.csv -o crabs.json
    venv/bin/python bench/peers.py frey   --data frey_rawface.mat --train-rows OUT/train_rows.txt -o frey.json
    venv/bin/python bench/peers.py images --data images --patches OUT/patches.csv -o images.json

OUT is the directory that `upoe reproduce` wrote to. `upoe reproduce … --peers FILE` draws the
results beside its own. Rows are sphered as upoe does it: x = A (row - m) with A = L^(-1/2) U',
dividing by N, the largest entry of each row of A positive. FastICA gets the sphered rows and
returns orthonormal directions; likelihoods of held-out rows are in nats per row, for crabs over the
five columns (ten folds, row i in fold i mod 10), for the others in sphered space. A Gaussian and
PPCA are models of upoe without experts, so the command computes them itself.
"""

import argparse
import csv
import json
import sys
from pathlib import Path

import numpy as np
import scipy
import scipy.io
import sklearn
from sklearn.decomposition import FastICA
from sklearn.mixture import GaussianMixture


def sphering(rows, dims):
    mean = rows.mean(0)
    centred = rows - mean
    values, vectors = np.linalg.eigh(centred.T @ centred / len(rows))
    order = np.argsort(values)[::-1][:dims]
    matrix = (vectors[:, order] / np.sqrt(values[order])).T
    largest = np.abs(matrix).argmax(1)
    matrix *= np.sign(matrix[np.arange(dims), largest])[:, None]
    return mean, matrix


def fastica(x, max_iter=2000, tol=1e-8):
    """Orthonormal directions, all of them, learned together."""
    ica = FastICA(whiten=False, fun="logcosh", random_state=0, max_iter=max_iter, tol=tol)
    ica.fit(x)
    directions = np.asarray(ica.components_, dtype=float)
    u, _, v = np.linalg.svd(directions)
    print(f"fastica: {ica.n_iter_} iterations", file=sys.stderr)
    return u @ v


def likelihood(method, group, train, test):
    result = {
        "method": method,
        "group": group,
        "train": float(np.mean(train)),
        "test": float(np.mean(test)),
        "standard_error": float(np.std(test, ddof=1) / np.sqrt(len(test))),
    }
    print(f"{method}: train {result['train']:.4f}, test {result['test']:.4f}", file=sys.stderr)
    return result


def mixture(x, size, kind, starts=5):
    # With the default tolerance a mixture of components around one centre stops where it starts.
    model = GaussianMixture(
        size, covariance_type=kind, n_init=starts, random_state=0, max_iter=200, tol=1e-5
    )
    return model.fit(x)


def crabs(arguments):
    with open(arguments.data, newline="") as file:
        table = list(csv.DictReader(file))
    rows = np.array([[float(row[c]) for c in ("FL", "RW", "CL", "CW", "BD")] for row in table])
    mean, matrix = sphering(rows, 5)
    x = (rows - mean) @ matrix.T
    fold = np.arange(len(rows)) % 10

    def held_out(method, group, fit):
        train, test = [], np.empty(len(rows))
        for f in range(10):
            model = fit(rows[fold != f])
            train.append(model.score(rows[fold != f]))
            test[fold == f] = model.score_samples(rows[fold == f])
        return likelihood(method, group, train, test)

    results = []
    for kind in ("full", "tied", "diag"):
        for size in (2, 3, 4, 5, 6):
            name = f"Gaussian mixture, {size} components, {kind}"
            fit = lambda r, size=size, kind=kind: mixture(r, size, kind, 10)  # noqa: E731
            results.append(held_out(name, "Gaussian mixture", fit))
    return x, list(range(len(rows))), fastica(x), results


def frey(arguments):
    if arguments.data.suffix == ".mat":
        faces = scipy.io.loadmat(arguments.data)["ff"].T
    else:
        faces = np.load(arguments.data)
    faces = faces / 255.0
    chosen = np.loadtxt(arguments.train_rows, dtype=int)
    train, test = faces[chosen], np.delete(faces, chosen, axis=0)
    mean, matrix = sphering(train, 50)
    x, y = (train - mean) @ matrix.T, (test - mean) @ matrix.T
    results = mixtures(x, y, {"full": (1, 2, 3, 4, 6), "tied": (5, 20, 40, 80, 160),
                              "diag": (5, 20, 40, 80, 160), "spherical": (5, 20, 40, 80, 160)})
    return x, [int(i) for i in chosen], fastica(x), results


def mixtures(x, y, sizes, starts=3):
    results = []
    for kind, counts in sizes.items():
        for size in counts:
            model = mixture(x, size, kind, starts)
            name = f"Gaussian mixture, {size} component(s), {kind}"
            results.append(
                likelihood(name, f"Gaussian mixture, {kind}", model.score_samples(x), model.score_samples(y))
            )
    return results


def images(arguments):
    from PIL import Image

    places = np.loadtxt(arguments.patches, dtype=int, delimiter=",", skiprows=1)
    pictures = {}
    for image in np.unique(places[:, 1]):
        pictures[image] = np.asarray(Image.open(arguments.data / f"{image}.tiff"), np.float32)
    side = np.arange(30)

    def patches(chosen):
        out = np.empty((len(chosen), 900), np.float32)
        for row, (_, image, top, left) in zip(out, chosen):
            row[:] = pictures[image][np.ix_(top + side, left + side)].ravel()
        return out

    train, test = patches(places[places[:, 0] == 1]), patches(places[places[:, 0] == 0])
    mean, matrix = sphering(train.astype(float), arguments.dims)
    x = ((train - mean) @ matrix.T).astype(np.float32)
    y = ((test - mean) @ matrix.T).astype(np.float32)
    directions = fastica(x, max_iter=100, tol=1e-3)
    results = mixtures(x, y, {"spherical": (2, 4, 8), "diag": (2, 4, 8), "full": (2,)}, starts=1)
    rows = [int(i * 1000000 + t * 1000 + l) for _, i, t, l in places[:500]]
    return x, rows, directions, results


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("experiment", choices=["crabs", "frey", "images"])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--train-rows", type=Path, help="frey: the training rows, numbers from 0")
    parser.add_argument("--patches", type=Path, help="images: the places of the patches")
    parser.add_argument("--dims", type=int, default=400, help="images: dimensions kept")
    parser.add_argument("-o", "--output", type=Path, required=True)
    arguments = parser.parse_args()
    experiment = {"crabs": crabs, "frey": frey, "images": images}[arguments.experiment]
    x, rows, directions, results = experiment(arguments)
    fourth = ((x @ directions.T) ** 4).mean(0)
    if arguments.experiment == "images":
        # Those of heaviest tails; 400 would make a large file.
        best = np.argsort(fourth)[::-1][:100]
        directions, fourth = directions[best], fourth[best]
    digits = 6 if arguments.experiment == "crabs" else 5
    arguments.output.write_text(
        json.dumps(
            {
                "experiment": arguments.experiment,
                "made_with": f"scikit-learn {sklearn.__version__}, numpy {np.__version__}",
                "rows": rows,
                "fastica": [[round(float(w), digits) for w in row] for row in directions],
                "fourth_moments": [float(f"{m:.6g}") for m in fourth],
                "likelihoods": results,
            },
            separators=(",", ":"),
        )
        + "\n"
    )


if __name__ == "__main__":
    main()
