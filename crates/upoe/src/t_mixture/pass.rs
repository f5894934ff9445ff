//! The pass over rows: squared distances to all components, block by block.
//!
//! A is lower triangular, so its rows are cut into panels: a panel of rows needs only the
//! columns up to its last row. The panels of all components stand in one matrix, so that one
//! product serves them all.

use super::TMixture;
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, MatRef, Par};
use rayon::prelude::*;
use upoe_kernels::{exp, ln, ln_1p};

/// Rows of A per panel.
const PANEL: usize = 16;

/// Rows of data per block. Sums over blocks are added in order, so that the number of threads
/// does not matter.
pub(super) const BLOCK: usize = 128;

/// The components of a mixture, ready for the pass.
pub(super) struct Panels<'a> {
    mixture: &'a TMixture,
    panels: Vec<Panel>,
}

struct Panel {
    /// Rows of A per component, of which each needs `inputs` columns.
    outputs: usize,
    inputs: usize,
    /// (K · outputs) × inputs.
    rows: Mat<f64>,
    /// A m: K · outputs.
    offsets: Vec<f64>,
}

/// What the rows of one block belong to.
pub(super) struct Shares {
    /// Σ ln p, weighted.
    pub ln_p: f64,
    /// Row weight times responsibility, component after component: K × rows.
    pub mass: Vec<f64>,
    /// The same times (ν + D)/(ν + q).
    pub pull: Vec<f64>,
}

impl<'a> Panels<'a> {
    pub fn new(mixture: &'a TMixture) -> Self {
        let (d, k) = (mixture.dims, mixture.count());
        let panel = |start: usize| {
            let inputs = (start + PANEL).min(d);
            let outputs = inputs - start;
            let entry =
                |i: usize, j: usize| mixture.whitener(i / outputs)[(start + i % outputs) * d + j];
            let rows = Mat::from_fn(k * outputs, inputs, entry);
            let offset = |i: usize| -> f64 {
                let mean = mixture.mean(i / outputs);
                (0..inputs).map(|j| entry(i, j) * mean[j]).sum()
            };
            let offsets = (0..k * outputs).map(offset).collect();
            Panel { outputs, inputs, rows, offsets }
        };
        Panels { mixture, panels: (0..d).step_by(PANEL).map(panel).collect() }
    }

    /// q = ‖A(x − m)‖² of each row and component: rows × K.
    fn distances(&self, x: &[f64], z: &mut Vec<f64>) -> Vec<f64> {
        let (d, k) = (self.mixture.dims, self.mixture.count());
        let n = x.len() / d;
        let mut q = vec![0.0; n * k];
        let x = MatRef::from_column_major_slice(x, d, n);
        for Panel { outputs, inputs, rows, offsets } in &self.panels {
            let height = k * outputs;
            z.resize(height * n, 0.0);
            let out = MatMut::from_column_major_slice_mut(z, height, n);
            matmul(out, Accum::Replace, rows, x.subrows(0, *inputs), 1.0, Par::Seq);
            for (z, q) in z.chunks_exact(height).zip(q.chunks_exact_mut(k)) {
                let offsets = offsets.chunks_exact(*outputs);
                for ((z, c), q) in z.chunks_exact(*outputs).zip(offsets).zip(q) {
                    *q += squares(z, c);
                }
            }
        }
        q
    }

    /// ln wₖ t(x; mₖ, Σₖ, ν) in place of q.
    fn ln_terms(&self, q: &mut [f64]) {
        let TMixture { degrees, dims, ref ln_scales, .. } = *self.mixture;
        let power = 0.5 * (degrees + dims as f64);
        for q in q.chunks_exact_mut(ln_scales.len()) {
            for (q, scale) in q.iter_mut().zip(ln_scales) {
                let fall =
                    if degrees.is_infinite() { 0.5 * *q } else { power * ln_1p(*q / degrees) };
                *q = scale - fall;
            }
        }
    }

    fn by_block<T: Send>(&self, x: &[f64], of: impl Fn(Vec<f64>) -> Vec<T> + Sync) -> Vec<T> {
        let blocks: Vec<Vec<T>> = x
            .par_chunks(BLOCK * self.mixture.dims)
            .map_init(Vec::new, |z, x| of(self.distances(x, z)))
            .collect();
        blocks.into_iter().flatten().collect()
    }

    pub fn ln_density(&self, x: &[f64]) -> Vec<f64> {
        self.by_block(x, |mut q| {
            self.ln_terms(&mut q);
            q.chunks_exact_mut(self.mixture.count()).map(ln_sum).collect()
        })
    }

    pub fn responsibilities(&self, x: &[f64]) -> Vec<f64> {
        self.by_block(x, |mut q| {
            self.ln_terms(&mut q);
            for terms in q.chunks_exact_mut(self.mixture.count()) {
                self.share(terms);
            }
            q
        })
    }

    /// Turns ln terms into responsibilities; the result is ln p.
    fn share(&self, terms: &mut [f64]) -> f64 {
        let ln_p = ln_sum(terms);
        if ln_p == f64::NEG_INFINITY {
            // Too far away to tell: the weights alone.
            terms.copy_from_slice(&self.mixture.weights);
        } else {
            let total: f64 = terms.iter().sum();
            terms.iter_mut().for_each(|t| *t /= total);
        }
        ln_p
    }

    /// The shares of all rows, block by block.
    pub fn shares(&self, x: &[f64], weights: Option<&[f64]>) -> Vec<Shares> {
        let (d, k) = (self.mixture.dims, self.mixture.count());
        let of_block = |z: &mut Vec<f64>, (block, x): (usize, &[f64])| {
            let n = x.len() / d;
            let q = self.distances(x, z);
            let mut terms = q.clone();
            self.ln_terms(&mut terms);
            let mut shares = Shares { ln_p: 0.0, mass: vec![0.0; k * n], pull: vec![0.0; k * n] };
            for (i, (q, terms)) in q.chunks_exact(k).zip(terms.chunks_exact_mut(k)).enumerate() {
                let weight = weights.map_or(1.0, |w| w[block * BLOCK + i]);
                if weight == 0.0 {
                    continue;
                }
                shares.ln_p += weight * self.share(terms);
                for (k, (share, q)) in terms.iter().zip(q).enumerate() {
                    shares.mass[k * n + i] = weight * share;
                    shares.pull[k * n + i] = weight * share * self.mixture.pull(*q);
                }
            }
            shares
        };
        x.par_chunks(BLOCK * d).enumerate().map_init(Vec::new, of_block).collect()
    }
}

/// Σ (z − c)².
fn squares(z: &[f64], c: &[f64]) -> f64 {
    let (z4, z_rest) = z.as_chunks::<4>();
    let (c4, c_rest) = c.as_chunks::<4>();
    let mut sums = [0.0; 4];
    for (z, c) in z4.iter().zip(c4) {
        for ((sum, z), c) in sums.iter_mut().zip(z).zip(c) {
            *sum += (z - c) * (z - c);
        }
    }
    let rest: f64 = z_rest.iter().zip(c_rest).map(|(z, c)| (z - c) * (z - c)).sum();
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

/// ln Σ eᵗ. The terms become eᵗ⁻ᵐᵃˣ, unless every one is −∞ or overflowed.
fn ln_sum(terms: &mut [f64]) -> f64 {
    let top = terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if top == f64::NEG_INFINITY {
        return top;
    }
    let mut total = 0.0;
    for t in terms {
        *t = if t.is_nan() { 0.0 } else { exp(*t - top) };
        total += *t;
    }
    top + ln(total)
}
