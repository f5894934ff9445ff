//! Rows with missing cells: what a mixture says about the cells that are there, what the others are like, and a step
//! of EM that learns from them.
//!
//! Λ is the inverse of Σ. The missing cells m of a component, given the others o, are a Student-t with ν + |o| degrees
//! of freedom around μ_m − Λ_mm⁻¹ Λ_mo (x_o − μ_o), of shape Λ_mm⁻¹ (ν + q)/(ν + |o|), where
//! q = d·Λd − d·Λ_om Λ_mm⁻¹ Λ_mo d and d = x_o − μ_o.

use super::TMixture;
use super::maximise::{NEGLIGIBLE, Sums, Table};
use crate::error::{Error, Result};
use crate::linalg::{dot, ln_sum};
use crate::random::{Stream, place_of};
use faer::linalg::solvers::{Llt, Solve};
use faer::{Mat, MatRef, Side};
use rand::RngExt;
use rand_distr::{Distribution, Gamma, StandardNormal};
use rayon::prelude::*;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Sums over rows are added in this many parts, so that they do not depend on the number of threads.
const PARTS: usize = 16;

/// The largest squared distance.
const FARTHEST: f64 = 1e300;

/// Rows that miss the same cells.
pub(super) struct Pattern {
    missing: Vec<usize>,
    rows: Vec<usize>,
}

/// The rows, by what they miss: `missing` are the columns of each.
pub(super) fn patterns(missing: &[Vec<usize>]) -> Vec<Pattern> {
    let mut known: BTreeMap<&[usize], Vec<usize>> = BTreeMap::new();
    missing.iter().enumerate().for_each(|(i, of)| known.entry(of).or_default().push(i));
    known.into_iter().map(|(missing, rows)| Pattern { missing: missing.to_vec(), rows }).collect()
}

/// A mixture, ready for rows with missing cells.
pub(crate) struct Precisions<'a> {
    mixture: &'a TMixture,
    /// Λ of each component: K × D × D.
    matrices: Cow<'a, [f64]>,
}

/// A component where some cells are missing.
struct Part<'a> {
    missing: &'a [usize],
    mean: &'a [f64],
    precision: &'a [f64],
    /// Of Λ_mm.
    root: Option<Llt<f64>>,
    /// ln of the weight and of what multiplies (1 + q/ν)^(−½(ν + |o|)).
    ln_scale: f64,
}

/// The missing cells of a row, given those that are there: a mixture of Student-t components, or of Gaussians.
pub struct Given {
    /// ln p of the cells that are there.
    pub ln_p: f64,
    /// The columns that are missing.
    pub missing: Vec<usize>,
    degrees: f64,
    parts: Vec<GivenPart>,
}

struct GivenPart {
    weight: f64,
    mean: Vec<f64>,
    /// The shape and its root, one cell per row.
    shape: Mat<f64>,
    root: Mat<f64>,
}

impl TMixture {
    /// Λ of each component, row after row.
    pub(crate) fn precisions(&self) -> Vec<f64> {
        let d = self.dims;
        let of = |k: usize| {
            let a = MatRef::from_row_major_slice(self.whitener(k), d, d);
            let precision = a.transpose() * a;
            (0..d * d).map(|e| precision[(e / d, e % d)]).collect::<Vec<f64>>()
        };
        let matrices: Vec<Vec<f64>> = (0..self.count()).into_par_iter().map(of).collect();
        matrices.concat()
    }

    /// ln p of the cells that rows have, NaN standing for a missing one; 0 for a row without any.
    pub fn ln_present(&self, x: &[f64]) -> Result<Vec<f64>> {
        let complete = !x.iter().any(|x| x.is_nan());
        if complete { self.ln_density(x) } else { Precisions::new(self).ln_p(x) }
    }
}

impl<'a> Precisions<'a> {
    pub fn new(mixture: &'a TMixture) -> Self {
        Precisions { mixture, matrices: Cow::Owned(mixture.precisions()) }
    }

