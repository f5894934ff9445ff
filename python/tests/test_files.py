"""Model files, and the same bits as Rust."""

import shutil
import struct
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from upoe import UPoE, UPoEDetector, UPoEICA

ROOT = Path(__file__).parents[2]
CRABS = ROOT / "crates/upoe/tests/data/crabs.csv"


def test_save_and_load(X, tmp_path):
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = UPoE(n_experts=2, family="mixture", fix_mu=(-1, 1), tol=1e-4, n_dims=0.99).fit(frame)
    file = tmp_path / "model.upoe"
    model.save(file)
    again = UPoE.load(str(file))
    assert_array_equal(again.score_samples(frame), model.score_samples(frame))
    assert_array_equal(again.sample(500), model.sample(500))
    assert_array_equal(again.mixing_, model.mixing_)
    assert list(again.feature_names_in_) == ["a", "b", "c"]
    assert (again.n_dims, again.fix_mu, again.tol) == (0.99, [-1.0, 1.0], 1e-4)
    assert (again.stop_reason_, again.notices_) == (model.stop_reason_, model.notices_)
    again.save(tmp_path / "again.upoe")
    assert (tmp_path / "again.upoe").read_bytes() == file.read_bytes()


@pytest.mark.parametrize("kind", [UPoEDetector, UPoEICA])
def test_all_classes_load(kind, X, tmp_path):
    model = kind(2).fit(X)
    model.save(tmp_path / "model.upoe")
    again = kind.load(tmp_path / "model.upoe")
    assert_array_equal(again.components_, model.components_)
    assert not hasattr(again, "feature_names_in_")
    if kind is UPoEDetector:
        assert_array_equal(again.predict(X), model.predict(X))


def test_file_errors(model, tmp_path):
    with pytest.raises(FileNotFoundError, match="nothing.upoe"):
        UPoE.load(tmp_path / "nothing.upoe")
    with pytest.raises(OSError, match="does not exist"):
        model.save(tmp_path / "no" / "directory.upoe")
    (tmp_path / "text.upoe").write_text("hello")
    with pytest.raises(ValueError, match="not a upoe model"):
        UPoE.load(tmp_path / "text.upoe")
    file = tmp_path / "model.upoe"
    model.save(file)
    file.write_bytes(file.read_bytes()[:-8])
    with pytest.raises(ValueError, match="cut short"):
        UPoE.load(file)


def test_rust_gives_the_same_bits():
    if shutil.which("cargo") is None:
        pytest.skip("needs cargo")
    command = ["cargo", "run", "--quiet", "--release", "-p", "upoe", "--example", "bits"]
    printed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    rust = [struct.unpack(">d", bytes.fromhex(word))[0] for word in printed.split()]
    X = pd.read_csv(CRABS)[["FL", "RW", "CL", "CW", "BD"]].to_numpy()
    model = UPoE(n_experts=2, random_state=7).fit(X)
    python = [model.gains_, model.components_.ravel(), model.score_samples(X)]
    python.append(model.sample(5).ravel())
    assert_array_equal(np.concatenate(python), rust)
