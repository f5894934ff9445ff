//! Sphering of fewer rows than columns, from the products of rows instead of columns: memory
//! grows with rows × columns, never with columns².

use super::sphering::{Covariance, sphering};
use super::{Dims, Whitening};
use crate::error::{Error, Result};
use crate::linalg::{Spectrum, eigen, eigenvalues};
use crate::moments;
use crate::rows::Rows;
use faer::Mat;

impl Whitening {
    /// The same as from moments, refined on the rows.
    pub(super) fn of_few(rows: &Rows, dims: Dims) -> Result<Self> {
        rows.check()?;
        let used: Vec<usize> = (0..rows.len()).filter(|&i| rows.weight(i) > 0.0).collect();
        if used.len() < 2 {
            return Err(Error::TooFewRows { rows: used.len(), needed: 2 });
        }
        let weight: f64 = used.iter().map(|&i| rows.weight(i)).sum();
        let mean = moments::mean(rows);
        // A row of the table is a column here, times √(w/Σw): products of these add up.
        let mut centred = Mat::zeros(rows.columns(), used.len());
        for (k, &i) in used.iter().enumerate() {
            let root = (rows.weight(i) / weight).sqrt();
            let row = rows.row(i);
            let differences = row.iter().zip(&mean).map(|(x, m)| (x - m) * root);
            centred.col_mut(k).iter_mut().zip(differences).for_each(|(c, d)| *c = d);
        }
        let variances: Vec<f64> =
            (0..rows.columns()).map(|i| centred.row(i).iter().map(|c| c * c).sum()).collect();
        moments::check_spread(&variances, &mean, rows)?;
        let (mut whitening, _) = sphering(&Centred(centred), used.len(), mean, variances, dims)?;
        whitening.refine(rows)?;
        Ok(whitening)
    }
}

/// Rows less their mean as columns: C is this times its transpose.
struct Centred(Mat<f64>);

impl Centred {
    fn scaled(&self, scales: &[(usize, f64)]) -> Mat<f64> {
        Mat::from_fn(scales.len(), self.0.ncols(), |k, row| {
            self.0[(scales[k].0, row)] / scales[k].1
        })
    }
}

impl Covariance for Centred {
    fn eigenvalues(&self, scales: &[(usize, f64)]) -> Result<Vec<f64>> {
        let y = self.scaled(scales);
        eigenvalues(&(y.transpose() * &y))
    }

    /// The eigenvalues and vectors of Y Yᵀ that can be nonzero, from YᵀY.
    fn eigen(&self, scales: &[(usize, f64)]) -> Result<Spectrum> {
        let y = self.scaled(scales);
        let (values, inner) = eigen(&(y.transpose() * &y))?;
        let mut vectors = y * inner;
        for (k, value) in values.iter().enumerate() {
            let length = value.max(f64::MIN_POSITIVE).sqrt();
            vectors.col_mut(k).iter_mut().for_each(|v| *v /= length);
        }
        Ok((values, vectors))
    }

    fn inverse(&self, a: &Mat<f64>) -> Mat<f64> {
        &self.0 * (a * &self.0).transpose()
    }
}
