//! A density of some columns, given values of the others.

use super::cell::Cell;
use super::filler::Filler;
use crate::density::Density;
use crate::error::{Error, Result, invalid};
use crate::rows::Rows;
use crate::whitening::Whitening;
use rayon::prelude::*;

/// Draws that share a chain.
const CHAIN: usize = 32;
/// Draws of the other free columns that a column's density is the mean of.
const LINES: usize = 64;
/// Rows drawn before ranges that hardly any fulfils are refused.
const TRIED: usize = 100_000;
/// The smallest share of rows that must fulfil ranges.
pub const SMALLEST_SHARE: f64 = 1e-4;

/// Values of a column that count: between `low` and `high`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// The column.
    pub column: usize,
    /// Its value is more than this.
    pub low: f64,
    /// Its value is less than this.
    pub high: f64,
}

/// What a density says about the other columns where some are given.
///
/// ```
/// use upoe::{Condition, Rows, Settings, fit};
/// let values: Vec<f64> = (0..400).map(|i| f64::from(i * i % 397)).collect();
/// let model = fit(&Rows::new(&values, 2)?, &Settings::default())?.model;
/// let second = Condition::new(&model, model.whitening(), &[(0, 100.0)], 0)?;
/// assert_eq!(second.free(), [1]);
/// let rows = second.sample(10)?; // whole rows, whose first cell is 100
/// assert!(rows.chunks(2).all(|row| row[0] == 100.0));
/// # Ok::<(), upoe::Error>(())
/// ```
pub struct Condition<'a> {
    density: &'a dyn Density,
    filler: Filler<'a>,
    /// The given values; NaN in free columns.
    row: Vec<f64>,
    free: Vec<usize>,
}

impl<'a> Condition<'a> {
    /// Some columns with their values. `whitening` says about where the density's rows lie.
    pub fn new(
        density: &'a dyn Density,
        whitening: &'a Whitening,
        given: &[(usize, f64)],
        seed: u64,
    ) -> Result<Self> {
        let mut row = vec![f64::NAN; density.columns()];
        for &(column, value) in given {
            if !value.is_finite() {
                return invalid("given", value, "give finite values");
            }
            match row.get_mut(column) {
                None => return invalid("given", column, "there is no such column"),
                Some(cell) if !cell.is_nan() && *cell != value => {
                    let text = format!("{cell} and {value}");
                    return invalid("given", text, "one column cannot have two values");
                }
                Some(cell) => *cell = value,
            }
        }
        let free: Vec<usize> = (0..row.len()).filter(|&i| row[i].is_nan()).collect();
        if free.is_empty() {
            let rule = "all columns are given, so nothing is left to ask about; leave one out";
            return invalid("given", format!("{} columns", row.len()), rule);
        }
        let filler = Filler::new(density, whitening, seed)?;
        let condition = Condition { density, filler, row, free };
        condition.chain(0, 1)?; // which refuses values outside the subspace of the training rows
        Ok(condition)
    }

    /// The columns that are not given.
    pub fn free(&self) -> &[usize] {
        &self.free
    }

    /// ln of the density of the free columns: ln p(row) − ln p(given), in nats. It is as
    /// exact as [`Density::score_present`]. `rows` are whole rows;
    /// what they have in given columns does not matter.
    pub fn score(&self, rows: &Rows) -> Result<Vec<f64>> {
        let (columns, mut all) = (self.row.len(), Vec::new());
        for i in 0..rows.len() {
            let row = rows.row(i);
            all.extend(self.row.iter().zip(&*row).map(|(g, x)| if g.is_nan() { *x } else { *g }));
        }
        let given = Rows::new(&self.row, columns)?;
        let ln_given = self.density.score_present(&given)?[0].value;
        let scores = self.density.score(&Rows::new(&all, columns)?)?;
        Ok(scores.into_iter().map(|ln_p| ln_p - ln_given).collect())
    }

    /// `n` whole rows with the given values, drawn from the density. Row i depends on the seed and i alone.
    pub fn sample(&self, n: usize) -> Result<Vec<f64>> {
        self.sample_range(0..n)
    }

    /// Some of these rows: from `rows.start`, rounded down to a multiple of 32, to `rows.end`.
    pub fn sample_range(&self, rows: std::ops::Range<usize>) -> Result<Vec<f64>> {
        let chains: Result<Vec<Vec<f64>>> = (rows.start / CHAIN..rows.end.div_ceil(CHAIN))
            .into_par_iter()
            .map(|chain| self.chain(chain, CHAIN.min(rows.end - chain * CHAIN)))
            .collect();
        Ok(chains?.concat())
    }

    fn chain(&self, number: usize, draws: usize) -> Result<Vec<f64>> {
        self.filler.draw(&Rows::new(&self.row, self.row.len())?, draws, number)
    }

    /// The densities of the free columns, each by itself.
    pub fn columns(&self) -> Result<Vec<(usize, Cell<'a>)>> {
        self.filler.cells_of(&self.row, 0, LINES)
    }
}

/// `n` rows that `draw` gives and whose columns lie in the ranges, and the share of rows that did. Too small a
/// share is refused.
pub fn within(
    ranges: &[Range],
    columns: usize,
    n: usize,
    draw: impl Fn(std::ops::Range<usize>) -> Result<Vec<f64>>,
    watch: &mut dyn FnMut(usize) -> bool,
) -> Result<Option<(Vec<f64>, f64)>> {
    const BLOCK: usize = 4_096;
    if let Some(range) = ranges.iter().find(|r| !(r.low < r.high)) {
        let text = format!("> {} and < {}", range.low, range.high);
        return invalid("given", text, "no value fulfils both");
    }
    let fits =
        |row: &&[f64]| ranges.iter().all(|r| row[r.column] > r.low && row[r.column] < r.high);
    let (mut kept, mut tried, mut fitting) = (Vec::new(), 0, 0_usize);
    while fitting < n || tried == 0 {
        let rows = draw(tried..tried + BLOCK)?;
        tried += BLOCK;
        for row in rows.chunks_exact(columns).filter(fits) {
            if fitting < n {
                kept.extend_from_slice(row);
            }
            fitting += 1;
        }
        if tried >= TRIED && (fitting as f64) < SMALLEST_SHARE * tried as f64 {
            return Err(Error::TooRare { fitting, tried });
        }
        if !watch(fitting.min(n)) {
            return Ok(None);
        }
    }
    Ok(Some((kept, fitting as f64 / tried as f64)))
}
