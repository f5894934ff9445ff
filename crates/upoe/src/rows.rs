//! Rows of numbers with optional weights.

use crate::error::{Error, Result, invalid};
use std::borrow::Cow;
use std::ops::Range;

/// Borrowed rows: row-major values with `columns` columns, and optionally one weight per row.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a> {
    values: Values<'a>,
    columns: usize,
    weights: Option<&'a [f64]>,
    blocks: Option<&'a [usize]>,
}

/// Numbers in double or single precision. Single ones are widened where they are used, so
/// that both give the same bits and neither is copied.
#[derive(Clone, Copy, Debug)]
pub enum Values<'a> {
    /// Double precision.
    Double(&'a [f64]),
    /// Single precision.
    Single(&'a [f32]),
}

impl Values<'_> {
    fn len(&self) -> usize {
        match self {
            Values::Double(values) => values.len(),
            Values::Single(values) => values.len(),
        }
    }
}

impl<'a> Rows<'a> {
    /// Rows of `columns` numbers each.
    ///
    /// ```
    /// let rows = upoe::Rows::new(&[1.0, 2.0, 3.0, 4.0], 2)?;
    /// assert_eq!(*rows.row(1), [3.0, 4.0]);
    /// # Ok::<(), upoe::Error>(())
    /// ```
    pub fn new(values: &'a [f64], columns: usize) -> Result<Self> {
        Self::of(Values::Double(values), columns)
    }

    /// The same, with numbers in single precision.
    pub fn single(values: &'a [f32], columns: usize) -> Result<Self> {
        Self::of(Values::Single(values), columns)
    }

    fn of(values: Values<'a>, columns: usize) -> Result<Self> {
        if columns == 0 {
            return Err(Error::NoVariance { columns: 0 });
        }
        if !values.len().is_multiple_of(columns) {
            let expected = values.len().next_multiple_of(columns);
            return Err(Error::Shape { what: "values in whole rows", expected, got: values.len() });
        }
        Ok(Rows { values, columns, weights: None, blocks: None })
    }

    /// The same rows, each counting `weights[i]` times.
    pub fn weighted(self, weights: &'a [f64]) -> Result<Self> {
        if weights.len() != self.len() {
            return Err(Error::Shape { what: "weights", expected: self.len(), got: weights.len() });
        }
        Ok(Rows { weights: Some(weights), ..self })
    }

    /// The same rows, of which those with the same number in `blocks` belong together and may
    /// resemble each other: patches of one image, visits of one patient. Blocks are numbered from 0.
    pub fn in_blocks(self, blocks: &'a [usize]) -> Result<Self> {
        if blocks.len() != self.len() {
            return Err(Error::Shape { what: "blocks", expected: self.len(), got: blocks.len() });
        }
        if let Some(block) = blocks.iter().find(|block| **block >= self.len()) {
            return invalid(
                "blocks",
                block,
                "blocks are numbered from 0, and are no more than the rows",
            );
        }
        Ok(Rows { blocks: Some(blocks), ..self })
    }

