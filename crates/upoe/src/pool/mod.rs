//! A pool: several densities at once, each with a share of the mass that rows held out decide.

mod learned;
mod recipe;

pub(crate) use learned::folds;

use crate::density::Density;
use crate::error::{Error, Result, invalid};
use crate::model::Model;
use crate::random::{self, Use};
use crate::rows::Rows;
use crate::stack::Stack;
use crate::t_mixture::TMixture;
use rand::RngExt;
use rayon::prelude::*;
use std::ops::Range;

/// Rows farther out have no density.
const FARTHEST: f64 = 1e150;

/// Σ πₘ pₘ(row) over stacks and mixtures. It has no map to standard normal rows.
#[derive(Clone, Debug)]
pub struct Pool {
    members: Vec<Member>,
    shares: Vec<f64>,
}

/// A density in a pool: a stack, or its maps with a mixture of Student-t components at their end.
#[derive(Clone, Debug)]
pub struct Member {
    stack: Stack,
    mixture: Option<TMixture>,
}

impl Member {
    /// From its parts.
    pub fn new(stack: Stack, mixture: Option<TMixture>) -> Result<Self> {
        let expected = stack.whitening().dims();
        if let Some(got) = mixture.as_ref().map(TMixture::dims).filter(|got| *got != expected) {
            return Err(Error::Shape { what: "dimensions of a mixture", expected, got });
        }
        Ok(Member { stack, mixture })
    }

    /// The whole stack, or the maps before the mixture.
    pub fn stack(&self) -> &Stack {
        &self.stack
    }

    /// The mixture that stands in for the standard normal.
    pub fn mixture(&self) -> Option<&TMixture> {
        self.mixture.as_ref()
    }

    fn score(&self, rows: &Rows) -> Result<Vec<f64>> {
        let Some(mixture) = &self.mixture else { return self.stack.score(rows) };
        let (mut x, mut ln_det) = self.stack.mapped(rows)?;
        // Squares of a far row overflow.
        for (x, ln_det) in x.chunks_exact_mut(mixture.dims()).zip(&mut ln_det) {
            if !x.iter().all(|x| x.abs() < FARTHEST) {
                x.fill(0.0);
                *ln_det = f64::NEG_INFINITY;
            }
        }
        Ok(mixture.ln_density(&x)?.iter().zip(&ln_det).map(|(p, ln_det)| p + ln_det).collect())
    }

    fn slope(&self, row: &[f64]) -> Result<Vec<f64>> {
        match &self.mixture {
            Some(mixture) => self.stack.slope_with(row, |x| mixture.slope(x)),
            None => self.stack.slope(row),
        }
    }

    fn draw(&self, rng: &mut random::Stream) -> Vec<f64> {
        match &self.mixture {
            Some(mixture) => {
                let x = mixture.draw(rng);
                self.stack.back(x, rng)
            }
            None => self.stack.draw(rng),
        }
    }
}

impl Pool {
    /// From its members and their shares, which are positive and add up to 1.
    pub fn new(members: Vec<Member>, shares: Vec<f64>) -> Result<Self> {
        let (expected, got) = (members.len().max(1), shares.len());
        if members.len() != got || got == 0 {
            return Err(Error::Shape { what: "shares of a pool", expected, got });
        }
        let total: f64 = shares.iter().sum();
        if !(shares.iter().all(|s| *s > 0.0) && (total - 1.0).abs() < 1e-9) {
            return invalid("pool", "its shares", "must be positive and add up to 1");
        }
        Ok(Pool { members, shares })
    }

    /// The members.
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// The share of each.
    pub fn shares(&self) -> &[f64] {
        &self.shares
    }

    /// ln p of each row, in nats.
    pub fn score(&self, rows: &Rows) -> Result<Vec<f64>> {
        let scores: Result<Vec<Vec<f64>>> = self.members.iter().map(|m| m.score(rows)).collect();
        let scores = scores?;
        Ok((0..rows.len()).map(|i| pooled(scores.iter().map(|s| s[i]), &self.shares)).collect())
    }

    /// The gradient of ln p at a row, in the units of its columns.
    pub fn slope(&self, row: &[f64]) -> Result<Vec<f64>> {
        let rows = Rows::new(row, row.len())?;
        let ln_p = self.score(&rows)?[0];
        let mut slope = vec![0.0; row.len()];
        for (member, share) in self.members.iter().zip(&self.shares) {
            let part = share * (member.score(&rows)?[0] - ln_p).exp();
            if part > 0.0 {
                slope.iter_mut().zip(member.slope(row)?).for_each(|(s, m)| *s += part * m);
            }
        }
        Ok(slope)
    }

    /// Some of the rows that [`Pool::sample`] draws; see
    /// [`Density::sample_range`](crate::Density::sample_range).
    pub fn sample_range(&self, rows: Range<usize>, seed: u64) -> Vec<f64> {
        const BLOCK: usize = Model::SAMPLE_BLOCK;
        let blocks = (rows.start / BLOCK..rows.end.div_ceil(BLOCK)).into_par_iter();
        let drawn: Vec<Vec<f64>> = blocks
            .map(|block| {
                let mut rng = random::stream(seed, Use::Sample, block as u64);
                let some = block * BLOCK..((block + 1) * BLOCK).min(rows.end);
                some.flat_map(|_| self.draw(&mut rng)).collect()
            })
            .collect();
        drawn.concat()
    }

    /// `n` rows drawn from the pool, row after row.
    pub fn sample(&self, n: usize, seed: u64) -> Vec<f64> {
        self.sample_range(0..n, seed)
    }

    fn draw(&self, rng: &mut random::Stream) -> Vec<f64> {
        let mut left: f64 = rng.random_range(0.0..1.0);
        let chosen = self.shares.iter().position(|share| {
            left -= share;
            left < 0.0
        });
        self.members[chosen.unwrap_or(self.members.len() - 1)].draw(rng)
    }
}

impl Density for Pool {
    fn columns(&self) -> usize {
        self.members[0].stack.columns()
    }

    fn score(&self, rows: &Rows) -> Result<Vec<f64>> {
        Pool::score(self, rows)
    }

    fn sample_range(&self, rows: Range<usize>, seed: u64) -> Vec<f64> {
        Pool::sample_range(self, rows, seed)
    }

    fn places(&self) -> Vec<(f64, f64)> {
        self.members[0].stack.places()
    }
}

/// ln Σ πₘ pₘ from the ln pₘ.
fn pooled(ln_p: impl Iterator<Item = f64> + Clone, shares: &[f64]) -> f64 {
    let top = ln_p.clone().fold(f64::NEG_INFINITY, f64::max);
    if top == f64::NEG_INFINITY {
        return top;
    }
    top + ln_p.zip(shares).map(|(p, share)| share * (p - top).exp()).sum::<f64>().ln()
}
