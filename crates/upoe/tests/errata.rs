//! Each error of the paper, with a test that fails on the printed equation.

use crate::common::rng;
use upoe::expert::{Expert, Learnable, Marginal, Mixture, StudentT};

fn difference(f: impl Fn(f64) -> f64, at: f64) -> f64 {
    let h = 1e-5;
    (f(at + h) - f(at - h)) / (2.0 * h)
}

/// 1: (27) is printed with the wrong sign.
#[test]
fn the_gradient_in_mu_points_towards_z() {
    let t = StudentT::new(0.3, 1.7, 2.2).unwrap();
    let by_mu = difference(|mu| StudentT::new(mu, 1.7, 2.2).unwrap().ln_density(1.1), 0.3);
    assert!((t.paper_gradient(1.1).mu - by_mu).abs() < 1e-8);
    assert!(by_mu > 0.1, "z lies above mu, so the printed form is negative");
}

/// 2: (25), (26) and (30) are printed for μ = 0.
#[test]
fn gradients_hold_for_any_mu() {
    let (mu, theta, beta, z) = (0.8, 1.3, 1.9, 0.1);
    let t = StudentT::new(mu, theta, beta).unwrap();
    let by_theta = difference(|v| StudentT::new(mu, v, beta).unwrap().ln_density(z), theta);
    let by_beta = difference(|v| StudentT::new(mu, theta, v).unwrap().ln_density(z), beta);
    let gradient = t.paper_gradient(z);
    assert!((gradient.theta - by_theta).abs() < 1e-8);
    assert!((gradient.beta - by_beta).abs() < 1e-8);
    let printed = 1.0 / theta - beta * theta * z * z / (1.0 + 0.5 * (theta * z).powi(2));
    assert!((printed - by_theta).abs() > 0.1);
    // (30): the energy slope E′(z), with z − μ for z.
    let by_z = difference(|z| -t.ln_density(z), z);
    assert!((t.energy_slope(z) - by_z).abs() < 1e-8);
    let printed = beta * theta * theta * z / (1.0 + 0.5 * (theta * z).powi(2));
    assert!((printed - by_z).abs() > 0.1);
}

/// 3: (29) divides by ⟨z²⟩ where it means ⟨z²⟩².
#[test]
fn kurtosis_divides_by_the_squared_variance() {
    let (theta, beta) = (1.3, 6.0);
    let shape = StudentT::new(0.0, theta, beta).unwrap().shape();
    assert!((shape.kurtosis - 3.0 / (beta - 2.5)).abs() < 1e-12);
    let variance = 1.0 / (theta * theta * (beta - 1.5));
    assert!((shape.variance - variance).abs() < 1e-12);
    let fourth = (shape.kurtosis + 3.0) * variance * variance;
    // By quadrature on a fine grid.
    let t = StudentT::new(0.0, theta, beta).unwrap();
    let step = 1e-3;
    let sum: f64 = (-60_000..60_000)
        .map(|k| f64::from(k) * step)
        .map(|z| z.powi(4) * t.ln_density(z).exp() * step)
        .sum();
    assert!((sum - fourth).abs() < 1e-6, "{sum} {fourth}");
    assert!((sum / variance - 3.0 - 3.0 / (beta - 2.5)).abs() > 0.1, "the printed form");
}

/// 4: the α in the denominator of (38) is β: with it, IRLS rises to a stationary point.
#[test]
fn irls_ends_where_the_gradient_is_zero() {
    let mut rng = rng(4);
    let source = StudentT::new(0.4, 1.5, 3.0).unwrap();
    let z: Vec<f64> = (0..4000).map(|_| source.sample(&mut rng)).collect();
    let mut fitted: Expert = {
        let mut t = StudentT::new(0.0, 1.0, 3.0).unwrap();
        t.fix_beta = true;
        t.into()
    };
    let sums = |e: &Expert| {
        use upoe::engine::{Candidate, Engine, Memory};
        let engine = Memory::<f64>::new(z.to_vec(), 1, None).unwrap();
        let c = Candidate::new(vec![1.0], e.clone());
        (engine.sums(&[c]).unwrap().remove(0).statistics, engine.weight())
    };
    let mut last = f64::INFINITY;
    for _ in 0..200 {
        let (s, n) = sums(&fitted);
        let loss = fitted.loss(&s, n);
        assert!(loss <= last + 1e-12, "EM never lowers the likelihood");
        last = loss;
        fitted = fitted.update(&s, n);
    }
    let (s, n) = sums(&fitted);
    assert!(fitted.gradient(&s, n).iter().all(|g| g.abs() < 1e-9));
}

/// 6: appendix B's sampler gives z − μ.
#[test]
fn samples_lie_about_mu() {
    let mut rng = rng(6);
    let t = StudentT::new(2.0, 1.5, 4.0).unwrap();
    let mean = (0..20_000).map(|_| t.sample(&mut rng)).sum::<f64>() / 20_000.0;
    assert!((mean - 2.0).abs() < 0.02, "{mean}");
    let m = Mixture::new(vec![1.0, 1.0], vec![t.clone(), t]).unwrap();
    let mean = (0..20_000).map(|_| m.sample(&mut rng)).sum::<f64>() / 20_000.0;
    assert!((mean - 2.0).abs() < 0.02, "{mean}");
}
