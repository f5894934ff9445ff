//! Growing a stack: each round adds the layer that gains more, until what is left is Gaussian noise.

mod passing;

use crate::engine::{Candidate, Engine};
use crate::error::Result;
use crate::expert::Learnable;
use crate::learn::{
    Event, LayerRecord, Learned, Observer, PathPoint, Session, Settings, State, StopReason,
    column_p_value, learn, path,
};
use crate::linalg::HALF_LN_TAU;
use crate::outliers;
use crate::random::{self, Use};
use crate::rows::{Rows, view};
use crate::stack::{Directions, Layer, Placed, Stack};
use crate::whitening::{Dims, Rest, Whitening};
use passing::{LEVEL, PRICE, Passing, entries, net_of, smooth};
use rand::seq::index::sample;
use rayon::prelude::*;

/// Layers at most where the depth is not given.
const DEEPEST: usize = 8;
/// A radial expert that gains more than this share of a nat per dimension needs no search beside it.
const PLAIN: f64 = 0.15;
/// About how many rows say whether columns are worth a try beside such a radial expert.
const SOME: usize = 10_000;
/// Layers that gain less, net of their parameters, are not worth their time: in nats, and as a share of what the
/// layers before gain.
const WORTHLESS: f64 = 1e-3;
const LITTLE: f64 = 0.005;

/// A stack, and how it was found.
pub(crate) struct Grown {
    pub stack: Stack,
    pub records: Vec<LayerRecord>,
    /// The experts of the first layer that has directions.
    pub state: State,
    /// Why that has no more of them.
    pub stop: StopReason,
}

/// Grows a stack on the rows of a session, at most `depth` layers. `state` is where the first directions
/// continue from; `rows` are the rows before sphering, where they are known, for column experts.
pub(crate) fn grow(
    session: &mut Session,
    mut state: State,
    whitening: Whitening,
    rows: Option<&Rows>,
    depth: Option<usize>,
) -> Result<Grown> {
    let depth = depth.unwrap_or(DEEPEST);
    let mut stop = StopReason::NotSignificant { p: 1.0 };
    let mut plain = Growing::new(session.train, whitening, rows)?;
    let mut own = plain.round(|_| {
        stop = learn(session, &mut state)?;
        Ok(as_layer(&state, session.train.dims()))
    })?;
    if matches!(plain.layers.first(), Some(Layer::Radial(_))) {
        state = State::default();
    }
    let mut best = plain;
    if stop != StopReason::Interrupted
        && let Some(rows) = rows
        && (!best.scaled() || columns_may_win(rows, session.settings.dims))
        && let Some(mut columns) = Growing::with_columns(rows, session.settings.dims)?
    {
        // A strong radial expert was not searched beside, so columns are compared alone, and go on from there.
        let goes_on = best.scaled() || columns.next(session, &state, &mut stop)?;
        if columns.worth() > best.worth() {
            (best, own) = (columns, goes_on);
        }
    }
    let mut goes_on = own && best.told(session, &mut stop);
    while goes_on && best.layers.len() < depth {
        goes_on = best.next(session, &state, &mut stop)? && best.told(session, &mut stop);
        if state.experts.is_empty() && best.columns.is_empty() {
            state = best.as_state();
        }
    }
    if state.path.is_empty() {
        state.path = path(session, &state)?;
    }
    let Growing { columns, whitening, layers, records, .. } = best;
    Ok(Grown { stack: Stack::new(columns, whitening, layers)?, records, state, stop })
}

