//! The model (4): Gaussian, except along J learned directions.

use crate::error::{Error, Result};
use crate::expert::{Expert, Marginal};
use crate::random;
use crate::rows::Rows;
pub(crate) use crate::whitening::dot;
use crate::whitening::{Rest, Whitening};
use faer::{Mat, Side};
use rand::RngExt;
use rand_distr::StandardNormal;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::OnceLock;

/// ln 2π.
pub(crate) const LN_TAU: f64 = 1.837_877_066_409_345_5;

/// ln p(x) = Σⱼ ln Tⱼ(wⱼᵀx) + ½ ln|WWᵀ| − ½ xᵀP⊥x − ½(D−J) ln 2π   (4)
///
/// over sphered rows x, and over the data's own columns with what [`Whitening::ln_jacobian`]
/// adds. Directions are any W of full row rank. Leaving experts out at the end gives the
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

/// The parts of one row's ln p.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// The row's ln p: the baseline and all parts.
    pub ln_p: f64,
    /// ln p at the data's mean.
    pub baseline: f64,
    /// How each expert moves ln p from the baseline.
    pub experts: Vec<f64>,
    /// How the Gaussian rest moves it.
    pub rest: f64,
    /// Each expert's move split over the columns: J × columns.
    pub experts_by_column: Vec<Vec<f64>>,
    /// The rest's move split over the columns.
    pub rest_by_column: Vec<f64>,
}

impl Model {
    /// Rows that share a stream of random numbers when drawn.
    pub const SAMPLE_BLOCK: usize = 256;

    /// From a whitening, J directions in sphered space and their experts.
    pub fn new(
        whitening: Whitening,
        directions: Vec<Vec<f64>>,
        experts: Vec<Expert>,
    ) -> Result<Self> {
        let (j, d) = (directions.len(), whitening.dims());
        if experts.len() != j {
            return Err(Error::Shape {
                what: "experts, one a direction",
                expected: j,
                got: experts.len(),
            });
        }
        if let Some(w) = directions.iter().find(|w| w.len() != d) {
            return Err(Error::Shape { what: "entries of a direction", expected: d, got: w.len() });
        }
        let (pseudo_inverse, half_ln_gram) = pseudo_inverse(&directions, d)?;
        let axes = OnceLock::new();
        Ok(Model { whitening, directions, experts, pseudo_inverse, half_ln_gram, axes })
    }

    /// The whitening.
    pub fn whitening(&self) -> &Whitening {
        &self.whitening
    }

    /// W, one direction in sphered space a row.
    pub fn directions(&self) -> &[Vec<f64>] {
        &self.directions
    }

