//! Collects the cells of a table and applies the rules on what a column may hold.

use std::path::{Path, PathBuf};

use crate::dialect::MissingWords;
use crate::error::{Error, Place, Result, Role, excerpt};
use crate::notice::TableNotice;
use crate::select::{Header, MissingCells, Plan, ReadOptions};
use crate::table::Table;
use crate::text::{TextColumn, format_number};
use crate::text_kind::TextScan;

/// What is known of a modelled column so far.
#[derive(Debug, Default, Clone)]
pub(crate) struct Scan {
    /// A cell was a number, and none before it was anything forbidden.
    pub is_number: bool,
    /// A whole number was rounded, which was noted.
    is_rounded: bool,
    first_missing: Option<Place>,
    first_text: Option<(Place, String)>,
    /// Of text: there may be very many columns.
    text: Option<Box<TextScan>>,
}

/// A table being built. Modelled columns are called by their slot: the index into
/// `plan.modelled`.
pub(crate) struct Builder<'a> {
    pub file: &'a Path,
    pub plan: Plan,
    missing: MissingCells,
    model_columns: Vec<String>,
    words: MissingWords,
    /// No number stands for a missing cell.
    plain: bool,
    role: Role,
    /// The first line was taken for data because it holds a number.
    guessed: bool,
    /// Row-major cells of the slots in `stored`.
    pub values: Vec<f64>,
    /// Slots whose cells are stored.
    pub stored: Vec<usize>,
    /// Slots known to be text from the first row, checked but not stored.
    pub unstored: Vec<usize>,
    pub scans: Vec<Scan>,
    pub kept: Vec<TextColumn>,
    pub weights: Vec<f64>,
    pub groups: TextColumn,
    /// Rows that were handed over, where a table is read in blocks.
    pub handed: usize,
}

impl<'a> Builder<'a> {
    pub fn new(file: &'a Path, plan: Plan, options: &ReadOptions) -> Self {
        let name = |index: &usize| TextColumn::new(plan.names[*index].clone());
        let words = MissingWords::new(&options.missing_words);
        Builder {
            file,
            missing: options.missing,
            model_columns: options.model_columns.clone().unwrap_or_default(),
            plain: !words.has_numbers(),
            words,
            role: if options.model_columns.is_some() { Role::Needed } else { Role::Modelled },
            guessed: options.header == Header::Auto && !plan.named,
            values: Vec::new(),
            stored: (0..plan.modelled.len()).collect(),
            unstored: Vec::new(),
            scans: vec![Scan::default(); plan.modelled.len()],
            kept: plan.kept.iter().map(name).collect(),
            weights: Vec::new(),
            groups: plan.groups.as_ref().map(name).unwrap_or_default(),
            handed: 0,
            plan,
        }
    }

    fn column(&self, slot: usize) -> String {
        self.plan.names[self.plan.modelled[slot]].clone()
    }

    /// Judges a number (NaN is a missing cell); `text` gives how the file writes it, if only of
    /// whole numbers that may be rounded.
    #[inline]
    pub fn number(
        &mut self,
        slot: usize,
        place: Place,
        value: f64,
        text: impl FnOnce() -> String,
    ) -> Result<f64> {
        if value.abs() < LARGEST_WHOLE && self.scans[slot].is_number && self.plain {
            return Ok(value);
        }
        self.unusual_number(slot, place, value, &text())
    }

    /// Judges the first number of a column, a large one, or one that is not finite.
    #[cold]
    fn unusual_number(&mut self, slot: usize, place: Place, value: f64, text: &str) -> Result<f64> {
        if value.is_nan() || self.words.is_number(value) {
            return self.missing(slot, place);
        }
        if value.is_finite() && !self.scans[slot].is_rounded && is_rounded(text, value) {
            self.scans[slot].is_rounded = true;
            let (column, text) = (self.column(slot), excerpt(text));
            self.plan.notices.push(TableNotice::Rounded { column, place, text, value });
        }
        if value.is_finite() && self.scans[slot].is_number {
            return Ok(value);
        }
        let (file, column, role) = (self.file.to_owned(), self.column(slot), self.role);
        if let Some((place, text)) = self.scans[slot].first_text.take() {
            return Err(if self.guessed && place.row == 1 {
                Error::MixedHeader { file, column: self.plan.modelled[slot] + 1, text }
            } else {
                mixed(file, place, column, text, role)
            });
        }
        if value.is_infinite() {
            let text = if text.is_empty() { format_number(value) } else { excerpt(text) };
            return Err(Error::NonFinite { file, place, column, text });
        }
        match self.scans[slot].first_missing {
            Some(place) if self.missing == MissingCells::Error => {
                Err(Error::MissingCell { file, place, column, role })
            }
            _ => {
                self.scans[slot].is_number = true;
                Ok(value)
            }
        }
    }

