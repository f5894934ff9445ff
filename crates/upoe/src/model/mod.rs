//! The model (4), one layer: Gaussian, except along J learned directions.

mod along;
mod explain;
mod missing;
mod sample;
mod score;
mod walk;

pub use explain::Explanation;

use crate::error::{Error, Result, invalid};
use crate::expert::{Expert, Marginal};
use crate::linalg::{LN_TAU, combined, dot, is_pseudo_inverse, pseudo_inverse};
use crate::rows::Rows;
use crate::whitening::Whitening;
use faer::{Mat, Side};
use std::sync::OnceLock;

/// ln p(x) = Σⱼ ln Tⱼ(wⱼᵀx) + ½ ln|WWᵀ| − ½ xᵀP⊥x − ½(D−J) ln 2π   (4)
///
/// over sphered rows x, and over the data's own columns with what [`Whitening::ln_jacobian`]
/// adds. Directions are any W of full row rank. Leaving out the last experts gives the
/// smaller models of the nested path: see [`Model::truncated`].
#[derive(Clone, Debug)]
pub struct Model {
    whitening: Whitening,
    directions: Vec<Vec<f64>>,
    experts: Vec<Expert>,
    /// W# = Wᵀ(WWᵀ)⁻¹: D × J.
    pseudo_inverse: Mat<f64>,
    half_ln_gram: f64,
    /// What [`Model::axes`] gives, once it is asked for.
    axes: OnceLock<Vec<f64>>,
}

impl Model {
    /// From a whitening, J directions in sphered space and their experts.
    pub fn new(
        whitening: Whitening,
        directions: Vec<Vec<f64>>,
        experts: Vec<Expert>,
    ) -> Result<Self> {
        let d = whitening.dims();
        check_shapes(&directions, experts.len(), d)?;
        let (pseudo_inverse, half_ln_gram) = pseudo_inverse(&directions, d)?;
        let axes = OnceLock::new();
        Ok(Model { whitening, directions, experts, pseudo_inverse, half_ln_gram, axes })
    }

    /// The density of rows that are `factor` times as far from the mean.
    pub(crate) fn stretched(&self, factor: f64) -> Result<Self> {
        let whitening = self.whitening.stretched(factor);
        Model::new(whitening, self.directions.clone(), self.experts.clone())
    }

    /// A model from its parts, as a file stores them: with W# and ½ ln|WWᵀ|, which are not
    /// computed again. Their shapes must agree, every number must be finite, and W# must be the
    /// pseudo-inverse of the directions.
    pub fn from_parts(
        whitening: Whitening,
        directions: Vec<Vec<f64>>,
        experts: Vec<Expert>,
        pseudo_inverse: Mat<f64>,
        half_ln_gram: f64,
    ) -> Result<Self> {
        let (j, d) = (directions.len(), whitening.dims());
        check_shapes(&directions, experts.len(), d)?;
        if (pseudo_inverse.nrows(), pseudo_inverse.ncols()) != (d, j) {
            let got = pseudo_inverse.nrows() * pseudo_inverse.ncols();
            return Err(Error::Shape { what: "entries of W#", expected: d * j, got });
        }
        let inverse = pseudo_inverse.col_iter().flat_map(|c| c.iter());
        let numbers = directions.iter().flatten().chain(inverse).chain([&half_ln_gram]);
        if !numbers.copied().all(f64::is_finite) {
            return invalid("model", "its numbers", "must be finite");
        }
        if !is_pseudo_inverse(&pseudo_inverse, &directions) {
            return invalid("model", "W#", "must be the pseudo-inverse of the directions");
        }
        let axes = OnceLock::new();
        Ok(Model { whitening, directions, experts, pseudo_inverse, half_ln_gram, axes })
    }

    /// The whitening.
    pub fn whitening(&self) -> &Whitening {
        &self.whitening
    }

    /// W, one direction in sphered space per row.
    pub fn directions(&self) -> &[Vec<f64>] {
        &self.directions
    }

    /// The experts, one per direction.
    pub fn experts(&self) -> &[Expert] {
        &self.experts
    }

    /// W# = Wᵀ(WWᵀ)⁻¹, D × J.
    pub fn pseudo_inverse(&self) -> &Mat<f64> {
        &self.pseudo_inverse
    }

    /// ½ ln|WWᵀ|.
    pub fn half_ln_gram(&self) -> f64 {
        self.half_ln_gram
    }

    /// P⊥ = I − W#W, the projection on the complement of the directions (2): D × D.
    pub fn complement(&self) -> Mat<f64> {
        let d = self.whitening.dims();
        let w = Mat::from_fn(self.directions.len(), d, |j, i| self.directions[j][i]);
        Mat::<f64>::identity(d, d) - &self.pseudo_inverse * w
    }

    /// The directions, and after them orthonormal axes of what lies outside them: D × D.
    pub fn axes(&self) -> Result<&[f64]> {
        if let Some(axes) = self.axes.get() {
            return Ok(axes);
        }
        // Eigenvectors of P⊥: J of eigenvalue 0 come first, then those of eigenvalue 1.
        let eigen = self
            .complement()
            .self_adjoint_eigen(Side::Lower)
            .map_err(|_| Error::NoConvergence { what: "eigendecomposition" })?;
        let (d, j) = (self.whitening.dims(), self.directions.len());
        let outside = (j..d).flat_map(|k| (0..d).map(move |i| (i, k))).map(|at| eigen.U()[at]);
        let axes = self.directions.iter().flatten().copied().chain(outside).collect();
        Ok(self.axes.get_or_init(|| axes))
    }

