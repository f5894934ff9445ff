//! The density along a line of any density, from its ln p alone.

use super::Density;
use crate::error::{Error, Result};
use crate::line::{Accuracy, Line, axis};
use crate::rows::Rows;

/// Where along a column the first panels end, in its scales from its middle.
const ENDS: [f64; 13] = [-16.0, -8.0, -4.0, -2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0];
/// How many rows are drawn to find out where a density lies.
const DRAWN: usize = 256;

/// The density of t along row + t·direction, where values are reported as origin + t.
pub(crate) fn along<'a, D: Density + ?Sized>(
    density: &'a D,
    row: &[f64],
    direction: &[f64],
    origin: f64,
    accuracy: Accuracy,
) -> Result<Line<'a>> {
    let columns = density.columns();
    for got in [row.len(), direction.len()] {
        if got != columns {
            return Err(Error::Shape { what: "columns of a row", expected: columns, got });
        }
    }
    Rows::new(row, columns)?.check()?;
    Rows::new(direction, columns)?.check()?;
    let turns = density.places().into_iter().zip(row).zip(direction).filter(|(_, d)| **d != 0.0);
    let points: Vec<f64> = turns
        .flat_map(|(((middle, scale), row), d)| {
            ENDS.map(|k| (middle + k * scale - row) / d).into_iter()
        })
        .chain([0.0])
        .collect();
    if points.len() < 2 {
        return Err(Error::NoLine { reason: "the direction is 0" });
    }
    let (row, direction) = (row.to_vec(), direction.to_vec());
    let ln_f = move |t: &[f64], heights: &mut [f64]| {
        let cells = |t: f64| row.iter().zip(&direction).map(move |(r, d)| r + t * d);
        // Rows too far away to be written down have no density.
        heights.fill(f64::NEG_INFINITY);
        let near = |t: f64| cells(t).all(f64::is_finite);
        let values: Vec<f64> = t.iter().copied().filter(|t| near(*t)).flat_map(&cells).collect();
        let scores = Rows::new(&values, columns).and_then(|rows| density.score(&rows));
        let found = t.iter().zip(heights).filter(|(t, _)| near(**t)).map(|(_, height)| height);
        found.zip(scores.unwrap_or_default()).for_each(|(height, score)| *height = score);
    };
    Line::new(Box::new(ln_f), (&points, 0.0), origin, accuracy)
}

/// The density of one column's value, given all others.
pub(crate) fn conditional<'a, D: Density + ?Sized>(
    density: &'a D,
    row: &[f64],
    column: usize,
    accuracy: Accuracy,
) -> Result<Line<'a>> {
    let (row, direction, origin) = axis(row, column, |i| density.places()[i].0)?;
    along(density, &row, &direction, origin, accuracy)
}

/// From drawn rows: the median and the distance between the quartiles.
pub(crate) fn places<D: Density + ?Sized>(density: &D) -> Vec<(f64, f64)> {
    let (drawn, columns) = (density.sample(DRAWN, 0), density.columns());
    let place = |i: usize| {
        let mut column: Vec<f64> = drawn.iter().skip(i).step_by(columns).copied().collect();
        column.sort_unstable_by(f64::total_cmp);
        (column[DRAWN / 2], (column[3 * DRAWN / 4] - column[DRAWN / 4]) / 1.349)
    };
    (0..columns).map(place).collect()
}