    /// With the Λ that [`TMixture::precisions`] gave.
    pub fn known(mixture: &'a TMixture, matrices: &'a [f64]) -> Self {
        Precisions { mixture, matrices: Cow::Borrowed(matrices) }
    }

    /// The components where these cells are missing.
    fn parts<'m>(&'m self, missing: &'m [usize]) -> Result<Vec<Part<'m>>> {
        let TMixture { dims: d, degrees, .. } = *self.mixture;
        let there = (d - missing.len()) as f64;
        let part = |k: usize| {
            let precision = &self.matrices[k * d * d..][..d * d];
            let own = |a: usize, b: usize| precision[missing[a] * d + missing[b]];
            let own = Mat::from_fn(missing.len(), missing.len(), own);
            let root = match missing.is_empty() {
                true => None,
                false => Some(own.llt(Side::Lower).map_err(|_| not_positive())?),
            };
            let ln_own: f64 =
                root.iter().flat_map(|r| (0..missing.len()).map(|a| r.L()[(a, a)].ln())).sum();
            let whitener = self.mixture.whitener(k);
            let ln_whole: f64 = (0..d).map(|i| whitener[i * d + i].ln()).sum();
            let ln_scale =
                self.mixture.weights[k].ln() + ln_constant(degrees, there) + ln_whole - ln_own;
            Ok(Part { missing, mean: self.mixture.mean(k), precision, root, ln_scale })
        };
        (0..self.mixture.count()).map(part).collect()
    }

    /// ln p of the cells that are there, of each row; NaN is a missing cell.
    pub fn ln_p(&self, x: &[f64]) -> Result<Vec<f64>> {
        let d = self.mixture.dims;
        let holes = |row: &[f64]| (0..d).filter(|&c| row[c].is_nan()).collect::<Vec<usize>>();
        let missing: Vec<Vec<usize>> = x.chunks_exact(d).map(holes).collect();
        let of = |pattern: &Pattern| -> Result<Vec<(usize, f64)>> {
            let parts = self.parts(&pattern.missing)?;
            let ln_p = |&i: &usize| {
                let terms = parts.iter().map(|part| {
                    let (_, q) = part.look(&x[i * d..][..d]);
                    part.ln_term(q, self.mixture.degrees, d)
                });
                (i, ln_sum(terms.collect::<Vec<f64>>().into_iter()))
            };
            Ok(pattern.rows.iter().map(ln_p).collect())
        };
        let found: Result<Vec<_>> = patterns(&missing).par_iter().map(of).collect();
        let mut all = vec![0.0; missing.len()];
        found?.into_iter().flatten().for_each(|(i, ln_p)| all[i] = ln_p);
        Ok(all)
    }

