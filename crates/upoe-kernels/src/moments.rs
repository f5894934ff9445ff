//! Mean and scatter of the rows, and rows sphered by an affine map: what comes before and
//! after whitening. Both in `f64` whatever the rows are stored in.

use crate::aligned::Aligned;
use crate::block::block_rows;
use crate::outer::{Outer, padded};
use crate::pass::SERIAL;
use crate::project::transpose;
use crate::{Real, dots::Dots, simd::best, tree};
use pulp::Arch;
use rayon::prelude::*;

/// Σ w, Σ w (x − shift) and Σ w (x − shift)(x − shift)ᵀ (`cols` × `cols`, row-major,
/// exactly symmetric), over rows of `cols` columns; w is 1 without `weights`.
///
/// A `shift` near the mean keeps the digits of a scatter that is small beside it. The
/// result does not depend on the number of threads, to the last bit.
///
/// # Panics
/// If the slices' lengths do not match `cols` or each other.
pub fn scatter<T: Real>(
    rows: &[T],
    cols: usize,
    weights: Option<&[f64]>,
    shift: &[f64],
) -> (f64, Vec<f64>, Vec<f64>) {
    scatter_on(best(), rows, cols, weights, shift)
}

pub(crate) fn scatter_on<T: Real>(
    arch: Arch,
    rows: &[T],
    cols: usize,
    weights: Option<&[f64]>,
    shift: &[f64],
) -> (f64, Vec<f64>, Vec<f64>) {
    assert_eq!(shift.len(), cols, "one shift per column");
    assert_eq!(rows.len() % cols.max(1), 0, "rows × cols");
    let n = rows.len() / cols.max(1);
    assert!(weights.is_none_or(|w| w.len() == n), "one weight per row");

    // A column of ones beside the others gives the first moments and the count with the
    // second moments. Few leaves, since each has a matrix of its own: about 32 MB of them.
    let (size, stride, wide) = (rows_at_once(cols), padded(cols + 1), cols + 1);
    let leaves = ((32 << 20) / (wide * stride * size_of::<f64>())).clamp(2, 16);
    let leaf_rows = n.div_ceil(leaves).next_multiple_of(size).max(size);
    let leaf = |i: usize| {
        let mut sums = Aligned::<f64>::new(wide * stride);
        let mut x = Aligned::<f64>::new(size * stride);
        let mut scaled = Aligned::<f64>::new(size * wide);
        let mut transposed = Aligned::<f64>::new(size * wide);
        let range = i * leaf_rows..((i + 1) * leaf_rows).min(n);
        for start in range.clone().step_by(size) {
            let stop = (start + size).min(range.end);
            for (r, row) in (start..stop).enumerate() {
                let x = &mut x[r * stride..][..wide];
                centre(&rows[row * cols..][..cols], shift, x);
                x[cols] = 1.0;
                let w = weights.map_or(1.0, |w| w[row]);
                for (scaled, x) in scaled[r * wide..][..wide].iter_mut().zip(x) {
                    *scaled = w * *x;
                }
            }
            let m = stop - start;
            transpose(&scaled, wide, wide, m, &mut transposed, size);
            // The upper triangle, in bands: a band starts at its first row's column, rounded
            // down to a whole vector.
            for top in (0..wide).step_by(BAND) {
                let count = BAND.min(wide - top);
                let left = top / 16 * 16;
                arch.dispatch(Outer {
                    x: &x[left..],
                    x_stride: stride,
                    rows: m,
                    next: &[],
                    cols: wide - left,
                    s: &transposed[top * size..],
                    s_stride: size,
                    count,
                    g: &mut sums[top * stride + left..],
                    g_stride: stride,
                    streams: false,
                });
            }
        }
        sums
    };
    let add = |a: &mut Aligned<f64>, b: Aligned<f64>| tree::add(a, &b);
    let leaves = n.div_ceil(leaf_rows);
    let sums = match leaves {
        0 => Aligned::new(wide * stride),
        _ => tree::reduce(0..leaves, n * cols * cols >= SERIAL, &leaf, &add),
    };
    let mut scatter = vec![0.0; cols * cols];
    for i in 0..cols {
        for j in i..cols {
            scatter[i * cols + j] = sums[i * stride + j];
            scatter[j * cols + i] = sums[i * stride + j];
        }
    }
    let first = (0..cols).map(|i| sums[i * stride + cols]).collect();
    (sums[cols * stride + cols], first, scatter)
}

