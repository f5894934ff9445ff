"""Runs every code block of the README and of the pages in docs/, as a reader would: from top to bottom, in a folder
that has only crabs.csv in it, with `upoe` on the PATH.

    python docs/site/blocks.py [--upoe FOLDER] [--keep FOLDER] [--write] [PAGE …]

sh, python   are run; Python blocks of a page share their names, and one with `__main__` is run as a program
text         right after one of them is what it prints: a line `…` stands for any lines, and times and last digits may differ
console      is not run: installing, other systems, data that do not come with upoe

--keep copies the files that a page shows or links to, and that its blocks made, to where the site takes them from;
--write puts what was printed into the pages.
"""

import argparse
import contextlib
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CRABS = ROOT / "crates/upoe-cli/data/crabs.csv"
# Pages whose blocks another test runs: on models of every family (crates/upoe-cli/tests/cli/model_files.rs).
ELSEWHERE = {"docs/model-file.md"}
FENCE = re.compile(r"^```(\S*)\n(.*?)^```$", re.M | re.S)
LINK = re.compile(r"\]\(([^)#:\s]+)\)")


def pages():
    """The README and all pages, by their path from the root."""
    found = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [path for path in found if str(path.relative_to(ROOT)) not in ELSEWHERE]


def shell(code):
    """What a shell block prints."""
    done = subprocess.run(["bash", "-euc", code], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def python(code, names):
    """What a Python block prints, given the names of earlier ones."""
    if "__main__" in code:
        Path("program.py").write_text(code)
        return shell(f"'{sys.executable}' program.py")
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(code, "block", "exec"), names)
    return out.getvalue()


def pattern(expected):
    """A regular expression for what a page says is printed."""
    lines = [".*?" if line.strip() == "…" else re.escape(line.rstrip()) for line in steady(expected).splitlines()]
    return re.compile(r"\n".join(lines), re.S)


def steady(text):
    """The text without what may differ: times, the last digits of long numbers, and blanks at the ends of lines."""
    text = re.sub(r"\b\d+(\.\d+)? (ms|s|µs)\b", "TIME", text)
    text = re.sub(r"-?\d+\.\d{7,}(e-?\d+)?", lambda number: f"{float(number[0]):.5g}", text)
    return "\n".join(line.rstrip() for line in text.strip("\n").splitlines())


def run(page, write=False):
    """What is wrong with the blocks of a page, run in the current folder, and the page with what they print."""
    text = page.read_text()
    names = {"__name__": "page"}
    printed, wrong, parts, at, end = None, [], [], 0, -1
    for block in FENCE.finditer(text):
        language, code = block.groups()
        line = text[: block.start()].count("\n") + 1
        where = f"{page.relative_to(ROOT)}:{line}"
        follows = text[end : block.start()].strip() == "" and end >= 0
        end = block.end()
        if language in ("sh", "python"):
            try:
                printed = shell(code) if language == "sh" else python(code, names)
            except Exception:
                return [*wrong, f"{where}: the block fails\n{code}\n{traceback.format_exc()}"], text
            continue
        if language == "text" and follows and printed is not None:
            if not pattern(code).fullmatch(steady(printed)):
                if not write:
                    wrong.append(f"{where}: the page says\n{code}\nbut what is printed is\n{printed}")
                parts += [text[at : block.start(2)], printed.strip("\n"), "\n"]
                at = block.end(2)
        elif language not in ("text", "console"):
            wrong.append(f"{where}: a block of {language!r}: use sh, python, text or console")
        printed = None
    return wrong, "".join([*parts, text[at:]])


def keep(page, folder):
    """Copies what the page shows and its blocks made."""
    for name in LINK.findall(page.read_text()):
        made = Path(name)
        if made.is_file() and not (page.parent / name).exists():
            target = folder / page.parent.relative_to(ROOT) / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(made, target)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--upoe", type=Path, default=ROOT / "target/release", help="the folder of the command")
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("page", nargs="*", type=Path)
    asked = parser.parse_args()
    os.environ["PATH"] = f"{asked.upoe.resolve()}:{os.environ['PATH']}"
    os.environ["MPLBACKEND"] = "Agg"
    kept = asked.keep and asked.keep.resolve()
    failed = 0
    for page in [path.resolve() for path in asked.page] or pages():
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            shutil.copyfile(CRABS, "crabs.csv")
            wrong, text = run(page, asked.write)
            if kept:
                keep(page, kept)
            os.chdir(ROOT)
        if asked.write and not wrong:
            page.write_text(text)
        for problem in wrong:
            print(problem, file=sys.stderr)
        failed += len(wrong)
    if failed:
        sys.exit(f"{failed} blocks of the pages are wrong; --write puts what is printed into the pages")


if __name__ == "__main__":
    main()