    /// Σ ln p of the cells that are there, and the sums of an M-step about the components' means.
    pub(super) fn sums(&self, table: &Table, patterns: &[Pattern]) -> Result<(f64, Vec<Sums>)> {
        let TMixture { dims: d, degrees, .. } = *self.mixture;
        let count = self.mixture.count();
        let empty = || (0.0, (0..count).map(|_| Sums::new(d)).collect::<Vec<Sums>>());
        let of = |patterns: &[Pattern]| -> Result<(f64, Vec<Sums>)> {
            let (mut total, mut sums) = empty();
            let mut inverses: Vec<Option<Mat<f64>>>;
            for pattern in patterns {
                let parts = self.parts(&pattern.missing)?;
                let there = (d - pattern.missing.len()) as f64;
                let mut masses = vec![0.0; count];
                for &i in &pattern.rows {
                    let (weight, row) = (table.weight(i), table.row(i));
                    let looks: Vec<_> = parts.iter().map(|part| part.look(row)).collect();
                    let terms: Vec<f64> = parts
                        .iter()
                        .zip(&looks)
                        .map(|(part, (_, q))| part.ln_term(*q, degrees, d))
                        .collect();
                    let ln_p = ln_sum(terms.iter().copied());
                    total += weight * ln_p;
                    for (k, ((off, q), term)) in looks.iter().zip(&terms).enumerate() {
                        let mass = weight * (term - ln_p).exp();
                        if mass > NEGLIGIBLE {
                            let pull = if degrees.is_infinite() {
                                1.0
                            } else {
                                (degrees + there) / (degrees + q)
                            };
                            sums[k].put(mass, mass * pull, off);
                            masses[k] += mass;
                        }
                    }
                }
                inverses = parts
                    .iter()
                    .zip(&masses)
                    .map(|(part, mass)| {
                        part.root
                            .as_ref()
                            .filter(|_| *mass > 0.0)
                            .map(|r| inverse(r, part.missing.len()))
                    })
                    .collect();
                for ((sums, inverse), mass) in sums.iter_mut().zip(&inverses).zip(masses) {
                    let Some(inverse) = inverse else { continue };
                    for (b, &j) in pattern.missing.iter().enumerate() {
                        for (a, &i) in pattern.missing.iter().enumerate().skip(b) {
                            sums.second[j * d + i] += mass * inverse[(a, b)];
                        }
                    }
                }
            }
            Ok((total, sums))
        };
        let size = patterns.len().div_ceil(PARTS).max(1);
        let parts: Result<Vec<_>> = patterns.par_chunks(size).map(of).collect();
        let mut all = empty();
        for (ln_p, sums) in parts? {
            all.0 += ln_p;
            all.1.iter_mut().zip(&sums).for_each(|(all, sums)| all.add(sums));
        }
        Ok(all)
    }

    /// The missing cells of a row, given the others. At least one is there, and one is missing.
    pub fn given(&self, row: &[f64]) -> Result<Given> {
        let TMixture { dims: d, degrees, .. } = *self.mixture;
        let missing: Vec<usize> = (0..d).filter(|&c| row[c].is_nan()).collect();
        let there = (d - missing.len()) as f64;
        let parts = self.parts(&missing)?;
        let looks: Vec<_> = parts.iter().map(|part| part.look(row)).collect();
        let terms: Vec<f64> =
            parts.iter().zip(&looks).map(|(part, (_, q))| part.ln_term(*q, degrees, d)).collect();
        let ln_p = ln_sum(terms.iter().copied());
        let each = parts.iter().zip(looks).zip(&terms);
        let parts: Result<Vec<GivenPart>> = each
            .map(|((part, (off, q)), term)| (part, off, q, (term - ln_p).exp()))
            .filter(|(.., weight)| *weight > NEGLIGIBLE)
            .map(|(part, off, q, weight)| {
                let mean = missing.iter().map(|&c| part.mean[c] + off[c]).collect();
                let by =
                    if degrees.is_infinite() { 1.0 } else { (degrees + q) / (degrees + there) };
                let own = part.root.as_ref().map(|root| inverse(root, missing.len()));
                let shape = own.ok_or_else(not_positive)? * faer::Scale(by);
                let root = shape.llt(Side::Lower).map_err(|_| not_positive())?.L().to_owned();
                Ok(GivenPart { weight, mean, shape, root })
            })
            .collect();
        Ok(Given { ln_p, degrees: degrees + there, parts: parts?, missing })
    }
}

