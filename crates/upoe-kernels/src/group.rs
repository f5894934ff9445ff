//! One group of candidates over the rows, block by block.

use crate::aligned::Aligned;
use crate::block::{Block, block_rows};
use crate::dots::Dots;
use crate::outer::{Outer, padded};
use crate::packed::Packed;
use crate::project::{Directions, narrow};
use crate::{Real, Term, tree};
use pulp::Arch;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// A group of candidates and what they pass over.
pub(crate) struct Group<'a, T> {
    pub arch: Arch,
    pub rows: &'a Packed<T>,
    pub weights: Option<&'a [f64]>,
    pub directions: Directions<T>,
    pub terms: &'a [&'a dyn Term],
    /// Working space that chunks reuse: one per thread at work.
    pub spare: Mutex<Vec<Space<T>>>,
}

/// Where a block is worked on.
pub(crate) struct Space<T> {
    /// The block's rows, if they are copied.
    copy: Aligned<T>,
    /// Projections, candidate by candidate.
    z: Aligned<f64>,
    /// One candidate's slopes.
    slopes: Vec<f64>,
    /// All candidates' weighted slopes, in the rows' precision.
    scaled: Aligned<T>,
    /// One block's gradients, where rows are narrow.
    gradients: Aligned<f64>,
}

/// Sums over some rows: gradients, `padded(cols)` apart, and all terms' sums end to end.
pub(crate) struct Partial {
    pub gradients: Aligned<f64>,
    pub sums: Vec<f64>,
}

impl<T: Real> Group<'_, T> {
    fn empty(&self) -> Partial {
        Partial {
            gradients: Aligned::new(self.terms.len() * padded(self.rows.cols())),
            sums: vec![0.0; self.terms.iter().map(|t| t.n_sums()).sum()],
        }
    }

    /// The sums over all chunks of all parts.
    pub fn sums(&self, parts: &[Vec<Range<usize>>], parallel: bool) -> Partial {
        if parts.is_empty() {
            return self.empty();
        }
        let add = |a: &mut Partial, b: Partial| {
            tree::add(&mut a.gradients, &b.gradients);
            tree::add(&mut a.sums, &b.sums);
        };
        let part = |k: usize| {
            let chunk = |i: usize| self.chunk(parts[k][i].clone());
            tree::reduce(0..parts[k].len(), parallel, &chunk, &add)
        };
        tree::reduce(0..parts.len(), parallel, &part, &add)
    }

    /// The sums over one chunk of rows.
    fn chunk(&self, range: Range<usize>) -> Partial {
        let Self { arch, rows, weights, ref directions, terms, ref spare } = *self;
        let (cols, count) = (rows.cols(), terms.len());
        let (size, stride, narrow) = (block_rows::<T>(cols), padded(cols), narrow::<T>(cols));
        let mut out = self.empty();
        let spare_space = spare.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut space = spare_space.unwrap_or_else(|| Space {
            copy: Block::space(cols, count, rows.rows()),
            z: Aligned::new(count * size),
            slopes: vec![0.0; size],
            scaled: Aligned::new(count * size),
            gradients: Aligned::new(if narrow { count * stride } else { 0 }),
        });
        let Space { copy, z, slopes, scaled, gradients } = &mut space;
        for start in range.clone().step_by(size) {
            let stop = (start + size).min(range.end);
            let m = stop - start;
            let (x, next) = rows.from(start).split_at(m * cols);
            let next = &next[..next.len().min(m * cols)];
            let x = match narrow {
                true => Block { x, x_stride: m, rows: m, next },
                false => Block::new(arch, x, next, cols, copy),
            };
            let weights = weights.map(|w| &w[start..stop]);
            let next = match narrow {
                true => directions.project_columns(arch, x, z, size),
                false => directions.project(arch, x, z, size, &mut Vec::new()),
            };
            let mut sums = &mut out.sums[..];
            for ((term, z), scaled) in
                terms.iter().zip(z.chunks_exact(size)).zip(scaled.chunks_exact_mut(size))
            {
                let (own, rest) = sums.split_at_mut(term.n_sums());
                term.block(&z[..m], weights, &mut slopes[..m], own);
                weigh(arch, &slopes[..m], weights, &mut scaled[..m]);
                sums = rest;
            }
            if narrow {
                scaled.chunks_exact_mut(size).for_each(|s| s[m..].fill(T::default()));
                arch.dispatch(Dots {
                    x: x.x,
                    x_stride: m,
                    rows: cols,
                    next,
                    cols: m,
                    w: scaled,
                    w_stride: size,
                    count,
                    z: gradients,
                    z_stride: stride,
                    streams: false,
                });
                tree::add(&mut out.gradients, gradients);
                continue;
            }
            arch.dispatch(Outer {
                x: x.x,
                x_stride: x.x_stride,
                rows: m,
                next,
                cols,
                s: scaled,
                s_stride: size,
                count,
                g: &mut out.gradients,
                g_stride: stride,
                streams: false,
            });
        }
        spare.lock().unwrap_or_else(PoisonError::into_inner).push(space);
        out
    }
}

/// Weights the slopes and rounds them to the rows' precision.
fn weigh<T: Real>(arch: Arch, slopes: &[f64], weights: Option<&[f64]>, to: &mut [T]) {
    crate::simd::dispatch_on(
        arch,
        #[inline(always)]
        || match weights {
            None => to.iter_mut().zip(slopes).for_each(|(to, &s)| *to = T::from_f64(s)),
            Some(weights) => {
                for ((to, &s), &w) in to.iter_mut().zip(slopes).zip(weights) {
                    *to = T::from_f64(s * w);
                }
            }
        },
    );
}
