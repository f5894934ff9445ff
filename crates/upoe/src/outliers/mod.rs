//! Rows so far away that they would decide the sphering of all others: they are left out.
//!
//! An expert corrects the scale of one direction, down to 0.02 deviations. Three things are beyond
//! it, and only these are treated; all other tables are sphered as they are, to the bit.
//! `reach` finds values so far away that the deviation of a column, or of a sphered dimension, is
//! many times its central range: one value of 1e15, the last few rows of a Cauchy column.
//! `scattered` finds rows that lie far outside the others in many directions at once, and `together`
//! those that lie far outside in one, as a rare group does.

mod reach;
mod scattered;
mod together;

pub(crate) use together::ALIKE;

use crate::error::Result;
use crate::moments::{Moments, MomentsOf};
use crate::rows::{Rows, view};
use crate::whitening::{Dims, Whitening};
use rayon::prelude::*;
use reach::{Spread, beyond, spreads};

/// With fewer rows, nothing can be said about what is far away.
const FEWEST: usize = 10;
/// Distances are judged on at least this many rows, evenly spaced, where there are as many.
const SAMPLE: usize = 5_000;
/// The same for central ranges, which need fewer.
const RANGED: usize = 2_000;
/// How often rows are sphered again after some were left out.
const ROUNDS: usize = 4;
/// In sphered units, smaller differences are rounding.
const ROUNDING: f64 = 1e-6;

/// At most this share of a column is left out; more than that is structure.
const OF_COLUMN: f64 = 0.05;
/// At most this share of the rows is far away, scattered or together.
const SHARE: f64 = 0.05;
/// Along a sphered dimension only single rows are left out, and only if the deviation is theirs: many
/// exceptions to a relation between columns are structure.
const OF_DIMENSION: f64 = 0.001;
/// Sphered dimensions are judged where there are this many rows for each.
const ROWS_PER_DIMENSION: usize = 10;

/// The sphering of some rows, and which of them were left out of it, in rising order.
pub(crate) struct Sphered {
    pub whitening: Whitening,
    pub left_out: Vec<usize>,
    /// Far rows that lie together in a few directions, in rising order. They are not left out.
    pub together: Vec<usize>,
}

/// Spheres rows without those that are too far away from all others.
pub(crate) fn sphering(rows: &Rows, dims: Dims) -> Result<Sphered> {
    sphering_by(rows, dims, &Moments::of)
}

/// The same with moments that are computed in another way.
pub(crate) fn sphering_by(rows: &Rows, dims: Dims, moments: &MomentsOf) -> Result<Sphered> {
    let as_they_are = || {
        let (left_out, together) = (Vec::new(), Vec::new());
        Ok(Sphered { whitening: Whitening::fit_by(rows, dims, moments)?, left_out, together })
    };
    let kept: Vec<usize> = (0..rows.len()).filter(|&i| rows.weight(i) > 0.0).collect();
    if kept.len() < FEWEST {
        return as_they_are();
    }
    rows.check()?;
    let spreads = columns(rows);
    let mut table = Table { rows, all: kept.len(), kept, moments };
    table.leave_out(&far_in_columns(rows, &spreads));
    let mut whitening = table.sphering(dims)?;
    let mut together = Vec::new();
    for round in 0..=ROUNDS {
        let smooth = table.smooth(&whitening, &spreads)?;
        let Some(smooth) = smooth.filter(|s| ROWS_PER_DIMENSION * s.dims() < table.kept.len())
        else {
            break;
        };
        let mut far = if round < ROUNDS { dimensions(&table, &smooth)? } else { Vec::new() };
        let last = far.is_empty();
        if last {
            (far, together) = scattered::scattered(&table, &smooth)?;
        }
        if far.is_empty() {
            break;
        }
        table.leave_out(&far);
        whitening = table.sphering(dims)?;
        if last {
            break;
        }
    }
    if 2 * table.kept.len() < table.all {
        // No row is the exception where most are.
        return as_they_are();
    }
    Ok(Sphered { left_out: table.left_out(), whitening, together })
}

/// Rows of which some are left out.
struct Table<'a> {
    rows: &'a Rows<'a>,
    /// How many rows count.
    all: usize,
    /// Those that count and are not left out, in rising order.
    kept: Vec<usize>,
    moments: &'a MomentsOf<'a>,
}

/// How some columns of rows are sphered.
struct Smooth {
    columns: Vec<usize>,
    whitening: Whitening,
}

impl Smooth {
    fn dims(&self) -> usize {
        self.whitening.dims()
    }

    /// These rows, sphered.
    fn sphere(&self, rows: &Rows, chosen: &[usize]) -> Result<Vec<f64>> {
        self.whitening.sphere(&Rows::new(&cells(rows, chosen, &self.columns), self.columns.len())?)
    }
}

