//! The tail of the oddness of ordinary rows, fitted to the bulk of the training rows and continued
//! beyond them.
//!
//! Ranks alone would call the same share of every training table odd. The tail is fitted to the
//! rows between the median and the 90 % point, on which a few per cent of outliers have little
//! influence, so that outliers lie beyond what it allows.

use super::frame::quantile;

/// The tail is exponential in this power of 1 + S/d: heavier than a Gaussian's, and lighter than a power law.
const POWER: f64 = 1.0 / 3.0;
/// Where the tail's slope is measured: at the first of these shares that lies above the median.
const BODY: [f64; 4] = [0.9, 0.95, 0.99, 1.0];

/// P(oddness > o) = ½ exp(−(e^(κ(o − median)) − 1)/scale) above the median.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Tail {
    pub median: f64,
    /// κ.
    pub rate: f64,
    pub scale: f64,
}

impl Tail {
    /// From the oddness of training rows and how often each counts; `unit` is the deviation of
    /// ln(1 + S/d), in which oddness is measured.
    pub fn of(oddness: &[f64], counts: &[f64], unit: f64) -> Self {
        let (median, rate) = (quantile(oddness, counts, 0.5), POWER * unit);
        let slope = |share: f64| {
            let beyond = (rate * (quantile(oddness, counts, share) - median)).exp_m1();
            // At share 1 the largest of N rows has about the mass ½/N above it.
            let mass = (1.0 - share).max(0.5 / counts.iter().sum::<f64>());
            beyond / (0.5 / mass).ln()
        };
        let scale = BODY.into_iter().map(slope).find(|scale| *scale > 1e-12);
        Tail { median, rate, scale: scale.unwrap_or(1e-12) }
    }

    /// The probability that an ordinary row is at least so odd.
    pub fn p_value(&self, oddness: f64) -> f64 {
        let beyond = (self.rate * (oddness - self.median)).exp_m1();
        (0.5 * (-beyond / self.scale).exp()).min(1.0)
    }

    /// The oddness that an ordinary row exceeds with this probability of at most ½.
    pub fn quantile(&self, p: f64) -> f64 {
        self.median + (-self.scale * (2.0 * p).ln()).ln_1p() / self.rate
    }
}
