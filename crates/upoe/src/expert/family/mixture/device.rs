//! What `device.cu` next to this file needs of a mixture.

use super::Mixture;

impl Mixture {
    /// How many components; for each μ, 1/s, 1/ν, β, ln π + ln of the peak, 2β/(ν s).
    pub(crate) fn device_numbers(&self) -> Vec<f64> {
        let mut numbers = vec![self.components.len() as f64];
        for (p, c) in self.weights.iter().zip(&self.components) {
            let (inverse, over_nu, beta) =
                (1.0 / c.scale(), 1.0 / c.degrees_of_freedom(), c.beta());
            let (peak, factor) = (p.ln() + c.ln_peak(), 2.0 * beta * over_nu * inverse);
            numbers.extend([c.mu(), inverse, over_nu, beta, peak, factor]);
        }
        numbers
    }
}
