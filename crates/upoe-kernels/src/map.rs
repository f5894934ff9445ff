//! Elementwise evaluation with sums, in a form that the compiler vectorises.

use crate::simd::best;
use pulp::{Arch, Simd, WithSimd};

/// Elements evaluated at a time, and sums kept side by side for each statistic.
const STEP: usize = 16;
const LANES: usize = 8;

/// For each projection, `f` gives the slope and S statistics; writes the slopes, and adds
/// the weighted statistics to `sums`. What a [`Term`](crate::Term) usually does:
///
/// ```
/// # use upoe_kernels::{ln_1p, map_sums};
/// let z = [0.5, -1.0, 2.0];
/// let (mut slopes, mut sums) = ([0.0; 3], [0.0; 1]);
/// // E(z) = ln(1 + z²)
/// map_sums(&z, None, &mut slopes, &mut sums, #[inline(always)] move |z| {
///     (2.0 * z / (1.0 + z * z), [ln_1p(z * z)])
/// });
/// assert_eq!(slopes[1], -1.0);
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
/// If the slices differ in length, or `sums` does not have S elements.
#[inline]
pub fn map_sums<const S: usize>(
    z: &[f64],
    weights: Option<&[f64]>,
    slopes: &mut [f64],
    sums: &mut [f64],
    f: impl Fn(f64) -> (f64, [f64; S]),
) {
    map_sums_on(best(), z, weights, slopes, sums, f);
}

#[inline]
pub(crate) fn map_sums_on<const S: usize>(
    arch: Arch,
    z: &[f64],
    weights: Option<&[f64]>,
    slopes: &mut [f64],
    sums: &mut [f64],
    f: impl Fn(f64) -> (f64, [f64; S]),
) {
    assert!(weights.is_none_or(|w| w.len() == z.len()), "one weight per projection");
    run::<false, S>(
        arch,
        z,
        weights,
        slopes,
        sums,
        #[inline(always)]
        move |z| {
            let (slope, statistics) = f(z);
            (slope, statistics, 1.0)
        },
    );
}

/// The same without weights, and with a last sum of logarithms: of a number x ≥ 1 that `f`
/// gives beside the statistics. Numbers are multiplied and one logarithm is taken in the end,
/// so that Σ ln x has an error of about 1e-16 per x. Digits are lost where x is near 1.
///
/// # Panics
/// If the slices differ in length, or `sums` does not have S + 1 elements.
#[inline]
pub fn map_sums_ln<const S: usize>(
    z: &[f64],
    slopes: &mut [f64],
    sums: &mut [f64],
    f: impl Fn(f64) -> (f64, [f64; S], f64),
) {
    map_sums_ln_on(best(), z, slopes, sums, f);
}

#[inline]
pub(crate) fn map_sums_ln_on<const S: usize>(
    arch: Arch,
    z: &[f64],
    slopes: &mut [f64],
    sums: &mut [f64],
    f: impl Fn(f64) -> (f64, [f64; S], f64),
) {
    let (sums, last) = sums.split_at_mut(S);
    let product = run::<true, S>(arch, z, None, slopes, sums, f);
    assert_eq!(last.len(), 1, "sums");
    last[0] += product.ln();
}

#[inline]
fn run<const LN: bool, const S: usize>(
    arch: Arch,
    z: &[f64],
    weights: Option<&[f64]>,
    slopes: &mut [f64],
    sums: &mut [f64],
    f: impl Fn(f64) -> (f64, [f64; S], f64),
) -> Product {
    assert_eq!(slopes.len(), z.len(), "one slope per projection");
    assert_eq!(sums.len(), S, "sums");
    let (added, product) = arch.dispatch(Map::<_, LN> { z, weights, slopes, f });
    for (sum, lanes) in sums.iter_mut().zip(added) {
        *sum += across(lanes);
    }
    product
}

fn across([a, b, c, d, e, f, g, h]: [f64; LANES]) -> f64 {
    ((a + b) + (c + d)) + ((e + f) + (g + h))
}