    /// The block of each row, where there are blocks.
    pub fn blocks(&self) -> Option<&'a [usize]> {
        self.blocks
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.values.len() / self.columns
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.values.len() == 0
    }

    /// How many columns a row has.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// All values, row after row.
    pub fn values(&self) -> Values<'a> {
        self.values
    }

    /// The weights, where there are any.
    pub fn weights(&self) -> Option<&'a [f64]> {
        self.weights
    }

    /// Row `i`: borrowed, or widened to double precision.
    pub fn row(&self, i: usize) -> Cow<'a, [f64]> {
        let cells = i * self.columns..(i + 1) * self.columns;
        match self.values {
            Values::Double(values) => Cow::Borrowed(&values[cells]),
            Values::Single(values) => values[cells].iter().map(|x| f64::from(*x)).collect(),
        }
    }

    /// Some of the rows.
    pub fn slice(&self, rows: Range<usize>) -> Rows<'a> {
        let cells = rows.start * self.columns..rows.end * self.columns;
        let values = match self.values {
            Values::Double(values) => Values::Double(&values[cells]),
            Values::Single(values) => Values::Single(&values[cells]),
        };
        let weights = self.weights.map(|w| &w[rows.clone()]);
        let blocks = self.blocks.map(|b| &b[rows]);
        Rows { values, columns: self.columns, weights, blocks }
    }

    /// The weight of row `i`, 1 where there are no weights.
    pub fn weight(&self, i: usize) -> f64 {
        self.weights.map_or(1.0, |w| w[i])
    }

    /// Refuses NaN, infinities and bad weights.
    pub fn check(&self) -> Result<()> {
        self.check_cells(match self.values {
            Values::Double(values) => values.iter().position(|x| !x.is_finite()),
            Values::Single(values) => values.iter().position(|x| !x.is_finite()),
        })
    }

    /// Refuses infinities and bad weights; NaN is a missing cell.
    pub fn check_present(&self) -> Result<()> {
        self.check_cells(match self.values {
            Values::Double(values) => values.iter().position(|x| x.is_infinite()),
            Values::Single(values) => values.iter().position(|x| x.is_infinite()),
        })
    }

    /// Whether a cell of row `i` is missing.
    pub fn has_holes(&self, i: usize) -> bool {
        self.row(i).iter().any(|x| x.is_nan())
    }

    /// Whether no cell is missing.
    pub fn is_complete(&self) -> bool {
        match self.values {
            Values::Double(values) => !values.iter().any(|x| x.is_nan()),
            Values::Single(values) => !values.iter().any(|x| x.is_nan()),
        }
    }

    /// Refuses bad weights, and a cell where one is bad.
    fn check_cells(&self, bad: Option<usize>) -> Result<()> {
        if let Some(i) = bad {
            let (row, column) = (i / self.columns, i % self.columns);
            return Err(Error::NonFinite { row, column, value: self.row(row)[column] });
        }
        match self.weights.and_then(|w| w.iter().position(|w| !(w.is_finite() && *w >= 0.0))) {
            Some(row) => Err(Error::Weight { row, value: self.weight(row) }),
            None => Ok(()),
        }
    }

    /// The rows in a fixed order: equal rows are merged into one with their total weight, and
    /// rows of weight 0 are left out. What is learned from the result does not depend, to the bit,
    /// on the order of the rows or on whether a row is given twice or has weight 2.
    ///
    /// ```
    /// let twice = upoe::Rows::new(&[5.0, 1.0, 5.0], 1)?;
    /// let heavy = upoe::Rows::new(&[1.0, 5.0, 9.0], 1)?.weighted(&[1.0, 2.0, 0.0])?;
    /// assert_eq!(twice.canonical(), (vec![1.0, 5.0], Some(vec![1.0, 2.0])));
    /// assert_eq!(heavy.canonical(), twice.canonical());
    /// # Ok::<(), upoe::Error>(())
    /// ```
    pub fn canonical(&self) -> (Vec<f64>, Option<Vec<f64>>) {
        let mut order: Vec<usize> = (0..self.len()).filter(|&i| self.weight(i) > 0.0).collect();
        let compare = |&a: &usize, &b: &usize| {
            let (x, y) = (self.row(a), self.row(b));
            let mut cells = x.iter().zip(&*y).map(|(x, y)| x.total_cmp(y));
            let weights = || self.weight(a).total_cmp(&self.weight(b));
            cells.find(|o| o.is_ne()).unwrap_or_else(weights)
        };
        order.sort_unstable_by(compare);
        let (mut values, mut weights) = (Vec::with_capacity(self.values.len()), Vec::new());
        let mut last: Option<usize> = None;
        for i in order {
            match weights.last_mut() {
                Some(weight) if last.is_some_and(|l| self.row(l) == self.row(i)) => {
                    *weight += self.weight(i);
                }
                _ => {
                    values.extend_from_slice(&self.row(i));
                    weights.push(self.weight(i));
                    last = Some(i);
                }
            }
        }
        let weighted = weights.iter().any(|w| *w != 1.0);
        (values, weighted.then_some(weights))
    }

    /// Copies of the chosen rows and their weights.
    pub fn pick(&self, chosen: &[usize]) -> Picked {
        let mut values = Vec::with_capacity(chosen.len() * self.columns);
        chosen.iter().for_each(|&i| values.extend_from_slice(&self.row(i)));
        (values, self.weights.map(|w| chosen.iter().map(|&i| w[i]).collect()))
    }

    /// Copies of the other rows, and of the chosen ones.
    pub fn split(&self, chosen: &[usize]) -> (Picked, Picked) {
        let mut out = vec![false; self.len()];
        chosen.iter().for_each(|&i| out[i] = true);
        let kept: Vec<usize> = (0..self.len()).filter(|&i| !out[i]).collect();
        (self.pick(&kept), self.pick(chosen))
    }
}

/// A table's values, and weights where it has any.
pub(crate) type Picked = (Vec<f64>, Option<Vec<f64>>);

/// Rows over borrowed numbers, with weights where there are any.
pub(crate) fn view<'a>(
    values: &'a [f64],
    columns: usize,
    weights: Option<&'a [f64]>,
) -> Result<Rows<'a>> {
    let rows = Rows::new(values, columns)?;
    weights.map_or(Ok(rows), |weights| rows.weighted(weights))
}
