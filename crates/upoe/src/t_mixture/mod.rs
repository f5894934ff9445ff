//! A mixture of multivariate Student-t components over sphered rows.
//!
//! ```text
//! p(x) = Σₖ wₖ t(x; mₖ, Σₖ, ν)
//! ```
//!
//! Each covariance is shrunk towards the one pooled within all components, so that many
//! components can be learned from few rows. ν = ∞ gives a mixture of Gaussians.

mod choose;
mod fit;
mod holes;
mod maximise;
mod pass;
mod sample;
mod start;
mod stored;

pub use choose::{ChosenComponents, Fold};
pub use fit::{Ending, FittedMixture};
pub use holes::Given;

pub(crate) use holes::Precisions;

use crate::error::{Error, Result, invalid};
use crate::linalg::{dot, eigen};
use crate::rows::view;
use faer::linalg::triangular_inverse::invert_lower_triangular;
use faer::{Mat, MatRef, Par, Side};
use pass::Panels;
use serde::{Deserialize, Serialize};

/// Is asked now and then whether to go on.
pub(crate) type Watch<'a> = &'a (dyn Fn() -> bool + Sync);

/// What is set before a mixture is fitted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Components {
    /// K, how many components.
    pub count: usize,
    /// κ, how many rows the pooled covariance counts as in that of each component.
    pub shrinkage: f64,
    /// ν, the degrees of freedom of every component; ∞ for Gaussians.
    pub degrees: f64,
}

impl Components {
    fn check(&self) -> Result<()> {
        if self.count == 0 {
            return invalid("components", 0, "at least 1 is needed");
        }
        if !(self.shrinkage >= 0.0 && self.shrinkage.is_finite()) {
            return invalid("shrinkage", self.shrinkage, "must be finite and not negative");
        }
        check_degrees(self.degrees)
    }
}

fn check_degrees(degrees: f64) -> Result<()> {
    if !(degrees >= SMALLEST_DEGREES) {
        return invalid("degrees", degrees, "must be at least 0.1; infinite for Gaussians");
    }
    Ok(())
}

/// Fewer degrees of freedom have tails that no table needs, and samples that overflow.
const SMALLEST_DEGREES: f64 = 0.1;

/// A mixture of K Student-t components over rows of D sphered columns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "stored::Plain", into = "stored::Plain")]
pub struct TMixture {
    dims: usize,
    degrees: f64,
    /// w: K.
    weights: Vec<f64>,
    /// m: K × D.
    means: Vec<f64>,
    /// Σ: K × D × D.
    covariances: Vec<f64>,
    /// A with AΣAᵀ = I, lower triangular: K × D × D.
    whiteners: Vec<f64>,
    /// ln of what multiplies (1 + q/ν)^(−(ν+D)/2), with the weight: K.
    ln_scales: Vec<f64>,
}

impl TMixture {
    /// A mixture from its parts: K weights that add up to 1, K means and K positive definite
    /// covariances Σ (the variance of a component is Σ ν/(ν − 2)), each row after row.
    pub fn from_parts(
        dims: usize,
        degrees: f64,
        weights: Vec<f64>,
        means: Vec<f64>,
        covariances: Vec<f64>,
    ) -> Result<Self> {
        check_parts(dims, degrees, &weights, &means, &covariances)?;
        let mut whiteners = Vec::with_capacity(covariances.len());
        for (k, covariance) in covariances.chunks_exact(dims * dims).enumerate() {
            match whitener(covariance, dims) {
                Some(a) => whiteners.extend(a),
                None => {
                    return invalid(
                        "covariances",
                        format!("that of component {k}"),
                        "must be positive definite",
                    );
                }
            }
        }
        Ok(Self::build(dims, degrees, weights, means, covariances, whiteners))
    }

    /// The same mixture with its components in another order.
    pub(crate) fn reordered(&self, order: &[usize]) -> Self {
        let pick = |from: &[f64], each: usize| {
            order.iter().flat_map(|k| &from[k * each..(k + 1) * each]).copied().collect()
        };
        let d = self.dims;
        TMixture {
            dims: d,
            degrees: self.degrees,
            weights: pick(&self.weights, 1),
            means: pick(&self.means, d),
            covariances: pick(&self.covariances, d * d),
            whiteners: pick(&self.whiteners, d * d),
            ln_scales: pick(&self.ln_scales, 1),
        }
    }

