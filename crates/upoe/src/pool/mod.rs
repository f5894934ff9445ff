//! A pool: several densities at once, each with a share of the mass that rows held out decide.

mod incomplete;
mod learned;
mod member;
mod recipe;

pub(crate) use incomplete::Incomplete;
pub(crate) use learned::folds;
pub use member::Member;

use crate::density::Density;
use crate::error::{Error, Result, invalid};
use crate::importance::Estimate;
use crate::model::Model;
use crate::random::{self, Use};
use crate::rows::Rows;
use rand::RngExt;
use rayon::prelude::*;
use std::ops::Range;

/// Σ πₘ pₘ(row) over stacks and mixtures. It has no map to standard normal rows.
#[derive(Clone, Debug)]
pub struct Pool {
    members: Vec<Member>,
    shares: Vec<f64>,
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
        drawn(rows, seed, |rng| self.draw(rng))
    }

    /// `n` rows drawn from the pool, row after row.
    pub fn sample(&self, n: usize, seed: u64) -> Vec<f64> {
        self.sample_range(0..n, seed)
    }

    fn draw(&self, rng: &mut random::Stream) -> Vec<f64> {
        let chosen = random::place_of(rng.random_range(0.0..1.0), self.shares.iter().copied());
        self.members[chosen.unwrap_or(self.members.len() - 1)].draw(rng)
    }
}

impl Density for Pool {
    fn columns(&self) -> usize {
        self.members[0].columns()
    }

    fn score(&self, rows: &Rows) -> Result<Vec<f64>> {
        Pool::score(self, rows)
    }

    fn sample_range(&self, rows: Range<usize>, seed: u64) -> Vec<f64> {
        Pool::sample_range(self, rows, seed)
    }

    fn score_present(&self, rows: &Rows) -> Result<Vec<Estimate>> {
        // Those that a formula gives first: the others need only be exact where they matter.
        let mut order: Vec<usize> = (0..self.members.len()).collect();
        order.sort_by_key(|&m| !self.members[m].is_exact());
        let mut scores: Vec<Vec<Estimate>> = vec![Vec::new(); self.members.len()];
        let mut known = vec![f64::NEG_INFINITY; rows.len()];
        for m in order {
            let ln_share = self.shares[m].ln();
            let others: Vec<f64> = known.iter().map(|known| known - ln_share).collect();
            scores[m] = self.members[m].beside(rows, &others)?;
            for (known, score) in known.iter_mut().zip(&scores[m]) {
                *known = pooled([*known, score.value + ln_share].into_iter(), &[1.0, 1.0]);
            }
        }
        let complete: Vec<usize> = (0..rows.len()).filter(|&i| !rows.has_holes(i)).collect();
        let whole = self.score(&Rows::new(&rows.pick(&complete).0, rows.columns())?)?;
        let of_row = |i: usize| {
            if let Ok(at) = complete.binary_search(&i) {
                return Estimate::exact(whole[at]);
            }
            if rows.row(i).iter().all(|x| x.is_nan()) {
                return Estimate::exact(0.0);
            }
            let each = || scores.iter().map(|s| s[i]);
            let value = pooled(each().map(|e| e.value), &self.shares);
            let error = each().zip(&self.shares).map(|(e, share)| {
                let part = share * (e.value - value).exp();
                if part > 0.0 { (part * e.standard_error).powi(2) } else { 0.0 }
            });
            Estimate { value, standard_error: error.sum::<f64>().sqrt() }
        };
        Ok((0..rows.len()).map(of_row).collect())
    }

    fn members(&self) -> Vec<(f64, &dyn Density)> {
        let members = self.members.iter().map(|m| m as &dyn Density);
        self.shares.iter().copied().zip(members).collect()
    }

    fn places(&self) -> Vec<(f64, f64)> {
        self.members[0].places()
    }
}

/// Some rows, in blocks with a stream of random numbers each.
fn drawn(
    rows: Range<usize>,
    seed: u64,
    draw: impl Fn(&mut random::Stream) -> Vec<f64> + Sync,
) -> Vec<f64> {
    const BLOCK: usize = Model::SAMPLE_BLOCK;
    let blocks = (rows.start / BLOCK..rows.end.div_ceil(BLOCK)).into_par_iter();
    let drawn: Vec<Vec<f64>> = blocks
        .map(|block| {
            let mut rng = random::stream(seed, Use::Sample, block as u64);
            let some = block * BLOCK..((block + 1) * BLOCK).min(rows.end);
            some.flat_map(|_| draw(&mut rng)).collect()
        })
        .collect();
    drawn.concat()
}

/// ln Σ πₘ pₘ from the ln pₘ.
fn pooled(ln_p: impl Iterator<Item = f64> + Clone, shares: &[f64]) -> f64 {
    let top = ln_p.clone().fold(f64::NEG_INFINITY, f64::max);
    if top == f64::NEG_INFINITY {
        return top;
    }
    top + ln_p.zip(shares).map(|(p, share)| share * (p - top).exp()).sum::<f64>().ln()
}
