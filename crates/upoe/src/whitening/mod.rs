//! Rows to sphered rows and back: x = A (row − m).

mod outside;
mod sphering;
mod wide;

pub use outside::Outside;

use crate::error::{Error, Result, invalid};
use crate::linalg::{combined, dot, unit};
use crate::random;
use crate::rows::{Rows, Values};
use faer::Mat;
use rand::RngExt;
use rand_distr::StandardNormal;
use serde::{Deserialize, Serialize};

/// How many dimensions sphering keeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Dims {
    /// All that have variance.
    #[default]
    All,
    /// This many, those of largest variance.
    Count(usize),
    /// As few as hold this share of the total variance.
    Share(f64),
}

/// What lies outside the kept dimensions, and so how a density over all columns is made.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Rest {
    /// Nothing: A is square.
    Nothing,
    /// Dimensions without variance: the density is over the subspace that the training rows
    /// span, and a row outside it has density 0.
    Degenerate,
    /// Dropped dimensions, modelled as isotropic Gaussian noise of their mean variance
    /// (probabilistic PCA).
    Noise {
        /// The mean variance of the dropped dimensions.
        variance: f64,
    },
}

/// Centring and sphering: x = A (row − m), with ⟨xxᵀ⟩ = I over the training rows (the
/// average divides by Σ weights; equation (6) needs that).
///
/// A = Λ^(−½) Uᵀ with the eigenvalues of the covariance falling and each row's largest entry
/// positive. Where scales differ by more than 1e5, between columns or dimensions, double precision
/// cannot give the eigenvectors of the covariance. Then, if nothing is dropped, and also where
/// dimensions have no variance, the eigenvectors of the correlation are used: another rotation of
/// the same sphered rows.
#[derive(Clone, Debug)]
pub struct Whitening {
    mean: Vec<f64>,
    matrix: Mat<f64>,
    inverse: Mat<f64>,
    ln_det: f64,
    rank: usize,
    kept_variance: f64,
    rest: Rest,
    deviations: Vec<f64>,
}

/// The parts of a [`Whitening`], as a file stores them.
#[derive(Clone, Debug)]
pub struct WhiteningParts {
    /// See [`Whitening::mean`].
    pub mean: Vec<f64>,
    /// See [`Whitening::matrix`].
    pub matrix: Mat<f64>,
    /// See [`Whitening::inverse`].
    pub inverse: Mat<f64>,
    /// See [`Whitening::ln_det`].
    pub ln_det: f64,
    /// See [`Whitening::rank`].
    pub rank: usize,
    /// See [`Whitening::kept_variance`].
    pub kept_variance: f64,
    /// See [`Whitening::rest`].
    pub rest: Rest,
    /// See [`Whitening::deviations`].
    pub deviations: Vec<f64>,
}

impl Whitening {
    /// A whitening from its parts, if their shapes agree and every number is finite. No number
    /// is changed.
    pub fn from_parts(parts: WhiteningParts) -> Result<Self> {
        let WhiteningParts { mean, matrix, inverse, ln_det, rank, kept_variance, rest, deviations } =
            parts;
        let (columns, dims) = (mean.len(), matrix.nrows());
        let shapes = [
            ("columns of the sphering matrix", columns, matrix.ncols()),
            ("rows of the inverse sphering matrix", columns, inverse.nrows()),
            ("columns of the inverse sphering matrix", dims, inverse.ncols()),
            ("deviations, one per column", columns, deviations.len()),
        ];
        if let Some((what, expected, got)) = shapes.into_iter().find(|(_, a, b)| a != b) {
            return Err(Error::Shape { what, expected, got });
        }
        if !(1..=columns).contains(&dims) || !(dims..=columns).contains(&rank) {
            return invalid("rank", rank, "dimensions ≤ rank ≤ columns must hold");
        }
        let consistent = match rest {
            Rest::Nothing => dims == columns,
            Rest::Degenerate => dims < columns,
            Rest::Noise { variance } => dims < columns && variance > 0.0 && variance.is_finite(),
        };
        if !consistent {
            return invalid("rest", format!("{rest:?}"), "does not fit the kept dimensions");
        }
        let matrices =
            [&matrix, &inverse].map(|m| m.col_iter().all(|c| c.iter().all(|x| x.is_finite())));
        let vectors = [&mean, &deviations].map(|v| v.iter().all(|x| x.is_finite()));
        let scalars = ln_det.is_finite() && kept_variance.is_finite();
        if !(scalars
            && matrices == [true; 2]
            && vectors == [true; 2]
            && deviations.iter().all(|s| *s >= 0.0))
        {
            return invalid(
                "whitening",
                "its numbers",
                "must be finite, and deviations not negative",
            );
        }
        Ok(Whitening { mean, matrix, inverse, ln_det, rank, kept_variance, rest, deviations })
    }

