//! Tables of numbers, in and out.
//!
//! - [`Table`] reads CSV, TSV (also gzipped) and NPY files, with the feature `parquet` Parquet
//!   and with `mat` MATLAB v5 files, into row-major `f64`, by the rules in [`ReadOptions`];
//! - [`TableWriter`] writes CSV, TSV, NPY and, with `parquet`, Parquet, a chunk of rows at a time;
//! - `GreyPicture`, with the feature `tiff`, reads grey TIFF files;
//! - [`write_file`] writes any file whole or not at all.
//!
//! Nothing here prints, or panics on bad bytes.

mod aside;
mod atomic;
mod builder;
mod csv;
mod dialect;
mod error;
mod file_error;
mod find;
mod gzip;
mod input;
#[cfg(feature = "mat")]
mod mat;
mod matrix;
mod notice;
mod npy;
mod number;
#[cfg(feature = "parquet")]
mod pages;
#[cfg(feature = "parquet")]
mod parquet;
mod records;
mod remedy;
mod select;
mod table;
mod text;
#[cfg(feature = "tiff")]
mod tiff;
mod unnamed;
mod utf16;
mod write;
#[cfg(feature = "parquet")]
mod write_parquet;

pub use aside::{Aside, TextKind};
pub use atomic::{check_writable, write_file};
pub use dialect::Dialect;
pub use error::{Error, Place, Result, Role, WantedColumn};
pub use file_error::FileError;
pub use input::Progress;
pub use notice::TableNotice;
pub use remedy::Remedy;
pub use select::{Header, MAX_COLUMNS, MissingCells, ReadOptions};
pub use table::Table;
pub use text::{TextColumn, is_missing};
#[cfg(feature = "tiff")]
pub use tiff::GreyPicture;
pub use write::{TableWriter, check_table};
