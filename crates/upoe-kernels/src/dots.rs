//! Inner products of rows with directions: Z = W Xᵀ, with W of c × d and X of r × d.
//!
//! A tile of rows by directions is summed in registers, one vector for each product, along
//! the columns. The order of summation does not depend on the tile, so neither do the bits.

use crate::block::{AHEAD, take};
use crate::{Real, simd::prefetch};
use pulp::{Simd, WithSimd};

/// Z (`count` rows of `z_stride`) = W (`count` × `cols`, `w_stride` apart, zero past
/// `cols`) times the transpose of X (`rows` × `cols`, `x_stride` apart).
pub(crate) struct Dots<'a, 'n, T> {
    pub x: &'a [T],
    pub x_stride: usize,
    pub rows: usize,
    /// What is needed next. It is prefetched as far as there is time; the result is what
    /// remains.
    pub next: &'n [T],
    pub cols: usize,
    pub w: &'a [T],
    pub w_stride: usize,
    pub count: usize,
    pub z: &'a mut [f64],
    pub z_stride: usize,
    /// Whether memory is the limit: rows are then read strictly in order.
    pub streams: bool,
}

impl<'n, T: Real> WithSimd for Dots<'_, 'n, T> {
    type Output = &'n [T];

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) -> &'n [T] {
        if self.rows == 0 || self.count == 0 {
            return self.next;
        }
        assert!(self.cols <= self.x_stride);
        assert!((self.rows - 1) * self.x_stride + self.cols <= self.x.len());
        assert!(self.cols.next_multiple_of(16) <= self.w_stride);
        assert!(self.count * self.w_stride <= self.w.len());
        assert!(self.rows <= self.z_stride && self.count * self.z_stride <= self.z.len());
        if self.streams {
            self.rows::<S, 1, 2>(simd);
        } else if S::REGISTER_COUNT >= 32 {
            self.rows::<S, 4, 4>(simd);
        } else {
            self.rows::<S, 2, 4>(simd);
        }
        self.next
    }
}

impl<T: Real> Dots<'_, '_, T> {
    /// All products, for as many directions at a time as stay in the first-level cache.
    #[inline(always)]
    fn rows<S: Simd, const R: usize, const C: usize>(&mut self, simd: S) {
        let some = (32 << 10) / (self.cols * size_of::<T>()).max(1) / C * C;
        for start in (0..self.count).step_by(some.max(C)) {
            let stop = (start + some.max(C)).min(self.count);
            let mut r = 0;
            while r + R <= self.rows {
                self.candidates::<S, R, C>(simd, r, start, stop);
                r += R;
            }
            while r < self.rows {
                self.candidates::<S, 1, C>(simd, r, start, stop);
                r += 1;
            }
        }
    }

    #[inline(always)]
    fn candidates<S: Simd, const R: usize, const C: usize>(
        &mut self,
        simd: S,
        r: usize,
        start: usize,
        stop: usize,
    ) {
        let mut c = start;
        while c + C <= stop {
            self.tile::<S, R, C>(simd, r, c);
            c += C;
        }
        while c < stop {
            self.tile::<S, R, 1>(simd, r, c);
            c += 1;
        }
    }

    /// The products of rows `r..r + R` with directions `c..c + C`.
    #[inline(always)]
    fn tile<S: Simd, const R: usize, const C: usize>(&mut self, simd: S, r: usize, c: usize) {
        let lanes = T::lanes::<S>();
        let full = self.cols - self.cols % lanes;
        let zero = T::splat(simd, T::default());
        let mut sums = [[zero; C]; R];
        // SAFETY: the callers keep r + R ≤ rows and c + C ≤ count; with i < R and j < C,
        // - X is read at (r + i) x_stride + d, at most (rows − 1) x_stride + d. A full vector
        //   ends at d + lanes ≤ full ≤ cols, and of the one at `full` only cols − full lanes are
        //   read: (rows − 1) x_stride + cols ≤ x.len() is asserted.
        // - W is read at (c + j) w_stride + d, at most (count − 1) w_stride + d. The last vector
        //   starts at `full`, a multiple of lanes, and lanes divides 16, so it ends by
        //   cols.next_multiple_of(16) ≤ w_stride: count × w_stride ≤ w.len() is asserted.
        // - Z is written at (c + j) z_stride + r + i, where r + i < rows ≤ z_stride: it is less
        //   than count × z_stride ≤ z.len(), which is asserted.
        // None of these products overflows: they are sizes of slices that exist, or one less.
        // Pointers beyond them (`next`, the last step of `w`) are made by `wrapping_add` and only
        // prefetched or not used.
        unsafe {
            let x = self.x.as_ptr().add(r * self.x_stride);
            let w = self.w.as_ptr().add(c * self.w_stride);
            // What to prefetch: when rows are read once and in order, what lies ahead; otherwise
            // half of what comes next, evenly over the tiles. The outer products prefetch the
            // other half.
            let (mut next, step) = if R == 1 {
                (x.wrapping_byte_add(AHEAD), lanes)
            } else {
                take(&mut self.next, full / lanes, R * C * lanes / (2 * self.count), x)
            };
            let mut d = 0;
            while d < full {
                prefetch(next, R > 1);
                next = next.wrapping_add(step);
                let mut xs = [zero; R];
                for (i, xs) in xs.iter_mut().enumerate() {
                    *xs = T::load(simd, x.add(i * self.x_stride + d));
                }
                let mut w = w.add(d);
                for j in 0..C {
                    let direction = T::load(simd, w);
                    for (sums, &x) in sums.iter_mut().zip(&xs) {
                        sums[j] = T::mul_add(simd, x, direction, sums[j]);
                    }
                    w = w.wrapping_add(self.w_stride);
                }
                d += lanes;
            }
            if full < self.cols {
                let mask = T::first(simd, self.cols - full);
                for (i, sums) in sums.iter_mut().enumerate() {
                    let x = T::load_first(simd, mask, x.add(i * self.x_stride + full));
                    for (j, sum) in sums.iter_mut().enumerate() {
                        let w = T::load(simd, w.add(j * self.w_stride + full));
                        *sum = T::mul_add(simd, x, w, *sum);
                    }
                }
            }
            let z = self.z.as_mut_ptr().add(c * self.z_stride + r);
            T::store_sums(simd, &sums, z, self.z_stride);
        }
    }
}