impl Part<'_> {
    /// How far a row's cells are from the mean, the missing ones where they are expected, and q.
    fn look(&self, row: &[f64]) -> (Vec<f64>, f64) {
        let mut off: Vec<f64> = row.iter().zip(self.mean).map(|(x, m)| x - m).collect();
        self.missing.iter().for_each(|&c| off[c] = 0.0);
        let d = off.len();
        let pulled: Vec<f64> = self.precision.chunks_exact(d).map(|row| dot(row, &off)).collect();
        let mut q = dot(&off, &pulled);
        if let Some(root) = &self.root {
            let right = Mat::from_fn(self.missing.len(), 1, |a, _| pulled[self.missing[a]]);
            let shift = root.solve(&right);
            for (a, &c) in self.missing.iter().enumerate() {
                off[c] = -shift[(a, 0)];
                q -= shift[(a, 0)] * pulled[c];
            }
        }
        // So far out that squares overflow.
        (off, if q < FARTHEST { q.max(0.0) } else { FARTHEST })
    }

    fn ln_term(&self, q: f64, degrees: f64, dims: usize) -> f64 {
        let there = (dims - self.missing.len()) as f64;
        let fall = if degrees.is_infinite() {
            0.5 * q
        } else {
            0.5 * (degrees + there) * (q / degrees).ln_1p()
        };
        self.ln_scale - fall
    }
}

impl Given {
    /// The same where a column's unit is a scale and its zero a middle.
    pub(crate) fn in_units(mut self, middles: &[f64], scales: &[f64]) -> Self {
        let ln_scale = |c: usize| if self.missing.contains(&c) { 0.0 } else { scales[c].ln() };
        self.ln_p -= (0..scales.len()).map(ln_scale).sum::<f64>();
        for part in &mut self.parts {
            for (a, &i) in self.missing.iter().enumerate() {
                part.mean[a] = middles[i] + scales[i] * part.mean[a];
                for (b, &j) in self.missing.iter().enumerate() {
                    part.shape[(a, b)] *= scales[i] * scales[j];
                    part.root[(a, b)] *= scales[i];
                }
            }
        }
        self
    }

    /// Draws the missing cells.
    pub fn draw(&self, rng: &mut Stream) -> Vec<f64> {
        let total: f64 = self.parts.iter().map(|p| p.weight).sum();
        let at = rng.random_range(0.0..total);
        let found = place_of(at, self.parts.iter().map(|p| p.weight)).map(|k| &self.parts[k]);
        let Some(part) = found.or(self.parts.last()) else {
            return vec![f64::NAN; self.missing.len()];
        };
        let half = 0.5 * self.degrees;
        let gamma = Gamma::new(half, half.recip()).ok().filter(|_| half.is_finite());
        let scale = gamma.map_or(1.0, |gamma| gamma.sample(rng).sqrt().recip());
        let z: Vec<f64> = part.mean.iter().map(|_| rng.sample(StandardNormal)).collect();
        let move_of = |a: usize| (0..=a).map(|b| part.root[(a, b)] * z[b]).sum::<f64>();
        part.mean.iter().enumerate().map(|(a, m)| m + scale * move_of(a)).collect()
    }

    /// One of the missing cells, the `a`th: the weight, the middle and the scale of each component.
    pub fn cell(&self, a: usize) -> Vec<(f64, f64, f64)> {
        self.parts.iter().map(|p| (p.weight, p.mean[a], p.shape[(a, a)].sqrt())).collect()
    }

    /// The degrees of freedom of these components.
    pub fn degrees(&self) -> f64 {
        self.degrees
    }
}

/// ln of what multiplies the power of a Student-t, or of a Gaussian, over `dims` columns of unit shape.
pub(super) fn ln_constant(degrees: f64, dims: f64) -> f64 {
    if degrees.is_infinite() {
        return -0.5 * dims * crate::linalg::LN_TAU;
    }
    let ln_gamma = |x: f64| special::Gamma::ln_gamma(x).0;
    ln_gamma(0.5 * (degrees + dims))
        - ln_gamma(0.5 * degrees)
        - 0.5 * dims * (degrees * std::f64::consts::PI).ln()
}

fn inverse(root: &Llt<f64>, n: usize) -> Mat<f64> {
    root.solve(Mat::<f64>::identity(n, n))
}

fn not_positive() -> Error {
    Error::NoConvergence { what: "decomposition of a covariance" }
}
