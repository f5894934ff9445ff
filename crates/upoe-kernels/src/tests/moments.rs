//! Scatter and affine maps.

use super::{as_rows, numbers, on_threads};
use crate::moments::{affine_on, scatter_on};
use crate::{Real, affine, scatter, simd::all};

const SHAPES: [(usize, usize); 8] =
    [(1, 1), (7, 3), (300, 15), (301, 16), (290, 17), (150, 70), (700, 33), (90, 130)];

#[test]
fn scatter_agrees_with_reference() {
    fn check<T: Real>() {
        for (n, d) in SHAPES {
            let (rows, shift) = (as_rows::<T>(&numbers(n * d, 1)), numbers(d, 2));
            let weights: Vec<f64> = numbers(n, 3).iter().map(|w| (w + 0.5).max(0.0)).collect();
            for weights in [None, Some(&weights[..])] {
                let (mut count, mut first, mut second) = (0.0, vec![0.0; d], vec![0.0; d * d]);
                for (r, x) in rows.chunks_exact(d).enumerate() {
                    let w = weights.map_or(1.0, |w| w[r]);
                    count += w;
                    for i in 0..d {
                        let a = x[i].to_f64() - shift[i];
                        first[i] += w * a;
                        for j in 0..d {
                            second[i * d + j] += w * a * (x[j].to_f64() - shift[j]);
                        }
                    }
                }
                for arch in all() {
                    let got = scatter_on(arch, &rows, d, weights, &shift);
                    // Sums stay below 4 n; their roundings add up like a random walk.
                    let tolerance = f64::EPSILON * 4.0 * (n as f64).powf(1.5);
                    let close = |a: &[f64], b: &[f64]| {
                        a.len() == b.len()
                            && a.iter().zip(b).all(|(a, b)| (a - b).abs() <= tolerance)
                    };
                    assert!(close(&[got.0], &[count]), "{arch:?} {n} × {d}: {} {count}", got.0);
                    assert!(close(&got.1, &first), "{arch:?} {n} × {d}");
                    assert!(close(&got.2, &second), "{arch:?} {n} × {d}");
                    let transposed = |k: usize| got.2[k % d * d + k / d];
                    assert!((0..d * d).all(|k| got.2[k] == transposed(k)));
                }
            }
        }
    }
    check::<f32>();
    check::<f64>();
}

#[test]
fn affine_agrees_with_reference() {
    fn check<T: Real, U: Real>(epsilon: f64) {
        for (n, d) in SHAPES {
            let (rows, shift) = (as_rows::<T>(&numbers(n * d, 1)), numbers(d, 2));
            for width in [1, 5, 34] {
                let matrix = numbers(width * d, 4);
                for arch in all() {
                    let got = affine_on::<_, U>(arch, &rows, d, &shift, &matrix);
                    assert_eq!(got.len(), n * width);
                    for (x, y) in rows.chunks_exact(d).zip(got.chunks_exact(width)) {
                        for (row, y) in matrix.chunks_exact(d).zip(y) {
                            let centred = x.iter().zip(&shift).map(|(x, s)| x.to_f64() - s);
                            let e: f64 = row.iter().zip(centred).map(|(m, x)| m * x).sum();
                            assert!((y.to_f64() - e).abs() < epsilon * (d as f64), "{n} × {d}");
                        }
                    }
                }
            }
        }
    }
    check::<f64, f64>(1e-15);
    check::<f32, f64>(1e-15);
    check::<f64, f32>(2e-7);
    check::<f32, f32>(2e-7);
}

#[test]
fn same_bits_for_any_number_of_threads() {
    let (n, d) = (5000, 37);
    let (rows, shift, matrix) = (numbers(n * d, 1), numbers(d, 2), numbers(d * d, 3));
    let run =
        || (scatter(&rows, d, None, &shift), affine::<_, f32>(&rows, d, &shift, &matrix).to_vec());
    let [one, two, eight] = [1, 2, 8].map(|threads| on_threads(threads, run));
    assert!(one == two && one == eight);
}

#[test]
fn empty_and_nan() {
    assert_eq!(scatter::<f64>(&[], 0, None, &[]), (0.0, vec![], vec![]));
    assert_eq!(scatter::<f64>(&[], 1, None, &[3.0]), (0.0, vec![0.0], vec![0.0]));
    assert!(affine::<f64, f64>(&[], 0, &[], &[]).is_empty());
    assert!(affine::<f64, f64>(&[], 2, &[0.0; 2], &[1.0; 4]).is_empty());
    assert!(affine::<f64, f64>(&[1.0; 4], 2, &[0.0; 2], &[]).is_empty());
    let (count, first, second) = scatter(&[1.0, f64::NAN, 3.0, 4.0], 2, None, &[0.0; 2]);
    assert_eq!((count, first[0], second[0]), (2.0, 4.0, 10.0));
    assert!(first[1].is_nan() && second[1].is_nan() && second[2].is_nan() && second[3].is_nan());
}
