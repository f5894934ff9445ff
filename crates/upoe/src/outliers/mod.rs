//! Rows so far away that they would decide the sphering of all others: they are left out.
//!
//! An expert corrects the scale of one direction, down to 0.02 deviations. Two things are beyond
//! it, and only these are treated; all other tables are sphered as they are, to the bit.
//! `reach` finds values so far away that the deviation of a column, or of a sphered dimension, is
//! many times its central range: one value of 1e15, the last few rows of a Cauchy column.
//! `scattered` finds rows that lie far outside the others in many directions at once.

mod reach;
mod scattered;

use crate::error::Result;
use crate::rows::{Rows, view};
use crate::whitening::{Dims, Whitening};
use rayon::prelude::*;
use reach::{Spread, beyond, spreads};

/// With fewer rows, nothing can be said about what is far away.
const FEWEST: usize = 10;
/// Ranges and distances are judged on about this many rows.
const SAMPLE: usize = 10_000;
/// How often rows are sphered again after some were left out.
const ROUNDS: usize = 4;
/// In sphered units, smaller differences are rounding.
const ROUNDING: f64 = 1e-6;

/// The sphering of some rows, and which of them were left out of it, in rising order.
pub(crate) struct Sphered {
    pub whitening: Whitening,
    pub left_out: Vec<usize>,
}

/// Spheres rows without those that are too far away from all others.
pub(crate) fn sphering(rows: &Rows, dims: Dims) -> Result<Sphered> {
    let all: Vec<usize> = (0..rows.len()).filter(|&i| rows.weight(i) > 0.0).collect();
    if all.len() < FEWEST {
        return Ok(Sphered { whitening: Whitening::fit(rows, dims)?, left_out: Vec::new() });
    }
    rows.check()?;
    let mut table = Table { rows, kept: all };
    let far = columns(rows);
    table.leave_out(&far);
    let mut whitening = table.sphering(dims)?;
    for _ in 0..ROUNDS {
        let far = dimensions(&table, &whitening)?;
        if far.is_empty() {
            break;
        }
        table.leave_out(&far);
        whitening = table.sphering(dims)?;
    }
    let far = scattered::scattered(&table, &whitening)?;
    if !far.is_empty() {
        table.leave_out(&far);
        whitening = table.sphering(dims)?;
    }
    let left_out = table.left_out();
    if 2 * left_out.len() > rows.len() {
        // No row is the exception where most are.
        return Ok(Sphered { whitening: Whitening::fit(rows, dims)?, left_out: Vec::new() });
    }
    Ok(Sphered { whitening, left_out })
}

/// Rows of which some are left out.
struct Table<'a> {
    rows: &'a Rows<'a>,
    /// The rows that count and are not left out, in rising order.
    kept: Vec<usize>,
}

impl Table<'_> {
    fn leave_out(&mut self, far: &[bool]) {
        if !far.is_empty() {
            self.kept.retain(|&i| !far[i]);
        }
    }

    fn left_out(&self) -> Vec<usize> {
        let mut kept = vec![false; self.rows.len()];
        self.kept.iter().for_each(|&i| kept[i] = true);
        (0..self.rows.len()).filter(|&i| !kept[i] && self.rows.weight(i) > 0.0).collect()
    }

    fn sphering(&self, dims: Dims) -> Result<Whitening> {
        if self.left_out().is_empty() {
            return Whitening::fit(self.rows, dims);
        }
        let (values, weights) = self.rows.pick(&self.kept);
        Whitening::fit(&view(&values, self.rows.columns(), weights.as_deref())?, dims)
    }

    /// Evenly spaced rows of those kept, at least this many where there are as many.
    fn sample(&self, least: usize) -> Vec<usize> {
        let step = (self.kept.len() / least).max(1);
        self.kept.iter().copied().step_by(step).collect()
    }
}

/// Marks rows with a value beyond the reach of an expert, in any column; empty where there are none.
fn columns(rows: &Rows) -> Vec<bool> {
    let step = (rows.len() / SAMPLE).max(1);
    let sample: Vec<usize> =
        (0..rows.len()).step_by(step).filter(|&i| rows.weight(i) > 0.0).collect();
    let (values, weights) = rows.pick(&sample);
    let spreads = spreads(&values, rows.columns(), weights.as_deref(), 0.0);
    let deviations = reach::deviations(rows, &spreads);
    let judged = spreads.iter().zip(deviations).enumerate();
    let wide: Vec<(usize, Spread)> =
        judged.filter(|(_, (s, d))| s.is_exceeded(*d)).map(|(i, (s, _))| (i, *s)).collect();
    let value = |row: usize, column: usize| rows.row(row)[column];
    mark(&wide, rows, &(0..rows.len()).collect::<Vec<_>>(), value)
}

/// Marks rows with a value beyond the reach of an expert along any sphered dimension, where the
/// deviation is 1.
fn dimensions(table: &Table, whitening: &Whitening) -> Result<Vec<bool>> {
    let (rows, dims) = (table.rows, whitening.dims());
    let (values, weights) = rows.pick(&table.sample(SAMPLE));
    let x = whitening.sphere(&Rows::new(&values, rows.columns())?)?;
    let spreads = spreads(&x, dims, weights.as_deref(), ROUNDING);
    let judged = spreads.into_iter().enumerate();
    let wide: Vec<(usize, Spread)> = judged.filter(|(_, s)| s.is_exceeded(1.0)).collect();
    let value = |row: usize, dimension: usize| whitening.sphere_row(&rows.row(row))[dimension];
    Ok(mark(&wide, rows, &table.kept, value))
}

/// Marks the rows that are beyond reach in one of these columns or dimensions.
fn mark(
    wide: &[(usize, Spread)],
    rows: &Rows,
    of: &[usize],
    value: impl Fn(usize, usize) -> f64 + Sync,
) -> Vec<bool> {
    let far: Vec<Vec<usize>> = wide
        .par_iter()
        .map(|(at, spread)| {
            let cell = |&i: &usize| (value(i, *at), rows.weight(i), i);
            beyond(of.iter().map(cell).filter(|c| c.1 > 0.0).collect(), spread)
        })
        .collect();
    if far.iter().all(Vec::is_empty) {
        return Vec::new();
    }
    let mut marked = vec![false; rows.len()];
    far.into_iter().flatten().for_each(|i| marked[i] = true);
    marked
}

/// The column in which a row is farthest away, measured by the ranges of the other rows, and its
/// value there.
pub(crate) fn worst(rows: &Rows, left_out: &[usize], shown: usize) -> Vec<(usize, usize, f64)> {
    let step = (rows.len() / SAMPLE).max(1);
    let sample: Vec<usize> =
        (0..rows.len()).step_by(step).filter(|&i| rows.weight(i) > 0.0).collect();
    let (values, weights) = rows.pick(&sample);
    let spreads = spreads(&values, rows.columns(), weights.as_deref(), 0.0);
    let farthest = |&row: &usize| {
        let cells = rows.row(row);
        let far = |i: usize| ((cells[i] - spreads[i].centre) / spreads[i].scale).abs();
        let column = (0..cells.len()).filter(|&i| spreads[i].scale > 0.0);
        let column = column.max_by(|&a, &b| far(a).total_cmp(&far(b))).unwrap_or(0);
        (row, column, cells[column])
    };
    left_out.iter().take(shown).map(farthest).collect()
}
