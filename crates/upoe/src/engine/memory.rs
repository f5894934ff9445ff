//! All rows in memory, on all cores.

use super::{Candidate, Engine, Sums};
use crate::error::{Error, Result};
use crate::random::{self, Use};
use rand::RngExt;
use upoe_kernels::{Aligned, Packed, Real, Term, pass};

/// Sphered rows in memory, as `f64` or, for half the memory traffic, `f32`.
#[derive(Debug)]
pub struct Memory<T> {
    rows: Packed<T>,
    weights: Option<Vec<f64>>,
    weight: f64,
    white: bool,
}

impl<T: Real> Memory<T> {
    /// The training rows, sphered: row after row, with their weights.
    pub fn new(
        rows: impl Into<Aligned<T>>,
        dims: usize,
        weights: Option<Vec<f64>>,
    ) -> Result<Self> {
        let rows = rows.into();
        let expected = rows.len() / dims.max(1);
        if dims == 0 || rows.len() != expected * dims {
            let needed = rows.len().next_multiple_of(dims.max(1));
            return Err(Error::Shape {
                what: "values in whole rows",
                expected: needed,
                got: rows.len(),
            });
        }
        if let Some(weights) = &weights {
            if weights.len() != expected {
                return Err(Error::Shape { what: "weights", expected, got: weights.len() });
            }
            if let Some(row) = weights.iter().position(|w| !(w.is_finite() && *w >= 0.0)) {
                return Err(Error::Weight { row, value: weights[row] });
            }
        }
        let engine = Self::from_parts(Packed::new(rows, dims), weights, true);
        if !(engine.weight > 0.0) {
            return Err(Error::TooFewRows { rows: 0, needed: 1 });
        }
        Ok(engine)
    }

    /// Other rows under the same sphering, such as held-out ones: ⟨xxᵀ⟩ need not be I.
    pub fn held_out(
        rows: impl Into<Aligned<T>>,
        dims: usize,
        weights: Option<Vec<f64>>,
    ) -> Result<Self> {
        Ok(Memory { white: false, ..Self::new(rows, dims, weights)? })
    }

    fn from_parts(rows: Packed<T>, weights: Option<Vec<f64>>, white: bool) -> Self {
        let weight = weights.as_ref().map_or(rows.rows() as f64, |w| w.iter().sum());
        Memory { rows, weights, weight, white }
    }
}

impl<T: Real> Engine for Memory<T> {
    fn dims(&self) -> usize {
        self.rows.cols()
    }

    fn rows(&self) -> usize {
        self.rows.rows()
    }

    fn weight(&self) -> f64 {
        self.weight
    }

    fn is_white(&self) -> bool {
        self.white
    }

    fn rounding(&self) -> f64 {
        // A direction rounds with the rows, and with it the scale of all its projections.
        if size_of::<T>() == 4 { 1e-8 } else { 1e-15 }
    }

    fn mean_square(&self) -> f64 {
        if self.white {
            return self.dims() as f64;
        }
        let square = |i| -> f64 { self.rows.row(i).map(|x| x.to_f64().powi(2)).sum() };
        let weight = |i| self.weights.as_ref().map_or(1.0, |w| w[i]);
        let counts = (0..self.rows()).filter(|&i| weight(i) > 0.0);
        counts.map(|i| weight(i) * square(i)).sum::<f64>() / self.weight
    }

    fn sums(&self, candidates: &[Candidate]) -> Vec<Sums> {
        let directions: Vec<f64> = candidates.iter().flat_map(|c| &c.direction).copied().collect();
        let terms: Vec<&dyn Term> = candidates.iter().map(|c| &c.expert as &dyn Term).collect();
        let out = pass(&self.rows, self.weights.as_deref(), &directions, &terms);
        out.gradients
            .chunks_exact(self.dims())
            .zip(out.sums)
            .map(|(score, statistics)| Sums { score: score.to_vec(), statistics })
            .collect()
    }

    fn subset(&self, seed: u64, n: usize) -> Option<Box<dyn Engine>> {
        if n >= self.rows() {
            return None;
        }
        let mut rng = random::stream(seed, Use::Rows, n as u64);
        let mut chosen = rand::seq::index::sample(&mut rng, self.rows(), n).into_vec();
        chosen.sort_unstable();
        let rows: Vec<T> = chosen.iter().flat_map(|&i| self.rows.row(i)).collect();
        let weights = self.weights.as_ref().map(|w| chosen.iter().map(|&i| w[i]).collect());
        let engine = Self::from_parts(Packed::new(rows, self.dims()), weights, false);
        (engine.weight() > 0.0).then(|| Box::new(engine) as Box<dyn Engine>)
    }

    fn suggest(&self, seed: u64, n: usize) -> Vec<Vec<f64>> {
        let mut rng = random::stream(seed, Use::Starts, u64::from(u32::MAX));
        (0..n)
            .map(|_| {
                let (a, b) = (rng.random_range(0..self.rows()), rng.random_range(0..self.rows()));
                self.rows
                    .row(a)
                    .zip(self.rows.row(b))
                    .map(|(a, b)| a.to_f64() - b.to_f64())
                    .collect()
            })
            .collect()
    }
}