    /// A mixture whose parts are known to be sound.
    fn build(
        dims: usize,
        degrees: f64,
        weights: Vec<f64>,
        means: Vec<f64>,
        covariances: Vec<f64>,
        whiteners: Vec<f64>,
    ) -> Self {
        let constant = holes::ln_constant(degrees, dims as f64);
        let ln_scales = weights
            .iter()
            .zip(whiteners.chunks_exact(dims * dims))
            .map(|(w, a)| w.ln() + constant + (0..dims).map(|i| a[i * dims + i].ln()).sum::<f64>())
            .collect();
        TMixture { dims, degrees, weights, means, covariances, whiteners, ln_scales }
    }

    /// The mixture whose components are `factor` times as wide.
    pub(crate) fn widened(&self, factor: f64) -> Self {
        let scaled = |of: &[f64], by: f64| of.iter().map(|x| x * by).collect();
        let covariances = scaled(&self.covariances, factor * factor);
        let whiteners = scaled(&self.whiteners, factor.recip());
        let (weights, means) = (self.weights.clone(), self.means.clone());
        Self::build(self.dims, self.degrees, weights, means, covariances, whiteners)
    }

    /// How many columns a row has.
    pub fn dims(&self) -> usize {
        self.dims
    }

    /// K, how many components there are.
    pub fn count(&self) -> usize {
        self.weights.len()
    }

    /// ν, the degrees of freedom of every component.
    pub fn degrees(&self) -> f64 {
        self.degrees
    }

    /// The weights, which add up to 1.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// The mean of component `k`.
    pub fn mean(&self, k: usize) -> &[f64] {
        &self.means[k * self.dims..][..self.dims]
    }

    /// Σ of component `k`, D × D, row after row. Its variance is Σ ν/(ν − 2).
    pub fn covariance(&self, k: usize) -> &[f64] {
        let size = self.dims * self.dims;
        &self.covariances[k * size..][..size]
    }

    fn whitener(&self, k: usize) -> &[f64] {
        let size = self.dims * self.dims;
        &self.whiteners[k * size..][..size]
    }

    /// ln p of each row, in nats; −∞ where squares of a far row overflow.
    pub fn ln_density(&self, x: &[f64]) -> Result<Vec<f64>> {
        self.check_rows(x)?;
        Ok(Panels::new(self).ln_density(x))
    }

    /// How probable it is that each row came from each component: N × K, row after row.
    pub fn responsibilities(&self, x: &[f64]) -> Result<Vec<f64>> {
        self.check_rows(x)?;
        Ok(Panels::new(self).responsibilities(x))
    }

    /// The slope of ln p at one row: −Σₖ rₖ (ν + D)/(ν + qₖ) Σₖ⁻¹(x − mₖ).
    pub fn slope(&self, x: &[f64]) -> Result<Vec<f64>> {
        self.check_rows(x)?;
        if x.len() != self.dims {
            return Err(Error::Shape {
                what: "values of a row",
                expected: self.dims,
                got: x.len(),
            });
        }
        let shares = Panels::new(self).responsibilities(x);
        let mut slope = vec![0.0; self.dims];
        for (k, share) in shares.iter().enumerate() {
            let a = self.whitener(k);
            let off: Vec<f64> = x.iter().zip(self.mean(k)).map(|(x, m)| x - m).collect();
            let y: Vec<f64> =
                (0..self.dims).map(|i| dot(&a[i * self.dims..][..=i], &off[..=i])).collect();
            let q = dot(&y, &y);
            if !q.is_finite() && self.degrees.is_finite() {
                continue; // The slope falls as 1/‖x‖: it vanishes there.
            }
            let pull = share * self.pull(q);
            for (i, y) in y.iter().enumerate() {
                let a = &a[i * self.dims..][..=i];
                slope.iter_mut().zip(a).for_each(|(slope, a)| *slope -= pull * y * a);
            }
        }
        Ok(slope)
    }

