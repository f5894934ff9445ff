"""Numbers: ln p against 50 digits, the Student-t against scipy, samplers against their CDFs.

`python reliability/precision.py` writes the section; `test_precision.py` is its quick form."""

import csv
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import common
import exact
import model_file
import numpy as np
from mpmath import mpf
from scipy import stats
from upoe import UPoE

BOUND = 1e-10
KINDS = ("student-t", "mixture", "tilt")


def student_t(rng):
    """A Student-t anywhere from nearly no tail exponent to the Gaussian."""
    return {
        "location": rng.normal() * 10 ** rng.uniform(-2, 2),
        "scale": 10 ** rng.uniform(-3, 3),
        "degrees_of_freedom": 10 ** rng.choice([rng.uniform(-2, 2), rng.uniform(2, 15)]),
        "fix_mu": False,
        "fix_beta": False,
    }


def expert(rng, kind):
    """A random expert of a family, as a model file's header has it."""
    if kind == "student-t":
        return {"kind": kind, **student_t(rng)}
    if kind == "mixture":
        components = sorted(
            (student_t(rng) for _ in range(rng.integers(1, 6))), key=lambda t: t["location"]
        )
        weights = 10 ** rng.uniform(-9, 0, len(components))
        return {"kind": kind, "weights": list(weights / weights.sum()), "components": components}
    # As rough as the prior lets learning go (1e6), and no coefficient at its limit.
    coefficients = rng.normal(size=20) / np.arange(1, 21) ** rng.uniform(0, 2.5)
    size = (10 ** rng.uniform(-2, 6) / exact.roughness(coefficients)) ** 0.5
    coefficients *= min(size, 150 / np.abs(coefficients).max())
    return {"kind": kind, "coefficients": list(coefficients), "roughness": 1e-3}


def template():
    """The header of some fitted model; what says nothing about ln p is taken from it."""
    with tempfile.TemporaryDirectory() as folder:
        UPoE(1).fit(np.random.default_rng(0).normal(size=(50, 2))).save(f"{folder}/model")
        header = model_file.read(f"{folder}/model")[0]
        header.pop("groups", None)  # they are those of its own rows
        return header


def random_model(rng, header, experts=None, kinds=KINDS, rest=None):
    """A header and arrays: any dimensions, scales, means, directions and experts."""
    d = int(rng.choice([1, 2, 3, 5, 8, 13, 25])) if experts is None else 3
    j = int(rng.integers(0, d + 1)) if experts is None else len(experts)
    rest = rest or rng.choice(["nothing", "degenerate", "noise"], p=[0.6, 0.2, 0.2])
    columns = d if rest == "nothing" else d + int(rng.integers(1, 4))
    spread = np.sort(10 ** rng.uniform(-1.5, 1.5, d))[::-1]
    axes = np.linalg.qr(rng.normal(size=(columns, d)))[0]
    scale = 10 ** (rng.uniform(-12, 12) if rest == "noise" else rng.uniform(-12, 12, (columns, 1)))
    unsphering = scale * axes * spread
    sphering = np.linalg.pinv(axes * spread) / np.transpose(scale)
    deviations = np.sqrt((unsphering**2).sum(1))
    mean = deviations * rng.normal(size=columns) * 10 ** rng.uniform(-2, 5)
    directions = np.linalg.qr(rng.normal(size=(d, d)))[0][:j]
    if rng.random() < 0.5:  # neither orthogonal nor of unit length
        directions = (directions + 0.5 * rng.normal(size=(j, d)) / np.sqrt(d)) * 10 ** rng.uniform(
            -1, 1, (j, 1)
        )
    experts = experts or [expert(rng, rng.choice(kinds)) for _ in range(j)]
    a = exact.matrix(sphering)
    variance = float(scale**2 * spread[-1] ** 2 * rng.uniform(0.01, 1)) if rest == "noise" else None
    learned = {"q": -0.1, "p_value": None, "iterations": 1, "converged": True}
    arrays = {
        "mean": mean,
        "deviations": deviations,
        "sphering": sphering,
        "unsphering": unsphering,
    }
    arrays |= {"directions": directions, "pseudo_inverse": np.linalg.pinv(directions).reshape(d, j)}
    whitening = {
        "ln_det": float(exact.mp.log(exact.mp.det(a * a.T)) / 2),
        "rank": d,
        "kept_variance": 0.9,
        "rest": {"noise": {"variance": variance}} if rest == "noise" else str(rest),
    }
    state = {"experts": [{"expert": e, **learned} for e in experts], "path": []}
    state["path"] = [{"train": 0.0, "holdout": None} for _ in range(j + 1)]
    # The readers that these are for are other programs; upoe goes by the header.
    arrays |= {f"expert{k + 1}": np.zeros((1, 5)) for k in range(j)}
    names = [f"c{k}" for k in range(columns)]
    w = exact.matrix(directions) if j else None
    half_ln_gram = float(exact.mp.log(exact.mp.det(w * w.T)) / 2) if j else 0.0
    return {
        **header,
        "columns": names,
        "whitening": whitening,
        "half_ln_gram": half_ln_gram,
        "state": state,
    }, arrays


