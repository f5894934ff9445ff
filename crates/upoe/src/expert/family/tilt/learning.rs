//! Learning a tilt: moments of the projections per cell, and Newton steps on its coefficients.

use super::band::{Band, Factor};
use super::frame::{Coordinate, Cubic};
use super::{MOMENTS, Tilt};
use crate::expert::{Curvature, Learnable, lanes};
use upoe_kernels::{Term, dispatch, ln};

/// The prior precision of ∫ f″² where f is rough: N rows weigh N times their mean log-density
/// against it.
const LEAST_PRECISION: f64 = 0.1;

/// Where f is smooth, the precision is this many times the number of rows, so that on Gaussian
/// rows, however many, about three degrees of freedom are left.
const PRECISION_PER_ROW: f64 = 0.02;

/// In between, the precision is 2κ / ∫ f″²: the scale of f″ is learned, as if from 2κ values of it.
const KAPPA: f64 = 3.0;

/// Newton steps of one update at most. Far from the solution the first ones are halved.
const STEPS: usize = 40;

impl Tilt {
    /// ∫ f″² dy, weighted.
    fn roughness(&self) -> f64 {
        let product = self.frame().rough.times(&self.coefficients);
        self.coefficients.iter().zip(product).map(|(c, p)| c * p).sum()
    }

    /// The precision of the prior on ∫ f″² at this f, per row.
    fn precision(&self) -> f64 {
        let tau = 2.0 * KAPPA / (PRECISION_PER_ROW * self.rows);
        (LEAST_PRECISION + 2.0 * KAPPA / (tau + self.roughness())) / self.rows
    }

    /// ⟨φφᵀ⟩ of the B-splines φ under T.
    fn second_moments(&self) -> Band {
        let frame = self.frame();
        let mut second = Band::zeros(frame.knots);
        dispatch(
            #[inline(always)]
            || {
                for (map, m) in frame.maps.iter().zip(&self.moments) {
                    let form = std::array::from_fn(|i| std::array::from_fn(|j| m[i + j]));
                    second.add(map, &form);
                }
            },
        );
        second
    }

    /// The Hessian of loss + penalty, up to a rank-one part: the gradient is orthogonal to
    /// constants, and for such vectors ⟨φφᵀ⟩ and the covariance have the same solution.
    fn hessian(&self) -> Factor {
        self.second_moments().plus(self.precision(), &self.frame().rough).cholesky()
    }

    /// The gradient by the coefficients.
    fn by_coefficients(&self, sums: &[f64], weight: f64) -> Vec<f64> {
        let frame = self.frame();
        let by_cell = |(i, (m, data)): (usize, (&[f64; MOMENTS], &[f64]))| -> Cubic {
            let mut by = std::array::from_fn(|k| m[k] - data[k] / weight);
            if frame.is_tail(i) {
                by[1] *= self.follow[i.min(1)];
            }
            by
        };
        let cells = self.moments.iter().zip(sums[1..].chunks_exact(4)).enumerate().map(by_cell);
        let precision = self.precision();
        let rough = frame.rough.times(&self.coefficients);
        frame.gradient(cells).iter().zip(rough).map(|(g, r)| g + precision * r).collect()
    }

    /// One Newton step, halved until loss + penalty falls; `None` where it does not fall.
    fn newton(&self, sums: &[f64], weight: f64, value: f64) -> Option<(Self, f64)> {
        let step = self.hessian().solve(&self.by_coefficients(sums, weight));
        (0..30).find_map(|halving| {
            let t = 0.5_f64.powi(halving);
            let moved = self.coefficients.iter().zip(&step).map(|(c, s)| c - t * s).collect();
            let moved = Tilt::build(self.kind, moved, self.rows);
            let reached = moved.loss(sums, weight) + moved.penalty();
            (reached < value).then_some((moved, reached))
        })
    }
}

impl Tilt {
    /// The best f for these sums, by Newton steps until one lowers loss + penalty by less than
    /// `tolerance`.
    pub(crate) fn fitted(&self, sums: &[f64], weight: f64, tolerance: f64) -> Self {
        let mut value = self.loss(sums, weight) + self.penalty();
        let mut best = self.clone();
        for _ in 0..STEPS {
            let Some((moved, reached)) = best.newton(sums, weight, value) else { break };
            let fell = value - reached;
            (best, value) = (moved, reached);
            if fell < tolerance {
                break;
            }
        }
        best
    }

    /// How far the first Newton step lowers loss + penalty, to second order, for each of several
    /// sums.
    pub(crate) fn promises(&self, sums: &[&[f64]], weight: f64) -> Vec<f64> {
        let factor = self.hessian();
        let promise = |sums: &&[f64]| {
            let gradient = self.by_coefficients(sums, weight);
            0.5 * gradient.iter().zip(factor.solve(&gradient)).map(|(g, s)| g * s).sum::<f64>()
        };
        sums.iter().map(promise).collect()
    }
}

