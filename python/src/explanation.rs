//! The parts of ln p of many rows.

use pyo3::prelude::*;
use upoe::{Explained as Any, Explanation};

use crate::arrays::{self, Floats};
use crate::memory::space;

/// What Python gets: (log_density, baseline, experts, rest, columns), and perhaps
/// (experts_by_column, rest_by_column).
pub type Explained<'py> =
    (Floats<'py>, f64, Floats<'py>, Floats<'py>, Floats<'py>, Option<(Floats<'py>, Floats<'py>)>);

/// The parts of the rows so far, row after row.
pub struct Parts {
    ln_p: Vec<f64>,
    baseline: f64,
    experts: Vec<f64>,
    rest: Vec<f64>,
    columns: Vec<f64>,
    /// By expert and column, and the rest by column.
    split: Option<(Vec<f64>, Vec<f64>)>,
}

impl Parts {
    /// Room for the parts of `n` rows.
    pub fn new(n: usize, experts: usize, columns: usize, split: bool) -> PyResult<Self> {
        let both = || -> PyResult<_> {
            Ok((space(n, experts.saturating_mul(columns))?, space(n, columns)?))
        };
        Ok(Parts {
            ln_p: space(n, 1)?,
            baseline: f64::NAN,
            experts: space(n, experts)?,
            rest: space(n, 1)?,
            columns: space(n, columns)?,
            split: split.then(both).transpose()?,
        })
    }

    /// Adds a row's parts.
    pub fn add(&mut self, e: &Explanation) {
        self.ln_p.push(e.ln_p);
        self.baseline = e.baseline;
        self.experts.extend(&e.experts);
        self.rest.push(e.rest);
        let experts = |i: usize| e.experts_by_column.iter().map(|c| c[i]).sum::<f64>();
        let columns = e.rest_by_column.iter().enumerate();
        self.columns.extend(columns.map(|(i, rest)| rest + experts(i)));
        if let Some((by_expert, rest)) = &mut self.split {
            by_expert.extend(e.experts_by_column.iter().flatten());
            rest.extend(&e.rest_by_column);
        }
    }

    /// Adds the parts of a row of a stack or a pool; `rest` is which of them is the Gaussian rest.
    pub fn add_any(&mut self, mut e: Any, rest: usize, columns: Vec<f64>) {
        self.ln_p.push(e.ln_p);
        self.baseline = e.baseline;
        self.rest.push(e.parts.remove(rest));
        self.experts.extend(e.parts);
        self.columns.extend(columns);
    }

    /// The parts as arrays.
    pub fn explained(self, py: Python<'_>, n: usize, j: usize, columns: usize) -> Explained<'_> {
        let split = self.split.map(|(by_expert, rest)| {
            let by_expert = arrays::cube(py, by_expert, (n, j, columns));
            (by_expert, arrays::shaped(py, rest, n, columns))
        });
        (
            arrays::vector(py, self.ln_p),
            self.baseline,
            arrays::shaped(py, self.experts, n, j),
            arrays::vector(py, self.rest),
            arrays::shaped(py, self.columns, n, columns),
            split,
        )
    }
}