/// Whether columns made Gaussian gain more than a radial expert on some of the rows, the same for every seed. The price of
/// parameters is left out: it is a cheap check before both are fitted to all rows.
fn columns_may_win(rows: &Rows, dims: Dims) -> bool {
    let counting: Vec<usize> = (0..rows.len()).filter(|&i| rows.weight(i) > 0.0).collect();
    if counting.len() < 2 * SOME {
        return true;
    }
    let mut rng = random::stream(0, Use::Rows, 0);
    let mut chosen = sample(&mut rng, counting.len(), SOME).into_vec();
    chosen.sort_unstable();
    let (values, weights) = rows.pick(&chosen.iter().map(|&k| counting[k]).collect::<Vec<usize>>());
    let ahead = || -> Result<bool> {
        let some = view(&values, rows.columns(), weights.as_deref())?;
        let mut plain = Growing::alone(&some, dims)?;
        if plain.whitening.rest() == Rest::Degenerate {
            return Ok(true);
        }
        plain.base = plain.gaussian(&some, 0.0);
        plain.round(|_| Ok(None))?;
        let columns = Growing::with_columns(&some, dims)?;
        Ok(columns.is_some_and(|columns| columns.mean() > plain.mean()))
    };
    // Some rows may vary in fewer dimensions than all; that says nothing about all.
    ahead().unwrap_or(true)
}

/// A stack alone, without first directions that are learned with care: on the rows as they are, or on columns
/// made Gaussian first. `None` where no column can be.
pub(crate) fn stack_alone(
    rows: &Rows,
    settings: &Settings,
    columns: bool,
    watch: &(dyn Fn() -> bool + Sync),
) -> Result<Option<Stack>> {
    let mut growing = match columns {
        true => match Growing::with_columns(rows, settings.dims)? {
            Some(growing) => growing,
            None => return Ok(None),
        },
        false => Growing::alone(rows, settings.dims)?,
    };
    let engine = growing.rows.engine()?;
    let observer: Box<Observer> = Box::new(|_| watch());
    let (once, lead, sample, holdout) = (None, None, None, None);
    let mut session = Session {
        train: &engine,
        once,
        lead,
        sample,
        columns: &[],
        holdout,
        known: &[],
        settings,
        observer,
    };
    let (none, mut stop) = (State::default(), StopReason::Dimensions);
    while growing.layers.len() < settings.depth.unwrap_or(DEEPEST)
        && growing.next(&mut session, &none, &mut stop)?
        && stop != StopReason::Interrupted
    {}
    let Growing { columns, whitening, layers, .. } = growing;
    Ok(Some(Stack::new(columns, whitening, layers)?))
}

/// A stack on its way.
struct Growing {
    columns: Vec<Option<Placed>>,
    whitening: Whitening,
    rows: Passing,
    /// The mean ln p of the Gaussian, column experts included.
    base: f64,
    layers: Vec<Layer>,
    records: Vec<LayerRecord>,
}

impl Growing {
    /// On sphered rows.
    fn new(train: &dyn Engine, whitening: Whitening, rows: Option<&Rows>) -> Result<Self> {
        let all: Vec<usize> = (0..train.rows()).collect();
        let picked = train.pick(&all)?;
        let (x, weights) = (picked.rows, picked.weights);
        let rows_x = Passing { x, dims: train.dims(), weights, weight: train.weight() };
        let (columns, layers, records) = (Vec::new(), Vec::new(), Vec::new());
        let mut growing = Growing { columns, whitening, rows: rows_x, base: 0.0, layers, records };
        growing.base = rows.map_or(0.0, |rows| growing.gaussian(rows, 0.0));
        Ok(growing)
    }

    /// On rows as they are.
    fn alone(rows: &Rows, dims: Dims) -> Result<Self> {
        let whitening = outliers::sphering(rows, dims)?.whitening;
        let (x, weights) = (whitening.sphere(rows)?, rows.weights().map(<[f64]>::to_vec));
        let weight: f64 = (0..rows.len()).map(|i| rows.weight(i)).sum();
        let rows = Passing { x, dims: whitening.dims(), weights, weight };
        let (columns, layers, records) = (Vec::new(), Vec::new(), Vec::new());
        Ok(Growing { columns, whitening, rows, base: 0.0, layers, records })
    }

