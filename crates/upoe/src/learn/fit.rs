//! From rows to a fitted model.

use super::grow::{candidates, grow};
use super::likelihood::mean_ln_p;
use super::settings::{Learner, ParallelStart, Precision, Settings, Stop};
use super::{joint, stop};
use crate::engine::{Engine, Memory};
use crate::error::{Error, Result, invalid};
use crate::expert::{Expert, Marginal};
use crate::model::Model;
use crate::rows::Rows;
use crate::whitening::{Rest, Whitening};
use serde::{Deserialize, Serialize};
use std::fmt;

/// One learned expert and how it was learned.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Learned {
    /// Its direction in sphered space.
    pub direction: Vec<f64>,
    /// The expert.
    pub expert: Expert,
    /// Q, the change in ⟨−ln p⟩ over the training rows when it joined: negative is better.
    pub q: f64,
    /// The chance that Gaussian rows would give as large a gain, where the stop rule says.
    pub p_value: Option<f64>,
    /// Steps its last descent took.
    pub iterations: usize,
    /// Whether that ended at its tolerance.
    pub converged: bool,
}

/// ⟨ln p⟩ in sphered space of a model on the path, in nats a row.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PathPoint {
    /// Over the training rows.
    pub train: f64,
    /// Over the held-out rows, where there are any.
    pub holdout: Option<f64>,
}

/// What is learned so far: enough to go on from, with the same bits as without a break.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// The experts, in the order they were learned.
    pub experts: Vec<Learned>,
    /// The models of 0…J experts on the way.
    pub path: Vec<PathPoint>,
}

/// Why a fit stopped.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "rule")]
#[non_exhaustive]
pub enum StopReason {
    /// The number of experts asked for is reached.
    Experts,
    /// Every dimension has its expert.
    Dimensions,
    /// The next expert gains no more than Gaussian rows would give.
    NotSignificant {
        /// Its p-value.
        p: f64,
    },
    /// The next expert has Q ≥ 0 on the training rows.
    NoGain {
        /// Its Q.
        q: f64,
    },
    /// The next expert does not raise the likelihood of the held-out rows.
    Holdout {
        /// What it does to it, in nats a row.
        change: f64,
    },
    /// The next expert gains less than its parameters cost.
    Bic {
        /// Its Q.
        q: f64,
        /// The price of its parameters, in nats a row.
        price: f64,
    },
    /// The observer stopped it.
    Interrupted,
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            StopReason::Experts => write!(f, "the number of experts asked for is reached"),
            StopReason::Dimensions => write!(f, "every dimension has its expert"),
            StopReason::NotSignificant { p } => write!(
                f,
                "the next direction gains no more than Gaussian noise would (p = {p:.2}, needed {})",
                stop::LEVEL
            ),
            StopReason::NoGain { q } => {
                write!(f, "the next direction gains nothing on the training rows (Q = {q:.1e})")
            }
            StopReason::Holdout { change } => {
                write!(
                    f,
                    "the next direction does not help on the held-out rows ({change:+.2e} nats a row)"
                )
            }
            StopReason::Bic { q, price } => write!(
                f,
                "the next direction gains less than its parameters cost ({:.4} against {price:.4} nats a row)",
                -q
            ),
            StopReason::Interrupted => {
                write!(f, "it was interrupted; what was learned until then is kept")
            }
        }
    }
}

/// Something a user should know about a fit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "notice")]
#[non_exhaustive]
pub enum Notice {
    /// The data have variance in fewer dimensions than columns; the density lives there.
    Degenerate {
        /// Dimensions with variance.
        rank: usize,
        /// Columns of the data.
        columns: usize,
        /// Columns that do not vary at all.
        constant: Vec<usize>,
    },
    /// An expert ended at a bound that keeps the likelihood finite.
    Bound {
        /// Which expert, from 0.
        expert: usize,
        /// Which bound.
        bound: String,
    },
    /// An expert's descent ran out of iterations.
    Iterations {
        /// Which expert, from 0.
        expert: usize,
    },
    /// The null rule was asked beyond its simulated table.
    Extrapolated {
        /// Rows over free dimensions.
        rows_per_dimension: f64,
        /// Free dimensions.
        dimensions: usize,
    },
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Notice::Degenerate { rank, columns, constant } => {
                write!(f, "the data vary in {rank} of {columns} dimensions")?;
                if !constant.is_empty() {
                    write!(f, " ({} constant column(s))", constant.len())?;
                }
                write!(
                    f,
                    ": the density is over that subspace, and rows outside it get ln p = −inf"
                )
            }
            Notice::Bound { expert, bound } => write!(
                f,
                "expert {} ended at the {bound} allowed: ties or a few rows in a line? Its gain is not to be trusted",
                expert + 1
            ),
            Notice::Iterations { expert } => {
                write!(
                    f,
                    "expert {} ran out of iterations before it converged: raise the limit",
                    expert + 1
                )
            }
            Notice::Extrapolated { rows_per_dimension, dimensions } => write!(
                f,
                "{rows_per_dimension:.1} rows a dimension in {dimensions} dimensions lie outside the simulated table of the null rule: p-values follow its asymptotic form"
            ),
        }
    }
}

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
    },
    /// An expert is learned.
    Learned(&'a State),
}

