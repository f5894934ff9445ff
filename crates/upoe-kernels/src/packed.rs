//! Rows in the layout that the pass needs.

use crate::block::block_rows;
use crate::project::{narrow, transpose};
use crate::{Real, aligned::Aligned, part_rows};
use rayon::prelude::*;

/// Rows to pass over many times. Wide rows lie one after the other; narrow ones in blocks,
/// each column by column, so that vectors run along the rows and none is cut short.
#[derive(Debug)]
pub struct Packed<T> {
    values: Aligned<T>,
    rows: usize,
    cols: usize,
    /// Rows in a part.
    part: usize,
}

impl<T: Real> Packed<T> {
    /// Packs rows of `cols` columns that lie one after the other; in place if they are aligned.
    ///
    /// # Panics
    /// If they are not whole rows.
    pub fn new(values: impl Into<Aligned<T>>, cols: usize) -> Self {
        let mut values = values.into();
        assert_eq!(values.len() % cols.max(1), 0, "rows × cols");
        let rows = values.len() / cols.max(1);
        if narrow::<T>(cols) && cols > 1 {
            let size = block_rows::<T>(cols);
            values.par_chunks_mut(size * cols).for_each_init(Vec::new, |copy, block| {
                copy.clear();
                copy.extend_from_slice(block);
                let m = block.len() / cols;
                transpose(copy, cols, cols, m, block, m);
            });
        }
        Self { values, rows, cols, part: part_rows(cols) }
    }

    /// Rows that are packed already: [`Packed::values`] of some, or of whole blocks of them.
    ///
    /// # Panics
    /// If they are not whole rows.
    pub fn from_packed(values: impl Into<Aligned<T>>, cols: usize) -> Self {
        let values = values.into();
        assert_eq!(values.len() % cols.max(1), 0, "rows × cols");
        let rows = values.len() / cols.max(1);
        Self { values, rows, cols, part: part_rows(cols) }
    }

    /// The same, summed in parts of another size: that of a table with more columns, `cols` in all.
    pub fn in_parts_of(self, cols: usize) -> Self {
        Self { part: part_rows(cols), ..self }
    }

    /// Rows in a part.
    pub(crate) fn part(&self) -> usize {
        self.part
    }

    /// The values as they are packed.
    pub fn values(&self) -> &Aligned<T> {
        &self.values
    }

    /// Takes the packed values out, so that their memory can be used again.
    pub fn into_values(self) -> Aligned<T> {
        self.values
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// How many columns a row has.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// The packed values from a row on, which must be the first of a block.
    pub(crate) fn from(&self, row: usize) -> &[T] {
        &self.values[row * self.cols..]
    }

    /// One row.
    pub fn row(&self, i: usize) -> impl Iterator<Item = T> {
        assert!(i < self.rows, "row {i} of {}", self.rows);
        let (size, cols) = (block_rows::<T>(self.cols), self.cols);
        let (first, step) = if narrow::<T>(cols) {
            let start = i / size * size;
            (start * cols + i - start, size.min(self.rows - start))
        } else {
            (i * cols, 1)
        };
        (0..cols).map(move |d| self.values[first + d * step])
    }

    /// All rows, one after the other.
    pub fn unpack(&self) -> Vec<T> {
        (0..self.rows).flat_map(|i| self.row(i)).collect()
    }
}
