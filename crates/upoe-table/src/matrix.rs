//! Matrices stored as raw numbers, row after row or column after column.

use std::io::Read;

use crate::builder::{Blocks, Builder};
use crate::error::{Error, Place, Result};
use crate::number::Number;
use crate::text::format_number;

/// How a matrix is stored.
pub(crate) struct Layout {
    pub number: Number,
    pub big_endian: bool,
    pub rows: usize,
    pub columns: usize,
}

impl Layout {
    /// See [`Number::digits`], for one of the numbers in `bytes`.
    fn digits(&self, bytes: &[u8], index: usize) -> String {
        let bytes = bytes.get(index * self.number.size()..).unwrap_or_default();
        self.number.digits(self.big_endian, bytes)
    }
}

const CHUNK: usize = 1 << 16;

/// Reads a matrix stored row after row; `tick` hears the rows done from time to time.
pub(crate) fn read_rows(
    reader: &mut impl Read,
    layout: &Layout,
    builder: &mut Builder<'_>,
    blocks: &mut Option<Blocks<'_>>,
    tick: &mut dyn FnMut(u64) -> Result<()>,
) -> Result<()> {
    let row_bytes = layout.columns * layout.number.size();
    let rows_a_chunk = (CHUNK / row_bytes).max(1);
    let mut bytes = vec![0; row_bytes * rows_a_chunk.min(layout.rows)];
    let mut numbers = Vec::new();
    let mut row = 0;
    if blocks.is_none() {
        builder.values.reserve_exact(layout.rows * builder.stored.len());
    }
    while row < layout.rows {
        let chunk = rows_a_chunk.min(layout.rows - row);
        let bytes = &mut bytes[..chunk * row_bytes];
        reader.read_exact(bytes).map_err(|error| Error::read(builder.file, error))?;
        numbers.clear();
        layout.number.decode(layout.big_endian, bytes, &mut numbers);
        let stored = numbers.chunks_exact(layout.columns).zip(bytes.chunks_exact(row_bytes));
        for (cells, bytes) in stored {
            row += 1;
            let place = Place::row(row as u64);
            for at in 0..builder.stored.len() {
                let value = number(builder, builder.stored[at], layout, place, cells, bytes)?;
                builder.values.push(value);
            }
            for at in 0..builder.unstored.len() {
                number(builder, builder.unstored[at], layout, place, cells, bytes)?;
            }
            for (column, &value) in cells.iter().enumerate() {
                carry(builder, column, place, value)?;
            }
        }
        builder.block(row, blocks)?;
        tick(row as u64)?;
    }
    Ok(())
}

/// Judges a cell of a row.
#[inline]
fn number(
    builder: &mut Builder<'_>,
    slot: usize,
    layout: &Layout,
    place: Place,
    cells: &[f64],
    bytes: &[u8],
) -> Result<f64> {
    let column = builder.plan.modelled[slot];
    builder.number(slot, place, cells[column], || layout.digits(bytes, column))
}

/// Reads a matrix stored column after column.
pub(crate) fn read_columns(
    reader: &mut impl Read,
    layout: &Layout,
    builder: &mut Builder<'_>,
    tick: &mut dyn FnMut(u64) -> Result<()>,
) -> Result<()> {
    let stride = builder.plan.modelled.len();
    let mut slots = vec![Vec::new(); layout.columns];
    for (slot, &column) in builder.plan.modelled.iter().enumerate() {
        slots[column].push(slot);
    }
    builder.values = vec![0.0; layout.rows * stride];
    let mut bytes = vec![0; CHUNK.min(layout.rows * layout.number.size())];
    let mut numbers = Vec::new();
    for (column, slots) in slots.iter().enumerate() {
        let mut row = 0;
        while row < layout.rows {
            let chunk = (CHUNK / layout.number.size()).min(layout.rows - row);
            let bytes = &mut bytes[..chunk * layout.number.size()];
            reader.read_exact(bytes).map_err(|error| Error::read(builder.file, error))?;
            numbers.clear();
            layout.number.decode(layout.big_endian, bytes, &mut numbers);
            for (index, &value) in numbers.iter().enumerate() {
                let place = Place::row(row as u64 + 1);
                for &slot in slots {
                    let digits = || layout.digits(bytes, index);
                    let value = builder.number(slot, place, value, digits)?;
                    builder.values[row * stride + slot] = value;
                }
                carry(builder, column, place, value)?;
                row += 1;
            }
        }
        tick((layout.rows as u64 * (column as u64 + 1)) / layout.columns as u64)?;
    }
    Ok(())
}

/// Takes a cell into the columns carried along, where it belongs to one.
#[inline]
fn carry(builder: &mut Builder<'_>, column: usize, place: Place, value: f64) -> Result<()> {
    for index in 0..builder.kept.len() {
        if builder.plan.kept[index] == column {
            builder.kept[index].push(&format_number(value));
        }
    }
    if builder.plan.groups == Some(column) {
        builder.groups.push(&format_number(value));
    }
    if builder.plan.weights == Some(column) {
        builder.weight(place, value, "")?;
    }
    Ok(())
}
