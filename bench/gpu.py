"""Section 8: the GPU engine, next to the CPU of the same machine.

Passes, fits of the paper's images from sphered rows and a fit of 10,000,000 × 100 are measured by
`crates/upoe-cuda/examples/measure.rs`; UPOE_MEASURE is its program, built by `make bench-gpu`. FastICA and
Picard get the 100 widest dimensions of the images, as in section 3, on the CPU, and FastICA also on the
GPU, by `fastica` below, with scikit-learn's iteration, contrast and tolerance.

    python bench/gpu.py           all parts
    python bench/gpu.py images    this part; the results of the others stay
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from common import gain, machine, measure, say, RESULTS
from data import folder, large_patches
from sklearn.decomposition import FastICA

EXPERTS = 100
FAST = {"family": "student-t", "precision": "f32", "n_starts": 16, "tol": 2e-3}
ROWS = int(os.environ.get("UPOE_LARGE_ROWS", 10_000_000))
SCRATCH = Path(os.environ.get("UPOE_SCRATCH", "target/bench/gpu"))


def lines(*words):
    """What the program measures, one object per line of its output."""
    program = os.environ.get("UPOE_MEASURE", "target/release/examples/measure")
    done = subprocess.run([program, *map(str, words)], capture_output=True, text=True)
    if done.returncode or done.stderr.startswith("skipped"):
        raise SystemExit(f"gpu: {done.stderr.strip() or done.returncode}")
    found = [json.loads(line) for line in done.stdout.splitlines()]
    for line in found:
        line.get("time", {}).pop("calls", None)
    return found


def fastica(rows, tol=1e-4, most=200):
    """FastICA in parallel with the contrast log cosh, on the GPU: directions of sphered rows."""
    import torch

    torch.backends.cuda.matmul.allow_tf32 = False
    x = torch.as_tensor(rows, device="cuda").T.contiguous()
    d, n = x.shape
    start = torch.as_tensor(np.random.RandomState(0).normal(size=(d, d)), dtype=x.dtype, device="cuda")

    def even(w):
        values, vectors = torch.linalg.eigh(w @ w.T)
        return vectors @ torch.diag(values.clamp_min(1e-12).rsqrt()) @ vectors.T @ w

    w = even(start)
    for _ in range(most):
        slope = torch.tanh(w @ x)
        moved = even(slope @ x.T / n - (1 - slope**2).mean(dim=1)[:, None] * w)
        change = (torch.einsum("ij,ij->i", moved, w).abs() - 1).abs().max()
        w = moved
        if change < tol:
            break
    return w.cpu().numpy().astype(float)


def peers(train):
    """Functions to directions in all dimensions from the first 100."""
    head = np.ascontiguousarray(train[:, :EXPERTS].astype(np.float32))
    columns = np.ascontiguousarray(train[:, :EXPERTS].T)

    def widened(w):
        return np.hstack([w, np.zeros((EXPERTS, train.shape[1] - EXPERTS))])

    def on_cpu():
        return widened(FastICA(whiten=False, random_state=0).fit(head).components_)

    def picards(ortho):
        from picard import picard

        return lambda: widened(picard(columns, ortho=ortho, whiten=False, random_state=0, max_iter=100)[1])

    return {
        "FastICA after PCA to 100, CPU": (on_cpu, 3),
        "FastICA after PCA to 100, GPU (torch)": (lambda: widened(fastica(head)), 3),
        "Picard-O after PCA to 100, CPU": (picards(True), 1),
        "Picard after PCA to 100, CPU": (picards(False), 1),
    }


def package(train, held):
    """The Python package's own fits of the same rows, sphering included, on both devices."""
    from upoe import UPoE

    found = {}
    for device, runs in (("cuda", 3), ("cpu", 1)):
        timing, model = measure(lambda: UPoE(EXPERTS, **FAST, device=device).fit(train), runs=runs)
        found[device] = {**timing, "held": gain(model.components_, train, held)}
        say(f"  package on {device}: {timing['median']:.2f} s, held-out gain {found[device]['held']:.3f}")
    return found


def images():
    """Fits of the paper's images, from sphered rows."""
    train, held = large_patches()
    SCRATCH.mkdir(parents=True, exist_ok=True)
    for name, rows in (("train", train), ("held", held)):
        rows.tofile(SCRATCH / f"{name}.f64")
    say(f"gpu: images, {train.shape[0]} × {train.shape[1]}")
    return lines("images", SCRATCH / "train.f64", SCRATCH / "held.f64")


def beside():
    """The peers, on the same rows."""
    found = {}
    train, held = large_patches()
    for name, (learn, runs) in peers(train).items():
        timing, directions = measure(learn, runs=runs)
        found[name] = {**timing, "held": gain(directions, train, held)}
        say(f"  {name}: {timing['median']:.2f} s, held-out gain {found[name]['held']:.3f}")
    return found


PARTS = {
    "passes": lambda: lines("pass"),
    "images": images,
    "large": lambda: lines("large", ROWS),
    "package": lambda: package(*large_patches()),
    "peers": beside,
}


def main():
    """All parts, or those named; what was measured before stays, with its date."""
    if not folder():
        return say("gpu: skipped; set UPOE_DATA to the folder of the paper's data")
    path, wanted = RESULTS / "gpu.json", sys.argv[1:] or list(PARTS)
    results = json.loads(path.read_text()) if sys.argv[1:] else {"date": today(), "machine": machine()}
    for part in wanted:
        say(f"gpu: {part}")
        results[part] = PARTS[part]()
        if sys.argv[1:]:
            results.setdefault("dates", {})[part] = today()
    results["device"] = results["passes"][0]["device"]
    RESULTS.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(results, indent=1) + "\n")
    say(f"wrote {path}")


def today():
    return time.strftime("%Y-%m-%d")


if __name__ == "__main__":
    main()
