//! Reads separated text.

use std::path::Path;

use crate::builder::{Blocks, Builder, LARGEST_WHOLE};
use crate::dialect::{self, Content, Writing};
use crate::error::{Error, Place, Result, Role, excerpt};
use crate::header;
use crate::input::{Input, Progress, Source, report};
use crate::notice::TableNotice;
use crate::records::Records;
use crate::select::{Header, MAX_COLUMNS, Plan, ReadOptions};
use crate::table::Table;

/// Reads a table, a record at a time.
pub(crate) fn read(
    input: Input,
    tabs: bool,
    options: &ReadOptions,
    mut progress: Progress<'_>,
    mut blocks: Option<Blocks<'_>>,
) -> Result<Table> {
    let file = input.file.clone();
    let io = |error| Error::read(&file, error);
    let source = input.into_reader().into_utf8().map_err(io)?;
    let mut records = Records::new(source, b',').map_err(io)?;
    records.skip(options.dialect.skip, options.dialect.comment).map_err(io)?;
    let (text, newline) = records.first_lines();
    let given = &options.dialect;
    let separator = given.separator.unwrap_or_else(|| dialect::separator(text, newline, tabs));
    let decimal = given.decimal.unwrap_or_else(|| dialect::decimal(text, newline, separator));
    let writing = Writing::new(decimal, &options.missing_words);
    records.delimiter = separator;
    if !records.advance().map_err(io)? {
        return Err(Error::Empty { file });
    }

    if records.unclosed {
        let place = Place { row: 0, line: Some(records.line) };
        return Err(Error::UnclosedQuote { file, place });
    }
    let columns = records.len();
    if columns > MAX_COLUMNS {
        return Err(Error::TooManyColumns { file });
    }
    let first = numbers(&records, &writing);
    let has_header = match options.header {
        Header::Auto => first.is_empty() || names_all(&records, options.model_columns.as_deref()),
        Header::Yes => true,
        Header::No => false,
    };
    let mut plan = if has_header {
        Plan::named(&file, names(&file, &records)?, options)?
    } else {
        Plan::unnamed(&file, columns, options)?
    };
    if !has_header && options.header == Header::Auto {
        plan.notices.extend(header::numeric(&first));
    }
    if decimal == b',' && given.decimal.is_none() {
        plan.notices.push(TableNotice::DecimalComma);
    }
    if has_header && !records.advance().map_err(io)? {
        return Err(Error::HeaderOnly { file });
    }

    let mut intake = Intake::new(Builder::new(&file, plan, options), columns, writing);
    let mut reported = 0;
    loop {
        if records.ended {
            records.reader.check_end(&file)?; // before its last record is blamed
        }
        intake.take(&records)?;
        if intake.count == 1 {
            intake.forget_text();
        } else if intake.count == 4096 && blocks.is_none() {
            intake.reserve(&records);
        }
        let first = intake.builder.handed == 0;
        intake.builder.block(intake.count as usize, &mut blocks)?;
        if first && intake.builder.handed > 0 {
            intake.forget_text();
        }
        let done = records.reader.done();
        if done != reported {
            report(&mut progress, done, records.reader.length, intake.count)?;
            reported = done;
        }
        if !records.advance().map_err(io)? {
            break;
        }
    }
    report(&mut progress, records.reader.done(), records.reader.length, intake.count)?;
    intake.builder.finish(intake.count as usize)
}

/// The numbers in a record.
fn numbers(records: &Records<Source>, writing: &Writing) -> Vec<f64> {
    let number = |index| match writing.classify(records.get(index)) {
        Content::Number(value) => Some(value),
        _ => None,
    };
    (0..records.len()).filter_map(number).collect()
}

/// Whether a record holds the names of all columns of a model.
fn names_all(records: &Records<Source>, model: Option<&[String]>) -> bool {
    let holds = |name: &String| {
        (0..records.len()).any(|index| records.get(index).trim_ascii() == name.as_bytes())
    };
    model.is_some_and(|model| model.iter().all(holds))
}

/// Column names; one without a name is called by its position.
fn names(file: &Path, records: &Records<Source>) -> Result<Vec<String>> {
    let name = |index| match std::str::from_utf8(records.get(index)) {
        Ok(name) if name.trim().is_empty() => Ok(format!("c{}", index + 1)),
        Ok(name) => Ok(name.trim().to_owned()),
        Err(_) => {
            let place = Place { row: 0, line: Some(records.line) };
            Err(Error::NotUtf8 { file: file.to_owned(), place, column: index + 1 })
        }
    };
    (0..records.len()).map(name).collect()
}

/// Takes records into a builder.
struct Intake<'a> {
    builder: Builder<'a>,
    columns: usize,
    count: u64,
    /// Slot and column of what is stored, and of what is only checked.
    stored: Vec<(usize, usize)>,
    unstored: Vec<(usize, usize)>,
    writing: Writing,
    /// Numbers are written with a point, and none stands for a missing cell.
    plain: bool,
}

impl<'a> Intake<'a> {
    fn new(builder: Builder<'a>, columns: usize, writing: Writing) -> Self {
        let plain = writing.is_plain();
        let (stored, unstored) = (vec![], vec![]);
        let mut intake = Intake { builder, columns, count: 0, stored, unstored, writing, plain };
        intake.forget_text();
        intake
    }

