//! What `device.cu` next to this file needs of a Student-t.

use super::StudentT;

impl StudentT {
    /// μ, 1/s, 1/ν, (ν + 1)/(ν s), β, ln of the peak.
    pub(crate) fn device_numbers(&self) -> Vec<f64> {
        let (nu, scale) = (self.degrees_of_freedom, self.scale);
        let factor = (nu + 1.0) / nu / scale;
        vec![self.location, 1.0 / scale, 1.0 / nu, factor, self.beta(), self.ln_peak()]
    }
}