    /// The model of the first `experts` experts.
    pub fn truncated(&self, experts: usize) -> Result<Model> {
        let j = experts.min(self.experts.len());
        Model::new(
            self.whitening.clone(),
            self.directions[..j].to_vec(),
            self.experts[..j].to_vec(),
        )
    }

    /// z = W x of a sphered row.
    pub fn projections(&self, x: &[f64]) -> Vec<f64> {
        self.directions.iter().map(|w| dot(w, x)).collect()
    }

    /// The terms that add up to ln p(x): one per expert, then that of the Gaussian rest.
    ///
    /// The last entry is ½ ln|WWᵀ| − ½ xᵀP⊥x − ½(D−J) ln 2π. For orthonormal W an expert's
    /// term less that of the Gaussian it replaces is λ = ln T − ln N of section 6.3.
    pub fn terms(&self, x: &[f64]) -> Vec<f64> {
        let z = self.projections(x);
        let mut terms: Vec<f64> =
            z.iter().zip(&self.experts).map(|(z, e)| e.ln_density(*z)).collect();
        let free = (self.whitening.dims() - self.experts.len()) as f64;
        let off: f64 = self.complement_of(x, &z).iter().map(|r| r * r).sum();
        terms.push(self.half_ln_gram - 0.5 * off - 0.5 * free * LN_TAU);
        terms
    }

    /// P⊥x, given z = Wx: exactly 0 where the directions span all dimensions, however far x lies.
    fn complement_of(&self, x: &[f64], z: &[f64]) -> Vec<f64> {
        if z.len() == x.len() { vec![0.0; x.len()] } else { self.off_span(x, z) }
    }

    /// P⊥x, given z = Wx, to rounding.
    fn off_span(&self, x: &[f64], z: &[f64]) -> Vec<f64> {
        x.iter().zip(combined(&self.pseudo_inverse, z)).map(|(x, back)| x - back).collect()
    }

    /// ln p(x) in sphered space, in nats (4); −∞ where squares of a far row overflow.
    pub fn ln_p_sphered(&self, x: &[f64]) -> f64 {
        let total: f64 = self.terms(x).iter().sum();
        if total.is_nan() { f64::NEG_INFINITY } else { total }
    }

    /// ln p over the data's own columns, in nats.
    pub fn ln_p(&self, row: &[f64]) -> Result<f64> {
        self.whitening.check_columns(row.len())?;
        Rows::new(row, row.len())?.check()?;
        let x = self.whitening.sphere_row(row);
        Ok(self.ln_p_sphered(&x) + self.whitening.ln_jacobian(row, &x))
    }

    /// The projections z of many rows: N × J, row after row.
    pub fn transform(&self, rows: &Rows) -> Result<Vec<f64>> {
        self.whitening.check_columns(rows.columns())?;
        rows.check()?;
        let x = self.whitening.sphere_as::<f64>(rows);
        let flat: Vec<f64> = self.directions.concat();
        Ok(upoe_kernels::project(&x, self.whitening.dims(), &flat))
    }

    /// The row of highest Gaussian density that has these projections z.
    pub fn inverse_transform(&self, z: &[f64]) -> Result<Vec<f64>> {
        let j = self.experts.len();
        if z.len() != j {
            return Err(Error::Shape { what: "projections of a row", expected: j, got: z.len() });
        }
        let x: Vec<f64> = (0..self.whitening.dims())
            .map(|i| (0..j).map(|k| self.pseudo_inverse[(i, k)] * z[k]).sum())
            .collect();
        Ok(self.whitening.restore(&x))
    }

    /// Filters W A: J × columns. A filter says what a unit change of a column does to z.
    pub fn filters(&self) -> Vec<Vec<f64>> {
        let a = self.whitening.matrix();
        self.directions
            .iter()
            .map(|w| {
                (0..a.ncols())
                    .map(|i| w.iter().enumerate().map(|(k, w)| w * a[(k, i)]).sum())
                    .collect()
            })
            .collect()
    }

    /// Patterns A⁺W#: one per expert, each with one entry per column. A pattern says how the
    /// columns move with z.
    pub fn patterns(&self) -> Vec<Vec<f64>> {
        let patterns = self.whitening.inverse() * &self.pseudo_inverse;
        (0..self.experts.len())
            .map(|j| (0..patterns.nrows()).map(|i| patterns[(i, j)]).collect())
            .collect()
    }

    /// The correlation of each column with each z, under sphering: J × columns; 0 for constant columns.
    pub fn correlations(&self) -> Vec<Vec<f64>> {
        let whitening = &self.whitening;
        let of = |w: &Vec<f64>, i: usize| {
            let along = (0..w.len()).map(|k| whitening.inverse()[(i, k)] * w[k]).sum::<f64>();
            let size = dot(w, w).sqrt() * whitening.deviations()[i];
            if size > 0.0 { along / size } else { 0.0 }
        };
        self.directions
            .iter()
            .map(|w| (0..whitening.columns()).map(|i| of(w, i)).collect())
            .collect()
    }
}

/// Refuses directions and experts that differ in number, or more of them than dimensions.
fn check_shapes(directions: &[Vec<f64>], experts: usize, dims: usize) -> Result<()> {
    let j = directions.len();
    if experts != j {
        return Err(Error::Shape { what: "experts, one per direction", expected: j, got: experts });
    }
    if let Some(w) = directions.iter().find(|w| w.len() != dims) {
        return Err(Error::Shape { what: "entries of a direction", expected: dims, got: w.len() });
    }
    if j > dims {
        return Err(Error::DependentDirections { directions: j, rank: dims });
    }
    Ok(())
}
