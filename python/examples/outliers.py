"""Outliers in a real table: tumours among healthy tissue.

Wisconsin breast cancer data, ten mean measurements of cell nuclei. The detector sees benign
rows only; its threshold comes from rows that were judged without being learned from, so no share
of outliers is guessed. Then malignant rows are held against it, and a typical one is explained.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.covariance import EmpiricalCovariance
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

from upoe import UPoEDetector

table = load_breast_cancer(as_frame=True)
X, benign = table.data.iloc[:, :10], table.target == 1
train, healthy = train_test_split(X[benign], test_size=0.4, random_state=0)
test = pd.concat([healthy, X[~benign]], ignore_index=True)
is_tumour = np.arange(len(test)) >= len(healthy)

detector = UPoEDetector(alpha=0.05).fit(train)
gaussian = EmpiricalCovariance().fit(train)
forest = IsolationForest(random_state=0).fit(train)
scores = detector.score_samples(test)
print(f"area under the ROC curve: upoe {roc_auc_score(is_tumour, -scores):.3f}, "
      f"Gaussian {roc_auc_score(is_tumour, gaussian.mahalanobis(test)):.3f}, "
      f"isolation forest {roc_auc_score(is_tumour, -forest.score_samples(test)):.3f}")
flagged = scores < detector.offset_
print(f"flagged at alpha = {detector.alpha}: "
      f"{flagged[~is_tumour].mean():.0%} of healthy rows the detector never saw, "
      f"{flagged[is_tumour].mean():.0%} of tumours")

tumours = np.flatnonzero(is_tumour)
typical = tumours[np.argsort(scores[tumours])[len(tumours) // 2]]
parts = detector.explain(test.iloc[[typical]])
order = np.argsort(-parts.columns[0])[:8]

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
bins = np.linspace(scores.min(), scores.max(), 50)
for rows, label in ((~is_tumour, "benign, not seen"), (is_tumour, "malignant")):
    left.hist(scores[rows], bins=bins, alpha=0.6, label=label)
left.axvline(detector.offset_, color="black", lw=1, label="5 % false alarms")
left.set(xlabel="score (odd rows at the left)", ylabel="rows", title="How ordinary is this row?")
left.legend(frameon=False)
right.barh(test.columns[order][::-1], parts.columns[0][order][::-1], color="#c2403a")
right.set(xlabel="what the column adds to the oddness", title="Why a typical tumour is strange")
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "outliers.png", dpi=110)
