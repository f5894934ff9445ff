//! The pool of a fit: which rows it is learned from, and which of them are held out together.

use super::LIGHT;
use super::dependent::blocks;
use crate::chosen::{Chosen, others};
use crate::effective::{Effective, Repeats};
use crate::error::Result;
use crate::learn::{Event, Observer, Settings};
use crate::pool::Pool;
use crate::rows::Rows;
use crate::stack::Stack;

/// The pool of all rows but those left out, with the stack that was learned from them; `None` where the observer
/// stops it.
///
/// Blocks, runs of rows that follow one another, and rows that are equal are held out together: each would tell
/// about the others. Without such an order the order of rows does not matter.
pub fn pool(
    rows: &Rows,
    left_out: &[usize],
    known: Option<&Stack>,
    settings: &Settings,
    observer: &mut Observer,
) -> Result<Option<Pool>> {
    let heaviest = rows.weights().unwrap_or(&[1.0]).iter().copied().fold(0.0, f64::max);
    let mut chosen = others(rows.len(), left_out);
    chosen.retain(|&i| rows.weight(i) > LIGHT * heaviest);
    if blocks(rows, settings).is_none() {
        chosen.sort_by(|&a, &b| {
            let (x, y) = (rows.row(a), rows.row(b));
            let cells = x.iter().zip(&*y).map(|(x, y)| x.total_cmp(y)).find(|o| o.is_ne());
            cells.unwrap_or_else(|| rows.weight(a).total_cmp(&rows.weight(b)))
        });
    }
    let chosen = Chosen::of(rows, &chosen);
    let rows = chosen.view(rows.columns())?;
    let repeats = (!settings.counts).then(|| Repeats::of(&rows));
    let effective = Effective::of(&rows, repeats.as_ref(), settings.ordered)?;
    let weights = effective.scaled(&rows);
    let together = blocks(&rows, settings).unwrap_or_else(|| equal(&rows));
    let scaled = weights.as_ref().map_or(Ok(rows), |weights| rows.weighted(weights))?;
    Pool::beside(known, &scaled.in_blocks(&together)?, settings, |done, total| {
        observer(&Event::Pool { done, total })
    })
}

/// One number for all rows of a sorted table that are equal.
fn equal(rows: &Rows) -> Vec<usize> {
    let mut number = 0;
    let mut numbers = Vec::with_capacity(rows.len());
    for i in 0..rows.len() {
        number += usize::from(i > 0 && rows.row(i) != rows.row(i - 1));
        numbers.push(number);
    }
    numbers
}
