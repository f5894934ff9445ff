//! Natural cubic splines on fixed knots, in a basis that suits a standard normal variable.

use crate::expert::normal;
use crate::expert::quadrature::legendre;
use faer::{Mat, Side};
use std::sync::OnceLock;

/// Knots at −4, −3.6 … 4.
pub const KNOTS: usize = 21;
/// The outermost knots lie at ± this.
pub const EDGE: f64 = 4.0;
/// The distance between two knots.
pub const SPACING: f64 = 2.0 * EDGE / (KNOTS - 1) as f64;
/// The left tail, the intervals, the right tail.
pub const CELLS: usize = KNOTS + 1;
/// All splines on the knots but the constant.
pub const FUNCTIONS: usize = KNOTS - 1;

/// A spline: on each cell a + b v + c v² + d v³, v = (z − left knot)/spacing; tails linear.
pub type Cells = [[f64; 4]; CELLS];

/// Basis functions orthonormal under N(0, 1) whose roughness ∫ φ″² is diagonal; the first is
/// z. Each is even or odd.
pub struct Basis {
    /// The functions.
    pub functions: Vec<Cells>,
    /// ∫ φ″² of each.
    pub rough: [f64; FUNCTIONS],
    /// Quadrature nodes between the knots: place, weight, and the functions there.
    pub nodes: Vec<(f64, f64, [f64; FUNCTIONS])>,
}

/// Knot i.
pub fn knot(i: usize) -> f64 {
    SPACING * i as f64 - EDGE
}

/// Whether a cell is a tail.
pub fn is_tail(cell: usize) -> bool {
    cell == 0 || cell == CELLS - 1
}

/// The knot from which a cell's v counts.
#[inline(always)]
pub fn left(cell: usize) -> f64 {
    knot(cell.saturating_sub(1).min(KNOTS - 1))
}

/// The cell of z and where in it, in units of the spacing.
#[inline(always)]
pub fn locate(z: f64) -> (usize, f64) {
    let cell = ((z + EDGE) / SPACING + 1.0).clamp(0.0, (CELLS - 1) as f64) as usize;
    (cell, (z - left(cell)) / SPACING)
}

/// A spline's value.
#[inline(always)]
pub fn value(cells: &Cells, z: f64) -> f64 {
    let (cell, v) = locate(z);
    let [a, b, c, d] = cells[cell];
    a + v * (b + v * (c + v * d))
}

/// A spline's derivative.
#[inline(always)]
pub fn derivative(cells: &Cells, z: f64) -> f64 {
    let (cell, v) = locate(z);
    let [_, b, c, d] = cells[cell];
    (b + v * (2.0 * c + v * (3.0 * d))) / SPACING
}

/// The basis, built once.
pub fn basis() -> &'static Basis {
    static BASIS: OnceLock<Basis> = OnceLock::new();
    BASIS.get_or_init(build)
}

/// The natural spline through the given knot values.
fn through(values: &[f64]) -> Cells {
    let second = second_derivatives(values);
    let mut cells = [[0.0; 4]; CELLS];
    for i in 0..KNOTS - 1 {
        let (m0, m1) = (second[i] * SPACING * SPACING, second[i + 1] * SPACING * SPACING);
        let slope = values[i + 1] - values[i] - (2.0 * m0 + m1) / 6.0;
        cells[i + 1] = [values[i], slope, 0.5 * m0, (m1 - m0) / 6.0];
    }
    cells[0] = [values[0], cells[1][1], 0.0, 0.0];
    let [_, b, c, d] = cells[KNOTS - 1];
    cells[CELLS - 1] = [values[KNOTS - 1], b + 2.0 * c + 3.0 * d, 0.0, 0.0];
    cells
}

