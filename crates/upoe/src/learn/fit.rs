//! From rows to a fitted model.

use super::grow::{candidates, grow};
use super::joint;
use super::likelihood::{after, changes, gaussian};
use super::outcome::{Fit, Notice, PathPoint, State, StopReason};
use super::settings::{Learner, ParallelStart, Precision, Settings, Stop};
use crate::engine::{Engine, Memory};
use crate::error::{Error, Result, invalid};
use crate::expert::Marginal;
use crate::model::Model;
use crate::rows::Rows;
use crate::whitening::{Rest, Whitening};

/// What an observer sees.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// A pass over the rows is done.
    Pass {
        /// Which expert is being learned, from 0.
        expert: usize,
        /// The best value so far: Q of the new expert, or for joint learning the change from
        /// the Gaussian.
        value: f64,
        /// What is learned already, where joint learning does not change it.
        state: &'a State,
    },
    /// An expert is learned, or all of them at once.
    Learned(&'a State),
}

/// Sees every pass and every expert; returning false stops the fit, which keeps what is
/// learned.
pub type Observer<'a> = dyn FnMut(&Event) -> bool + 'a;

/// What learners work with.
pub struct Context<'a, 'o> {
    pub(super) train: &'a dyn Engine,
    /// Some of the training rows, where they are many.
    pub(super) sample: Option<Box<dyn Engine>>,
    pub(super) holdout: Option<&'a dyn Engine>,
    pub(super) settings: &'a Settings,
    pub(super) observer: &'a mut Observer<'o>,
}

impl Context<'_, '_> {
    pub(super) fn pass(&mut self, state: &State, expert: usize, value: f64) -> bool {
        (self.observer)(&Event::Pass { expert, value, state })
    }

    pub(super) fn learned(&mut self, state: &State) -> bool {
        (self.observer)(&Event::Learned(state))
    }

    /// Adds the model to the path whose newest expert joined the others as they were.
    pub(super) fn join_path(&self, state: &mut State) {
        let mut experts = candidates(state);
        let (Some(new), Some(learned), Some(last)) =
            (experts.pop(), state.experts.last(), state.path.last())
        else {
            return;
        };
        let others: Vec<Vec<f64>> = experts.into_iter().map(|c| c.direction).collect();
        let gain = |h: &dyn Engine| changes(h, &others, std::slice::from_ref(&new))[0];
        let holdout = last.holdout.zip(self.holdout).map(|(mean, h)| after(mean, gain(h)));
        state.path.push(PathPoint { train: last.train - learned.q, holdout });
    }

    /// The path to the model as it stands: with no expert, with the first, and so on.
    pub(super) fn path(&self, state: &State) -> Vec<PathPoint> {
        let experts = candidates(state);
        let along = |engine: &dyn Engine| -> Vec<f64> {
            let mut values = vec![gaussian(engine)];
            for change in changes(engine, &[], &experts) {
                values.push(after(values[values.len() - 1], change));
            }
            values
        };
        let holdout = self.holdout.map(along);
        let point = |(j, train)| PathPoint { train, holdout: holdout.as_ref().map(|h| h[j]) };
        along(self.train).into_iter().enumerate().map(point).collect()
    }
}

/// Rows of less than this share of the largest weight count for nothing, however far they lie.
const LIGHT: f64 = 1e-100;

/// Up to so many rows are learned from in their canonical form; sorting more would cost.
const CANONICAL: usize = 10_000;

/// Fits a model to rows.
///
/// ```
/// use upoe::{Rows, Settings, fit};
/// // Two groups along the first column.
/// let values: Vec<f64> = (0..400)
///     .flat_map(|i| {
///         let t = f64::from(i);
///         [if i % 2 == 0 { -3.0 } else { 3.0 } + (1.7 * t).sin(), (2.3 * t).cos() + (0.9 * t).sin()]
///     })
///     .collect();
/// let rows = Rows::new(&values, 2)?;
/// let fitted = fit(&rows, &Settings::default())?;
/// assert!(fitted.state.experts[0].q < -0.5);
/// let scores = fitted.model.score(&rows)?;
/// assert_eq!(scores.len(), 400);
/// # Ok::<(), upoe::Error>(())
/// ```
pub fn fit(rows: &Rows, settings: &Settings) -> Result<Fit> {
    fit_with(rows, None, settings, State::default(), &mut |_| true)
}

