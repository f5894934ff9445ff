//! From rows to a fitted model.

mod apart;
mod best;
mod climb;
mod dependent;
mod drawn;
mod hidden;
mod incomplete;
mod incomplete_pool;
mod signs;
mod threads;

use crate::chosen::{Chosen, equal_to, others};
use crate::effective::{Effective, Repeats};
use crate::engine::{Engine, Memory};
use crate::error::{Error, Result, invalid};
use crate::evaluate;
use crate::fitted::Fit;
use crate::grain;
use crate::grow::grow;
use crate::learn::{
    Event, Learned, Notice, Observer, OutlierCell, Precision, Session, Settings, State, StopReason,
    learn, notices, screening,
};
use crate::linalg::pseudo_inverse;
use crate::model::Model;
use crate::moments::Moments;
use crate::outliers;
use crate::place::Place;
use crate::rows::{Rows, view};
use crate::whitening::Whitening;
use drawn::worth_of_drawn;
use signs::canonical;
pub(crate) use threads::in_pool;

/// A row whose weight is less than this share of the largest does not count, however far away it
/// is.
const LIGHT: f64 = 1e-100;

/// Up to this many rows are brought into their canonical form first; sorting more takes too long.
const CANONICAL: usize = 10_000;

/// Up to this many outliers are named.
const NAMED: usize = 5;

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
/// assert!(fitted.state.experts[0].gain > 0.5);
/// let ln_p = fitted.model.score(&rows)?;
/// assert_eq!(ln_p.len(), 400);
/// # Ok::<(), upoe::Error>(())
/// ```
pub fn fit(rows: &Rows, settings: &Settings) -> Result<Fit> {
    Fitter::new(settings.clone()).fit(rows)
}

/// A fit with all its options: settings, held-out rows, a state to continue from, an observer.
///
/// ```
/// use upoe::{Event, Fitter, Rows, Settings};
/// # let values: Vec<f64> = (0..120).map(|i| f64::from(i * i % 17) + (0.7 * f64::from(i)).sin()).collect();
/// # let (train, held) = values.split_at(90);
/// let (train, held) = (Rows::new(train, 3)?, Rows::new(held, 3)?);
/// let mut passes = 0;
/// let fitted = Fitter::new(Settings::default())
///     .holdout(held)
///     .observe(|event| {
///         passes += usize::from(matches!(event, Event::Pass { .. }));
///         true // go on
///     })
///     .fit(&train)?;
/// assert!(fitted.state.path[0].holdout.is_some() && passes > 0);
/// # Ok::<(), upoe::Error>(())
/// ```
pub struct Fitter<'a> {
    pub(crate) settings: Settings,
    pub(crate) holdout: Option<Rows<'a>>,
    state: State,
    observer: Box<Observer<'a>>,
    pub(crate) effective: Option<Effective>,
    /// Weights with which every distinct row counts once, where that makes a difference.
    once: Option<Vec<f64>>,
    pub(crate) ties: Vec<usize>,
    place: Option<&'a dyn Place>,
    /// Which row each row is a draw of, where missing cells were drawn.
    origins: Option<Vec<usize>>,
    /// How far correlations are shrunk, where cells were missing.
    prior: f64,
    /// Experts to begin from instead of a search, with directions over the columns.
    known: Vec<Learned>,
    /// How many layers pay, where rows tell about others.
    deepest: Option<usize>,
}

impl<'a> Fitter<'a> {
    /// A fit with these settings.
    pub fn new(settings: Settings) -> Self {
        let observer = Box::new(|_: &Event| true);
        let state = State::default();
        let (effective, once, ties) = (None, None, Vec::new());
        let (holdout, place, origins) = (None, None, None);
        let (prior, known, deepest) = (0.0, Vec::new(), None);
        Fitter {
            settings,
            holdout,
            state,
            observer,
            effective,
            once,
            ties,
            place,
            origins,
            prior,
            known,
            deepest,
        }
    }

