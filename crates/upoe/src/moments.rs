//! Count, mean and scatter of rows: sums that can be merged.

use crate::error::{Error, Result, invalid};
use crate::rows::{Rows, Values};
use faer::{Mat, MatRef};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use upoe_kernels::part_rows;

/// Total weight, mean and scatter Σ w (x − mean)(x − mean)ᵀ of some rows.
///
/// Products are formed of rows less their mean, and parts are merged by the pairwise formula
/// of Chan, Golub and LeVeque, so the result keeps its digits even if the mean is 1e8 times the spread.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Stored", into = "Stored")]
pub struct Moments {
    rows: usize,
    weight: f64,
    mean: Vec<f64>,
    scatter: Mat<f64>,
}

/// Moments as they are serialised: the scatter row after row.
#[derive(Serialize, Deserialize)]
struct Stored {
    rows: usize,
    weight: f64,
    mean: Vec<f64>,
    scatter: Vec<f64>,
}

impl From<Moments> for Stored {
    fn from(Moments { rows, weight, mean, scatter }: Moments) -> Self {
        let scatter =
            scatter.row_iter().flat_map(|r| r.iter().copied().collect::<Vec<_>>()).collect();
        Stored { rows, weight, mean, scatter }
    }
}

impl TryFrom<Stored> for Moments {
    type Error = Error;

    fn try_from(Stored { rows, weight, mean, scatter }: Stored) -> Result<Self> {
        let n = mean.len();
        if scatter.len() != n * n {
            let (what, expected) = ("entries of a scatter matrix", n * n);
            return Err(Error::Shape { what, expected, got: scatter.len() });
        }
        let numbers = || mean.iter().chain(&scatter).chain([&weight]);
        if numbers().any(|x| !x.is_finite()) || weight < 0.0 {
            return invalid(
                "moments",
                "their numbers",
                "must be finite, and the weight not negative",
            );
        }
        let scatter = MatRef::from_row_major_slice(&scatter, n, n).to_owned();
        Ok(Moments { rows, weight, mean, scatter })
    }
}

/// How moments are computed.
pub(crate) type MomentsOf<'a> = dyn Fn(&Rows) -> Result<Moments> + Sync + 'a;

/// Deviations below this cannot be squared without losing digits.
pub(crate) const SMALLEST: f64 = 1e-150;

impl Moments {
    /// The moments of no rows.
    pub fn empty(columns: usize) -> Self {
        let (mean, scatter) = (vec![0.0; columns], Mat::zeros(columns, columns));
        Moments { rows: 0, weight: 0.0, mean, scatter }
    }

    /// How many rows have a positive weight.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Σ w.
    pub fn weight(&self) -> f64 {
        self.weight
    }

    /// The weighted mean: one entry per column.
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// Σ w (x − mean)(x − mean)ᵀ.
    pub fn scatter(&self) -> &Mat<f64> {
        &self.scatter
    }

    /// The moments of some rows, whose cells and weights must be finite.
    pub fn of(rows: &Rows) -> Result<Self> {
        Self::in_parts_of(rows, rows.columns())
    }

    /// The same, merged from parts as large as those of a table with `columns` columns.
    pub(crate) fn in_parts_of(rows: &Rows, columns: usize) -> Result<Self> {
        rows.check()?;
        let part = part_rows(columns);
        let mut out = Moments::empty(rows.columns());
        for start in (0..rows.len()).step_by(part) {
            out.merge(&Self::of_part(&rows.slice(start..(start + part).min(rows.len()))));
        }
        if out.rows > 0 {
            out.check(rows)?;
        }
        Ok(out)
    }

    fn of_part(rows: &Rows) -> Self {
        let count = (0..rows.len()).filter(|&i| rows.weight(i) > 0.0).count();
        if count == 0 {
            return Moments::empty(rows.columns());
        }
        let (near, weights) = (mean(rows), rows.weights());
        match rows.values() {
            Values::Double(x) => Self::near(x, weights, count, near),
            Values::Single(x) => Self::near(x, weights, count, near),
        }
    }

    /// With all correlations divided by 1 + `prior`, as if there were so many rows of uncorrelated columns per
    /// row.
    pub(crate) fn shrunk(mut self, prior: f64) -> Self {
        if prior > 0.0 {
            for (j, column) in self.scatter.col_iter_mut().enumerate() {
                let of_column = column.iter_mut().enumerate();
                of_column.filter(|(i, _)| *i != j).for_each(|(_, s)| *s /= 1.0 + prior);
            }
        }
        self
    }

    /// Refuses moments of rows of which a column spreads too far, or too little, to be squared.
    pub fn check(&self, rows: &Rows) -> Result<()> {
        let variance = |i: usize| self.scatter[(i, i)] / self.weight;
        let variances: Vec<f64> = (0..self.mean.len()).map(variance).collect();
        check_spread(&variances, &self.mean, rows)
    }

