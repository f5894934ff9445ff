//! The fused pass.

use crate::{Real, chunks};
use rayon::prelude::*;

/// What a candidate does with a block of its projections.
pub trait Term: Sync {
    /// How many sums [`Term::block`] adds up.
    fn n_sums(&self) -> usize;

    /// For a block of projections `z`: writes the score E′(z) of each (not weighted) and
    /// adds the weighted statistics to `sums`. `weights`, where given, is as long as `z`.
    fn block(&self, z: &[f64], weights: Option<&[f64]>, scores: &mut [f64], sums: &mut [f64]);
}

/// The sums that one pass gives for K candidates.
#[derive(Clone, Debug, PartialEq)]
pub struct Pass {
    /// Σ weight · E′(z) · x, K × columns, row-major.
    pub gradients: Vec<f64>,
    /// The statistics of each candidate's [`Term`].
    pub sums: Vec<Vec<f64>>,
}

const BLOCK: usize = 128;

/// One pass over `rows` (row-major, `cols` columns) for K directions (K × `cols`,
/// row-major) and their terms.
///
/// # Panics
/// If the slices' lengths do not match `cols` or each other.
pub fn pass<T: Real>(
    rows: &[T],
    cols: usize,
    weights: Option<&[f64]>,
    directions: &[f64],
    terms: &[&dyn Term],
) -> Pass {
    let k = terms.len();
    assert_eq!(directions.len(), k * cols);
    assert_eq!(rows.len() % cols.max(1), 0);
    let n = rows.len() / cols.max(1);
    assert!(weights.is_none_or(|w| w.len() == n));
    let parts: Vec<Pass> = chunks(n)
        .into_par_iter()
        .map(|range| {
            let mut out = empty(cols, terms);
            let (mut z, mut scores) = (vec![0.0; BLOCK], vec![0.0; BLOCK]);
            for start in range.clone().step_by(BLOCK) {
                let stop = (start + BLOCK).min(range.end);
                let block = &rows[start * cols..stop * cols];
                let weights = weights.map(|w| &w[start..stop]);
                let m = stop - start;
                for (c, term) in terms.iter().enumerate() {
                    let w = &directions[c * cols..(c + 1) * cols];
                    for (z, x) in z.iter_mut().zip(block.chunks_exact(cols)) {
                        *z = dot(w, x);
                    }
                    term.block(&z[..m], weights, &mut scores[..m], &mut out.sums[c]);
                    let g = &mut out.gradients[c * cols..(c + 1) * cols];
                    for (i, x) in block.chunks_exact(cols).enumerate() {
                        let s = scores[i] * weights.map_or(1.0, |w| w[i]);
                        for (g, x) in g.iter_mut().zip(x) {
                            *g += s * x.to_f64();
                        }
                    }
                }
            }
            out
        })
        .collect();
    let mut total = empty(cols, terms);
    for part in parts {
        add(&mut total.gradients, &part.gradients);
        for (t, p) in total.sums.iter_mut().zip(&part.sums) {
            add(t, p);
        }
    }
    total
}

/// The projections of every row on K directions: N × K, row-major.
pub fn project<T: Real>(rows: &[T], cols: usize, directions: &[f64]) -> Vec<f64> {
    let k = directions.len() / cols.max(1);
    let mut z = vec![0.0; rows.len() / cols.max(1) * k];
    if k > 0 {
        z.par_chunks_mut(k * 1024).zip(rows.par_chunks(cols * 1024)).for_each(|(z, rows)| {
            for (z, x) in z.chunks_exact_mut(k).zip(rows.chunks_exact(cols)) {
                for (z, w) in z.iter_mut().zip(directions.chunks_exact(cols)) {
                    *z = dot(w, x);
                }
            }
        });
    }
    z
}

fn empty(cols: usize, terms: &[&dyn Term]) -> Pass {
    Pass {
        gradients: vec![0.0; terms.len() * cols],
        sums: terms.iter().map(|t| vec![0.0; t.n_sums()]).collect(),
    }
}

fn add(into: &mut [f64], from: &[f64]) {
    for (a, b) in into.iter_mut().zip(from) {
        *a += b;
    }
}

fn dot<T: Real>(w: &[f64], x: &[T]) -> f64 {
    w.iter().zip(x).map(|(w, x)| w * x.to_f64()).sum()
}
