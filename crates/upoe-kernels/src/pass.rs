//! The fused pass: projections, expert terms and gradients, block by block.

use crate::aligned::Aligned;
use crate::block::{Block, block_rows};
use crate::outer::{Outer, padded};
use crate::project::Directions;
use crate::{Real, chunks, tree};
use pulp::Arch;
use rayon::prelude::*;
use std::ops::Range;

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

/// Multiply-adds below which a second thread costs more than it gives.
pub(crate) const SERIAL: usize = 1 << 18;

/// Candidates that share a pass: more would push the block of rows out of the cache.
const GROUP: usize = 64;

/// One pass over `rows` (row-major, `cols` columns) for K directions (K × `cols`,
/// row-major) and their terms.
///
/// `f64` rows are multiplied and added in `f64`. With `f32` rows the two products are in
/// `f32` (directions and scores are rounded to it), and the gradients' sums go over to
/// `f64` every 256 rows or less; the terms see, and add up, `f64`.
///
/// A candidate's result depends neither on the number of threads nor on the other
/// candidates, to the last bit; it does depend on the instruction set.
///
/// # Panics
/// If the slices' lengths do not match `cols` or each other. With no columns there are no
/// rows.
pub fn pass<T: Real>(
    rows: &[T],
    cols: usize,
    weights: Option<&[f64]>,
    directions: &[f64],
    terms: &[&dyn Term],
) -> Pass {
    pass_on(crate::simd::best(), rows, cols, weights, directions, terms)
}

pub(crate) fn pass_on<T: Real>(
    arch: Arch,
    rows: &[T],
    cols: usize,
    weights: Option<&[f64]>,
    directions: &[f64],
    terms: &[&dyn Term],
) -> Pass {
    let k = terms.len();
    assert_eq!(directions.len(), k * cols, "directions × cols");
    assert_eq!(rows.len() % cols.max(1), 0, "rows × cols");
    let n = rows.len() / cols.max(1);
    assert!(weights.is_none_or(|w| w.len() == n), "a weight a row");
    let chunks = chunks(n);
    let parallel = n * k * (cols + 16) >= SERIAL;

    // Few chunks leave threads without work unless the candidates are divided, too.
    let threads = if parallel { rayon::current_num_threads() } else { 1 };
    let splits = (2 * threads - 1).div_ceil(chunks.len().max(1));
    let width = k.div_ceil(splits).next_multiple_of(8).clamp(8, GROUP);
    let group = |start: usize| {
        let stop = (start + width).min(k);
        let group = Group {
            arch,
            rows,
            cols,
            weights,
            directions: Directions::new(&directions[start * cols..stop * cols], cols, stop - start),
            terms: &terms[start..stop],
        };
        group.sums(&chunks, parallel)
    };
    let starts: Vec<usize> = (0..k).step_by(width).collect();
    let parts: Vec<Partial> = if parallel && starts.len() > 1 {
        starts.into_par_iter().map(group).collect()
    } else {
        starts.into_iter().map(group).collect()
    };

    let mut out = Pass { gradients: Vec::with_capacity(k * cols), sums: Vec::with_capacity(k) };
    for (part, terms) in parts.iter().zip(terms.chunks(width)) {
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

/// A group of candidates and what they pass over.
struct Group<'a, T> {
    arch: Arch,
    rows: &'a [T],
    cols: usize,
    weights: Option<&'a [f64]>,
    directions: Directions<T>,
    terms: &'a [&'a dyn Term],
}

/// Sums over some rows: gradients, `padded(cols)` apart, and all terms' sums end to end.
struct Partial {
    gradients: Aligned<f64>,
    sums: Vec<f64>,
}

impl<T: Real> Group<'_, T> {
    fn empty(&self) -> Partial {
        Partial {
            gradients: Aligned::new(self.terms.len() * padded(self.cols)),
            sums: vec![0.0; self.terms.iter().map(|t| t.n_sums()).sum()],
        }
    }

    fn sums(&self, chunks: &[Range<usize>], parallel: bool) -> Partial {
        if chunks.is_empty() {
            return self.empty();
        }
        let leaf = |i: usize| self.chunk(chunks[i].clone());
        let add = |a: &mut Partial, b: Partial| {
            tree::add(&mut a.gradients, &b.gradients);
            tree::add(&mut a.sums, &b.sums);
        };
        tree::reduce(0..chunks.len(), parallel, &leaf, &add)
    }

    /// The sums over one chunk of rows.
    fn chunk(&self, range: Range<usize>) -> Partial {
        let Self { arch, rows, cols, weights, ref directions, terms } = *self;
        let size = block_rows::<T>(cols);
        let mut out = self.empty();
        let mut z = vec![0.0; terms.len() * size];
        let mut scaled = Aligned::<T>::new(terms.len() * size);
        let mut scores = vec![0.0; size];
        let mut scratch = Vec::new();
        let mut copy = Block::space(cols, terms.len(), range.len());
        for start in range.clone().step_by(size) {
            let stop = (start + size).min(range.end);
            let m = stop - start;
            let next = &rows[stop * cols..];
            let x = &rows[start * cols..stop * cols];
            let x = Block::new(arch, x, next, cols, &mut copy);
            let weights = weights.map(|w| &w[start..stop]);
            directions.project(arch, x, &mut z, size, &mut scratch);
            let mut sums = &mut out.sums[..];
            for ((term, z), scaled) in
                terms.iter().zip(z.chunks_exact(size)).zip(scaled.chunks_exact_mut(size))
            {
                let (own, rest) = sums.split_at_mut(term.n_sums());
                term.block(&z[..m], weights, &mut scores[..m], own);
                narrow(arch, &scores[..m], weights, &mut scaled[..m]);
                sums = rest;
            }
            arch.dispatch(Outer {
                x: x.x,
                x_stride: x.x_stride,
                rows: m,
                next: x.next,
                cols,
                s: &scaled,
                s_stride: size,
                count: terms.len(),
                g: &mut out.gradients,
                g_stride: padded(cols),
            });
        }
        out
    }
}

/// Weights the scores and rounds them to the rows' precision.
fn narrow<T: Real>(arch: Arch, scores: &[f64], weights: Option<&[f64]>, to: &mut [T]) {
    crate::simd::dispatch_on(
        arch,
        #[inline(always)]
        || match weights {
            None => to.iter_mut().zip(scores).for_each(|(to, &s)| *to = T::from_f64(s)),
            Some(weights) => {
                for ((to, &s), &w) in to.iter_mut().zip(scores).zip(weights) {
                    *to = T::from_f64(s * w);
                }
            }
        },
    );
}