    /// On rows whose columns are made Gaussian first; `None` where no column can be.
    fn with_columns(rows: &Rows, dims: Dims) -> Result<Option<Self>> {
        // Within a subspace columns cannot be mapped one by one.
        if Whitening::fit(rows, dims)?.rest() == Rest::Degenerate {
            return Ok(None);
        }
        let weight: f64 = (0..rows.len()).map(|i| rows.weight(i)).sum();
        let expert = |k: usize| {
            let cells: Vec<f64> = (0..rows.len()).map(|i| rows.row(i)[k]).collect();
            if !smooth(&cells) {
                return None;
            }
            let expert = Placed::fit(&cells, rows.weights(), weight);
            let mean = |of: &dyn Fn(f64) -> f64| {
                let terms = cells.iter().enumerate().map(|(i, v)| rows.weight(i) * of(*v));
                terms.sum::<f64>() / weight
            };
            let middle = mean(&|v| v);
            let variance = mean(&|v| (v - middle).powi(2));
            let gain = mean(&|v| expert.ln_density(v)) + 0.5 * variance.ln() + 0.5 + HALF_LN_TAU;
            let p = column_p_value(expert.expert(), weight, gain) * rows.columns() as f64;
            (p <= LEVEL && gain * weight > PRICE * expert.parameters()).then_some(expert)
        };
        let columns: Vec<Option<Placed>> =
            (0..rows.columns()).into_par_iter().map(expert).collect();
        if columns.iter().all(Option::is_none) {
            return Ok(None);
        }
        let mut ln_slopes = 0.0;
        let mut values = Vec::with_capacity(rows.len() * rows.columns());
        for i in 0..rows.len() {
            for (cell, expert) in rows.row(i).iter().zip(&columns) {
                let mapped = expert.as_ref().map(|expert| expert.map(*cell));
                ln_slopes += mapped.map_or(0.0, |m| rows.weight(i) * m.ln_slope);
                values.push(mapped.map_or(*cell, |m| m.g));
            }
        }
        let mapped = view(&values, rows.columns(), rows.weights())?;
        let whitening = Whitening::fit(&mapped, dims)?;
        if whitening.rest() == Rest::Degenerate {
            return Ok(None);
        }
        let (x, weights) = (whitening.sphere(&mapped)?, rows.weights().map(<[f64]>::to_vec));
        let passing = Passing { x, dims: whitening.dims(), weights, weight };
        let (layers, records) = (Vec::new(), Vec::new());
        let mut growing = Growing { columns, whitening, rows: passing, base: 0.0, layers, records };
        growing.base = growing.gaussian(&mapped, ln_slopes / weight);
        Ok(Some(growing))
    }

    /// The mean ln p of rows under the Gaussian, plus that of the maps before it.
    fn gaussian(&self, rows: &Rows, before: f64) -> f64 {
        let d = self.rows.dims;
        let jacobian = |(i, x): (usize, &[f64])| {
            self.rows.weight_of(i) * self.whitening.ln_jacobian(&rows.row(i), x)
        };
        let jacobians: f64 = self.rows.x.chunks_exact(d).enumerate().map(jacobian).sum();
        before + jacobians / self.rows.weight - d as f64 * (0.5 + HALF_LN_TAU)
    }

    /// Whether rows have one scale for all columns: the first layer is a strong radial expert.
    fn scaled(&self) -> bool {
        let first = self.layers.first().zip(self.records.first());
        first.is_some_and(|(layer, record)| {
            matches!(layer, Layer::Radial(_))
                && net_of(record, self.rows.weight) > PLAIN * self.rows.dims as f64
        })
    }

    /// The mean ln p of the rows.
    fn mean(&self) -> f64 {
        self.base + self.records.iter().map(LayerRecord::gain).sum::<f64>()
    }

    /// The same, less one for every parameter over the number of rows.
    fn worth(&self) -> f64 {
        let columns: f64 = self.columns.iter().flatten().map(|c| c.parameters() - 2.0).sum();
        let layers: f64 = self.records.iter().map(|record| record.parameters).sum();
        self.mean() - (columns + layers) / self.rows.weight
    }

