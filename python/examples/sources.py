"""Blind source separation, next to FastICA.

Three signals and two channels of strong Gaussian noise reach five sensors. Asked for three
sources, FastICA keeps three principal components first and so loses the weaker signals; asked
for all five, it finds them, but does not converge, since there is nothing to find in the noise.
upoe takes three directions of five, and leaves the rest Gaussian.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import FastICA

from upoe import UPoEICA

rng = np.random.default_rng(0)
t = np.linspace(0, 8, 2000)
sources = np.c_[np.sin(2 * t), np.sign(np.sin(3 * t)), 2 * ((t * 1.3) % 1) - 1]
sources += 0.1 * rng.normal(size=sources.shape)
noise = 1.5 * rng.normal(size=(len(t), 2))
X = np.c_[sources, noise] @ rng.normal(size=(5, 5))


def recovery(found):
    """How well each true source is matched, and by which of those found."""
    match = np.abs(np.corrcoef(found.T, sources.T)[: found.shape[1], found.shape[1] :])
    return match.max(axis=0), match.argmax(axis=0)


results = {
    "upoe, 3 of 5 directions": UPoEICA(n_components=3).fit_transform(X),
    "FastICA after PCA to 3": FastICA(n_components=3, random_state=0).fit_transform(X),
    "FastICA, 5 sources": FastICA(random_state=0, max_iter=1000, tol=1e-3).fit_transform(X),
}
figure, axes = plt.subplots(3, 4, figsize=(13, 5), sharex=True, layout="constrained")
for k in range(3):
    axes[k, 0].plot(t, sources[:, k], color="black", lw=0.8)
    axes[k, 0].set_ylabel(f"source {k + 1}")
axes[0, 0].set_title("the truth")
for column, (name, found) in enumerate(results.items(), start=1):
    best, which = recovery(found)
    print(f"{name:24}", "correlation with the true sources:", np.round(best, 3))
    axes[0, column].set_title(name)
    for k in range(3):
        sign = np.sign(np.corrcoef(found[:, which[k]], sources[:, k])[0, 1])
        axes[k, column].plot(t, sign * found[:, which[k]], lw=0.8, color="#2a6fbb")
        axes[k, column].text(0.02, 0.04, f"r = {best[k]:.3f}", transform=axes[k, column].transAxes,
                             bbox={"facecolor": "white", "lw": 0, "pad": 1})
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "sources.png", dpi=110)
