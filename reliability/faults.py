"""Faults: kills, full disks, shrinking files, broken pipes, little memory, Ctrl-C.

`python reliability/faults.py` writes the section; `test_faults.py` is its quick form."""

import contextlib
import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import common
import model_file
import numpy as np

UPOE = common.UPOE.resolve()


def heavy_tails(rows, columns, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_t(3, (rows, columns)) @ rng.normal(size=(columns, columns))


@contextlib.contextmanager
def place():
    """An empty folder with data.npy of a fit that takes a second or two."""
    with tempfile.TemporaryDirectory() as folder:
        np.save(f"{folder}/data.npy", heavy_tails(20_000, 12))
        yield Path(folder)


FIT = ["fit", "data.npy", "--experts", "10", "--family", "student-t", "--tol", "1e-7", "--quiet"]
LOUD = FIT[:-1]


def run(folder, *args, **more):
    """Runs the command to its end; it must not die by a signal or panic."""
    done = subprocess.run([UPOE, *args], cwd=folder, capture_output=True, text=True, **more)
    assert done.returncode in (0, 1, 130) and "panicked" not in done.stderr, (args, done)
    return done


def content(path):
    """All of a model file but the seconds the fit took."""
    header, arrays = model_file.read(path)
    header["training"].pop("seconds")
    return header, {name: array.tobytes() for name, array in arrays.items()}


def whole_or_absent(path):
    """Whether the model is there; if so it must be whole."""
    if path.exists():
        run(path.parent, "inspect", path.name).check_returncode()
    return path.exists()


def under_way(folder, args):
    """A fit begun anew: at once or, where it keeps checkpoints, when the first is there."""
    for name in ("m.upoe", "c.ckpt"):
        (folder / name).unlink(missing_ok=True)
    child = subprocess.Popen(
        [UPOE, *FIT, "-o", "m.upoe", *args], cwd=folder, stderr=subprocess.PIPE, text=True
    )
    while "--checkpoint" in args and not (folder / "c.ckpt").exists() and child.poll() is None:
        time.sleep(0.001)
    return child


def interrupted(folder, stop, moments, args):
    """Stops a fit at each moment (a share of the time it goes on), and says what is there."""
    run(folder, *FIT, "-o", "whole.upoe").check_returncode()
    child, began = under_way(folder, args), time.time()
    assert child.wait() == 0, child.stderr.read()
    takes = time.time() - began
    for moment in moments:
        child = under_way(folder, args)
        time.sleep(moment * takes)
        child.send_signal(stop)
        said = child.communicate()[1]
        yield child.returncode, said, whole_or_absent(folder / "m.upoe")


def kills(count, seed=1):
    """kill -9 at random moments after the first checkpoint, then --resume: the model of an
    undisturbed fit. How many were killed, resumed, and had ended before; temporary files left."""
    moments = [random.Random(seed + k).random() for k in range(count)]
    args = ["--checkpoint", "c.ckpt", "--resume"]
    resumed = done = 0
    with place() as folder:
        for code, _, there in interrupted(folder, signal.SIGKILL, moments, args):
            assert code in (0, -signal.SIGKILL), code
            again = run(folder, *LOUD, "-o", "m.upoe", *args)
            again.check_returncode()
            assert "resumed after" in again.stderr, again.stderr
            done += there
            resumed += not there
            assert content(folder / "m.upoe") == content(folder / "whole.upoe"), "other bits"
        left = [path.name for path in folder.iterdir() if path.suffix == ".tmp"]
    assert resumed > 0, "every fit had ended before it was killed"
    return count, resumed, done, len(left)


def ctrl_c(count, seed=2):
    """Ctrl-C at random moments: status 130 and a whole model, or none where none was learned."""
    moments = [random.Random(seed + k).random() for k in range(count)]
    kept = nothing = done = 0
    with place() as folder:
        for code, said, there in interrupted(folder, signal.SIGINT, moments, []):
            # Before main has begun the signal itself ends the process.
            assert code in (0, 130, -signal.SIGINT), (code, said)
            assert there or code != 0
            done += code == 0
            kept += there and code == 130
            nothing += not there
            assert not [path for path in folder.iterdir() if path.suffix == ".tmp"]
    return count, kept, nothing, done


@contextlib.contextmanager
def mounted():
    """A small file system of its own, where this user may mount one."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", folder], capture_output=True
        )
        if done.returncode != 0:
            yield None
            return
        try:
            yield Path(folder)
        finally:
            subprocess.run(["umount", folder], check=True)


def writers():
    """Every verb that writes a file, and the file."""
    for suffix in ("csv", "npy", "parquet"):
        out = f"out.{suffix}"
        yield out, ["sample", "whole.upoe", "-n", "20000", "-o"]
        yield out, ["score", "whole.upoe", "data.npy", "-o"]
        yield out, ["transform", "whole.upoe", "data.npy", "-o"]
    yield "m.upoe", ["fit", "big.npy", "--experts", "1", "--family", "student-t", "-o"]
    yield "r.html", ["report", "whole.upoe", "data.npy", "-o"]


def checkpointed(folder, path, **more):
    """A fit of four experts whose checkpoint, of over 4 KB at the end, goes there."""
    args = ["fit", "big.npy", "--experts", "4", "--family", "student-t", "--json", "--resume"]
    return run(folder, *args, "--checkpoint", str(path), **more)


def no_room():
    """A full disk, and a limit on the size of files: an error, the old file as it was. A
    checkpoint that finds no room is a warning, and the fit goes on."""
    cases = []

    def limited():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

    with place() as folder:
        run(folder, *FIT, "-o", "whole.upoe").check_returncode()
        np.save(folder / "big.npy", heavy_tails(500, 120))
        for out, verb in writers():
            path = folder / out
            path.write_text("old")
            done = run(folder, *verb, out, preexec_fn=limited)
            assert done.returncode == 1 and out in done.stderr, (verb, done)
            assert path.read_text() == "old", f"{verb}: the old file is lost"
            assert not [p for p in folder.iterdir() if p.suffix == ".tmp"], verb
            cases.append("limit")
        done = checkpointed(folder, "c.ckpt", preexec_fn=limited)
        assert done.returncode == 0 and "checkpoint could not be written" in done.stderr, done
        assert not [p for p in folder.iterdir() if p.suffix == ".tmp"], "of the checkpoint"
        again = checkpointed(folder, "c.ckpt")
        assert again.returncode == 0 and "resumed after" in again.stderr, again
        cases.append("checkpoint")
        with mounted() as small:
            for out, verb in writers() if small else ():
                done = run(folder, *verb, str(small / out))
                assert done.returncode == 1 and "space" in done.stderr, (verb, done)
                assert not list(small.iterdir()), verb
                cases.append("disk")
            if small:
                with contextlib.suppress(OSError), open(small / "full", "wb", 0) as full:
                    while full.write(bytes(4096)):
                        pass
                done = checkpointed(folder, small / "c.ckpt")
                assert done.returncode == 0 and "checkpoint could not be written" in done.stderr, done
                assert [path.name for path in small.iterdir()] == ["full"]
                cases.append("checkpoint")
                subprocess.run(["mount", "-o", "remount,ro", small], check=True)
                done = checkpointed(folder, small / "c.ckpt")
                assert done.returncode == 1 and "c.ckpt" in done.stderr, done
                cases.append("read-only")
                for out, verb in writers():
                    done = run(folder, *verb, str(small / out))
                    assert done.returncode == 1 and out in done.stderr, (verb, done)
                    cases.append("read-only")
        with open("/dev/full", "w") as full:
            for verb in (
                ["sample", "whole.upoe", "-n", "9"],
                ["score", "whole.upoe", "data.npy"],
                ["inspect", "whole.upoe"],
            ):
                done = subprocess.run(
                    [UPOE, *verb], cwd=folder, stdout=full, stderr=subprocess.PIPE, text=True
                )
                assert done.returncode == 1 and "space" in done.stderr, (verb, done)
                cases.append("/dev/full")
    names = ("limit", "disk", "checkpoint", "read-only", "/dev/full")
    return {name: cases.count(name) for name in names}


def readable(text):
    """How many rows of 12 cells a CSV file with a header has, the last perhaps without its end. A
    last cell cut before the file is opened is a shorter number, which cannot be detected."""
    *lines, last = text.split(b"\n")[1:] or [b""]
    return len(lines) + (last.count(b",") == 11 and not last.endswith(b","))


def shrinking(count, rows, seed=3):
    """Files cut while they are read: an error that says so, or the rows that were whole."""
    outcomes = {}
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        data = heavy_tails(rows, 12)
        np.save(folder / "data.npy", data)
        fit = ["--experts", "0", "--quiet"]
        run(folder, "fit", "data.npy", "-o", "m.upoe", *fit).check_returncode()
        for suffix in ("npy", "csv", "parquet"):
            name = f"sample.{suffix}"
            run(folder, "sample", "m.upoe", "-n", str(rows), "-o", name).check_returncode()
            whole = (folder / name).read_bytes()
            began = time.time()
            run(folder, "fit", name, *fit, "--json").check_returncode()
            takes = time.time() - began
            for k in range(count):
                draw = random.Random(seed * 1000 + k)
                (folder / name).write_bytes(whole)
                child = subprocess.Popen(
                    [UPOE, "fit", name, *fit, "--json"],
                    cwd=folder,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    text=True,
                )
                time.sleep(draw.random() * takes / 2)  # the rest of the time is not reading
                cut = int(draw.random() * len(whole))
                os.truncate(folder / name, cut)
                out, said = child.communicate()
                assert child.returncode in (0, 1) and "panicked" not in said, (
                    name,
                    child.returncode,
                    said,
                )
                assert child.returncode == 0 or name in said, said
                if child.returncode == 0:
                    # A CSV file cut before it was opened is a shorter one; the others are damaged.
                    allowed = {rows, readable(whole[:cut])} if suffix == "csv" else {rows}
                    assert json.loads(out)["rows"] in allowed, (name, cut, allowed, out)
                key = (suffix, "error" if child.returncode else "fit")
                outcomes[key] = outcomes.get(key, 0) + 1
    return outcomes


def broken_pipes(count, seed=4):
    """Readers that leave after some bytes: a quiet end."""
    with place() as folder:
        run(folder, *FIT, "-o", "whole.upoe").check_returncode()
        verbs = [["sample", "whole.upoe", "-n", "200000"]]
        verbs += [[verb, "whole.upoe", "data.npy"] for verb in ("score", "transform", "explain")]
        for k in range(count):
            draw = random.Random(seed * 1000 + k)
            child = subprocess.Popen(
                [UPOE, *verbs[k % 4], "--quiet"],
                cwd=folder,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
            child.stdout.read(int(10 ** draw.uniform(0, 5)))
            child.stdout.close()
            said = child.stderr.read()
            child.wait()
            assert said == b"" and child.returncode in (0, 141, -signal.SIGPIPE), (
                verbs[k % 4],
                child.returncode,
                said,
            )
    return count


def little_memory(rows, columns, precision="f64"):
    """A fit whose address space is limited to 1.2 × what `upoe fit --help` says it needs."""
    cell = {"f64": 19, "f32": 14}[precision]
    need = rows * columns * cell + 100e6
    with tempfile.TemporaryDirectory(dir=os.environ.get("UPOE_SCRATCH")) as folder:
        array = np.lib.format.open_memmap(f"{folder}/big.npy", "w+", float, (rows, columns))
        for start in range(0, rows, 100_000):
            array[start : start + 100_000] = heavy_tails(min(100_000, rows - start), columns, start)
        del array
        limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (int(1.2 * need), int(1.2 * need)))
        args = [
            "fit",
            "big.npy",
            "--experts",
            "1",
            "--family",
            "student-t",
            "--precision",
            precision,
            "--starts",
            "4",
            "--tol",
            "1e-3",
            "--quiet",
            "-o",
            "m.upoe",
        ]
        began = time.time()
        # Every arena of the allocator reserves 64 MB of addresses, used or not.
        alone = {**os.environ, "MALLOC_ARENA_MAX": "1"}
        child = subprocess.Popen(
            [UPOE, *args], cwd=folder, env=alone, preexec_fn=limit, stderr=subprocess.PIPE, text=True
        )
        said = child.stderr.read()
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        assert child.returncode == 0, (child.returncode, said)
        assert whole_or_absent(Path(folder) / "m.upoe")
    return rows * columns * 8, need, used.ru_maxrss * 1024, time.time() - began


def main():
    rows = []
    add = lambda *row: (rows.append(list(row)), print(*row, flush=True))
    count, resumed, done, left = kills(20)
    add(
        "kill -9 of a fit after its first checkpoint, then --resume",
        count,
        f"the same bits each time; {resumed} resumed from a checkpoint, {done} had ended; {left} temporary files left, hidden",
    )
    count, kept, nothing, done = ctrl_c(20)
    add(
        "Ctrl-C",
        count,
        f"{kept} whole models of the experts so far, {nothing} without a model, {done} had ended",
    )
    found = no_room()
    add("files limited to 4 KB", found["limit"], "an error that names the file; the old file stays")
    add(
        "a full disk (64 KB tmpfs)",
        found["disk"] or "–",
        "an error; nothing under the name" if found["disk"] else "not tried: no right to mount",
    )
    add(
        "a read-only directory",
        found["read-only"] or "–",
        "an error that names the file" if found["read-only"] else "not tried: no right to mount",
    )
    add(
        "a checkpoint past the limit or onto the full disk",
        found["checkpoint"],
        "a warning, and the fit goes on; the last whole checkpoint stays",
    )
    add("standard output to /dev/full", found["/dev/full"], "an error")
    for (suffix, what), count in sorted(shrinking(20, 300_000).items()):
        how = (
            "an error that names the file"
            if what == "error"
            else "all rows, read before the cut"
            + (", or those before it" if suffix == "csv" else "")
        )
        add(f"a {suffix.upper()} file cut while it is read", count, how)
    add("a broken pipe", broken_pipes(40), "ends quietly")
    for precision in ("f64", "f32"):
        size, need, used, seconds = little_memory(13_500_000, 10, precision)
        add(
            f"memory limited to 1.2 × {need / 1e9:.2f} GB, {size / 1e9:.2f} GB of rows, {precision}",
            1,
            f"fitted in {seconds:.0f} s; {used / 1e9:.2f} GB used",
        )
    text = [
        "Each line is a fault, how often it was tried at moments (or bytes) drawn at random with a "
        "fixed seed, and the outcome. After every one of them the file under the final name is "
        "whole, as it was before, or absent; the program checks it.",
    ]
    tables = [{"caption": "", "columns": ["fault", "times", "outcome"], "rows": rows}]
    common.write("faults", "Faults", "make reliability SECTION=faults", text, tables)


if __name__ == "__main__":
    sys.exit(main())
