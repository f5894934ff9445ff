//! Projections of a block of rows on many directions.

use crate::block::{Block, block_rows};
use crate::{Real, aligned::Aligned, dots::Dots, outer::Outer, outer::padded};
use pulp::Arch;
use rayon::prelude::*;

/// Directions ready for the kernels: in the rows' precision, zero-padded.
pub(crate) struct Directions<T> {
    w: Aligned<T>,
    stride: usize,
    cols: usize,
    pub count: usize,
}

/// Space for the transpose of a block, allocated on first use.
pub(crate) type Scratch<T> = Vec<T>;

impl<T: Real> Directions<T> {
    /// From `count` directions of `cols` columns each.
    pub fn new(directions: &[f64], cols: usize, count: usize) -> Self {
        let stride = if narrow::<T>(cols) { cols } else { padded(cols) };
        let mut w = Aligned::new(count * stride);
        if cols > 0 {
            for (w, from) in w.chunks_exact_mut(stride).zip(directions.chunks_exact(cols)) {
                for (w, &from) in w.iter_mut().zip(from) {
                    *w = T::from_f64(from);
                }
            }
        }
        Self { w, stride, cols, count }
    }

    /// Projections of `rows` rows, `z_stride` (a multiple of 16) apart for each direction.
    /// Which of the two kernels computes them depends on the number of columns alone, so a
    /// projection's bits do not depend on the other directions. What follows the block is
    /// prefetched meanwhile; the result is what remains of it.
    pub fn project<'n>(
        &self,
        arch: Arch,
        x: Block<'_, 'n, T>,
        z: &mut [f64],
        z_stride: usize,
        scratch: &mut Scratch<T>,
    ) -> &'n [T] {
        let Self { ref w, stride, cols, count } = *self;
        let Block { x, x_stride, rows, next } = x;
        if narrow::<T>(cols) {
            scratch.resize(cols * z_stride, T::default());
            transpose(x, x_stride, cols, rows, scratch, z_stride);
            let x = Block { x: scratch, x_stride: z_stride, rows, next: &[] };
            self.project_columns(arch, x, z, z_stride);
            next
        } else {
            arch.dispatch(Dots {
                x,
                x_stride,
                rows,
                next,
                cols,
                w,
                w_stride: stride,
                count,
                z,
                z_stride,
                streams: count < 4,
            })
        }
    }

    /// The same for a block of narrow rows that lies column by column.
    pub fn project_columns<'n>(
        &self,
        arch: Arch,
        x: Block<'_, 'n, T>,
        z: &mut [f64],
        z_stride: usize,
    ) -> &'n [T] {
        let Block { x, x_stride, rows, next } = x;
        z.fill(0.0);
        arch.dispatch(Outer {
            x,
            x_stride,
            rows: self.cols,
            next,
            cols: rows,
            s: &self.w,
            s_stride: self.stride,
            count: self.count,
            g: z,
            g_stride: z_stride,
            streams: self.count < 4,
        })
    }
}

/// Whether rows are so short that adding up the lanes of each dot product would cost more
/// than transposing the block.
pub(crate) fn narrow<T>(cols: usize) -> bool {
    cols * size_of::<T>() <= 512
}

/// Writes rows as columns: `rows` × `cols`, `x_stride` apart, to `cols` × `rows`, `stride`
/// apart.
pub(crate) fn transpose<T: Copy>(
    x: &[T],
    x_stride: usize,
    cols: usize,
    rows: usize,
    to: &mut [T],
    stride: usize,
) {
    for start in (0..rows).step_by(16) {
        let stop = (start + 16).min(rows);
        for d in 0..cols {
            let x = x[start * x_stride + d..].iter().step_by(x_stride);
            for (to, x) in to[d * stride + start..d * stride + stop].iter_mut().zip(x) {
                *to = *x;
            }
        }
    }
}

/// The projections of every row on K directions: N × K, row-major.
///
/// # Panics
/// If `rows` or `directions` is not a whole number of rows of `cols`.
pub fn project<T: Real>(rows: &[T], cols: usize, directions: &[f64]) -> Vec<f64> {
    project_on(crate::simd::best(), rows, cols, directions)
}

pub(crate) fn project_on<T: Real>(
    arch: Arch,
    rows: &[T],
    cols: usize,
    directions: &[f64],
) -> Vec<f64> {
    if cols == 0 || directions.is_empty() {
        return Vec::new();
    }
    assert_eq!(rows.len() % cols, 0, "rows × cols");
    assert_eq!(directions.len() % cols, 0, "directions × cols");
    let (n, k) = (rows.len() / cols, directions.len() / cols);
    let directions = Directions::<T>::new(directions, cols, k);
    let size = block_rows::<T>(cols);
    let mut out = vec![0.0; n * k];
    let block = |space: &mut (Vec<f64>, Vec<T>, Aligned<T>), (out, x): (&mut [f64], &[T])| {
        let (z, scratch, copy) = space;
        directions.project(arch, Block::new(arch, x, &[], cols, copy), z, size, scratch);
        for (i, out) in out.chunks_exact_mut(k).enumerate() {
            for (out, z) in out.iter_mut().zip(z[i..].iter().step_by(size)) {
                *out = *z;
            }
        }
    };
    let space = || (vec![0.0; k * size], Vec::new(), Block::space(cols, k, n));
    if n * k * cols < crate::pass::SERIAL {
        let mut space = space();
        out.chunks_mut(k * size)
            .zip(rows.chunks(cols * size))
            .for_each(|pair| block(&mut space, pair));
    } else {
        out.par_chunks_mut(k * size).zip(rows.par_chunks(cols * size)).for_each_init(space, block);
    }
    out
}
