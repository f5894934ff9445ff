//! A kernel's mean embedding by random waves: what a test of the maximum mean discrepancy sees, as a sum of squares of
//! differences of means (Rahimi and Recht 2007).

use crate::linalg::dot;
use crate::random::{self, Use};
use rand::RngExt;
use rand_distr::StandardNormal;

/// How many waves there are, each with a cosine and a sine.
pub(super) const WAVES: usize = 64;

/// Waves over rows of normal scores, one score per column. The products of waves average to the Gaussian kernel
/// exp(−‖h − h′‖²/2D): its width is the mean distance of two rows, whatever the columns' correlations, so it does not
/// depend on which row is whose.
pub(super) struct Waves(Vec<Vec<f64>>);

impl Waves {
    pub fn new(columns: usize, seed: u64) -> Waves {
        let scale = (columns as f64).sqrt().recip();
        let wave = |k: usize| {
            // Exchanges count from 1 on, and there are fewer than these.
            let mut rng = random::stream(seed, Use::Exchange, (1 << 40) + k as u64);
            (0..columns).map(|_| scale * rng.sample::<f64, _>(StandardNormal)).collect()
        };
        Waves((0..WAVES).map(wave).collect())
    }

    /// The cosine or the sine of a wave, at a row's scores.
    pub fn at(&self, wave: usize, sine: bool, scores: &[f64]) -> f64 {
        let phase = dot(&self.0[wave], scores);
        if sine { phase.sin() } else { phase.cos() }
    }
}
