"""Writes docs/reliability.md from reliability/results/*.json."""

import json
from pathlib import Path

from common import RESULTS

PAGE = Path("docs/reliability.md")
SECTIONS = ["fuzz", "inputs", "dirty", "faults", "precision", "truth", "discoveries", "layers", "alarms", "changes", "endurance", "supply"]
HEAD = """# Reliability

What was done to break this, and the outcome. `make reliability` does all of it again,
`make reliability SECTION=dirty` does one section; `make test` runs the quick form of each. The
programs are in `reliability/`, the figures in `reliability/results/`.
"""


def table(caption, columns, rows):
    """A Markdown table under its caption."""
    lines = [columns, ["---"] * len(columns), *rows]
    cell = lambda value: str(value).replace("|", "\\|")
    body = "\n".join("| " + " | ".join(map(cell, line)) + " |" for line in lines)
    return f"{caption}\n\n{body}\n" if caption else f"{body}\n"


def section(number, result):
    """A section: its command, paragraphs, tables, and where and when they were made."""
    parts = [f"## {number}. {result['title']}\n", f"    {result['command']}\n"]
    parts += [f"{paragraph}\n" for paragraph in result["text"]]
    parts += [table(t["caption"], t["columns"], t["rows"]) for t in result["tables"]]
    parts.append(f"*{result['machine']}; {result['date']}.*\n")
    return "\n".join(parts)


def main():
    found = [RESULTS / f"{name}.json" for name in SECTIONS]
    results = [json.loads(path.read_text()) for path in found if path.exists()]
    pages = [section(number, result) for number, result in enumerate(results, 1)]
    PAGE.write_text("\n".join([HEAD, *pages]))
    print(f"wrote {PAGE}")


if __name__ == "__main__":
    main()
