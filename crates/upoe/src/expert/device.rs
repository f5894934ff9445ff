//! Experts as numbers and source text, for engines on a device such as a GPU.
//!
//! Each family's device form lies next to its CPU form: a file `device.cu`, which computes the
//! slopes and statistics of the family's [`Term`](upoe_kernels::Term) in the same order, from the
//! numbers that `device_numbers` gives.

use super::{Expert, Family};

/// The families that have a device form, with their source text. A device form calls a family by
/// its position in this list.
pub const SOURCES: [(Family, &str); 3] = [
    (Family::StudentT, include_str!("family/student_t/device.cu")),
    (Family::Mixture, include_str!("family/mixture/device.cu")),
    (Family::Tilt, include_str!("family/tilt/device.cu")),
];

/// An expert as a device sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceForm {
    /// The position of its family in [`SOURCES`].
    pub family: usize,
    /// Its parameters, as the family's source text reads them.
    pub numbers: Vec<f64>,
}

impl Expert {
    /// The expert as a device sees it; `None` where it has no device form.
    pub fn device_form(&self) -> Option<DeviceForm> {
        let numbers = match self {
            Expert::StudentT(e) => Some(e.device_numbers()),
            Expert::Mixture(e) => Some(e.device_numbers()),
            Expert::Tilt(e) => e.device_numbers(),
        }?;
        let family = SOURCES.iter().position(|(family, _)| *family == self.family())?;
        Some(DeviceForm { family, numbers })
    }
}
