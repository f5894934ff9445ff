"""Examples in docstrings, the package page and the gallery run; types hold.

The other pages are run by docs/site/blocks.py.
"""

import ast
import doctest
import importlib
import importlib.metadata
import inspect
import os
import pydoc
import re
import subprocess
import sys
from pathlib import Path

import pandas
import pytest

import upoe

PYTHON = Path(__file__).parents[1]
SCRIPTS = sorted((PYTHON / "examples").glob("*.py"))


@pytest.mark.parametrize("module", ["_estimator", "_detector", "_ica", "_density", "_explanation", "_condition", "_imputer"])
def test_docstrings(module):
    result = doctest.testmod(importlib.import_module(f"upoe.{module}"))
    assert result.failed == 0


def test_package_page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = doctest.testfile(str(PYTHON / "README.md"), module_relative=False)
    assert result.failed == 0 and result.attempted > 10


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_gallery(script, tmp_path):
    picture = tmp_path / "picture.png"
    command = [sys.executable, "-W", "error::RuntimeWarning", str(script), str(picture)]
    environment = {**os.environ, "MPLBACKEND": "Agg"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300)
    assert done.returncode == 0, done.stderr
    assert picture.stat().st_size > 10_000
    assert done.stdout.strip()


def test_types(tmp_path):
    installed = Path(upoe.__file__).parent
    (tmp_path / "use.py").write_text((PYTHON / "tests" / "use_types.py").read_text())
    config = ["--config-file", str(PYTHON / "pyproject.toml"), "--cache-dir", str(tmp_path)]
    mypy = [sys.executable, "-m", "mypy", *config]
    targets = ["-m", "use", "-p", "upoe"]
    done = subprocess.run(mypy + targets, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    stubs = [sys.executable, "-m", "mypy.stubtest", "upoe._upoe"]
    done = subprocess.run(stubs, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (installed / "py.typed").exists()


def test_the_distribution_has_its_licences():
    distribution = importlib.metadata.distribution("upoe")
    listed = distribution.metadata.get_all("License-File")
    assert sorted(listed) == ["LICENSE-APACHE", "LICENSE-MIT"]
    for name in listed:
        (file,) = [file for file in distribution.files if file.name == name]
        assert file.read_text() == (PYTHON.parent / name).read_text()


def names(body):
    """The names that a stub defines, and those of its classes."""
    found = {}
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found[node.name] = set(names(getattr(node, "body", [])))
        elif isinstance(node, ast.AnnAssign):
            found[node.target.id] = set()
    return found


def test_the_stub_names_what_the_compiled_module_has():
    compiled = upoe._upoe
    stub = names(ast.parse((Path(upoe.__file__).parent / "_upoe.pyi").read_text()).body)
    assert set(stub) == set(compiled.__all__)  # so no catch-all, either
    ours = ("__reduce__", "__repr__")
    for kind in (compiled.Detector, compiled.Expert, compiled.Model):
        has = {name for name in vars(kind) if not name.startswith("__") or name in ours}
        assert stub[kind.__name__] == has, kind


KINDS = [upoe.UPoE, upoe.UPoEDetector, upoe.UPoEICA, upoe.UPoEImputer]


def items(kind, section):
    """Names and descriptions in a section of a class's docstring, in their order."""
    text = inspect.getdoc(kind).split(f"{section}\n{'-' * len(section)}\n")[1].split("\n\n")[0]
    return dict(item.split(" : ", 1) for item in re.split(r"\n(?=\w)", text))


@pytest.mark.parametrize("kind", KINDS)
def test_every_public_method_parameter_and_attribute_is_documented(kind, X):
    own = [n for n in dir(kind) if not n.startswith("_") and callable(getattr(kind, n))]
    missing = [n for n in own if not (getattr(kind, n).__doc__ or "").strip()]
    assert not missing, (kind, missing)
    signature = inspect.signature(kind).parameters
    assert list(items(kind, "Parameters")) == list(signature)
    for name, text in items(kind, "Parameters").items():
        default = text.split("\n")[0].split("default=")[1]
        value = float("nan") if default == "nan" else ast.literal_eval(default)
        assert repr(value) == repr(signature[name].default), name
    model = kind(1).fit(pandas.DataFrame(X, columns=["a", "b", "c"]))
    assert [n for n in items(kind, "Attributes") if not hasattr(model, n)] == []
    assert f"class {kind.__name__}" in pydoc.render_doc(kind, renderer=pydoc.plaintext)
    assert "Parameters\n |  ---" in pydoc.render_doc(kind, renderer=pydoc.plaintext)


def test_each_parameter_and_attribute_is_documented_once():
    sources = "\n".join(file.read_text() for file in Path(upoe.__file__).parent.glob("*.py"))
    for section in ("Parameters", "Attributes"):
        for kind in KINDS:
            for name, text in items(kind, section).items():
                start = text.split("\n")[1].strip()[:40]
                assert sources.count(start) == 1, (kind, name, start)


@pytest.mark.filterwarnings("ignore")
def test_words_come_from_rust(X):
    words = upoe._upoe.choices()
    for name, given in words.items():
        shown = items(upoe.UPoE, "Parameters")[name]
        assert ", ".join(f'"{word}"' for word in given) in shown
        for word in given:
            more = {"holdout": 0.2} if word == "holdout" else {}
            more |= {"learner": "parallel"} if name == "parallel_start" else {}
            upoe.UPoE(1, **{name: word}, **more).fit(X[:50])
        with pytest.raises(ValueError, match=f"^{name} = 'other': must be one of .*{given[-1]}"):
            upoe.UPoE(**{name: "other"}).fit(X)
