//! Sizes next to every boundary of the kernels, against plain loops. All slices lie between pages
//! that cannot be touched, flush with one of them, so that a vector read or written past an end
//! ends the test. A compiler with Miri runs fewer of them, which watches every access itself.

use super::{as_rows, numbers};
use crate::block::{Block, block_rows};
use crate::dots::Dots;
use crate::moments::{affine_on, scatter_on};
use crate::outer::{Outer, padded};
use crate::project::{narrow, project_on};
use crate::{Aligned, Real, simd::all};

/// Columns next to every number of lanes (1 to 16), of vectors in a tile, and where rows become
/// wide (64 of `f64`, 128 of `f32`).
const COLUMNS: &[usize] = if cfg!(miri) {
    &[1, 5, 17, 65, 129]
} else {
    &[1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 127, 128, 129]
};
/// Directions next to every height of a tile (1, 4, 8), and where rows are read once (fewer than 4).
const COUNTS: &[usize] = if cfg!(miri) { &[0, 3, 9] } else { &[0, 1, 2, 3, 4, 5, 7, 8, 9] };
/// Rows next to the height of a tile.
const ROWS: &[usize] = if cfg!(miri) { &[5] } else { &[1, 2, 3, 4, 5, 15, 16, 17] };

/// Where a slice touches a page that cannot be touched: before its first element, or after its
/// last.
const SIDES: [bool; 2] = [false, true];

/// Numbers in memory of their own, between two pages that cannot be touched.
#[cfg(all(target_os = "linux", not(miri)))]
struct Fenced<T> {
    pages: *mut libc::c_void,
    bytes: usize,
    start: *mut T,
    len: usize,
}

#[cfg(all(target_os = "linux", not(miri)))]
impl<T: Real> Fenced<T> {
    fn new(values: &[T], at_end: bool) -> Self {
        const PAGE: usize = 4096;
        let inside = size_of_val(values).next_multiple_of(PAGE);
        let bytes = inside + 2 * PAGE;
        // SAFETY: new pages, which nothing else uses; the first and the last are closed.
        let pages = unsafe {
            let (open, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE);
            let pages =
                libc::mmap(std::ptr::null_mut(), bytes, open, flags | libc::MAP_ANONYMOUS, -1, 0);
            assert_ne!(pages, libc::MAP_FAILED);
            assert_eq!(libc::mprotect(pages, PAGE, libc::PROT_NONE), 0);
            let last = pages.byte_add(bytes - PAGE);
            assert_eq!(libc::mprotect(last, PAGE, libc::PROT_NONE), 0);
            pages
        };
        let skipped = PAGE + if at_end { inside - size_of_val(values) } else { 0 };
        let start = pages.wrapping_byte_add(skipped).cast::<T>();
        // SAFETY: the elements lie between the closed pages, and `inside` and the size of the
        // values are multiples of the size of an element, so that `start` is aligned.
        unsafe { start.copy_from_nonoverlapping(values.as_ptr(), values.len()) };
        Self { pages, bytes, start, len: values.len() }
    }
}

#[cfg(all(target_os = "linux", not(miri)))]
impl<T> Drop for Fenced<T> {
    fn drop(&mut self) {
        // SAFETY: the pages are ours, and no slice of them outlives this.
        unsafe { libc::munmap(self.pages, self.bytes) };
    }
}

#[cfg(all(target_os = "linux", not(miri)))]
impl<T> std::ops::Deref for Fenced<T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        // SAFETY: `new` has written so many elements there.
        unsafe { std::slice::from_raw_parts(self.start, self.len) }
    }
}

#[cfg(all(target_os = "linux", not(miri)))]
impl<T> std::ops::DerefMut for Fenced<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as in `deref`, and `self` is borrowed for as long.
        unsafe { std::slice::from_raw_parts_mut(self.start, self.len) }
    }
}

/// Elsewhere plain memory: the results are compared all the same.
#[cfg(not(all(target_os = "linux", not(miri))))]
struct Fenced<T>(Vec<T>);

#[cfg(not(all(target_os = "linux", not(miri))))]
impl<T: Real> Fenced<T> {
    fn new(values: &[T], _: bool) -> Self {
        Fenced(values.to_vec())
    }
}

#[cfg(not(all(target_os = "linux", not(miri))))]
impl<T> std::ops::Deref for Fenced<T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        &self.0
    }
}

#[cfg(not(all(target_os = "linux", not(miri))))]
impl<T> std::ops::DerefMut for Fenced<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.0
    }
}

