//! Rows to sphered rows and back: x = A (row − m).

mod wide;

use crate::error::{Error, Result, invalid};
use crate::moments::{Moments, SMALLEST};
use crate::rows::{Rows, Values};
use faer::{Mat, Side};
use serde::{Deserialize, Serialize};

/// How many dimensions sphering keeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
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
pub enum Rest {
    /// Nothing: A is square.
    Nothing,
    /// Dimensions without variance: the density lives on the subspace the training rows
    /// span, and a row that leaves it has density 0.
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
/// positive. Where scales differ by more than 1e5, between columns or dimensions, the eigenvectors
/// of the covariance cannot be had in double precision; then, if nothing is dropped, and where
/// dimensions have no variance, the eigenvectors of the correlation serve: another rotation of the
/// same sphered rows.
#[derive(Clone, Debug)]
pub struct Whitening {
    /// m, the training rows' mean: one entry a column.
    pub mean: Vec<f64>,
    /// A: dimensions × columns.
    pub matrix: Mat<f64>,
    /// A⁺, the way back: columns × dimensions.
    pub inverse: Mat<f64>,
    /// ln|A|; for a rank-reduced A the log-volume factor on the kept subspace.
    pub ln_det: f64,
    /// How many dimensions of the data have variance, judged on standardised columns.
    pub rank: usize,
    /// The share of the total variance that was kept.
    pub kept_variance: f64,
    /// What lies outside the kept dimensions.
    pub rest: Rest,
    /// Standard deviation of each column, 0 for a constant one.
    pub deviations: Vec<f64>,
}

/// Largest ratio of scales, of columns or of dimensions, for which the covariance's own
/// eigenvectors are used.
const GRADED: f64 = 1e5;
/// Below this smallest eigenvalue of the correlation, sphering is refined on the rows.
const ILL: f64 = 1e-6;

impl Whitening {
    /// Sphering of the given rows.
    ///
    /// ```
    /// use upoe::{Dims, Rows, Whitening};
    /// let rows = Rows::new(&[1.0, 0.0, 2.0, 3.0, 3.0, 0.0, 4.0, 3.0], 2)?;
    /// let whitening = Whitening::fit(&rows, Dims::All)?;
    /// let x = whitening.sphere(&rows)?;
    /// assert!((x.iter().map(|x| x * x).sum::<f64>() / 8.0 - 1.0).abs() < 1e-12);
    /// # Ok::<(), upoe::Error>(())
    /// ```
    pub fn fit(rows: &Rows, dims: Dims) -> Result<Self> {
        if rows.len() < rows.columns() {
            return Self::of_few(rows, dims);
        }
        let (mut whitening, smallest) = Self::from_moments(Moments::of(rows)?, dims)?;
        if smallest < ILL {
            whitening.refine(rows)?;
        }
        Ok(whitening)
    }

    /// Sphering from moments alone, and the smallest kept eigenvalue of the correlation
    /// matrix relative to the largest, which says how many digits the moments could give.
    pub fn from_moments(moments: Moments, dims: Dims) -> Result<(Self, f64)> {
        let (rows, mean, covariance) = (moments.rows, moments.mean, moments.scatter);
        let covariance = faer::Scale(1.0 / moments.weight) * covariance;
        let variances = (0..mean.len()).map(|i| covariance[(i, i)]).collect();
        let (mut whitening, smallest) = sphering(&covariance, rows, mean, variances, dims)?;
        // What rounding left undone, A C Aᵀ − I, is corrected once.
        let again = &whitening.matrix * &whitening.inverse;
        whitening.correct(&again)?;
        Ok((whitening, smallest))
    }

    /// Corrects m and A so that the training rows become exactly centred and white.
    fn refine(&mut self, rows: &Rows) -> Result<()> {
        let x = self.sphere_as::<f64>(rows);
        let mut x = Rows::new(&x, self.dims())?;
        if let Some(weights) = rows.weights() {
            x = x.weighted(weights)?;
        }
        let sphered = Moments::of(&x)?;
        for (i, m) in self.mean.iter_mut().enumerate() {
            *m += (0..self.matrix.nrows())
                .map(|k| self.inverse[(i, k)] * sphered.mean[k])
                .sum::<f64>();
        }
        self.correct(&sphered.covariance())
    }

