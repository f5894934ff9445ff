//! The length of a standard normal vector of d entries: the chi distribution.

use crate::expert::normal;
use std::f64::consts::LN_2;

/// The chi distribution of d dimensions.
#[derive(Clone, Copy, Debug)]
pub struct Chi {
    d: f64,
    /// (d/2 − 1) ln 2 + ln Γ(d/2).
    constant: f64,
}

impl Chi {
    pub fn new(d: usize) -> Self {
        let d = d as f64;
        let ln_gamma = special::Gamma::ln_gamma(0.5 * d).0;
        Chi { d, constant: (0.5 * d - 1.0) * LN_2 + ln_gamma }
    }

    /// ln of the density of ln r at v = ln r.
    pub fn ln_density(&self, v: f64) -> f64 {
        self.d * v - 0.5 * (2.0 * v).exp() - self.constant
    }

    /// P(R ≤ r) and P(R > r), each with its own digits.
    fn masses(&self, ln_r: f64) -> [f64; 2] {
        let (a, x) = (0.5 * self.d, 0.5 * (2.0 * ln_r).exp());
        // xᵃ e^−x / Γ(a).
        let front = (a * x.ln() - x - (self.constant - (a - 1.0) * LN_2)).exp();
        if x < a + 1.0 {
            let (mut term, mut sum, mut k) = (1.0 / a, 1.0 / a, a);
            while term > 1e-17 * sum {
                k += 1.0;
                term *= x / k;
                sum += term;
            }
            let lower = (front * sum).clamp(0.0, 1.0);
            return [lower, 1.0 - lower];
        }
        // Lentz's continued fraction.
        let tiny = 1e-300;
        let mut b = x + 1.0 - a;
        let (mut c, mut d) = (1.0 / tiny, 1.0 / b);
        let mut h = d;
        for i in 1..10_000 {
            let i = f64::from(i);
            let an = -i * (i - a);
            b += 2.0;
            d = 1.0 / nonzero(an * d + b);
            c = nonzero(b + an / c);
            let change = d * c;
            h *= change;
            if (change - 1.0).abs() < 1e-16 {
                break;
            }
        }
        let upper = (front * h).clamp(0.0, 1.0);
        [1.0 - upper, upper]
    }

    /// The standard normal value with as much mass below it as the chi distribution has below r.
    pub fn normal_value(&self, ln_r: f64) -> f64 {
        let [lower, upper] = self.masses(ln_r);
        let g = if lower < upper { normal::quantile(lower) } else { -normal::quantile(upper) };
        g.clamp(-37.0, 37.0)
    }

    /// ln r of the length with as much mass below it as the standard normal has below y.
    pub fn ln_length(&self, y: f64) -> f64 {
        // Wilson and Hilferty's cube root, then Newton steps on the normal scale.
        let s = 2.0 / (9.0 * self.d);
        let mut v = 0.5 * (self.d * (1.0 - s + y * s.sqrt()).max(1e-3).powi(3)).ln();
        for _ in 0..60 {
            let at = self.normal_value(v);
            let rate = (self.ln_density(v) + 0.5 * at * at + crate::linalg::HALF_LN_TAU).exp();
            let step = ((at - y) / rate.max(1e-12)).clamp(-2.0, 2.0);
            v -= step;
            if step.abs() < 1e-14 * v.abs().max(1.0) {
                break;
            }
        }
        v
    }
}

fn nonzero(x: f64) -> f64 {
    if x.abs() < 1e-300 { 1e-300 } else { x }
}
