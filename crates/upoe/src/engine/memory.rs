//! All rows in memory, on all cores.

use super::{Candidate, Engine, Picked, Sums, draw};
use crate::error::{Error, Result};
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

    /// The same, summed in parts as large as those of a table with `columns` columns.
    pub(crate) fn in_parts_of(self, columns: usize) -> Self {
        Memory { rows: self.rows.in_parts_of(columns), ..self }
    }

    /// Copies of some rows and their weights.
    fn chosen(&self, rows: &[usize]) -> (Vec<T>, Option<Vec<f64>>) {
        let weights = self.weights.as_ref().map(|w| rows.iter().map(|&i| w[i]).collect());
        (rows.iter().flat_map(|&i| self.rows.row(i)).collect(), weights)
    }

    /// Their weights, where they have any.
    pub(super) fn weights(&self) -> Option<&[f64]> {
        self.weights.as_deref()
    }

    /// The rows as they are packed.
    pub(super) fn packed(&self) -> &Packed<T> {
        &self.rows
    }

    /// Takes the packed values out, so that their memory can be used again.
    pub(super) fn into_values(self) -> Aligned<T> {
        self.rows.into_values()
    }

    pub(super) fn from_parts(rows: Packed<T>, weights: Option<Vec<f64>>, white: bool) -> Self {
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
        rounding::<T>()
    }

    fn mean_square(&self) -> Result<f64> {
        if self.white {
            return Ok(self.dims() as f64);
        }
        let square = |i| -> f64 { self.rows.row(i).map(|x| x.to_f64().powi(2)).sum() };
        let weight = |i| self.weights.as_ref().map_or(1.0, |w| w[i]);
        let counts = (0..self.rows()).filter(|&i| weight(i) > 0.0);
        Ok(counts.map(|i| weight(i) * square(i)).sum::<f64>() / self.weight)
    }

    fn sums(&self, candidates: &[Candidate]) -> Result<Vec<Sums>> {
        let directions: Vec<f64> = candidates.iter().flat_map(|c| &c.direction).copied().collect();
        let expected = candidates.len() * self.dims();
        if directions.len() != expected {
            let what = "entries of the candidates' directions";
            return Err(Error::Shape { what, expected, got: directions.len() });
        }
        let terms: Vec<&dyn Term> = candidates.iter().map(|c| &c.expert as &dyn Term).collect();
        let out = pass(&self.rows, self.weights.as_deref(), &directions, &terms);
        let gradients = out.gradients.chunks_exact(self.dims()).map(<[f64]>::to_vec);
        let sums = gradients.zip(out.sums);
        Ok(sums.map(|(gradient, statistics)| Sums { gradient, statistics }).collect())
    }

    fn pick(&self, rows: &[usize]) -> Result<Picked> {
        if let Some(&row) = rows.iter().find(|&&row| row >= self.rows()) {
            return Err(Error::Shape {
                what: "rows to pick from",
                expected: row + 1,
                got: self.rows(),
            });
        }
        let (rows, weights) = self.chosen(rows);
        Ok(Picked { rows: rows.into_iter().map(Real::to_f64).collect(), weights })
    }

    /// As the trait's default, but in the precision of the rows.
    fn subset(&self, seed: u64, n: usize) -> Result<Option<Box<dyn Engine>>> {
        let Some(chosen) = draw(self.rows(), seed, n) else { return Ok(None) };
        let (rows, weights) = self.chosen(&chosen);
        let engine = Self::from_parts(Packed::new(rows, self.dims()), weights, false);
        Ok((engine.weight() > 0.0).then(|| Box::new(engine) as Box<dyn Engine>))
    }
}

/// A direction is rounded like the rows, and with it the scale of all its projections.
pub(crate) fn rounding<T>() -> f64 {
    if size_of::<T>() == 4 { 1e-8 } else { 1e-15 }
}
