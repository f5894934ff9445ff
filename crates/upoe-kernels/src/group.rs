//! One group of candidates over the rows, block by block.

use crate::aligned::Aligned;
use crate::block::{Block, block_rows};
use crate::outer::{Outer, padded};
use crate::project::Directions;
use crate::{Real, Term, tree};
use pulp::Arch;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// A group of candidates and what they pass over.
pub(crate) struct Group<'a, T> {
    pub arch: Arch,
    pub rows: &'a [T],
    pub cols: usize,
    pub weights: Option<&'a [f64]>,
    pub directions: Directions<T>,
    pub terms: &'a [&'a dyn Term],
    /// Space that one chunk leaves to the next: as much as threads work at a time.
    pub spare: Mutex<Vec<Space<T>>>,
}

/// Where a block is worked on.
pub(crate) struct Space<T> {
    /// The block's rows, if they are copied.
    copy: Aligned<T>,
    /// The same, transposed, where a kernel wants that.
    transposed: Vec<T>,
    /// Projections, candidate by candidate.
    z: Aligned<f64>,
    /// One candidate's scores.
    scores: Vec<f64>,
    /// All candidates' weighted scores, in the rows' precision.
    scaled: Aligned<T>,
}

/// Sums over some rows: gradients, `padded(cols)` apart, and all terms' sums end to end.
pub(crate) struct Partial {
    pub gradients: Aligned<f64>,
    pub sums: Vec<f64>,
}

impl<T: Real> Group<'_, T> {
    fn empty(&self) -> Partial {
        Partial {
            gradients: Aligned::new(self.terms.len() * padded(self.cols)),
            sums: vec![0.0; self.terms.iter().map(|t| t.n_sums()).sum()],
        }
    }

    /// The sums over all chunks.
    pub fn sums(&self, chunks: &[Range<usize>], parallel: bool) -> Partial {
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
        let Self { arch, rows, cols, weights, ref directions, terms, ref spare } = *self;
        let size = block_rows::<T>(cols);
        let mut out = self.empty();
        let spare_space = spare.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut space = spare_space.unwrap_or_else(|| Space {
            copy: Block::space(cols, terms.len(), rows.len() / cols),
            transposed: Vec::new(),
            z: Aligned::new(terms.len() * size),
            scores: vec![0.0; size],
            scaled: Aligned::new(terms.len() * size),
        });
        let Space { copy, transposed, z, scores, scaled } = &mut space;
        for start in range.clone().step_by(size) {
            let stop = (start + size).min(range.end);
            let m = stop - start;
            let next = &rows[stop * cols..];
            let x = &rows[start * cols..stop * cols];
            let x = Block::new(arch, x, next, cols, copy);
            let weights = weights.map(|w| &w[start..stop]);
            directions.project(arch, x, z, size, transposed);
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
                s: scaled,
                s_stride: size,
                count: terms.len(),
                g: &mut out.gradients,
                g_stride: padded(cols),
            });
        }
        spare.lock().unwrap_or_else(PoisonError::into_inner).push(space);
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
