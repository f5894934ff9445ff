"""Ctrl-C, the GIL, forks, progress, life without scikit-learn."""

import contextlib
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import upoe
from upoe import UPoE


def run(code: str, **options) -> subprocess.CompletedProcess:
    command = [sys.executable, "-c", textwrap.dedent(code)]
    if os.name != "nt":  # Ctrl-C works in it also where it is ignored here, as in the background
        options["preexec_fn"] = lambda: signal.signal(signal.SIGINT, signal.default_int_handler)
    return subprocess.run(command, capture_output=True, text=True, timeout=120, **options)


@pytest.mark.skipif(os.name == "nt", reason="signals of Unix")
@pytest.mark.parametrize("n_jobs", [None, 1])
def test_ctrl_c_stops_a_fit_within_a_second(n_jobs):
    code = f"""
        import os, signal, threading, time
        import numpy as np
        from upoe import UPoE
        X = np.random.default_rng(0).standard_t(3, size=(100_000, 30))
        sent = []
        def interrupt():
            sent.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)
        threading.Timer(1.0, interrupt).start()
        model = UPoE(n_experts=30, tol=1e-12, n_jobs={n_jobs})
        try:
            model.fit(X)
        except KeyboardInterrupt:
            print("stopped after", time.monotonic() - sent[0])
        print(hasattr(model, "components_"), UPoE(n_experts=1).fit(X[:500, :2]).n_experts_)
    """
    done = run(code)
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.splitlines()
    assert float(first.split()[-1]) < 1.0
    assert second == "False 1"


# Rows without end, which take no memory.
CALLS = {
    "sample": "model.sample(30_000_000)",
    "score_samples": "model.score_samples(np.broadcast_to(X[0], (50_000_000, 3)))",
    "transform": "model.transform(np.broadcast_to(X[0], (50_000_000, 3)))",
    "inverse_transform": "model.inverse_transform(np.zeros((20_000_000, 2)))",
    "explain": "model.explain(np.broadcast_to(X[0], (10_000_000, 3)))",
    "tail": "model.tail(X, 30_000_000)",
}


@pytest.mark.skipif(os.name == "nt", reason="signals of Unix")
@pytest.mark.parametrize("call", CALLS)
def test_ctrl_c_stops_other_work_within_a_second(call):
    code = f"""
        import os, signal, threading, time
        import numpy as np
        from upoe import UPoE
        X = np.random.default_rng(0).standard_t(3, size=(1000, 3))
        model = UPoE(n_experts=2).fit(X)
        sent = []
        def interrupt():
            sent.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)
        threading.Timer(0.5, interrupt).start()
        try:
            {CALLS[call]}
        except KeyboardInterrupt:
            print(time.monotonic() - sent[0])
        assert len(model.score_samples(X)) == 1000
    """
    done = run(code)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 1.0


def test_blocks_give_the_bits_of_single_rows(model):
    X = model.sample(5000)
    single = [model.score_samples(X[i : i + 1])[0] for i in range(0, 5000, 97)]
    assert_array_equal(model.score_samples(X)[::97], single)
    single = [model.transform(X[i : i + 1])[0] for i in range(0, 5000, 97)]
    assert_array_equal(model.transform(X)[::97], single)
    assert_array_equal(model.sample(100_000)[:5000], X)


def test_a_bad_number_is_found_in_any_block(model):
    X = model.sample(30_000)
    X[29_871, 2] = np.nan
    with pytest.raises(ValueError, match="NaN: row 29871, column 2"):
        model.tail(X)
    X[29_871, 2] = np.inf
    for method in (model.score_samples, model.transform, model.explain):
        with pytest.raises(ValueError, match="infinity: row 29871, column 2"):
            method(X)
    with pytest.raises(ValueError, match="infinity: row 11, column 2"):
        model.surprises(X[29_860:])
    Z = np.zeros((5000, 2))
    Z[4321, 1] = np.inf
    with pytest.raises(ValueError, match="infinity: row 4321, column 1"):
        model.inverse_transform(Z)


