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
    records = [json.loads(line) for line in lines]
    limits = [record for record in records if "read_gb_s" in record]
    save("pass", {"limits": limits, "passes": [r for r in records if r not in limits]})


if __name__ == "__main__":
    main()
