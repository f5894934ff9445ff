"""Tables on which version 0.1 went wrong by default, and what is due there. `truth.py` writes it."""

import json
import warnings

import numpy as np
from scipy import stats
from upoe import UPoE, _upoe


def fitted(rows, told=None, **settings):
    """A fit, and what it said."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model = UPoE(**settings).fit(rows, **(told or {}))
    return model, [str(warning.message) for warning in said]


def trimodal():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(10_000, 20))
    rows[:, 0] = rng.choice([-1.2, 0, 1.2], size=10_000) + 0.2 * rng.normal(size=10_000)
    return rows @ rng.normal(size=(20, 20)).T


def four_sources(n=50_000):
    rng = np.random.default_rng(1)
    group, mixing = rng.choice(4, n, p=[0.4, 0.3, 0.2, 0.1]), rng.normal(size=(12, 12))
    rows = rng.normal(size=(n, 12))
    rows[:, 0] += np.array([-3, 3, -3, 3])[group]
    rows[:, 1] += np.array([-2, -2, 3, 3])[group]
    rows[:, 2], rows[:, 3] = rng.standard_t(3, n), rng.gamma(2, size=n)
    return rows @ mixing.T


def clusters(seed):
    """Three clusters 6 deviations apart in a plane of 20 dimensions."""
    rng = np.random.default_rng([2, seed])
    rows, angle = rng.normal(size=(1_000, 20)), 2 * np.pi / 3 * rng.integers(0, 3, 1_000)
    rows[:, :2] += 12**0.5 * np.column_stack([np.cos(angle), np.sin(angle)])
    return rows @ np.linalg.qr(rng.normal(size=(20, 20)))[0]


def uniform():
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(10_000, 20))
    rows[:, 0] = rng.uniform(-(3**0.5), 3**0.5, 10_000)
    return rows @ np.linalg.qr(rng.normal(size=(20, 20)))[0]


def one_column():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(2_000, 200))
    rows[:, 0] += rng.choice([-2, 2], 2_000)
    return rows


def span(values, digits=3):
    low, high = (f"{edge:.{digits}f}" for edge in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"


def gains(rows, seeds, expert=0, **settings):
    """What an expert gains, by seed."""
    return span([fitted(rows, random_state=seed, **settings)[0].gains_[expert] for seed in range(seeds)])


def amari(product):
    """How far a product of filters and mixing matrix is from a scaled permutation: 0 is right."""
    size, product = len(product), np.abs(product)
    of = lambda p: ((p / p.max(axis=1, keepdims=True)).sum(axis=1) - 1).sum()
    return (of(product) + of(product.T)) / (2 * size * (size - 1))


SOURCES = {
    "uniform": lambda rng, shape: rng.uniform(-1, 1, shape),
    "two groups": lambda rng, shape: rng.choice([-1.0, 1.0], shape) + 0.3 * rng.normal(size=shape),
    "Laplace": lambda rng, shape: rng.laplace(size=shape),
}


def unmixed(kind):
    """The Amari error of parallel learning from random starts, 5,000 × 6."""
    rng = np.random.default_rng(6)
    sources, mixing = SOURCES[kind](rng, (5_000, 6)), rng.normal(size=(6, 6))
    model, _ = fitted(sources @ mixing.T, learner="parallel", parallel_start="random", n_experts=6)
    return amari(model.components_ @ mixing)


def mixture_level(draws):
    """The share of Gaussian tables, 500 × 1, in which `family="mixture"` finds an expert."""
    rng = np.random.default_rng(8)
    fit = lambda: fitted(rng.normal(size=(500, 1)), family="mixture", n_experts=1, stop="null")
    return sum(fit()[0].n_experts_ > 0 for _ in range(draws)) / draws


def far_tail():
    """The CDF of a Student-t expert with ν = 1,000 at −12, and the truth."""
    shape = {"kind": "student-t", "location": 0.0, "scale": 1.0, "degrees_of_freedom": 1000.0, "fix_mu": False, "fix_beta": False}
    learned = {"direction": [1.0], "expert": shape, "gain": 0.0, "p_value": None, "iterations": 1, "converged": True}
    return float(_upoe.Expert.from_json(json.dumps(learned)).cdf(np.array([-12.0]))[0]), float(stats.t.cdf(-12, 1000))


def rounded():
    """What is said of Gaussian rows without decimals."""
    said = fitted(np.round(np.random.default_rng(7).normal(size=(2_000, 5))))[1]
    return any("different values" in text for text in said)


def table(draws=300):
    found, true = far_tail()
    plane = [fitted(clusters(seed))[0].n_experts_ for seed in range(3)]
    rows = [
        ["three groups, 10,000 × 20", "gain of the first expert, 4 seeds", "0.498", gains(trimodal(), 4)],
        ["the same", '`family="tilt"`, 4 seeds', "0.495", gains(trimodal(), 4, family="tilt")],
        ["four sources, 50,000 × 12", "gain of the first expert, 4 seeds", "0.460", gains(four_sources(), 4, n_experts=1)],
        ["three clusters in a plane, 1,000 × 20", "experts, 3 tables", "2", span(plane, 0)],
        ["one uniform direction, 10,000 × 20", "nats short of the truth", "0.03",
         f"{0.5 * np.log(2 * np.pi * np.e / 12) - fitted(uniform())[0].gains_[0]:.3f}"],
        ["one column of 200 in two groups, 2,000 rows", "experts", "1", f"{fitted(one_column())[0].n_experts_}"],
        *(
            [f"{kind} sources, 5,000 × 6", "Amari error of parallel learning from random starts", "0.01", f"{unmixed(kind):.4f}"]
            for kind in SOURCES
        ),
        ["Gaussian, 500 × 1", f'`family="mixture"`: tables with an expert, of {draws}', "5 %", f"{100 * mixture_level(draws):.1f} %"],
        ["Gaussian, rounded to whole numbers", "a notice", "yes", "yes" if rounded() else "no"],
        ["Student-t, ν = 1,000", "its CDF at −12", f"{true:.1e}", f"{found:.1e}"],
    ]
    caption = "Tables on which version 0.1 went wrong: what is due, and what the fit gives."
    return {"caption": caption, "columns": ["rows", "what", "due", "found"], "rows": rows}
