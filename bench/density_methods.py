"""The methods of the density section. Each is a function of the training rows (and of their blocks, or None) that
returns what it chose, in words, and a function from rows to ln p. Nothing is chosen on held-out rows.
"""

import numpy as np
from data import sphering
from exact_kernels import ExactKernels
from sklearn.mixture import GaussianMixture
from upoe import UPoE

COMPONENTS = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64]
BANDWIDTHS = [1.4, 1.2, 1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.28, 0.2, 0.14, 0.1]
MANY = 5000  # rows; with more, one inner fold chooses instead of five


def ours(**settings):
    """UPoE with these settings, or None where the installed package does not have them yet."""
    try:
        UPoE(**settings)
    except TypeError:
        return None

    # Not told of the blocks: with `blocks=` ten blocks count as ten independent rows, too few to find an expert in.
    def fit(rows, _):
        model = UPoE(**settings).fit(rows)
        return f"{model.n_experts_} experts", model.score_samples

    return fit


def inner_folds(rows, blocks):
    """Masks of the training rows that are held out to choose by: fifths of the rows, or of whole blocks."""
    names, block = np.unique(np.arange(len(rows)) if blocks is None else blocks, return_inverse=True)
    fold = np.random.default_rng(1).permutation(len(names))[block] % 5
    return [fold == f for f in range(1 if len(rows) > MANY else 5)]


def cross_validated(make, choices, rows, held_out):
    """Mean ln p of the inner folds for each choice, in order, until two in a row are below the best."""
    scores = {}
    for choice in choices:
        try:
            folds = [make(*choice).fit(rows[~held]).score_samples(rows[held]) for held in held_out]
        except ValueError:  # more components than rows, or a singular covariance
            break
        scores[choice] = np.concatenate(folds).mean()
        if max(list(scores.values())[-2:]) < max(scores.values()):
            break
    return scores


def best_of(make, paths, rows, blocks):
    """The choice that does best in cross-validation along several paths, and its ln p, fitted to all training rows.
    Rows are sphered first, so that floors and bandwidths have the shape of the data."""
    mean, matrix = sphering(rows, rows.shape[1])
    volume = np.linalg.slogdet(matrix)[1]
    white = (rows - mean) @ matrix.T
    held_out, scores = inner_folds(rows, blocks), {}
    for path in paths:
        scores |= cross_validated(make, path, white, held_out)
    best = max(scores, key=scores.get)
    model = make(*best).fit(white)
    return best, lambda x: model.score_samples((x - mean) @ matrix.T) + volume


def mixture(rows, blocks):
    """A Gaussian mixture: number of components, kind of covariance and its floor by cross-validation."""

    def make(components, kind, floor):
        return GaussianMixture(components, covariance_type=kind, reg_covar=floor, random_state=0, max_iter=300)

    paths = [[(k, kind, floor) for k in COMPONENTS] for kind in ("full", "tied", "diag") for floor in (1e-3, 0.1)]
    (components, kind, floor), score = best_of(make, paths, rows, blocks)
    return f"{components} {kind}, {floor:g}", score


def kernels(rows, blocks):
    """Kernels, summed exactly: bandwidth by cross-validation."""
    (bandwidth,), score = best_of(ExactKernels, [[(h,) for h in BANDWIDTHS]], rows, blocks)
    return f"h = {bandwidth}", score


def sinf(rows, _):
    """Sliced iterative normalising flow, sinflow's defaults: it stops by a fifth of the rows of its own choice. It
    shuffles the rows in place and takes numpy's global random numbers, whatever its `random_state`."""
    from sinflow import Flow

    np.random.seed(0)
    flow = Flow()
    flow.fit(rows.copy())
    return f"{len(flow.transforms)} transforms", flow.log_prob


def spline_flow(rows, _):
    """A spline flow, its size chosen by the rows that stop it."""
    from spline_flow import SplineFlow

    flows = [SplineFlow(transforms, width).fit(rows) for transforms, width in ((2, 32), (3, 64), (5, 64))]
    best = max(flows, key=lambda flow: flow.watched)
    return f"{best.transforms} × {best.width}", best.score_samples


OURS = {"upoe": ours(), "good": ours(quality="good"), "best": ours(quality="best")}
PEERS = {"GMM": mixture, "KDE": kernels, "SINF": sinf, "spline flow": spline_flow}
METHODS = {name: fit for name, fit in (OURS | PEERS).items() if fit}
# A spline flow takes minutes, so it gets three sets of medium size.
ONLY_ON = {"spline flow": ["vowels", "red", "magic"]}
