"""Clusters by projection pursuit: the Leptograpsus crabs.

Five lengths of 200 crabs of two species and two sexes. Size dominates them, so the groups
hardly show in any pair of columns or in the first principal components. A fit with its default settings
finds two directions that separate species and sex, and four groups, without having seen either.
"""

import csv
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import adjusted_rand_score

from upoe import UPoE

file = Path(__file__).parents[2] / "crates/upoe/tests/data/crabs.csv"
crabs = list(csv.DictReader(file.open()))
columns = ["FL", "RW", "CL", "CW", "BD"]
X = np.array([[float(crab[c]) for c in columns] for crab in crabs])
truth = np.array([crab["sp"] + crab["sex"] for crab in crabs])

model = UPoE().fit(X)
Z = model.transform(X)
groups = model.predict(X)
print("gains in nats:", np.round(model.gains_, 4))
print(f"adjusted Rand index of the {len(set(groups))} groups against species and sex: "
      f"{adjusted_rand_score(truth, groups):.2f}")

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained")
kinds = {"BM": "blue male", "BF": "blue female", "OM": "orange male", "OF": "orange female"}
pairs = [(left, X[:, 2], X[:, 3], "CL (mm)", "CW (mm)"), (right, Z[:, 0], Z[:, 1], "z1", "z2")]
for ax, a, b, name_a, name_b in pairs:
    for kind, marker, color in zip(kinds, "o^o^", ["#2a6fbb", "#2a6fbb", "#e08214", "#e08214"]):
        rows = truth == kind
        ax.scatter(a[rows], b[rows], marker=marker, s=22, c=color, alpha=0.7, label=kinds[kind])
    ax.set(xlabel=name_a, ylabel=name_b)
left.set_title("two of the five columns")
right.set_title("the two directions found")
right.legend(frameon=False, fontsize=9)
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "clusters.png", dpi=110)
