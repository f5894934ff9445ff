//! Tables and model files of upoe.
//!
//! - [`Table`] reads CSV, TSV (also gzipped), NPY, Parquet and MATLAB v5 files into
//!   row-major `f64`, by the rules in [`ReadOptions`];
//! - [`TableWriter`] writes CSV, TSV, NPY and Parquet, a chunk of rows at a time;
//! - [`GreyPicture`] reads grey TIFF files;
//! - [`Container`] is a file of a JSON header and named `f64` arrays; [`ModelFile`] and
//!   [`Checkpoint`] are what is kept in such files.
//!
//! Nothing here prints, or panics on bad bytes.

mod atomic;
mod builder;
mod checkpoint;
mod container;
mod csv;
mod error;
mod input;
mod mat;
mod matrix;
mod model_file;
mod npy;
mod number;
mod pages;
mod parquet;
mod records;
mod select;
mod table;
mod text;
mod tiff;
mod write;
mod write_parquet;

pub use atomic::{check_writable, write_file};
pub use checkpoint::{Checkpoint, fingerprint};
pub use container::{Array, Container, FORMAT_VERSION};
pub use error::{Error, Place, Result, Role, WantedColumn};
pub use input::Progress;
pub use model_file::{Likelihood, ModelFile, Training};
pub use select::{Header, MissingCells, ReadOptions};
pub use table::{Notice, Table};
pub use text::{TextColumn, is_missing};
pub use tiff::GreyPicture;
pub use write::{TableWriter, check_table};
