"""Section 1: one pass over 100,000 × 400 rows, against what the machine can do.

The measuring is done by `crates/upoe/benches/pass.rs`, which prints JSON.
"""

import json
import subprocess

from common import save, say


def main():
    say("pass: building and running crates/upoe/benches/pass.rs")
    command = ["cargo", "bench", "--quiet", "-p", "upoe", "--bench", "pass"]
    lines = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    save("pass", {"passes": [json.loads(line) for line in lines]})


if __name__ == "__main__":
    main()
