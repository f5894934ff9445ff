//! Missing cells on the page, and the densities of single cells.

use serde::Serialize;

use crate::Codes;

/// What is missing where, and what the model expects there.
#[derive(Clone, Debug, Serialize)]
pub struct ShownMissing {
    /// How many rows have missing cells, among all.
    pub rows: usize,
    /// How many cells are missing.
    pub cells: usize,
    /// The columns with missing cells, those with most first.
    pub columns: Vec<ShownMissingColumn>,
    /// The first rows with missing cells, filled in.
    pub filled: Vec<ShownRow>,
}

/// A column with missing cells.
#[derive(Clone, Debug, Serialize)]
pub struct ShownMissingColumn {
    /// Its name.
    pub name: String,
    /// How many of its cells are missing.
    pub cells: usize,
    /// Their share.
    pub share: f64,
}

/// A row with the densities of some of its cells.
#[derive(Clone, Debug, Serialize)]
pub struct ShownRow {
    /// Where the row stands in [`crate::ShownRows`]' arrays.
    pub position: usize,
    /// The cells.
    pub cells: Vec<ShownCell>,
}

/// A value of a row, or a missing one, beside its density given the row's other values.
#[derive(Clone, Debug, Serialize)]
pub struct ShownCell {
    /// The column, by its index in [`crate::Summary::columns`].
    pub column: usize,
    /// "CW 47.1, expected 45.3 (44.9 to 45.8)".
    pub words: String,
    /// The value; none where it is missing.
    pub observed: Option<f64>,
    /// The median of the density.
    pub expected: f64,
    /// Where the 90 % interval begins.
    pub low: f64,
    /// Where it ends.
    pub high: f64,
    /// The two-sided tail probability of the value.
    pub surprise: Option<f64>,
    /// The first point of the curve.
    pub from: f64,
    /// The last one.
    pub to: f64,
    /// The density on an even grid, relative to its peak on the grid, which is 255; empty where there is none.
    pub curve: Codes,
}
