//! Model files, checkpoints and scratch files of upoe.
//!
//! [`Container`] is a file of a JSON header and named `f64` arrays; [`ModelFile`],
//! [`DetectorFile`] and [`Checkpoint`] are what is kept in such files.
//!
//! [`Scratch`] keeps the rows of a fit that are larger than memory.
//!
//! Nothing here prints, or panics on bad bytes.

mod checkpoint;
mod container;
mod detector_file;
mod error;
mod layers;
mod model_file;
mod scratch;
mod whitening;

pub use checkpoint::{Checkpoint, fingerprint};
pub use container::{Array, Container, FORMAT_VERSION};
pub use detector_file::{DetectorFile, Verdict};
pub use error::{Error, Result};
pub use model_file::{ModelFile, Training};
pub use scratch::{Heard, Scratch};
pub use upoe_table::FileError;