impl Term for Tilt {
    fn n_sums(&self) -> usize {
        1 + 4 * self.cells.len()
    }

    fn block(&self, z: &[f64], weights: Option<&[f64]>, slopes: &mut [f64], sums: &mut [f64]) {
        let frame = self.frame();
        let (over_h, start, last) = (1.0 / frame.spacing, frame.place(0.0), frame.knots);
        let (cells, moments) = (&self.cells[..=last], &mut sums[1..]);
        let mut squares = [[0.0; 8]];
        dispatch(
            #[inline(always)]
            || {
                let chunks = z.chunks(lanes::CHUNK).zip(slopes.chunks_mut(lanes::CHUNK));
                for (i, (z, slopes)) in chunks.enumerate() {
                    let w = lanes::weights(weights, i, z.len());
                    let (n, z) = (z.len(), lanes::load(z));
                    let mut place = [0.0; lanes::CHUNK];
                    // Of place by z.
                    let mut rate = [over_h; lanes::CHUNK];
                    match frame.coordinate {
                        Coordinate::Identity => {
                            (0..lanes::CHUNK).for_each(|k| place[k] = start + over_h * z[k]);
                        }
                        Coordinate::Asinh(s) => {
                            let (inverse, scale) = (1.0 / s, s * over_h);
                            for k in 0..lanes::CHUNK {
                                let u = (z[k].abs() * inverse).min(1e150);
                                let root = (1.0 + u * u).sqrt();
                                place[k] = start + (scale * ln(u + root)).copysign(z[k]);
                                rate[k] = over_h / root;
                            }
                        }
                    }
                    let mut slope = [0.0; lanes::CHUNK];
                    for k in 0..n {
                        let (cell, v) = frame.locate(place[k]);
                        let [_, b, c, d] = cells[cell];
                        slope[k] = -rate[k] * (b + v * (2.0 * c + v * 3.0 * d));
                        let (x, xx) = (w[k] * v, w[k] * v * v);
                        let add = [w[k], x, xx, xx * v];
                        if let Some(m) = moments[4 * cell..].first_chunk_mut::<4>() {
                            (0..4).for_each(|j| m[j] += add[j]);
                        }
                    }
                    slopes.copy_from_slice(&slope[..n]);
                    lanes::add(&w, &mut squares, |k| [slope[k] * slope[k]]);
                }
            },
        );
        lanes::collect(&squares, sums);
    }
}

impl Learnable for Tilt {
    fn coordinates(&self) -> Vec<f64> {
        self.coefficients.iter().zip(&self.frame().scales).map(|(c, s)| c / s).collect()
    }

    fn at(&self, coordinates: &[f64]) -> Self {
        let scales = self.frame().scales.iter().enumerate();
        let at = scales.map(|(i, s)| s * coordinates.get(i).copied().unwrap_or(0.0)).collect();
        Tilt::build(self.kind, at, self.rows)
    }

    fn free_parameters(&self) -> f64 {
        // tr[(C + R)⁻¹ C] = n − 1 − tr[(C + R)⁻¹ R], one for the constant.
        let (frame, factor, precision) = (self.frame(), self.hessian(), self.precision());
        let n = frame.knots;
        let lost = |k: usize| {
            let mut unit = vec![0.0; n];
            unit[k] = 1.0;
            precision * factor.solve(&frame.rough.times(&unit))[k]
        };
        (n - 1) as f64 - (0..n).map(lost).sum::<f64>()
    }

    fn loss(&self, sums: &[f64], weight: f64) -> f64 {
        let mean: f64 = self.cells.iter().flatten().zip(&sums[1..]).map(|(c, m)| c * m).sum();
        self.ln_z - mean / weight
    }

    fn penalty(&self) -> f64 {
        let rough = self.roughness();
        let tau = 2.0 * KAPPA / (PRECISION_PER_ROW * self.rows);
        (0.5 * LEAST_PRECISION * rough + KAPPA * (rough / tau).ln_1p()) / self.rows
    }

    fn gradient(&self, sums: &[f64], weight: f64) -> Vec<f64> {
        let by = self.by_coefficients(sums, weight);
        by.iter().zip(&self.frame().scales).map(|(g, s)| g * s).collect()
    }

    fn curvature(&self, _: &[f64], _: f64) -> Curvature {
        Curvature::banded(&self.frame().scales, self.hessian())
    }

    fn mean_square_slope(&self, sums: &[f64], weight: f64) -> f64 {
        sums[0] / weight
    }

    fn update(&self, sums: &[f64], weight: f64) -> Self {
        // The sums do not depend on f: they give the best one at these projections.
        self.fitted(sums, weight, 1e-14)
    }

    fn mirrored(&self) -> Option<Self> {
        let mirrored = self.coefficients.iter().rev().copied().collect();
        Some(Tilt::build(self.kind, mirrored, self.rows))
    }
}