def test_more_rows_than_memory_can_hold(model):
    for n in (10**13, 10**18):
        with pytest.raises(MemoryError, match=f"{n} × 3 numbers take .* GB; use fewer rows"):
            model.sample(n)
    with pytest.raises(ValueError, match="n_samples = 1000000000000000000000: is too large"):
        model.sample(10**21)
    with pytest.raises(MemoryError, match="fewer rows"):
        model.score_samples(np.broadcast_to(np.zeros(3), (10**15, 3)))
    with pytest.raises(MemoryError, match="fewer rows"):
        model.tail(np.zeros((1, 3)), 10**13)


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="needs Linux's /proc")
@pytest.mark.parametrize("n_jobs", [None, 4])
def test_little_memory_is_an_exception(n_jobs):
    """In a process that may use so many MB more than it has; afterwards everything works."""
    code = f"""
        import resource
        import numpy as np
        from upoe import UPoE
        X = np.random.default_rng(0).standard_t(3, size=(200_000, 20))
        model = UPoE(n_experts=1, family="student-t", n_jobs={n_jobs})

        def limited(megabytes, call):
            used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
            resource.setrlimit(resource.RLIMIT_AS, (used + (megabytes << 20), -1))
            try:
                call()
                print("done")
            except MemoryError as error:
                print(error)
            finally:
                resource.setrlimit(resource.RLIMIT_AS, (-1, -1))

        limited(1, lambda: model.fit(X[:500]))
        limited(3, lambda: model.fit(X[:500]))
        limited(45, lambda: model.fit(X))
        model.fit(X[:500])
        limited(60, lambda: model.sample(1_000_000))
        print(model.sample(1000).shape)
    """
    done = run(code)
    assert done.returncode == 0, done.stderr
    first, second, third, fourth, last = done.stdout.splitlines()
    assert "thread could be started" in first or "threads could not be started" in first
    assert "threads could not be started" in second
    assert "the fit takes up to" in third or "Unable to allocate" in third
    assert "1000000 × 20 numbers take 160 MB; use fewer rows" in fourth
    assert last == "(1000, 20)"


def test_threads_that_write_do_not_spoil_a_fit():
    """They write NaN into rows and weights: it is refused, or not seen."""
    rng = np.random.default_rng(0)
    X, weight = rng.standard_t(3, size=(100_000, 10)), rng.random(100_000)
    for wait in (0.0, 0.01, 0.05, 0.2):
        rows, weights, stop = X.copy(), weight.copy(), threading.Event()

        def write():
            time.sleep(wait)
            while not stop.is_set():
                rows[:], weights[:] = np.nan, np.nan

        thread = threading.Thread(target=write)
        thread.start()
        try:
            model = UPoE(n_experts=1, family="student-t").fit(rows, sample_weight=weights, missing="error")
            assert np.isfinite(model.components_).all() and np.isfinite(model.gains_).all()
            assert np.isfinite(model.score_samples(X)).all()
            assert model.training_["weight"] == pytest.approx(weight.sum(), rel=1e-12)
        except ValueError as error:
            assert "NaN" in str(error)
        finally:
            stop.set()
            thread.join()


def test_rust_reads_copies_only(monkeypatch, X):
    given = []
    fit = upoe._upoe.fit
    monkeypatch.setattr(upoe._upoe, "fit", lambda *args: given.append(args[:4]) or fit(*args))
    weight = np.ones(len(X))
    for rows in (X, X.astype("f4"), np.asfortranarray(X), memoryview(X), Shared(X)):
        UPoE(n_experts=1).fit(rows, sample_weight=weight)
        train, weights, _, _ = given[-1]
        own = X if not isinstance(rows, np.ndarray) else rows
        assert not np.shares_memory(train, own) and not np.shares_memory(weights, weight)
        assert train.flags.c_contiguous


class Shared:
    """A table that shares its memory."""

    def __init__(self, array):
        self._array = array

    def __array__(self, dtype=None, copy=None):
        return self._array


