//! Rows of numbers with optional weights.

use crate::error::{Error, Result};

/// Borrowed rows: row-major values with `columns` columns, and optionally one weight a row.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a> {
    values: &'a [f64],
    columns: usize,
    weights: Option<&'a [f64]>,
}

impl<'a> Rows<'a> {
    /// Rows of `columns` numbers each.
    ///
    /// ```
    /// let rows = upoe::Rows::new(&[1.0, 2.0, 3.0, 4.0], 2)?;
    /// assert_eq!(rows.row(1), &[3.0, 4.0]);
    /// # Ok::<(), upoe::Error>(())
    /// ```
    pub fn new(values: &'a [f64], columns: usize) -> Result<Self> {
        if columns == 0 {
            return Err(Error::NoVariance { columns: 0 });
        }
        if !values.len().is_multiple_of(columns) {
            let expected = values.len().next_multiple_of(columns);
            return Err(Error::Shape { what: "values in whole rows", expected, got: values.len() });
        }
        Ok(Rows { values, columns, weights: None })
    }

    /// The same rows, each counting `weights[i]` times.
    pub fn weighted(self, weights: &'a [f64]) -> Result<Self> {
        if weights.len() != self.len() {
            return Err(Error::Shape { what: "weights", expected: self.len(), got: weights.len() });
        }
        Ok(Rows { weights: Some(weights), ..self })
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.values.len() / self.columns
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// How many columns a row has.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// All values, row after row.
    pub fn values(&self) -> &'a [f64] {
        self.values
    }

    /// The weights, where there are any.
    pub fn weights(&self) -> Option<&'a [f64]> {
        self.weights
    }

    /// Row `i`.
    pub fn row(&self, i: usize) -> &'a [f64] {
        &self.values[i * self.columns..(i + 1) * self.columns]
    }

    /// The weight of row `i`, 1 where there are no weights.
    pub fn weight(&self, i: usize) -> f64 {
        self.weights.map_or(1.0, |w| w[i])
    }

    /// Refuses NaN, infinities and bad weights.
    pub fn check(&self) -> Result<()> {
        if let Some(i) = self.values.iter().position(|x| !x.is_finite()) {
            let (row, column) = (i / self.columns, i % self.columns);
            return Err(Error::NonFinite { row, column, value: self.values[i] });
        }
        match self.weights.and_then(|w| w.iter().position(|w| !(w.is_finite() && *w >= 0.0))) {
            Some(row) => Err(Error::Weight { row, value: self.weight(row) }),
            None => Ok(()),
        }
    }

    /// Copies of the chosen rows and their weights.
    pub fn pick(&self, chosen: &[usize]) -> (Vec<f64>, Option<Vec<f64>>) {
        let values = chosen.iter().flat_map(|&i| self.row(i)).copied().collect();
        (values, self.weights.map(|w| chosen.iter().map(|&i| w[i]).collect()))
    }
}
