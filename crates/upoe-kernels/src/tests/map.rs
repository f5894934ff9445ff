//! Elementwise terms with sums.

use super::numbers;
use crate::map::{map_sums_ln_on, map_sums_on};
use crate::simd::all;
use crate::{exp, ln_1p};

#[test]
fn map_sums_agrees_with_reference() {
    for n in [0, 1, 7, 8, 31, 32, 33, 100, 256] {
        let (z, w) = (numbers(n, 1), numbers(n, 2));
        for weights in [None, Some(&w[..])] {
            for arch in all() {
                let (mut slopes, mut sums) = (vec![f64::NAN; n], [1.0, 2.0]);
                map_sums_on(
                    arch,
                    &z,
                    weights,
                    &mut slopes,
                    &mut sums,
                    #[inline(always)]
                    move |z| (2.0 * z, [ln_1p(z * z), exp(z)]),
                );
                let mut expected = [1.0, 2.0];
                for i in 0..n {
                    let w = weights.map_or(1.0, |w| w[i]);
                    expected[0] += w * (z[i] * z[i]).ln_1p();
                    expected[1] += w * z[i].exp();
                    assert_eq!(slopes[i], 2.0 * z[i]);
                }
                for (got, e) in sums.iter().zip(expected) {
                    assert!((got - e).abs() <= 1e-15 * (n + 4) as f64, "{arch:?} {n}: {got} {e}");
                }
            }
        }
    }
}

/// Σ ln x by one logarithm of a product, over magnitudes up to the largest number; a value that
/// is not finite is not hidden.
#[test]
fn a_sum_of_logarithms_is_one_of_a_product() {
    for arch in all() {
        for (n, power) in [(0, 1.0), (1, 1.0), (33, 40.0), (256, 700.0), (10_000, 300.0)] {
            let z = numbers(n, 3);
            let x = move |z: f64| (power * z.abs()).exp();
            let (mut slopes, mut sums) = (vec![f64::NAN; n], [1.0, 2.0]);
            map_sums_ln_on(arch, &z, &mut slopes, &mut sums, |z| (-z, [z], x(z)));
            let expected: f64 = 2.0 + z.iter().map(|&z| x(z).ln()).sum::<f64>();
            assert!((sums[1] - expected).abs() <= 1e-14 * expected, "{arch:?} {n}");
            assert!((sums[0] - 1.0 - z.iter().sum::<f64>()).abs() < 1e-15 * (n + 4) as f64);
            assert!(slopes.iter().zip(&z).all(|(s, z)| *s == -z));
        }
        for spoilt in [f64::INFINITY, f64::NAN] {
            let mut sums = [0.0];
            map_sums_ln_on(arch, &[1.0, spoilt, 2.0], &mut [0.0; 3], &mut sums, |z| (z, [], z));
            assert!(sums[0].to_bits() == spoilt.to_bits() || sums[0].is_nan() && spoilt.is_nan());
        }
    }
}
