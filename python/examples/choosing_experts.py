"""Choosing the number of experts by held-out likelihood.

300 handwritten digits, 64 pixels, reduced to 20 dimensions. The likelihood of the training rows
only rises with every expert; that of rows held out says when to stop. One fit with `holdout`
gives the whole curve; scikit-learn's cross-validation shows how sure that is, more slowly.
"""

import sys
import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV, KFold

from upoe import UPoE, UPoEWarning

warnings.simplefilter("ignore", UPoEWarning)  # pixels have ties

X = load_digits().data[:300]
path = UPoE(n_dims=20, n_experts=20, holdout=0.3).fit(X)
best = int(path.path_[:, 1].argmax())
print(f"one fit: held-out likelihood is best with {best} experts "
      f"({path.path_[best, 1] - path.path_[0, 1]:.2f} nats above the Gaussian)")

counts = [0, 4, 8, 12, 16, 20]
folds = KFold(3, shuffle=True, random_state=0)
search = GridSearchCV(UPoE(n_dims=20), {"n_experts": counts}, cv=folds).fit(X)
print(f"cross-validation: best of {counts} is {search.best_params_['n_experts']}")

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
path.plot_gain(ax=left)
left.axvline(best, color="black", lw=0.8, ls=":")
left.set_title("one fit, 30 % of the rows held out")
scores = np.array([search.cv_results_[f"split{k}_test_score"] for k in range(3)])
right.errorbar(counts, scores.mean(axis=0) - scores.mean(axis=0)[0],
               (scores - scores[:, :1]).std(axis=0), fmt="o-", capsize=3)
right.set(xlabel="experts", ylabel="mean ln p above the Gaussian (nats)",
          title="cross-validation, 3 folds")
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "choosing_experts.png", dpi=110)
