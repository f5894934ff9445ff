//! Rows on several machines: what a worker does with its partition, and a fit that asks them.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use numpy::PyArrayMethods;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use upoe::engine::{Cluster, Partition};
use upoe::{Event, Fitter, Rows};
use upoe_file::Training;

use crate::arrays::{Source, Weights};
use crate::fit::Progress;
use crate::model::PyModel;
use crate::{errors, settings, threads, work};

/// Works on a partition's rows with Python free to do other things.
fn with_rows<T: Send>(
    py: Python<'_>,
    x: &Source,
    weights: Option<&Weights>,
    work: impl FnOnce(&Rows) -> upoe::Result<T> + Send,
) -> PyResult<T> {
    let x = x.whole(py)?;
    let weights = weights.map(|w| w.0.bind(py).try_readonly()).transpose()?;
    let mut rows = x.rows()?;
    if let Some(weights) = &weights {
        rows = rows.weighted(weights.as_slice()?).map_err(|e| errors::of(e, None))?;
    }
    py.detach(|| threads::run(None, || work(&rows)))?.map_err(|e| errors::of(e, None))
}

/// What partition `index` says of its rows before they are sphered, in answer to a question of
/// `fit_cluster`. The arrays must be private: C-contiguous, and known to no other thread.
#[pyfunction]
#[pyo3(signature = (index, x, weights, names, question))]
pub fn look<'py>(
    py: Python<'py>,
    index: usize,
    x: Source,
    weights: Option<Weights>,
    names: Vec<String>,
    question: &[u8],
) -> PyResult<Bound<'py, PyBytes>> {
    let seen =
        with_rows(py, &x, weights.as_ref(), |rows| upoe::look(index, rows, &names, question));
    Ok(PyBytes::new(py, &seen?))
}

/// The sphered rows of partition `index`, by a plan of `fit_cluster`.
#[pyfunction]
#[pyo3(signature = (index, x, weights, plan))]
pub fn sphere(
    py: Python<'_>,
    index: usize,
    x: Source,
    weights: Option<Weights>,
    plan: &[u8],
) -> PyResult<PyPartition> {
    with_rows(py, &x, weights.as_ref(), |rows| upoe::sphere(index, rows, plan)).map(PyPartition)
}

/// Sphered rows that a worker keeps.
#[pyclass(name = "Partition", module = "upoe._upoe", frozen)]
pub struct PyPartition(Partition);

/// How many rows a sample has that most steps of a fit of rows × columns are made on; None where the rows
/// are not many more.
#[pyfunction]
pub fn sample_rows(rows: usize, columns: usize) -> Option<usize> {
    upoe::sample_rows(rows, columns)
}

#[pymethods]
impl PyPartition {
    /// Which partition it is, from 0.
    #[getter]
    fn index(&self) -> usize {
        self.0.index()
    }

    /// The answer to a question of `fit_cluster`.
    fn answer<'py>(&self, py: Python<'py>, question: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        let answer = py.detach(|| threads::run(None, || self.0.answer(question)))?;
        Ok(PyBytes::new(py, &answer.map_err(|e| errors::of(e, None))?))
    }

    /// All of it as bytes.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &py.detach(|| self.0.to_bytes()))
    }

    /// The partition of such bytes.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: &[u8]) -> PyResult<Self> {
        let read = py.detach(|| Partition::from_bytes(bytes));
        read.map(PyPartition).map_err(|e| errors::of(e, None))
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let make = py.get_type::<PyPartition>().getattr("from_bytes")?;
        Ok((make, (self.to_bytes(py),)))
    }
}

/// A Python object that reaches the partitions, and the exception it raised, if any.
struct Caller {
    object: Py<PyAny>,
    raised: Mutex<Option<PyErr>>,
}

impl Caller {
    fn call<T: Send>(
        &self,
        method: &str,
        bytes: &[u8],
        take: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T> + Send,
    ) -> upoe::Result<T> {
        let called = Python::try_attach(|py| {
            let answer = self.object.bind(py).call_method1(method, (PyBytes::new(py, bytes),))?;
            take(&answer)
        });
        let called = called.unwrap_or_else(|| Err(errors::internal("Python has ended")));
        called.map_err(|error| {
            let reason = error.to_string();
            *self.raised.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            upoe::Error::Engine { place: "the cluster".into(), reason }
        })
    }

    fn answers(&self, method: &str, bytes: &[u8]) -> upoe::Result<Vec<Vec<u8>>> {
        self.call(method, bytes, |answers| answers.extract())
    }
}

impl Cluster for Caller {
    fn look(&self, question: &[u8]) -> upoe::Result<Vec<Vec<u8>>> {
        self.answers("look", question)
    }

    fn sphere(&self, plan: &[u8]) -> upoe::Result<()> {
        self.call("sphere", plan, |_| Ok(()))
    }

    fn ask(&self, question: &[u8]) -> upoe::Result<Vec<Vec<u8>>> {
        self.answers("ask", question)
    }
}

/// Fits a model to rows that `cluster` reaches: an object with the methods `look(question)`,
/// `sphere(plan)` and `ask(question)`. Each takes bytes; `look` and `ask` return one answer in bytes
/// per partition, in the order of the partitions. `holdout` is the share of rows held out. The first
/// Ctrl-C stops after the round that runs, and keeps the experts that are learned.
#[pyfunction]
#[pyo3(signature = (cluster, holdout, settings, names, progress))]
pub fn fit_cluster(
    py: Python<'_>,
    cluster: Py<PyAny>,
    holdout: Option<f64>,
    settings: &str,
    names: Option<Vec<String>>,
    progress: Option<Py<PyAny>>,
) -> PyResult<PyModel> {
    let settings = settings::parse(settings)?;
    let ours = Arc::new(Mutex::new(Progress::default()));
    let theirs = Arc::clone(&ours);
    let look = || match &progress {
        Some(show) => Progress::show(&ours, py, show),
        None => Ok(()),
    };
    let fit = move |stop: &work::Stop| {
        let caller = Caller { object: cluster, raised: Mutex::default() };
        let observer = |event: &Event| {
            Progress::see(&theirs, event);
            !stop.asked()
        };
        let began = Instant::now();
        let running = settings.clone().with(|s| s.threads = None);
        let fitter = Fitter::new(running).observe(observer);
        let fitted = threads::run(settings.threads, || fitter.fit_cluster(&caller, holdout))?;
        let raised = caller.raised.lock().unwrap_or_else(PoisonError::into_inner).take();
        let (fit, evaluation) = fitted.map_err(|error| match raised {
            Some(raised) => raised,
            None => errors::of(error, names.as_deref()),
        })?;
        let training = Training::new(evaluation, began.elapsed().as_secs_f64(), &settings);
        Ok(PyModel::new(fit, names, settings, training, None))
    };
    work::run_keeping(py, look, fit, Some(PyModel::has_experts))
}