/// f″ at the knots: zero at the ends, between them f″ᵢ₋₁ + 4 f″ᵢ + f″ᵢ₊₁ = 6 Δ²fᵢ / h².
fn second_derivatives(values: &[f64]) -> Vec<f64> {
    let n = KNOTS - 2;
    let (mut diagonal, mut right) = (vec![4.0; n], vec![0.0; n]);
    for i in 0..n {
        right[i] = 6.0 * (values[i] - 2.0 * values[i + 1] + values[i + 2]) / (SPACING * SPACING);
        if i > 0 {
            let factor = 1.0 / diagonal[i - 1];
            diagonal[i] -= factor;
            right[i] -= factor * right[i - 1];
        }
    }
    let mut second = vec![0.0; KNOTS];
    for i in (0..n).rev() {
        second[i + 1] = (right[i] - second[i + 2]) / diagonal[i];
    }
    second
}

/// The eigenvectors of ∫ f″g″ against ∫ f g N. Roughness 0 belongs to 1, which is left out,
/// and to z.
fn build() -> Basis {
    let unit = |k: usize| -> Vec<f64> { (0..KNOTS).map(|i| f64::from(u8::from(i == k))).collect() };
    let hats: Vec<Cells> = (0..KNOTS).map(|k| through(&unit(k))).collect();
    let second: Vec<_> = (0..KNOTS).map(|k| second_derivatives(&unit(k))).collect();
    let mut gram = Mat::<f64>::zeros(KNOTS, KNOTS);
    let mut bend = Mat::<f64>::zeros(KNOTS, KNOTS);
    // The outermost intervals lie 20 spacings past the edge, where N has vanished.
    for interval in -20..(KNOTS as i32 + 19) {
        for (x, w) in legendre() {
            let z = SPACING * (f64::from(interval) + x) - EDGE;
            let p = w * SPACING * normal::density(z);
            let values: Vec<f64> = hats.iter().map(|f| value(f, z)).collect();
            for i in 0..KNOTS {
                for j in 0..KNOTS {
                    gram[(i, j)] += p * values[i] * values[j];
                }
            }
        }
    }
    for k in 0..KNOTS - 1 {
        for i in 0..KNOTS {
            for j in 0..KNOTS {
                let (a, b) = (&second[i], &second[j]);
                let cross = a[k] * b[k + 1] + a[k + 1] * b[k];
                bend[(i, j)] += SPACING / 6.0 * (2.0 * (a[k] * b[k] + a[k + 1] * b[k + 1]) + cross);
            }
        }
    }
    // gram^(−½) bend gram^(−½), by rising roughness.
    let finite = "an eigendecomposition of finite constants";
    let evd = gram.self_adjoint_eigen(Side::Lower).expect(finite);
    let root = Mat::from_fn(KNOTS, KNOTS, |i, j| {
        (0..KNOTS).map(|k| evd.U()[(i, k)] * evd.U()[(j, k)] / evd.S()[k].sqrt()).sum::<f64>()
    });
    let evd = (&root * &bend * &root).self_adjoint_eigen(Side::Lower).expect(finite);
    let vectors = &root * evd.U();
    let line: Vec<f64> = (0..KNOTS).map(knot).collect();
    let mut functions = vec![through(&line)];
    for k in 2..KNOTS {
        // Even and odd functions take turns; what rounding left of the other parity goes.
        let sign = vectors[(KNOTS - 1, k)].signum();
        let parity = if k % 2 == 0 { 1.0 } else { -1.0 };
        let at = |i: usize| 0.5 * sign * (vectors[(i, k)] + parity * vectors[(KNOTS - 1 - i, k)]);
        let values: Vec<f64> = (0..KNOTS).map(at).collect();
        functions.push(through(&values));
    }
    let rough = std::array::from_fn(|k| if k == 0 { 0.0 } else { evd.S()[k + 1] });
    let nodes = (0..KNOTS - 1)
        .flat_map(|i| legendre().iter().map(move |(x, w)| (knot(i) + SPACING * x, SPACING * w)))
        .map(|(z, w)| (z, w, std::array::from_fn(|k| value(&functions[k], z))))
        .collect();
    Basis { functions, rough, nodes }
}