    /// Judges a missing cell, which is stored as NaN.
    pub fn missing(&mut self, slot: usize, place: Place) -> Result<f64> {
        if self.scans[slot].is_number && self.missing == MissingCells::Error {
            let (file, column, role) = (self.file.to_owned(), self.column(slot), self.role);
            return Err(Error::MissingCell { file, place, column, role });
        }
        self.scans[slot].first_missing.get_or_insert(place);
        Ok(f64::NAN)
    }

    /// Judges a cell that is not a number.
    pub fn text(&mut self, slot: usize, place: Place, text: &str) -> Result<f64> {
        let (file, column, text) = (self.file.to_owned(), self.column(slot), excerpt(text));
        if self.scans[slot].is_number {
            return Err(mixed(file, place, column, text, self.role));
        }
        self.scans[slot].text.get_or_insert_default().add(&text);
        self.scans[slot].first_text.get_or_insert((place, text));
        Ok(f64::NAN)
    }

    /// Whether a slot has shown text.
    pub fn is_text(&self, slot: usize) -> bool {
        self.scans[slot].first_text.is_some()
    }

    /// Stops storing the slots that have shown text, so that they cost no memory.
    pub fn unstore_text(&mut self) {
        let stored = std::mem::take(&mut self.stored);
        let is_text: Vec<bool> = stored.iter().map(|&slot| self.is_text(slot)).collect();
        keep_columns(&mut self.values, &is_text);
        for (slot, is_text) in stored.into_iter().zip(is_text) {
            if is_text { self.unstored.push(slot) } else { self.stored.push(slot) }
        }
    }

    /// Takes a row's weight; NaN is missing.
    pub fn weight(&mut self, place: Place, weight: f64, text: &str) -> Result<()> {
        let file = self.file.to_owned();
        let column = self.plan.weights.map(|index| self.plan.names[index].clone());
        let column = column.unwrap_or_default();
        if weight.is_nan() && self.missing != MissingCells::Drop {
            return Err(Error::MissingCell { file, place, column, role: Role::Weights });
        }
        if weight.is_infinite() {
            let text = if text.is_empty() { format_number(weight) } else { excerpt(text) };
            return Err(Error::NonFinite { file, place, column, text });
        }
        if weight < 0.0 {
            return Err(Error::NegativeWeight { file, place, column, weight });
        }
        self.weights.push(weight);
        Ok(())
    }

    /// The table, once all `rows` rows are in.
    pub fn finish(mut self, rows: usize) -> Result<Table> {
        self.hand_over(rows, true)
    }

    /// Hands over the rows so far, where a table is read in blocks and this one is full.
    pub fn block(&mut self, rows: usize, blocks: &mut Option<Blocks<'_>>) -> Result<()> {
        match blocks {
            Some(blocks) if rows >= self.handed + blocks.rows => {
                let block = self.hand_over(rows, false)?;
                (blocks.take)(block)
            }
            _ => Ok(()),
        }
    }

    /// The rows that were not handed over yet, of `rows` so far. The first time decides which columns
    /// hold numbers.
    fn hand_over(&mut self, rows: usize, last: bool) -> Result<Table> {
        let first = self.handed == 0;
        let mut notices = std::mem::take(&mut self.plan.notices);
        if first {
            self.leave_out_text(&mut notices)?;
        }
        let empty = |column: &TextColumn| TextColumn::new(column.name.clone());
        let take = |column: &mut TextColumn| {
            let next = empty(column);
            std::mem::replace(column, next)
        };
        let mut table = Table {
            source: self.file.to_owned(),
            names: self.stored.iter().map(|&slot| self.column(slot)).collect(),
            named: self.plan.named,
            rows: rows - self.handed,
            data: std::mem::take(&mut self.values),
            kept: self.kept.iter_mut().map(take).collect(),
            weights: self.plan.weights.map(|_| std::mem::take(&mut self.weights)),
            groups: self.plan.groups.map(|_| take(&mut self.groups)),
            dropped: Vec::new(),
            notices,
        };
        if self.plan.absent.contains(&true) {
            table.add_absent(&self.plan.absent, &self.model_columns);
        }
        if first && self.role == Role::Modelled {
            // A matrix without names has one kind of column.
            if !self.plan.explicit && self.plan.named {
                table.leave_aside();
                self.keep_only(&table.names);
            }
            table.note_index_columns();
        }
        if self.missing == MissingCells::Drop {
            table.drop_missing(self.handed as u64, first && last)?;
        }
        self.handed = rows;
        Ok(table)
    }

