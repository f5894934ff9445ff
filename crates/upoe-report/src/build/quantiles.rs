//! Goodness of fit: quantiles of the rows against quantiles of the fitted density.

use upoe::expert::{Expert, Marginal};

use super::histogram::quantile;
use crate::{Histogram, Quantiles};

/// Points of the plot at most.
const POINTS: usize = 150;
/// The 97.5 % point of the standard normal.
const Z: f64 = 1.959_963_984_540_054;

/// Quantiles of sorted projections and of the expert, with a 95 % band. All are kept within
/// the histogram's range, or heavy tails would squeeze the rest.
pub(super) fn quantiles(expert: &Expert, sorted: &[f64], histogram: &Histogram) -> Quantiles {
    let (from, to) =
        (histogram.from, histogram.from + histogram.width * histogram.counts.len() as f64);
    let points = sorted.len().min(POINTS);
    let probability = |i: usize| (i as f64 + 0.5) / points as f64;
    let model = |p: f64| expert.quantile(p).clamp(from, to);
    let band = |side: f64| {
        (0..points).map(|i| model(wilson(probability(i), sorted.len(), side))).collect()
    };
    Quantiles {
        model: (0..points).map(|i| model(probability(i))).collect(),
        data: (0..points).map(|i| quantile(sorted, probability(i)).clamp(from, to)).collect(),
        low: band(-1.0),
        high: band(1.0),
    }
}

/// The end of Wilson's interval for the share of n rows below the p-quantile: which stays
/// within 0 and 1, where p ± its deviation does not.
fn wilson(p: f64, n: usize, side: f64) -> f64 {
    let n = n as f64;
    let reach = Z * (p * (1.0 - p) / n + (0.5 * Z / n).powi(2)).sqrt();
    (p + 0.5 * Z * Z / n + side * reach) / (1.0 + Z * Z / n)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::histogram::{histogram, sorted};

    #[test]
    fn the_experts_own_quantiles_lie_on_the_diagonal_and_in_the_band() {
        let expert = Expert::gaussian();
        let z: Vec<f64> = (0..4000).map(|i| expert.quantile((i as f64 + 0.5) / 4000.0)).collect();
        let z = sorted(&z);
        let found = quantiles(&expert, &z, &histogram(&z));
        for i in 0..found.model.0.len() {
            assert!((found.model.0[i] - found.data.0[i]).abs() < 0.01, "{i}");
            assert!(found.low.0[i] <= found.data.0[i] && found.data.0[i] <= found.high.0[i]);
        }
    }
}
