"""Checked by mypy, not run: the types that users see."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from typing_extensions import assert_type

from upoe import Expert, Explanation, Surprises, UPoE, UPoEDetector, UPoEICA

rows = np.zeros((10, 3))
model = UPoE(n_experts=2, fix_mu=(-1.0, 1.0)).fit(rows, sample_weight=None)
assert_type(model, UPoE)
assert_type(model.score_samples(rows), NDArray[np.float64])
assert_type(model.transform(rows), NDArray[np.float64])
assert_type(model.sample(3), NDArray[np.float64])
assert_type(model.score_present(rows), tuple[NDArray[np.float64], NDArray[np.float64]])
assert_type(model.surprises(rows), Surprises)
assert_type(model.explain(rows), Explanation)
assert_type(model.explain(rows).baseline, float)
assert_type(model.experts_, list[Expert])
assert_type(model.stop_reason_, str)
assert_type(model.summary(), str)
assert_type(model.report(rows).save("page.html"), None)
assert_type(UPoE.load("model.upoe"), UPoE)
assert_type(UPoEDetector(alpha=0.1).fit(rows).predict(rows), NDArray[np.int64])
assert_type(UPoEICA(2).fit(rows).transform(rows), NDArray[np.float64])
