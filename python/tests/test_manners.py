"""Ctrl-C, the GIL, forks, progress, life without scikit-learn."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

from upoe import UPoE


def run(code: str, **options) -> subprocess.CompletedProcess:
    command = [sys.executable, "-c", textwrap.dedent(code)]
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
    assert "1 expert(s): the requested number of experts is reached" in shown.out
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
        assert list(model.get_feature_names_out()) == ["upoe0"]
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
