//! Does an expert's density integrate to one?

use upoe::expert::{Expert, Marginal};

/// Each sixteenth of the distribution, by its quantiles, must hold a sixteenth of the density.
pub fn check_normalised(expert: &Expert) {
    const PARTS: usize = 16;
    let quantiles: Vec<f64> =
        (1..PARTS).map(|k| expert.quantile(k as f64 / PARTS as f64)).collect();
    let density = |z: f64| expert.ln_density(z).exp();
    for pair in quantiles.windows(2) {
        let (a, b) = (pair[0], pair[1]);
        let mass = simpson(&density, a, b, 12);
        let error = (mass * PARTS as f64 - 1.0).abs();
        assert!(error < 1e-3, "mass {mass} between {a} and {b} of {expert:?}");
    }
}

/// The integral of f from a to b, halved where it is not smooth.
fn simpson(f: &dyn Fn(f64) -> f64, a: f64, b: f64, depth: u32) -> f64 {
    let rule = |a: f64, b: f64| (b - a) / 6.0 * (f(a) + 4.0 * f(0.5 * (a + b)) + f(b));
    let middle = 0.5 * (a + b);
    let (whole, halves) = (rule(a, b), rule(a, middle) + rule(middle, b));
    if depth == 0 || (depth < 9 && (whole - halves).abs() < 1e-9) {
        return halves;
    }
    simpson(f, a, middle, depth - 1) + simpson(f, middle, b, depth - 1)
}
