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

/// The z with P(Z ≤ z) = p, by Newton steps inside a bracket that always shrinks.
///
/// `mass(z, upper)` is P(Z > z) where `upper`, otherwise P(Z ≤ z). The steps solve for the
/// logarithm of the smaller one, in z = sinh t: tails are close to straight there, so that a
/// probability of 1e-300, or a tail as long as 1e100, takes few steps.
pub fn invert(p: f64, mass: impl Fn(f64, bool) -> f64, density: impl Fn(f64) -> f64) -> f64 {
    if !(0.0..=1.0).contains(&p) {
        return f64::NAN;
    }
    if p == 0.0 || p == 1.0 {
        return if p == 0.0 { f64::NEG_INFINITY } else { f64::INFINITY };
    }
    let upper = p > 0.5;
    let (target, sign) = if upper { (1.0 - p, -1.0) } else { (p, 1.0) };
    // Above 0 where P(Z ≤ z) > p.
    let excess = |mass: f64| sign * (mass / target).ln();
    let (mut low, mut high) = (-1.0_f64, 1.0_f64);
    while excess(mass(low.sinh(), upper)) > 0.0 && low > -700.0 {
        low *= 2.0;
    }
    while excess(mass(high.sinh(), upper)) < 0.0 && high < 700.0 {
        high *= 2.0;
    }
    let mut t = 0.5 * (low + high);
    for _ in 0..200 {
        let z = t.sinh();
        let mass = mass(z, upper);
        let above = excess(mass);
        if above > 0.0 {
            high = t;
        } else {
            low = t;
        }
        let newton = t - above * mass / (density(z) * t.cosh());
        let next = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
        if (next - t).abs() <= 2.0 * f64::EPSILON * t.abs().max(1e-3) {
            return next.sinh();
        }
        t = next;
    }
    t.sinh()
}

/// The z with P(Z ≤ z) = p, for p up to one half and down to 1e-300.
pub fn quantile(p: f64) -> f64 {
    if !(p > 0.0) {
        return f64::NEG_INFINITY;
    }
    // Start at a tail's leading terms or at a straight line, then Newton steps on ln P.
    let mut z = if p < 0.02 {
        let u = (-2.0 * p.ln()).sqrt();
        -(u - (u.ln() + 0.919) / u)
    } else {
        (p - 0.5) * TAU.sqrt()
    };
    for _ in 0..50 {
        let mass = upper(-z);
        // Of ln P, with its curvature: Halley's method.
        let (off, rate) = ((mass / p).ln(), density(z) / mass);
        let newton = off / rate;
        let step = newton / (1.0 + 0.5 * newton * (z + rate)).max(0.5);
        z -= step;
        if step.abs() <= 1e-15 * z.abs().max(1e-3) {
            break;
        }
    }
    z
}
