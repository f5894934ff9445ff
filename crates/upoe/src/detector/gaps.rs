//! Missing cells: what the core says about them, and how far rows lie by the cells that they have.
//!
//! A missing cell stands where the core's Gaussian expects it, given the others. Then ‖u‖² is the squared distance
//! in the columns that are there. As it has fewer degrees of freedom than that of a whole row, it is mapped to the
//! distance that as many ordinary rows exceed, by Wilson and Hilferty's (1931) approximation of χ².

use super::core::Core;
use crate::linalg::dot;
use faer::linalg::solvers::Solve;
use faer::{Mat, Side};
use rayon::prelude::*;
use std::borrow::Cow;

/// Rows that a thread takes at a time.
const BLOCK: usize = 256;

/// The missing cells of a row, and their covariance given the others.
pub(super) struct Gap {
    pub missing: Vec<usize>,
    pub covariance: Mat<f64>,
}

/// The inverse of a core's covariance, which says how missing cells depend on others.
pub(super) struct Gaps<'a> {
    centre: &'a [f64],
    precision: Mat<f64>,
}

impl<'a> Gaps<'a> {
    /// Of u = A (z − m), A lower triangular: P = AᵀA.
    pub fn new(centre: &'a [f64], sphering: &[f64]) -> Self {
        let d = centre.len();
        let a = Mat::from_fn(d, d, |i, j| sphering[i * d + j]);
        Gaps { centre, precision: a.transpose() * &a }
    }

    /// Fills in the missing cells of a row with what they are expected to be; `None` where there are none.
    pub fn fill(&self, row: &mut [f64]) -> Option<Gap> {
        let missing: Vec<usize> = (0..row.len()).filter(|&c| row[c].is_nan()).collect();
        if missing.is_empty() {
            return None;
        }
        missing.iter().for_each(|&c| row[c] = self.centre[c]);
        let k = missing.len();
        let own = Mat::from_fn(k, k, |a, b| self.precision[(missing[a], missing[b])]);
        let one = Mat::<f64>::identity(k, k);
        // P is positive definite, because correlations are shrunk; where rounding says otherwise, cells are as
        // others have them on average.
        let Ok(root) = own.llt(Side::Lower) else { return Some(Gap { missing, covariance: one }) };
        let covariance = root.solve(one);
        let off: Vec<f64> = row.iter().zip(self.centre).map(|(z, m)| z - m).collect();
        let pull = |c: usize| -> f64 {
            self.precision.col(c).iter().zip(&off).map(|(p, off)| p * off).sum()
        };
        let pull: Vec<f64> = missing.iter().map(|&c| pull(c)).collect();
        for (a, &c) in missing.iter().enumerate() {
            row[c] -= covariance.col(a).iter().zip(&pull).map(|(s, p)| s * p).sum::<f64>();
        }
        Some(Gap { missing, covariance })
    }

    /// How precisely the cells that are there tell cell `c`, which is one of them: the inverse of its variance.
    pub fn own(&self, gap: &Gap, c: usize) -> f64 {
        let Gap { missing, covariance } = gap;
        let to = |a: usize| self.precision[(c, missing[a])];
        let through = |a: usize| -> f64 {
            (0..missing.len()).map(|b| to(a) * covariance[(a, b)] * to(b)).sum()
        };
        self.precision[(c, c)] - (0..missing.len()).map(through).sum::<f64>()
    }

    /// Moves what was said of missing cells to the others, which say where they are expected: `parts` are factors of
    /// the columns' distances from the centre.
    pub fn passed_on(&self, gap: &Gap, parts: &mut [f64]) {
        let Gap { missing, covariance } = gap;
        let of_missing: Vec<f64> = missing.iter().map(|&c| std::mem::take(&mut parts[c])).collect();
        for (a, &c) in missing.iter().enumerate() {
            let factor: f64 = covariance.col(a).iter().zip(&of_missing).map(|(s, p)| s * p).sum();
            for (part, p) in parts.iter_mut().zip(self.precision.col(c).iter()) {
                *part -= factor * p;
            }
        }
        missing.iter().for_each(|&c| parts[c] = 0.0);
    }
}

impl Core {
    pub fn gaps(&self) -> Gaps<'_> {
        Gaps::new(&self.centre, &self.sphering)
    }

    /// Rows with their missing cells filled in.
    pub fn filled<'z>(&self, z: &'z [f64]) -> Cow<'z, [f64]> {
        if !z.iter().any(|z| z.is_nan()) {
            return Cow::Borrowed(z);
        }
        let (gaps, d, mut z) = (self.gaps(), self.centre.len(), z.to_vec());
        z.par_chunks_mut(d * BLOCK).for_each(|z| {
            z.chunks_exact_mut(d).for_each(|row| {
                gaps.fill(row);
            });
        });
        Cow::Owned(z)
    }

    /// Sphered rows, n × d, those with missing cells as far out as whole rows that are as rare.
    pub fn sphere_present(&self, z: &[f64]) -> Vec<f64> {
        let mut u = self.sphere(&self.filled(z));
        let d = self.centre.len();
        u.par_chunks_mut(d).zip(z.par_chunks(d)).for_each(|(u, z)| {
            let there = z.iter().filter(|z| !z.is_nan()).count();
            if there < d {
                let factor = stretch(dot(u, u), there, d);
                u.iter_mut().for_each(|u| *u *= factor);
            }
        });
        u
    }
}

/// By how much a row is moved outwards whose squared distance has fewer degrees of freedom than a whole row's.
pub(super) fn stretch(square: f64, there: usize, d: usize) -> f64 {
    if there == 0 || there == d || !(square > 0.0) {
        return 1.0;
    }
    let spread = |n: usize| 2.0 / (9.0 * n as f64);
    let normal = ((square / there as f64).cbrt() - 1.0 + spread(there)) / spread(there).sqrt();
    let whole = 1.0 - spread(d) + normal * spread(d).sqrt();
    (d as f64 * whole.max(0.0).powi(3) / square).sqrt()
}

#[cfg(test)]
mod tests {
    use super::stretch;

    #[test]
    fn a_distance_is_mapped_to_one_that_is_as_rare() {
        // The 50, 95 and 99.9 % points of χ² with 3 and 8 degrees of freedom.
        for (three, eight) in [(2.366, 7.344), (7.815, 15.507), (16.266, 26.124)] {
            let mapped = stretch(three, 3, 8).powi(2) * three;
            assert!((mapped / eight - 1.0).abs() < 0.01, "{three} {mapped} {eight}");
        }
        assert_eq!(stretch(5.0, 4, 4), 1.0);
    }
}
