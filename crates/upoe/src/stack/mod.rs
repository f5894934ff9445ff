//! A stack of layers: the density that is left when each layer has made the rows more Gaussian.
//!
//! Every layer is a map with a known determinant, from rows to rows that are closer to standard normal.
//! ln p adds up over the layers, the inverse is exact, and drawing a row is drawing a standard normal one
//! and mapping it back. The model of the paper is a stack of one layer.

mod chi;
mod gaussianise;
mod layer;
mod placed;
mod quintic;
mod radial;

pub use layer::{Directions, Layer, LayerParts};
pub use placed::{Placed, PlacedParts};
pub use radial::{Radial, RadialParts};

pub(crate) use radial::ln_radius;

use crate::error::{Error, Result};
use crate::linalg::{HALF_LN_TAU, dot};
use crate::model::Model;
use crate::random;
use crate::rows::Rows;
use crate::whitening::{Rest, Whitening};
use rand::RngExt;
use rand_distr::StandardNormal;
use rayon::prelude::*;
use std::ops::Range;

/// Rows per block of work.
const BLOCK: usize = 256;

/// Column experts, sphering, and layers.
#[derive(Clone, Debug)]
pub struct Stack {
    /// One for each column that has an expert of its own; empty where none has.
    columns: Vec<Option<Placed>>,
    whitening: Whitening,
    layers: Vec<Layer>,
}

impl Stack {
    /// From its parts. `columns` is empty or has one entry per column.
    pub fn new(
        columns: Vec<Option<Placed>>,
        whitening: Whitening,
        layers: Vec<Layer>,
    ) -> Result<Self> {
        if !columns.is_empty() && columns.len() != whitening.columns() {
            let (expected, got) = (whitening.columns(), columns.len());
            return Err(Error::Shape { what: "column experts", expected, got });
        }
        Ok(Stack { columns, whitening, layers })
    }

    /// The column experts; empty where there are none.
    pub fn column_experts(&self) -> &[Option<Placed>] {
        &self.columns
    }

    /// How rows are sphered, after the column experts.
    pub fn whitening(&self) -> &Whitening {
        &self.whitening
    }

    /// The layers, in the order in which rows pass them.
    pub fn layers(&self) -> &[Layer] {
        &self.layers
    }

    /// How many radial experts come before the first directions, where rows are sphered as they are.
    pub(crate) fn radial_first(&self) -> usize {
        let radial = self.layers.iter().take_while(|layer| matches!(layer, Layer::Radial(_)));
        if self.columns.is_empty() { radial.count() } else { 0 }
    }

    /// The stack of the first `layers` layers.
    pub fn truncated(&self, layers: usize) -> Stack {
        let kept = self.layers.iter().take(layers).cloned().collect();
        Stack { columns: self.columns.clone(), whitening: self.whitening.clone(), layers: kept }
    }

    /// ln p of each row, in nats.
    pub fn score(&self, rows: &Rows) -> Result<Vec<f64>> {
        self.by_row(rows, |row| {
            let (x, mut ln_p) = self.sphered(row);
            ln_p += self.ln_p_sphered(x);
            if ln_p.is_nan() { f64::NEG_INFINITY } else { ln_p }
        })
    }

    /// ln p of a sphered row.
    pub(crate) fn ln_p_sphered(&self, mut x: Vec<f64>) -> f64 {
        let maps: f64 = self.layers.iter().map(|layer| layer.map(&mut x)).sum();
        maps - 0.5 * dot(&x, &x) - x.len() as f64 * HALF_LN_TAU
    }

    /// A row after the column experts and sphering, and the logarithm of that map's determinant.
    pub(crate) fn sphered(&self, row: &[f64]) -> (Vec<f64>, f64) {
        let mut row = row.to_vec();
        let mut ln_det = 0.0;
        for (cell, expert) in row.iter_mut().zip(&self.columns) {
            if let Some(expert) = expert {
                let mapped = expert.map(*cell);
                (*cell, ln_det) = (mapped.g, ln_det + mapped.ln_slope);
            }
        }
        let x = self.whitening.sphere_row(&row);
        ln_det += self.whitening.ln_jacobian(&row, &x);
        (x, ln_det)
    }

