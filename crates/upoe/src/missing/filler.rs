//! Draws the missing cells of rows, by Gibbs steps along lines.

use super::cell::Cell;
use super::gaussian::{Gaussian, Given};
use super::patterns::holes;
use crate::density::Density;
use crate::error::{Error, Result};
use crate::random::{self, Stream, Use};
use crate::rows::Rows;
use crate::whitening::{Rest, Whitening};
use rand::RngExt;
use rayon::prelude::*;

/// Sweeps before the first draw counts. Moves are such that a Gaussian needs one.
const BURN_IN: usize = 8;
/// Sweeps from one draw to the next.
const BETWEEN: usize = 2;
/// Sweeps that follow earlier draws from a similar density.
const AGAIN: usize = 3;
/// Draws of a row's other cells that a cell's density is the mean of.
const LINES: usize = 32;

/// Fills in the missing cells of rows from a density.
pub struct Filler<'a> {
    density: &'a dyn Density,
    whitening: &'a Whitening,
    gaussian: Gaussian,
    seed: u64,
}

impl<'a> Filler<'a> {
    /// From a density whose rows are about as a whitening has them.
    pub fn new(density: &'a dyn Density, whitening: &'a Whitening, seed: u64) -> Result<Self> {
        Ok(Filler { density, whitening, gaussian: Gaussian::of(whitening)?, seed })
    }

    /// Many rows with their missing cells drawn, `draws` times: row after row, and draw after draw within
    /// a row. Values that are there are never changed. `first` is the number of the first row; a row's draws
    /// depend on it and the seed alone.
    pub fn draw(&self, rows: &Rows, draws: usize, first: usize) -> Result<Vec<f64>> {
        let drawn: Result<Vec<Vec<f64>>> = (0..rows.len())
            .into_par_iter()
            .map(|i| {
                let row = rows.row(i);
                let mut out = Vec::with_capacity(draws * row.len());
                if holes(&row).is_empty() {
                    (0..draws).for_each(|_| out.extend_from_slice(&row));
                    return Ok(out);
                }
                let mut chain = self.chain(&row, (first + i) as u64).map_err(|e| at(e, i))?;
                for draw in 0..draws {
                    chain.sweep(if draw == 0 { BURN_IN } else { BETWEEN })?;
                    out.extend_from_slice(&chain.row);
                }
                Ok(out)
            })
            .collect();
        Ok(drawn?.concat())
    }

    /// The same, each draw going on from an earlier one of `drawn`, which another density had made.
    pub(crate) fn again(&self, rows: &Rows, draws: usize, drawn: &[f64]) -> Result<Vec<f64>> {
        if self.whitening.rest() == Rest::Degenerate {
            // Earlier draws may lie outside the subspace.
            return self.draw(rows, draws, 0);
        }
        let drawn: Result<Vec<Vec<f64>>> = drawn
            .par_chunks_exact(draws * rows.columns())
            .enumerate()
            .map(|(i, before)| {
                let missing = holes(&rows.row(i));
                if missing.is_empty() {
                    return Ok(before.to_vec());
                }
                let given = self.gaussian.given(&missing)?;
                let rng = random::stream(self.seed, Use::Missing, i as u64);
                let mut chain = Chain { density: self.density, given, row: Vec::new(), rng };
                let mut out = Vec::with_capacity(before.len());
                for row in before.chunks_exact(rows.columns()) {
                    chain.row = row.to_vec();
                    chain.sweep(AGAIN)?;
                    out.extend_from_slice(&chain.row);
                }
                Ok(out)
            })
            .collect();
        Ok(drawn?.concat())
    }

    /// Of each row, the densities of its missing cells, with their columns; `each` makes what is needed of
    /// them.
    pub fn cells<T: Send>(
        &self,
        rows: &Rows,
        first: usize,
        each: impl Fn(usize, usize, &Cell) -> T + Sync,
    ) -> Result<Vec<Vec<T>>> {
        (0..rows.len())
            .into_par_iter()
            .map(|i| {
                let cells = self.cells_of(&rows.row(i), (first + i) as u64, LINES);
                let cells = cells.map_err(|e| at(e, i))?;
                Ok(cells.iter().map(|(column, cell)| each(i, *column, cell)).collect())
            })
            .collect()
    }

