"""What the sections share: where the command is, results as JSON."""

import json
import os
import platform
import time
from pathlib import Path

RESULTS = Path("reliability/results")
UPOE = Path(os.environ.get("CARGO_TARGET_DIR", "target")) / "release" / "upoe"


def write(name, title, command, text, tables):
    """Writes a section of docs/reliability.md: paragraphs, and tables with a caption, columns
    and rows each."""
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    section = {"title": title, "command": command, "text": text, "tables": tables}
    section |= {"machine": machine, "date": time.strftime("%Y-%m-%d")}
    RESULTS.mkdir(parents=True, exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps(section, indent=1, ensure_ascii=False) + "\n")
