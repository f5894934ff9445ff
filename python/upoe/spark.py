"""`UPoE` for Spark dataframes: `pip install upoe[spark]`.

Rows stay on the executors. Only questions, sums and a sample travel. The same partitions give the
same bits for any number of executors.
"""

from __future__ import annotations

import inspect
import os
import tempfile
import warnings
from typing import Any, Iterable, Iterator

import numpy as np

from . import _cluster, _validate
from ._estimator import UPoE as _UPoE

try:
    import pyarrow as pa
    from pyspark.ml import Estimator, Model
    from pyspark.ml.functions import array_to_vector, vector_to_array
    from pyspark.ml.linalg import VectorUDT
    from pyspark.ml.param import Param, Params
    from pyspark.ml.param.shared import HasFeaturesCol, HasInputCols, HasWeightCol
    from pyspark.ml.util import (
        DefaultParamsReadable,
        DefaultParamsReader,
        DefaultParamsWritable,
        DefaultParamsWriter,
        MLWriter,
    )
    from pyspark.sql import functions
    from pyspark.sql.types import (
        ArrayType,
        BooleanType,
        DoubleType,
        NumericType,
        StructField,
        StructType,
    )

    from . import _spark
except ImportError as error:
    raise _cluster.missing("spark", "pyspark") from error

__all__ = ["UPoE", "UPoEModel"]

_OWN = {
    name: parameter.default
    for name, parameter in inspect.signature(_UPoE).parameters.items()
    # One layer is fitted, and executors choose their threads.
    if name not in ("quality", "depth", "device", "n_jobs")
}
_FILE = "data/model.upoe"


class _Columns(HasInputCols, HasFeaturesCol, HasWeightCol):  # type: ignore[misc]
    """The columns that are read and written."""

    logDensityCol = Param(Params._dummy(), "logDensityCol", "the column for ln p of each row")
    projectionsCol = Param(
        Params._dummy(), "projectionsCol", "the column for each row's projections, as a vector"
    )

    def _set_columns(self, names: dict[str, Any]) -> None:
        self._setDefault(logDensityCol="log_density")
        self._set(**{name: value for name, value in names.items() if value is not None})

    def _names(self) -> list[str] | None:
        """The columns that hold a number of each row; None where one holds all of them."""
        if not self.isSet(self.inputCols):
            return None
        if self.isSet(self.featuresCol):
            raise ValueError("inputCols, featuresCol: set one of them")
        return list(self.getInputCols())

    def _rows(self, frame: Any) -> Any:
        """An array of the numbers of each row, as a column."""
        names = self._names()
        if names is None:
            name = self.getFeaturesCol()
            kind, column = _kind(frame, name), functions.col(_quoted(name))
            if isinstance(kind, VectorUDT):
                return vector_to_array(column)
            if isinstance(kind, ArrayType) and isinstance(kind.elementType, NumericType):
                return column.cast("array<double>")
            raise ValueError(
                f"featuresCol: column {name!r} is of type {kind.simpleString()}; give a column of "
                "vectors or arrays, or name columns of numbers by inputCols"
            )
        _validate.distinct(names)
        return functions.array(*[_number(frame, name) for name in names])


def _kind(frame: Any, name: str) -> Any:
    if name not in frame.columns:
        raise ValueError(f"no column is named {name!r}; the columns are {frame.columns}")
    return frame.schema[name].dataType


def _number(frame: Any, name: str) -> Any:
    kind = _kind(frame, name)
    if not isinstance(kind, (NumericType, BooleanType)):
        raise ValueError(
            f"column {name!r} is of type {kind.simpleString()}, which is not numeric: convert it or "
            "leave it out of inputCols"
        )
    return functions.col(_quoted(name)).cast("double")


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


class UPoE(Estimator, _Columns, DefaultParamsReadable, DefaultParamsWritable):  # type: ignore[misc]
    """A product of experts fitted to a Spark dataframe, as an estimator of `pyspark.ml`.

    Parameters are those of :class:`upoe.UPoE`, by the same names, without `quality`, `depth`,
    `device` and `n_jobs`: one layer is fitted, and executors use the threads that they have. Where
    rows are repeated, p-values count distinct rows, estimated from a sample of them. Rows far away
    from all others are not left out.

    Parameters
    ----------
    inputCols : list of str
        The columns of numbers to fit.
    featuresCol : str, default="features"
        A column of vectors or arrays to fit, where `inputCols` is not set.
    weightCol : str, optional
        The column that says how often each row counts.
    logDensityCol : str, default="log_density"
        The column that the model writes ln p of each row to, in nats.
    projectionsCol : str, optional
        The column that the model writes the projections of each row to, as a vector.
    sample : int, "auto" or "all", default="auto"
        How many rows most steps are made on. "auto" depends on the number of rows and columns
        alone. They travel to the driver.
    **params
        Parameters of :class:`upoe.UPoE`.

    Examples
    --------
    >>> from upoe.spark import UPoE                                   # doctest: +SKIP
    >>> model = UPoE(inputCols=["a", "b", "c"], n_experts=2).fit(frame)  # doctest: +SKIP
    >>> model.transform(frame).select("log_density")                  # doctest: +SKIP
    """

    sample = Param(Params._dummy(), "sample", "how many rows most steps are made on")

    def __init__(
        self,
        *,
        inputCols: list[str] | None = None,
        featuresCol: str | None = None,
        weightCol: str | None = None,
        logDensityCol: str | None = None,
        projectionsCol: str | None = None,
        sample: int | str = "auto",
        **params: Any,
    ) -> None:
        super().__init__()
        unknown = [name for name in params if name not in _OWN]
        if unknown:
            raise TypeError(f"{unknown[0]!r} is not a parameter; there are {', '.join(_OWN)}")
        self._setDefault(sample="auto", **_OWN)
        self._set(sample=sample, **params)
        self._set_columns(
            {
                "inputCols": inputCols,
                "featuresCol": featuresCol,
                "weightCol": weightCol,
                "logDensityCol": logDensityCol,
                "projectionsCol": projectionsCol,
            }
        )

    def _fit(self, dataset: Any) -> UPoEModel:
        columns = [self._rows(dataset).alias(_spark.ROWS)]
        if self.isDefined(self.weightCol):
            columns.append(_number(dataset, self.getWeightCol()).alias(_spark.WEIGHT))
        fitted = _UPoE(**{name: self.getOrDefault(name) for name in _OWN})
        with _spark.own_signals():
            executors = _spark.Executors(dataset.select(*columns), self._names())
            try:
                sample, shape = self.getOrDefault("sample"), executors.count()
                _cluster.fit(fitted, executors, executors.names, sample, **shape)
            finally:
                executors.close()
        model: UPoEModel = self._copyValues(UPoEModel(fitted))
        return model


