//! The standard normal, and inverting a CDF.

use special::Error as _;
use std::f64::consts::{FRAC_1_SQRT_2, TAU};

/// φ(z).
pub fn density(z: f64) -> f64 {
    (-0.5 * z * z).exp() / TAU.sqrt()
}

/// P(Z > z).
pub fn upper(z: f64) -> f64 {
    0.5 * (z * FRAC_1_SQRT_2).compl_error()
}

/// The z with cdf(z) = p, by Newton steps inside a bracket that always shrinks. Works on
/// z = sinh t, so that tails as long as 1e100 take few steps.
pub fn invert(p: f64, cdf: impl Fn(f64) -> f64, density: impl Fn(f64) -> f64) -> f64 {
    if !(0.0..=1.0).contains(&p) {
        return f64::NAN;
    }
    if p == 0.0 || p == 1.0 {
        return if p == 0.0 { f64::NEG_INFINITY } else { f64::INFINITY };
    }
    let (mut low, mut high) = (-1.0_f64, 1.0_f64);
    while cdf(low.sinh()) > p && low > -700.0 {
        low *= 2.0;
    }
    while cdf(high.sinh()) < p && high < 700.0 {
        high *= 2.0;
    }
    let mut t = 0.5 * (low + high);
    for _ in 0..200 {
        let z = t.sinh();
        let excess = cdf(z) - p;
        if excess > 0.0 {
            high = t;
        } else {
            low = t;
        }
        let slope = density(z) * t.cosh();
        let newton = t - excess / slope;
        let next = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
        if (next - t).abs() <= 2.0 * f64::EPSILON * t.abs().max(1e-3) {
            return next.sinh();
        }
        t = next;
    }
    t.sinh()
}
