//! Finding A: from moments, corrected until the training rows are exactly white.

use super::{Dims, Rest, Whitening};
use crate::error::{Error, Result, counted, invalid};
use crate::linalg::{Spectrum, eigen, eigenvalues};
use crate::moments::{Moments, MomentsOf, SMALLEST};
use crate::rows::Rows;
use faer::Mat;

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
        Self::fit_by(rows, dims, &Moments::of)
    }

    /// The same with moments that are computed in another way.
    pub(crate) fn fit_by(rows: &Rows, dims: Dims, moments: &MomentsOf) -> Result<Self> {
        if rows.len() < rows.columns() {
            return Self::of_few(rows, dims);
        }
        let (mut whitening, smallest) = Self::from_moments(&moments(rows)?, dims)?;
        if Self::is_ill(smallest) {
            whitening.refine(rows)?;
        }
        Ok(whitening)
    }

    /// Sphering from moments alone, and the smallest kept eigenvalue of the correlation
    /// matrix relative to the largest, which says how many digits the moments could give.
    pub fn from_moments(moments: &Moments, dims: Dims) -> Result<(Self, f64)> {
        let covariance = moments.covariance();
        let (rows, mean) = (moments.rows(), moments.mean().to_vec());
        let variances = (0..mean.len()).map(|i| covariance[(i, i)]).collect();
        let (mut whitening, smallest) = sphering(&covariance, rows, mean, variances, dims)?;
        // What rounding left undone, A C Aᵀ − I, is corrected once.
        let again = &whitening.matrix * &whitening.inverse;
        whitening.correct(&again)?;
        Ok((whitening, smallest))
    }

    /// Corrects m and A so that the training rows become exactly centred and white.
    pub(super) fn refine(&mut self, rows: &Rows) -> Result<()> {
        let x = self.sphere_as::<f64>(rows);
        let mut x = Rows::new(&x, self.dims())?;
        if let Some(weights) = rows.weights() {
            x = x.weighted(weights)?;
        }
        self.refine_by(&Moments::in_parts_of(&x, rows.columns())?)
    }

    /// Whether the smallest eigenvalue that [`Whitening::from_moments`] gives asks for refining.
    pub(crate) fn is_ill(smallest: f64) -> bool {
        smallest < ILL
    }

    /// The same from the moments of the training rows under this sphering.
    pub(crate) fn refine_by(&mut self, sphered: &Moments) -> Result<()> {
        for (i, m) in self.mean.iter_mut().enumerate() {
            *m += (0..self.matrix.nrows())
                .map(|k| self.inverse[(i, k)] * sphered.mean()[k])
                .sum::<f64>();
        }
        self.correct(&sphered.covariance())
    }

    /// A⁺ ← A⁺ (A A⁺)⁻¹ by Newton's steps, where rounding left A A⁺ away from the identity: C Aᵀ has lost as many
    /// digits as the variances of dimensions differ in. What the columns of A⁺ span stays.
    fn invert(&mut self) {
        const STEPS: usize = 4;
        let n = self.dims();
        for _ in 0..STEPS {
            let off = Mat::<f64>::identity(n, n) - &self.matrix * &self.inverse;
            let size = off.norm_max();
            if !(1e-10..0.5).contains(&size) {
                return;
            }
            self.inverse = &self.inverse + &self.inverse * off;
        }
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
        self.invert();
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

/// The covariance C of a table, in a form that can be decomposed.
pub(super) trait Covariance {
    /// The eigenvalues of C for some columns, each divided by a scale.
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

/// A for a table of `rows` rows, and the smallest kept eigenvalue of the correlation relative
/// to the largest.
pub(super) fn sphering(
    covariance: &impl Covariance,
    rows: usize,
    mean: Vec<f64>,
    variances: Vec<f64>,
    dims: Dims,
) -> Result<(Whitening, f64)> {
    dims.check()?;
    if rows < 2 {
        return Err(Error::TooFewRows { rows, needed: 2 });
    }
    let deviations = deviations(&variances, &mean);
    let varies: Vec<usize> = (0..mean.len()).filter(|&i| deviations[i] > 0.0).collect();
    if varies.is_empty() {
        return Err(Error::NoVariance { columns: mean.len() });
    }
    let own: Vec<(usize, f64)> = varies.iter().map(|&i| (i, deviations[i])).collect();
    let one: Vec<(usize, f64)> = varies.iter().map(|&i| (i, 1.0)).collect();

    let correlation = covariance.eigenvalues(&own)?;
    let rank = rank(&correlation, rows, varies.len())?;
    let smallest = correlation[rank - 1] / correlation[0];
    let mut spectrum = covariance.eigenvalues(&one)?;
    spectrum.truncate(rank);
    let total: f64 = varies.iter().map(|&i| variances[i].max(0.0)).sum();
    let kept = dims.kept(&spectrum, total)?;

    // The subspace of degenerate rows is that of the correlation, which has given the rank.
    let degenerate = rank < varies.len();
    let graded = kept == rank && (degenerate || is_graded(&own, &spectrum));
    let scales = if graded { own } else { one };
    let (values, vectors) = covariance.eigen(&scales)?;
    let columns = mean.len();
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
    let rest = rest(kept, rank, columns, total, kept_sum)?;
    let kept_variance = (kept_sum / total).min(1.0);
    let whitening =
        Whitening { mean, matrix, inverse, ln_det, rank, kept_variance, rest, deviations };
    Ok((whitening, smallest))
}

/// The standard deviation of each column, 0 for a constant one. A column is constant when its
/// deviation is no larger than the rounding of its mean, or too small to be squared;
/// `Moments::of` refuses columns of the latter kind that vary.
fn deviations(variances: &[f64], mean: &[f64]) -> Vec<f64> {
    let deviation = |(v, m): (&f64, &f64)| {
        let s = v.max(0.0).sqrt();
        if s > 4.0 * f64::EPSILON * m.abs() && s > SMALLEST { s } else { 0.0 }
    };
    variances.iter().zip(mean).map(deviation).collect()
}

/// How many dimensions have variance, from the eigenvalues of the correlation of the columns that
/// vary.
fn rank(correlation: &[f64], rows: usize, columns: usize) -> Result<usize> {
    let tolerance = 64.0 * columns as f64 * f64::EPSILON * correlation[0];
    let rank = correlation.iter().take_while(|&&v| v > tolerance).count();
    let rank = rank.min(rows - 1).min(columns);
    if rank == 0 {
        return Err(Error::NoConvergence { what: "eigendecomposition" });
    }
    Ok(rank)
}

/// Whether scales, of columns or of dimensions, differ so much that the eigenvectors of the
/// covariance have no correct digits.
fn is_graded(columns: &[(usize, f64)], spectrum: &[f64]) -> bool {
    let scales = columns.iter().map(|&(_, s)| s);
    let (low, high) =
        scales.fold((f64::INFINITY, 0.0_f64), |(low, high), s| (low.min(s), high.max(s)));
    let smallest = spectrum[spectrum.len() - 1];
    high / low > GRADED || !(smallest * GRADED * GRADED > spectrum[0])
}

/// What lies outside the kept dimensions.
fn rest(kept: usize, rank: usize, columns: usize, total: f64, kept_sum: f64) -> Result<Rest> {
    if kept == columns {
        return Ok(Rest::Nothing);
    }
    if kept == rank {
        return Ok(Rest::Degenerate);
    }
    let dropped = total - kept_sum;
    if !(dropped > 64.0 * columns as f64 * f64::EPSILON * total) {
        let rule = "the dropped variance is no larger than rounding: rescale the columns";
        return invalid("dims", kept, rule);
    }
    Ok(Rest::Noise { variance: dropped / (columns - kept) as f64 })
}

impl Dims {
    fn check(self) -> Result<()> {
        match self {
            Dims::Count(0) => invalid("dims", 0, "at least one dimension must be kept"),
            Dims::Share(s) if !(s > 0.0 && s <= 1.0) => {
                invalid("dims", s, "a share of variance must be above 0 and at most 1")
            }
            _ => Ok(()),
        }
    }

    /// How many dimensions are kept of those with these variances.
    fn kept(self, spectrum: &[f64], total: f64) -> Result<usize> {
        let rank = spectrum.len();
        Ok(match self {
            Dims::All => rank,
            Dims::Count(n) if n > rank => {
                let rule = format!(
                    "the data have variance in {} only: keep at most as many",
                    counted(rank, "dimension")
                );
                return invalid("dims", n, rule);
            }
            Dims::Count(n) => n,
            Dims::Share(s) => {
                let mut sum = 0.0;
                let enough = s * total * (1.0 - 1e-12);
                let n = spectrum.iter().take_while(|&&v| (sum < enough, sum += v).0).count();
                n.clamp(1, rank)
            }
        })
    }
}
