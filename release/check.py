"""Tries what `make release` built, each where nothing else is, and prints sizes.

    python release/check.py dist

The wheel is installed where no compiler is found, the source distribution where nothing of this copy is
seen, and the command runs in an empty folder without any environment.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

FIT = """
import numpy as np, upoe
x = np.random.default_rng(0).normal(size=(300, 3))
x[:150, 0] += 6
model = upoe.UPoE().fit(x)
assert model.experts_[0].family == "mixture", model.summary()
print(upoe.__version__, "from", upoe.__file__)
"""
GLIBC = (2, 17)  # what the tag of the wheel promises


def only(folder, pattern):
    """The one file of this kind."""
    found = sorted(folder.glob(pattern))
    if len(found) != 1:
        sys.exit(f"{folder}: expected one {pattern}, found {[path.name for path in found]}")
    return found[0].absolute()


def run(*command, **how):
    done = subprocess.run([str(part) for part in command], text=True, capture_output=True, **how)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def environment(folder):
    """A fresh virtual environment, and the variables that programs in it see: no compiler is on the PATH."""
    venv.create(folder, with_pip=True)
    keep = ("PIP_INDEX_URL", "PIP_CONFIG_FILE", "HTTPS_PROXY", "SSL_CERT_FILE", "HOME")
    seen = {name: os.environ[name] for name in keep if name in os.environ}
    return seen | {"PATH": str(folder / "bin"), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}


def try_wheel(wheel, folder):
    seen = environment(folder / "wheel")
    python = folder / "wheel/bin/python"
    for compiler in ("cc", "gcc", "clang", "cargo", "rustc"):
        if shutil.which(compiler, path=seen["PATH"]):
            sys.exit(f"{compiler} is on the PATH of an environment that should have none")
    run(python, "-m", "pip", "install", "--quiet", "--only-binary", ":all:", wheel, env=seen, cwd=folder)
    return run(python, "-c", FIT, env=seen, cwd=folder).strip()


def try_sdist(sdist, folder):
    seen = environment(folder / "sdist") | {"PATH": os.environ["PATH"]}
    if "CARGO_HOME" in os.environ:
        seen["CARGO_HOME"] = os.environ["CARGO_HOME"]
    seen["CARGO_TARGET_DIR"] = str(folder / "target")
    python = folder / "sdist/bin/python"
    run(python, "-m", "pip", "install", "--quiet", sdist, env=seen, cwd=folder)
    return run(python, "-c", FIT, env=seen, cwd=folder).strip()


def try_command(command, folder):
    empty = folder / "empty"
    empty.mkdir()
    run(command, "demo", "-o", ".", "--quiet", env={}, cwd=empty)
    said = run(command, "fit", "crabs.csv", "--holdout", "0.2", env={}, cwd=empty)
    if "two groups" not in said:
        sys.exit(f"fit of crabs.csv found no groups:\n{said}")
    return f"{run(command, '--version', env={}, cwd=empty).strip()}, needs {needed(command)}"


def needed(library):
    """The newest glibc that a program or library asks for."""
    versions = {tuple(map(int, v.split("."))) for v in re.findall(r"GLIBC_(\d+\.\d+)", text(library))}
    return "glibc " + ".".join(map(str, max(versions))) if versions else "no glibc"


def text(path):
    return path.read_bytes().decode("latin-1")


def main():
    folder = Path(sys.argv[1])
    wheel, sdist, command = only(folder, "*.whl"), only(folder, "*.tar.gz"), only(folder, "upoe")
    crates = sorted(folder.glob("*.crate"))
    with tempfile.TemporaryDirectory() as clean:
        clean = Path(clean)
        shutil.unpack_archive(wheel, clean / "unpacked", "zip")
        asks = needed(next((clean / "unpacked/upoe").glob("_upoe*.so")))
        if tuple(map(int, asks.split()[-1].split("."))) > GLIBC:
            sys.exit(f"{wheel.name}: needs {asks}")
        tried = {
            wheel: f"{try_wheel(wheel, clean)}, needs {asks}",
            command: try_command(command, clean),
            sdist: try_sdist(sdist, clean),
        }
    for path, said in tried.items():
        print(f"{path.stat().st_size / 1e6:6.1f} MB  {path.name}: {said}")
    for path in crates:
        print(f"{path.stat().st_size / 1e6:6.1f} MB  {path.name}: built from its archive by `make package`")


if __name__ == "__main__":
    main()