    /// The moments of rows of any precision with `count` positive weights, whose mean is near `near`.
    pub(crate) fn near<T: upoe_kernels::Real>(
        values: &[T],
        weights: Option<&[f64]>,
        count: usize,
        near: Vec<f64>,
    ) -> Self {
        let sums = upoe_kernels::scatter(values, near.len(), weights, &near);
        Self::from_sums(count, near, sums)
    }

    /// The moments of `count` rows of positive weight, from Σ w, Σ w y and Σ w yyᵀ (row after row),
    /// where y is a row less `near`, which is near the mean.
    ///
    /// # Panics
    /// If the sums are not of as many columns as `near`.
    pub fn from_sums(count: usize, near: Vec<f64>, sums: (f64, Vec<f64>, Vec<f64>)) -> Self {
        let (weight, first, second) = sums;
        let columns = near.len();
        let second = MatRef::from_row_major_slice(&second, columns, columns).to_owned();
        let mut out = Moments { rows: count, weight, mean: near, scatter: second };
        // What rounding left of the mean.
        let rest: Vec<f64> = first.iter().map(|f| f / weight).collect();
        out.subtract(&rest, weight);
        out.mean.iter_mut().zip(&rest).for_each(|(m, r)| *m += r);
        out
    }

    /// scatter ← scatter − factor · v vᵀ.
    fn subtract(&mut self, v: &[f64], factor: f64) {
        for j in 0..v.len() {
            for i in 0..v.len() {
                self.scatter[(i, j)] -= factor * v[i] * v[j];
            }
        }
    }

    /// Adds the moments of other rows with the same number of columns. The order of merging decides
    /// the last bits, so the caller fixes it.
    ///
    /// # Panics
    /// If the columns differ in number.
    pub fn merge(&mut self, other: &Moments) {
        assert_eq!(
            self.mean.len(),
            other.mean.len(),
            "both moments must have the same number of columns"
        );
        if other.weight == 0.0 {
            return;
        }
        let total = self.weight + other.weight;
        let share = other.weight / total;
        let delta: Vec<f64> = other.mean.iter().zip(&self.mean).map(|(b, a)| b - a).collect();
        self.scatter += &other.scatter;
        self.subtract(&delta, -self.weight * share);
        self.mean.iter_mut().zip(&delta).for_each(|(m, d)| *m += share * d);
        self.weight = total;
        self.rows += other.rows;
    }

    /// ⟨(x − mean)(x − mean)ᵀ⟩, divided by Σ w (not Σ w − 1).
    pub fn covariance(&self) -> Mat<f64> {
        faer::Scale(1.0 / self.weight) * &self.scatter
    }
}

/// Refuses a column whose variance overflows, and one that varies beyond rounding but too little
/// to be squared.
pub(crate) fn check_spread(variances: &[f64], mean: &[f64], rows: &Rows) -> Result<()> {
    for (column, &variance) in variances.iter().enumerate() {
        // Rows are finite, so this is ∞ − ∞.
        let variance = if variance.is_nan() { f64::INFINITY } else { variance };
        let rounding = 4.0 * f64::EPSILON * mean[column].abs();
        let varies = |row: usize| (rows.row(row)[column] - mean[column]).abs() > rounding;
        let tiny = variance <= SMALLEST * SMALLEST
            && (0..rows.len()).any(|row| rows.weight(row) > 0.0 && varies(row));
        if tiny || !variance.is_finite() {
            // NaN: infinities were subtracted on the way.
            let variance = if variance.is_nan() { f64::INFINITY } else { variance };
            return Err(Error::Spread { column, variance });
        }
    }
    Ok(())
}

/// The weighted mean, computed as a running mean, which neither overflows nor cancels.
pub(crate) fn mean(rows: &Rows) -> Vec<f64> {
    let run = |mean: &mut [f64], weight: &mut f64, x: &[f64], w: f64| {
        *weight += w;
        let share = w / *weight;
        mean.iter_mut().zip(x).for_each(|(m, x)| *m += (x - *m) * share);
    };
    let parts: Vec<(Vec<f64>, f64)> = upoe_kernels::chunks(rows.len())
        .into_par_iter()
        .map(|range| {
            let (mut mean, mut weight) = (vec![0.0; rows.columns()], 0.0);
            for i in range.filter(|&i| rows.weight(i) > 0.0) {
                run(&mut mean, &mut weight, &rows.row(i), rows.weight(i));
            }
            (mean, weight)
        })
        .collect();
    let (mut total, mut weight) = (vec![0.0; rows.columns()], 0.0);
    for (mean, w) in parts.iter().filter(|(_, w)| *w > 0.0) {
        run(&mut total, &mut weight, mean, *w);
    }
    total
}
