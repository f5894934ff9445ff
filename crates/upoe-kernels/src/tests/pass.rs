//! The pass and the projections.

use super::{as_rows, numbers, on_threads};
use crate::{Packed, Pass, Real, Term, pass, pass::pass_on, project::project_on, simd::all};

/// E(z) = scale · ln(1 + z²), and Σ w, Σ w E, Σ w z.
pub(super) struct Tail(pub f64);

impl Term for Tail {
    fn n_sums(&self) -> usize {
        3
    }
    fn block(&self, z: &[f64], weights: Option<&[f64]>, slopes: &mut [f64], sums: &mut [f64]) {
        for (i, (&z, slope)) in z.iter().zip(slopes).enumerate() {
            let w = weights.map_or(1.0, |w| w[i]);
            *slope = self.0 * 2.0 * z / (1.0 + z * z);
            sums[0] += w;
            sums[1] += w * self.0 * (z * z).ln_1p();
            sums[2] += w * z;
        }
    }
}

/// A term without sums: any candidate may have none.
struct Cubic;

impl Term for Cubic {
    fn n_sums(&self) -> usize {
        0
    }
    fn block(&self, z: &[f64], _: Option<&[f64]>, slopes: &mut [f64], _: &mut [f64]) {
        for (z, slope) in z.iter().zip(slopes) {
            *slope = z * z * z;
        }
    }
}

struct Problem<T> {
    rows: Vec<T>,
    cols: usize,
    weights: Option<Vec<f64>>,
    directions: Vec<f64>,
    tails: Vec<Tail>,
}

impl<T: Real> Problem<T> {
    fn new(n: usize, cols: usize, k: usize, weighted: bool) -> Self {
        let weights = numbers(n, 3).into_iter().map(|w| if w < -0.5 { 0.0 } else { 1.0 + w });
        Self {
            rows: as_rows(&numbers(n * cols, 1)),
            cols,
            weights: weighted.then(|| weights.collect()),
            directions: numbers(k * cols, 2),
            tails: (0..k).map(|c| Tail(1.0 + c as f64)).collect(),
        }
    }

    /// Every fifth candidate is a [`Cubic`].
    fn terms(&self) -> Vec<&dyn Term> {
        let term = |(c, tail)| if c % 5 == 4 { &Cubic as &dyn Term } else { tail as &dyn Term };
        self.tails.iter().enumerate().map(term).collect()
    }

    fn pass(&self, arch: pulp::Arch) -> Pass {
        let weights = self.weights.as_deref();
        let rows = Packed::new(self.rows.as_slice(), self.cols);
        pass_on(arch, &rows, weights, &self.directions, &self.terms())
    }

    /// One row and one candidate at a time, and the sums of absolute values beside.
    fn reference(&self) -> (Pass, Vec<f64>) {
        let Self { rows, cols, directions, .. } = self;
        let (mut gradients, mut sums) = (vec![0.0; directions.len()], Vec::new());
        let mut scale = gradients.clone();
        for (c, term) in self.terms().iter().enumerate() {
            let mut own = vec![0.0; term.n_sums()];
            for (i, x) in rows.chunks_exact(*cols).enumerate() {
                let w = &directions[c * cols..][..*cols];
                let z: f64 = x.iter().zip(w).map(|(x, w)| x.to_f64() * w).sum();
                let weight = self.weights.as_ref().map_or(1.0, |w| w[i]);
                let mut slope = [0.0];
                term.block(&[z], Some(&[weight]), &mut slope, &mut own);
                for (d, x) in x.iter().enumerate() {
                    gradients[c * cols + d] += weight * slope[0] * x.to_f64();
                    scale[c * cols + d] += (weight * slope[0] * x.to_f64()).abs();
                }
            }
            sums.push(own);
        }
        (Pass { gradients, sums }, scale)
    }
}

/// (rows, columns, candidates): every kind of remainder, both kernels, one chunk and many.
const SHAPES: [(usize, usize, usize); 14] = [
    (1, 1, 1),
    (3, 2, 5),
    (200, 5, 70),
    (257, 17, 9),
    (500, 64, 3),
    (300, 65, 7),
    (100, 128, 4),
    (100, 129, 6),
    (99, 131, 1),
    (130, 400, 16),
    (61, 403, 2),
    (17, 1030, 5),
    (3000, 40, 11),
    (5000, 150, 2),
];

fn agrees<T: Real>(epsilon: f64) {
    for arch in all() {
        for (n, cols, k) in SHAPES {
            for weighted in [false, true] {
                let problem = Problem::<T>::new(n, cols, k, weighted);
                let (expected, scale) = problem.reference();
                let got = problem.pass(arch);
                // A projection is off by about √cols roundings of a number around √cols; the
                // slope's slope (at most 2 k, or 3 z²) passes that on to the sums.
                let tolerance = epsilon * cols as f64 * if k > 4 { 3.0 + k as f64 } else { 4.0 };
                let what = format!("{arch:?}, {n} × {cols}, K = {k}, weighted: {weighted}");
                for ((g, e), scale) in got.gradients.iter().zip(&expected.gradients).zip(&scale) {
                    assert!((g - e).abs() <= tolerance * (scale + 1.0), "{what}: {g} {e}");
                }
                assert_eq!(got.gradients.len(), expected.gradients.len(), "{what}");
                for (g, e) in got.sums.iter().zip(&expected.sums) {
                    assert_eq!(g.len(), e.len(), "{what}");
                    for (g, e) in g.iter().zip(e) {
                        assert!((g - e).abs() <= tolerance * (n as f64), "{what}: {g} {e}");
                    }
                }
                assert_eq!(got.sums.len(), k, "{what}");
            }
        }
    }
}

