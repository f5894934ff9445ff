//! Tables of numbers, in and out.
//!
//! - [`Table`] reads CSV, TSV (also gzipped) and NPY files, and with the features `parquet`, `xlsx`,
//!   `jsonl`, `arrow` and `mat` Parquet, Excel, JSON lines, Arrow and MATLAB v5 files, into row-major
//!   `f64`, by the rules in [`ReadOptions`];
//! - [`TableWriter`] writes CSV, TSV, NPY and, with `parquet`, Parquet, a chunk of rows at a time;
//! - `GreyPicture`, with the feature `tiff`, reads grey TIFF files;
//! - [`write_file`] writes any file whole or not at all.
//!
//! Nothing here prints, or panics on bad bytes.

#[cfg(feature = "arrow")]
mod arrow;
#[cfg(feature = "arrow")]
mod arrow_cells;
#[cfg(feature = "arrow")]
mod arrow_message;
mod aside;
mod atomic;
mod builder;
#[cfg(any(feature = "arrow", feature = "parquet"))]
mod cell;
mod csv;
mod dialect;
mod error;
mod file_error;
mod find;
mod gzip;
mod header;
mod input;
#[cfg(feature = "jsonl")]
mod jsonl;
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
#[cfg(any(feature = "jsonl", feature = "xlsx"))]
mod rows;
mod select;
mod table;
mod text;
mod text_kind;
#[cfg(feature = "tiff")]
mod tiff;
mod unnamed;
mod utf16;
#[cfg(feature = "xlsx")]
mod workbook;
mod write;
#[cfg(feature = "parquet")]
mod write_parquet;
#[cfg(feature = "xlsx")]
mod xlsx;

pub use aside::Aside;
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
pub use text_kind::TextKind;
#[cfg(feature = "tiff")]
pub use tiff::GreyPicture;
pub use write::{TableWriter, check_table};
