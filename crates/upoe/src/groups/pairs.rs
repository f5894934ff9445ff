//! Two groups along a direction, learned by EM from many starts at once.
//!
//! In sphered space two normal groups that share one covariance have the covariance I − p₀p₁ δδᵀ, with δ
//! the difference of their means. So a step needs only projections on δ, and starts share the two products
//! with the rows.

use super::sphered::Sphered;
use crate::linalg::{dot, unit};
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use rayon::prelude::*;
use upoe_kernels::{dispatch, exp, ln_1p};

/// Starts that share a product.
const TOGETHER: usize = 8;
/// Steps that gain less each, in nats per row, are the last.
const ENOUGH: f64 = 1e-6;
/// After how many steps that is looked at.
const JUDGED: usize = 4;

/// Two groups along a direction of sphered rows.
pub struct Pair {
    pub direction: Vec<f64>,
    /// Where both are equally probable, along the direction.
    pub cut: f64,
    /// Mean ln p over that of one normal group, in nats per row.
    pub gain: f64,
    /// The chance that each row is of the second group, times its weight.
    pub shares: Vec<f64>,
}

/// Where the two groups lie on the direction.
struct Place {
    direction: Vec<f64>,
    /// The share of the second group.
    share: f64,
    /// The distance of the means.
    length: f64,
}

impl Sphered {
    /// The groups after at most so many steps from each start, which is the chance that each row is of
    /// the second group, times its weight. Starts that lose a group are left out.
    pub fn pairs(&self, starts: &[Vec<f64>], steps: usize) -> Vec<Pair> {
        let learned = |some: &[Vec<f64>]| self.together(some, steps);
        starts.par_chunks(TOGETHER).flat_map_iter(learned).collect()
    }

    fn together(&self, starts: &[Vec<f64>], steps: usize) -> Vec<Pair> {
        let (n, d) = (self.weights.len(), self.dims);
        let total: f64 = self.weights.iter().sum();
        let y = MatRef::from_column_major_slice(&self.y, d, n);
        let mut shares = starts.concat();
        let mut z = vec![0.0; shares.len()];
        let mut gains = vec![0.0; n];
        let mut found: Vec<Option<Pair>> = starts.iter().map(|_| None).collect();
        // The starts that go on; their shares come first.
        let mut going: Vec<usize> = (0..starts.len()).collect();
        for step in 1..=steps {
            let mut first = vec![0.0; d * going.len()];
            matmul(
                MatMut::from_column_major_slice_mut(&mut first, d, going.len()),
                Accum::Replace,
                y,
                MatRef::from_column_major_slice(&shares[..n * going.len()], n, going.len()),
                1.0,
                Par::Seq,
            );
            let place = |(first, shares)| Place::of(first, shares, total);
            let places: Vec<Option<Place>> =
                first.chunks_exact(d).zip(shares.chunks_exact(n)).map(place).collect();
            let flat: Vec<f64> = places
                .iter()
                .flat_map(|p| p.as_ref().map_or_else(|| vec![0.0; d], |p| p.direction.clone()))
                .collect();
            matmul(
                MatMut::from_column_major_slice_mut(&mut z[..n * going.len()], n, going.len()),
                Accum::Replace,
                y.transpose(),
                MatRef::from_column_major_slice(&flat, d, going.len()),
                1.0,
                Par::Seq,
            );
            let mut left = 0;
            for (k, place) in places.into_iter().enumerate() {
                let Some(place) = place else {
                    found[going[k]] = None;
                    continue;
                };
                let own = &mut shares[k * n..][..n];
                place.expect(&z[k * n..][..n], &self.weights, own);
                let judged = step == steps || step % JUDGED == 0;
                let before = found[going[k]].as_ref().map_or(f64::NEG_INFINITY, |p| p.gain);
                let mut gain = before;
                if judged {
                    place.gains(&z[k * n..][..n], &mut gains);
                    gain = dot(&gains, &self.weights) / total;
                }
                let last = step == steps || judged && gain - before < ENOUGH * JUDGED as f64;
                let kept = if last { own.to_vec() } else { Vec::new() };
                let cut = place.cut();
                found[going[k]] =
                    Some(Pair { direction: place.direction, cut, gain, shares: kept });
                if !last {
                    shares.copy_within(k * n..(k + 1) * n, left * n);
                    going[left] = going[k];
                    left += 1;
                }
            }
            going.truncate(left);
            if going.is_empty() {
                break;
            }
        }
        found.into_iter().flatten().collect()
    }
}

impl Place {
    /// From Σ share·y and the shares; `None` where a group is lost.
    fn of(first: &[f64], shares: &[f64], total: f64) -> Option<Place> {
        let mass: f64 = shares.iter().sum();
        let share = mass / total;
        if !(share > 1e-3 && share < 1.0 - 1e-3) {
            return None;
        }
        // The mean of all rows is 0: m₁ = first/mass and m₀ = −first/(total − mass).
        let delta: Vec<f64> = first.iter().map(|f| f / (mass * (1.0 - share))).collect();
        let length = dot(&delta, &delta).sqrt();
        (length > 1e-9).then(|| Place { direction: unit(&delta), share, length })
    }

    /// The variance of each group along the direction.
    fn variance(&self) -> f64 {
        (1.0 - self.share * (1.0 - self.share) * self.length * self.length).max(1e-3)
    }

    fn odds(&self) -> f64 {
        (self.share / (1.0 - self.share)).ln()
    }

    /// Half way between the means.
    fn middle(&self) -> f64 {
        (0.5 - self.share) * self.length
    }

    fn cut(&self) -> f64 {
        self.middle() - self.odds() * self.variance() / self.length
    }

    /// Each row's chance to be of the second group, times its weight.
    fn expect(&self, z: &[f64], weights: &[f64], shares: &mut [f64]) {
        let (middle, odds, slope) = (self.middle(), self.odds(), self.length / self.variance());
        dispatch(
            #[inline(always)]
            || {
                for ((z, weight), share) in z.iter().zip(weights).zip(shares.iter_mut()) {
                    let logit = odds + slope * (z - middle);
                    let e = exp(-logit.abs());
                    let above = 1.0 / (1.0 + e);
                    *share = weight * if logit > 0.0 { above } else { e * above };
                }
            },
        );
    }

    /// Each row's ln p over that of one normal group.
    fn gains(&self, z: &[f64], gains: &mut [f64]) {
        let (variance, middle, odds) = (self.variance(), self.middle(), self.odds());
        let slope = self.length / variance;
        let low = -self.share * self.length;
        let constant = (1.0 - self.share).ln() - 0.5 * variance.ln();
        dispatch(
            #[inline(always)]
            || {
                for (z, gain) in z.iter().zip(gains.iter_mut()) {
                    let logit = odds + slope * (z - middle);
                    let off = z - low;
                    let one = constant + 0.5 * (z * z - off * off / variance);
                    *gain = one + logit.max(0.0) + ln_1p(exp(-logit.abs()));
                }
            },
        );
    }
}