/// Products of numbers ≥ 1 side by side, as mantissas in [1, 2) and exponents.
#[derive(Clone, Copy)]
struct Product {
    mantissas: [f64; LANES],
    exponents: [u64; LANES],
    /// Finite as long as all numbers are.
    sums: [f64; LANES],
}

impl Product {
    const ONE: Self = Self { mantissas: [1.0; LANES], exponents: [0; LANES], sums: [0.0; LANES] };

    #[inline(always)]
    fn multiply(&mut self, by: &[f64; LANES]) {
        let so_far = self.mantissas.iter_mut().zip(&mut self.exponents).zip(&mut self.sums);
        for (((own, exponent), sum), by) in so_far.zip(by) {
            *sum += by * f64::MIN_POSITIVE;
            // Both mantissas are below 2: the product's exponent is 0 or 1.
            let product = *own * mantissa(*by);
            *exponent += (by.to_bits() >> 52) + (product.to_bits() >> 52) - 2 * BIAS;
            *own = mantissa(product);
        }
    }

    fn ln(self) -> f64 {
        let sum = across(self.sums);
        if !sum.is_finite() {
            return sum;
        }
        let exponent: u64 = self.exponents.iter().sum();
        self.mantissas.iter().product::<f64>().ln() + exponent as f64 * std::f64::consts::LN_2
    }
}

#[inline(always)]
fn mantissa(x: f64) -> f64 {
    f64::from_bits((x.to_bits() & ((1 << 52) - 1)) | 1.0f64.to_bits())
}

const BIAS: u64 = 1023;

struct Map<'a, F, const LN: bool> {
    z: &'a [f64],
    weights: Option<&'a [f64]>,
    slopes: &'a mut [f64],
    f: F,
}

impl<const LN: bool, const S: usize, F> WithSimd for Map<'_, F, LN>
where
    F: Fn(f64) -> (f64, [f64; S], f64),
{
    type Output = ([[f64; LANES]; S], Product);

    #[inline(always)]
    fn with_simd<A: Simd>(self, _: A) -> Self::Output {
        let Self { z, weights, slopes, f } = self;
        let mut total = ([[0.0; LANES]; S], Product::ONE);
        let (blocks, rest) = z.as_chunks::<STEP>();
        let (out, out_rest) = slopes.as_chunks_mut::<STEP>();
        for (i, (z, slopes)) in blocks.iter().zip(out).enumerate() {
            let weights = weights.map(|w| &w.as_chunks().0[i]);
            add::<LN, S>(z, weights, slopes, STEP, &mut total, &f);
        }
        let n = rest.len();
        if n > 0 {
            let (mut z, mut w, mut out) = ([0.0; STEP], [0.0; STEP], [0.0; STEP]);
            z[..n].copy_from_slice(rest);
            if let Some(weights) = weights {
                w[..n].copy_from_slice(&weights[weights.len() - n..]);
            }
            add::<LN, S>(&z, weights.map(|_| &w), &mut out, n, &mut total, &f);
            out_rest.copy_from_slice(&out[..n]);
        }
        total
    }
}

/// Evaluates one step, of which `n` elements count.
#[inline(always)]
fn add<const LN: bool, const S: usize>(
    z: &[f64; STEP],
    weights: Option<&[f64; STEP]>,
    slopes: &mut [f64; STEP],
    n: usize,
    (total, product): &mut ([[f64; LANES]; S], Product),
    f: &impl Fn(f64) -> (f64, [f64; S], f64),
) {
    let (mut values, mut factors) = ([[0.0; STEP]; S], [1.0; STEP]);
    // The loop that the compiler vectorises: nothing but `f`, from arrays to arrays.
    for i in 0..STEP {
        let (slope, statistics, factor) = f(z[i]);
        slopes[i] = slope;
        factors[i] = factor;
        for s in 0..S {
            values[s][i] = statistics[s];
        }
    }
    if LN {
        factors[n..].fill(1.0);
        for factors in factors.as_chunks::<LANES>().0 {
            product.multiply(factors);
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
