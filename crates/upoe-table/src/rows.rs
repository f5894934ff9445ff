//! Takes rows of cells, some of which may not be there, into a table: workbooks and JSON lines.

use std::borrow::Cow;
use std::path::Path;

use crate::builder::{Blocks, Builder};
use crate::dialect::{Content, Writing};
use crate::error::{Error, Place, Result, Role, excerpt};
use crate::select::{Plan, ReadOptions};
use crate::table::Table;
use crate::text::format_number;

/// One cell.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) enum Value<'a> {
    #[default]
    Missing,
    Number(f64),
    /// A cell as it is written, which may be a number all the same.
    Text(Cow<'a, str>),
}

impl Value<'_> {
    /// The number that it is or is written as.
    pub fn number(&self, writing: &Writing) -> Option<f64> {
        match self {
            Value::Number(value) => Some(*value),
            Value::Text(text) => match writing.classify(text.as_bytes()) {
                Content::Number(value) => Some(value),
                _ => None,
            },
            Value::Missing => None,
        }
    }

    pub fn text(&self) -> Cow<'_, str> {
        match self {
            Value::Missing => "".into(),
            Value::Number(value) => format_number(*value).into(),
            Value::Text(text) => text.as_ref().into(),
        }
    }
}

/// Takes rows into a builder.
pub(crate) struct Rows<'a> {
    builder: Builder<'a>,
    writing: Writing,
    /// Rows so far.
    pub count: usize,
    /// Cells so far that were there.
    present: usize,
}

impl<'a> Rows<'a> {
    pub fn new(file: &'a Path, plan: Plan, options: &ReadOptions) -> Self {
        let writing = writing(options);
        Rows { builder: Builder::new(file, plan, options), writing, count: 0, present: 0 }
    }

    /// Takes the cells of all columns, in their order.
    pub fn take(
        &mut self,
        line: u64,
        row: &[Value<'_>],
        blocks: &mut Option<Blocks<'_>>,
    ) -> Result<()> {
        self.count += 1;
        self.present += row.iter().filter(|cell| **cell != Value::Missing).count();
        self.check_size(row.len())?;
        let place = Place { row: self.count as u64, line: Some(line) };
        for at in 0..self.builder.stored.len() {
            let slot = self.builder.stored[at];
            let value = self.judge(slot, place, row)?;
            self.builder.values.push(value);
        }
        for at in 0..self.builder.unstored.len() {
            self.judge(self.builder.unstored[at], place, row)?;
        }
        for index in 0..self.builder.kept.len() {
            let column = self.builder.plan.kept[index];
            self.builder.kept[index].push(&row[column].text());
        }
        if let Some(column) = self.builder.plan.groups {
            self.builder.groups.push(&row[column].text());
        }
        if let Some(column) = self.builder.plan.weights {
            self.weigh(place, column, &row[column])?;
        }
        if self.count == 1 {
            self.builder.unstore_text();
        }
        let first = self.builder.handed == 0;
        self.builder.block(self.count, blocks)?;
        if first && self.builder.handed > 0 {
            self.builder.unstore_text();
        }
        Ok(())
    }

    /// A small file must not become a large table of nothing.
    fn check_size(&self, columns: usize) -> Result<()> {
        const CELLS: usize = 1 << 22;
        const CELLS_FOR_ONE: usize = 256;
        let rows = self.count - self.builder.handed;
        if rows.saturating_mul(columns) > CELLS + CELLS_FOR_ONE * self.present {
            return Err(Error::MostlyEmpty { file: self.builder.file.to_owned(), columns });
        }
        Ok(())
    }

    fn judge(&mut self, slot: usize, place: Place, row: &[Value<'_>]) -> Result<f64> {
        let builder = &mut self.builder;
        match &row[builder.plan.modelled[slot]] {
            Value::Missing => builder.missing(slot, place),
            Value::Number(value) => builder.number(slot, place, *value, String::new),
            Value::Text(text) => match self.writing.classify(text.as_bytes()) {
                Content::Missing => builder.missing(slot, place),
                Content::Number(value) => {
                    builder.number(slot, place, value, || text.trim().to_owned())
                }
                Content::Text => builder.text(slot, place, text),
            },
        }
    }

    fn weigh(&mut self, place: Place, column: usize, cell: &Value<'_>) -> Result<()> {
        match (cell.number(&self.writing), cell) {
            (Some(weight), _) => self.builder.weight(place, weight, &cell.text()),
            (None, Value::Text(text))
                if matches!(self.writing.classify(text.as_bytes()), Content::Text) =>
            {
                let (file, text) = (self.builder.file.to_owned(), excerpt(text));
                let (column, role) = (self.builder.plan.names[column].clone(), Role::Weights);
                Err(Error::TextColumn { file, column, place, text, role })
            }
            _ => self.builder.weight(place, f64::NAN, ""),
        }
    }

    /// The table, or its last block.
    pub fn finish(self) -> Result<Table> {
        if self.count == 0 {
            return Err(Error::HeaderOnly { file: self.builder.file.to_owned() });
        }
        self.builder.finish(self.count)
    }

    /// What the user should know of the columns.
    pub fn notices(&mut self) -> &mut Vec<crate::notice::TableNotice> {
        &mut self.builder.plan.notices
    }
}

/// How text in cells writes numbers.
pub(crate) fn writing(options: &ReadOptions) -> Writing {
    Writing::new(options.dialect.decimal.unwrap_or(b'.'), &options.missing_words)
}