    /// What the column experts and sphering, then every layer's experts one by one, and at last the Gaussian
    /// rest add to ln p of a row.
    pub fn terms(&self, row: &[f64]) -> Result<Vec<Vec<f64>>> {
        self.whitening.check_columns(row.len())?;
        let (mut x, ln_det) = self.sphered(row);
        let mut terms = vec![vec![ln_det]];
        for layer in &self.layers {
            terms.push(layer.terms(&x));
            layer.map(&mut x);
        }
        // What a layer adds is the Gaussian's ln p after it, plus its determinant, less the Gaussian's
        // before it, so that only the Gaussian of the first rows is left.
        let (x, _) = self.sphered(row);
        terms.push(vec![-0.5 * dot(&x, &x) - x.len() as f64 * HALF_LN_TAU]);
        Ok(terms)
    }

    /// For each radial expert, how many times as far out as the middle row a row lies.
    pub fn times_as_far(&self, row: &[f64]) -> Vec<f64> {
        let (mut x, _) = self.sphered(row);
        let mut times = Vec::new();
        for layer in &self.layers {
            if let Layer::Radial(radial) = layer {
                times.push(radial.times_as_far(&x));
            }
            layer.map(&mut x);
        }
        times
    }

    /// What each layer adds to ln p of every row.
    pub(crate) fn added(&self, rows: &Rows) -> Result<Vec<Vec<f64>>> {
        let by_row = self.by_row(rows, |row| {
            let (mut x, _) = self.sphered(row);
            let add = |layer: &Layer| {
                let added: f64 = layer.terms(&x).iter().sum();
                layer.map(&mut x);
                added
            };
            self.layers.iter().map(add).collect::<Vec<f64>>()
        })?;
        Ok((0..self.layers.len()).map(|l| by_row.iter().map(|row| row[l]).collect()).collect())
    }

    /// The standard normal rows that rows are mapped to: N × D, row after row.
    pub fn normal(&self, rows: &Rows) -> Result<Vec<f64>> {
        Ok(self.mapped(rows)?.0)
    }

    /// The rows that rows are mapped to, and the logarithms of the map's determinants.
    pub(crate) fn mapped(&self, rows: &Rows) -> Result<(Vec<f64>, Vec<f64>)> {
        let mapped = self.by_row(rows, |row| {
            let (mut x, ln_det) = self.sphered(row);
            let layers: f64 = self.layers.iter().map(|layer| layer.map(&mut x)).sum();
            (x, ln_det + layers)
        })?;
        let (x, ln_det): (Vec<Vec<f64>>, Vec<f64>) = mapped.into_iter().unzip();
        Ok((x.concat(), ln_det))
    }

    /// The row that is mapped to a standard normal one.
    pub fn inverse(&self, normal: &[f64]) -> Result<Vec<f64>> {
        let expected = self.whitening.dims();
        if normal.len() != expected {
            let (what, got) = ("entries of a standard normal row", normal.len());
            return Err(Error::Shape { what, expected, got });
        }
        let mut x = normal.to_vec();
        self.layers.iter().rev().for_each(|layer| layer.inverse(&mut x));
        Ok(self.in_units(self.whitening.restore(&x)))
    }

    /// A row before the column experts.
    fn in_units(&self, mut row: Vec<f64>) -> Vec<f64> {
        for (cell, expert) in row.iter_mut().zip(&self.columns) {
            if let Some(expert) = expert {
                *cell = expert.inverse(*cell);
            }
        }
        row
    }

    /// Roughly where the values of each column lie: a middle and a scale.
    pub(crate) fn places(&self) -> Vec<(f64, f64)> {
        let (mean, deviations) = (self.whitening.mean(), self.whitening.deviations());
        let low = self.in_units(mean.iter().zip(deviations).map(|(m, s)| m - s).collect());
        let middle = self.in_units(mean.to_vec());
        let high = self.in_units(mean.iter().zip(deviations).map(|(m, s)| m + s).collect());
        let spreads = low.iter().zip(&high).map(|(low, high)| 0.5 * (high - low));
        middle.into_iter().zip(spreads).collect()
    }

    /// The gradient of ln p at a row, in the units of its columns. Where dimensions have no variance, it is that
    /// within the subspace of the training rows.
    pub fn slope(&self, row: &[f64]) -> Result<Vec<f64>> {
        self.slope_with(row, |x| Ok(x.iter().map(|x| -x).collect()))
    }

