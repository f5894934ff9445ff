//! The fused pass: projections, expert terms and gradients, block by block.

use crate::group::{Group, Partial};
use crate::outer::padded;
use crate::packed::Packed;
use crate::project::Directions;
use crate::{Real, rows::parts};
use pulp::Arch;
use rayon::prelude::*;
use std::sync::Mutex;

/// What a candidate does with a block of its projections.
pub trait Term: Sync {
    /// How many sums [`Term::block`] adds up.
    fn n_sums(&self) -> usize;

    /// For a block of projections `z`: writes the slope E′(z) of each (not weighted) and
    /// adds the weighted statistics to `sums`. `weights`, where given, is as long as `z`.
    fn block(&self, z: &[f64], weights: Option<&[f64]>, slopes: &mut [f64], sums: &mut [f64]);
}

/// The sums that one pass gives for K candidates.
#[derive(Clone, Debug, PartialEq)]
pub struct Pass {
    /// Σ weight · E′(z) · x, K × columns, row-major.
    pub gradients: Vec<f64>,
    /// The statistics of each candidate's [`Term`].
    pub sums: Vec<Vec<f64>>,
}

/// Multiply-adds below which a second thread costs more than it gives.
pub(crate) const SERIAL: usize = 1 << 20;

/// Candidates that share a pass: more would push the block of rows out of the cache.
const GROUP: usize = 64;

/// One pass over rows for K directions (K × columns, row-major) and their terms.
///
/// `f64` rows are multiplied and added in `f64`. With `f32` rows the two products are in
/// `f32` (directions and slopes are rounded to it), and the gradients' sums go over to
/// `f64` every 240 rows or less; the terms see, and add up, `f64`.
///
/// A candidate's result depends neither on the number of threads nor on the other
/// candidates, to the last bit; it does depend on the instruction set.
///
/// # Panics
/// If the slices' lengths do not match the rows or each other.
pub fn pass<T: Real>(
    rows: &Packed<T>,
    weights: Option<&[f64]>,
    directions: &[f64],
    terms: &[&dyn Term],
) -> Pass {
    pass_on(crate::simd::best(), rows, weights, directions, terms)
}

pub(crate) fn pass_on<T: Real>(
    arch: Arch,
    rows: &Packed<T>,
    weights: Option<&[f64]>,
    directions: &[f64],
    terms: &[&dyn Term],
) -> Pass {
    let (n, cols, k) = (rows.rows(), rows.cols(), terms.len());
    assert_eq!(directions.len(), k * cols, "directions × cols");
    assert!(weights.is_none_or(|w| w.len() == n), "one weight per row");
    let parts = parts(n, rows.part());
    let chunks = parts.iter().map(Vec::len).sum::<usize>();
    let parallel = n * k * (cols + 16) >= SERIAL;

    // With few chunks, threads are left without work unless the candidates are divided too.
    let threads = if parallel { rayon::current_num_threads() } else { 1 };
    let splits = (2 * threads - 1).div_ceil(chunks.max(1));
    let width = k.div_ceil(splits).next_multiple_of(8).clamp(8, GROUP);
    let group = |start: usize| {
        let stop = (start + width).min(k);
        let group = Group {
            arch,
            rows,
            weights,
            directions: Directions::new(&directions[start * cols..stop * cols], cols, stop - start),
            terms: &terms[start..stop],
            spare: Mutex::default(),
        };
        group.sums(&parts, parallel)
    };
    let starts: Vec<usize> = (0..k).step_by(width).collect();
    let groups: Vec<Partial> = if parallel && starts.len() > 1 {
        starts.into_par_iter().map(group).collect()
    } else {
        starts.into_iter().map(group).collect()
    };

    let mut out = Pass { gradients: Vec::with_capacity(k * cols), sums: Vec::with_capacity(k) };
    for (part, terms) in groups.iter().zip(terms.chunks(width)) {
        let mut sums = &part.sums[..];
        for (i, term) in terms.iter().enumerate() {
            out.gradients.extend_from_slice(&part.gradients[i * padded(cols)..][..cols]);
            let (own, rest) = sums.split_at(term.n_sums());
            out.sums.push(own.to_vec());
            sums = rest;
        }
    }
    out
}
