//! What files, reports and interfaces need of a density, whatever it is made of.

use crate::error::Result;
use crate::model::Model;
use crate::rows::Rows;
use std::ops::Range;

/// A normalised density over the rows of a table.
pub trait Density: Send + Sync {
    /// How many columns a row has.
    fn columns(&self) -> usize;

    /// ln p of each row, in nats.
    fn score(&self, rows: &Rows) -> Result<Vec<f64>>;

    /// Some of the rows that [`Density::sample`] draws: those from `rows.start`, rounded down to a
    /// multiple of [`Model::SAMPLE_BLOCK`], to `rows.end`. Row i depends on the seed and i alone.
    fn sample_range(&self, rows: Range<usize>, seed: u64) -> Vec<f64>;

    /// `n` rows drawn from the density, row after row.
    fn sample(&self, n: usize, seed: u64) -> Vec<f64> {
        self.sample_range(0..n, seed)
    }
}

impl Density for Model {
    fn columns(&self) -> usize {
        self.whitening().columns()
    }

    fn score(&self, rows: &Rows) -> Result<Vec<f64>> {
        Model::score(self, rows)
    }

    fn sample_range(&self, rows: Range<usize>, seed: u64) -> Vec<f64> {
        Model::sample_range(self, rows, seed)
    }
}
