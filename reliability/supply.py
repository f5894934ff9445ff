"""The supply chain: what is taken from others, under which licences, and is all of it needed?

    python reliability/supply.py

Installs cargo-machete and cargo-deny into target/tools, and pip-audit into an environment of its
own. Known vulnerabilities are looked up where the data bases can be reached; where they cannot,
the page says so.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

from common import write

TARGET = Path(os.environ.get("CARGO_TARGET_DIR", "target"))
TOOLS = TARGET / "tools"
VERSIONS = {"cargo-machete": "0.9.2", "cargo-deny": "0.20.2"}
PIP_AUDIT = "pip-audit==2.10.1"
# What cargo-deny, pip-audit and the library beneath it begin such a line with.
UNREACHABLE = (
    r"\[ERROR\] failed to (fetch|clone) |^ERROR:pip_audit\.\w+:Could not connect to "
    r"|^requests\.exceptions\.(\w*Connection|Proxy|SSL|\w*Timeout)\w*: "
)


def install(tool):
    """A tool of this project's version, as a path."""
    path = (TOOLS / "bin" / tool).absolute()
    if not path.exists():
        command = ["cargo", "install", "--locked", "--quiet", "--root", TOOLS, "--version", VERSIONS[tool], tool]
        subprocess.run(command, check=True, env=os.environ | {"CARGO_TARGET_DIR": str(TARGET / "tools-build")})
    return path


def run(*command):
    """Exit status and all output."""
    done = subprocess.run([*map(str, command)], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def unreachable(said):
    """Whether a check failed only because its tool could not fetch the database."""
    if re.search(r"\b(RUSTSEC|GHSA|PYSEC|CVE)-", said):
        return False
    return bool(re.search(UNREACHABLE, said, re.M))


def unused():
    """Dependencies that no code names: must be none."""
    status, said = run(install("cargo-machete"), "--with-metadata")
    return ["unused dependencies", "`cargo machete`", "none" if status == 0 else said.strip()], status == 0


def deny(check, what):
    status, said = run(install("cargo-deny"), "--log-level", "error", "check", check)
    if status and check == "advisories" and unreachable(said):
        return [what, f"`cargo deny check {check}`", "not looked up: the database cannot be reached from here"], True
    return [what, f"`cargo deny check {check}`", "as `deny.toml` allows" if status == 0 else said.strip()], status == 0


def audit():
    """Known vulnerabilities in the Python packages that tests and benchmarks use."""
    environment = TARGET / "pip-audit"
    if not environment.exists():
        subprocess.run([sys.executable, "-m", "venv", environment], check=True)
        subprocess.run([environment / "bin" / "pip", "install", "--quiet", PIP_AUDIT], check=True)
    rows, fine = [], True
    for path in ("python/requirements-test.txt", "bench/requirements.txt"):
        status, said = run(environment / "bin" / "pip-audit", "--no-deps", "--disable-pip", "--progress-spinner", "off", "-r", path)
        missing = status and unreachable(said)
        outcome = "none known" if status == 0 else "not looked up: the database cannot be reached from here"
        rows.append([f"vulnerabilities, `{path}`", "`pip-audit`", outcome if status == 0 or missing else said.strip()])
        fine &= status == 0 or missing
    return rows, fine


def counted():
    """How many crates the command is made of, and how many in all with tests."""
    def crates(*options):
        _, said = run("cargo", "tree", "--prefix", "none", "--format", "{p}", *options)
        return len({line.split(" (")[0] for line in said.splitlines() if line})

    return crates("-p", "upoe", "-e", "normal"), crates("-e", "normal"), crates("--workspace")


def main():
    checks = [unused()]
    checks += [deny(check, what) for check, what in {
        "licenses": "licences",
        "bans": "crates in two versions, beyond those listed with a reason",
        "sources": "crates from elsewhere than crates.io",
        "advisories": "vulnerabilities, Rust",
    }.items()]
    rows = [row for row, _ in checks]
    python, fine = audit()
    library, command, everything = counted()
    text = [
        f"The library is made of {library} crates, the command of {command}, everything with its tests and "
        f"bindings of {everything}. The features of each are chosen by hand and not checked here. "
        "`SECURITY.md` says what a model file can and cannot do to the machine that loads it.",
    ]
    table = {"caption": "", "columns": ["what", "by", "found"], "rows": rows + python}
    write("supply", "Supply chain", "make reliability SECTION=supply", text, [table])
    sys.exit(not (fine and all(good for _, good in checks)))


if __name__ == "__main__":
    main()