    /// m, the mean of the training rows: one entry per column.
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// A: dimensions × columns.
    pub fn matrix(&self) -> &Mat<f64> {
        &self.matrix
    }

    /// A⁺, the way back: columns × dimensions.
    pub fn inverse(&self) -> &Mat<f64> {
        &self.inverse
    }

    /// The sphering of rows that are `factor` times as far from the mean.
    pub(crate) fn stretched(&self, factor: f64) -> Self {
        let scaled =
            |m: &Mat<f64>, by: f64| Mat::from_fn(m.nrows(), m.ncols(), |i, j| by * m[(i, j)]);
        let mut wider = self.clone();
        wider.matrix = scaled(&self.matrix, 1.0 / factor);
        wider.inverse = scaled(&self.inverse, factor);
        wider.ln_det -= self.dims() as f64 * factor.ln();
        if let Rest::Noise { variance } = &mut wider.rest {
            *variance *= factor * factor;
        }
        wider
    }

    /// The unit directions in sphered space on which projections are the columns, up to scale;
    /// columns that do not vary have none.
    pub(crate) fn column_directions(&self) -> Vec<Vec<f64>> {
        let row = |i: usize| (0..self.dims()).map(|k| self.inverse[(i, k)]).collect::<Vec<f64>>();
        let columns = (0..self.columns()).map(row).filter(|w| dot(w, w) > 0.0);
        columns.map(|w| unit(&w)).filter(|w| w.iter().all(|x| x.is_finite())).collect()
    }

    /// The direction in sphered space on which projections are a sum of columns, up to a constant; for a sum with
    /// these factors.
    pub(crate) fn direction_of(&self, factors: &[f64]) -> Vec<f64> {
        let entry = |k: usize| -> f64 {
            factors.iter().enumerate().map(|(i, f)| f * self.inverse[(i, k)]).sum()
        };
        (0..self.dims()).map(entry).collect()
    }

    /// The factors of the columns in a direction of sphered space.
    pub(crate) fn factors_of(&self, direction: &[f64]) -> Vec<f64> {
        let a = self.matrix();
        let factor = |i: usize| direction.iter().enumerate().map(|(k, w)| w * a[(k, i)]).sum();
        (0..self.columns()).map(factor).collect()
    }

    /// ln|A|; for a rank-reduced A the log-volume factor on the kept subspace.
    pub fn ln_det(&self) -> f64 {
        self.ln_det
    }

    /// How many dimensions of the data have variance, judged on standardised columns.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// The share of the total variance that was kept.
    pub fn kept_variance(&self) -> f64 {
        self.kept_variance
    }

    /// What lies outside the kept dimensions.
    pub fn rest(&self) -> Rest {
        self.rest
    }

    /// The standard deviation of each column, 0 for a constant one.
    pub fn deviations(&self) -> &[f64] {
        &self.deviations
    }

    /// D, how many dimensions sphered rows have.
    pub fn dims(&self) -> usize {
        self.matrix.nrows()
    }

    /// D₀, how many columns the data have.
    pub fn columns(&self) -> usize {
        self.mean.len()
    }

    /// Sphered rows, row after row.
    pub fn sphere(&self, rows: &Rows) -> Result<Vec<f64>> {
        self.check_columns(rows.columns())?;
        rows.check()?;
        Ok(self.sphere_as(rows).to_vec())
    }

    /// The same, stored as single or double precision.
    pub(crate) fn sphere_as<T: upoe_kernels::Real>(&self, rows: &Rows) -> upoe_kernels::Aligned<T> {
        let matrix = self.flat();
        match rows.values() {
            Values::Double(x) => upoe_kernels::affine(x, self.columns(), &self.mean, &matrix),
            Values::Single(x) => upoe_kernels::affine(x, self.columns(), &self.mean, &matrix),
        }
    }

