"""Fits on a real local cluster of dask: 3 worker processes, one of which is killed."""

from __future__ import annotations

import os
import signal

import numpy as np
import pytest

import upoe

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")

ROWS = 24_000
SETTINGS = dict(n_experts=1, family="student-t", random_state=0)


def rows() -> np.ndarray:
    rng = np.random.default_rng(5)
    x = rng.normal(size=(ROWS, 4))
    x[:, 0] += np.where(rng.random(ROWS) < 0.3, 3.0, -1.0)
    x[:, 1] /= np.maximum(np.abs(rng.normal(size=ROWS)), 0.2)
    return x @ rng.normal(size=(4, 4))


@pytest.fixture(scope="module")
def client():
    with distributed.LocalCluster(
        n_workers=3, threads_per_worker=1, processes=True, dashboard_address=":0"
    ) as cluster, distributed.Client(cluster) as client:
        yield client


@pytest.fixture(scope="module")
def in_memory() -> upoe.UPoE:
    return upoe.UPoE(**SETTINGS).fit(rows(), sample=10_000)


# One row, most rows, and others.
CHUNKS = ((1, 700, 15_299, 8_000), 4)


def fitted(client, x, **more):
    from upoe.dask import UPoE

    return UPoE(**SETTINGS).fit(x, sample=10_000, client=client, **more)


@pytest.fixture(scope="module")
def model(client):
    return fitted(client, da.from_array(rows(), chunks=CHUNKS))


def test_the_model_is_that_of_memory_for_any_number_of_workers(client, model, in_memory, tmp_path):
    x = rows()
    lazy = da.from_array(x, chunks=CHUNKS)
    assert np.abs(model.score_samples(x) - in_memory.score_samples(x)).max() < 1e-9
    assert model.training_["rows"] == ROWS
    scores, z = model.score_samples(lazy), model.transform(lazy)
    assert isinstance(scores, da.Array) and scores.shape == (ROWS,) and z.shape == (ROWS, 1)
    assert np.array_equal(scores.compute(), model.score_samples(x))
    assert np.array_equal(z.compute(), model.transform(x))
    model.save(tmp_path / "model.upoe")
    again = upoe.UPoE.load(tmp_path / "model.upoe")
    assert np.array_equal(again.score_samples(x), model.score_samples(x))
    for workers in (1, 2):
        # Threads instead of processes start at once, and are other workers all the same.
        with distributed.LocalCluster(
            n_workers=workers, threads_per_worker=1, processes=False, dashboard_address=":0"
        ) as cluster, distributed.Client(cluster, set_as_default=False) as other:
            fewer = fitted(other, lazy)
            assert np.array_equal(fewer.directions_, model.directions_)
            assert np.array_equal(fewer.gains_, model.gains_)


def test_a_killed_worker_changes_nothing(client, model, monkeypatch):
    from upoe import dask as ours

    asked, ask = [], ours._Workers.ask

    def kill(self, question):
        asked.append(1)
        if len(asked) == 3:
            os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
        return ask(self, question)

    monkeypatch.setattr(ours._Workers, "ask", kill)
    survived = fitted(client, da.from_array(rows(), chunks=CHUNKS))
    client.wait_for_workers(3, timeout=60)
    assert len(asked) > 3
    assert np.array_equal(survived.directions_, model.directions_)
    assert np.array_equal(survived.gains_, model.gains_)


def test_frames_weights_and_empty_partitions(client):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(rows(), columns=["a", "b", "c", "d"])
    weight = pd.Series(np.arange(ROWS) % 3, dtype=float)
    lazy, weights = dd.from_pandas(frame, npartitions=3), dd.from_pandas(weight, npartitions=3)
    model = fitted(client, lazy, sample_weight=weights)
    assert list(model.feature_names_in_) == ["a", "b", "c", "d"]
    with pytest.warns(upoe.UPoEWarning):
        expected = upoe.UPoE(**SETTINGS).fit(frame, sample_weight=weight, sample=10_000)
    assert np.abs(model.score_samples(frame) - expected.score_samples(frame)).max() < 1e-9
    assert len(model.score_samples(lazy).compute()) == ROWS


def test_errors_name_partition_row_and_column(client):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(rows()[:600], columns=["a", "b", "c", "d"])
    frame.loc[450, "c"] = np.nan
    lazy = dd.from_pandas(frame, npartitions=2)
    with pytest.raises(ValueError, match="partition 1: row 150, column `c` is NaN"):
        fitted(client, lazy)
