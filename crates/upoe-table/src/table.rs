//! A table of numbers in memory, and how it is read.

use std::path::{Path, PathBuf};

#[cfg(feature = "arrow")]
use crate::arrow;
use crate::builder::Blocks;
use crate::error::{Error, Result};
use crate::input::{Format, Input, Progress};
#[cfg(feature = "jsonl")]
use crate::jsonl;
#[cfg(feature = "mat")]
use crate::mat;
use crate::notice::TableNotice;
#[cfg(feature = "parquet")]
use crate::parquet;
use crate::select::{ReadOptions, match_columns};
use crate::text::TextColumn;
#[cfg(feature = "xlsx")]
use crate::xlsx;
use crate::{csv, npy};

/// A table of numbers, with what belongs to its rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// The file it came from.
    pub source: PathBuf,
    /// Names of the modelled columns.
    pub names: Vec<String>,
    /// Whether the file names its columns; otherwise they are called c1, c2, …
    pub named: bool,
    /// Number of rows.
    pub rows: usize,
    /// Row-major rows × columns, all finite; NaN where missing cells are kept
    /// ([`MissingCells::Keep`](crate::MissingCells::Keep)).
    pub data: Vec<f64>,
    /// Columns carried along as text.
    pub kept: Vec<TextColumn>,
    /// Row weights, finite and not negative.
    pub weights: Option<Vec<f64>>,
    /// Groups of rows.
    pub groups: Option<TextColumn>,
    /// Rows of the file left out for missing cells, counted from 1.
    pub dropped: Vec<u64>,
    /// What the user should know.
    pub notices: Vec<TableNotice>,
}

