//! The split of some rows into two groups with the clearest valley between them.
//!
//! Two normal groups that share one covariance are learned by EM from many starts (`pairs.rs`): this is
//! pursuit for an expert of two groups of equal width. Those that separate the rows best are tested for a
//! valley.

use super::pairs::Pair;
use super::sphered::Sphered;
use super::valley::{bar, valley};
use crate::error::Result;
use crate::linalg::dot;
use crate::random::{self, Use};
use rand::RngExt;
use rand_distr::StandardNormal;
use rayon::prelude::*;

/// Random directions among the starts, and how many axes.
const RANDOM: usize = 16;
const AXES: usize = 20;
/// Where the projections of a start are cut.
const CUTS: [f64; 3] = [0.15, 0.5, 0.85];
/// EM steps of all starts, and of those that go on: the last of those that are still apart after the
/// others.
const FIRST: usize = 6;
const NEXT: usize = 16;
const LAST: usize = 64;
/// How many starts go on.
const KEPT: usize = 20;
/// Directions with a larger cosine are the same.
const SAME: f64 = 0.9999;
/// A group has at least this many rows, and this share of all.
const SMALLEST: f64 = 5.0;
const SMALLEST_SHARE: f64 = 0.01;

/// Two groups among some rows.
#[derive(Clone, Debug)]
pub struct Split {
    /// How clear the valley between them is; see [`valley`].
    pub evidence: f64,
    /// The evidence that rows without groups rarely exceed; see [`bar`].
    pub bar: f64,
    /// Whether each row is in the second group.
    pub above: Vec<bool>,
    /// The direction that separates them.
    pub direction: Vec<f64>,
}

/// The fewest rows of a group among `rows`.
pub fn smallest(rows: usize) -> f64 {
    SMALLEST.max(SMALLEST_SHARE * rows as f64)
}

/// The split of rows x (N × D) with the clearest valley; `None` where none can be tried. `all` is
/// how many rows the table has.
pub fn split(x: &[f64], d: usize, starts: &[Vec<f64>], all: usize) -> Result<Option<Split>> {
    let n = x.len() / d;
    let mut best: Option<Split> = None;
    let Some(plain) = Sphered::of(x, d, false)? else { return Ok(None) };
    let bar = bar(n, plain.dims, plain.lightness());
    for sphered in [Some(plain), Sphered::of(x, d, true)?].into_iter().flatten() {
        let dims = sphered.dims;
        let mut kept = sphered.starts(x, starts);
        for (steps, cosine) in [(FIRST, 0.95), (NEXT, SAME)] {
            let pairs = apart(sphered.pairs(&kept, steps), cosine);
            kept = pairs.into_iter().map(|pair| pair.shares).collect();
        }
        let tried: Vec<Option<Split>> = apart(sphered.pairs(&kept, LAST), SAME)
            .into_par_iter()
            .map(|pair| {
                // Densities with one mode contain the Gaussian: the evidence is no larger than this.
                if 2.0 * n as f64 * pair.gain < bar {
                    return None;
                }
                let z: Vec<f64> =
                    sphered.y.chunks_exact(dims).map(|y| dot(y, &pair.direction)).collect();
                let found = valley(&z, pair.cut, bar)?;
                let above: Vec<bool> = z.iter().map(|z| *z > found.cut).collect();
                let size = above.iter().filter(|a| **a).count() as f64;
                if size.min(n as f64 - size) < smallest(all) {
                    return None;
                }
                let direction = sphered.back(&pair.direction);
                Some(Split { evidence: found.evidence, bar, above, direction })
            })
            .collect();
        for split in tried.into_iter().flatten() {
            if best.as_ref().is_none_or(|best| split.evidence > best.evidence) {
                best = Some(split);
            }
        }
    }
    Ok(best)
}

/// The pairs of largest gain, of those whose directions have this cosine or a larger one the first.
fn apart(mut pairs: Vec<Pair>, cosine: f64) -> Vec<Pair> {
    pairs.sort_by(|a, b| b.gain.total_cmp(&a.gain));
    let mut kept: Vec<Pair> = Vec::new();
    for pair in pairs {
        let other = |k: &Pair| dot(&k.direction, &pair.direction).abs() < cosine;
        if kept.len() < KEPT && kept.iter().all(other) {
            kept.push(pair);
        }
    }
    kept
}

impl Sphered {
    /// Where EM starts: the chance of every row to be in the second group, times its weight.
    fn starts(&self, x: &[f64], given: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let (d, dims) = (x.len() / self.weights.len(), self.dims);
        let mut rng = random::stream(0, Use::Starts, dims as u64);
        let mut random = || (0..dims).map(|_| rng.sample(StandardNormal)).collect::<Vec<f64>>();
        let on = |w: &[f64], rows: &[f64], d: usize| -> Vec<f64> {
            rows.chunks_exact(d).map(|row| dot(row, w)).collect()
        };
        let mut lines: Vec<Vec<f64>> = given.iter().map(|w| on(w, x, d)).collect();
        for k in 0..dims.min(AXES) {
            lines.push(self.y.iter().skip(k).step_by(dims).copied().collect());
        }
        lines.extend((0..RANDOM).map(|_| on(&random(), &self.y, dims)));
        let cut = |z: &Vec<f64>| {
            let chance = |(z, u): (&f64, &f64), cut: f64| u * if *z > cut { 0.95 } else { 0.05 };
            let second = |cut: f64| z.iter().zip(&self.weights).map(|p| chance(p, cut)).collect();
            quantiles(z, CUTS).map(second)
        };
        let starts: Vec<[Vec<f64>; CUTS.len()]> = lines.par_iter().map(cut).collect();
        starts.into_iter().flatten().collect()
    }
}

/// The values below which these rising shares of the values lie.
fn quantiles<const N: usize>(z: &[f64], shares: [f64; N]) -> [f64; N] {
    let mut z = z.to_vec();
    let last = (z.len() - 1) as f64;
    let mut from = 0;
    shares.map(|share| {
        let at = (share * last) as usize;
        let (_, value, _) = z[from..].select_nth_unstable_by(at - from, f64::total_cmp);
        let value = *value;
        from = at;
        value
    })
}
