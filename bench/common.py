"""What the sections share: timing, the likelihood that scores every method, results as JSON."""

import contextlib
import importlib.metadata
import json
import os
import platform
import statistics
import time
import warnings
from pathlib import Path

import numpy as np
from upoe import UPoE

RESULTS = Path("bench/results")
LONG = 30.0  # seconds; a longer run is not repeated


def busy():
    """Seconds that all cores together have worked since the machine started, and that this
    process and its children have; None where the system does not say."""
    try:
        user, nice, system = map(int, open("/proc/stat").readline().split()[1:4])
    except OSError:
        return None
    own = os.times()
    return (user + nice + system) / os.sysconf("SC_CLK_TCK"), sum(own[:4])


START = time.perf_counter(), busy()


def others():
    """The share of the machine that other programs took since this section began."""
    now = busy()
    if now is None:
        return None
    (began, then), cores = START, os.cpu_count() or 1
    theirs = (now[0] - then[0]) - (now[1] - then[1])
    return max(0.0, theirs / (cores * (time.perf_counter() - began)))


def say(*words):
    """A line of progress."""
    print(time.strftime("%H:%M:%S"), *words, flush=True)


def timed(task):
    """Seconds a task took, and its result."""
    with quiet():
        began = time.perf_counter()
        result = task()
        return time.perf_counter() - began, result


def measure(task, runs=5, first=None):
    """Median, least and most seconds of some runs (`first`, if given, is one of them), and the
    last result. A run of over 30 s is not repeated."""
    seconds, result = [first] if first else [], None
    while not seconds or (len(seconds) < runs and max(seconds) < LONG):
        took, result = timed(task)
        seconds.append(took)
    return summary(seconds), result


def summary(seconds):
    """Median, least and most of some runs."""
    return {
        "median": statistics.median(seconds),
        "least": min(seconds),
        "most": max(seconds),
        "runs": len(seconds),
    }


@contextlib.contextmanager
def quiet():
    """Suppresses warnings: runs that are cut short on purpose give many."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def gain(directions, train, held=None):
    """What Student-t experts along these directions gain over the Gaussian, in nats per row.

    The directions (J × D) are scaled to unit length, an expert is fitted to the training rows'
    projections on each, and the mean of

        Σⱼ ln T(zⱼ) + ½ ln|WWᵀ| + ½ zᵀ(WWᵀ)⁻¹z + ½ J ln 2π

    over the held-out rows (or the training rows) is ln p by the paper's (4), less ln p of the
    Gaussian. For J = D and W = I it is Σ ln T − Σ ln N; for J = D, ½ ln|WWᵀ| is ICA's ln|det W|.
    """
    w = directions / np.linalg.norm(directions, axis=1, keepdims=True)
    z = train @ w.T
    z_held = z if held is None else held @ w.T
    gram = w @ w.T
    total = 0.5 * np.linalg.slogdet(gram)[1] + 0.5 * len(w) * np.log(2 * np.pi)
    total += 0.5 * np.mean(np.sum(z_held * np.linalg.solve(gram, z_held.T).T, axis=1))
    with quiet():
        for column, column_held in zip(z.T, z_held.T):
            expert = UPoE(1, family="student-t").fit(np.ascontiguousarray(column[:, None]))
            total += expert.score(column_held[:, None])
    return float(total)


def installed(name):
    """The version of a package, or None."""
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        return importlib.metadata.version(name)


def machine():
    """What the figures were measured on and with."""
    from threadpoolctl import threadpool_info

    cpu, flags = platform.processor(), []
    with contextlib.suppress(OSError):
        lines = [line.split(":", 1) for line in open("/proc/cpuinfo") if ":" in line]
        fields = {name.strip(): value.strip() for name, value in lines}
        cpu, flags = fields.get("model name", cpu), fields.get("flags", "").split()
    known = ["upoe", "numpy", "scipy", "scikit-learn", "python-picard", "numexpr", "amica-python", "torch", "sinflow", "zuko"]
    return {
        "cpu": cpu,
        "cores": os.cpu_count(),
        "instructions": next((f for f in ("avx512f", "avx2", "sse2") if f in flags), platform.machine()),
        "blas_threads": {pool["prefix"]: pool["num_threads"] for pool in threadpool_info()},
        "python": platform.python_version(),
        "versions": {name: version for name in known if (version := installed(name))},
        "system": f"{platform.system()} {platform.machine()}",
        "other_programs": others(),
    }


def save(section, results):
    """Writes a section's results, with the machine's."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    date = time.strftime("%Y-%m-%d")
    text = json.dumps({"date": date, "machine": machine(), **results}, indent=1)
    # An interrupted section keeps what it had.
    (RESULTS / f"{section}.part").write_text(text + "\n")
    (RESULTS / f"{section}.part").replace(RESULTS / f"{section}.json")
    say(f"wrote {RESULTS / section}.json")