    /// Stops storing the columns that are not among these.
    fn keep_only(&mut self, names: &[String]) {
        for slot in std::mem::take(&mut self.stored) {
            let kept = names.contains(&self.column(slot));
            if kept { self.stored.push(slot) } else { self.unstored.push(slot) }
        }
    }

    /// Leaves out columns that hold no number, or refuses them where they were asked for.
    fn leave_out_text(&mut self, notices: &mut Vec<TableNotice>) -> Result<()> {
        let file = self.file.to_owned();
        let any_number = self.scans.iter().any(|scan| scan.is_number);
        for slot in 0..self.scans.len() {
            if self.scans[slot].is_number {
                continue;
            }
            let column = self.column(slot);
            let (first_text, role) = (self.scans[slot].first_text.clone(), self.role);
            if let Some((place, text)) = first_text.clone().filter(|(_, text)| has_comma(text)) {
                return Err(Error::DecimalComma { file, place, column, text, role });
            }
            // New rows may lack a column. A fit has nothing to learn it from.
            let keeps = self.missing == MissingCells::Keep;
            if keeps && role == Role::Needed && first_text.is_none() {
                self.scans[slot].is_number = true;
                continue;
            }
            if self.plan.explicit {
                return Err(match first_text {
                    Some((place, text)) => Error::TextColumn { file, column, place, text, role },
                    None => Error::EmptyColumn { file, column, role },
                });
            }
            if any_number {
                notices.push(match first_text {
                    Some((_, example)) => {
                        let text = self.scans[slot].text.take().unwrap_or_default();
                        let kind = text.kind(&example);
                        TableNotice::TextColumn { column, example, kind }
                    }
                    None => TableNotice::EmptyColumn { column },
                });
            }
        }
        if !any_number {
            let columns = self.plan.names.clone();
            return Err(Error::NoNumericColumns { file, columns });
        }
        let stored = std::mem::take(&mut self.stored);
        let left_out: Vec<bool> = stored.iter().map(|&slot| !self.scans[slot].is_number).collect();
        keep_columns(&mut self.values, &left_out);
        for (slot, left_out) in stored.into_iter().zip(left_out) {
            if left_out { self.unstored.push(slot) } else { self.stored.push(slot) }
        }
        Ok(())
    }
}

/// Who takes a table that is read in blocks of at least so many rows.
pub(crate) struct Blocks<'a> {
    pub rows: usize,
    pub take: &'a mut dyn FnMut(Table) -> Result<()>,
}

/// Whole numbers up to this one are exact.
pub(crate) const LARGEST_WHOLE: f64 = (1_u64 << 53) as f64;

/// Whether text is a whole number, and the value it was read as another one.
fn is_rounded(text: &str, value: f64) -> bool {
    let digits = text.trim_start_matches(['+', '-']).trim_start_matches('0');
    value.abs() >= LARGEST_WHOLE
        && !digits.is_empty()
        && digits.bytes().all(|byte| byte.is_ascii_digit())
        && digits != format!("{:.0}", value.abs())
}

/// The error of text in a column that has numbers.
fn mixed(file: PathBuf, place: Place, column: String, text: String, role: Role) -> Error {
    match has_comma(&text) {
        true => Error::DecimalComma { file, place, column, text, role },
        false => Error::MixedColumn { file, place, column, text, role },
    }
}

/// Whether text looks like a number with a comma in it: `1,5`, `-1.234,5`, `1,000`.
fn has_comma(text: &str) -> bool {
    let digits = text.trim().trim_start_matches(['-', '+']);
    digits.contains(',')
        && digits.starts_with(|c: char| c.is_ascii_digit())
        && digits.ends_with(|c: char| c.is_ascii_digit())
        && digits.chars().all(|c| c.is_ascii_digit() || matches!(c, ',' | '.'))
}

/// Removes, in place, the columns of row-major `values` that are marked.
fn keep_columns(values: &mut Vec<f64>, removed: &[bool]) {
    if !removed.contains(&true) {
        return;
    }
    let mut column = 0;
    values.retain(|_| {
        let keep = !removed[column];
        column = (column + 1) % removed.len();
        keep
    });
}
