//! What is missing where, and what the model expects there.

use upoe::{Filler, Result};

use super::{Input, cells};
use crate::{ShownMissing, ShownMissingColumn, ShownRow};

/// Rows that are filled in at most.
const MOST: usize = 40;
/// The seed with which `upoe impute` fills in several missing cells of a row.
const SEED: u64 = 0;

/// The numbers of the rows to fill in: the first ones with a missing cell and a value.
pub(super) fn rows(input: &Input) -> Vec<usize> {
    let is_partial = |row: &usize| {
        let cells = input.rows.row(*row);
        cells.iter().any(|cell| cell.is_nan()) && !cells.iter().all(|cell| cell.is_nan())
    };
    (0..input.rows.len()).filter(is_partial).take(MOST).collect()
}

/// The missing cells, where there are some; `shown` are the rows on the page.
pub(super) fn missing(
    input: &Input,
    filled: &[usize],
    shown: &[usize],
) -> Result<Option<ShownMissing>> {
    let (mut by_column, mut rows) = (vec![0; input.names.len()], 0);
    for row in 0..input.rows.len() {
        let mut any = false;
        for (count, cell) in by_column.iter_mut().zip(input.rows.row(row).iter()) {
            if cell.is_nan() {
                (*count, any) = (*count + 1, true);
            }
        }
        rows += usize::from(any);
    }
    if rows == 0 {
        return Ok(None);
    }
    let total = input.rows.len() as f64;
    let column = |(name, &cells): (&String, &usize)| {
        (cells > 0).then(|| ShownMissingColumn {
            name: name.clone(),
            cells,
            share: cells as f64 / total,
        })
    };
    let mut columns: Vec<ShownMissingColumn> =
        input.names.iter().zip(&by_column).filter_map(column).collect();
    columns.sort_by_key(|column| std::cmp::Reverse(column.cells));
    let filler = Filler::new(input.fitted.density(), input.fitted.model.whitening(), SEED)?;
    let fill = |&row: &usize| -> Result<ShownRow> {
        let position = shown.partition_point(|&s| s < row);
        Ok(ShownRow { position, cells: cells::missing(input, &filler, row)? })
    };
    Ok(Some(ShownMissing {
        rows,
        cells: by_column.iter().sum(),
        columns,
        filled: filled.iter().map(fill).collect::<Result<_>>()?,
    }))
}
