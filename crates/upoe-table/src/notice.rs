//! What a user should know of a table that could be read.

use std::fmt;

use crate::aside::Aside;
use crate::error::Place;
use crate::text_kind::TextKind;

/// Something the user should know, though the table could be read.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum TableNotice {
    /// A column holds no number and was left out.
    TextColumn {
        /// The column.
        column: String,
        /// The text of its first cell.
        example: String,
        /// What it is.
        kind: TextKind,
    },
    /// A column is no measurement and was left out.
    LeftAside {
        /// The column.
        column: String,
        /// What it is.
        what: Aside,
    },
    /// A column holds only missing cells and was left out.
    EmptyColumn {
        /// The column.
        column: String,
    },
    /// A column has the name of another one, and was given a new one.
    RenamedColumn {
        /// The name that both have.
        column: String,
        /// Which column it is, from 1.
        position: usize,
        /// Its new name.
        renamed: String,
    },
    /// A column counts rows, and is modelled nevertheless.
    IndexColumn {
        /// The column.
        column: String,
    },
    /// The first line is read as data, and may be a header.
    NumericHeader {
        /// The first number in it.
        first: f64,
        /// The last one.
        last: f64,
    },
    /// Numbers are read with decimal commas.
    DecimalComma,
    /// A sheet of a workbook was chosen.
    Sheet {
        /// The sheet.
        sheet: String,
        /// How many there are.
        sheets: usize,
    },
    /// Rows above the table were skipped: each has one cell, of text.
    Titles {
        /// How many.
        rows: usize,
    },
    /// Columns that no early line of a file has were left out.
    LateColumns {
        /// The first of them.
        columns: Vec<String>,
    },
    /// Columns that are not needed were ignored.
    ExtraColumns {
        /// The columns.
        columns: Vec<String>,
    },
    /// Columns of the model that the table does not have: their cells are missing.
    AbsentColumns {
        /// The columns.
        columns: Vec<String>,
    },
    /// The table has no names, so its columns are taken in the model's order.
    ByPosition {
        /// The model's columns.
        columns: Vec<String>,
    },
    /// A whole number has more digits than a double can hold; the first of its column.
    Rounded {
        /// The column.
        column: String,
        /// Where it is.
        place: Place,
        /// How the file writes it.
        text: String,
        /// What it is read as.
        value: f64,
    },
    /// The last line has no line end, and its last cell is a modelled number.
    NoFinalNewline {
        /// The column.
        column: String,
        /// Where it is.
        place: Place,
        /// How the file writes it.
        text: String,
    },
    /// Rows with missing cells were left out.
    DroppedRows {
        /// How many were left out.
        dropped: usize,
        /// How many the file has.
        rows: usize,
    },
}

impl TableNotice {
    /// Whether this deserves a warning: the result may not be what was meant.
    pub fn is_warning(&self) -> bool {
        matches!(
            self,
            TableNotice::IndexColumn { .. }
                | TableNotice::RenamedColumn { .. }
                | TableNotice::NumericHeader { .. }
                | TableNotice::Rounded { .. }
        )
    }
}

impl fmt::Display for TableNotice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TableNotice::TextColumn { column, example, kind: kind @ TextKind::WithUnit } => write!(
                f,
                "column `{column}` {kind} (such as `{example}`) and is left out; write plain numbers to have it \
                 modelled"
            ),
            TableNotice::TextColumn { column, example, kind } => {
                write!(f, "column `{column}` {kind} (such as `{example}`) and is left out")
            }
            TableNotice::LeftAside { column, what } => write!(
                f,
                "column `{column}` {what} and is left out; choose the columns to have it modelled"
            ),
            TableNotice::EmptyColumn { column } => {
                write!(f, "column `{column}` has no values and is left out")
            }
            TableNotice::RenamedColumn { column, position, renamed } => write!(
                f,
                "column {position} is called `{column}` like another one and is read as `{renamed}`"
            ),
            TableNotice::IndexColumn { column } => write!(
                f,
                "column `{column}` counts 1, 2, 3… and looks like an index; it is modelled: \
                 leave it out if it is one"
            ),
            TableNotice::NumericHeader { first, last } => write!(
                f,
                "the first line ({first} … {last}) is read as data, but may hold the names of \
                 the columns; choose whether it is a header or data"
            ),
            TableNotice::DecimalComma => {
                write!(f, "numbers are written with decimal commas and read so (`1,5` is 1.5)")
            }
            TableNotice::Sheet { sheet, sheets } => write!(
                f,
                "the workbook has {sheets} sheets; `{sheet}` is read, the first with numbers; choose \
                 another as in `file.xlsx:name`"
            ),
            TableNotice::Titles { rows } => {
                let rows = if *rows == 1 { "a row".into() } else { format!("{rows} rows") };
                write!(f, "skipped {rows} of text above the table")
            }
            TableNotice::LateColumns { columns } => write!(
                f,
                "left out columns that the first 1000 lines do not have: {}",
                columns.join(", ")
            ),
            TableNotice::ExtraColumns { columns } => {
                write!(f, "ignored columns that are not needed: {}", columns.join(", "))
            }
            TableNotice::AbsentColumns { columns } => write!(
                f,
                "the table lacks columns of the model, whose cells are taken as missing: {}",
                columns.join(", ")
            ),
            TableNotice::ByPosition { columns } => {
                let more = if columns.len() > 6 { ", …" } else { "" };
                let shown = &columns[..columns.len().min(6)];
                write!(
                    f,
                    "the table has no names; its columns are taken in the model's order: {}{more}",
                    shown.join(", ")
                )
            }
            TableNotice::Rounded { column, place, text, value } => write!(
                f,
                "column `{column}` has whole numbers beyond 2^53, which are rounded ({place}: \
                 {text} is read as {value:.0}); if they are identifiers, leave the column out"
            ),
            TableNotice::NoFinalNewline { column, place, text } => write!(
                f,
                "the last line has no line end; if the file was cut off, its last number may \
                 lack digits ({place}, column `{column}`: {text})"
            ),
            TableNotice::DroppedRows { dropped, rows } => {
                write!(f, "left out {dropped} of {rows} rows because of missing cells")
            }
        }
    }
}