    fn take(&mut self, records: &Records<Source>) -> Result<()> {
        if self.columns == 1 && self.count > 0 {
            // in a table of one column an empty line is a missing cell
            for blank in 0..records.blank {
                self.count += 1;
                let line = records.line - records.blank + blank;
                self.take_row(Place { row: self.count, line: Some(line) }, |_| &[])?;
            }
        }
        self.count += 1;
        let place = Place { row: self.count, line: Some(records.line) };
        if records.unclosed {
            let file = self.builder.file.to_owned();
            return Err(Error::UnclosedQuote { file, place });
        }
        if records.len() != self.columns {
            let (file, expected) = (self.builder.file.to_owned(), self.columns);
            return Err(Error::Ragged { file, place, found: records.len(), expected });
        }
        self.take_row(place, |index| records.get(index))?;
        if records.open_end && records.line > 1 {
            self.note_open_end(place, records.get(self.columns - 1));
        }
        Ok(())
    }

    /// Notes a last number that may lack digits.
    fn note_open_end(&mut self, place: Place, cell: &[u8]) {
        let last = self.stored.iter().find(|(_, column)| *column == self.columns - 1);
        if let (Some((_, column)), Content::Number(_)) = (last, self.writing.classify(cell)) {
            let column = self.builder.plan.names[*column].clone();
            let text = excerpt(&String::from_utf8_lossy(cell.trim_ascii()));
            let notice = TableNotice::NoFinalNewline { column, place, text };
            self.builder.plan.notices.push(notice);
        }
    }

    #[inline]
    fn take_row<'r>(&mut self, place: Place, field: impl Fn(usize) -> &'r [u8]) -> Result<()> {
        for &(slot, column) in &self.stored {
            let bytes = field(column);
            let value = match fast_float2::parse::<f64, _>(bytes) {
                Ok(value)
                    if self.plain
                        && value.abs() < LARGEST_WHOLE
                        && self.builder.scans[slot].is_number =>
                {
                    value
                }
                _ => judge(&mut self.builder, &self.writing, slot, column, place, bytes)?,
            };
            self.builder.values.push(value);
        }
        for &(slot, column) in &self.unstored {
            judge(&mut self.builder, &self.writing, slot, column, place, field(column))?;
        }
        for index in 0..self.builder.kept.len() {
            let column = self.builder.plan.kept[index];
            let cell = utf8(self.builder.file, field(column), place, column)?;
            self.builder.kept[index].push(cell);
        }
        if let Some(column) = self.builder.plan.groups {
            let cell = utf8(self.builder.file, field(column), place, column)?;
            self.builder.groups.push(cell);
        }
        if let Some(column) = self.builder.plan.weights {
            let text = utf8(self.builder.file, field(column), place, column)?;
            match self.writing.classify(text.as_bytes()) {
                Content::Number(weight) => self.builder.weight(place, weight, text)?,
                Content::Missing => self.builder.weight(place, f64::NAN, text)?,
                Content::Text => {
                    let (file, text) = (self.builder.file.to_owned(), excerpt(text));
                    let (column, role) = (self.builder.plan.names[column].clone(), Role::Weights);
                    return Err(Error::TextColumn { file, column, place, text, role });
                }
            }
        }
        Ok(())
    }

    /// Stops storing columns that have shown text.
    fn forget_text(&mut self) {
        self.builder.unstore_text();
        let modelled = &self.builder.plan.modelled;
        let pair = |&slot: &usize| (slot, modelled[slot]);
        self.stored = self.builder.stored.iter().map(pair).collect();
        self.unstored = self.builder.unstored.iter().map(pair).collect();
    }

    /// Makes room for as many rows as the first ones let expect, so that the table does
    /// not outgrow its memory by doubling. A cell takes at least two bytes of text, which
    /// bounds the room by four times the file.
    fn reserve(&mut self, records: &Records<Source>) {
        let (Some(length), false) = (records.reader.length, records.reader.gzip) else { return };
        let consumed = records.consumed(records.reader.done()).max(1);
        let more = length.saturating_sub(consumed) as f64 / consumed as f64;
        let cells = (self.builder.values.len() as f64 * more * 1.01).min(length as f64 / 2.0);
        self.builder.values.reserve_exact(cells as usize);
    }
}

/// Judges a cell that is not plainly a number of a numeric column.
#[cold]
fn judge(
    builder: &mut Builder<'_>,
    writing: &Writing,
    slot: usize,
    column: usize,
    place: Place,
    bytes: &[u8],
) -> Result<f64> {
    match writing.classify(bytes) {
        Content::Missing => builder.missing(slot, place),
        Content::Number(value) => {
            let text = utf8(builder.file, bytes, place, column)?;
            builder.number(slot, place, value, || text.trim().to_owned())
        }
        Content::Text => {
            let text = utf8(builder.file, bytes, place, column)?;
            builder.text(slot, place, text)
        }
    }
}

fn utf8<'b>(file: &Path, bytes: &'b [u8], place: Place, column: usize) -> Result<&'b str> {
    std::str::from_utf8(bytes).map_err(|_| Error::NotUtf8 {
        file: file.to_owned(),
        place,
        column: column + 1,
    })
}
