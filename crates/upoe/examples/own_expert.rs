//! Your own density next to the learned ones.
//!
//! `Marginal` says what a one-dimensional density can do. Implement it to ask whether a density you
//! know from your field describes a direction as well as the expert that was learned there.
//! (Families that learning itself tries are part of the crate: see CONTRIBUTING.md.)
//!
//! `cargo run --release -p upoe --example own_expert`

use upoe::expert::{Marginal, Parameter, Shape};
use upoe::{Rows, Settings, fit};

/// The logistic density e⁻ᵘ / (s (1 + e⁻ᵘ)²), u = (z − μ)/s.
struct Logistic {
    location: f64,
    scale: f64,
}

impl Logistic {
    /// The logistic density with the mean and the variance of some numbers.
    fn like(z: &[f64]) -> Self {
        let n = z.len() as f64;
        let mean = z.iter().sum::<f64>() / n;
        let variance = z.iter().map(|z| (z - mean).powi(2)).sum::<f64>() / n;
        Logistic { location: mean, scale: (3.0 * variance).sqrt() / std::f64::consts::PI }
    }

    fn u(&self, z: f64) -> f64 {
        (z - self.location) / self.scale
    }
}

impl Marginal for Logistic {
    fn ln_density(&self, z: f64) -> f64 {
        let u = self.u(z).abs();
        -u - self.scale.ln() - 2.0 * (-u).exp().ln_1p()
    }

    fn energy_slope(&self, z: f64) -> f64 {
        (0.5 * self.u(z)).tanh() / self.scale
    }

    fn cdf(&self, z: f64) -> f64 {
        1.0 / (1.0 + (-self.u(z)).exp())
    }

    fn shape(&self) -> Shape {
        let variance = (std::f64::consts::PI * self.scale).powi(2) / 3.0;
        Shape { mean: self.location, variance, kurtosis: 1.2 }
    }

    fn entropy(&self) -> f64 {
        self.scale.ln() + 2.0
    }

    fn parameters(&self) -> Vec<Parameter> {
        let of = |name, value| Parameter { name, values: vec![value], fixed: false };
        vec![of("location", self.location), of("scale", self.scale)]
    }
}

/// Runs the example.
pub fn main() -> upoe::Result<()> {
    // Logistic numbers along one direction of three, drawn by the density itself.
    let truth = Logistic { location: 0.0, scale: 1.0 };
    let mut rng = upoe::random::stream(1, upoe::random::Use::Data, 0);
    let mut normal = || upoe::expert::Expert::gaussian().sample(&mut rng);
    let noise: Vec<f64> = (0..40_000).map(|_| normal()).collect();
    let mut rng = upoe::random::stream(2, upoe::random::Use::Data, 0);
    let values: Vec<f64> = noise
        .chunks_exact(2)
        .flat_map(|e| {
            let z = truth.sample(&mut rng);
            [z + e[0], z - e[0], e[1] + 0.5 * z]
        })
        .collect();
    let rows = Rows::new(&values, 3)?;
    let fitted = fit(&rows, &Settings::default())?;

    let (z, j) = (fitted.model.transform(&rows)?, fitted.model.experts().len());
    for (k, expert) in fitted.model.experts().iter().enumerate() {
        let z: Vec<f64> = z.iter().skip(k).step_by(j).copied().collect();
        let mean = |f: &dyn Fn(f64) -> f64| z.iter().map(|z| f(*z)).sum::<f64>() / z.len() as f64;
        let own = Logistic::like(&z);
        println!(
            "direction {}: the learned {} has mean ln T = {:.5}, the logistic density {:.5}",
            k + 1,
            expert.family().name(),
            mean(&|z| expert.ln_density(z)),
            mean(&|z| own.ln_density(z)),
        );
        println!("  negentropy {:.4} and {:.4} nats", expert.negentropy(), own.negentropy());
    }
    Ok(())
}