/// Fits a model to rows with all there is: held-out rows, a state to go on from, an observer.
pub fn fit_with(
    rows: &Rows,
    holdout: Option<&Rows>,
    settings: &Settings,
    state: State,
    observer: &mut (dyn FnMut(&Event) -> bool + Send),
) -> Result<Fit> {
    settings.check()?;
    match settings.threads {
        None => prepare(rows, holdout, settings, state, observer),
        Some(threads) => {
            // More threads than cores only get in each other's way.
            let cores = std::thread::available_parallelism().map_or(1, usize::from);
            let pool =
                rayon::ThreadPoolBuilder::new().num_threads(threads.min(cores.max(16))).build();
            match pool {
                Ok(pool) => pool.install(|| prepare(rows, holdout, settings, state, observer)),
                Err(_) => invalid("threads", threads, "the system would not start that many"),
            }
        }
    }
}

fn prepare(
    rows: &Rows,
    holdout: Option<&Rows>,
    settings: &Settings,
    state: State,
    observer: &mut (dyn FnMut(&Event) -> bool + Send),
) -> Result<Fit> {
    if let Some(weights) = rows.weights() {
        let heaviest = weights.iter().copied().fold(0.0, f64::max);
        let counts = |i: &usize| weights[*i] > LIGHT * heaviest;
        let chosen: Vec<usize> = (0..rows.len()).filter(counts).collect();
        if !chosen.is_empty() && chosen.len() < rows.len() {
            rows.check()?;
            let (values, weights) = rows.pick(&chosen);
            let rows = Rows::new(&values, rows.columns())?;
            let rows = rows.weighted(weights.as_deref().unwrap_or_default())?;
            return prepare(&rows, holdout, settings, state, observer);
        }
    }
    if rows.len() > CANONICAL {
        return learn_from(rows, holdout, settings, state, observer);
    }
    rows.check()?;
    let (values, weights) = rows.canonical();
    if values.len() < 2 * rows.columns() {
        // Too few rows or all alike: the error speaks of the rows as they are.
        return learn_from(rows, holdout, settings, state, observer);
    }
    let mut rows = Rows::new(&values, rows.columns())?;
    if let Some(weights) = &weights {
        rows = rows.weighted(weights)?;
    }
    learn_from(&rows, holdout, settings, state, observer)
}

fn learn_from(
    rows: &Rows,
    holdout: Option<&Rows>,
    settings: &Settings,
    state: State,
    observer: &mut (dyn FnMut(&Event) -> bool + Send),
) -> Result<Fit> {
    let whitening = Whitening::fit(rows, settings.dims)?;
    match settings.precision {
        Precision::F64 => run::<f64>(whitening, rows, holdout, settings, state, observer),
        Precision::F32 => run::<f32>(whitening, rows, holdout, settings, state, observer),
    }
}

fn run<T: upoe_kernels::Real>(
    whitening: Whitening,
    rows: &Rows,
    holdout: Option<&Rows>,
    settings: &Settings,
    mut state: State,
    observer: &mut (dyn FnMut(&Event) -> bool + Send),
) -> Result<Fit> {
    let dims = whitening.dims();
    let spares = state.reserve.iter().map(|s| &s.candidate.direction);
    let known = state.experts.iter().map(|e| &e.direction).chain(spares);
    if let Some(got) = known.map(Vec::len).find(|length| *length != dims) {
        return Err(Error::Shape { what: "entries of a learned direction", expected: dims, got });
    }
    let known: Vec<Vec<f64>> = state.experts.iter().map(|e| e.direction.clone()).collect();
    crate::model::pseudo_inverse(&known, dims)?;
    let (expected, got) = (known.len() + 1, state.path.len());
    if got != expected && !(got == 0 && known.is_empty()) {
        return Err(Error::Shape { what: "points on the path of a state", expected, got });
    }
    let weights = rows.weights().map(<[f64]>::to_vec);
    if whitening.columns() > 256 {
        upoe_kernels::release_memory();
    }
    let train = Memory::<T>::new(whitening.sphere_as(rows), dims, weights)?;
    let held = match holdout {
        Some(rows) => {
            rows.check()?;
            whitening.check_columns(rows.columns())?;
            let weights = rows.weights().map(<[f64]>::to_vec);
            Some(Memory::<T>::held_out(whitening.sphere_as(rows), dims, weights)?)
        }
        None => None,
    };
    if settings.stop_rule() == Stop::Holdout && held.is_none() {
        return invalid("stop", "holdout", "held-out rows are needed");
    }
    let mut context = Context {
        train: &train,
        sample: super::search::sample(&train, settings.seed),
        holdout: held.as_ref().map(|h| h as &dyn Engine),
        settings,
        observer,
    };
    if state.path.is_empty() {
        state.path = context.path(&state);
    }
    let stop = learn(&mut context, &mut state)?;
    state.reserve.clear();
    canonical(&mut state, &whitening);
    let notices = notices(&whitening, &state, &train, settings);
    let (directions, experts) =
        state.experts.iter().map(|e| (e.direction.clone(), e.expert.clone())).unzip();
    Ok(Fit { model: Model::new(whitening, directions, experts)?, state, stop, notices })
}