#[test]
fn pass_agrees_with_reference_f64() {
    agrees::<f64>(f64::EPSILON);
}

#[test]
fn pass_agrees_with_reference_f32() {
    agrees::<f32>(f64::from(f32::EPSILON));
}

#[test]
fn same_bits_for_any_number_of_threads() {
    fn check<T: Real>() {
        for (n, cols, k) in [(20_000, 70, 5), (9_000, 200, 3), (300, 6, 300)] {
            let problem = Problem::<T>::new(n, cols, k, true);
            for arch in all() {
                let [one, two, eight] = [1, 2, 8].map(|t| on_threads(t, || problem.pass(arch)));
                assert!(one == two && one == eight, "{arch:?}, {n} × {cols}, K = {k}");
            }
        }
    }
    check::<f32>();
    check::<f64>();
}

#[test]
fn same_bits_alone_and_among_others() {
    fn check<T: Real>() {
        for (n, cols, k) in [(1500, 30, 90), (1500, 150, 90), (40, 7, 9)] {
            let all_together = Problem::<T>::new(n, cols, k, true);
            for arch in all() {
                let together = all_together.pass(arch);
                for c in [0, 1, k / 2, k - 1] {
                    let alone = pass_on(
                        arch,
                        &Packed::new(all_together.rows.as_slice(), cols),
                        all_together.weights.as_deref(),
                        &all_together.directions[c * cols..][..cols],
                        &all_together.terms()[c..=c],
                    );
                    assert_eq!(alone.gradients, together.gradients[c * cols..][..cols]);
                    assert_eq!(alone.sums[0], together.sums[c]);
                }
            }
        }
    }
    check::<f32>();
    check::<f64>();
}

#[test]
fn projections_agree_with_reference() {
    fn check<T: Real>(epsilon: f64) {
        for (n, cols, k) in SHAPES {
            let problem = Problem::<T>::new(n, cols, k, false);
            for arch in all() {
                let z = project_on(arch, &problem.rows, cols, &problem.directions);
                assert_eq!(z.len(), n * k);
                for (i, x) in problem.rows.chunks_exact(cols).enumerate() {
                    for (c, w) in problem.directions.chunks_exact(cols).enumerate() {
                        let e: f64 = x.iter().zip(w).map(|(x, w)| x.to_f64() * w).sum();
                        let tolerance = epsilon * 2.0 * cols as f64;
                        assert!((z[i * k + c] - e).abs() <= tolerance, "{n} × {cols}, K = {k}");
                    }
                }
            }
        }
    }
    check::<f32>(f64::from(f32::EPSILON));
    check::<f64>(f64::EPSILON);
}

#[test]
fn nothing_in_nothing_out() {
    let none: [&dyn Term; 0] = [];
    assert_eq!(
        pass::<f64>(&Packed::new(vec![], 3), None, &[], &none),
        Pass { gradients: vec![], sums: vec![] }
    );
    assert_eq!(
        pass(&Packed::new(vec![1.0; 6], 3), None, &[], &none),
        Pass { gradients: vec![], sums: vec![] }
    );
    let zero = Pass { gradients: vec![0.0; 3], sums: vec![vec![0.0; 3]] };
    assert_eq!(pass::<f32>(&Packed::new(vec![], 3), Some(&[]), &[1.0; 3], &[&Tail(1.0)]), zero);
    let sums = vec![vec![0.0; 3]];
    assert_eq!(
        pass::<f64>(&Packed::new(vec![], 0), None, &[], &[&Tail(1.0)]),
        Pass { gradients: vec![], sums }
    );
    assert!(crate::project::<f64>(&[], 0, &[]).is_empty());
    assert!(crate::project(&[1.0; 6], 3, &[]).is_empty());
    assert!(crate::project::<f32>(&[], 3, &[1.0; 3]).is_empty());
}

#[test]
fn a_nan_row_reaches_every_sum_and_no_other_candidate_is_touched_by_padding() {
    for arch in all() {
        for cols in [3, 70, 150] {
            let mut problem = Problem::<f64>::new(40, cols, 3, false);
            problem.rows[7 * cols + 1] = f64::NAN;
            let out = problem.pass(arch);
            assert!(out.gradients.iter().all(|g| g.is_nan()), "{arch:?}, {cols}");
            assert!(out.sums.iter().all(|s| s[1].is_nan()));
            problem.rows[7 * cols + 1] = 0.0;
            assert!(problem.pass(arch).gradients.iter().all(|g| g.is_finite()));
        }
    }
}

#[test]
fn packed_rows_are_the_rows() {
    for (n, cols) in [(1, 1), (481, 1), (700, 7), (240, 64), (300, 64), (20, 65), (70, 130)] {
        let values = numbers(n * cols, 4);
        let packed = Packed::new(values.as_slice(), cols);
        assert_eq!((packed.rows(), packed.cols()), (n, cols));
        assert_eq!(packed.unpack(), values);
        let row: Vec<f64> = packed.row(n - 1).collect();
        assert_eq!(row, values[(n - 1) * cols..]);
    }
}
