//! Draws the missing cells of rows, by Gibbs steps along lines.

use super::cell::Cell;
use super::gaussian::{Gaussian, Given};
use super::observed::of_row;
use super::patterns::holes;
use crate::density::Density;
use crate::error::{Error, Result};
use crate::random::{self, Stream, Use, place_of};
use crate::rows::Rows;
use crate::t_mixture::Given as Bells;
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

/// Draws that say how probable the cells are that a row has, under a part of a density.
const DRAWN: usize = 4_096;
/// Parts that a row comes from with a smaller probability do not count.
const UNLIKELY: f64 = 1e-3;

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
                let mut drawing = self.drawing(&row, (first + i) as u64).map_err(|e| at(e, i))?;
                (0..draws).try_for_each(|_| drawing.next(&mut out)).map_err(|e| at(e, i))?;
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
        if missing.is_empty() {
            return Ok(Vec::new());
        }
        if let Some(given) = self.density.given(row)? {
            let cell = |(k, column): (usize, &usize)| {
                Ok((*column, Cell::of_bells(given.cell(k), given.degrees())?))
            };
            return given.missing.iter().enumerate().map(cell).collect();
        }
        let parts = self.parts(row, number)?;
        if !parts.is_empty() {
            let cells = parts.iter().map(|(weight, part)| {
                let cells = part.cells_of(row, number, draws)?.into_iter();
                Ok(cells.map(|(_, cell)| (*weight, cell)).collect::<Vec<_>>())
            });
            let mut cells: Vec<_> = cells.map(|c| Ok(c?.into_iter())).collect::<Result<_>>()?;
            let of_column = |column| {
                let each: Vec<_> = cells.iter_mut().filter_map(Iterator::next).collect();
                (column, Cell::sum(each))
            };
            return Ok(missing.into_iter().map(of_column).collect());
        }
        if let [column] = missing[..]
            && self.whitening.rest() != Rest::Degenerate
        {
            let line = self.density.conditional(row, column)?;
            return Ok(vec![(column, Cell::of_lines(vec![line]))]);
        }
        let mut chain = self.chain(row, number)?;
        let mut lines: Vec<_> = missing.iter().map(|_| Vec::with_capacity(draws)).collect();
        let mut values = lines.iter().map(|_| Vec::new()).collect::<Vec<Vec<f64>>>();
        for draw in 0..draws {
            chain.sweep(if draw == 0 { BURN_IN } else { 1 })?;
            for (k, &column) in missing.iter().enumerate() {
                match self.density.conditional_roughly(&chain.row, column) {
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

    /// The densities whose sum this one is, and how probable it is that a row comes from each; empty where it is no
    /// such sum.
    fn parts(&self, row: &[f64], number: u64) -> Result<Vec<(f64, Filler<'a>)>> {
        let members = self.density.members();
        let (mut parts, mut ln_p) = (Vec::new(), Vec::new());
        for (share, density) in members {
            let at = (self.seed, number as usize);
            let there = of_row(density, &self.gaussian, row, DRAWN, at)?;
            ln_p.push(share.ln() + there);
            parts.push(Filler {
                density,
                whitening: self.whitening,
                gaussian: self.gaussian.clone(),
                seed: self.seed,
            });
        }
        let top = ln_p.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let weight = |ln_p: &f64| if top.is_finite() { (ln_p - top).exp() } else { 1.0 };
        let weights: Vec<f64> = ln_p.iter().map(weight).collect();
        let largest = weights.iter().sum::<f64>() * UNLIKELY;
        let mut parts: Vec<_> =
            weights.into_iter().zip(parts).filter(|(weight, _)| *weight >= largest).collect();
        let total: f64 = parts.iter().map(|(weight, _)| weight).sum();
        parts.iter_mut().for_each(|(weight, _)| *weight /= total);
        Ok(parts)
    }

    /// Draws of one row.
    fn drawing(&self, row: &[f64], number: u64) -> Result<Drawing<'a>> {
        if let Some(given) = self.density.given(row)? {
            let rng = random::stream(self.seed, Use::Missing, number);
            return Ok(Drawing::Given { row: row.to_vec(), given, rng });
        }
        let parts = self.parts(row, number)?;
        if parts.is_empty() {
            return Ok(Drawing::Chain { chain: self.chain(row, number)?, begun: false });
        }
        let rng = random::stream(self.seed, Use::Missing, (3 << 40) + number);
        let parts = parts.iter().map(|(weight, part)| Ok((*weight, part.drawing(row, number)?)));
        Ok(Drawing::Parts { parts: parts.collect::<Result<_>>()?, rng })
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

/// Draws of one row's missing cells.
enum Drawing<'a> {
    Chain { chain: Chain<'a>, begun: bool },
    Given { row: Vec<f64>, given: Bells, rng: Stream },
    Parts { parts: Vec<(f64, Drawing<'a>)>, rng: Stream },
}

impl Drawing<'_> {
    /// Adds the whole row with its cells drawn once more.
    fn next(&mut self, out: &mut Vec<f64>) -> Result<()> {
        match self {
            Drawing::Chain { chain, begun } => {
                chain.sweep(if *begun { BETWEEN } else { BURN_IN })?;
                *begun = true;
                out.extend_from_slice(&chain.row);
            }
            Drawing::Given { row, given, rng } => {
                let from = out.len();
                out.extend_from_slice(row);
                let drawn = given.draw(rng);
                given.missing.iter().zip(drawn).for_each(|(&c, x)| out[from + c] = x);
            }
            Drawing::Parts { parts, rng } => {
                let last = parts.len() - 1;
                let chosen = place_of(rng.random_range(0.0..1.0), parts.iter().map(|(w, _)| *w));
                parts[chosen.unwrap_or(last)].1.next(out)?;
            }
        }
        Ok(())
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