/// Rows next to the height of a tile and of a block of rows of so many columns.
fn heights<T>(cols: usize) -> Vec<usize> {
    let block = block_rows::<T>(cols);
    let blocks: &[usize] =
        if cfg!(miri) { &[] } else { &[block - 1, block, block + 1, 2 * block + 1] };
    [&[0], ROWS, blocks].concat()
}

/// Both precisions, with what a rounding is.
fn both(single: fn(f64), double: fn(f64)) {
    single(f64::from(f32::EPSILON));
    double(f64::EPSILON);
}

fn inner<T: Real>(x: &[T], w: &[f64]) -> f64 {
    x.iter().zip(w).map(|(x, w)| x.to_f64() * w).sum()
}

#[test]
fn projections() {
    fn check<T: Real>(epsilon: f64) {
        for &cols in COLUMNS {
            for rows in heights::<T>(cols) {
                let x = as_rows::<T>(&numbers(rows * cols, 1));
                for (arch, at_end) in all().into_iter().flat_map(|a| SIDES.map(|s| (a, s))) {
                    let x = Fenced::new(&x, at_end);
                    for &count in COUNTS {
                        let w = Fenced::new(&numbers(count * cols, 2), at_end);
                        let z = project_on(arch, &x, cols, &w);
                        let what = format!("{arch:?} {rows} × {cols} on {count}");
                        assert_eq!(z.len(), rows * count, "{what}");
                        for (i, z) in z.iter().enumerate() {
                            let (r, c) = (i / count, i % count);
                            let e = inner(&x[r * cols..][..cols], &w[c * cols..][..cols]);
                            let close = (z - e).abs() <= 2.0 * epsilon * cols as f64;
                            assert!(close, "{what}: {z} {e}");
                        }
                    }
                }
            }
        }
    }
    both(check::<f32>, check::<f64>);
}

/// The two kernels themselves, with strides: nothing between and around the rows they are to
/// write is written.
#[test]
fn products_with_strides() {
    const UNTOUCHED: f64 = 1e9;
    fn check<T: Real>(epsilon: f64) {
        for &cols in COLUMNS {
            for &rows in ROWS {
                let strides = [cols, cols + 1, padded(cols)];
                for (arch, at_end) in all().into_iter().flat_map(|a| SIDES.map(|s| (a, s))) {
                    let pairs =
                        strides.into_iter().flat_map(|s| COUNTS.iter().map(move |c| (s, *c)));
                    for (stride, count) in pairs {
                        let x = as_rows::<T>(&numbers((rows - 1) * stride + cols, 1));
                        let x = Fenced::new(&x, at_end);
                        let what = format!("{arch:?} {rows} × {cols}, {stride} apart, {count}");
                        let tolerance = 2.0 * epsilon * cols.max(rows) as f64;
                        for streams in [false, true] {
                            dots(arch, &x, (rows, cols, stride), count, streams, &|z, e| {
                                assert!((z - e).abs() <= tolerance, "{what}: {z} {e}");
                            });
                            outer(arch, &x, (rows, cols, stride), count, streams, &|g, e| {
                                assert!((g - e).abs() <= tolerance, "{what}: {g} {e}");
                            });
                        }
                    }
                }
            }
        }
    }

    fn dots<T: Real>(
        arch: pulp::Arch,
        x: &[T],
        (rows, cols, x_stride): (usize, usize, usize),
        count: usize,
        streams: bool,
        close: &dyn Fn(f64, f64),
    ) {
        let w_stride = padded(cols);
        let mut w = vec![0.0; count * w_stride];
        let directions = numbers(count * cols, 2);
        for (w, from) in w.chunks_exact_mut(w_stride).zip(directions.chunks_exact(cols)) {
            w[..cols].copy_from_slice(from);
        }
        let w = Fenced::new(&as_rows::<T>(&w), true);
        let z_stride = rows + 1;
        let mut z = Fenced::new(&vec![UNTOUCHED; count * z_stride], true);
        let to = &mut z[..];
        let task = Dots {
            x,
            x_stride,
            rows,
            next: &[],
            cols,
            w: &w,
            w_stride,
            count,
            z: to,
            z_stride,
            streams,
        };
        arch.dispatch(task);
        for (c, (z, w)) in z.chunks_exact(z_stride).zip(directions.chunks_exact(cols)).enumerate() {
            assert!(c < count && z[rows] == UNTOUCHED);
            (0..rows).for_each(|r| close(z[r], inner(&x[r * x_stride..][..cols], w)));
        }
    }

    fn outer<T: Real>(
        arch: pulp::Arch,
        x: &[T],
        (rows, cols, x_stride): (usize, usize, usize),
        count: usize,
        streams: bool,
        close: &dyn Fn(f64, f64),
    ) {
        let s_stride = rows + 1;
        let s = numbers((count * s_stride).saturating_sub(1), 3);
        let s = Fenced::new(&as_rows::<T>(&s), true);
        let g_stride = padded(cols) + 16;
        let mut g = Fenced::new(&vec![UNTOUCHED; (count * g_stride).saturating_sub(16)], true);
        let to = &mut g[..];
        let task = Outer {
            x,
            x_stride,
            rows,
            next: &[],
            cols,
            s: &s,
            s_stride,
            count,
            g: to,
            g_stride,
            streams,
        };
        arch.dispatch(task);
        for (c, g) in g.chunks(g_stride).enumerate() {
            for (d, &g) in g[..cols].iter().enumerate() {
                let terms =
                    (0..rows).map(|r| s[c * s_stride + r].to_f64() * x[r * x_stride + d].to_f64());
                close(g - UNTOUCHED, terms.sum());
            }
            // lanes past the last column add zeros
            assert!(g[cols..].iter().all(|g| *g == UNTOUCHED));
        }
    }
    // beside 1e9 a double keeps seven digits
    both(|_| check::<f32>(1e-6), |_| check::<f64>(1e-6));
}