    /// Adds a layer after the first; `stop` becomes what it is where the observer stops it.
    fn next(
        &mut self,
        session: &mut Session,
        known: &State,
        stop: &mut StopReason,
    ) -> Result<bool> {
        let columns = self.whitening.column_directions();
        self.round(|rows| {
            let (found, reason) = rows.directions(session, known, &columns)?;
            if reason == StopReason::Interrupted {
                *stop = reason;
            }
            Ok(found)
        })
    }

    /// Adds the layer that gains more: a radial expert, or the directions that `search` finds. False where
    /// neither is worth it.
    fn round(
        &mut self,
        search: impl FnOnce(&Passing) -> Result<Option<(Layer, LayerRecord)>>,
    ) -> Result<bool> {
        let rows = &self.rows;
        let radial = rows.radial(&self.layers);
        let enough = PLAIN * rows.dims as f64;
        let plain = radial.as_ref().is_some_and(|(_, r)| net_of(r, rows.weight) > enough);
        let directions = if plain { None } else { search(rows)? };
        let found = match (radial, directions) {
            (Some(radial), Some(directions)) => {
                let ahead = net_of(&radial.1, rows.weight) > net_of(&directions.1, rows.weight);
                Some(if ahead { radial } else { directions })
            }
            (radial, directions) => radial.or(directions),
        };
        // The first directions stay, however little they gain: they are significant.
        let before: f64 = self.records.iter().map(LayerRecord::gain).sum();
        let least = WORTHLESS.max(LITTLE * before);
        let Some((layer, record)) =
            found.filter(|(_, r)| self.layers.is_empty() || net_of(r, rows.weight) > least)
        else {
            return Ok(false);
        };
        self.rows.pass(&layer);
        self.layers.push(layer);
        self.records.push(record);
        Ok(true)
    }

    /// Shows the newest layer to the observer; false where the fit is to end.
    fn told(&self, session: &mut Session, stop: &mut StopReason) -> bool {
        let newest = self.layers.last().zip(self.records.last());
        let going = newest.is_none_or(|(layer, record)| {
            let radial = matches!(layer, Layer::Radial(_));
            let layer = self.layers.len() - 1;
            (session.observer)(&Event::Layer { layer, radial, record })
        });
        if !going {
            *stop = StopReason::Interrupted;
        }
        *stop != StopReason::Interrupted
    }

    /// The first directions, found after a radial expert, as if they had been learned alone.
    fn as_state(&self) -> State {
        let mut state = State::default();
        let mut before = -(self.rows.dims as f64) * (0.5 + HALF_LN_TAU);
        for (layer, record) in self.layers.iter().zip(&self.records) {
            let Layer::Directions(layer) = layer else {
                before += record.gain();
                continue;
            };
            state.path.push(PathPoint { train: before, holdout: None });
            let found = layer.directions().iter().zip(layer.experts());
            for ((w, expert), (gain, p)) in found.zip(record.gains.iter().zip(&record.p_values)) {
                let candidate = Candidate::new(w.clone(), expert.clone());
                state.experts.push(Learned { p_value: *p, ..Learned::new(candidate, *gain) });
                before += gain;
                state.path.push(PathPoint { train: before, holdout: None });
            }
            break;
        }
        state
    }
}

/// The directions that were learned from the sphered rows themselves, as a layer.
pub(crate) fn as_layer(state: &State, dims: usize) -> Option<(Layer, LayerRecord)> {
    let parameters = state.experts.iter().enumerate();
    let parameters = parameters.map(|(j, e)| e.expert().free_parameters() + entries(dims, j));
    let record = LayerRecord {
        gains: state.experts.iter().map(|e| e.gain).collect(),
        p_values: state.experts.iter().map(|e| e.p_value).collect(),
        parameters: parameters.sum(),
        holdout: None,
    };
    let experts = state.experts.iter().map(|e| e.expert().clone()).collect();
    let layer = Layer::Directions(Directions::new(state.directions(), experts));
    (!state.experts.is_empty()).then_some((layer, record))
}