    /// Keeps the rows in a place such as a GPU, and sums over them there. It makes no difference to
    /// [`Fitter::fit_engine`].
    pub fn place(self, place: &'a dyn Place) -> Self {
        Fitter { place: Some(place), ..self }
    }

    /// Rows that are not learned from: the path reports their likelihood, and a stop rule can use
    /// it.
    pub fn holdout(self, rows: Rows<'a>) -> Self {
        Fitter { holdout: Some(rows), ..self }
    }

    /// Continues from a state. The result has the same bits as that of an uninterrupted fit.
    pub fn resume(self, state: State) -> Self {
        Fitter { state, ..self }
    }

    /// Shows every pass and every expert to an observer. When it returns false, the fit stops and
    /// keeps what is learned.
    pub fn observe(self, observer: impl FnMut(&Event) -> bool + Send + 'a) -> Self {
        Fitter { observer: Box::new(observer), ..self }
    }

    /// Fits a model to rows in memory.
    pub fn fit(mut self, rows: &Rows) -> Result<Fit> {
        self.settings.check()?;
        self.settings.check_holdout(self.holdout.is_some())?;
        let settings = self.settings.clone();
        let (held, none) = (self.holdout, Box::new(|_: &Event| true));
        let mut observer = std::mem::replace(&mut self.observer, none);
        in_pool(settings.threads, || {
            let deepest = match self.origins {
                None => dependent::depth(rows, &settings, &mut observer)?,
                Some(_) => None,
            };
            let fitter = Fitter { deepest, ..self }.observe(|event| observer(event));
            let mut fit = fitter.fit_counted(rows)?;
            if settings.pool && fit.stop != StopReason::Interrupted {
                let depth = dependent::most_layers(&settings, deepest);
                let settings = settings.clone().with(|s| s.depth = depth);
                let known = fit.stack.as_ref();
                fit.pool = best::pool(rows, &fit.left_out, known, &settings, &mut observer)?;
                if fit.pool.is_none() {
                    fit.stop = StopReason::Interrupted;
                }
            }
            if fit.pool.is_some() {
                fit.notices.extend(grain::notice(rows));
            }
            if let (Some(stack), Some(held)) = (&fit.stack, held) {
                for (record, added) in fit.layers.iter_mut().zip(stack.added(&held)?) {
                    let mean = evaluate::mean(&added, &held).mean;
                    record.holdout = mean.is_finite().then_some(mean);
                }
            }
            if !fit.left_out.is_empty() {
                let named = outliers::worst(rows, &fit.left_out, NAMED).into_iter();
                let named = named.map(|(row, column, value)| OutlierCell { row, column, value });
                let (count, of) = (fit.left_out.len(), rows.len());
                fit.notices.insert(0, Notice::Outliers { rows: count, of, named: named.collect() });
            }
            Ok(fit)
        })
    }

    /// Fits a model to the sphered rows of an engine. `whitening` is how they were sphered;
    /// `holdout` has the held-out rows under the same sphering.
    pub fn fit_engine(
        self,
        whitening: Whitening,
        train: &dyn Engine,
        holdout: Option<&dyn Engine>,
    ) -> Result<Fit> {
        self.settings.check()?;
        self.settings.check_holdout(holdout.is_some())?;
        if self.holdout.is_some() {
            return invalid("holdout", "rows", "give held-out rows as an engine, sphered");
        }
        in_pool(self.settings.threads, || self.learn(whitening, None, train, holdout))
    }