def test_what_a_callback_writes_does_not_change_the_fit(monkeypatch):
    rng = np.random.default_rng(0)
    X, weight = rng.standard_t(3, size=(200_000, 10)), rng.random(200_000)
    plain = UPoE(n_experts=1, family="student-t").fit(X, sample_weight=weight)
    called = []

    def show(*args):
        called.append(args)
        X[:], weight[:] = np.nan, np.nan

    @contextlib.contextmanager
    def progress(verbose, experts):
        yield show

    monkeypatch.setattr(upoe._density, "progress", progress)
    model = UPoE(n_experts=1, family="student-t").fit(X, sample_weight=weight)
    assert called
    assert_array_equal(model.components_, plain.components_)
    assert model.training_["weight"] == plain.training_["weight"]


def test_the_gil_is_released():
    X = np.random.default_rng(0).standard_t(3, size=(20_000, 10))
    beats = []
    stop = threading.Event()

    def beat():
        while not stop.wait(0.01):
            beats.append(time.monotonic())

    thread = threading.Thread(target=beat)
    thread.start()
    start = time.monotonic()
    UPoE(n_experts=1).fit(X).score_samples(X)
    end = time.monotonic()
    stop.set()
    thread.join()
    during = [b for b in beats if start < b < end]
    assert len(during) > 0.2 * (end - start) / 0.01


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_forked_children_work():
    code = """
        import os
        import numpy as np
        from upoe import UPoE
        X = np.random.default_rng(0).standard_t(3, size=(20_000, 4))
        model = UPoE(n_experts=1).fit(X)
        child = os.fork()
        if child == 0:
            same = (UPoE(n_experts=1).fit(X).score_samples(X) == model.score_samples(X)).all()
            os._exit(0 if same else 1)
        print(os.waitpid(child, 0)[1])
    """
    done = run(code)
    assert done.stdout.strip() == "0", done.stderr


def test_progress(capsys, X, monkeypatch):
    UPoE(n_experts=1, verbose=1).fit(X)
    shown = capsys.readouterr()
    assert "Stopped because the requested number of experts is reached" in shown.out
    assert "gain" in shown.out and "upoe" in shown.err
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    rows = np.random.default_rng(0).standard_t(3, size=(100_000, 10))
    UPoE(n_experts=1, verbose=1).fit(rows)
    assert "passes" in capsys.readouterr().err


def test_without_optional_packages():
    code = """
        import sys
        for name in ("sklearn", "pandas", "polars", "pyarrow", "matplotlib", "tqdm", "scipy"):
            sys.modules[name] = None
        import pickle
        import numpy as np
        import upoe
        from upoe import UPoE, UPoEDetector, UPoEICA
        X = np.random.default_rng(0).laplace(size=(300, 3))
        model = UPoE(n_experts=1, verbose=1).fit(X)
        assert repr(model) == "UPoE(n_experts=1, verbose=1)", model
        assert model.fit_transform(X).shape == (300, 1)
        assert list(model.get_feature_names_out()) == ["z1"]
        assert model.set_params(n_experts=2).get_params()["n_experts"] == 2
        assert pickle.loads(pickle.dumps(model)).score(X) == model.score(X)
        assert set(UPoEDetector(n_experts=1, alpha=0.1).fit_predict(X)) == {-1, 1}
        assert UPoEICA(2).fit_transform(X).shape == (300, 2)
        try:
            UPoE().transform(X)
        except upoe.NotFittedError as error:
            assert isinstance(error, (ValueError, AttributeError))
        try:
            model.plot_gain()
        except ImportError as error:
            print(error)
        try:
            model.set_params(other=1)
        except ValueError as error:
            print(str(error)[:25])
    """
    done = run(code)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-2:] == [
        "pictures need matplotlib: install it",
        "Invalid parameter 'other'",
    ]


def test_optional_packages_are_imported_late():
    code = """
        import sys, upoe
        print([m for m in ("pandas", "polars", "pyarrow", "matplotlib", "tqdm") if m in sys.modules])
    """
    loaded = run(code).stdout.strip()
    assert "matplotlib" not in loaded and "tqdm" not in loaded and "polars" not in loaded
