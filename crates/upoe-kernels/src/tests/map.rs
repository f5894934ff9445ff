//! Elementwise terms with sums.

use super::numbers;
use crate::map::map_sums_on;
use crate::simd::all;
use crate::{exp, ln_1p};

#[test]
fn map_sums_agrees_with_reference() {
    for n in [0, 1, 7, 8, 31, 32, 33, 100, 256] {
        let (z, w) = (numbers(n, 1), numbers(n, 2));
        for weights in [None, Some(&w[..])] {
            for arch in all() {
                let (mut scores, mut sums) = (vec![f64::NAN; n], [1.0, 2.0]);
                map_sums_on(
                    arch,
                    &z,
                    weights,
                    &mut scores,
                    &mut sums,
                    #[inline(always)]
                    move |z| (2.0 * z, [ln_1p(z * z), exp(z)]),
                );
                let mut expected = [1.0, 2.0];
                for i in 0..n {
                    let w = weights.map_or(1.0, |w| w[i]);
                    expected[0] += w * (z[i] * z[i]).ln_1p();
                    expected[1] += w * z[i].exp();
                    assert_eq!(scores[i], 2.0 * z[i]);
                }
                for (got, e) in sums.iter().zip(expected) {
                    assert!((got - e).abs() <= 1e-15 * (n + 4) as f64, "{arch:?} {n}: {got} {e}");
                }
            }
        }
    }
}
