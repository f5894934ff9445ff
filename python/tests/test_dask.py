"""Fits on a real local cluster of dask: 3 worker processes, one of which is killed."""

from __future__ import annotations

import importlib
import os
import signal
import sys
import threading
import time

import numpy as np
import pandas as pd
import pytest

import upoe

dask = pytest.importorskip("dask")
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


def frames(*parts):
    """A lazy frame of these partitions."""
    return dd.from_delayed([dask.delayed(part) for part in parts], meta=parts[0][:0], verify_meta=False)


def table(x) -> pd.DataFrame:
    return pd.DataFrame(x, columns=["a", "b", "c", "d"])


def test_frames_weights_and_empty_partitions(client):
    frame, weight = table(rows()), pd.Series(np.arange(ROWS) % 3, dtype=float, name="w")
    lazy, weights = (dd.from_pandas(whole, npartitions=4) for whole in (frame, weight))

    def left(part):
        """Without the rows of the second partition."""
        return part[(part.index < 6_000) | (part.index >= 12_000)]

    frame, weight = left(frame), left(weight)
    lazy, weights = lazy.map_partitions(left), weights.map_partitions(left)
    assert 0 in [len(part) for part in lazy.partitions]
    model = fitted(client, lazy, sample_weight=weights)
    assert list(model.feature_names_in_) == ["a", "b", "c", "d"]
    with pytest.warns(upoe.UPoEWarning):
        expected = upoe.UPoE(**SETTINGS).fit(frame, sample_weight=weight, sample=10_000)
    scores = expected.score_samples(frame)
    assert np.abs(model.score_samples(frame) - scores).max() < 1e-9
    assert np.array_equal(model.score_samples(lazy).compute(), model.score_samples(frame))
    assert np.array_equal(model.transform(lazy).compute(), model.transform(frame))


def test_one_row_per_partition(client):
    from upoe.dask import UPoE

    x = rows()[:24, :2]
    lazy = da.from_array(x, chunks=(1, 2))
    # An expert of few rows is known to the tolerance of a fit, a Gaussian to rounding.
    for n_experts, tolerance in ((0, 1e-9), (1, 1e-5)):
        model = UPoE(n_experts, family="student-t").fit(lazy, client=client)
        expected = upoe.UPoE(n_experts, family="student-t").fit(x)
        assert abs(model.score(x) - expected.score(x)) < tolerance


def test_rows_held_out_are_not_learned_from(client):
    from upoe.dask import UPoE

    lazy = da.from_array(rows(), chunks=CHUNKS)
    model = UPoE(**SETTINGS, holdout=0.25).fit(lazy, sample=10_000, client=client)
    training = model.training_
    held = training["holdout_rows"]
    assert training["rows"] + held == ROWS and abs(held - ROWS / 4) < 300
    density = training["log_density"]
    assert 0 < abs(density["holdout"] - density["train"]) < 0.1
    assert all(held is not None for _, held in model.path_)


def test_errors_name_partition_row_and_column(client, monkeypatch):
    frame = table(rows()[:600])
    other = frame.rename(columns={"c": "e"})
    with pytest.raises(ValueError, match=r"partition 1: its columns are \['a', 'b', 'e', 'd'\]"):
        fitted(client, frames(frame, other))
    with pytest.raises(ValueError, match="sample_weight has 1 partitions, and X has 2"):
        fitted(client, frames(frame, frame), sample_weight=frames(frame["a"]))
    words = frame.astype({"c": object})
    words.loc[7, "c"] = "seven"
    with pytest.raises(ValueError, match="partition 1: .*'seven'"):
        fitted(client, frames(frame, words))
    frame.loc[450, "c"] = np.nan
    with pytest.raises(ValueError, match="partition 1: row 150, column `c` is NaN"):
        fitted(client, frames(frame[:300], frame[300:]))


def test_other_versions_on_a_worker_are_refused(client, monkeypatch):
    from upoe import dask as ours

    look, older = ours._Workers.look, (upoe.__version__.encode(), b"0.0.1")
    monkeypatch.setattr(ours._Workers, "look", lambda self, q: look(self, q.replace(*older)))
    with pytest.raises(ValueError, match="partition [0-3]: .*install the same version"):
        fitted(client, da.from_array(rows(), chunks=CHUNKS))


def test_after_an_interrupt_what_is_learned_is_kept(client, model, monkeypatch, request):
    from upoe import dask as ours

    asked, ask, seen = [], ours._Workers.ask, threading.Event()

    def handle(*_):
        seen.set()
        raise KeyboardInterrupt

    def interrupt(self, question):
        asked.append(1)
        if len(asked) == stop_at:
            seen.clear()
            os.kill(os.getpid(), signal.SIGINT)
            assert seen.wait(30)
            time.sleep(0.3)  # until the fit is told
        return ask(self, question)

    before = signal.signal(signal.SIGINT, handle)
    request.addfinalizer(lambda: signal.signal(signal.SIGINT, before))

    monkeypatch.setattr(ours._Workers, "ask", interrupt)
    lazy, stop_at = da.from_array(rows(), chunks=CHUNKS), 5
    several = ours.UPoE(**{**SETTINGS, "n_experts": 4})
    with pytest.warns(upoe.ConvergenceWarning, match="interrupted"):
        several.fit(lazy, sample=10_000, client=client)
    assert several.stop_reason_ == "interrupted" and several.n_experts_ == 1
    assert np.array_equal(several.directions_[0], model.directions_[0])
    # Before anything is learned there is nothing to keep.
    asked.clear()
    stop_at = 1
    with pytest.raises(KeyboardInterrupt):
        ours.UPoE(**SETTINGS).fit(lazy, sample=10_000, client=client)


def test_without_the_extra_the_error_names_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    monkeypatch.delitem(sys.modules, "upoe.dask", raising=False)
    with pytest.raises(ImportError, match=r"pip install upoe\[dask\]"):
        importlib.import_module("upoe.dask")
