//! Sphered rows on their way through the layers, and the next layer for them.

use crate::engine::Memory;
use crate::error::Result;
use crate::expert::{Expert, Family, Learnable, Tilt};
use crate::learn::{
    Event, Families, LayerRecord, Observer, Session, Settings, State, Stop, StopReason,
    learn_together, radial_p_value,
};
use crate::linalg::{HALF_LN_TAU, dot, orthonormal, unit};
use crate::rows::view;
use crate::stack::{Directions, Layer, Radial, ln_radius};
use crate::whitening::{Dims, Whitening};
use rayon::prelude::*;
use upoe_kernels::Term as _;

/// What a parameter must add to N times the gain.
pub const PRICE: f64 = 2.0;
/// The level of the tests of radial and column experts.
pub const LEVEL: f64 = 0.05;
/// By how many tests the p-value of a radial expert is multiplied, as it shares the level with the directions. In
/// simulations 3 to 4 % of samples of Gaussian noise get a layer.
const RADIAL_TESTS: f64 = 2.0;
/// With fewer different values, or with this share of rows on one of them, a column, or a
/// radius, has no expert of its own: density on ties is not gain.
const FEWEST_VALUES: usize = 10;
const TIED: f64 = 0.1;

/// The free entries of a unit direction that is orthogonal to some others.
pub fn entries(dims: usize, others: usize) -> f64 {
    (dims - others - 1) as f64
}

/// What a layer gains less the price of its parameters.
pub fn net_of(record: &LayerRecord, weight: f64) -> f64 {
    record.gain() - PRICE * record.parameters / weight
}

/// Sphered rows on their way through the layers.
pub struct Passing {
    pub x: Vec<f64>,
    pub dims: usize,
    pub weights: Option<Vec<f64>>,
    pub weight: f64,
}

impl Passing {
    /// The radial expert of all dimensions, or of those outside the last directions, whichever gains more;
    /// `None` where it is not significant.
    pub fn radial(&self, layers: &[Layer]) -> Option<(Layer, LayerRecord)> {
        let mut tried = vec![Vec::new()];
        if let Some(Layer::Directions(last)) = layers.last() {
            tried.push(last.directions().to_vec());
        }
        tried.retain(|outside| outside.len() + 2 <= self.dims);
        let fitted = tried.into_iter().filter_map(|outside| {
            let (weights, weight) = (self.weights.as_deref(), self.weight);
            let v: Vec<f64> =
                self.x.chunks_exact(self.dims).map(|x| ln_radius(x, &outside)).collect();
            // Radii that differ by rounding alone are ties.
            let rounded: Vec<f64> = v.iter().map(|v| (1e9 * v).round()).collect();
            if !smooth(&rounded) {
                return None;
            }
            let (radial, nearest) = Radial::fit(&v, self.dims, weights, weight, outside);
            let term = |(i, v): (usize, &f64)| self.weight_of(i) * radial.term_at(v.max(nearest));
            let gain = v.par_iter().enumerate().map(term).collect::<Vec<f64>>();
            let gain = gain.iter().sum::<f64>() / weight;
            let p = (RADIAL_TESTS * radial_p_value(weight, radial.dims(), gain)).min(1.0);
            let parameters = radial.expert().parameters();
            let record = LayerRecord {
                gains: vec![gain],
                p_values: vec![Some(p)],
                parameters,
                holdout: None,
            };
            (p <= LEVEL).then_some((Layer::Radial(radial), record))
        });
        fitted.max_by(|a, b| net_of(&a.1, self.weight).total_cmp(&net_of(&b.1, self.weight)))
    }

