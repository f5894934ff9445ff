//! What a caller can do about an error or a notice by reading the table in another way.

use crate::error::{Error, Role};
use crate::notice::TableNotice;

/// A change of the [`ReadOptions`](crate::ReadOptions) that avoids an error or answers a notice.
/// Messages name it in general words; a program can add how it is asked for there.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Remedy {
    /// Leave the column out ([`exclude`](crate::ReadOptions::exclude)).
    LeaveOut {
        /// The column.
        column: String,
    },
    /// Carry the column along as text ([`keep`](crate::ReadOptions::keep)).
    CarryAlong {
        /// The column.
        column: String,
    },
    /// Leave out rows with missing cells ([`missing`](crate::ReadOptions::missing)).
    DropRows,
    /// Take this text for a missing cell ([`missing_words`](crate::ReadOptions::missing_words)).
    MissingWord {
        /// The text.
        text: String,
    },
    /// Keep missing cells, for programs that can do with them
    /// ([`missing`](crate::ReadOptions::missing)).
    KeepMissing,
    /// Choose the columns to model ([`columns`](crate::ReadOptions::columns)).
    ChooseColumns,
    /// Choose another column of weights ([`weights`](crate::ReadOptions::weights)).
    ChooseWeights,
    /// Say that the first line holds names ([`header`](crate::ReadOptions::header)).
    FirstLineIsHeader,
    /// Say that numbers are written with decimal commas ([`dialect`](crate::ReadOptions::dialect)).
    DecimalComma,
    /// Skip lines above the table ([`dialect`](crate::ReadOptions::dialect)).
    SkipLines,
    /// Say what separates cells ([`dialect`](crate::ReadOptions::dialect)).
    Separator,
    /// Say that the first line holds data ([`header`](crate::ReadOptions::header)).
    FirstLineIsData,
}

impl Error {
    /// What a caller can do about it, where another way of reading helps.
    pub fn remedies(&self) -> Vec<Remedy> {
        match self {
            Error::MixedColumn { column, role, text, .. } => {
                // What stands for a missing cell is short, and no number with a slip in it.
                let is_word = text.chars().count() <= 12
                    && !text.contains(|c: char| c.is_ascii_digit() || c == ',');
                let word = is_word.then(|| Remedy::MissingWord { text: text.clone() });
                [word.into_iter().collect(), without(*role, column)].concat()
            }
            Error::DecimalComma { column, role, .. } => {
                [vec![Remedy::DecimalComma], without(*role, column)].concat()
            }
            Error::MissingCell { column, role, .. } => {
                let keep = (*role != Role::Weights).then_some(Remedy::KeepMissing);
                [vec![Remedy::DropRows], keep.into_iter().collect(), without(*role, column)]
                    .concat()
            }
            // of a column that was asked for by name
            Error::TextColumn { column, role: Role::Modelled, .. } => {
                vec![Remedy::ChooseColumns, Remedy::CarryAlong { column: column.clone() }]
            }
            Error::EmptyColumn { column, role: Role::Modelled, .. } => {
                vec![Remedy::ChooseColumns, Remedy::LeaveOut { column: column.clone() }]
            }
            Error::TextColumn { column, role, .. } | Error::EmptyColumn { column, role, .. } => {
                without(*role, column)
            }
            Error::MixedHeader { .. } | Error::UnknownColumn { named: false, .. } => {
                vec![Remedy::FirstLineIsHeader]
            }
            Error::TwoRoles { other, .. } => vec![Remedy::ChooseColumns, other.clone()],
            Error::Ragged { expected: 1, .. } => vec![Remedy::SkipLines],
            Error::NoNumericColumns { .. } => vec![Remedy::Separator],
            Error::ColumnCount { .. } => vec![Remedy::ChooseColumns],
            _ => Vec::new(),
        }
    }
}

/// How to do without a column in this role.
fn without(role: Role, column: &str) -> Vec<Remedy> {
    match role {
        Role::Modelled => vec![Remedy::LeaveOut { column: column.to_owned() }],
        Role::Needed => Vec::new(),
        Role::Weights => vec![Remedy::ChooseWeights],
    }
}

impl TableNotice {
    /// What a caller can do about it, where another way of reading helps.
    pub fn remedies(&self) -> Vec<Remedy> {
        match self {
            TableNotice::IndexColumn { column } => {
                vec![Remedy::LeaveOut { column: column.clone() }]
            }
            TableNotice::LeftAside { .. } => vec![Remedy::ChooseColumns],
            TableNotice::NumericHeader { .. } => {
                vec![Remedy::FirstLineIsHeader, Remedy::FirstLineIsData]
            }
            _ => Vec::new(),
        }
    }
}