    /// The experts, one a direction.
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
    pub(crate) fn axes(&self) -> Result<&[f64]> {
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

    /// The term of each expert and of the Gaussian rest in ln p(x): they add up to it.
    ///
    /// The last entry is ½ ln|WWᵀ| − ½ xᵀP⊥x − ½(D−J) ln 2π. For orthonormal W an expert's
    /// term less that of the Gaussian it replaces is λ = ln T − ln N of section 6.3.
    pub fn terms(&self, x: &[f64]) -> Vec<f64> {
        let z = self.projections(x);
        let mut terms: Vec<f64> =
            z.iter().zip(&self.experts).map(|(z, e)| e.ln_density(*z)).collect();
        let free = (self.whitening.dims() - self.experts.len()) as f64;
        let off: f64 = self.off_span(x, &z).iter().map(|r| r * r).sum();
        terms.push(self.half_ln_gram - 0.5 * off - 0.5 * free * LN_TAU);
        terms
    }

    /// P⊥x, given z = Wx.
    fn off_span(&self, x: &[f64], z: &[f64]) -> Vec<f64> {
        let back = |i: usize| {
            z.iter().enumerate().map(|(j, z)| self.pseudo_inverse[(i, j)] * z).sum::<f64>()
        };
        x.iter().enumerate().map(|(i, x)| x - back(i)).collect()
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

    /// Rows from projections: the row of highest Gaussian density with these z.
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

    /// `n` sphered rows drawn from the model by (23): x = W# z + P⊥ x′ with z from the experts
    /// and x′ standard normal. Row i depends on the seed and i alone.
    pub fn sample_sphered(&self, n: usize, seed: u64) -> Vec<f64> {
        self.sample_with(0..n, seed, |x, _| x)
    }

    /// `n` rows drawn from the model, in the data's own units.
    pub fn sample(&self, n: usize, seed: u64) -> Vec<f64> {
        self.sample_range(0..n, seed)
    }

    /// Some of the rows that [`Model::sample`] draws: those from `rows.start`, rounded down to
    /// a multiple of [`Model::SAMPLE_BLOCK`], to `rows.end`.
    pub fn sample_range(&self, rows: Range<usize>, seed: u64) -> Vec<f64> {
        self.sample_with(rows, seed, |x, rng| {
            let mut row = self.whitening.restore(&x);
            if let Rest::Noise { variance } = self.whitening.rest {
                let noise: Vec<f64> = row
                    .iter()
                    .map(|_| variance.sqrt() * rng.sample::<f64, _>(StandardNormal))
                    .collect();
                // Only the part of the noise outside the kept dimensions.
                let about: Vec<f64> =
                    noise.iter().zip(&self.whitening.mean).map(|(n, m)| n + m).collect();
                let outside = self.whitening.residual(&about, &self.whitening.sphere_row(&about));
                row.iter_mut().zip(outside).for_each(|(r, o)| *r += o);
            }
            row
        })
    }

    fn sample_with(
        &self,
        rows: Range<usize>,
        seed: u64,
        finish: impl Fn(Vec<f64>, &mut random::Stream) -> Vec<f64> + Sync,
    ) -> Vec<f64> {
        const BLOCK: usize = Model::SAMPLE_BLOCK;
        let d = self.whitening.dims();
        let blocks: Vec<Vec<f64>> = (rows.start / BLOCK..rows.end.div_ceil(BLOCK))
            .into_par_iter()
            .map(|block| {
                let mut rng = random::stream(seed, random::Use::Sample, block as u64);
                (block * BLOCK..((block + 1) * BLOCK).min(rows.end))
                    .flat_map(|_| {
                        let z: Vec<f64> = self.experts.iter().map(|e| e.sample(&mut rng)).collect();
                        let noise: Vec<f64> = (0..d).map(|_| rng.sample(StandardNormal)).collect();
                        let mut x = self.off_span(&noise, &self.projections(&noise));
                        for (i, x) in x.iter_mut().enumerate() {
                            *x += z
                                .iter()
                                .enumerate()
                                .map(|(j, z)| self.pseudo_inverse[(i, j)] * z)
                                .sum::<f64>();
                        }
                        finish(x, &mut rng)
                    })
                    .collect()
            })
            .collect();
        blocks.concat()
    }

    /// Loadings W A: J × columns; what a unit change of the column does to z.
    pub fn loadings(&self) -> Vec<Vec<f64>> {
        let a = &self.whitening.matrix;
        self.directions
            .iter()
            .map(|w| {
                (0..a.ncols())
                    .map(|i| w.iter().enumerate().map(|(k, w)| w * a[(k, i)]).sum())
                    .collect()
            })
            .collect()
    }

    /// Patterns A⁺W#: one a expert, each with an entry a column; how the columns move with z.
    pub fn patterns(&self) -> Vec<Vec<f64>> {
        let patterns = &self.whitening.inverse * &self.pseudo_inverse;
        (0..self.experts.len())
            .map(|j| (0..patterns.nrows()).map(|i| patterns[(i, j)]).collect())
            .collect()
    }

    /// What each expert and each column adds to a row's ln p, measured from the data's mean:
    /// integrated gradients along the line to the row, in closed form.
    ///
    /// Along that line an expert's term depends on z alone, so column i's share of its change
    /// is wᵢΔᵢ / Σ wΔ with w = Aᵀwⱼ; the rest is quadratic. The parts add up to ln p exactly.
    pub fn explain(&self, row: &[f64]) -> Result<Explanation> {
        self.whitening.check_columns(row.len())?;
        Rows::new(row, row.len())?.check()?;
        let (x, whitening) = (self.whitening.sphere_row(row), &self.whitening);
        let delta: Vec<f64> = row.iter().zip(&whitening.mean).map(|(r, m)| r - m).collect();
        let origin = vec![0.0; x.len()];
        let baseline = self.ln_p_sphered(&origin) + whitening.ln_jacobian(&whitening.mean, &origin);
        let z = self.projections(&x);
        let experts_by_column: Vec<Vec<f64>> = (self.loadings().iter().zip(&self.experts).zip(&z))
            .map(|((loading, expert), z)| {
                let slope = if z.abs() > 1e-8 {
                    (expert.ln_density(*z) - expert.ln_density(0.0)) / z
                } else {
                    -expert.score(0.5 * z)
                };
                loading.iter().zip(&delta).map(|(w, d)| slope * w * d).collect()
            })
            .collect();
        // −½ xᵀP⊥x = −½ Σᵢ Δᵢ (Aᵀ P⊥ x)ᵢ, and the same with the noise outside.
        let off = self.off_span(&x, &z);
        let mut pull: Vec<f64> = (0..delta.len())
            .map(|i| off.iter().enumerate().map(|(k, o)| whitening.matrix[(k, i)] * o).sum())
            .collect();
        if let Rest::Noise { variance } = whitening.rest {
            let outside = whitening.residual(row, &x);
            pull.iter_mut().zip(outside).for_each(|(p, r)| *p += r / variance);
        }
        let mut rest_by_column: Vec<f64> =
            pull.iter().zip(&delta).map(|(p, d)| -0.5 * p * d).collect();
        // A row off the subspace of a degenerate model: the columns that leave it say so.
        whitening.off(row, &x).for_each(|i| rest_by_column[i] = f64::NEG_INFINITY);
        let experts = experts_by_column.iter().map(|c| c.iter().sum()).collect();
        let rest = rest_by_column.iter().sum();
        let ln_p = self.ln_p_sphered(&x) + whitening.ln_jacobian(row, &x);
        Ok(Explanation { ln_p, baseline, experts, rest, experts_by_column, rest_by_column })
    }
}

/// W# and ½ ln|WWᵀ| from the eigenvectors of WWᵀ, or the rank where it is not full.
pub(crate) fn pseudo_inverse(directions: &[Vec<f64>], d: usize) -> Result<(Mat<f64>, f64)> {
    let j = directions.len();
    let norms: Vec<f64> = directions.iter().map(|w| dot(w, w).sqrt()).collect();
    if j == 0 {
        return Ok((Mat::zeros(d, 0), 0.0));
    }
    // On unit directions, so that rank does not depend on the norms.
    let cosines =
        Mat::from_fn(j, j, |a, b| dot(&directions[a], &directions[b]) / norms[a] / norms[b]);
    let evd = cosines
        .self_adjoint_eigen(Side::Lower)
        .map_err(|_| Error::DependentDirections { directions: j, rank: 0 })?;
    let values: Vec<f64> = (0..j).map(|k| evd.S()[k]).collect();
    let rank = values.iter().filter(|v| **v > 1e-12 * j as f64).count();
    if rank < j || norms.iter().any(|n| !(*n > 0.0 && n.is_finite())) {
        return Err(Error::DependentDirections { directions: j, rank });
    }
    let inverse = Mat::from_fn(j, j, |a, b| {
        (0..j).map(|k| evd.U()[(a, k)] * evd.U()[(b, k)] / values[k]).sum::<f64>()
            / norms[a]
            / norms[b]
    });
    let transposed = Mat::from_fn(d, j, |i, a| directions[a][i]);
    let half_ln_gram = norms.iter().map(|n| n.ln()).sum::<f64>()
        + 0.5 * values.iter().map(|v| v.ln()).sum::<f64>();
    Ok((&transposed * inverse, half_ln_gram))
}