    /// Leaves out rows whose weight does not count.
    fn fit_counted(mut self, rows: &Rows) -> Result<Fit> {
        rows.check()?;
        self.ties = grain::ties(rows);
        let weights = rows.weights().unwrap_or_default();
        // Draws share the weight of their row.
        if self.origins.is_none() {
            dependent::check_counts(rows, &self.settings)?;
        }
        let heaviest = weights.iter().copied().fold(0.0, f64::max);
        let heavy = |i: &usize| weights[*i] > LIGHT * heaviest;
        let chosen: Vec<usize> = (0..weights.len()).filter(heavy).collect();
        if chosen.is_empty() || chosen.len() == rows.len() {
            return self.fit_canonical(rows);
        }
        let counted = Chosen::of(rows, &chosen);
        let mut fit = self.fit_canonical(&counted.view(rows.columns())?)?;
        fit.left_out.iter_mut().for_each(|i| *i = chosen[*i]);
        Ok(fit)
    }

    /// Brings few rows into their canonical form, so that neither their order in the file nor how
    /// often they are repeated matters, and scales the weights to what the rows are worth.
    fn fit_canonical(mut self, rows: &Rows) -> Result<Fit> {
        if !(0..rows.len()).any(|i| rows.weight(i) > 0.0) {
            return self.fit_sphered(rows, None);
        }
        let effective = match self.origins.take() {
            Some(origins) => {
                let (effective, once) = worth_of_drawn(rows, &origins, &self.settings)?;
                self.once = once;
                effective
            }
            None => {
                let repeats = (!self.settings.counts).then(|| Repeats::of(rows));
                let effective = Effective::of(rows, repeats.as_ref(), self.settings.ordered)?;
                self.once = repeats.and_then(|repeats| repeats.once());
                effective
            }
        };
        if rows.len() <= CANONICAL {
            let (values, weights) = rows.canonical();
            // Where rows are too few, or all equal, errors must count the original rows.
            if values.len() >= 2 * rows.columns() {
                let canonical = view(&values, rows.columns(), weights.as_deref())?;
                let weights = effective.scaled(&canonical);
                let scaled = view(&values, rows.columns(), weights.as_deref())?;
                if let Some(once) = self.once.take() {
                    let (_, merged) = rows.weighted(&once)?.canonical();
                    self.once = Some(merged.unwrap_or_else(|| vec![1.0; canonical.len()]));
                }
                let mut fit = self.fit_sphered(&scaled, Some(effective))?;
                fit.left_out = equal_to(rows, &fit.left_out, &scaled);
                return Ok(fit);
            }
        }
        let weights = effective.scaled(rows);
        let scaled = weights.as_ref().map_or(Ok(*rows), |weights| rows.weighted(weights))?;
        self.fit_sphered(&scaled, Some(effective))
    }

    /// Spheres the rows into engines in memory, without those that are too far away.
    fn fit_sphered(mut self, rows: &Rows, effective: Option<Effective>) -> Result<Fit> {
        self.effective = effective;
        let place = self.place;
        let prior = self.prior;
        let moments = |rows: &Rows| -> Result<Moments> {
            Ok(place.map_or_else(|| Moments::of(rows), |p| p.moments(rows))?.shrunk(prior))
        };
        let mut sphered = outliers::sphering_by(rows, self.settings.dims, &moments)?;
        self.set_apart(rows, &mut sphered, &moments)?;
        let (whitening, left_out) = (sphered.whitening, sphered.left_out);
        if left_out.is_empty() {
            return self.fit_whitened(whitening, rows);
        }
        let others = others(rows.len(), &left_out);
        self.once = self.once.map(|once| others.iter().map(|&i| once[i]).collect());
        let near = Chosen::of(rows, &others);
        Ok(Fit { left_out, ..self.fit_whitened(whitening, &near.view(rows.columns())?)? })
    }

    fn fit_whitened(mut self, whitening: Whitening, rows: &Rows) -> Result<Fit> {
        if whitening.columns() > 256 {
            upoe_kernels::release_memory();
        }
        let train = self.engine(&whitening, rows, self.prior == 0.0)?;
        let holdout = match self.holdout.take() {
            Some(held) => {
                held.check()?;
                whitening.check_columns(held.columns())?;
                Some(self.engine(&whitening, &held, false)?)
            }
            None => None,
        };
        self.learn(whitening, Some(rows), &*train, holdout.as_deref())
    }

