//! Elementwise evaluation with sums, in a form that the compiler vectorises.

use crate::simd::best;
use pulp::{Arch, Simd, WithSimd};

/// Elements evaluated at a time, and sums kept side by side for each statistic.
const STEP: usize = 32;
const LANES: usize = 8;

/// For each projection, `f` gives the score and S statistics; writes the scores, and adds
/// the weighted statistics to `sums`. What a [`Term`](crate::Term) usually does:
///
/// ```
/// # use upoe_kernels::{ln_1p, map_sums};
/// let z = [0.5, -1.0, 2.0];
/// let (mut scores, mut sums) = ([0.0; 3], [0.0; 1]);
/// // E(z) = ln(1 + z²)
/// map_sums(&z, None, &mut scores, &mut sums, #[inline(always)] move |z| {
///     (2.0 * z / (1.0 + z * z), [ln_1p(z * z)])
/// });
/// assert_eq!(scores[1], -1.0);
/// assert!((sums[0] - (1.25f64 * 2.0 * 5.0).ln()).abs() < 1e-14);
/// ```
///
/// To be vectorised, `f` must be a closure marked `#[inline(always)]` (a large one otherwise
/// stays a function, compiled for the oldest processor) and `move` (captured references
/// look to the compiler as if the results might overwrite what they point to), made of plain
/// arithmetic, `if … else` between two values, and this crate's [`ln`](crate::ln),
/// [`ln_1p`](crate::ln_1p) and [`exp`](crate::exp).
///
/// # Panics
/// If the slices differ in length, or `sums` has not S elements.
#[inline]
pub fn map_sums<const S: usize>(
    z: &[f64],
    weights: Option<&[f64]>,
    scores: &mut [f64],
    sums: &mut [f64],
    f: impl Fn(f64) -> (f64, [f64; S]),
) {
    map_sums_on(best(), z, weights, scores, sums, f);
}

#[inline]
pub(crate) fn map_sums_on<const S: usize>(
    arch: Arch,
    z: &[f64],
    weights: Option<&[f64]>,
    scores: &mut [f64],
    sums: &mut [f64],
    f: impl Fn(f64) -> (f64, [f64; S]),
) {
    assert_eq!(scores.len(), z.len(), "a score a projection");
    assert!(weights.is_none_or(|w| w.len() == z.len()), "a weight a projection");
    assert_eq!(sums.len(), S, "sums");
    let added = arch.dispatch(Map { z, weights, scores, f });
    for (sum, [a, b, c, d, e, f, g, h]) in sums.iter_mut().zip(added) {
        *sum += ((a + b) + (c + d)) + ((e + f) + (g + h));
    }
}

struct Map<'a, F> {
    z: &'a [f64],
    weights: Option<&'a [f64]>,
    scores: &'a mut [f64],
    f: F,
}

impl<const S: usize, F: Fn(f64) -> (f64, [f64; S])> WithSimd for Map<'_, F> {
    type Output = [[f64; LANES]; S];

    #[inline(always)]
    fn with_simd<A: Simd>(self, _: A) -> [[f64; LANES]; S] {
        let Self { z, weights, scores, f } = self;
        let mut total = [[0.0; LANES]; S];
        let (blocks, rest) = z.as_chunks::<STEP>();
        let (out, out_rest) = scores.as_chunks_mut::<STEP>();
        for (i, (z, scores)) in blocks.iter().zip(out).enumerate() {
            let weights = weights.map(|w| &w.as_chunks().0[i]);
            add(z, weights, scores, STEP, &mut total, &f);
        }
        let n = rest.len();
        if n > 0 {
            let (mut z, mut w, mut out) = ([0.0; STEP], [0.0; STEP], [0.0; STEP]);
            z[..n].copy_from_slice(rest);
            if let Some(weights) = weights {
                w[..n].copy_from_slice(&weights[weights.len() - n..]);
            }
            add(&z, weights.map(|_| &w), &mut out, n, &mut total, &f);
            out_rest.copy_from_slice(&out[..n]);
        }
        total
    }
}

/// Evaluates one step, of which `n` elements count.
#[inline(always)]
fn add<const S: usize>(
    z: &[f64; STEP],
    weights: Option<&[f64; STEP]>,
    scores: &mut [f64; STEP],
    n: usize,
    total: &mut [[f64; LANES]; S],
    f: &impl Fn(f64) -> (f64, [f64; S]),
) {
    let mut values = [[0.0; STEP]; S];
    // The loop that the compiler vectorises: nothing but `f`, from arrays to arrays.
    for i in 0..STEP {
        let (score, statistics) = f(z[i]);
        scores[i] = score;
        for s in 0..S {
            values[s][i] = statistics[s];
        }
    }
    for (total, values) in total.iter_mut().zip(&mut values) {
        if let Some(weights) = weights {
            for (value, w) in values.iter_mut().zip(weights) {
                *value *= w;
            }
        }
        values[n..].fill(0.0);
        for values in values.as_chunks::<LANES>().0 {
            for (total, value) in total.iter_mut().zip(values) {
                *total += value;
            }
        }
    }
}
