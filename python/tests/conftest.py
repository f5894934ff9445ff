from __future__ import annotations

import matplotlib
import numpy as np
import pytest

matplotlib.use("Agg")


def groups(rows: int = 400, columns: int = 3, seed: int = 0) -> np.ndarray:
    """Two groups along the first column, mixed with the others."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns))
    X[:, 0] += np.where(rng.random(rows) < 0.4, -4.0, 4.0)
    return X @ rng.normal(size=(columns, columns)) + rng.normal(size=columns)


@pytest.fixture(scope="session")
def X() -> np.ndarray:
    return groups()


@pytest.fixture(scope="session")
def model(X):
    from upoe import UPoE

    return UPoE(n_experts=2).fit(X)