/// Some columns of some rows, row after row.
fn cells(rows: &Rows, chosen: &[usize], columns: &[usize]) -> Vec<f64> {
    let row = |&i: &usize| {
        let row = rows.row(i);
        columns.iter().map(|&k| row[k]).collect::<Vec<f64>>()
    };
    chosen.iter().flat_map(row).collect()
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
        if self.kept.len() == self.all {
            return Whitening::fit_by(self.rows, dims, self.moments);
        }
        let (values, weights) = self.rows.pick(&self.kept);
        let kept = view(&values, self.rows.columns(), weights.as_deref())?;
        Whitening::fit_by(&kept, dims, self.moments)
    }

    /// The sphering of the columns without many equal values: a rare value of a flag or count is far
    /// away from the others, but not an outlier. `None` where there are no such columns.
    fn smooth(&self, whitening: &Whitening, spreads: &[Spread]) -> Result<Option<Smooth>> {
        let columns: Vec<usize> = (0..spreads.len()).filter(|&i| !spreads[i].tied).collect();
        if columns.len() == spreads.len() {
            return Ok(Some(Smooth { columns, whitening: whitening.clone() }));
        }
        if columns.is_empty() {
            return Ok(None);
        }
        let (_, weights) = self.rows.pick(&self.kept);
        let values = cells(self.rows, &self.kept, &columns);
        let rows = view(&values, columns.len(), weights.as_deref())?;
        Ok(Some(Smooth { whitening: Whitening::fit(&rows, Dims::All)?, columns }))
    }

    /// Evenly spaced rows of those kept, at least this many where there are as many: sphered, with
    /// their weights.
    fn sample(&self, least: usize, smooth: &Smooth) -> Result<(Vec<f64>, Option<Vec<f64>>)> {
        let step = (self.kept.len() / least).max(1);
        let chosen: Vec<usize> = self.kept.iter().copied().step_by(step).collect();
        let weights = self.rows.weights().map(|w| chosen.iter().map(|&i| w[i]).collect());
        Ok((smooth.sphere(self.rows, &chosen)?, weights))
    }

    /// Calls `look` with the number and the sphered cells of every kept row and keeps what it finds.
    fn each<T: Send>(
        &self,
        smooth: &Smooth,
        look: impl Fn(usize, &[f64]) -> Option<T> + Sync,
    ) -> Result<Vec<T>> {
        let part = |chosen: &[usize]| {
            let x = smooth.sphere(self.rows, chosen)?;
            let rows = chosen.iter().zip(x.chunks_exact(smooth.dims()));
            Ok(rows.filter_map(|(&i, x)| look(i, x)).collect())
        };
        let parts: Result<Vec<Vec<T>>> = self.kept.par_chunks(1024).map(part).collect();
        Ok(parts?.into_iter().flatten().collect())
    }
}

/// The spread of every column.
fn columns(rows: &Rows) -> Vec<Spread> {
    let step = (rows.len() / RANGED).max(1);
    let sample: Vec<usize> =
        (0..rows.len()).step_by(step).filter(|&i| rows.weight(i) > 0.0).collect();
    let (values, weights) = rows.pick(&sample);
    spreads(&values, rows.columns(), weights.as_deref(), 0.0)
}

/// Marks rows with a value beyond the reach of an expert, in any column; empty where there are none.
fn far_in_columns(rows: &Rows, spreads: &[Spread]) -> Vec<bool> {
    let judged = spreads.iter().zip(reach::deviations(rows, spreads)).enumerate();
    let wide: Vec<(usize, &Spread)> =
        judged.filter(|(_, (s, d))| s.is_exceeded(*d)).map(|(i, (s, _))| (i, s)).collect();
    let far = |(column, spread): &(usize, &Spread)| {
        let counted = (0..rows.len()).filter(|&i| rows.weight(i) > 0.0);
        let cells = counted.map(|i| (rows.row(i)[*column], rows.weight(i), i)).collect();
        beyond(cells, spread, 1.0, OF_COLUMN)
    };
    mark(rows, wide.par_iter().flat_map(far).collect())
}

/// The same along sphered dimensions, where the deviation is 1.
fn dimensions(table: &Table, smooth: &Smooth) -> Result<Vec<bool>> {
    let (x, weights) = table.sample(RANGED, smooth)?;
    let mut far = Vec::new();
    let spreads = spreads(&x, smooth.dims(), weights.as_deref(), ROUNDING).into_iter();
    for (k, spread) in spreads.enumerate().filter(|(_, s)| s.is_exceeded(1.0)) {
        let cell = |i: usize, x: &[f64]| Some((x[k], table.rows.weight(i), i));
        far.extend(beyond(table.each(smooth, cell)?, &spread, 0.5, OF_DIMENSION));
    }
    Ok(mark(table.rows, far))
}

/// Marks these rows; empty where there are none.
fn mark(rows: &Rows, far: Vec<usize>) -> Vec<bool> {
    if far.is_empty() {
        return Vec::new();
    }
    let mut marked = vec![false; rows.len()];
    far.into_iter().for_each(|i| marked[i] = true);
    marked
}

/// The column in which a row is farthest away, measured by the ranges of the other rows, and its
/// value there.
pub(crate) fn worst(rows: &Rows, left_out: &[usize], shown: usize) -> Vec<(usize, usize, f64)> {
    let spreads = columns(rows);
    let farthest = |&row: &usize| {
        let cells = rows.row(row);
        let far = |i: usize| ((cells[i] - spreads[i].centre) / spreads[i].scale).abs();
        let column = (0..cells.len()).filter(|&i| spreads[i].scale > 0.0);
        let column = column.max_by(|&a, &b| far(a).total_cmp(&far(b))).unwrap_or(0);
        (row, column, cells[column])
    };
    left_out.iter().take(shown).map(farthest).collect()
}