    /// A ← E^(−½) A for E = ⟨xxᵀ⟩ close to the identity; each row's largest entry is made
    /// positive.
    fn correct(&mut self, white: &Mat<f64>) -> Result<()> {
        let n = white.nrows();
        let one = |i: usize, j: usize| f64::from(u8::from(i == j));
        let off = Mat::from_fn(n, n, |i, j| 0.5 * (white[(i, j)] + white[(j, i)]) - one(i, j));
        let sums = (0..n).map(|j| off.col(j).iter().map(|x| x.abs()).sum::<f64>());
        let size = sums.fold(0.0, |a, b| if a >= b { a } else { b });
        if !size.is_finite() {
            return Err(Error::NoConvergence { what: "sphering" });
        }
        if size < 1e-14 {
            // Nothing to correct.
        } else if size < 1e-5 {
            // (I + δ)^p by its series.
            let square = &off * &off;
            let power = |a: f64, b: f64| {
                Mat::from_fn(n, n, |i, j| one(i, j) + a * off[(i, j)] + b * square[(i, j)])
            };
            self.matrix = power(-0.5, 0.375) * &self.matrix;
            self.inverse = &self.inverse * power(0.5, -0.125);
            let trace: f64 = (0..n).map(|i| off[(i, i)] - 0.5 * square[(i, i)]).sum();
            self.ln_det -= 0.5 * trace;
        } else {
            let (values, vectors) = eigen(&(&off + Mat::<f64>::identity(n, n)))?;
            let power = |p: f64| {
                let power = |k: usize| values[k].max(f64::EPSILON).powf(p);
                let scaled = Mat::from_fn(n, n, |i, k| vectors[(i, k)] * power(k));
                &scaled * vectors.transpose()
            };
            self.matrix = power(-0.5) * &self.matrix;
            self.inverse = &self.inverse * power(0.5);
            self.ln_det -= 0.5 * values.iter().map(|v| v.max(f64::EPSILON).ln()).sum::<f64>();
        }
        for i in 0..n {
            // Ties in size go to the first, so that rounding does not flip the sign.
            let larger = |a: f64, b: &f64| if b.abs() > a.abs() * (1.0 + 1e-9) { *b } else { a };
            if self.matrix.row(i).iter().fold(0.0, larger) < 0.0 {
                self.matrix.row_mut(i).iter_mut().for_each(|x| *x = -*x);
                self.inverse.col_mut(i).iter_mut().for_each(|x| *x = -*x);
            }
        }
        Ok(())
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
    fn flat(&self) -> Vec<f64> {
        (0..self.dims()).flat_map(|i| self.matrix.row(i).iter().copied()).collect()
    }

    /// One sphered row.
    pub fn sphere_row(&self, row: &[f64]) -> Vec<f64> {
        let centred: Vec<f64> = self.centre(row).collect();
        (0..self.dims())
            .map(|i| centred.iter().enumerate().map(|(j, c)| self.matrix[(i, j)] * c).sum())
            .collect()
    }

    /// The row that a sphered row stands for (its nearest one, where dimensions were dropped).
    pub fn restore(&self, x: &[f64]) -> Vec<f64> {
        (0..self.columns())
            .map(|i| {
                let shift: f64 = x.iter().enumerate().map(|(k, x)| self.inverse[(i, k)] * x).sum();
                self.mean[i] + shift
            })
            .collect()
    }

    /// What ln p gains on the way from sphered rows to rows: ln|A|, and the density of what
    /// lies outside the kept dimensions; −∞ for a row off the subspace of a degenerate model,
    /// or so far away that squares overflow.
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
        // Dimensions of up to 1e-7 deviations a column do not count, and rounding grows with the
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

    pub(crate) fn check_columns(&self, got: usize) -> Result<()> {
        match self.columns() {
            expected if expected == got => Ok(()),
            expected => Err(Error::Shape { what: "columns of a row", expected, got }),
        }
    }
}

/// ½ ln|BᵀB|, for rows of B on any scales: reflections keep the digits of each row if the longest
/// come first and columns are exchanged.
fn ln_volume(b: &Mat<f64>) -> f64 {
    let length = |i: usize| b.row(i).iter().fold(0.0_f64, |a, x| a.max(x.abs()));
    let mut order: Vec<usize> = (0..b.nrows()).collect();
    order.sort_by(|&i, &j| length(j).total_cmp(&length(i)));
    let sorted = Mat::from_fn(b.nrows(), b.ncols(), |i, k| b[(order[i], k)]);
    let triangle = sorted.col_piv_qr();
    (0..b.ncols()).map(|k| triangle.R()[(k, k)].abs().ln()).sum()
}

/// Eigenvalues, falling, and vectors as columns.
type Spectrum = (Vec<f64>, Mat<f64>);

/// What knows the covariance C of a table.
trait Covariance {
    /// The eigenvalues of C over some columns, each over a scale.
    fn eigenvalues(&self, scales: &[(usize, f64)]) -> Result<Vec<f64>>;
    /// The same with vectors.
    fn eigen(&self, scales: &[(usize, f64)]) -> Result<Spectrum>;
    /// C Aᵀ.
    fn inverse(&self, a: &Mat<f64>) -> Mat<f64>;
}

impl Covariance for Mat<f64> {
    fn eigenvalues(&self, scales: &[(usize, f64)]) -> Result<Vec<f64>> {
        eigenvalues(&scaled(self, scales))
    }
    fn eigen(&self, scales: &[(usize, f64)]) -> Result<Spectrum> {
        eigen(&scaled(self, scales))
    }
    fn inverse(&self, a: &Mat<f64>) -> Mat<f64> {
        self * a.transpose()
    }
}

fn scaled(covariance: &Mat<f64>, scales: &[(usize, f64)]) -> Mat<f64> {
    Mat::from_fn(scales.len(), scales.len(), |i, j| {
        let ((a, s), (b, t)) = (scales[i], scales[j]);
        covariance[(a, b)] / s / t
    })
}

/// A for a table of so many rows, and the smallest kept eigenvalue of the correlation relative
/// to the largest.
fn sphering(
    covariance: &impl Covariance,
    rows: usize,
    mean: Vec<f64>,
    variances: Vec<f64>,
    dims: Dims,
) -> Result<(Whitening, f64)> {
    match dims {
        Dims::Count(0) => return invalid("dims", 0, "at least one dimension must be kept"),
        Dims::Share(s) if !(s > 0.0 && s <= 1.0) => {
            return invalid("dims", s, "a share of variance lies above 0 and at most at 1");
        }
        _ => {}
    }
    if rows < 2 {
        return Err(Error::TooFewRows { rows, needed: 2 });
    }
    // A column is constant when its deviation is what rounding its mean could leave, or
    // too small to be squared; `Moments::of` refuses those of the latter kind that vary.
    let deviations: Vec<f64> = (variances.iter().map(|v| v.max(0.0).sqrt()))
        .zip(&mean)
        .map(|(s, m)| if s > 4.0 * f64::EPSILON * m.abs() && s > SMALLEST { s } else { 0.0 })
        .collect();
    let varies: Vec<usize> = (0..mean.len()).filter(|&i| deviations[i] > 0.0).collect();
    if varies.is_empty() {
        return Err(Error::NoVariance { columns: mean.len() });
    }
    let own: Vec<(usize, f64)> = varies.iter().map(|&i| (i, deviations[i])).collect();
    let one: Vec<(usize, f64)> = varies.iter().map(|&i| (i, 1.0)).collect();

    let columns = mean.len();
    let correlation = covariance.eigenvalues(&own)?;
    let tolerance = 64.0 * varies.len() as f64 * f64::EPSILON * correlation[0];
    let rank = correlation.iter().take_while(|&&v| v > tolerance).count();
    let rank = rank.min(rows - 1).min(varies.len());
    if rank == 0 {
        return Err(Error::NoConvergence { what: "eigendecomposition" });
    }
    let smallest = correlation[rank - 1] / correlation[0];

    let mut spectrum = covariance.eigenvalues(&one)?;
    spectrum.truncate(rank);
    let total: f64 = varies.iter().map(|&i| variances[i].max(0.0)).sum();
    let kept = match dims {
        Dims::All => rank,
        Dims::Count(n) if n > rank => {
            let rule = format!("the data have variance in {rank} dimension(s) only");
            return invalid("dims", n, rule);
        }
        Dims::Count(n) => n,
        Dims::Share(s) => {
            let mut sum = 0.0;
            let enough = s * total * (1.0 - 1e-12);
            let n = spectrum.iter().take_while(|&&v| (sum < enough, sum += v).0).count();
            n.clamp(1, rank)
        }
    };
    let (low, high) =
        own.iter().fold((f64::INFINITY, 0.0_f64), |(low, high), &(_, s)| (low.min(s), high.max(s)));
    let lost = !(spectrum[rank - 1] * GRADED * GRADED > spectrum[0]);
    // The subspace of degenerate rows is that of the correlation, which has given the rank.
    let degenerate = rank < varies.len();
    let graded = kept == rank && (high / low > GRADED || lost || degenerate);
    let scales = if graded { own } else { one };
    let (values, vectors) = covariance.eigen(&scales)?;
    let mut matrix = Mat::zeros(kept, columns);
    for (k, &(column, scale)) in scales.iter().enumerate() {
        for i in 0..kept {
            matrix[(i, column)] = vectors[(k, i)] / scale / values[i].sqrt();
        }
    }
    let inverse = covariance.inverse(&matrix);
    let ln_det = if graded && degenerate {
        -ln_volume(&inverse)
    } else {
        -scales.iter().map(|(_, s)| s.ln()).sum::<f64>()
            - 0.5 * values[..kept].iter().map(|v| v.ln()).sum::<f64>()
    };
    let kept_sum: f64 = spectrum[..kept].iter().sum();
    let rest = if kept == columns {
        Rest::Nothing
    } else if kept == rank {
        Rest::Degenerate
    } else {
        let dropped = total - kept_sum;
        if !(dropped > 64.0 * columns as f64 * f64::EPSILON * total) {
            let rule = "what is dropped cannot be told from rounding: rescale the columns";
            return invalid("dims", kept, rule);
        }
        Rest::Noise { variance: dropped / (columns - kept) as f64 }
    };
    let kept_variance = (kept_sum / total).min(1.0);
    let whitening =
        Whitening { mean, matrix, inverse, ln_det, rank, kept_variance, rest, deviations };
    Ok((whitening, smallest))
}

/// Eigenvalues, falling.
fn eigenvalues(symmetric: &Mat<f64>) -> Result<Vec<f64>> {
    let mut values = symmetric
        .self_adjoint_eigenvalues(Side::Lower)
        .map_err(|_| Error::NoConvergence { what: "eigendecomposition" })?;
    values.reverse();
    Ok(values)
}

/// Eigenvalues, falling, and their vectors as columns.
fn eigen(symmetric: &Mat<f64>) -> Result<Spectrum> {
    let found = symmetric
        .self_adjoint_eigen(Side::Lower)
        .map_err(|_| Error::NoConvergence { what: "eigendecomposition" })?;
    let n = symmetric.nrows();
    let values = (0..n).map(|k| found.S()[n - 1 - k]).collect();
    let vectors = Mat::from_fn(n, n, |i, k| found.U()[(i, n - 1 - k)]);
    Ok((values, vectors))
}

pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    // Eight sums side by side: one alone would wait for each addition to end.
    let (a8, a) = a.as_chunks::<8>();
    let (b8, b) = b.as_chunks::<8>();
    let mut sums = [0.0; 8];
    for (a, b) in a8.iter().zip(b8) {
        for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
            *sum += a * b;
        }
    }
    let rest: f64 = a.iter().zip(b).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f64>() + rest
}
