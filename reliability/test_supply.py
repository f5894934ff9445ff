"""The quick form, without tools to install: the full one runs cargo-machete and cargo-deny."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest
import supply

CRATES = sorted(path.parent for path in [*Path("crates").glob("*/Cargo.toml"), Path("python/Cargo.toml"), Path("xtask/Cargo.toml")])


@pytest.mark.parametrize("crate", CRATES, ids=lambda path: path.name)
def test_every_dependency_is_used(crate):
    manifest = tomllib.loads((crate / "Cargo.toml").read_text())
    files = list(crate.rglob("*.rs"))
    # Tests of another crate that this one runs, too.
    files += [file.parent / name for file in files for name in re.findall(r'#\[path = "(.+)"\]', file.read_text())]
    code = "\n".join(path.read_text() for path in files)
    for name in {**manifest.get("dependencies", {}), **manifest.get("dev-dependencies", {})}:
        assert re.search(rf"\b{name.replace('-', '_')}\b", code), f"{crate} does not use {name}"


def test_the_lock_file_is_up_to_date():
    subprocess.run(["cargo", "metadata", "--locked", "--format-version", "1"], check=True, capture_output=True)


@pytest.mark.parametrize("said, unreachable", [
    ("2026-01-01 00:00:00 [ERROR] failed to fetch advisory database https://example.org: an IO error", True),
    ("ERROR:pip_audit._cli:Could not connect to PyPI's vulnerability feed", True),
    ("requests.exceptions.ConnectionError: HTTPSConnectionPool(host='example.org', port=443)", True),
    ("error[vulnerability]: connection pool is not resolved when a fetch timed out\nID: RUSTSEC-2026-0404", False),
    ("urllib3 2.0.0 PYSEC-2026-403 HTTPError: failed to fetch", False),
    ("[ERROR] failed to fetch advisory database https://example.org\nerror: CVE-2026-1", False),
    ("error[unmaintained]: a connection library, 404 commits behind", False),
])
def test_only_a_data_base_out_of_reach_is_excused(said, unreachable):
    assert supply.unreachable(said) == unreachable