/// Sees every pass and every expert; returning false stops the fit, which keeps what is
/// learned.
pub type Observer<'a> = dyn FnMut(&Event) -> bool + 'a;

/// A fitted model and how it came about.
#[derive(Clone, Debug)]
pub struct Fit {
    /// The model.
    pub model: Model,
    /// Experts and path, in the order they were learned.
    pub state: State,
    /// Why no further expert was added.
    pub stop: StopReason,
    /// What a user should know.
    pub notices: Vec<Notice>,
}

/// What learners work with.
pub struct Context<'a, 'o> {
    pub(super) train: &'a dyn Engine,
    pub(super) holdout: Option<&'a dyn Engine>,
    pub(super) settings: &'a Settings,
    pub(super) observer: &'a mut Observer<'o>,
}

impl Context<'_, '_> {
    pub(super) fn pass(&mut self, expert: usize, value: f64) -> bool {
        (self.observer)(&Event::Pass { expert, value })
    }

    pub(super) fn learned(&mut self, state: &State) -> bool {
        (self.observer)(&Event::Learned(state))
    }

    /// Adds the model as it stands to the path.
    pub(super) fn extend_path(&self, state: &mut State) -> Result<()> {
        let experts = candidates(state);
        let train = mean_ln_p(self.train, &experts)?;
        let holdout = self.holdout.map(|h| mean_ln_p(h, &experts)).transpose()?;
        state.path.push(PathPoint { train, holdout });
        Ok(())
    }
}

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
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
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
    if let Some(learned) = state.experts.iter().find(|e| e.direction.len() != dims) {
        let got = learned.direction.len();
        return Err(Error::Shape { what: "entries of a learned direction", expected: dims, got });
    }
    let weights = rows.weights().map(<[f64]>::to_vec);
    let train = Memory::<T>::new(&whitening.sphere(rows)?, dims, weights)?;
    let held = match holdout {
        Some(rows) => {
            rows.check()?;
            let weights = rows.weights().map(<[f64]>::to_vec);
            Some(Memory::<T>::held_out(&whitening.sphere(rows)?, dims, weights)?)
        }
        None => None,
    };
    if settings.stop_rule() == Stop::Holdout && held.is_none() {
        return invalid("stop", "holdout", "held-out rows are needed");
    }
    let mut context = Context {
        train: &train,
        holdout: held.as_ref().map(|h| h as &dyn Engine),
        settings,
        observer,
    };
    if state.path.is_empty() {
        context.extend_path(&mut state)?;
    }
    let stop = learn(&mut context, &mut state)?;
    canonical(&mut state, &whitening);
    let notices = notices(&whitening, &state, &train);
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
        ParallelStart::Random => joint::from_random(context, state)?,
        _ => grow(context, state)?,
    };
    if settings.parallel_start == ParallelStart::Grow
        || stop == StopReason::Interrupted && state.experts.is_empty()
    {
        return Ok(stop);
    }
    let done = joint::refine(context, state)?;
    // The path of the experts as they are now, and each expert's Q along it.
    state.path.clear();
    let experts = std::mem::take(&mut state.experts);
    context.extend_path(state)?;
    for mut learned in experts {
        let before = state.path.last().map_or(0.0, |p| p.train);
        learned.q = 0.0;
        state.experts.push(learned);
        context.extend_path(state)?;
        let after = state.path.last().map_or(0.0, |p| p.train);
        if let Some(learned) = state.experts.last_mut() {
            learned.q = before - after;
        }
    }
    Ok(if done { stop } else { StopReason::Interrupted })
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

fn notices(whitening: &Whitening, state: &State, train: &dyn Engine) -> Vec<Notice> {
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
    // The first expert faces the most dimensions, the last the fewest.
    let judged = |e: &&Learned| e.p_value.is_some();
    for (j, learned) in state.experts.iter().enumerate().filter(|(_, e)| judged(e)) {
        let (weight, dims) = (train.weight(), train.dims() - j);
        if !super::null::covers(&learned.expert, weight, dims) {
            let rows_per_dimension = weight / dims as f64;
            notices.push(Notice::Extrapolated { rows_per_dimension, dimensions: dims });
            break;
        }
    }
    notices
}
