//! A fit, with progress.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use upoe::{Event, Fit, Rest, Rows, Settings, State, fit_with};
use upoe_io::{Likelihood, Training};

use crate::arrays::{Private, Source, Weights};
use crate::model::PyModel;
use crate::{errors, memory, threads, work};

/// How far a fit has come.
#[derive(Clone, Copy, Default)]
struct Progress {
    expert: usize,
    passes: usize,
    value: f64,
}

impl Progress {
    fn note(&mut self, event: &Event) {
        if let Event::Pass { expert, value, .. } = event {
            *self = Progress { expert: *expert, passes: self.passes + 1, value: *value };
        }
    }
}

/// Rows and optionally their weights, in arrays that nobody else has.
struct Table {
    rows: Source,
    weights: Option<Py<PyArray1<f64>>>,
}

/// The same, borrowed.
struct Borrowed<'py> {
    rows: Private<'py>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
}

impl Table {
    fn borrow<'py>(&self, py: Python<'py>) -> PyResult<Borrowed<'py>> {
        let weights = self.weights.as_ref().map(|w| w.bind(py).try_readonly()).transpose()?;
        Ok(Borrowed { rows: self.rows.whole(py)?, weights })
    }
}

impl Borrowed<'_> {
    fn rows(&self) -> PyResult<Rows<'_>> {
        let rows = self.rows.rows()?;
        match &self.weights {
            Some(weights) => rows.weighted(weights.as_slice()?).map_err(|e| errors::of(e, None)),
            None => Ok(rows),
        }
    }
}

/// Fits a model. `settings` is JSON, `names` the columns' names, and
/// `progress(expert, passes, value)` is called a few times per second. The arrays must be private:
/// C-contiguous, and known to no other thread.
#[pyfunction]
#[pyo3(signature = (x, weights, holdout, holdout_weights, settings, names, progress))]
#[allow(clippy::too_many_arguments)] // One caller, which names them all.
pub fn fit(
    py: Python<'_>,
    x: Source,
    weights: Option<Weights>,
    holdout: Option<Source>,
    holdout_weights: Option<Weights>,
    settings: &str,
    names: Option<Vec<String>>,
    progress: Option<Py<PyAny>>,
) -> PyResult<PyModel> {
    let settings: Settings = serde_json::from_str(settings)
        .map_err(|error| PyValueError::new_err(format!("settings: {error}")))?;
    let train = Table { rows: x, weights: weights.map(|w| w.0) };
    let held = holdout.map(|rows| Table { rows, weights: holdout_weights.map(|w| w.0) });
    let ours = Arc::new(Mutex::new(Progress::default()));
    let theirs = Arc::clone(&ours);
    let look = || match &progress {
        Some(show) => {
            let Progress { expert, passes, value } = *lock(&ours);
            show.call1(py, (expert, passes, value)).map(drop)
        }
        None => Ok(()),
    };
    work::run(py, look, move |stop| {
        let mut observer = |event: &Event| {
            lock(&theirs).note(event);
            !stop.asked()
        };
        let fit = |py: Python| learn(py, &train, held.as_ref(), settings, names, &mut observer);
        let fitted = Python::try_attach(fit);
        fitted.unwrap_or_else(|| Err(errors::internal("Python has ended")))
    })
}

fn lock(progress: &Mutex<Progress>) -> MutexGuard<'_, Progress> {
    progress.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The fit itself, with Python free to do other things.
fn learn(
    py: Python<'_>,
    train: &Table,
    held: Option<&Table>,
    settings: Settings,
    names: Option<Vec<String>>,
    observer: &mut (dyn FnMut(&Event) -> bool + Send),
) -> PyResult<PyModel> {
    let began = Instant::now();
    let train = train.borrow(py)?;
    let held = held.map(|table| table.borrow(py)).transpose()?;
    let rows = train.rows()?;
    let held = held.as_ref().map(Borrowed::rows).transpose()?;
    // The engine is given the threads instead of their number.
    let running = Settings { threads: None, ..settings.clone() };
    let all = rows.len() + held.as_ref().map_or(0, Rows::len);
    let bytes = memory::of_fit(all, rows.columns(), settings.precision);
    let mut fit = || {
        rows.check()?;
        held.as_ref().map_or(Ok(()), Rows::check)?;
        let fit = fit_with(&rows, held.as_ref(), &running, State::default(), observer)?;
        let training = training(&fit, &rows, held.as_ref(), &settings, began)?;
        Ok((fit, training))
    };
    let checked = move || {
        memory::check(bytes, "the fit", "use fewer rows, or precision=\"f32\"").map(|()| fit())
    };
    let fitted = py.detach(|| threads::run(settings.threads, checked))??;
    let (fit, training) = fitted.map_err(|e: upoe::Error| errors::of(e, names.as_deref()))?;
    Ok(PyModel::new(fit, names, settings, training))
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
