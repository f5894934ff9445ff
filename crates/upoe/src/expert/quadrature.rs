//! Integrals: Gauss–Legendre on an interval, double-exponential on the line.

use std::f64::consts::{FRAC_PI_2, PI};
use std::sync::OnceLock;

/// How many nodes an interval gets.
pub const NODES: usize = 24;

/// Nodes and weights of Gauss–Legendre quadrature on [0, 1].
pub fn legendre() -> &'static [(f64, f64); NODES] {
    static RULE: OnceLock<[(f64, f64); NODES]> = OnceLock::new();
    RULE.get_or_init(|| {
        let n = NODES as f64;
        std::array::from_fn(|i| {
            let mut x = (PI * (i as f64 + 0.75) / (n + 0.5)).cos();
            let mut slope = 0.0;
            for _ in 0..100 {
                let (mut p, mut last) = (1.0, 0.0);
                for k in 0..NODES {
                    let k = k as f64;
                    (p, last) = (((2.0 * k + 1.0) * x * p - k * last) / (k + 1.0), p);
                }
                slope = n * (x * p - last) / (x * x - 1.0);
                let step = p / slope;
                x -= step;
                if step.abs() < 1e-16 {
                    break;
                }
            }
            (0.5 * (1.0 - x), 1.0 / ((1.0 - x * x) * slope * slope))
        })
    })
}

/// ∫ f over the line, for f smooth on the given scale around the given centre and falling at
/// least as a power: z = centre + scale · sinh(½π sinh t), halving the step until two answers
/// agree to 1e-11 or the next one takes more nodes than allowed.
///
/// `sum` adds up f(zᵢ) wᵢ for nodes z and their weights w.
pub fn line(
    centre: f64,
    scale: f64,
    most_nodes: usize,
    sum: impl Fn(&[f64], &[f64]) -> f64,
) -> f64 {
    let node = |t: f64| {
        let inner = FRAC_PI_2 * t.sinh();
        (centre + scale * inner.sinh(), scale * inner.cosh() * FRAC_PI_2 * t.cosh())
    };
    const REACH: f64 = 6.0;
    let total = |k: &mut dyn Iterator<Item = i32>, step: f64| {
        let (z, weights): (Vec<f64>, Vec<f64>) = k.map(|k| node(f64::from(k) * step)).unzip();
        sum(&z, &weights)
    };
    let (mut step, mut nodes) = (0.25, 48);
    let mut sum = total(&mut (-24..=24), step);
    let mut last = sum * step;
    while 2 * nodes <= most_nodes.min(25_000) {
        (step, nodes) = (0.5 * step, 2 * nodes);
        let odd = (REACH / step) as i32;
        sum += total(&mut (-odd..=odd).filter(|k| k % 2 != 0), step);
        let now = sum * step;
        if (now - last).abs() < 1e-11 * now.abs().max(1e-3) {
            return now;
        }
        last = now;
    }
    last
}
