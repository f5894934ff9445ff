//! Cells beside their densities, given the other values of the row.

use upoe::expected::{Expected, INTERVAL};
use upoe::{Cell, Error, Filler, Line, Result, Rows};

use super::Input;
use crate::{Codes, ShownCell};

/// Points of a curve.
const POINTS: usize = 101;
/// The share of the density on either side that a picture leaves out.
const TAIL: f64 = 0.002;
/// How many times as wide as the density a picture is at most, to reach the observed value.
const REACH: f64 = 6.0;
/// With more columns no expected values are computed; of stacks and pools with a fifth of them.
const MOST_COLUMNS: usize = 200;

/// The values of a row beside what the others make of them, `most` of them at most, those first that are most to
/// blame. None where columns are pixels or too many.
pub(super) fn observed(input: &Input, row: &[f64], most: usize) -> Result<Vec<ShownCell>> {
    let one_layer = input.fitted.is_one_layer();
    if input.image.is_some() || row.len() > if one_layer { MOST_COLUMNS } else { MOST_COLUMNS / 5 }
    {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    for (column, &observed) in row.iter().enumerate() {
        match input.fitted.density().conditional(row, column) {
            Ok(line) => found.push((column, expected(&line, observed), line)),
            Err(Error::NoLine { .. } | Error::NoConvergence { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    found.sort_by(|a, b| b.1.blame.total_cmp(&a.1.blame));
    found.truncate(most);
    let shown = |(column, expected, line): &(usize, Expected, Line)| {
        let ends = [line.quantile(TAIL), line.quantile(1.0 - TAIL)];
        shown(input, *column, expected, ends, |value| line.ln_density(value))
    };
    Ok(found.iter().map(shown).collect())
}

/// The missing cells of the row of this number, filled in as `upoe impute --method median` does.
pub(super) fn missing(input: &Input, filler: &Filler, row: usize) -> Result<Vec<ShownCell>> {
    let rows: Rows = input.rows.slice(row..row + 1);
    let found = filler.cells(&rows, row, |_, column, cell: &Cell| {
        let (low, high) = cell.interval(INTERVAL);
        let observed = f64::NAN;
        let expected =
            Expected { observed, expected: cell.median(), low, high, ln_tail: 0.0, blame: 0.0 };
        let ends = [cell.quantile(TAIL), cell.quantile(1.0 - TAIL)];
        shown(input, column, &expected, ends, |value| cell.ln_density(value))
    })?;
    Ok(found.into_iter().flatten().collect())
}

fn expected(line: &Line, observed: f64) -> Expected {
    let (low, high) = line.interval(INTERVAL);
    Expected {
        observed,
        expected: line.median(),
        low,
        high,
        ln_tail: line.ln_surprise(observed),
        blame: (line.peak().1 - line.ln_density(observed)).max(0.0),
    }
}

fn shown(
    input: &Input,
    column: usize,
    told: &Expected,
    [low, high]: [f64; 2],
    ln_density: impl Fn(f64) -> f64,
) -> ShownCell {
    let there = !told.observed.is_nan();
    let (mut from, mut to) = (low, high);
    if there {
        let room = REACH * (high - low);
        from = from.min(told.observed.max(low - room));
        to = to.max(told.observed.min(high + room));
    }
    let margin = 0.04 * (to - from);
    (from, to) = (from - margin, to + margin);
    let at = |k: usize| from + (to - from) * k as f64 / (POINTS - 1) as f64;
    let heights: Vec<f64> = (0..POINTS).map(|k| ln_density(at(k))).collect();
    let top = heights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let is_drawn = top.is_finite() && from < to && !heights.iter().any(|h| h.is_nan());
    let height = |ln: &f64| (255.0 * (ln - top).exp()).round() as u32;
    ShownCell {
        column,
        words: told.words(&input.names[column]),
        observed: there.then_some(told.observed),
        expected: told.expected,
        low: told.low,
        high: told.high,
        surprise: there.then(|| told.surprise()),
        from,
        to,
        curve: if is_drawn { heights.iter().map(height).collect() } else { Codes::default() },
    }
}
