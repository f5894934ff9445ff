//! Turning an orthonormal basis: the slope by the angle of every pair, L-BFGS steps, and the turn itself.

use crate::error::Result;
use crate::linalg::{dot, eigen, product};
use faer::Mat;
use std::cmp::Ordering;

/// Steps that are remembered.
const MEMORY: usize = 6;
/// The least curvature of a pair: two directions that are nearly Gaussian can be turned at no cost.
const FLAT: f64 = 0.2;
/// The largest angle of a step.
const WIDEST: f64 = 0.5;

/// The slope of the loss by the angle of every pair k > l, and the curvature if they were independent. The
/// first directions have slopes ⟨E′x⟩ and mean squares ⟨E′²⟩, which are ⟨E″⟩ where an expert fits.
pub fn slope(
    basis: &[Vec<f64>],
    slopes: &[Vec<f64>],
    mean_squares: &[f64],
) -> (Vec<f64>, Vec<f64>) {
    let (n, with) = (basis.len(), slopes.len());
    let by = Mat::from_fn(with, n, |k, i| slopes[k][i]);
    let along = product(by.as_ref(), Mat::from_fn(n, n, |i, l| basis[l][i]).as_ref());
    // ⟨z zₗ⟩ = 0 without an expert.
    let g = |k: usize, l: usize| if k < with { along[(k, l)] } else { 0.0 };
    let curvature = |k: usize| mean_squares.get(k).copied().unwrap_or(1.0);
    let pairs = || (0..n).flat_map(|k| (0..k).map(move |l| (k, l)));
    let slope = pairs().map(|(k, l)| g(k, l) - g(l, k)).collect();
    let curvatures = pairs().map(|(k, l)| (curvature(k) + curvature(l) - 2.0).max(FLAT)).collect();
    (slope, curvatures)
}

/// A basis after a share of a turn, orthonormal again.
pub fn turned(basis: &[Vec<f64>], turn: &[f64], share: f64) -> Result<Vec<Vec<f64>>> {
    let n = basis.len();
    let angle = |k: usize, l: usize| share * turn[k * (k - 1) / 2 + l];
    let by = Mat::from_fn(n, n, |k, l| match k.cmp(&l) {
        Ordering::Equal => 1.0,
        Ordering::Greater => angle(k, l),
        Ordering::Less => -angle(l, k),
    });
    let moved = product(by.as_ref(), Mat::from_fn(n, n, |k, i| basis[k][i]).as_ref());
    let (values, vectors) = eigen(&product(moved.as_ref(), moved.transpose()))?;
    let root = Mat::from_fn(n, n, |a, k| vectors[(a, k)] / values[k].sqrt());
    let even = product(product(root.as_ref(), vectors.transpose()).as_ref(), moved.as_ref());
    Ok((0..n).map(|k| (0..n).map(|i| even[(k, i)]).collect()).collect())
}

/// Steps that were taken, and how they changed the slope.
#[derive(Default)]
pub struct History {
    steps: Vec<(Vec<f64>, Vec<f64>)>,
    /// The slope at the last point, and the step from there.
    last: Option<(Vec<f64>, Vec<f64>)>,
}

impl History {
    /// The next step, from a point with this slope.
    pub fn step(&mut self, slope: Vec<f64>, curvatures: &[f64]) -> Vec<f64> {
        if let Some((before, step)) = self.last.take() {
            let change: Vec<f64> = slope.iter().zip(&before).map(|(a, b)| a - b).collect();
            if dot(&step, &change) > 1e-6 * dot(&step, &step) {
                self.steps.push((step, change));
            }
            if self.steps.len() > MEMORY {
                self.steps.remove(0);
            }
        }
        let mut q = slope.clone();
        let mut shares = Vec::new();
        for (step, change) in self.steps.iter().rev() {
            let share = dot(step, &q) / dot(step, change);
            q.iter_mut().zip(change).for_each(|(q, y)| *q -= share * y);
            shares.push(share);
        }
        q.iter_mut().zip(curvatures).for_each(|(q, c)| *q /= c);
        for ((step, change), share) in self.steps.iter().zip(shares.into_iter().rev()) {
            let back = dot(change, &q) / dot(step, change);
            q.iter_mut().zip(step).for_each(|(q, s)| *q += (share - back) * s);
        }
        self.last = Some((slope, Vec::new()));
        q.into_iter().map(|q| (-q).clamp(-WIDEST, WIDEST)).collect()
    }

    /// The share of that step that was taken.
    pub fn took(&mut self, step: &[f64], share: f64) {
        if let Some((_, taken)) = &mut self.last {
            *taken = step.iter().map(|s| share * s).collect();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turned_basis_is_orthonormal_and_slopes_are_those_of_the_loss() {
        // Points, and a loss Σₖ Σ cosh(zₖ) of the first two of three directions.
        let x = [[1.0, 0.3, -0.2], [-0.4, 0.9, 0.5], [0.2, -1.1, 0.7], [0.6, 0.1, -1.3]];
        let start = vec![vec![0.6, 0.8, 0.0], vec![-0.8, 0.6, 0.0], vec![0.0, 0.0, 1.0]];
        let z = |basis: &[Vec<f64>], k: usize, x: &[f64]| dot(&basis[k], x);
        let loss = |basis: &[Vec<f64>]| -> f64 {
            (0..2)
                .flat_map(|k| x.iter().map(move |x| (k, x)))
                .map(|(k, x)| z(basis, k, x).cosh())
                .sum()
        };
        let by = |k: usize| -> Vec<f64> {
            (0..3).map(|i| x.iter().map(|x| z(&start, k, x).sinh() * x[i]).sum()).collect()
        };
        let (slope, curvatures) = slope(&start, &[by(0), by(1)], &[1.5, 1.7]);
        assert!((curvatures[0] - 1.2).abs() < 1e-12 && (curvatures[1] - 0.5).abs() < 1e-12);
        for (pair, slope) in slope.iter().enumerate() {
            let at = |angle: f64| {
                let mut turn = vec![0.0; 3];
                turn[pair] = angle;
                let basis = turned(&start, &turn, 1.0).expect("a basis");
                for (k, a) in basis.iter().enumerate() {
                    for (l, b) in basis.iter().enumerate() {
                        let due = f64::from(u8::from(k == l));
                        assert!((dot(a, b) - due).abs() < 1e-12);
                    }
                }
                loss(&basis)
            };
            let difference = (at(1e-5) - at(-1e-5)) / 2e-5;
            assert!((slope - difference).abs() < 1e-8, "{pair}: {slope} {difference}");
        }
    }
}
