"""What the figures of `make scale` share: tables in files, processor time, `dd`, fits by the command."""

import contextlib
import json
import os
import re
import resource
import subprocess
import threading
import time
from pathlib import Path

import numpy as np

BLOCK = 100_000


def make(path: Path, rows: int, columns: int, kind: str = "<f8") -> float:
    """Writes rows of heavy-tailed sources and one of two groups, mixed; returns the seconds it took."""
    began = time.perf_counter()
    rng = np.random.default_rng(1)
    mixing = rng.normal(size=(columns, columns)) / np.sqrt(columns)
    heavy = columns // 5
    with open(path, "wb") as file:
        header = {"descr": kind, "fortran_order": False, "shape": (rows, columns)}
        np.lib.format.write_array_header_1_0(file, header)
        for start in range(0, rows, BLOCK):
            x = rng.standard_normal((min(BLOCK, rows - start), columns))
            x[:, :heavy] *= np.sqrt(rng.exponential(size=(len(x), heavy)))
            x[:, heavy] += np.where(rng.random(len(x)) < 0.5, -2, 2)
            file.write((x @ mixing).astype(kind).tobytes())
    return time.perf_counter() - began


def size(text: str) -> int:
    """Bytes of a size such as 2G."""
    return int(float(text[:-1]) * 1024 ** ("KMGT".index(text[-1]) + 1))


def tree(root: int | None = None) -> float:
    """Seconds of processor time that a process, its children and theirs have used so far."""
    root, tick = root or os.getpid(), os.sysconf("SC_CLK_TCK")
    parents, used = {}, {}
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        with contextlib.suppress(OSError):
            fields = Path(f"/proc/{entry}/stat").read_text().rpartition(")")[2].split()
            parents[int(entry)] = int(fields[1])
            used[int(entry)] = sum(map(int, fields[11:15])) / tick
    found, total = [root], 0.0
    while found:
        one = found.pop()
        total += used.get(one, 0.0)
        found.extend(child for child, parent in parents.items() if parent == one)
    return total


def load() -> float:
    """How many programs wanted to run, on average over the last minute."""
    return os.getloadavg()[0]


def dd(table: Path, direct: bool) -> float:
    """GB/s at which `dd` reads a file: from the disk, past the page cache, or from the page cache."""
    command = ["dd", f"if={table}", "of=/dev/null", "bs=16M"] + ["iflag=direct"] * direct
    began = time.perf_counter()
    subprocess.run(command, capture_output=True, check=True)
    return os.path.getsize(table) / 1e9 / (time.perf_counter() - began)


def forget(path: str) -> None:
    """Takes a file out of the page cache."""
    with contextlib.suppress(OSError):
        file = os.open(path, os.O_RDONLY)
        try:
            os.fsync(file)
            os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
        finally:
            os.close(file)


def forget_scratch(process: int, over: threading.Event) -> None:
    """Keeps the scratch file of a fit out of the page cache, by the handle that the fit has of it.

    Every four seconds: often enough that a pass over a large file finds nothing of the one before, and
    seldom enough that little is lost of what the system has read ahead."""
    while not over.wait(4.0):
        with contextlib.suppress(OSError):
            for handle in Path(f"/proc/{process}/fd").iterdir():
                with contextlib.suppress(OSError):
                    if ".upoe-scratch" in os.readlink(handle):
                        forget(str(handle))


def fit(
    binary: str, table: Path, *more: str, limit: str | None = None, cold: bool = False
) -> dict[str, object]:
    """Fits by the command; returns its figures. With `cold`, its scratch file stays out of the page cache."""

    def confine() -> None:
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_AS, (size(limit), size(limit)))

    command = [binary, "fit", str(table), "--json", "--scratch", str(table.parent), *more]
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    over = threading.Event()
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=confine
    ) as process:
        watch = threading.Thread(target=forget_scratch, args=(process.pid, over))
        if cold:
            watch.start()
        out, said = process.communicate()
        over.set()
    if process.returncode:
        raise SystemExit(f"{' '.join(command)}\n{said}")
    total, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    passes = re.search(r"(\d+) passes over", said)
    fitted = json.loads(out)
    return {
        "seconds": total,
        "learning": fitted["seconds"],
        "processor": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
        "passes": int(passes[1]) if passes else None,
        "experts": len(fitted["experts"]),
        "ln_p": fitted["log_density"]["train"],
        "load": load(),
        "model": [(e["direction"], e["parameters"], e["gain"]) for e in fitted["experts"]],
    }