impl Table {
    /// Reads a file by its extension, or else by its content: CSV, TSV, NPY, Parquet, Excel
    /// (`path.xlsx:sheet` chooses a sheet), JSON lines, Arrow IPC or MATLAB v5 (`path.mat:name` chooses
    /// a matrix); `-` is CSV on the standard input.
    pub fn read(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Table> {
        Table::read_with(path, options, &mut |_, _, _| std::ops::ControlFlow::Continue(()))
    }

    /// The same, with a report on progress from time to time.
    pub fn read_with(
        path: impl AsRef<Path>,
        options: &ReadOptions,
        progress: Progress<'_>,
    ) -> Result<Table> {
        let (input, part) = Input::open(path.as_ref())?;
        Table::from_input(input, part.as_deref(), options, progress, None)
    }

    /// Reads a file in blocks of about `rows` rows, in their order and in constant memory: CSV, TSV,
    /// JSON lines, Parquet, Excel, Arrow, and NPY where rows follow one another. Other files come in one block. Columns without
    /// a number in the first block are left out.
    pub fn read_blocks(
        path: impl AsRef<Path>,
        options: &ReadOptions,
        rows: usize,
        progress: Progress<'_>,
        take: &mut dyn FnMut(Table) -> Result<()>,
    ) -> Result<()> {
        let (input, part) = Input::open(path.as_ref())?;
        let blocks = Some(Blocks { rows: rows.max(1), take: &mut *take });
        let last = Table::from_input(input, part.as_deref(), options, progress, blocks)?;
        if last.rows > 0 || !last.notices.is_empty() { take(last) } else { Ok(()) }
    }

    /// Reads a table from memory; `name` is what messages call it, and its extension counts.
    pub fn from_bytes(name: &str, bytes: Vec<u8>, options: &ReadOptions) -> Result<Table> {
        let input = Input::memory(Path::new(name), bytes)?;
        let go_on = &mut |_, _, _| std::ops::ControlFlow::Continue(());
        Table::from_input(input, None, options, go_on, None)
    }

    #[cfg_attr(not(any(feature = "mat", feature = "xlsx")), allow(unused_variables))]
    fn from_input(
        input: Input,
        part: Option<&str>,
        options: &ReadOptions,
        progress: Progress<'_>,
        blocks: Option<Blocks<'_>>,
    ) -> Result<Table> {
        match input.format {
            Format::Text { tabs } => csv::read(input, tabs, options, progress, blocks),
            Format::Npy => npy::read(input, options, progress, blocks),
            #[cfg(feature = "parquet")]
            Format::Parquet => parquet::read(input, options, progress, blocks),
            #[cfg(feature = "xlsx")]
            Format::Xlsx => xlsx::read(input, part, options, progress, blocks),
            #[cfg(feature = "jsonl")]
            Format::JsonLines => jsonl::read(input, options, progress, blocks),
            #[cfg(feature = "arrow")]
            Format::Arrow => arrow::read(input, options, progress, blocks),
            #[cfg(feature = "mat")]
            Format::Mat => mat::read(input, part, options, progress),
            #[cfg(not(feature = "parquet"))]
            Format::Parquet => Err(Error::Unsupported { file: input.file, format: "Parquet" }),
            #[cfg(not(feature = "xlsx"))]
            Format::Xlsx => Err(Error::Unsupported { file: input.file, format: "Excel" }),
            #[cfg(not(feature = "jsonl"))]
            Format::JsonLines => Err(Error::Unsupported { file: input.file, format: "JSON" }),
            #[cfg(not(feature = "arrow"))]
            Format::Arrow => Err(Error::Unsupported { file: input.file, format: "Arrow" }),
            #[cfg(not(feature = "mat"))]
            Format::Mat => Err(Error::Unsupported { file: input.file, format: "MAT" }),
        }
    }

    /// The table with exactly a model's columns in the model's order: by name, or by
    /// position where the file has no names and the number of columns fits.
    ///
    /// To read no more than these columns, set [`ReadOptions::model_columns`] instead.
    pub fn align(mut self, model: &[String]) -> Result<Table> {
        let columns = self.names.len();
        let matched = match_columns(&self.source, &self.names, self.named, columns, model)?;
        let Some(matched) = matched else { return Ok(self) };
        if matched.iter().copied().eq(0..columns) {
            return Ok(self);
        }
        let mut used = vec![false; columns];
        matched.iter().for_each(|&index| used[index] = true);
        let extra = self.names.iter().zip(&used).filter(|(_, used)| !**used);
        let extra: Vec<String> = extra.map(|(name, _)| name.clone()).collect();
        if !extra.is_empty() {
            self.notices.push(TableNotice::ExtraColumns { columns: extra });
        }
        let rows = self.data.chunks_exact(columns);
        self.data = rows.flat_map(|row| matched.iter().map(|&index| row[index])).collect();
        self.names = model.to_vec();
        Ok(self)
    }

    /// Adds the columns of a model that the file does not have, without values.
    pub(crate) fn add_absent(&mut self, absent: &[bool], model: &[String]) {
        let mut cells = self.data.iter();
        let cell = |absent: &bool| match absent {
            true => f64::NAN,
            false => cells.next().copied().unwrap_or(f64::NAN),
        };
        self.data = absent.iter().cycle().take(self.rows * absent.len()).map(cell).collect();
        self.names = model.to_vec();
    }

    /// Notes the columns that count 0, 1, 2… or 1, 2, 3…
    pub(crate) fn note_index_columns(&mut self) {
        let columns = self.names.len();
        if self.rows < 3 {
            return;
        }
        for (index, column) in self.names.iter().enumerate() {
            let cells = self.data.iter().skip(index).step_by(columns);
            let start = self.data[index];
            if (start == 0.0 || start == 1.0)
                && cells.enumerate().all(|(row, &cell)| cell == start + row as f64)
            {
                self.notices.push(TableNotice::IndexColumn { column: column.clone() });
            }
        }
    }

    /// Leaves out the rows that have a missing cell or weight.
    /// They are numbered from `before` on; a table must not lose all its rows, a block of it may.
    pub(crate) fn drop_missing(&mut self, before: u64, whole: bool) -> Result<()> {
        let columns = self.names.len();
        let weight = |row: usize| self.weights.as_ref().map_or(0.0, |weights| weights[row]);
        let cells = self.data.chunks_exact(columns).enumerate();
        let bad: Vec<bool> = cells
            .map(|(row, cells)| weight(row).is_nan() || cells.iter().any(|cell| cell.is_nan()))
            .collect();
        let dropped = bad.iter().filter(|bad| **bad).count();
        if dropped == 0 {
            return Ok(());
        }
        if whole && dropped == self.rows {
            return Err(Error::AllRowsDropped { file: self.source.clone() });
        }
        let mut cell = 0;
        self.data.retain(|_| {
            cell += 1;
            !bad[(cell - 1) / columns]
        });
        if let Some(weights) = &mut self.weights {
            let mut row = 0;
            weights.retain(|_| {
                row += 1;
                !bad[row - 1]
            });
        }
        for column in self.kept.iter_mut().chain(&mut self.groups) {
            *column = column.without(|row| bad[row]);
        }
        self.notices.push(TableNotice::DroppedRows { dropped, rows: self.rows });
        self.rows -= dropped;
        let rows = (before + 1..).zip(&bad).filter(|(_, bad)| **bad);
        self.dropped = rows.map(|(row, _)| row).collect();
        Ok(())
    }
}
