//! A fit on a thread of its own, while Python's thread listens for Ctrl-C.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use upoe::evaluate::Evaluation;
use upoe::{Event, Fitter, Rows, Settings};
use upoe_file::Training;

use crate::arrays::{Argument, Array, Held};
use crate::errors::Names;
use crate::model::PyModel;
use crate::{errors, threads};

/// How often Python's thread looks for signals and shows progress.
const LOOK: Duration = Duration::from_millis(50);
/// How long a stopped fit may take to come to its end before Python goes on without it.
const PATIENCE: Duration = Duration::from_millis(700);

/// How far a fit has come.
#[derive(Clone, Copy, Default)]
struct Progress {
    expert: usize,
    passes: usize,
    gain: f64,
}

/// What both threads see.
#[derive(Default)]
struct Shared {
    stop: AtomicBool,
    progress: Mutex<Progress>,
}

impl Shared {
    /// The observer's part: notes the event, and says whether to go on.
    fn see(&self, event: &Event) -> bool {
        if let Event::Pass { expert, gain, .. } = event {
            let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
            let passes = progress.passes + 1;
            *progress = Progress { expert: *expert, passes, gain: *gain };
        }
        !self.stop.load(Ordering::Relaxed)
    }

    fn progress(&self) -> Progress {
        *self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Rows and optionally their weights, held so that they outlive a fit nobody waits for.
struct Table {
    rows: Py<PyAny>,
    weights: Option<Py<PyArray1<f64>>>,
}

/// The same, borrowed.
struct Borrowed<'py> {
    rows: Array<'py>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
}

impl Table {
    fn borrow<'py>(&self, py: Python<'py>) -> PyResult<Borrowed<'py>> {
        let weights = self.weights.as_ref().map(|w| w.bind(py).try_readonly()).transpose()?;
        Ok(Borrowed { rows: self.rows.bind(py).extract()?, weights })
    }
}

impl Borrowed<'_> {
    fn rows(&self, names: Names) -> PyResult<Rows<'_>> {
        let rows = self.rows.rows(names)?;
        match &self.weights {
            Some(weights) => rows.weighted(weights.as_slice()?).map_err(|e| errors::of(e, names)),
            None => Ok(rows),
        }
    }
}

/// Fits a model. `settings` is JSON, `names` the columns' names, and
/// `progress(expert, passes, gain)` is called a few times per second.
#[pyfunction]
#[pyo3(signature = (x, weights, holdout, holdout_weights, settings, names, progress))]
#[allow(clippy::too_many_arguments)] // One caller, which names them all.
pub fn fit(
    py: Python<'_>,
    x: Held,
    weights: Option<Argument<Py<PyArray1<f64>>>>,
    holdout: Option<Held>,
    holdout_weights: Option<Argument<Py<PyArray1<f64>>>>,
    settings: &str,
    names: Option<Vec<String>>,
    progress: Option<Py<PyAny>>,
) -> PyResult<PyModel> {
    let settings = serde_json::from_str(settings)
        .map_err(|error| PyValueError::new_err(format!("settings: {error}")))?;
    let train = Table { rows: x.0, weights: weights.map(|w| w.0) };
    let held = holdout.map(|rows| Table { rows: rows.0, weights: holdout_weights.map(|w| w.0) });
    let shared = Arc::new(Shared::default());
    let (sender, receiver) = channel();
    let seen = Arc::clone(&shared);
    let work = move || {
        let fitted = Python::attach(|py| learn(py, &train, held.as_ref(), settings, names, &seen));
        // After Ctrl-C nobody may be waiting any more.
        drop(sender.send(fitted));
    };
    let started = std::thread::Builder::new().name("upoe-fit".into()).spawn(work);
    started.map_err(|_| errors::internal("no thread could be started"))?;
    wait(py, receiver, &shared, progress.as_ref())
}

/// The fit itself, with Python free to do other things.
fn learn(
    py: Python<'_>,
    train: &Table,
    held: Option<&Table>,
    settings: Settings,
    names: Option<Vec<String>>,
    shared: &Shared,
) -> PyResult<PyModel> {
    let began = Instant::now();
    let train = train.borrow(py)?;
    let held = held.map(|table| table.borrow(py)).transpose()?;
    let rows = train.rows(names.as_deref())?;
    let held = held.as_ref().map(|table| table.rows(names.as_deref())).transpose()?;
    let running = settings.clone().with(|s| s.threads = threads::own(settings.threads));
    let fitted = py.detach(|| {
        let mut fitter = Fitter::new(running).observe(|event| shared.see(event));
        if let Some(held) = held {
            fitter = fitter.holdout(held);
        }
        let fit = fitter.fit(&rows)?;
        let seconds = began.elapsed().as_secs_f64();
        let evaluate = || Evaluation::of(&fit.model, &rows, held.as_ref());
        let evaluation = threads::run(settings.threads, evaluate)?;
        Ok((fit, Training::new(evaluation, seconds, &settings)))
    });
    let (fit, training) = fitted.map_err(|e: upoe::Error| errors::of(e, names.as_deref()))?;
    Ok(PyModel::new(fit, names, settings, training))
}

/// Waits for the fit, looking for Ctrl-C and showing progress meanwhile.
fn wait(
    py: Python<'_>,
    receiver: Receiver<PyResult<PyModel>>,
    shared: &Shared,
    progress: Option<&Py<PyAny>>,
) -> PyResult<PyModel> {
    let receiver = Mutex::new(receiver);
    let receive = |time: Duration| {
        py.detach(|| receiver.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(time))
    };
    loop {
        match receive(LOOK) {
            Ok(fitted) => return fitted,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(errors::internal("the fit broke off"));
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
        let looked = py.check_signals().and_then(|()| match progress {
            Some(show) => {
                let Progress { expert, passes, gain } = shared.progress();
                show.call1(py, (expert, passes, gain)).map(drop)
            }
            None => Ok(()),
        });
        if let Err(interrupt) = looked {
            shared.stop.store(true, Ordering::Relaxed);
            drop(receive(PATIENCE));
            return Err(interrupt);
        }
    }
}