#[test]
fn aligned_copies_of_rows() {
    fn check<T: Real>(_: f64) {
        let wider: &[usize] = if cfg!(miri) { &[] } else { &[200, 255, 256, 257] };
        for cols in [COLUMNS, wider].concat().into_iter().filter(|c| !narrow::<T>(*c)) {
            for rows in heights::<T>(cols).into_iter().filter(|r| *r <= block_rows::<T>(cols)) {
                let x = as_rows::<T>(&numbers(rows * cols, 1));
                for (arch, at_end) in all().into_iter().flat_map(|a| SIDES.map(|s| (a, s))) {
                    let x = Fenced::new(&x, at_end);
                    let mut copy: Aligned<T> = Block::space(cols, 4, rows);
                    let block = Block::new(arch, &x, &[], cols, &mut copy);
                    assert_eq!(block.rows, rows);
                    for r in 0..rows {
                        let own = x[r * cols..][..cols].iter().map(|x| x.to_f64());
                        let copied = block.x[r * block.x_stride..][..cols].iter();
                        assert!(own.eq(copied.map(|x| x.to_f64())), "{arch:?} {rows} × {cols}");
                    }
                }
            }
        }
    }
    both(check::<f32>, check::<f64>);
}

#[test]
fn scatter_and_affine_maps() {
    fn check<T: Real>(_: f64) {
        for &cols in COLUMNS {
            let (shift, matrix) = (numbers(cols, 2), numbers(3 * cols, 4));
            let more: &[usize] = if cfg!(miri) { &[] } else { &[239, 240, 241] };
            for rows in [&[0], ROWS, more].concat() {
                let plain = as_rows::<T>(&numbers(rows * cols, 1));
                for (arch, at_end) in all().into_iter().flat_map(|a| SIDES.map(|s| (a, s))) {
                    let x = Fenced::new(&plain, at_end);
                    let shift = Fenced::new(&shift, at_end);
                    let matrix = Fenced::new(&matrix, at_end);
                    let (count, first, second) = scatter_on(arch, &x, cols, None, &shift);
                    let mapped = affine_on::<T, f64>(arch, &x, cols, &shift, &matrix);
                    let centred: Vec<Vec<f64>> = x
                        .chunks_exact(cols)
                        .map(|x| x.iter().zip(&shift[..]).map(|(x, s)| x.to_f64() - s).collect())
                        .collect();
                    let what = format!("{arch:?} {rows} × {cols}");
                    let close = |a: f64, b: f64| {
                        let bound = f64::EPSILON * 8.0 * (rows.max(cols) as f64).powf(1.5);
                        assert!((a - b).abs() <= bound, "{what}: {a} {b}");
                    };
                    close(count, rows as f64);
                    for i in [0, cols / 2, cols - 1] {
                        close(first[i], centred.iter().map(|x| x[i]).sum());
                        for j in [0, cols / 2, cols - 1] {
                            close(second[i * cols + j], centred.iter().map(|x| x[i] * x[j]).sum());
                        }
                    }
                    assert_eq!(mapped.len(), 3 * rows);
                    for (x, y) in centred.iter().zip(mapped.chunks_exact(3)) {
                        for (w, y) in matrix.chunks_exact(cols).zip(y) {
                            close(*y, inner(x, w));
                        }
                    }
                }
            }
        }
    }
    both(check::<f32>, check::<f64>);
}
