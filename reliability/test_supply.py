"""The quick form, without tools to install: the full one runs cargo-machete and cargo-deny."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

CRATES = sorted(path.parent for path in [*Path("crates").glob("*/Cargo.toml"), Path("python/Cargo.toml")])


@pytest.mark.parametrize("crate", CRATES, ids=lambda path: path.name)
def test_every_dependency_is_used(crate):
    manifest = tomllib.loads((crate / "Cargo.toml").read_text())
    code = "\n".join(path.read_text() for path in crate.rglob("*.rs"))
    for name in {**manifest.get("dependencies", {}), **manifest.get("dev-dependencies", {})}:
        assert re.search(rf"\b{name.replace('-', '_')}\b", code), f"{crate} does not use {name}"


def test_the_lock_file_is_up_to_date():
    subprocess.run(["cargo", "metadata", "--locked", "--format-version", "1"], check=True, capture_output=True)