    /// (ν + D)/(ν + q): how much a row at the squared distance q counts.
    fn pull(&self, q: f64) -> f64 {
        let d = self.dims as f64;
        if self.degrees.is_infinite() { 1.0 } else { (self.degrees + d) / (self.degrees + q) }
    }

    fn check_rows(&self, x: &[f64]) -> Result<()> {
        view(x, self.dims, None)?.check()
    }
}

fn check_parts(
    dims: usize,
    degrees: f64,
    weights: &[f64],
    means: &[f64],
    covariances: &[f64],
) -> Result<()> {
    let k = weights.len();
    if dims == 0 || k == 0 {
        return invalid("mixture", format!("{k} × {dims}"), "needs a component and a column");
    }
    check_degrees(degrees)?;
    let shape = |what, expected: Option<usize>, got| match expected {
        Some(expected) if expected == got => Ok(()),
        expected => Err(Error::Shape { what, expected: expected.unwrap_or(usize::MAX), got }),
    };
    shape("entries of the means", k.checked_mul(dims), means.len())?;
    let entries = k.checked_mul(dims).and_then(|n| n.checked_mul(dims));
    shape("entries of the covariances", entries, covariances.len())?;
    if !means.iter().chain(covariances).all(|x| x.is_finite()) {
        return invalid("mixture", "its numbers", "must be finite");
    }
    if let Some(weight) = weights.iter().find(|w| !(**w > 0.0)) {
        return invalid("weights", weight, "those of components must be positive");
    }
    let total: f64 = weights.iter().sum();
    if !((total - 1.0).abs() <= 1e-9) {
        return invalid("weights", total, "those of components must add up to 1");
    }
    let symmetric =
        |c: &[f64]| (0..dims).all(|i| (0..i).all(|j| c[i * dims + j] == c[j * dims + i]));
    match covariances.chunks_exact(dims * dims).position(|c| !symmetric(c)) {
        Some(k) => invalid("covariances", format!("that of component {k}"), "must be symmetric"),
        None => Ok(()),
    }
}

/// A = L⁻¹ where Σ = LLᵀ, row after row, or nothing where Σ is not positive definite.
fn whitener(covariance: &[f64], d: usize) -> Option<Vec<f64>> {
    let matrix = MatRef::from_row_major_slice(covariance, d, d);
    let root = matrix.llt(Side::Lower).ok()?;
    let mut inverse = Mat::<f64>::zeros(d, d);
    invert_lower_triangular(inverse.as_mut(), root.L(), Par::Seq);
    let a: Vec<f64> = (0..d)
        .flat_map(|i| (0..d).map(move |j| (i, j)))
        .map(|(i, j)| if j <= i { inverse[(i, j)] } else { 0.0 })
        .collect();
    let positive = (0..d).all(|i| a[i * d + i] > 0.0);
    (positive && a.iter().all(|x| x.is_finite())).then_some(a)
}

/// The covariance with every eigenvalue raised to at least `floor`, and its whitener. Of all
/// covariances with such eigenvalues it has the highest likelihood.
fn floored(mut covariance: Vec<f64>, d: usize, floor: f64) -> Result<(Vec<f64>, Vec<f64>)> {
    if let Some(a) = whitener(&covariance, d) {
        // ‖A‖² = Σ 1/λ bounds the smallest eigenvalue λ.
        if dot(&a, &a) * floor <= 1.0 {
            return Ok((covariance, a));
        }
    }
    let matrix = MatRef::from_row_major_slice(&covariance, d, d).to_owned();
    let (values, vectors) = eigen(&matrix)?;
    // An eigenvalue that is small beside the largest has no correct digits.
    let floor = floor.max(1e-13 * values[0]);
    for i in 0..d {
        for j in 0..=i {
            let entry = (0..d).map(|k| values[k].max(floor) * vectors[(i, k)] * vectors[(j, k)]);
            covariance[i * d + j] = entry.sum();
            covariance[j * d + i] = covariance[i * d + j];
        }
    }
    match whitener(&covariance, d) {
        Some(a) => Ok((covariance, a)),
        None => Err(Error::NoConvergence { what: "decomposition of a covariance" }),
    }
}
