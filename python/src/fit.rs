//! A fit, with progress.

use std::ffi::CString;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray1};
use pyo3::exceptions::{PyRuntimeError, PyUserWarning, PyValueError};
use pyo3::prelude::*;
use upoe::{Event, Fitter, Rows, Settings};
use upoe_cuda::DeviceChoice;
use upoe_file::Training;

use crate::arrays::{Private, Source, Weights};
use crate::model::PyModel;
use crate::{errors, memory, settings, threads, work};

/// How often rows with missing cells are drawn where they are many, and themselves.
const DRAWN: usize = 6;

/// How far a fit has come.
#[derive(Clone, Copy, Default)]
pub struct Progress {
    expert: usize,
    passes: usize,
    gain: f64,
}

impl Progress {
    fn note(&mut self, event: &Event) {
        if let Event::Pass { expert, gain, .. } = event {
            *self = Progress { expert: *expert, passes: self.passes + 1, gain: *gain };
        }
    }

    /// Notes what the fit shows.
    pub fn see(progress: &Mutex<Self>, event: &Event) {
        lock(progress).note(event);
    }

    /// Calls `show(expert, passes, gain)`.
    pub fn show(progress: &Mutex<Self>, py: Python<'_>, show: &Py<PyAny>) -> PyResult<()> {
        let Progress { expert, passes, gain } = *lock(progress);
        show.call1(py, (expert, passes, gain)).map(drop)
    }
}

/// Rows and optionally their weights and groups, in arrays that nobody else has.
struct Table {
    rows: Source,
    weights: Option<Py<PyArray1<f64>>>,
    /// The number of each row's group.
    blocks: Option<Vec<usize>>,
}

/// The same, borrowed.
struct Borrowed<'py> {
    rows: Private<'py>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    blocks: Option<Vec<usize>>,
}

impl Table {
    fn borrow<'py>(&self, py: Python<'py>) -> PyResult<Borrowed<'py>> {
        let weights = self.weights.as_ref().map(|w| w.bind(py).try_readonly()).transpose()?;
        Ok(Borrowed { rows: self.rows.whole(py)?, weights, blocks: self.blocks.clone() })
    }
}

impl Borrowed<'_> {
    fn rows(&self) -> PyResult<Rows<'_>> {
        let mut rows = self.rows.rows()?;
        if let Some(weights) = &self.weights {
            rows = rows.weighted(weights.as_slice()?).map_err(|e| errors::of(e, None))?;
        }
        if let Some(blocks) = &self.blocks {
            rows = rows.in_blocks(blocks).map_err(|e| errors::of(e, None))?;
        }
        Ok(rows)
    }
}

/// Fits a model. `settings` is JSON, `device` where it is learned, `groups` says whether they are
/// looked for, `names` are the columns' names, and
/// `progress(expert, passes, gain)` is called a few times per second. NaN is a missing cell where cells
/// may be `missing`. The arrays must be private:
/// C-contiguous, and known to no other thread.
#[pyfunction]
#[pyo3(signature = (x, weights, blocks, holdout, holdout_weights, holdout_blocks, settings, device, groups, names, missing, progress))]
#[allow(clippy::too_many_arguments)] // One caller, which names them all.
pub fn fit(
    py: Python<'_>,
    x: Source,
    weights: Option<Weights>,
    blocks: Option<Vec<usize>>,
    holdout: Option<Source>,
    holdout_weights: Option<Weights>,
    holdout_blocks: Option<Vec<usize>>,
    settings: &str,
    device: &str,
    groups: bool,
    names: Option<Vec<String>>,
    missing: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<PyModel> {
    let settings = settings::parse(settings)?;
    let device: DeviceChoice = device.parse().map_err(PyValueError::new_err)?;
    let train = Table { rows: x, weights: weights.map(|w| w.0), blocks };
    let weights = holdout_weights.map(|w| w.0);
    let held = holdout.map(|rows| Table { rows, weights, blocks: holdout_blocks });
    let ours = Arc::new(Mutex::new(Progress::default()));
    let theirs = Arc::clone(&ours);
    let look = || match &progress {
        Some(show) => Progress::show(&ours, py, show),
        None => Ok(()),
    };
    work::run(py, look, move |stop| {
        let mut observer = |event: &Event| {
            Progress::see(&theirs, event);
            !stop.asked()
        };
        let asked = Asked { settings, device, groups, names, missing };
        let fit = |py: Python| learn(py, &train, held.as_ref(), asked, &mut observer);
        let fitted = Python::try_attach(fit);
        fitted.unwrap_or_else(|| Err(errors::internal("Python has ended")))
    })
}

fn lock(progress: &Mutex<Progress>) -> MutexGuard<'_, Progress> {
    progress.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What is asked of a fit.
struct Asked {
    settings: Settings,
    device: DeviceChoice,
    /// Whether groups are looked for.
    groups: bool,
    names: Option<Vec<String>>,
    /// Whether cells may be missing.
    missing: bool,
}

/// The fit itself, with Python free to do other things.
fn learn(
    py: Python<'_>,
    train: &Table,
    held: Option<&Table>,
    Asked { settings, device, groups, names, missing }: Asked,
    observer: &mut (dyn FnMut(&Event) -> bool + Send),
) -> PyResult<PyModel> {
    let began = Instant::now();
    let train = train.borrow(py)?;
    let held = held.map(|table| table.borrow(py)).transpose()?;
    let rows = train.rows()?;
    let held = held.as_ref().map(Borrowed::rows).transpose()?;
    // The fit runs on the threads that it is started on, instead of starting its own.
    let running = settings.clone().with(|s| s.threads = None);
    let all = rows.len() + held.as_ref().map_or(0, Rows::len);
    // Rows with missing cells are drawn several times.
    let times = if missing && !rows.is_complete() { DRAWN } else { 1 };
    let all = all.saturating_mul(times);
    let bytes = memory::of_fit(all, rows.columns(), settings.precision);
    let opened = py.detach(|| device.open(rows.len(), rows.columns()));
    let (device, reason) = opened.map_err(|reason| {
        PyRuntimeError::new_err(format!("device = \"{device}\": {reason} (device=\"cpu\")"))
    })?;
    if let Some(reason) = reason {
        let text = CString::new(format!("the CPU does the work: {reason}"))?;
        PyErr::warn(py, &py.get_type::<PyUserWarning>(), &text, 1)?;
    }
    let fit = || {
        if !missing {
            rows.check()?;
            held.as_ref().map_or(Ok(()), Rows::check)?;
        }
        let mut fitter = Fitter::new(running).observe(observer);
        if let Some(held) = held {
            fitter = fitter.holdout(held);
        }
        if let Some(device) = &device {
            fitter = fitter.place(device);
        }
        let fit = if missing { fitter.fit_incomplete(&rows) } else { fitter.fit(&rows) }?;
        let seconds = began.elapsed().as_secs_f64();
        let evaluation = fit.evaluate(&rows, held.as_ref())?;
        let groups = groups.then(|| fit.groups(&rows)).transpose()?;
        Ok((fit, Training::new(evaluation, seconds, &settings), groups))
    };
    let checked =
        || memory::check(bytes, "the fit", "use fewer rows, or precision=\"f32\"").map(|()| fit());
    let fitted = py.detach(|| threads::run(settings.threads, checked))??;
    let (fit, training, groups) =
        fitted.map_err(|e: upoe::Error| errors::of(e, names.as_deref()))?;
    Ok(PyModel::new(fit, names, settings, training, groups))
}
