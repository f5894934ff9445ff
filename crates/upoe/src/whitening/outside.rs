//! Rows that lie outside the subspace of the training rows, and in which columns.

use super::{Rest, Whitening};
use crate::error::Result;
use crate::rows::Rows;
use rayon::prelude::*;

/// Rows of density 0, because they leave the subspace that the training rows span.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Outside {
    /// How many rows leave it.
    pub rows: usize,
    /// How many rows were looked at.
    pub of: usize,
    /// The columns in which they do.
    pub columns: Vec<usize>,
    /// Those of the columns that were constant in training, with their value there.
    pub constant: Vec<(usize, f64)>,
}

impl Whitening {
    /// Which rows lie outside the subspace of the training rows, if any do: their ln p is −∞. Rows with
    /// missing cells (NaN) are not looked at.
    pub fn outside(&self, rows: &Rows) -> Result<Option<Outside>> {
        self.check_columns(rows.columns())?;
        rows.check_present()?;
        if self.rest != Rest::Degenerate {
            return Ok(None);
        }
        let left = |i: usize| {
            let row = rows.row(i);
            if row.iter().any(|x| x.is_nan()) {
                return None;
            }
            let columns: Vec<usize> = self.off(&row, &self.sphere_row(&row)).collect();
            (!columns.is_empty()).then_some(columns)
        };
        let left: Vec<Vec<usize>> = (0..rows.len()).into_par_iter().filter_map(left).collect();
        let mut columns: Vec<usize> = left.concat();
        columns.sort_unstable();
        columns.dedup();
        let constant = columns.iter().filter(|i| self.deviations[**i] == 0.0);
        let constant = constant.map(|i| (*i, self.mean[*i])).collect();
        let found = Outside { rows: left.len(), of: rows.len(), columns, constant };
        Ok((found.rows > 0).then_some(found))
    }
}

impl Whitening {
    /// Whether a change of a row, which changes the sphered one by `turn`, leaves the subspace of a
    /// degenerate model.
    pub(crate) fn leaves(&self, change: &[f64], turn: &[f64]) -> bool {
        let size = turn.iter().fold(0.0_f64, |a, x| a.max(x.abs()));
        let tolerance = 1e-4 + 1e-6 * self.columns() as f64;
        let outside = self.residual_change(change, turn).into_iter().zip(&self.deviations);
        self.rest == Rest::Degenerate
            && outside.into_iter().any(|(r, deviation)| !(r.abs() <= tolerance * deviation * size))
    }
}

impl Outside {
    /// Adds what other rows showed.
    pub fn merge(&mut self, other: Outside) {
        self.rows += other.rows;
        self.of += other.of;
        self.columns.extend(other.columns);
        self.columns.sort_unstable();
        self.columns.dedup();
        self.constant.extend(other.constant);
        self.constant.sort_by_key(|(column, _)| *column);
        self.constant.dedup_by_key(|(column, _)| *column);
    }

    /// What a user should know, given what the columns are called.
    pub fn message(&self, name: impl Fn(usize) -> String) -> String {
        format!(
            "{} of {} rows lie outside the subspace of the training rows and have ln p = -inf: {}; \
             to give such rows a density, fit again with rows in which these columns vary, or \
             without them",
            self.rows,
            self.of,
            self.reason(name)
        )
    }

    /// In which columns the rows leave the subspace, and how.
    pub fn reason(&self, name: impl Fn(usize) -> String) -> String {
        const SHOWN: usize = 4;
        let list = |names: &[String], all: usize| {
            let more = if all > SHOWN { ", …" } else { "" };
            format!("{}{more}", names.join(", "))
        };
        let quoted = |i: usize| format!("`{}`", name(i));
        match &self.constant[..] {
            [] => {
                let names: Vec<String> =
                    self.columns.iter().take(SHOWN).map(|i| quoted(*i)).collect();
                let names = list(&names, self.columns.len());
                format!("columns {names} do not follow the linear relation they had in training")
            }
            [(column, value)] => {
                format!("column {} was constant ({}) in training", quoted(*column), short(*value))
            }
            many => {
                let one = |(i, value): &(usize, f64)| format!("{} ({})", quoted(*i), short(*value));
                let names: Vec<String> = many.iter().take(SHOWN).map(one).collect();
                format!("columns {} were constant in training", list(&names, many.len()))
            }
        }
    }
}

/// A number without the digits that rounding left.
fn short(value: f64) -> String {
    format!("{value:.9e}").parse::<f64>().unwrap_or(value).to_string()
}