def random_rows(rng, header, arrays, count):
    """Rows near and far from the mean, those of a degenerate model on its subspace."""
    mean, unsphering = arrays["mean"], arrays["unsphering"]
    d = unsphering.shape[1]
    x = rng.normal(size=(count, d)) * 10 ** rng.choice([0, 0, rng.uniform(0, 4)], (count, 1))
    rows = mean + x @ unsphering.T
    if isinstance(header["whitening"]["rest"], dict):
        deviation = header["whitening"]["rest"]["noise"]["variance"] ** 0.5
        rows = rows + deviation * rng.normal(size=rows.shape)
    return rows


def errors(path, rows):
    """The largest error of the fast and of the row-by-row ln p, over max(1, |ln p|)."""
    header, arrays = model_file.read(path)
    truth = exact.ln_p(header, arrays, rows)
    model = UPoE.load(path)
    fast, slow = model.score_samples(rows), model.explain(rows).log_density
    worst = 0.0
    for found in (fast, slow):
        for value, true in zip(found, truth):
            off = (
                abs(mpf(float(value)) - true) / max(1, abs(true)) if np.isfinite(value) else np.inf
            )
            worst = max(worst, float(off))
    return worst, fast


def by_command(path, rows, folder):
    """ln p of the same rows by `upoe score`, through a CSV file."""
    header, _ = model_file.read(path)
    with open(f"{folder}/rows.csv", "w", newline="") as file:
        csv.writer(file).writerows(
            [header["columns"], *(map(repr, map(float, row)) for row in rows)]
        )
    command = [common.UPOE, "score", path, f"{folder}/rows.csv", "--quiet"]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    return np.array(lines[1:], float)


def random_models(count, rows=4, seed=1):
    """Errors of that many written models, by family; every 25th goes through the command too."""
    header, table = template(), {}
    with tempfile.TemporaryDirectory() as folder:
        for k in range(count):
            rng = np.random.default_rng([seed, k])
            kinds = [(kind,) for kind in KINDS][k % 4 : k % 4 + 1] or [KINDS]
            model, arrays = random_model(rng, header, kinds=kinds[0])
            path = f"{folder}/model.upoe"
            model_file.write(path, model, arrays)
            data = random_rows(rng, model, arrays, rows)
            worst, fast = errors(path, data)
            if k % 25 == 0:
                assert np.array_equal(
                    by_command(path, data, folder), fast
                ), f"model {k}: the command differs"
            used = {e["expert"]["kind"] for e in model["state"]["experts"]}
            name = "no expert" if not used else used.pop() if len(used) == 1 else "families mixed"
            table.setdefault(name, []).append((worst, k))
    return table


