//! Sums of outer products: G += S X, with S of c × r (candidates by rows) and X of r × d.
//!
//! A tile of G stays in registers while the rows of X go by, and is added to G, in double
//! precision, when they have passed. Each element of G is a sum over the rows in their
//! order, whatever tile it falls into: the bits do not depend on how many candidates
//! there are.

use crate::{Real, block, simd::prefetch};
use pulp::{Simd, WithSimd};

/// G (`count` rows, `g_stride` apart) += S (`count` × `rows`, `s_stride` apart) times X
/// (`rows` × `cols`, `x_stride` apart).
pub(crate) struct Outer<'a, 'n, T> {
    pub x: &'a [T],
    pub x_stride: usize,
    pub rows: usize,
    /// What is needed next. It is prefetched line by line as far as there is time; the result is
    /// what remains.
    pub next: &'n [T],
    pub cols: usize,
    pub s: &'a [T],
    pub s_stride: usize,
    pub count: usize,
    pub g: &'a mut [f64],
    pub g_stride: usize,
    /// Whether memory is the limit: X is then read nearly in order.
    pub streams: bool,
}

/// G's stride for `cols` columns: the widest vector fits over the last column.
pub(crate) fn padded(cols: usize) -> usize {
    cols.next_multiple_of(16)
}

impl<'n, T: Real> WithSimd for Outer<'_, 'n, T> {
    type Output = &'n [T];

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) -> &'n [T] {
        if self.count == 0 || self.rows == 0 || self.cols == 0 {
            return self.next;
        }
        assert!(self.cols <= self.x_stride && padded(self.cols) <= self.g_stride);
        assert!((self.rows - 1) * self.x_stride + self.cols <= self.x.len());
        assert!((self.count - 1) * self.s_stride + self.rows <= self.s.len());
        assert!((self.count - 1) * self.g_stride + padded(self.cols) <= self.g.len());
        let mut d = 0;
        if self.streams {
            d = self.panels::<S, 1, 15, true>(simd, d);
        }
        if S::REGISTER_COUNT >= 32 {
            d = self.panels::<S, 8, 3, false>(simd, d);
            d = self.panels::<S, 8, 1, false>(simd, d);
        }
        d = self.panels::<S, 4, 2, false>(simd, d);
        d = self.panels::<S, 4, 1, false>(simd, d);
        if d < self.cols {
            self.candidates::<S, 4, 1, false, true>(simd, d);
        }
        self.next
    }
}

impl<T: Real> Outer<'_, '_, T> {
    /// As many panels of V vectors as there is room for, from column `d` on; where they end.
    #[inline(always)]
    fn panels<S: Simd, const C: usize, const V: usize, const AHEAD: bool>(
        &mut self,
        simd: S,
        mut d: usize,
    ) -> usize {
        let width = V * T::lanes::<S>();
        while d + width <= self.cols {
            self.candidates::<S, C, V, AHEAD, false>(simd, d);
            d += width;
        }
        d
    }

    #[inline(always)]
    fn candidates<S: Simd, const C: usize, const V: usize, const AHEAD: bool, const TAIL: bool>(
        &mut self,
        simd: S,
        d: usize,
    ) {
        let mut c = 0;
        while c + C <= self.count {
            self.tile::<S, C, V, AHEAD, TAIL>(simd, c, d);
            c += C;
        }
        while C > 4 && c + 4 <= self.count {
            self.tile::<S, 4, V, AHEAD, TAIL>(simd, c, d);
            c += 4;
        }
        while c < self.count {
            self.tile::<S, 1, V, AHEAD, TAIL>(simd, c, d);
            c += 1;
        }
    }

    /// The C × (V vectors) tile of G at candidate `c` and column `d`; with TAIL, V is 1 and
    /// the vector reaches over the last column; with AHEAD, the next rows of X are prefetched.
    #[inline(always)]
    fn tile<S: Simd, const C: usize, const V: usize, const AHEAD: bool, const TAIL: bool>(
        &mut self,
        simd: S,
        c: usize,
        d: usize,
    ) {
        let lanes = T::lanes::<S>();
        let mask = T::first(simd, if TAIL { self.cols - d } else { lanes });
        let mut sums = [[T::splat(simd, T::default()); V]; C];
        // SAFETY: the callers keep c + C ≤ count, and d + V lanes ≤ cols or, with TAIL, V = 1 and
        // d < cols; d is a multiple of lanes. With i < C, v < V and r < rows,
        // - X is read at r x_stride + d + v lanes. A full vector ends by r x_stride + cols, and
        //   with TAIL only cols − d lanes are read: (rows − 1) x_stride + cols ≤ x.len() is
        //   asserted.
        // - S is read at (c + i) s_stride + r, which is less than
        //   (count − 1) s_stride + rows ≤ s.len(), which is asserted.
        // - G is read and written at (c + i) g_stride + d + v lanes, lanes doubles at a time. They
        //   end by padded(cols) of their row, with TAIL, too: d is a multiple of lanes, which
        //   divides 16. (count − 1) g_stride + padded(cols) ≤ g.len() is asserted.
        // None of these products overflows: they are sizes of slices that exist, or less. `x`
        // after the last row is made by `wrapping_add` and not used.
        unsafe {
            let mut x = self.x.as_ptr().add(d);
            let s = self.s.as_ptr().add(c * self.s_stride);
            // What to prefetch, evenly over the tiles.
            let (mut next, step) = if AHEAD {
                (x, 0)
            } else {
                block::take(&mut self.next, self.rows, C * V * lanes / (2 * self.count), x)
            };
            for r in 0..self.rows {
                prefetch(next, true);
                next = next.wrapping_add(step);
                let mut xs = [T::splat(simd, T::default()); V];
                for (v, xs) in xs.iter_mut().enumerate() {
                    if AHEAD {
                        prefetch(x.wrapping_add(v * lanes).wrapping_byte_add(block::AHEAD), false);
                    }
                    *xs = if TAIL {
                        T::load_first(simd, mask, x)
                    } else {
                        T::load(simd, x.add(v * lanes))
                    };
                }
                for (c, sums) in sums.iter_mut().enumerate() {
                    let s = T::splat(simd, *s.add(c * self.s_stride + r));
                    for (sum, &x) in sums.iter_mut().zip(&xs) {
                        *sum = T::mul_add(simd, s, x, *sum);
                    }
                }
                x = x.wrapping_add(self.x_stride);
            }
            for (i, sums) in sums.iter().enumerate() {
                let g = self.g.as_mut_ptr().add((c + i) * self.g_stride + d);
                for (v, &sum) in sums.iter().enumerate() {
                    T::add_to(simd, sum, g.add(v * lanes));
                }
            }
        }
    }
}
