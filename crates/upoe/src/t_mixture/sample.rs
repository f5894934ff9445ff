//! Rows drawn from a mixture.

use super::TMixture;
use crate::random::Stream;
use rand::RngExt;
use rand_distr::{Distribution, Gamma, StandardNormal};

impl TMixture {
    /// One row drawn from the mixture: a component by its weight, then m + √(ν/g) Lz with z
    /// standard normal and g from χ² with ν degrees of freedom.
    pub fn draw(&self, rng: &mut Stream) -> Vec<f64> {
        let mut left: f64 = rng.random();
        let found = self.weights.iter().position(|weight| {
            left -= weight;
            left < 0.0
        });
        // Rounding may leave a last digit.
        let k = found.unwrap_or(self.count() - 1);
        let (d, a) = (self.dims, self.whitener(k));
        // Ly with y = z solves A x = z, since A = L⁻¹ is lower triangular.
        let mut x: Vec<f64> = Vec::with_capacity(d);
        for i in 0..d {
            let z: f64 = rng.sample(StandardNormal);
            let row = &a[i * d..][..=i];
            let before: f64 = row.iter().zip(&x).map(|(a, x)| a * x).sum();
            x.push((z - before) / row[i]);
        }
        let scale = if self.degrees.is_infinite() {
            1.0
        } else {
            // χ²/ν is Gamma(ν/2) of scale 2/ν; its parameters were checked.
            let half = 0.5 * self.degrees;
            Gamma::new(half, 1.0 / half).map_or(1.0, |g| g.sample(rng)).sqrt().recip()
        };
        x.iter().zip(self.mean(k)).map(|(x, m)| m + scale * x).collect()
    }
}