def fitted_models(count, seed=2):
    """Errors of models that were fitted, on the rows they were fitted to and on samples."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for k in range(count):
            rng = np.random.default_rng([seed, k])
            n, d = int(rng.integers(20, 300)), int(rng.integers(1, 7))
            rows = rng.choice(
                [rng.standard_t(3, (n, d)), rng.laplace(size=(n, d)), rng.random((n, d))]
            )
            rows = rows @ rng.normal(size=(d, d)) * 10 ** rng.uniform(-6, 6, d)
            learner = ("pursuit", "sequential", "parallel")[k % 3]
            family = ("auto", *KINDS)[k % 4]
            model = UPoE(
                int(rng.integers(0, d + 1)),
                family=family,
                learner=learner,
                n_dims=int(rng.integers(1, d + 1)),
            )
            try:
                model.fit(rows)
            except ValueError:  # n_dims where the scales differ too much
                model.set_params(n_dims=None).fit(rows)
            model.save(f"{folder}/model.upoe")
            rows = np.vstack([rows[:3], model.sample(2, random_state=k)])
            found.append((errors(f"{folder}/model.upoe", rows)[0], k))
    return found


def against_scipy():
    """The largest error of ln T against scipy.stats.t, by degrees of freedom."""
    header, z, table = (
        template(),
        np.concatenate([-np.logspace(6, -6, 40), [0], np.logspace(-6, 6, 40)]),
        [],
    )
    for freedom in (0.2, 0.5, 1, 2, 3, 5, 10, 30, 100, 1e3, 1e5):
        t = {"kind": "student-t", "location": 0.3, "scale": 0.7, "degrees_of_freedom": freedom}
        model = single(header, {**t, "fix_mu": False, "fix_beta": False})
        truth = stats.t.logpdf(z, freedom, 0.3, 0.7)
        off = np.abs(model.score_samples(z[:, None]) - truth) / np.maximum(1, np.abs(truth))
        table.append([f"{freedom:g}", f"{off.max():.1e}"])
        assert off.max() < BOUND, f"{freedom} degrees of freedom: {off.max()}"
    return table


def single(header, of):
    """A model of one column that is one expert."""
    one = np.ones((1, 1))
    arrays = {"mean": 0 * one[0], "deviations": one[0], "sphering": one, "unsphering": one}
    arrays |= {"directions": one, "pseudo_inverse": one, "expert1": np.zeros((1, 5))}
    learned = {"expert": of, "q": -0.1, "p_value": None, "iterations": 1, "converged": True}
    state = {"experts": [learned], "path": [{"train": 0.0, "holdout": None}] * 2}
    whitening = {"ln_det": 0.0, "rank": 1, "kept_variance": 1.0, "rest": "nothing"}
    changes = {"columns": ["z"], "whitening": whitening, "half_ln_gram": 0.0, "state": state}
    return load({**header, **changes}, arrays)


def load(header, arrays):
    with tempfile.TemporaryDirectory() as folder:
        model_file.write(f"{folder}/model.upoe", header, arrays)
        return UPoE.load(f"{folder}/model.upoe")


def cdf(of):
    """P(Z ≤ z), by scipy; of a tilt by 50-digit ln T on a fine grid and the trapezium rule."""
    if of["kind"] == "student-t":
        return lambda z: stats.t.cdf(z, of["degrees_of_freedom"], of["location"], of["scale"])
    if of["kind"] == "mixture":
        parts = [
            (w, cdf({"kind": "student-t", **c})) for w, c in zip(of["weights"], of["components"])
        ]
        return lambda z: sum(w * part(z) for w, part in parts)
    tilt = exact.Tilt(of["coefficients"])
    grid = np.linspace(-60, 60, 240_001)
    values, slopes = np.array(tilt.pieces, float), [float(s) for s in tilt.slopes]
    cell = np.clip(((grid + 4) / 0.4).astype(int), 0, 19)
    v = (np.clip(grid, -4, 4) + 4) / 0.4 - cell
    f = np.sum(values[cell] * v[:, None] ** np.arange(4), axis=1)
    f += np.minimum(grid + 4, 0) * slopes[0] + np.maximum(grid - 4, 0) * slopes[1]
    density = np.exp(f - float(tilt.ln_z)) * stats.norm.pdf(grid)
    total = np.concatenate([[0], np.cumsum(density[1:] + density[:-1]) * (grid[1] - grid[0]) / 2])
    return lambda z: np.interp(z, grid, total)


def samplers(n):
    """Kolmogorov–Smirnov of each family alone, and of whole models along their directions and
    outside them."""
    header, table = template(), []

    def check(what, drawn, of):
        found = stats.kstest(drawn, of)
        assert found.pvalue > 1e-4, f"{what}: {found}"
        table.append([what, f"{found.statistic * n**0.5:.3f}", f"{found.pvalue:.2g}"])

    free = {"fix_mu": False, "fix_beta": False}
    t = lambda mu, s, nu: {"location": mu, "scale": s, "degrees_of_freedom": nu, **free}
    groups = {
        "weights": [0.2, 0.5, 0.3],
        "components": [t(-2, 0.3, 30), t(0, 1, 1.5), t(1, 0.05, 1e15)],
    }
    cases = {
        f"Student-t, {nu:g} degrees of freedom": {"kind": "student-t", **t(0.5, 2, nu)}
        for nu in (0.2, 1, 3, 50, 1e6)
    }
    cases["mixture of 3"] = {"kind": "mixture", **groups}
    for name, size, shift in (
        ("tilt", 0.5, 0),
        ("rough tilt", 3, 0),
        ("tilt beyond its knots", 0.5, 30),
    ):
        c = np.random.default_rng(3).normal(size=20) * size / np.arange(1, 21) ** 1.5
        c[0] += shift
        cases[name] = {"kind": "tilt", "coefficients": list(c), "roughness": 1e-3}
    for name, of in cases.items():
        check(name, single(header, of).sample(n, random_state=1)[:, 0], cdf(of))
    three = [cases["Student-t, 3 degrees of freedom"], cases["mixture of 3"], cases["tilt"]]
    for chosen, rest in ((three[1:], "nothing"), (three, "noise"), (three[:2], "degenerate")):
        model, arrays = random_model(np.random.default_rng(4), header, chosen, rest=rest)
        rows = load(model, arrays).sample(n, random_state=2) - arrays["mean"]
        x = rows @ arrays["sphering"].T
        for j, of in enumerate(chosen):
            check(
                f"whole model ({rest}), expert {j + 1}: {of['kind']}",
                x @ arrays["directions"][j],
                cdf(of),
            )
        if len(chosen) < 3:
            outside = np.linalg.svd(arrays["directions"])[2][-1]
            check(f"whole model ({rest}), outside the directions", x @ outside, stats.norm.cdf)
        if rest == "noise":
            off = np.linalg.svd(arrays["unsphering"])[0][:, -1]
            deviation = model["whitening"]["rest"]["noise"]["variance"] ** 0.5
            check(
                "whole model (noise), outside the kept dimensions",
                rows @ off / deviation,
                stats.norm.cdf,
            )
    return table


def main():
    warnings.simplefilter("ignore")  # of fits; they are not the subject here
    began = time.time()
    table = random_models(1000)
    table["fitted models"] = fitted_models(100)
    rows = []
    for name, found in sorted(table.items()):
        off = np.array([worst for worst, _ in found])
        rows.append([name, len(off), f"{np.median(off):.1e}", f"{off.max():.1e}"])
        print(*rows[-1], f"model {max(found)[1]}")
    assert all(worst < BOUND for found in table.values() for worst, _ in found)
    columns = ["experts", "models", "median error", "largest error"]
    tables = [{"caption": "Error of ln p over max(1, |ln p|).", "columns": columns, "rows": rows}]
    caption = "The expert against `scipy.stats.t`, for 81 z from −1e6 to 1e6."
    columns = ["degrees of freedom", "largest error"]
    tables.append({"caption": caption, "columns": columns, "rows": against_scipy()})
    caption = (
        "Samplers at n = 1,000,000: √n times the Kolmogorov–Smirnov statistic, and its p-value."
    )
    columns = ["sampler", "√n·D", "p-value"]
    tables.append({"caption": caption, "columns": columns, "rows": samplers(1_000_000)})
    text = [
        "1,000 random models are written as model files by a script (1 to 25 dimensions, 0 to 25 "
        "experts, columns on scales from 1e-12 to 1e12, means up to 1e5 deviations, directions "
        "orthonormal or not, rows outside the kept dimensions as nothing, noise or a degenerate "
        "subspace; ν from 0.01 to 1e15, scales from 1e-3 to 1e3, mixing coefficients from 1e-9, "
        "tilts with ∫ f″² from 0.01 to 1e6), and four rows of each, up to 1e4 deviations out, are scored by the package, row "
        "by row and in blocks; every 25th also by the command, whose figures are the same bits. "
        "The truth is `reliability/exact.py`: the paper's formulas in 50 digits, every constant "
        "derived independently. All errors are below 1e-10·max(1, |ln p|).",
        f"The whole took {time.time() - began:.0f} s.",
    ]
    common.write("precision", "Numbers", "make reliability SECTION=precision", text, tables)


if __name__ == "__main__":
    sys.exit(main())