for _name in _OWN:
    setattr(UPoE, _name, Param(Params._dummy(), _name, f"as of upoe.UPoE(), {_name}"))


class UPoEModel(Model, _Columns, DefaultParamsReadable, DefaultParamsWritable):  # type: ignore[misc]
    """A fitted product of experts: `transform` adds ln p of each row, and its projections.

    `estimator` is the ordinary fitted :class:`upoe.UPoE`, with everything it knows: `experts_`,
    `explain`, `sample`, `save` and others.
    """

    def __init__(self, estimator: _UPoE | None = None) -> None:
        super().__init__()
        self._set_columns({})
        self.estimator = estimator

    def _transform(self, dataset: Any) -> Any:
        estimator = self._fitted()
        density = self.getOrDefault("logDensityCol")
        project = self.isDefined("projectionsCol") and self.getOrDefault("projectionsCol")
        added = [name for name in (density, project) if name]
        for name in added:
            if name in dataset.columns:
                raise ValueError(f"the column {name!r} is there already: set another name")
        given = dataset.columns
        fields = [*dataset.schema.fields, StructField(density, DoubleType())]
        if project:
            fields.append(StructField(project, ArrayType(DoubleType())))

        def score(batches: Iterable[Any]) -> Iterator[Any]:
            for batch in batches:
                x = _spark.matrix(batch.column(len(given)))
                cells = [batch.column(k) for k in range(len(given))]
                with warnings.catch_warnings():
                    # Executors have nobody to warn.
                    warnings.simplefilter("ignore")
                    cells.append(pa.array(estimator.score_samples(x) if len(x) else [], pa.float64()))
                    if project:
                        cells.append(_lists(estimator.transform(x) if len(x) else np.empty((0, 1))))
                yield pa.RecordBatch.from_arrays(cells, [field.name for field in fields])

        rows = dataset.select("*", self._rows(dataset).alias(_spark.ROWS))
        scored = rows.mapInArrow(score, StructType(fields))
        if project:
            scored = scored.withColumn(project, array_to_vector(functions.col(_quoted(project))))
        return scored

    def write(self) -> MLWriter:
        """Writes the parameters, and the model's own file."""
        return _Writer(self)

    @classmethod
    def read(cls) -> DefaultParamsReader:
        """Reads what `write` has written."""
        return _Reader(cls)

    def _fitted(self) -> _UPoE:
        if self.estimator is None:
            raise ValueError("this UPoEModel is not fitted: take one from UPoE().fit or UPoEModel.load")
        return self.estimator


def _lists(z: Any) -> Any:
    offsets = pa.array(np.arange(len(z) + 1) * z.shape[1], pa.int32())
    return pa.ListArray.from_arrays(offsets, pa.array(z.ravel()))


class _Writer(MLWriter):  # type: ignore[misc]
    """The layout of Spark's writers: `metadata`, and `data/model.upoe`."""

    def __init__(self, model: UPoEModel) -> None:
        super().__init__()
        self.model = model

    def saveImpl(self, path: str) -> None:
        estimator, spark = self.model._fitted(), self.sparkSession
        DefaultParamsWriter.saveMetadata(self.model, path, spark)
        with tempfile.TemporaryDirectory() as folder:
            name = os.path.join(folder, "model.upoe")
            estimator.save(name)
            with open(name, "rb") as file:
                content = file.read()
        java = spark.sparkContext._jvm.org.apache.hadoop.fs.Path(os.path.join(path, _FILE))
        files = java.getFileSystem(spark.sparkContext._jsc.hadoopConfiguration())
        out = files.create(java)
        try:
            out.write(bytearray(content))
        finally:
            out.close()


class _Reader(DefaultParamsReader):  # type: ignore[misc]
    def load(self, path: str) -> UPoEModel:
        model: UPoEModel = super().load(path)
        files = self.sparkSession.read.format("binaryFile").load(os.path.join(path, _FILE))
        with tempfile.TemporaryDirectory() as folder:
            name = os.path.join(folder, "model.upoe")
            with open(name, "wb") as file:
                file.write(files.first()["content"])
            model.estimator = _UPoE.load(name)
        return model
