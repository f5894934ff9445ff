//! Which device does the work.

use upoe_cuda::{Device, DeviceChoice};

use crate::failure::Failure;
use crate::progress::Progress;

/// The GPU for a table of this many rows and columns, or `None` for the CPU. A GPU that was asked for
/// and cannot be used is an error; `auto` then takes the CPU and says why.
pub fn open(
    choice: DeviceChoice,
    rows: usize,
    columns: usize,
    progress: &Progress,
) -> Result<Option<Device>, Failure> {
    let (device, reason) = choice.open(rows, columns).map_err(|reason| {
        Failure::Message(format!("--device {choice}: {reason} (`--device cpu`)"))
    })?;
    if let Some(reason) = reason {
        progress.note(&format!("the CPU does the work: {reason}"));
    }
    if let Some(device) = &device {
        progress.say(&format!("on {}", device.name()));
    }
    Ok(device)
}

/// Says where the CPU had to help.
pub fn note_help(device: &Device, progress: &Progress) {
    if device.was_helped() {
        progress.note(
            "the CPU applied experts that have no form for GPUs, those of models of version 0.1; fit \
             the model again to avoid it",
        );
    }
}
