"""What the packages hold: the wheel that these tests run with, and a source distribution."""

import email
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
VERSION = re.search(r'^version = "(.*)"', (ROOT / "Cargo.toml").read_text(), re.M).group(1)


def test_the_wheel_has_what_it_needs_and_no_more():
    wheels = sorted((ROOT / "dist").glob("upoe-*.whl"))
    if len(wheels) != 1:
        pytest.skip("`make wheel` has not built one wheel")
    with zipfile.ZipFile(wheels[0]) as wheel:
        names = set(wheel.namelist())
        info = f"upoe-{VERSION}.dist-info"
        metadata = email.message_from_bytes(wheel.read(f"{info}/METADATA"))
    assert metadata["Version"] == VERSION and metadata["Requires-Python"] == ">=3.10"
    needed = [r for r in metadata.get_all("Requires-Dist") if "extra ==" not in r]
    assert needed == ["numpy>=1.23"]
    assert {"all", "dask", "mne", "spark"} == set(metadata.get_all("Provides-Extra"))
    assert "cp310-abi3" in wheels[0].name and "upoe/_upoe.abi3.so" in names
    sources = {f"upoe/{path.name}" for path in (ROOT / "python/upoe").iterdir() if path.suffix in (".py", ".pyi", ".typed")}
    assert sources | {"upoe/py.typed"} <= names
    assert {f"{info}/licenses/LICENSE-MIT", f"{info}/licenses/LICENSE-APACHE"} <= names
    assert not [name for name in names if "test" in name.lower()]
    assert wheels[0].stat().st_size < 20e6


def test_the_source_distribution_builds_alone(tmp_path):
    maturin = shutil.which("maturin", path=str(Path(sys.executable).parent)) or shutil.which("maturin")
    if maturin is None or shutil.which("cargo") is None:
        pytest.skip("maturin or cargo is not there")
    build = [maturin, "sdist", "--manifest-path", ROOT / "python/Cargo.toml", "--out", tmp_path]
    subprocess.run(build, check=True, capture_output=True)
    with tarfile.open(tmp_path / f"upoe-{VERSION}.tar.gz") as archive:
        held = {name.partition("/")[2] for name in archive.getnames()}
        archive.extractall(tmp_path / "alone", filter="data")
    # every file that cargo would take, of every crate that the package is built from
    crates = {name.split("/")[1] for name in held if re.fullmatch(r"crates/[^/]+/Cargo.toml", name)}
    assert {"upoe", "upoe-file", "upoe-kernels", "upoe-report", "upoe-table"} <= crates
    for crate in crates:
        sources = (ROOT / "crates" / crate / "src").rglob("*")
        lacking = {str(path.relative_to(ROOT)) for path in sources if path.is_file()} - held
        assert not lacking, lacking
    assert {"Cargo.lock", "pyproject.toml", "PKG-INFO"} <= held
    assert not [name for name in held if name.startswith(("target/", "bench/", "docs/"))]
    # cargo finds all that it needs in there
    alone = tmp_path / "alone" / f"upoe-{VERSION}"
    tree = ["cargo", "tree", "--offline", "--package", "upoe-python"]
    told = subprocess.run(tree, cwd=alone / "python", check=True, capture_output=True, text=True).stdout
    assert "upoe-kernels" in told and str(ROOT) not in told