    /// The densities of the missing cells of one row, by column.
    pub(super) fn cells_of(
        &self,
        row: &[f64],
        number: u64,
        draws: usize,
    ) -> Result<Vec<(usize, Cell<'a>)>> {
        let missing = holes(row);
        if let [column] = missing[..]
            && self.whitening.rest() != Rest::Degenerate
        {
            let line = self.density.conditional(row, column)?;
            return Ok(vec![(column, Cell::of_lines(vec![line]))]);
        }
        if missing.is_empty() {
            return Ok(Vec::new());
        }
        let mut chain = self.chain(row, number)?;
        let mut lines: Vec<_> = missing.iter().map(|_| Vec::with_capacity(draws)).collect();
        let mut values = lines.iter().map(|_| Vec::new()).collect::<Vec<Vec<f64>>>();
        for draw in 0..draws {
            chain.sweep(if draw == 0 { BURN_IN } else { 1 })?;
            for (k, &column) in missing.iter().enumerate() {
                match self.density.conditional(&chain.row, column) {
                    Ok(line) => {
                        chain.row[column] = line.quantile(chain.rng.random_range(0.0..1.0));
                        lines[k].push(line);
                    }
                    // Other cells determine this one.
                    Err(Error::NoLine { .. }) => {}
                    Err(error) => return Err(error),
                }
                values[k].push(chain.row[column]);
            }
        }
        let cell = |(lines, values): (Vec<_>, Vec<f64>)| {
            if lines.len() == draws { Cell::of_lines(lines) } else { Cell::of_values(values) }
        };
        Ok(missing.into_iter().zip(lines.into_iter().zip(values).map(cell)).collect())
    }

    /// A chain that starts at a draw from the Gaussian.
    fn chain(&self, row: &[f64], number: u64) -> Result<Chain<'a>> {
        self.whitening.check_columns(row.len())?;
        let given = self.gaussian.given(&holes(row))?;
        let mut rng = random::stream(self.seed, Use::Missing, number);
        let mut row = row.to_vec();
        given.start(&mut row, &mut rng);
        if self.whitening.rest() == Rest::Degenerate {
            let x = self.whitening.sphere_row(&row);
            if let Some(column) = self.whitening.off(&row, &x).next() {
                return Err(Error::OutsideSubspace { row: 0, column });
            }
        }
        Ok(Chain { density: self.density, given, row, rng })
    }
}

/// One row whose missing cells are drawn again and again.
pub(super) struct Chain<'a> {
    density: &'a dyn Density,
    given: Given,
    pub row: Vec<f64>,
    pub rng: Stream,
}

impl Chain<'_> {
    /// Draws along every move, so many times.
    pub fn sweep(&mut self, times: usize) -> Result<()> {
        for _ in 0..times {
            for change in &self.given.moves {
                let direction = self.given.direction(change);
                let t = self.density.draw_along(&self.row, &direction, &mut self.rng)?;
                for &column in &self.given.missing {
                    self.row[column] += t * direction[column];
                }
            }
        }
        Ok(())
    }
}

/// An error with its row.
fn at(error: Error, i: usize) -> Error {
    match error {
        Error::OutsideSubspace { column, .. } => Error::OutsideSubspace { row: i, column },
        error => error,
    }
}

/// Rows with their missing cells drawn from a Gaussian, `draws` times: row after row, and draw after draw
/// within a row.
pub(crate) fn gaussian_draws(
    gaussian: &Gaussian,
    rows: &Rows,
    draws: usize,
    seed: u64,
) -> Result<Vec<f64>> {
    let drawn: Result<Vec<Vec<f64>>> = (0..rows.len())
        .into_par_iter()
        .map(|i| {
            let row = rows.row(i);
            let given = gaussian.given(&holes(&row))?;
            let mut rng = random::stream(seed, Use::Missing, i as u64);
            let mut out = Vec::with_capacity(draws * row.len());
            for _ in 0..draws {
                let mut row = row.to_vec();
                given.start(&mut row, &mut rng);
                out.extend(row);
            }
            Ok(out)
        })
        .collect();
    Ok(drawn?.concat())
}
