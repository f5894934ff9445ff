//! Learning a tilt: moments of the projections per cell, and Newton steps on its coefficients.

use super::{Tail, Tilt};
use crate::expert::family::spline::{
    CELLS, Cells, FUNCTIONS, SPACING, basis, derivative, left, locate,
};
use crate::expert::{Learnable, Marginal as _, lanes};
use crate::linalg::HALF_LN_TAU;
use faer::linalg::solvers::{DenseSolveCore, Solve};
use faer::{Mat, Side};
use upoe_kernels::{Term, dispatch};

impl Tilt {
    /// The Hessian of loss + penalty at fixed projections: the covariance of the basis
    /// functions under T, and the roughness.
    fn hessian(&self) -> Mat<f64> {
        let mut second = Mat::<f64>::zeros(FUNCTIONS, FUNCTIONS);
        let lower = |j: usize| j..FUNCTIONS;
        for (z, w, values) in &basis().nodes {
            let p = w * self.ln_density(*z).exp();
            for j in 0..FUNCTIONS {
                lower(j).for_each(|i| second[(i, j)] += p * values[i] * values[j]);
            }
        }
        for (Tail { moments: [t0, t1, t2], .. }, lines) in self.tails() {
            for j in 0..FUNCTIONS {
                for i in lower(j) {
                    let ((ai, bi), (aj, bj)) = (lines[i], lines[j]);
                    second[(i, j)] += ai * aj * t0 + (ai * bj + bi * aj) * t1 + bi * bj * t2;
                }
            }
        }
        Mat::from_fn(FUNCTIONS, FUNCTIONS, |i, j| {
            let penalty = if i == j { self.roughness * basis().rough[i] + 1e-12 } else { 0.0 };
            second[(i.max(j), i.min(j))] - self.mean[i] * self.mean[j] + penalty
        })
    }
}

impl Term for Tilt {
    fn n_sums(&self) -> usize {
        1 + 4 * CELLS
    }

    fn block(&self, z: &[f64], weights: Option<&[f64]>, slopes: &mut [f64], sums: &mut [f64]) {
        for (i, (&z, slope)) in z.iter().zip(slopes.iter_mut()).enumerate() {
            *slope = z - derivative(&self.spline, z);
            let (cell, v) = locate(z);
            let mut power = weights.map_or(1.0, |w| w[i]);
            for m in &mut sums[1 + 4 * cell..5 + 4 * cell] {
                *m += power;
                power *= v;
            }
        }
        let mut squares = [[0.0; 8]];
        dispatch(
            #[inline(always)]
            || {
                for (i, chunk) in slopes.chunks(lanes::CHUNK).enumerate() {
                    let (slope, w) = (lanes::load(chunk), lanes::weights(weights, i, chunk.len()));
                    lanes::add(&w, &mut squares, |k| [slope[k] * slope[k]]);
                }
            },
        );
        lanes::collect(&squares, sums);
    }
}

impl Learnable for Tilt {
    fn coordinates(&self) -> Vec<f64> {
        self.coefficients.to_vec()
    }

    fn at(&self, coordinates: &[f64]) -> Self {
        Tilt::build(coordinates, self.roughness)
    }

    fn free_parameters(&self) -> f64 {
        // tr[(C + R)⁻¹ C] = n − tr[(C + R)⁻¹ R].
        let Ok(factor) = self.hessian().llt(Side::Lower) else { return FUNCTIONS as f64 };
        let inverse = factor.inverse();
        let lost = basis().rough.iter().enumerate().map(|(i, r)| inverse[(i, i)] * r);
        FUNCTIONS as f64 - self.roughness * lost.sum::<f64>()
    }

    fn loss(&self, sums: &[f64], weight: f64) -> f64 {
        let moments = &sums[1..];
        let tilt: f64 = self.spline.iter().flatten().zip(moments).map(|(f, m)| f * m).sum();
        let square: f64 = moments
            .chunks_exact(4)
            .enumerate()
            .map(|(cell, m)| {
                let left = left(cell);
                left * left * m[0] + 2.0 * left * SPACING * m[1] + SPACING * SPACING * m[2]
            })
            .sum();
        (0.5 * square - tilt) / weight + HALF_LN_TAU + self.ln_z
    }

    fn penalty(&self) -> f64 {
        let rough = self.coefficients.iter().zip(&basis().rough).map(|(c, r)| r * c * c);
        0.5 * self.roughness * rough.sum::<f64>()
    }

    fn gradient(&self, sums: &[f64], weight: f64) -> Vec<f64> {
        let basis = basis();
        (0..FUNCTIONS)
            .map(|k| {
                let function = basis.functions[k].iter().flatten();
                let data = function.zip(&sums[1..]).map(|(f, m)| f * m).sum::<f64>() / weight;
                self.mean[k] - data + self.roughness * basis.rough[k] * self.coefficients[k]
            })
            .collect()
    }

    fn curvature(&self, _: &[f64], _: f64) -> Vec<f64> {
        let rough = &basis().rough;
        (0..FUNCTIONS).map(|k| (self.variance[k] + self.roughness * rough[k]).max(1e-6)).collect()
    }

    fn mean_square_slope(&self, sums: &[f64], weight: f64) -> f64 {
        sums[0] / weight
    }

    fn update(&self, sums: &[f64], weight: f64) -> Self {
        let gradient = self.gradient(sums, weight);
        let Ok(factor) = self.hessian().llt(Side::Lower) else { return self.clone() };
        let step = factor.solve(Mat::from_fn(FUNCTIONS, 1, |i, _| gradient[i]));
        let objective = |tilt: &Tilt| tilt.loss(sums, weight) + tilt.penalty();
        let start = objective(self);
        // The loss is convex in the coefficients: a short enough Newton step falls.
        for halving in 0..30 {
            let t = 0.5_f64.powi(halving);
            let moved: [f64; FUNCTIONS] =
                std::array::from_fn(|k| self.coefficients[k] - t * step[(k, 0)]);
            let moved = Tilt::build(&moved, self.roughness);
            if objective(&moved) <= start {
                return moved;
            }
        }
        self.clone()
    }

    fn mirrored(&self) -> Option<Self> {
        let odd = |f: &Cells| (f[CELLS - 1][0] > 0.0) != (f[0][0] > 0.0);
        let flip = |(c, f): (&f64, &Cells)| if odd(f) { -c } else { *c };
        let mirrored: Vec<f64> =
            self.coefficients.iter().zip(&basis().functions).map(flip).collect();
        Some(Tilt::build(&mirrored, self.roughness))
    }
}
