//! What `device.cu` next to this file needs of a tilt.

use super::Tilt;
use super::frame::Coordinate;

impl Tilt {
    /// The last cell, 1/spacing, the place of z = 0, 1/s of asinh, s/spacing, ln Z, and the cubics.
    /// `None` for tilts of version 0.1, which are read but never learned.
    pub(crate) fn device_numbers(&self) -> Option<Vec<f64>> {
        let frame = self.frame();
        let Coordinate::Asinh(s) = frame.coordinate else { return None };
        let over_h = 1.0 / frame.spacing;
        let last = frame.knots as f64;
        let mut numbers = vec![last, over_h, frame.place(0.0), 1.0 / s, s * over_h, self.ln_z];
        numbers.extend(self.cells.iter().flatten());
        Some(numbers)
    }
}