    /// Directions in rows that are only nearly white: searched after sphering them once more, then made
    /// orthonormal here, with experts fitted anew.
    ///
    /// `columns` are the directions here that are closest to columns. Also returns why there are no more.
    pub fn directions(
        &self,
        session: &mut Session,
        known: &State,
        columns: &[Vec<f64>],
    ) -> Result<(Option<(Layer, LayerRecord)>, StopReason)> {
        let rows = view(&self.x, self.dims, self.weights.as_deref())?;
        let whitening = Whitening::fit(&rows, Dims::All)?;
        let settings = later(session.settings);
        let engine =
            Memory::<f64>::new(whitening.sphere_as(&rows), whitening.dims(), self.weights.clone())?;
        let inverse = whitening.inverse();
        let here = |w: &Vec<f64>| -> Vec<f64> {
            let entry = |k: usize| (0..self.dims).map(|i| w[i] * inverse[(i, k)]).sum();
            unit(&(0..whitening.dims()).map(entry).collect::<Vec<f64>>())
        };
        let columns: Vec<Vec<f64>> = columns.iter().map(here).collect();
        let mut state = State::default();
        let outer = &mut session.observer;
        let observer: Box<Observer> = Box::new(|event: &Event| match event {
            Event::Pass { gain, .. } => {
                let expert = known.experts.len();
                outer(&Event::Pass { expert, gain: *gain, state: known })
            }
            _ => true,
        });
        let mut inner = Session {
            train: &engine,
            once: session.once,
            lead: None,
            sample: None,
            columns: &columns,
            holdout: None,
            known: &[],
            settings: &settings,
            observer,
        };
        let stop = learn_together(&mut inner, &mut state)?;
        drop(inner);
        let a = whitening.matrix();
        let filter = |w: &Vec<f64>| -> Vec<f64> {
            (0..self.dims).map(|i| w.iter().enumerate().map(|(k, w)| w * a[(k, i)]).sum()).collect()
        };
        let directions = orthonormal(&state.directions().iter().map(filter).collect::<Vec<_>>());
        let refitted: Vec<(f64, Tilt)> = directions.par_iter().map(|w| self.tilt(w)).collect();
        let found = directions.into_iter().zip(refitted).zip(&state.experts);
        let (mut kept, mut experts) = (Vec::new(), Vec::<Expert>::new());
        let mut record =
            LayerRecord { gains: vec![], p_values: vec![], parameters: 0.0, holdout: None };
        for ((direction, (gain, tilt)), learned) in found {
            let parameters = tilt.free_parameters() + entries(self.dims, kept.len());
            if gain * self.weight > PRICE * parameters {
                record.gains.push(gain);
                record.p_values.push(learned.p_value);
                record.parameters += parameters;
                kept.push(direction);
                experts.push(tilt.into());
            }
        }
        let layer = Layer::Directions(Directions::new(kept, experts));
        Ok(((!record.gains.is_empty()).then_some((layer, record)), stop))
    }

    pub fn engine(&self) -> Result<Memory<f64>> {
        Memory::held_out(self.x.clone(), self.dims, self.weights.clone())
    }

    /// The tilt that fits the projections on a unit direction, and its gain over the Gaussian.
    fn tilt(&self, direction: &[f64]) -> (f64, Tilt) {
        let z: Vec<f64> = self.x.chunks_exact(self.dims).map(|x| dot(x, direction)).collect();
        let flat = Tilt::gaussian(self.weight);
        let mut sums = vec![0.0; flat.n_sums()];
        flat.block(&z, self.weights.as_deref(), &mut vec![0.0; z.len()], &mut sums);
        let tilt = flat.fitted(&sums, self.weight, 1e-9);
        let square = |(i, z): (usize, &f64)| self.weight_of(i) * z * z;
        let square = z.iter().enumerate().map(square).sum::<f64>() / self.weight;
        (0.5 * square + HALF_LN_TAU - tilt.loss(&sums, self.weight), tilt)
    }

    pub fn weight_of(&self, i: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |w| w[i])
    }

    pub fn pass(&mut self, layer: &Layer) {
        self.x.par_chunks_exact_mut(self.dims).for_each(|x| {
            layer.map(x);
        });
    }
}

/// How later layers are searched: tilts alone, roughly, by the null rule.
fn later(settings: &Settings) -> Settings {
    settings.clone().with(|s| {
        s.families = Families::from(Family::Tilt);
        s.tol = s.tol.max(1e-3);
        s.stop = Some(Stop::Null);
        s.experts = None;
    })
}

/// Whether values are smooth enough for an expert of their own: no value is there too often.
pub fn smooth(cells: &[f64]) -> bool {
    let mut sorted = cells.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (mut values, mut most) = (0, 0);
    for same in sorted.chunk_by(|a, b| a == b) {
        (values, most) = (values + 1, most.max(same.len()));
    }
    values >= FEWEST_VALUES && (most as f64) < TIED * cells.len() as f64
}
