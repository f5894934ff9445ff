//! What the targets share: bounds on memory and time, tables from bytes, extreme numbers, models
//! with changed fields, and everything that can be asked of a model.

mod memory;
mod models;
mod normal;
mod numbers;
mod quiet;
mod time;
mod usage;

pub use memory::within;
pub use models::changed;
pub use normal::check_normalised;
pub use numbers::{Matrix, experts, matrix, number};
pub use quiet::quiet;
pub use time::in_time;
pub use usage::{sealed, try_model, try_page};

use upoe_table::{MissingCells, ReadOptions, Table};

/// Reads a table from bytes whose first says how, in `fixed` bytes of memory and `factor` for
/// each byte of the file.
pub fn read_table(extension: &str, data: &[u8], fixed: usize, factor: usize) {
    let Some((&how, bytes)) = data.split_first() else { return };
    let chosen = |bit: u8, column: &str| (how & bit != 0).then(|| column.to_owned());
    let options = ReadOptions::default().with(|o| {
        o.missing = if how & 1 == 0 { MissingCells::Drop } else { MissingCells::Error };
        o.columns = chosen(2, "1").into_iter().collect();
        o.keep = chosen(4, "2").into_iter().collect();
        o.weights = chosen(8, "3");
        o.groups = chosen(16, "2");
        o.exclude = chosen(32, "1").into_iter().collect();
    });
    let name = format!("t.{extension}");
    let read =
        within(fixed + factor * bytes.len(), || Table::from_bytes(&name, bytes.to_vec(), &options));
    match read {
        Ok(table) => {
            assert_eq!(table.data.len(), table.rows * table.names.len());
            assert!(table.data.iter().all(|value| value.is_finite()));
            assert!(table.weights.is_none_or(|weights| weights.len() == table.rows));
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}