    /// A, row after row.
    pub(crate) fn flat(&self) -> Vec<f64> {
        (0..self.dims()).flat_map(|i| self.matrix.row(i).iter().copied()).collect()
    }

    /// One sphered row.
    pub fn sphere_row(&self, row: &[f64]) -> Vec<f64> {
        self.sphere_change(&self.centre(row).collect::<Vec<f64>>())
    }

    /// A·change: what a change of a row changes in the sphered row.
    pub(crate) fn sphere_change(&self, change: &[f64]) -> Vec<f64> {
        combined(&self.matrix, change)
    }

    /// The part of a change outside the kept dimensions, given A·change.
    pub(crate) fn residual_change(&self, change: &[f64], x: &[f64]) -> Vec<f64> {
        change.iter().zip(combined(&self.inverse, x)).map(|(c, back)| c - back).collect()
    }

    /// The row that a sphered row belongs to (the nearest one, where dimensions were dropped).
    pub fn restore(&self, x: &[f64]) -> Vec<f64> {
        (0..self.columns())
            .map(|i| {
                let shift: f64 = x.iter().enumerate().map(|(k, x)| self.inverse[(i, k)] * x).sum();
                self.mean[i] + shift
            })
            .collect()
    }

    /// What is added to ln p of a sphered row to get ln p of the row: ln|A|, and the log-density
    /// of what lies outside the kept dimensions; −∞ for a row outside the subspace of a
    /// degenerate model, or so far away that squares overflow.
    pub fn ln_jacobian(&self, row: &[f64], x: &[f64]) -> f64 {
        self.ln_det
            + match self.rest {
                Rest::Nothing => 0.0,
                Rest::Degenerate if self.off(row, x).next().is_some() => f64::NEG_INFINITY,
                Rest::Degenerate => 0.0,
                Rest::Noise { variance } => {
                    let square: f64 = self.residual(row, x).iter().map(|r| r * r).sum();
                    let square = if square.is_nan() { f64::INFINITY } else { square };
                    let dropped = (self.columns() - self.dims()) as f64;
                    -0.5 * square / variance
                        - 0.5 * dropped * (std::f64::consts::TAU * variance).ln()
                }
            }
    }

    /// The columns in which a row leaves the subspace of a degenerate model.
    pub(crate) fn off(&self, row: &[f64], x: &[f64]) -> impl Iterator<Item = usize> {
        let degenerate = self.rest == Rest::Degenerate;
        let residual = if degenerate { self.residual(row, x) } else { Vec::new() };
        // Dimensions of up to 1e-7 deviations per column do not count, and rounding grows with the
        // distance from the mean.
        let tolerance = 1e-4 + 1e-6 * self.columns() as f64;
        let distance = 1.0 + x.iter().fold(0.0_f64, |a, x| a.max(x.abs()));
        residual.into_iter().enumerate().filter_map(move |(i, r)| {
            let size = tolerance * self.deviations[i] + 1e-9 * self.mean[i].abs();
            (!(r.abs() <= size * distance)).then_some(i)
        })
    }

    /// The part of row − m outside the kept dimensions.
    pub fn residual(&self, row: &[f64], x: &[f64]) -> Vec<f64> {
        row.iter().zip(self.restore(x)).map(|(r, b)| r - b).collect()
    }

    fn centre<'a>(&'a self, row: &'a [f64]) -> impl Iterator<Item = f64> + 'a {
        row.iter().zip(&self.mean).map(|(x, m)| x - m)
    }

    /// Adds noise of this variance outside the kept dimensions.
    pub(crate) fn add_noise(&self, row: &mut [f64], variance: f64, rng: &mut random::Stream) {
        let noise = row.iter().map(|_| variance.sqrt() * rng.sample::<f64, _>(StandardNormal));
        let about: Vec<f64> = noise.zip(self.mean()).map(|(n, m)| n + m).collect();
        let outside = self.residual(&about, &self.sphere_row(&about));
        row.iter_mut().zip(outside).for_each(|(r, o)| *r += o);
    }

    /// Refuses rows of another number of columns.
    pub fn check_columns(&self, got: usize) -> Result<()> {
        match self.columns() {
            expected if expected == got => Ok(()),
            expected => Err(Error::Shape { what: "columns of a row", expected, got }),
        }
    }
}
