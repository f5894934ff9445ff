//! The groups of rows on the page.

use serde::Serialize;

use crate::Codes;

/// The groups that the fit found, and which rows are in them.
#[derive(Clone, Debug, Serialize)]
pub struct ShownGroups {
    /// Where all rows are one group: that there are no groups, in words.
    pub none: Option<String>,
    /// The groups, the largest training group first.
    pub groups: Vec<ShownGroup>,
    /// The most probable group of each shown row, from 0.
    pub labels: Codes,
    /// How well they agree with each kept column.
    pub agreement: Vec<ShownAgreement>,
    /// That small groups were merged, in words.
    pub merged: Option<String>,
}

/// A group of rows, with the words and numbers of `upoe groups`.
#[derive(Clone, Debug, Serialize)]
pub struct ShownGroup {
    /// "CW high for its FL".
    pub name: String,
    /// How many of all rows are in it.
    pub rows: usize,
    /// Their share.
    pub share: f64,
    /// How it differs from the other rows, what names it first.
    pub differences: Vec<ShownDifference>,
}

/// How far the mean of a group lies from that of the other rows, in the units of the column.
#[derive(Clone, Debug, Serialize)]
pub struct ShownDifference {
    /// The column.
    pub column: String,
    /// The column that it is given, where there is one.
    pub given: Option<String>,
    /// The mean of the group.
    pub mean: f64,
    /// That less the mean of the other rows, in three digits with a sign.
    pub difference: String,
    /// The lower end of its interval.
    pub low: String,
    /// The upper end.
    pub high: String,
}

/// How well the groups agree with a column that is not modelled.
#[derive(Clone, Debug, Serialize)]
pub struct ShownAgreement {
    /// The column.
    pub column: String,
    /// The share of rows that have the most frequent label of their group.
    pub matches: f64,
    /// The same if all rows were one group.
    pub chance: f64,
    /// "matches `sp` 100 % (50 % with one group; adjusted Rand index 1.00)".
    pub words: String,
}
