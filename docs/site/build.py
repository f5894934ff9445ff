"""Builds the site: gathers the pages in a folder of its own, adds what is generated, and runs Sphinx on it.

    python docs/site/build.py [--upoe FOLDER] [--rust FOLDER] [--out FOLDER]

Files that blocks.py kept are taken from OUT/kept; the Rust API comes from where rustdoc wrote it, if it did. The site is
OUT/site.
"""

import argparse
import inspect
import os
import re
import shutil
import sys
from pathlib import Path

import commands
import upoe
from sphinx.cmd.build import build_main

ROOT = Path(__file__).resolve().parents[2]
# Documents elsewhere that are pages, and where they go.
BESIDES = {"CONTRIBUTING.md": "docs/contributing.md", "CHANGELOG.md": "docs/changelog.md", "SECURITY.md": "docs/security.md"}
# Parts of a page, not pages.
PARTS = {"docs/experiments-head.md"}
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
FENCE = re.compile(r"(^```.*?^```$)", re.M | re.S)
# What is imported from a module of its own.
CLUSTERS = ["dask.UPoE"]


def pages():
    """Where each document goes in the site, by its path from the root."""
    found = {str(path.relative_to(ROOT)): str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.md")}
    return {source: target for source, target in (found | BESIDES).items() if source not in PARTS}


def relative(target, page):
    return os.path.relpath(target, Path(page).parent)


def linked(text, source, known, kept):
    """The text with its links as they are in the site. What is not part of it becomes text."""

    def replaced(found):
        picture, words, link = found.groups()
        if re.match(r"\w+:|#", link):
            return found[0]
        path, _, anchor = link.partition("#")
        target = os.path.normpath(Path(source).parent / path)
        here = known[source]
        if target in known:
            return f"[{words}]({relative(known[target], here)}{'#' + anchor if anchor else ''})"
        if (kept / target).is_file() and not picture:
            return f'<a href="{path}">{words}</a>'
        if picture and (kept / target).is_file():
            return f"![{words}]({relative(target, here)})"
        if picture and (ROOT / target).is_file():
            return f"![{words}]({relative('docs/besides/' + target, here)})"
        if target.startswith("docs/rust/"):
            return f'<a href="{path}">{words}</a>'
        if not (ROOT / target).exists():
            raise SystemExit(f"{source}: no file {link}")
        return words

    parts = FENCE.split(text)
    return "".join(part if part.startswith("```") else LINK.sub(replaced, part) for part in parts)


def api():
    """The Python package, from its docstrings: all that `import upoe` gives, and what clusters have."""
    public = {name: getattr(upoe, name) for name in upoe.__all__ if not name.startswith("_")}
    estimators = [name for name, it in public.items() if hasattr(it, "fit")]
    functions = [name for name, it in public.items() if inspect.isroutine(it)]
    lines = ["", "```{eval-rst}"]
    for name in estimators + CLUSTERS + functions:
        lines += ["", name, "-" * len(name), ""]
        lines += [f".. auto{'function' if name in functions else 'class'}:: upoe.{name}"]
        lines += [] if name in functions else ["   :members:"]
        lines += ["   :inherited-members:"] if name in estimators else []
    lines += ["", "What they return, raise and warn", "--------------------------------", ""]
    for name in [name for name in public if name not in estimators + functions]:
        lines += [f".. autoclass:: upoe.{name}", "   :members:", "   :exclude-members: count, index", ""]
    return "\n".join([*lines, "```", ""])


def contents(text):
    """A hidden table of contents from the front page: each heading with its links is a part of the site."""
    parts = re.split(r"^## (.*)$", text, flags=re.M)[1:]
    out = []
    for heading, body in zip(parts[::2], parts[1::2]):
        entries = [link.removesuffix(".md") for _, _, link in LINK.findall(body) if link.endswith(".md")]
        out += ["", "```{toctree}", ":hidden:", f":caption: {heading}", "", *entries, "```", ""]
    return "\n".join(out)


def below(entries):
    return "\n".join(["", "```{toctree}", ":maxdepth: 1", "", *entries, "```", ""])


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def stage(source, kept, command):
    """Writes all pages and pictures of the site to a folder."""
    known = pages()
    for page, target in known.items():
        text = linked((ROOT / page).read_text(), page, known, kept)
        if page == "docs/index.md":
            text += contents(text)
        if page == "docs/reference/commands.md":
            verbs = commands.pages(str(command))
            for name, verb in verbs.items():
                write(source / f"docs/reference/commands/{name}.md", verb)
            text += below(f"commands/{name}" for name in verbs)
        if page == "docs/reference/python.md":
            text += api()
        if page == "docs/adr/index.md":
            text += below(sorted(path.stem for path in (ROOT / "docs/adr").glob("0*.md")))
        write(source / target, text)
        for picture, _, link in LINK.findall((ROOT / page).read_text()):
            file = os.path.normpath(Path(page).parent / link)
            if picture and (ROOT / file).is_file():
                copy = source / "docs/besides" / file
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(ROOT / file, copy)
    if (kept / "docs").is_dir():
        shutil.copytree(kept / "docs", source / "docs", dirs_exist_ok=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--upoe", type=Path, default=ROOT / "target/release", help="the folder of the command")
    parser.add_argument("--rust", type=Path, default=ROOT / "target/doc", help="where rustdoc wrote")
    parser.add_argument("--out", type=Path, default=ROOT / "target/docs")
    asked = parser.parse_args()
    out = asked.out.resolve()
    source, extra, site = out / "source", out / "extra", out / "site"
    for folder in (source, extra, site):
        shutil.rmtree(folder, ignore_errors=True)
    stage(source, out / "kept", asked.upoe.resolve() / "upoe")
    shutil.copyfile(Path(__file__).with_name("conf.py"), source / "docs/conf.py")
    extra.mkdir()
    for page in (out / "kept/docs").rglob("*.html"):
        copy = extra / page.relative_to(out / "kept/docs")
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(page, copy)
    if asked.rust.is_dir():
        shutil.copytree(asked.rust, extra / "rust")
    # Warnings are errors: a link to nowhere, a page that no other leads to, a docstring that cannot be read.
    status = build_main(["-q", "-W", "--keep-going", "-E", "-b", "html", str(source / "docs"), str(site)])
    if status == 0:
        print(f"the site: {site / 'index.html'}")
    sys.exit(status)


if __name__ == "__main__":
    main()
