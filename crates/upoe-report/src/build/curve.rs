//! The fitted density and the Gaussian it replaces, on a grid.

use upoe::expert::{Expert, Marginal};

use crate::{Curve, Histogram};

/// Points of the grid.
const POINTS: usize = 301;

/// Densities over the histogram's range and a little beyond it. `norm` is the direction's: the
/// Gaussian's projection has that deviation.
pub(super) fn curve(expert: &Expert, norm: f64, histogram: &Histogram) -> Curve {
    let span = histogram.width * histogram.counts.len() as f64;
    let (from, to) = (histogram.from - 0.04 * span, histogram.from + 1.04 * span);
    let at = |i: usize| from + (to - from) * i as f64 / (POINTS - 1) as f64;
    let grid: Vec<f64> = (0..POINTS).map(at).collect();
    let gaussian =
        |z: &f64| (-0.5 * (z / norm).powi(2)).exp() / (norm * std::f64::consts::TAU.sqrt());
    let components = match expert {
        Expert::Mixture(mixture) => (mixture.weights().iter().zip(mixture.components()))
            .map(|(share, part)| grid.iter().map(|z| share * part.ln_density(*z).exp()).collect())
            .collect(),
        Expert::StudentT(_) | Expert::Tilt(_) => vec![],
    };
    Curve {
        from,
        to,
        fitted: grid.iter().map(|z| expert.ln_density(*z).exp()).collect(),
        gaussian: grid.iter().map(gaussian).collect(),
        components,
    }
}