/// Rows per block: at least 128, since each block goes through a whole matrix.
fn rows_at_once(cols: usize) -> usize {
    block_rows::<f64>(cols).max(128)
}

/// Rows of the scatter matrix computed together.
const BAND: usize = 32;

/// x − shift, in double precision.
fn centre<T: Real>(x: &[T], shift: &[f64], to: &mut [f64]) {
    for ((to, x), shift) in to.iter_mut().zip(x).zip(shift) {
        *to = x.to_f64() - shift;
    }
}

/// matrix · (x − shift) for each row x of `cols` columns; `matrix` is row-major, one row of
/// `cols` per output column. Rows are multiplied in double precision and rounded at the end.
///
/// # Panics
/// If the slices' lengths do not match `cols`.
pub fn affine<T: Real, U: Real>(
    rows: &[T],
    cols: usize,
    shift: &[f64],
    matrix: &[f64],
) -> Aligned<U> {
    affine_on(best(), rows, cols, shift, matrix)
}

pub(crate) fn affine_on<T: Real, U: Real>(
    arch: Arch,
    rows: &[T],
    cols: usize,
    shift: &[f64],
    matrix: &[f64],
) -> Aligned<U> {
    assert_eq!(shift.len(), cols, "one shift per column");
    assert_eq!(rows.len() % cols.max(1), 0, "rows × cols");
    assert_eq!(matrix.len() % cols.max(1), 0, "matrix × cols");
    if rows.is_empty() || matrix.is_empty() {
        return Aligned::new(0);
    }
    let (n, width, stride) = (rows.len() / cols, matrix.len() / cols, padded(cols));
    let size = rows_at_once(cols);
    let mut w = Aligned::<f64>::new(width * stride);
    for (w, from) in w.chunks_exact_mut(stride).zip(matrix.chunks_exact(cols)) {
        w[..cols].copy_from_slice(from);
    }
    let mut out = Aligned::<U>::new(n * width);
    let space = || (Aligned::<f64>::new(size * stride), Aligned::<f64>::new(BAND * size));
    let block = |(x, z): &mut (Aligned<f64>, Aligned<f64>), (out, rows): (&mut [U], &[T])| {
        let m = rows.len() / cols;
        for (x, row) in x.chunks_exact_mut(stride).zip(rows.chunks_exact(cols)) {
            centre(row, shift, x);
        }
        for top in (0..width).step_by(BAND) {
            let count = BAND.min(width - top);
            arch.dispatch(Dots {
                x,
                x_stride: stride,
                rows: m,
                next: &[],
                cols: stride,
                w: &w[top * stride..],
                w_stride: stride,
                count,
                z,
                z_stride: size,
                streams: false,
            });
            for (i, out) in out.chunks_exact_mut(width).enumerate() {
                for (j, out) in out[top..top + count].iter_mut().enumerate() {
                    *out = U::from_f64(z[j * size + i]);
                }
            }
        }
    };
    if n * cols * width < SERIAL {
        let mut space = space();
        let pairs = out.chunks_mut(size * width).zip(rows.chunks(size * cols));
        pairs.for_each(|pair| block(&mut space, pair));
    } else {
        let pairs = out.par_chunks_mut(size * width).zip(rows.par_chunks(size * cols));
        pairs.for_each_init(space, block);
    }
    out
}
