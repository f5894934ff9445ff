//! What can be wrong with data, settings or a model.

use std::borrow::Cow;

use thiserror::Error;

/// Every error of the crate. Rows and columns count from 0.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// A cell is NaN or infinite.
    #[error("row {row}, column {column} is {value}: drop the row or replace the value")]
    NonFinite {
        /// The row, from 0.
        row: usize,
        /// The column, from 0.
        column: usize,
        /// The value of the cell.
        value: f64,
    },
    /// A row weight is negative, NaN or infinite.
    #[error("the weight of row {row} is {value}: weights must be finite and not negative")]
    Weight {
        /// The row, from 0.
        row: usize,
        /// Its weight.
        value: f64,
    },
    /// Two lengths that must agree do not.
    #[error("{what}: expected {expected}, got {got}")]
    Shape {
        /// What was measured.
        what: &'static str,
        /// The length that was needed.
        expected: usize,
        /// The length that was there.
        got: usize,
    },
    /// Too few rows with a positive weight.
    #[error("{rows} row(s) with a positive weight: at least {needed} are needed")]
    TooFewRows {
        /// How many there are.
        rows: usize,
        /// How many are needed.
        needed: usize,
    },
    /// No column varies.
    #[error("none of the {columns} column(s) varies: there is nothing to model")]
    NoVariance {
        /// How many columns there are.
        columns: usize,
    },
    /// A column that has one value in one of two tables, and others in the other.
    #[error(
        "column {column} is {value} in every row of the {table} table, and not in the other: that is a change by itself; leave the column out to compare the others"
    )]
    ConstantInOne {
        /// The column, from 0.
        column: usize,
        /// Which table: first or second.
        table: &'static str,
        /// Its value.
        value: f64,
    },
    /// The spread of a column cannot be represented.
    #[error("column {column} spreads too {} (its variance is {variance:e}): rescale it", if *variance > 1.0 { "far" } else { "little" })]
    Spread {
        /// The column, from 0.
        column: usize,
        /// Its variance as computed.
        variance: f64,
    },
    /// Directions that are not linearly independent.
    #[error(
        "the {directions} directions are not linearly independent (rank {rank}): leave out the dependent ones"
    )]
    DependentDirections {
        /// How many directions there are.
        directions: usize,
        /// How many of them are independent.
        rank: usize,
    },
    /// A column has no values at all.
    #[error("column {column} has no values: leave it out")]
    EmptyColumn {
        /// The column, from 0.
        column: usize,
    },
    /// The values that a row has do not lie in the subspace that the training rows span.
    #[error(
        "row {row}, column {column}: the given values do not go together, because the training rows \
         span fewer dimensions than they have columns; correct them"
    )]
    OutsideSubspace {
        /// The row, from 0.
        row: usize,
        /// A column in which it leaves the subspace, from 0.
        column: usize,
    },
    /// Hardly any row fulfils a condition.
    #[error(
        "{fitting} of {tried} drawn rows fulfil the condition, fewer than 1 in 10,000: widen its ranges"
    )]
    TooRare {
        /// How many rows fulfil it.
        fitting: usize,
        /// How many rows were drawn.
        tried: usize,
    },
    /// Nothing can be integrated along a line.
    #[error("there is no density along this line: {reason}")]
    NoLine {
        /// Why, and what to do.
        reason: &'static str,
    },
    /// A setting outside its range.
    #[error("{name} = {value}: {rule}")]
    InvalidSetting {
        /// The setting.
        name: &'static str,
        /// Its value, as text.
        value: String,
        /// What it must satisfy.
        rule: Cow<'static, str>,
    },
    /// The stop rule `holdout` without held-out rows.
    #[error("stop = holdout: held-out rows are needed")]
    NeedsHoldout,
    /// Groups stay whole, and there is only one.
    #[error("all rows are in one group, so none can be held out")]
    OneGroup,
    /// Too few rows are left to learn from.
    #[error("{rows} rows: holding out {held} leaves fewer than 2 to learn from; hold out fewer")]
    HoldsOutTooMany {
        /// How many rows there are.
        rows: usize,
        /// How many of them would be held out.
        held: usize,
    },
    /// An engine could not sum over its rows.
    #[error("{place}: {reason}")]
    Engine {
        /// Where: the file, worker or device, and the row where it is known.
        place: String,
        /// What went wrong there, and what to do.
        reason: String,
    },
    /// A decomposition did not converge; only non-finite input leads here.
    #[error("the {what} did not converge")]
    NoConvergence {
        /// Which decomposition.
        what: &'static str,
    },
}

/// Shorthand for results of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// A written number with commas between thousands, if it has at least `least` digits before the point: "31,061". Words
/// give values five, so that a year stays 2023, and counts four.
pub(crate) fn thousands(number: &str, least: usize) -> String {
    let start = number.find(|c: char| c.is_ascii_digit()).unwrap_or(number.len());
    let (sign, rest) = number.split_at(start);
    let (whole, end) =
        rest.split_at(rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len()));
    if whole.len() < least || end.contains('e') {
        return number.to_owned();
    }
    let mut out = sign.to_owned();
    for (at, digit) in whole.char_indices() {
        if at > 0 && (whole.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out + end
}

/// A count with its noun: "1 row", "1,500 rows".
pub(crate) fn counted(count: usize, noun: &str) -> String {
    format!("{} {noun}{}", thousands(&count.to_string(), 4), if count == 1 { "" } else { "s" })
}

pub(crate) fn invalid<T>(
    name: &'static str,
    value: impl ToString,
    rule: impl Into<Cow<'static, str>>,
) -> Result<T> {
    Err(Error::InvalidSetting { name, value: value.to_string(), rule: rule.into() })
}

#[cfg(test)]
mod tests {
    use super::{counted, thousands};

    #[test]
    fn thousands_are_separated() {
        for (number, words) in [
            ("31061", "31,061"),
            ("-1234567.25", "-1,234,567.25"),
            ("+12345", "+12,345"),
            ("2023", "2023"),
            ("123456e7", "123456e7"),
            ("NaN", "NaN"),
            ("0.12345", "0.12345"),
        ] {
            assert_eq!(thousands(number, 5), words);
        }
        assert_eq!(counted(1500, "row"), "1,500 rows");
        assert_eq!(counted(1, "dimension"), "1 dimension");
    }
}
