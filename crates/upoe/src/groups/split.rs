//! The split of some rows into two groups with the clearest valley between them.
//!
//! Two normal groups that share one covariance are learned by EM from many starts. In sphered
//! space the covariance is I − p₀p₁ δδᵀ with δ the difference of the means, so that a step needs
//! only projections on δ: this is pursuit for an expert of two groups of equal width.

use super::sphered::Sphered;
use super::valley::{bar, valley};
use crate::error::Result;
use crate::linalg::{dot, unit};
use crate::random::{self, Use};
use rand::RngExt;
use rand_distr::StandardNormal;
use rayon::prelude::*;

/// Random directions among the starts, and how many axes.
const RANDOM: usize = 16;
const AXES: usize = 20;
/// Where the projections of a start are cut.
const CUTS: [f64; 3] = [0.5, 0.15, 0.85];
/// EM steps of all starts, and of those that go on.
const FIRST: usize = 6;
const LAST: usize = 80;
/// How many starts go on.
const KEPT: usize = 20;
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
        let begun = sphered.starts(x, starts);
        let first = |r: &Vec<f64>| sphered.learned(r.clone(), FIRST);
        let mut begun: Vec<Pair> = begun.par_iter().filter_map(first).collect();
        begun.sort_by(|a, b| b.gain.total_cmp(&a.gain));
        let mut kept: Vec<Pair> = Vec::new();
        for pair in begun {
            let other = |k: &Pair| dot(&k.direction, &pair.direction).abs() < 0.95;
            if kept.len() < KEPT && kept.iter().all(other) {
                kept.push(pair);
            }
        }
        let tried: Vec<Option<Split>> = kept
            .into_par_iter()
            .map(|pair| {
                let pair = sphered.learned(pair.shares, LAST)?;
                // Densities with one mode contain the Gaussian: the evidence is no larger than this.
                if 2.0 * n as f64 * pair.gain < bar {
                    return None;
                }
                let z: Vec<f64> =
                    sphered.y.chunks_exact(dims).map(|y| dot(y, &pair.direction)).collect();
                let found = valley(&z, pair.cut)?;
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

/// Two groups along a direction of sphered rows.
struct Pair {
    direction: Vec<f64>,
    /// Where both are equally probable, along the direction.
    cut: f64,
    /// Mean ln p over that of one normal group, in nats per row.
    gain: f64,
    /// The chance that each row is of the second group.
    shares: Vec<f64>,
}

impl Sphered {
    /// Where EM starts: the chance of every row to be in the second group.
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
            let mut sorted = z.clone();
            sorted.sort_unstable_by(f64::total_cmp);
            let at = |share: f64| sorted[(share * (sorted.len() - 1) as f64) as usize];
            let second = |cut: f64| z.iter().map(|z| if *z > cut { 0.95 } else { 0.05 }).collect();
            CUTS.map(|share| second(at(share)))
        };
        lines.par_iter().flat_map_iter(cut).collect()
    }

    /// EM from the chance of every row to be in the second group.
    fn learned(&self, mut shares: Vec<f64>, steps: usize) -> Option<Pair> {
        let d = self.dims;
        let total: f64 = self.weights.iter().sum();
        let mut found: Option<Pair> = None;
        let mut before = f64::NEG_INFINITY;
        for _ in 0..steps {
            let (mut mass, mut first) = (0.0, vec![0.0; d]);
            for ((y, r), u) in self.y.chunks_exact(d).zip(&shares).zip(&self.weights) {
                let ur = u * r;
                mass += ur;
                first.iter_mut().zip(y).for_each(|(f, y)| *f += ur * y);
            }
            let p = mass / total;
            if !(p > 1e-3 && p < 1.0 - 1e-3) {
                return found;
            }
            // The mean of all rows is 0: m₁ = first/mass and m₀ = −first/(total − mass).
            let delta: Vec<f64> = first.iter().map(|f| f / (mass * (1.0 - p))).collect();
            let length = dot(&delta, &delta).sqrt();
            if !(length > 1e-9) {
                return found;
            }
            let direction = unit(&delta);
            let variance = (1.0 - p * (1.0 - p) * length * length).max(1e-3);
            let (low, high) = (-p * length, (1.0 - p) * length);
            let odds = (p / (1.0 - p)).ln();
            let mut gain = 0.0;
            for ((y, r), u) in self.y.chunks_exact(d).zip(&mut shares).zip(&self.weights) {
                let z = dot(y, &direction);
                let logit = odds + length * (z - 0.5 * (low + high)) / variance;
                *r = 1.0 / (1.0 + (-logit).exp());
                let one = -0.5 * (z - low).powi(2) / variance + (1.0 - p).ln();
                let more =
                    if logit > 0.0 { logit + (-logit).exp().ln_1p() } else { logit.exp().ln_1p() };
                gain += u * (one + more - 0.5 * variance.ln() + 0.5 * z * z);
            }
            gain /= total;
            let cut = 0.5 * (low + high) - odds * variance / length;
            let done = gain - before < 1e-6;
            before = gain;
            found = Some(Pair { direction, cut, gain, shares: Vec::new() });
            if done {
                break;
            }
        }
        found.map(|pair| Pair { shares, ..pair })
    }
}