fn learn(context: &mut Context, state: &mut State) -> Result<StopReason> {
    let settings = context.settings;
    if settings.learner != Learner::Parallel {
        return grow(context, state);
    }
    let stop = match settings.parallel_start {
        ParallelStart::Random => {
            let stop = joint::from_random(context, state)?;
            renumber(context, state);
            context.learned(state);
            return Ok(stop);
        }
        _ => grow(context, state)?,
    };
    if settings.parallel_start == ParallelStart::Grow || stop == StopReason::Interrupted {
        return Ok(stop);
    }
    let done = joint::refine(context, state)?;
    renumber(context, state);
    Ok(if done { stop } else { StopReason::Interrupted })
}

/// The path of the experts as they are now, and each expert's Q along it.
fn renumber(context: &Context, state: &mut State) {
    state.path = context.path(state);
    for (j, learned) in state.experts.iter_mut().enumerate() {
        learned.q = state.path[j].train - state.path[j + 1].train;
    }
}

/// One way to write a model: every direction's largest loading is positive, where what is
/// held allows turning it round.
fn canonical(state: &mut State, whitening: &Whitening) {
    for learned in &mut state.experts {
        let loading = |i: usize| -> f64 {
            learned.direction.iter().enumerate().map(|(k, w)| w * whitening.matrix[(k, i)]).sum()
        };
        // Loadings times deviations: what a typical change of the column does.
        let largest = (0..whitening.columns())
            .map(|i| loading(i) * whitening.deviations[i])
            .fold(0.0_f64, |a, b| if b.abs() > a.abs() * (1.0 + 1e-9) { b } else { a });
        if largest < 0.0
            && let Some(mirrored) = learned.expert.mirrored()
        {
            learned.expert = mirrored;
            learned.direction.iter_mut().for_each(|w| *w = -*w);
        }
    }
}

fn notices(
    whitening: &Whitening,
    state: &State,
    train: &dyn Engine,
    settings: &Settings,
) -> Vec<Notice> {
    let mut notices = Vec::new();
    if whitening.rest == Rest::Degenerate {
        let constant =
            (0..whitening.columns()).filter(|&i| whitening.deviations[i] == 0.0).collect();
        let (rank, columns) = (whitening.rank, whitening.columns());
        notices.push(Notice::Degenerate { rank, columns, constant });
    }
    for (expert, learned) in state.experts.iter().enumerate() {
        if let Some(bound) = learned.expert.at_bound() {
            notices.push(Notice::Bound { expert, bound: bound.to_string() });
        }
        if !learned.converged {
            notices.push(Notice::Iterations { expert });
        }
    }
    // The first test faces the most dimensions; the one that ended the fit counts too.
    if settings.stop_rule() == Stop::Null {
        let weight = train.weight();
        let judged = (0..=state.experts.len()).map(|j| train.dims() - j).filter(|d| *d > 0);
        let beyond = |dims: &usize| {
            let families = settings.families().into_iter();
            let known = families.filter_map(|f| settings.templates(f, weight).ok()?.pop());
            known.into_iter().any(|expert| !super::null::covers(&expert, weight, *dims))
        };
        if let Some(dimensions) = judged.into_iter().find(beyond) {
            let rows_per_dimension = weight / dimensions as f64;
            notices.push(Notice::Extrapolated { rows_per_dimension, dimensions });
        }
    }
    notices
}
