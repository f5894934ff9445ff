//! Which device a user asks for.

use crate::device::Device;
use crate::load::failed;
use crate::unavailable::Unavailable;
use std::fmt;
use std::str::FromStr;

/// Which device a user asks for: `cpu`, `auto`, `cuda` or `cuda:N`.
///
/// ```
/// use upoe_cuda::DeviceChoice;
/// assert_eq!("cuda:1".parse(), Ok(DeviceChoice::Cuda(1)));
/// assert!("gpu".parse::<DeviceChoice>().is_err());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DeviceChoice {
    /// The CPU.
    #[default]
    Cpu,
    /// The first GPU where there is one and the table is large enough for it, otherwise the CPU.
    Auto,
    /// The GPU of this number, from 0.
    Cuda(usize),
}

/// Cells (rows × columns) from which a GPU is faster than 16 cores, the time to start it included.
const LARGE: usize = 40_000_000;

impl DeviceChoice {
    /// The device for a table of this many rows and columns; `None` is the CPU. A GPU that was asked
    /// for and cannot be used is an error; with `auto` the CPU does the work, and the second value
    /// says why where the table is large: no GPU, or too little memory on it.
    pub fn open(
        self,
        rows: usize,
        columns: usize,
    ) -> Result<(Option<Device>, Option<Unavailable>), Unavailable> {
        match self {
            DeviceChoice::Cpu => Ok((None, None)),
            DeviceChoice::Cuda(number) => Device::open(number).map(|device| (Some(device), None)),
            DeviceChoice::Auto if rows.saturating_mul(columns) < LARGE => Ok((None, None)),
            DeviceChoice::Auto => {
                Ok(match Device::open(0).and_then(|d| with_room(d, rows, columns)) {
                    Ok(device) => (Some(device), None),
                    Err(reason) => (None, Some(reason)),
                })
            }
        }
    }
}

/// The device, if the rows fit into what is free of its memory.
fn with_room(device: Device, rows: usize, columns: usize) -> Result<Device, Unavailable> {
    let (free, all) = device.memory().map_err(|error| failed("asking for free memory", error))?;
    let needed = needed(rows, columns);
    if needed > free {
        return Err(Unavailable::TooLittleMemory { needed, free, all });
    }
    Ok(device)
}

/// Bytes of device memory for a table's rows in double precision, padding and scratch included.
fn needed(rows: usize, columns: usize) -> usize {
    let bytes = rows.saturating_mul(columns).saturating_mul(8);
    bytes.saturating_add(bytes / 10)
}

impl fmt::Display for DeviceChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DeviceChoice::Cpu => f.write_str("cpu"),
            DeviceChoice::Auto => f.write_str("auto"),
            DeviceChoice::Cuda(number) => write!(f, "cuda:{number}"),
        }
    }
}

impl FromStr for DeviceChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "cpu" => Ok(DeviceChoice::Cpu),
            "auto" => Ok(DeviceChoice::Auto),
            "cuda" => Ok(DeviceChoice::Cuda(0)),
            _ => {
                let number = text.strip_prefix("cuda:").and_then(|number| number.parse().ok());
                number.map(DeviceChoice::Cuda).ok_or_else(|| {
                    format!("device = {text}: must be cpu, auto, cuda, or cuda:N with a number N")
                })
            }
        }
    }
}
