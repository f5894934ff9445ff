//! Model files and checkpoints of upoe.
//!
//! [`Container`] is a file of a JSON header and named `f64` arrays; [`ModelFile`] and
//! [`Checkpoint`] are what is kept in such files.
//!
//! Nothing here prints, or panics on bad bytes.

mod checkpoint;
mod container;
mod error;
mod model_file;

pub use checkpoint::{Checkpoint, fingerprint};
pub use container::{Array, Container, FORMAT_VERSION};
pub use error::{Error, Result};
pub use model_file::{ModelFile, Training};
pub use upoe_table::FileError;
