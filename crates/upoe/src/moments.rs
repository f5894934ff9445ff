//! Count, mean and scatter of rows: sums that can be merged.

use crate::error::{Error, Result};
use crate::rows::Rows;
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par};
use rayon::prelude::*;

/// Total weight, mean and scatter Σ w (x − mean)(x − mean)ᵀ of some rows.
///
/// Every block of rows is centred on its own mean before products are formed, and blocks
/// are merged by the pairwise formula of Chan, Golub and LeVeque, so digits survive a mean
/// that is 1e8 times the spread.
#[derive(Clone, Debug)]
pub struct Moments {
    /// Rows with a positive weight.
    pub rows: usize,
    /// Σ w.
    pub weight: f64,
    /// The weighted mean.
    pub mean: Vec<f64>,
    /// Σ w (x − mean)(x − mean)ᵀ.
    pub scatter: Mat<f64>,
}

const BLOCK: usize = 256;

impl Moments {
    /// Of no rows at all.
    pub fn empty(columns: usize) -> Self {
        Moments {
            rows: 0,
            weight: 0.0,
            mean: vec![0.0; columns],
            scatter: Mat::zeros(columns, columns),
        }
    }

    /// Of some rows, whose cells and weights must be finite.
    pub fn of(rows: &Rows) -> Result<Self> {
        rows.check()?;
        let columns = rows.columns();
        let parts: Vec<Moments> = upoe_kernels::chunks(rows.len())
            .into_par_iter()
            .map(|range| {
                range.clone().step_by(BLOCK).fold(Moments::empty(columns), |mut sum, start| {
                    sum.merge(&Moments::of_block(rows, start, (start + BLOCK).min(range.end)));
                    sum
                })
            })
            .collect();
        let mut total = Moments::empty(columns);
        parts.iter().for_each(|part| total.merge(part));
        match (0..columns).find(|&i| !total.scatter[(i, i)].is_finite()) {
            Some(column) => {
                Err(Error::Spread { column, variance: total.scatter[(column, column)] })
            }
            None => Ok(total),
        }
    }

    fn of_block(rows: &Rows, start: usize, stop: usize) -> Self {
        let columns = rows.columns();
        let (mut weight, mut count) = (0.0, 0);
        let mut mean = vec![0.0; columns];
        for i in start..stop {
            let w = rows.weight(i);
            if w > 0.0 {
                count += 1;
                weight += w;
                // Running mean: no overflow near the largest numbers, no cancellation.
                for (m, x) in mean.iter_mut().zip(rows.row(i)) {
                    *m += (x - *m) * (w / weight);
                }
            }
        }
        let mut centred = Vec::with_capacity((stop - start) * columns);
        for i in start..stop {
            let root = rows.weight(i).sqrt();
            centred.extend(rows.row(i).iter().zip(&mean).map(|(x, m)| root * (x - m)));
        }
        let centred = MatRef::from_row_major_slice(&centred, stop - start, columns);
        let mut scatter = Mat::zeros(columns, columns);
        matmul(&mut scatter, Accum::Replace, centred.transpose(), centred, 1.0, Par::Seq);
        let mut out = Moments { rows: count, weight, mean, scatter };
        out.recentre(rows, start, stop);
        out
    }

    /// Removes what rounding left of the mean: Σ w (x − mean) is zero only to rounding.
    fn recentre(&mut self, rows: &Rows, start: usize, stop: usize) {
        if self.weight == 0.0 {
            return;
        }
        let mut rest = vec![0.0; self.mean.len()];
        for i in start..stop {
            let w = rows.weight(i) / self.weight;
            for ((r, x), m) in rest.iter_mut().zip(rows.row(i)).zip(&self.mean) {
                *r += w * (x - m);
            }
        }
        self.subtract(&rest, self.weight);
        self.mean.iter_mut().zip(&rest).for_each(|(m, r)| *m += r);
    }

    /// scatter ← scatter − factor · v vᵀ.
    fn subtract(&mut self, v: &[f64], factor: f64) {
        for j in 0..v.len() {
            for i in 0..v.len() {
                self.scatter[(i, j)] -= factor * v[i] * v[j];
            }
        }
    }

    /// Adds the moments of other rows.
    pub fn merge(&mut self, other: &Moments) {
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

    /// ⟨x xᵀ⟩ about the origin.
    pub fn second(&self) -> Mat<f64> {
        let covariance = self.covariance();
        Mat::from_fn(self.mean.len(), self.mean.len(), |i, j| {
            covariance[(i, j)] + self.mean[i] * self.mean[j]
        })
    }
}
