//! Blocks of rows, small enough to stay in the cache while they are used.

use crate::{Real, aligned::Aligned, outer::padded, project::narrow, simd::prefetch};
use pulp::{Arch, Simd, WithSimd};

/// Rows in a block: at most about 256 kB, so that it stays in the second-level cache. A
/// multiple of 16 that depends on the width of a row alone; not of 256, since columns a power
/// of two apart would share a few lines of the cache.
pub(crate) fn block_rows<T>(cols: usize) -> usize {
    ((1 << 18) / (cols * size_of::<T>()).max(1)).clamp(16, 240) / 16 * 16
}

/// A block of rows, `x_stride` apart.
#[derive(Clone, Copy)]
pub(crate) struct Block<'a, 'n, T> {
    pub x: &'a [T],
    pub x_stride: usize,
    pub rows: usize,
    /// The rows that come after it in memory.
    pub next: &'n [T],
}

impl<'a, 'n, T: Real> Block<'a, 'n, T> {
    /// The rows `x` where they are or, for many candidates and rows that are not aligned, an
    /// aligned copy: it pays for itself, since the kernels read rows many times.
    pub fn new(
        arch: Arch,
        x: &'a [T],
        next: &'n [T],
        cols: usize,
        copy: &'a mut Aligned<T>,
    ) -> Self {
        let rows = x.len() / cols;
        let aligned = (x.as_ptr().addr() | (cols * size_of::<T>())).is_multiple_of(64);
        if copy.is_empty() || aligned {
            return Self { x, x_stride: cols, rows, next };
        }
        let x_stride = padded(cols);
        arch.dispatch(Copy { x, cols, to: copy, stride: x_stride });
        Self { x: copy, x_stride, rows, next }
    }

    /// Space that [`Block::new`] may copy rows to, for `count` candidates
    /// and at most `rows` rows.
    pub fn space(cols: usize, count: usize, rows: usize) -> Aligned<T> {
        let rows = rows.min(block_rows::<T>(cols));
        Aligned::new(if count < 4 || narrow::<T>(cols) { 0 } else { rows * padded(cols) })
    }
}

/// Copies rows of `cols` to rows of `stride`.
struct Copy<'a, T> {
    x: &'a [T],
    cols: usize,
    to: &'a mut [T],
    stride: usize,
}

impl<T: Real> WithSimd for Copy<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let lanes = T::lanes::<S>();
        let rows = self.to.chunks_exact_mut(self.stride).zip(self.x.chunks_exact(self.cols));
        for (to, x) in rows {
            let full = self.cols - self.cols % lanes;
            for d in (0..full).step_by(lanes) {
                prefetch(x.as_ptr().wrapping_add(d).wrapping_byte_add(AHEAD), false);
                // SAFETY: `full` is a multiple of lanes and d < full, so d + lanes ≤ full ≤ cols,
                // the length of `x`, which `chunks_exact` cuts; `to` has `stride` = padded(cols)
                // ≥ cols elements. The two do not overlap: one is borrowed mutably.
                unsafe { T::store(simd, T::load(simd, x.as_ptr().add(d)), to.as_mut_ptr().add(d)) };
            }
            to[full..self.cols].copy_from_slice(&x[full..]);
        }
    }
}

/// Takes from `next` what a tile of `steps` steps prefetches: where it starts, and by how many
/// elements each step advances. If too little is left, this is `x`, which is in the cache already:
/// prefetching an unmapped address is harmless, but slow.
#[inline(always)]
pub(crate) fn take<T>(
    next: &mut &[T],
    steps: usize,
    step: usize,
    x: *const T,
) -> (*const T, usize) {
    let step = step.min(64 / size_of::<T>());
    match next.split_at_checked(steps * step) {
        Some((now, later)) => {
            *next = later;
            (now.as_ptr(), step)
        }
        None => (x, 0),
    }
}

/// How far ahead a stream of rows prefetches, in bytes.
pub(crate) const AHEAD: usize = 8192;
