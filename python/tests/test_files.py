"""Model files, and the same bits as Rust."""

import hashlib
import json
import re
import shutil
import struct
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
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


HOSTILE = "\x1b[31m\a\u202eevil\nRun: "


def signed(raw):
    """A model file with its length and checksum put right."""
    raw = re.sub(rb'"file_bytes":"\d{16}', b'"file_bytes":"%016d' % len(raw), raw)
    raw = re.sub(rb'"checksum":"[0-9a-f]{64}', b'"checksum":"' + b"0" * 64, raw)
    return raw.replace(b"0" * 64, hashlib.sha256(raw).hexdigest().encode(), 1)


def test_messages_with_names_from_a_file_are_harmless(X, tmp_path):
    file = tmp_path / "model.upoe"
    UPoE(n_experts=1).fit(pd.DataFrame(X, columns=[HOSTILE, "b", "c"])).save(file)
    model = UPoE.load(file)
    assert model.feature_names_in_[0] == HOSTILE  # data stay as they are
    frame = pd.DataFrame(X, columns=[HOSTILE, "b", "c"])
    frame.iloc[3, 0] = np.inf
    said = []
    for rows in (frame, frame.rename(columns={HOSTILE: "other"})):
        with pytest.raises(ValueError) as error:
            model.score_samples(rows)
        said.append(str(error.value))
    raw = file.read_bytes()
    start = 8 + struct.unpack("<Q", raw[:8])[0]
    top = json.loads(raw[8:start])
    top["__metadata__"] |= {"format_version": "99", "writer": HOSTILE}
    text = json.dumps(top, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    file.write_bytes(signed(struct.pack("<Q", len(text)) + text + raw[start:]))
    with pytest.raises(ValueError, match="upgrade upoe") as error:
        UPoE.load(file)
    said.append(str(error.value))
    for text in said:
        assert "evil" in text and "Run: " in text
        assert all(c.isprintable() or c == "\n" for c in text), text
        assert "evil\n" not in text


@pytest.mark.parametrize("make", [pd.DataFrame, None], ids=["pandas", "pyarrow"])
def test_columns_of_the_same_name_are_refused(make, X):
    names = ["a", "b", "a"]
    columns = [pa.array(X[:, i]) for i in range(3)]
    frame = make(X, columns=names) if make else pa.Table.from_arrays(columns, names=names)
    for kind in (UPoE, UPoEDetector, UPoEICA):
        with pytest.raises(ValueError, match=r"same name: 'a' \(columns \[0, 2\]\).*rename"):
            kind().fit(frame)


def test_rust_gives_the_same_bits():
    if shutil.which("cargo") is None:
        pytest.skip("needs cargo")
    command = ["cargo", "run", "--quiet", "--release", "-p", "xtask", "--", "bits"]
    printed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    rust = [struct.unpack(">d", bytes.fromhex(word))[0] for word in printed.split()]
    X = pd.read_csv(CRABS)[["FL", "RW", "CL", "CW", "BD"]].to_numpy()
    model = UPoE(n_experts=2, random_state=7).fit(X)
    python = [model.gains_, model.components_.ravel(), model.score_samples(X)]
    python.append(model.sample(5).ravel())
    assert_array_equal(np.concatenate(python), rust)


def upoe(*args):
    """What the real command prints."""
    if shutil.which("cargo") is None:
        pytest.skip("needs cargo")
    command = ["cargo", "run", "--quiet", "--release", "-p", "upoe-cli", "--", *map(str, args)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("family", ["student-t", "mixture", "tilt"])
def test_models_go_from_python_to_the_command_and_back(family, tmp_path):
    columns = ["FL", "RW", "CL", "CW", "BD"]
    X = pd.read_csv(CRABS)[columns]
    ours, theirs = tmp_path / "python.upoe", tmp_path / "command.upoe"
    model = UPoE(n_experts=2, family=family, holdout=0.25, random_state=3).fit(X)
    model.save(ours)
    flags = ["--experts", 2, "--family", family, "--holdout", 0.25, "--seed", 3]
    upoe("fit", CRABS, "-o", theirs, "--columns", ",".join(columns), "--quiet", *flags)
    again = UPoE.load(theirs)
    assert list(again.feature_names_in_) == columns
    assert_array_equal(again.components_, model.components_)  # both learned the same bits
    assert_array_equal(again.score_samples(X), model.score_samples(X))
    for file in (ours, theirs):
        scores = upoe("score", file, CRABS, "--quiet").split()[1:]
        assert_array_equal(np.array(scores, dtype=float), model.score_samples(X))
        rows = upoe("sample", file, "-n", 7, "--seed", 5).splitlines()[1:]
        drawn = np.array([row.split(",") for row in rows], dtype=float)
        assert_array_equal(drawn, model.sample(7, random_state=5))
