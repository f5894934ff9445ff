//! What files, reports and interfaces need of a density, whatever it is made of.

pub(crate) mod missing;
pub(crate) mod scan;
pub(crate) mod slice;

pub(crate) use missing::{Guess, averaged};

use crate::error::Result;
use crate::importance::Estimate;
use crate::line::{COARSE, Line, ROUGH};
use crate::model::Model;
use crate::random::Stream;
use crate::rows::Rows;
use crate::stack::Stack;
use crate::t_mixture::Given;
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

    /// ln p of the cells that are there, NaN standing for a missing cell: the marginal over the missing
    /// columns, with the standard error of its estimate. Complete rows have their ln p, rows without any
    /// cell 0. For any density, one missing cell is integrated along its line, more by importance sampling.
    fn score_present(&self, rows: &Rows) -> Result<Vec<Estimate>> {
        missing::score(self, rows)
    }

    /// The density along a line: of t, where rows are row + t·direction. The row is t = 0. For any
    /// density it evaluates ln p along the line.
    fn along(&self, row: &[f64], direction: &[f64]) -> Result<Line<'_>> {
        scan::along(self, row, direction, 0.0, COARSE)
    }

    /// The density of a column's value, given those of all other columns of the row. What the row has
    /// in that column does not matter.
    fn conditional(&self, row: &[f64], column: usize) -> Result<Line<'_>> {
        scan::conditional(self, row, column, COARSE)
    }

    /// The same to about 1e-4, which is enough for one of many lines over which a mean is taken.
    fn conditional_roughly(&self, row: &[f64], column: usize) -> Result<Line<'_>> {
        scan::conditional(self, row, column, ROUGH)
    }

    /// A draw of t along a line, where the row at t = 0 is itself a draw: the result may depend on it, but
    /// has the density along the line. For any density it is a step of slice sampling, which needs few
    /// values of ln p.
    fn draw_along(&self, row: &[f64], direction: &[f64], rng: &mut Stream) -> Result<f64> {
        slice::draw(self, row, direction, rng)
    }

    /// The densities whose sum this one is, and their shares; empty where it is no such sum.
    fn members(&self) -> Vec<(f64, &dyn Density)> {
        Vec::new()
    }

    /// What a row's missing cells are like, given those that are there, where a formula says it.
    fn given(&self, _row: &[f64]) -> Result<Option<Given>> {
        Ok(None)
    }

    /// Roughly where the values of each column lie: a middle and a scale.
    fn places(&self) -> Vec<(f64, f64)> {
        scan::places(self)
    }

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

    fn score_present(&self, rows: &Rows) -> Result<Vec<Estimate>> {
        Model::score_present(self, rows)
    }

    fn along(&self, row: &[f64], direction: &[f64]) -> Result<Line<'_>> {
        Model::along(self, row, direction)
    }

    fn conditional(&self, row: &[f64], column: usize) -> Result<Line<'_>> {
        Model::conditional(self, row, column)
    }

    fn conditional_roughly(&self, row: &[f64], column: usize) -> Result<Line<'_>> {
        Model::conditional_roughly(self, row, column)
    }

    fn draw_along(&self, row: &[f64], direction: &[f64], rng: &mut Stream) -> Result<f64> {
        Model::step_along(self, row, direction, rng)
    }

    fn places(&self) -> Vec<(f64, f64)> {
        let mean = self.whitening().mean().iter();
        mean.copied().zip(self.whitening().deviations().iter().copied()).collect()
    }
}

impl Density for Stack {
    fn columns(&self) -> usize {
        self.whitening().columns()
    }

    fn score(&self, rows: &Rows) -> Result<Vec<f64>> {
        Stack::score(self, rows)
    }

    fn sample_range(&self, rows: Range<usize>, seed: u64) -> Vec<f64> {
        Stack::sample_range(self, rows, seed)
    }

    fn places(&self) -> Vec<(f64, f64)> {
        Stack::places(self)
    }
}
