//! Tilts that version 0.1 wrote: coefficients in a basis that suits a standard normal variable.

use super::frame::{Frame, Kind, through};
use crate::error::{Result, invalid};
use crate::expert::normal;
use crate::expert::quadrature::legendre;
use crate::linalg::dot;
use faer::{Mat, Side};
use serde::Deserialize;
use std::sync::OnceLock;

/// All splines on 21 knots but the constant.
const FUNCTIONS: usize = 20;

/// The largest coefficient that version 0.1 wrote.
const LARGEST: f64 = 200.0;

/// A tilt as version 0.1 stored it. Beyond the knots at ±4 it is Gaussian.
#[derive(Deserialize)]
pub struct Plain {
    coefficients: Vec<f64>,
    roughness: f64,
}

impl Plain {
    /// The same tilt by the coefficients of B-splines.
    pub fn present(self) -> Result<super::Plain> {
        let Plain { coefficients, roughness } = self;
        if coefficients.len() != FUNCTIONS {
            return invalid("coefficients", coefficients.len(), "a tilt of version 0.1 has 20");
        }
        if let Some(bad) = coefficients.iter().find(|c| !(c.abs() <= LARGEST)) {
            return invalid("coefficients", bad, "those of a tilt of version 0.1 lie within ±200");
        }
        if !(roughness >= 0.0 && roughness.is_finite()) {
            return invalid("roughness", roughness, "must be finite and not negative");
        }
        let knots = Kind::Gaussian.frame().knots;
        let mut values = vec![0.0; knots];
        for (c, function) in coefficients.iter().zip(basis()) {
            values.iter_mut().zip(function).for_each(|(v, f)| *v += c * f);
        }
        // Its penalty was ½ · (0.1/rows) ∫ f″².
        let rows = (0.1 / roughness).clamp(1.0, super::MOST_ROWS);
        Ok(super::Plain { gaussian_tails: true, coefficients: through(&values), rows })
    }
}

/// The basis functions at the knots.
fn basis() -> &'static [Vec<f64>] {
    static BASIS: OnceLock<Vec<Vec<f64>>> = OnceLock::new();
    BASIS.get_or_init(|| build(Kind::Gaussian.frame()))
}

/// The eigenvectors of ∫ f″g″ against ∫ f g N, by rising roughness. Roughness 0 belongs to 1, which
/// is left out, and to z.
fn build(frame: &Frame) -> Vec<Vec<f64>> {
    let n = frame.knots;
    let unit = |k: usize| -> Vec<f64> { (0..n).map(|i| f64::from(u8::from(i == k))).collect() };
    // The splines that are 1 at one knot and 0 at the others, by B-splines.
    let hats: Vec<Vec<f64>> = (0..n).map(|k| through(&unit(k))).collect();
    let cells: Vec<_> = hats.iter().map(|hat| frame.cells(hat)).collect();
    let mut gram = Mat::<f64>::zeros(n, n);
    // The outermost intervals lie 20 spacings past the edge, where N has vanished.
    for interval in -20..(n as i32 + 19) {
        for (x, w) in legendre() {
            let z = frame.spacing * (f64::from(interval) + x) - frame.edge();
            let p = w * frame.spacing * normal::density(z);
            let (cell, v) = frame.locate(frame.place(z));
            let value = |f: &Vec<[f64; 4]>| {
                let [a, b, c, d] = f[cell];
                a + v * (b + v * (c + v * d))
            };
            let values: Vec<f64> = cells.iter().map(value).collect();
            for i in 0..n {
                for j in 0..n {
                    gram[(i, j)] += p * values[i] * values[j];
                }
            }
        }
    }
    let rough: Vec<Vec<f64>> = hats.iter().map(|hat| frame.rough.times(hat)).collect();
    let bend = Mat::from_fn(n, n, |i, j| dot(&hats[i], &rough[j]));
    let finite = "an eigendecomposition of finite constants";
    let evd = gram.self_adjoint_eigen(Side::Lower).expect(finite);
    let root = Mat::from_fn(n, n, |i, j| {
        (0..n).map(|k| evd.U()[(i, k)] * evd.U()[(j, k)] / evd.S()[k].sqrt()).sum::<f64>()
    });
    let evd = (&root * &bend * &root).self_adjoint_eigen(Side::Lower).expect(finite);
    let vectors = &root * evd.U();
    let mut functions = vec![(0..n).map(|i| frame.knot(i)).collect()];
    for k in 2..n {
        // Even and odd functions alternate; the other parity is rounding and is removed.
        let sign = vectors[(n - 1, k)].signum();
        let parity = if k % 2 == 0 { 1.0 } else { -1.0 };
        let at = |i: usize| 0.5 * sign * (vectors[(i, k)] + parity * vectors[(n - 1 - i, k)]);
        functions.push((0..n).map(at).collect());
    }
    functions
}
