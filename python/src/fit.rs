//! A fit on a thread of its own, while Python's thread listens for Ctrl-C.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use upoe::{Event, Fit, Rest, Rows, Settings, State, fit_with};
use upoe_file::{Likelihood, Training};

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
    value: f64,
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
        if let Event::Pass { expert, value, .. } = event {
            let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
            let passes = progress.passes + 1;
            *progress = Progress { expert: *expert, passes, value: *value };
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
/// `progress(expert, passes, value)` is called a few times a second.
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
    let running = Settings { threads: threads::own(settings.threads), ..settings.clone() };
    let fitted = py.detach(|| {
        let mut observer = |event: &Event| shared.see(event);
        let fit = fit_with(&rows, held.as_ref(), &running, State::default(), &mut observer)?;
        let training = training(&fit, &rows, held.as_ref(), &settings, began)?;
        Ok((fit, training))
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
                let Progress { expert, passes, value } = shared.progress();
                show.call1(py, (expert, passes, value)).map(drop)
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

/// What the model file says about the training.
fn training(
    fit: &Fit,
    rows: &Rows,
    held: Option<&Rows>,
    settings: &Settings,
    began: Instant,
) -> upoe::Result<Training> {
    let finite = |x: f64| x.is_finite().then_some(x);
    let whitening = fit.model.whitening();
    // Over the training rows what lies outside the kept dimensions has its mean square.
    let outside = match whitening.rest {
        Rest::Noise { variance } => {
            let dropped = (whitening.columns() - whitening.dims()) as f64;
            -0.5 * dropped * (1.0 + (std::f64::consts::TAU * variance).ln())
        }
        _ => 0.0,
    };
    let train = fit.state.path.last().map(|p| p.train);
    let mut log_likelihood = Likelihood { train, ..Likelihood::default() };
    let log_density = train.and_then(|t| finite(t + whitening.ln_det + outside));
    let mut log_density = Likelihood { train: log_density, ..Likelihood::default() };
    if let Some(held) = held {
        let spheres = [
            (&mut log_likelihood, fit.model.score_sphered(held)?),
            (&mut log_density, fit.model.score(held)?),
        ];
        for (likelihood, scores) in spheres {
            let (mean, error) = mean_and_error(&scores, held);
            likelihood.holdout = finite(mean);
            likelihood.holdout_standard_error = finite(error);
        }
    }
    Ok(Training {
        rows: rows.len(),
        weight: (0..rows.len()).map(|i| rows.weight(i)).sum(),
        holdout_rows: held.map_or(0, Rows::len),
        seconds: began.elapsed().as_secs_f64(),
        log_likelihood,
        log_density,
        seed: settings.seed,
        version: env!("CARGO_PKG_VERSION").into(),
    })
}

/// The weighted mean of scores and its standard error.
fn mean_and_error(scores: &[f64], rows: &Rows) -> (f64, f64) {
    let sum = |f: &dyn Fn(f64) -> f64| {
        scores.iter().enumerate().map(|(i, s)| rows.weight(i) * f(*s)).sum::<f64>()
    };
    let weight = sum(&|_| 1.0);
    let mean = sum(&|s| s) / weight;
    let variance = sum(&|s| (s - mean).powi(2)) / (weight - 1.0).max(1.0);
    (mean, (variance / weight).sqrt())
}