    /// The same with another density than the standard normal at the end of the maps; `last` is its slope.
    pub(crate) fn slope_with(
        &self,
        row: &[f64],
        last: impl FnOnce(&[f64]) -> Result<Vec<f64>>,
    ) -> Result<Vec<f64>> {
        self.whitening.check_columns(row.len())?;
        let (x, _) = self.sphered(row);
        let residual = match self.whitening.rest() {
            Rest::Noise { variance } => {
                let residual = self.whitening.residual(&self.made_gaussian(row), &x);
                residual.iter().map(|r| r / variance).collect()
            }
            Rest::Nothing | Rest::Degenerate => vec![0.0; row.len()],
        };
        let mut passed = vec![x];
        for layer in &self.layers {
            let mut next = passed[passed.len() - 1].clone();
            layer.map(&mut next);
            passed.push(next);
        }
        let mut gradient = last(&passed.pop().unwrap_or_default())?;
        for (layer, x) in self.layers.iter().zip(&passed).rev() {
            gradient = layer.pull(x, gradient);
        }
        let matrix = self.whitening.matrix();
        let of_column = |i: usize| -> f64 {
            let by_cell: f64 = gradient.iter().enumerate().map(|(k, g)| g * matrix[(k, i)]).sum();
            let by_cell = by_cell - residual[i];
            match self.columns.get(i) {
                Some(Some(expert)) => {
                    let mapped = expert.map(row[i]);
                    let slope = mapped.ln_slope.exp();
                    by_cell * slope + expert.slope(row[i]) + mapped.g * slope
                }
                _ => by_cell,
            }
        };
        Ok((0..row.len()).map(of_column).collect())
    }

    /// A row after the column experts.
    fn made_gaussian(&self, row: &[f64]) -> Vec<f64> {
        let mut row = row.to_vec();
        for (cell, expert) in row.iter_mut().zip(&self.columns) {
            if let Some(expert) = expert {
                *cell = expert.map(*cell).g;
            }
        }
        row
    }

    /// Some of the rows that [`Stack::sample`] draws; see
    /// [`Density::sample_range`](crate::Density::sample_range).
    pub fn sample_range(&self, rows: Range<usize>, seed: u64) -> Vec<f64> {
        const BLOCK: usize = Model::SAMPLE_BLOCK;
        let blocks = (rows.start / BLOCK..rows.end.div_ceil(BLOCK)).into_par_iter();
        let drawn: Vec<Vec<f64>> = blocks
            .map(|block| {
                let mut rng = random::stream(seed, random::Use::Sample, block as u64);
                let some = block * BLOCK..((block + 1) * BLOCK).min(rows.end);
                some.flat_map(|_| self.draw(&mut rng)).collect()
            })
            .collect();
        drawn.concat()
    }

    /// `n` rows drawn from the stack, row after row.
    pub fn sample(&self, n: usize, seed: u64) -> Vec<f64> {
        self.sample_range(0..n, seed)
    }

    /// One row.
    pub(crate) fn draw(&self, rng: &mut random::Stream) -> Vec<f64> {
        let x = (0..self.whitening.dims()).map(|_| rng.sample(StandardNormal)).collect();
        self.back(x, rng)
    }

    /// The row that is mapped to `x`, with noise outside the kept dimensions.
    pub(crate) fn back(&self, mut x: Vec<f64>, rng: &mut random::Stream) -> Vec<f64> {
        self.layers.iter().rev().for_each(|layer| layer.inverse(&mut x));
        let mut row = self.whitening.restore(&x);
        if let Rest::Noise { variance } = self.whitening.rest() {
            self.whitening.add_noise(&mut row, variance, rng);
        }
        self.in_units(row)
    }

    fn by_row<T: Send>(&self, rows: &Rows, of_row: impl Fn(&[f64]) -> T + Sync) -> Result<Vec<T>> {
        self.whitening.check_columns(rows.columns())?;
        rows.check()?;
        let block = |block: usize| {
            let some = block * BLOCK..((block + 1) * BLOCK).min(rows.len());
            some.map(|i| of_row(&rows.row(i))).collect::<Vec<T>>()
        };
        let blocks: Vec<Vec<T>> =
            (0..rows.len().div_ceil(BLOCK)).into_par_iter().map(block).collect();
        Ok(blocks.into_iter().flatten().collect())
    }
}