    /// An engine over rows: the training rows, which are white, or others.
    fn engine(&self, whitening: &Whitening, rows: &Rows, white: bool) -> Result<Box<dyn Engine>> {
        match (self.place, self.settings.precision) {
            (Some(place), precision) => place.engine(whitening, rows, precision, white),
            (None, Precision::F64) => in_memory::<f64>(whitening, rows, white),
            (None, Precision::F32) => in_memory::<f32>(whitening, rows, white),
        }
    }

    /// Learns experts from the engine's sums and puts the model together.
    pub(crate) fn learn(
        self,
        whitening: Whitening,
        rows: Option<&Rows>,
        train: &dyn Engine,
        holdout: Option<&dyn Engine>,
    ) -> Result<Fit> {
        let Fitter { settings, mut state, observer, effective, once, ties, .. } = self;
        let (mut known, deepest) = (self.known, self.deepest);
        for engine in [Some(train), holdout].into_iter().flatten() {
            let (what, expected) = ("dimensions of an engine's rows", whitening.dims());
            if engine.dims() != expected {
                return Err(Error::Shape { what, expected, got: engine.dims() });
            }
        }
        check_state(&state, whitening.dims())?;
        let lead = match settings.sample {
            Some(rows) => train.subset(settings.seed, rows)?,
            None => None,
        };
        let lead = lead.as_deref();
        let sample = screening(lead.unwrap_or(train), settings.seed)?;
        let sample = sample.as_deref();
        let columns = whitening.column_directions();
        let (columns, once, settings) = (&columns[..], once.as_deref(), &settings);
        for learned in &mut known {
            learned.candidate.direction = whitening.direction_of(learned.direction());
        }
        let known = &known[..];
        let mut session =
            Session { train, once, lead, sample, columns, holdout, known, settings, observer };
        let (mut stack, mut layers) = (None, Vec::new());
        let stop = if settings.depth == Some(1) {
            learn(&mut session, &mut state)?
        } else {
            let depth = dependent::most_layers(settings, deepest);
            let grown = grow(&mut session, state, whitening.clone(), rows, depth)?;
            (state, stack, layers) = (grown.state, Some(grown.stack), grown.records);
            grown.stop
        };
        state.reserve.clear();
        canonical(&mut state, &whitening);
        let notices = notices(&whitening, &state, train, settings, effective, ties);
        let (directions, experts) =
            state.candidates().into_iter().map(|c| (c.direction, c.expert)).unzip();
        let model = Model::new(whitening, directions, experts)?;
        let (pool, left_out) = (None, Vec::new());
        Ok(Fit { model, stack, pool, layers, state, stop, notices, left_out })
    }
}

fn in_memory<T: upoe_kernels::Real>(
    whitening: &Whitening,
    rows: &Rows,
    white: bool,
) -> Result<Box<dyn Engine>> {
    let (x, dims) = (whitening.sphere_as::<T>(rows), whitening.dims());
    let weights = rows.weights().map(<[f64]>::to_vec);
    let engine = match white {
        true => Memory::new(x, dims, weights)?,
        false => Memory::held_out(x, dims, weights)?,
    };
    // Where dimensions were dropped, parts are still those of the rows in a file.
    Ok(Box::new(engine.in_parts_of(whitening.columns())))
}

/// Refuses a state that does not fit sphered rows of `dims` dimensions.
fn check_state(state: &State, dims: usize) -> Result<()> {
    let known = state.experts.iter().chain(&state.reserve);
    if let Some(got) = known.map(|e| e.direction().len()).find(|length| *length != dims) {
        return Err(Error::Shape { what: "entries of a learned direction", expected: dims, got });
    }
    pseudo_inverse(&state.directions(), dims)?;
    let (expected, got) = (state.experts.len() + 1, state.path.len());
    if got != expected && !(got == 0 && expected == 1) {
        return Err(Error::Shape { what: "points on the path of a state", expected, got });
    }
    Ok(())
}
