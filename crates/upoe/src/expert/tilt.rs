//! A Gaussian tilted by a smooth function: the flexible marginal that (12) asks for.

use super::quadrature::legendre;
use super::{Marginal, Parameter, Shape, lanes, normal};
use faer::{Mat, Side};
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};
use std::sync::OnceLock;
use upoe_kernels::{Term, dispatch};

/// ln T(z) = ln N(z) + f(z) − ln Z, with f a natural cubic spline and a penalty on ∫ f″².
///
/// The knots are fixed on [−4, 4] (z has unit variance); outside them f is linear, so the
/// tails stay Gaussian and T is always a density. f is written in the basis in which its
/// square under N and its roughness are both diagonal, so the coordinates are alike in scale.
/// The statistics are four moments of the projections in each cell between two knots: from
/// them follow ⟨f⟩ for every f at once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "Plain", into = "Plain")]
pub struct Tilt {
    coefficients: Vec<f64>,
    roughness: f64,
    /// f on each cell as a + b v + c v² + d v³, v = (z − left knot)/spacing; tails linear.
    cells: [[f64; 4]; CELLS],
    ln_z: f64,
}

/// What of a tilt is stored.
#[derive(Serialize, Deserialize)]
struct Plain {
    coefficients: Vec<f64>,
    roughness: f64,
}

impl From<Plain> for Tilt {
    fn from(plain: Plain) -> Self {
        let mut coefficients = plain.coefficients;
        coefficients.resize(FUNCTIONS, 0.0);
        Tilt::build(coefficients, plain.roughness)
    }
}

impl From<Tilt> for Plain {
    fn from(tilt: Tilt) -> Self {
        Plain { coefficients: tilt.coefficients, roughness: tilt.roughness }
    }
}

/// Knots at −4, −3.6 … 4.
const KNOTS: usize = 21;
const EDGE: f64 = 4.0;
const SPACING: f64 = 2.0 * EDGE / (KNOTS - 1) as f64;
/// The left tail, the intervals, the right tail.
const CELLS: usize = KNOTS + 1;
/// All splines on the knots but the constant, which Z takes up.
const FUNCTIONS: usize = KNOTS - 1;

/// The prior precision of ∫ f″²: N rows weigh N times their mean log-density against it.
const ROUGHNESS: f64 = 0.1;

/// Basis functions and their roughness.
struct Basis {
    /// Cell polynomials of each function.
    cells: Vec<[[f64; 4]; CELLS]>,
    /// ∫ φ″² of each.
    rough: Vec<f64>,
}

impl Tilt {
    /// The Gaussian itself, to be learned from rows of total weight `weight`.
    pub fn gaussian(weight: f64) -> Self {
        Tilt::build(vec![0.0; FUNCTIONS], ROUGHNESS / weight.max(1.0))
    }

    /// The tilt f with the given coefficients in the basis, of which the first belongs to z.
    pub fn with_coefficients(&self, coefficients: &[f64]) -> Self {
        Tilt::build(coefficients.to_vec(), self.roughness)
    }

    /// Where the knots are.
    pub fn knots() -> impl Iterator<Item = f64> {
        (0..KNOTS).map(knot)
    }

    /// f(z) − ln Z, that is ln T − ln N: λ(z) of section 6.3.
    pub fn tilt(&self, z: f64) -> f64 {
        let (cell, v) = locate(z);
        let [a, b, c, d] = self.cells[cell];
        a + v * (b + v * (c + v * d)) - self.ln_z
    }

    fn build(coefficients: Vec<f64>, roughness: f64) -> Self {
        // Beyond ±200 the density is flat to rounding somewhere; a line search may ask.
        let coefficients: Vec<f64> = coefficients
            .iter()
            .map(|c| if c.is_nan() { 0.0 } else { c.clamp(-200.0, 200.0) })
            .collect();
        let basis = basis();
        let mut cells = [[0.0; 4]; CELLS];
        for (c, function) in coefficients.iter().zip(&basis.cells) {
            for (cell, f) in cells.iter_mut().zip(function) {
                for (x, f) in cell.iter_mut().zip(f) {
                    *x += c * f;
                }
            }
        }
        let mut tilt = Tilt { coefficients, roughness, cells, ln_z: 0.0 };
        let top = (0..KNOTS).map(|i| tilt.tilt(knot(i))).fold(0.0, f64::max);
        tilt.ln_z = top;
        tilt.ln_z += tilt.masses().iter().sum::<f64>().ln();
        tilt
    }

    /// The probability of each cell.
    fn masses(&self) -> [f64; CELLS] {
        std::array::from_fn(|cell| match self.tail(cell) {
            Some(tail) => tail.mass,
            None => self.partial(cell, 1.0),
        })
    }

    /// ∫ T from the cell's left knot over a share of the cell.
    fn partial(&self, cell: usize, share: f64) -> f64 {
        legendre()
            .iter()
            .map(|(x, w)| w * self.ln_density(knot(cell - 1) + SPACING * share * x).exp())
            .sum::<f64>()
            * SPACING
            * share
    }

    /// A tail is a Gaussian of unit variance, shifted by f's slope and cut at the last knot.
    fn tail(&self, cell: usize) -> Option<Tail> {
        let side = match cell {
            0 => -1.0,
            c if c == CELLS - 1 => 1.0,
            _ => return None,
        };
        let edge = side * EDGE;
        let shift = self.cells[cell][1] / SPACING;
        // On the outer side: e^(f(edge) − g·edge + ½g²) N(z − g).
        let gap = side * (edge - shift);
        let mass = (self.ln_density(edge) + ln_mills(gap)).exp();
        // Moments of the distance from the edge outwards, t = side·(z − edge) ≥ 0.
        let first = self.ln_density(edge).exp() - gap * mass;
        let second = mass - gap * first;
        Some(Tail { side, shift, mass, first, second })
    }

    /// Mean and covariance of the basis functions under T.
    fn expectations(&self) -> (Vec<f64>, Mat<f64>) {
        let basis = basis();
        let mut mean = vec![0.0; FUNCTIONS];
        let mut second = Mat::<f64>::zeros(FUNCTIONS, FUNCTIONS);
        let mut values = [0.0; FUNCTIONS];
        for cell in 1..CELLS - 1 {
            for (x, w) in legendre() {
                let p = w * SPACING * self.ln_density(knot(cell - 1) + SPACING * x).exp();
                for (value, f) in values.iter_mut().zip(&basis.cells) {
                    let [a, b, c, d] = f[cell];
                    *value = a + x * (b + x * (c + x * d));
                }
                for j in 0..FUNCTIONS {
                    mean[j] += p * values[j];
                    for i in j..FUNCTIONS {
                        second[(i, j)] += p * values[i] * values[j];
                    }
                }
            }
        }
        for cell in [0, CELLS - 1] {
            let Some(t) = self.tail(cell) else { continue };
            // φ = a + b·side·t/spacing in the tail.
            let line = |f: &[[f64; 4]; CELLS]| (f[cell][0], f[cell][1] * t.side / SPACING);
            for (j, fj) in basis.cells.iter().enumerate() {
                let (aj, bj) = line(fj);
                mean[j] += aj * t.mass + bj * t.first;
                for (i, fi) in basis.cells.iter().enumerate().skip(j) {
                    let (ai, bi) = line(fi);
                    second[(i, j)] +=
                        ai * aj * t.mass + (ai * bj + bi * aj) * t.first + bi * bj * t.second;
                }
            }
        }
        let covariance = Mat::from_fn(FUNCTIONS, FUNCTIONS, |i, j| {
            second[(i.max(j), i.min(j))] - mean[i] * mean[j]
        });
        (mean, covariance)
    }

    /// Covariance plus penalty: the Hessian of the loss at fixed projections.
    fn hessian(&self, covariance: &Mat<f64>) -> Mat<f64> {
        let mut hessian = covariance.clone();
        for (i, r) in basis().rough.iter().enumerate() {
            hessian[(i, i)] += self.roughness * r + 1e-12;
        }
        hessian
    }

    /// ⟨φ⟩ over the data, from the cell moments.
    fn averages(sums: &[f64], weight: f64) -> Vec<f64> {
        let moments = &sums[1..];
        basis()
            .cells
            .iter()
            .map(|f| {
                let flat = f.iter().flatten();
                flat.zip(moments).map(|(f, m)| f * m).sum::<f64>() / weight
            })
            .collect()
    }
}

struct Tail {
    side: f64,
    shift: f64,
    mass: f64,
    first: f64,
    second: f64,
}

impl Term for Tilt {
    fn n_sums(&self) -> usize {
        1 + 4 * CELLS
    }

    fn block(&self, z: &[f64], weights: Option<&[f64]>, scores: &mut [f64], sums: &mut [f64]) {
        let slope: [[f64; 3]; CELLS] =
            self.cells.map(|[_, b, c, d]| [b / SPACING, 2.0 * c / SPACING, 3.0 * d / SPACING]);
        for (i, (&z, score)) in z.iter().zip(scores.iter_mut()).enumerate() {
            let (cell, v) = locate(z);
            let [b, c, d] = slope[cell];
            *score = z - (b + v * (c + v * d));
            let w = weights.map_or(1.0, |w| w[i]);
            let m = &mut sums[1 + 4 * cell..5 + 4 * cell];
            m[0] += w;
            m[1] += w * v;
            m[2] += w * v * v;
            m[3] += w * v * v * v;
        }
        dispatch(|| {
            for (i, chunk) in scores.chunks(lanes::CHUNK).enumerate() {
                let score = lanes::load(chunk);
                let weights = weights.map(|w| &w[i * lanes::CHUNK..]);
                lanes::add(chunk.len(), weights, sums, |k| [score[k] * score[k]]);
            }
        });
    }
}

impl Marginal for Tilt {
    fn ln_density(&self, z: f64) -> f64 {
        self.tilt(z) - 0.5 * z * z - normal::HALF_LN_TAU
    }

    fn score(&self, z: f64) -> f64 {
        let (cell, v) = locate(z);
        let [_, b, c, d] = self.cells[cell];
        z - (b + v * (2.0 * c + v * 3.0 * d)) / SPACING
    }

    fn cdf(&self, z: f64) -> f64 {
        let (cell, v) = locate(z);
        let masses = self.masses();
        match self.tail(cell) {
            // The part of the tail beyond z.
            Some(tail) => {
                let gap = tail.side * (z - tail.shift);
                let beyond = (self.ln_density(z) + ln_mills(gap)).exp();
                if cell == 0 { beyond } else { 1.0 - beyond }
            }
            None => masses[..cell].iter().sum::<f64>() + self.partial(cell, v),
        }
        .clamp(0.0, 1.0)
    }

    fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> f64 {
        self.quantile(rng.random_range(f64::EPSILON..1.0))
    }

    fn shape(&self) -> Shape {
        let moment = |f: &dyn Fn(f64) -> f64| self.integrate(f);
        let mean = moment(&|z| z);
        let variance = moment(&|z| (z - mean).powi(2));
        let kurtosis = moment(&|z| (z - mean).powi(4)) / (variance * variance) - 3.0;
        Shape { mean, variance, kurtosis }
    }

    fn entropy(&self) -> f64 {
        self.integrate(&|z| -self.ln_density(z))
    }

    fn parameters(&self) -> Vec<Parameter> {
        let values = Tilt::knots().map(|z| self.tilt(z)).collect();
        vec![
            Parameter { name: "knots", values: Tilt::knots().collect(), held: true },
            Parameter { name: "tilt", values, held: false },
        ]
    }

    fn coordinates(&self) -> Vec<f64> {
        self.coefficients.clone()
    }

    fn at(&self, coordinates: &[f64]) -> Self {
        self.with_coefficients(coordinates)
    }

    fn degrees_of_freedom(&self) -> f64 {
        // tr[(C + R)⁻¹ C] = n − tr[(C + R)⁻¹ R].
        let hessian = self.hessian(&self.expectations().1);
        let inverse = match hessian.llt(Side::Lower) {
            Ok(factor) => faer::linalg::solvers::DenseSolveCore::inverse(&factor),
            Err(_) => return FUNCTIONS as f64,
        };
        let lost =
            basis().rough.iter().enumerate().map(|(i, r)| inverse[(i, i)] * self.roughness * r);
        FUNCTIONS as f64 - lost.sum::<f64>()
    }

    fn loss(&self, sums: &[f64], weight: f64) -> f64 {
        let moments = &sums[1..];
        let tilt: f64 = self.cells.iter().flatten().zip(moments).map(|(f, m)| f * m).sum();
        let square: f64 = moments
            .chunks_exact(4)
            .enumerate()
            .map(|(cell, m)| {
                let left = left(cell);
                left * left * m[0] + 2.0 * left * SPACING * m[1] + SPACING * SPACING * m[2]
            })
            .sum();
        (0.5 * square - tilt) / weight + normal::HALF_LN_TAU + self.ln_z
    }

    fn penalty(&self) -> f64 {
        let rough = self.coefficients.iter().zip(&basis().rough).map(|(c, r)| r * c * c);
        0.5 * self.roughness * rough.sum::<f64>()
    }

    fn gradient(&self, sums: &[f64], weight: f64) -> Vec<f64> {
        let model = self.expectations().0;
        let data = Tilt::averages(sums, weight);
        (0..FUNCTIONS)
            .map(|k| model[k] - data[k] + self.roughness * basis().rough[k] * self.coefficients[k])
            .collect()
    }

    fn curvature(&self, _: &[f64], _: f64) -> Vec<f64> {
        let hessian = self.hessian(&self.expectations().1);
        (0..FUNCTIONS).map(|k| hessian[(k, k)].max(1e-6)).collect()
    }

    fn mean_square_score(&self, sums: &[f64], weight: f64) -> f64 {
        sums[0] / weight
    }

    fn update(&self, sums: &[f64], weight: f64) -> Self {
        let gradient = self.gradient(sums, weight);
        let hessian = self.hessian(&self.expectations().1);
        let Ok(factor) = hessian.llt(Side::Lower) else { return self.clone() };
        let right = Mat::from_fn(FUNCTIONS, 1, |i, _| gradient[i]);
        let step = faer::linalg::solvers::Solve::solve(&factor, right);
        let objective = |tilt: &Tilt| tilt.loss(sums, weight) + tilt.penalty();
        let start = objective(self);
        // The loss is convex in the coefficients: a short enough Newton step falls.
        for halving in 0..30 {
            let t = 0.5_f64.powi(halving);
            let moved: Vec<f64> =
                self.coefficients.iter().enumerate().map(|(i, c)| c - t * step[(i, 0)]).collect();
            let moved = self.with_coefficients(&moved);
            if objective(&moved) <= start {
                return moved;
            }
        }
        self.clone()
    }

    fn mirrored(&self) -> Option<Self> {
        // The basis functions are even or odd; φ(4) and φ(−4) say which.
        let mirrored: Vec<f64> = self
            .coefficients
            .iter()
            .zip(&basis().cells)
            .map(|(c, f)| {
                let odd = (f[CELLS - 1][0] - f[0][0]).abs() > (f[CELLS - 1][0] + f[0][0]).abs();
                if odd { -c } else { *c }
            })
            .collect();
        Some(self.with_coefficients(&mirrored))
    }

    fn absorbs_scale(&self) -> bool {
        false
    }
}

impl Tilt {
    /// ⟨g⟩ under T. The tails are cut where N has fallen by 1e-40.
    fn integrate(&self, g: &dyn Fn(f64) -> f64) -> f64 {
        let reach = |cell: usize| self.cells[cell][1].abs() / SPACING + 14.0;
        let piece = |from: f64, width: f64| -> f64 {
            let at = |z: f64| g(z) * self.ln_density(z).exp();
            legendre().iter().map(|(x, w)| w * width * at(from + width * x)).sum()
        };
        let inner: f64 = (1..CELLS - 1).map(|cell| piece(knot(cell - 1), SPACING)).sum();
        let left: f64 =
            (0..40).map(|k| piece(-EDGE - reach(0) * (k + 1) as f64 / 40.0, reach(0) / 40.0)).sum();
        let right: f64 = (0..40)
            .map(|k| piece(EDGE + reach(CELLS - 1) * k as f64 / 40.0, reach(CELLS - 1) / 40.0))
            .sum();
        left + inner + right
    }
}

fn knot(i: usize) -> f64 {
    SPACING * i as f64 - EDGE
}

/// The knot from which a cell's v counts.
fn left(cell: usize) -> f64 {
    knot(cell.saturating_sub(1).min(KNOTS - 1))
}

/// The cell of z and where in it, in units of the spacing.
#[inline(always)]
fn locate(z: f64) -> (usize, f64) {
    let cell = ((z + EDGE) / SPACING + 1.0).clamp(0.0, (CELLS - 1) as f64) as usize;
    (cell, (z - left(cell)) / SPACING)
}

/// ln of Mills' ratio P(Z > g) / φ(g), by its continued fraction where both underflow.
fn ln_mills(g: f64) -> f64 {
    if g < 5.0 {
        return normal::upper(g).ln() + 0.5 * g * g + normal::HALF_LN_TAU;
    }
    let mut value = g;
    for k in (1..60).rev() {
        value = g + f64::from(k) / value;
    }
    -value.ln()
}

fn basis() -> &'static Basis {
    static BASIS: OnceLock<Basis> = OnceLock::new();
    BASIS.get_or_init(build_basis)
}

/// Cell polynomials of the natural spline through the given knot values.
fn spline(values: &[f64]) -> [[f64; 4]; CELLS] {
    let second = second_derivatives(values);
    let h = SPACING;
    let mut cells = [[0.0; 4]; CELLS];
    for i in 0..KNOTS - 1 {
        let (m0, m1) = (second[i] * h * h, second[i + 1] * h * h);
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

/// Functions orthonormal under N with diagonal roughness: the eigenvectors of ∫ f″g″ against
/// ∫ f g N. Roughness 0 belongs to 1, which is left out, and to z.
fn build_basis() -> Basis {
    let unit =
        |k: usize| -> Vec<f64> { (0..KNOTS).map(|i| if i == k { 1.0 } else { 0.0 }).collect() };
    let cells: Vec<_> = (0..KNOTS).map(|k| spline(&unit(k))).collect();
    let second: Vec<_> = (0..KNOTS).map(|k| second_derivatives(&unit(k))).collect();
    let value = |f: &[[f64; 4]; CELLS], z: f64| {
        let (cell, v) = locate(z);
        let [a, b, c, d] = f[cell];
        a + v * (b + v * (c + v * d))
    };
    let mut gram = Mat::<f64>::zeros(KNOTS, KNOTS);
    let mut rough = Mat::<f64>::zeros(KNOTS, KNOTS);
    // The outermost intervals reach 20 spacings past the edge, where N has vanished.
    for interval in -20..(KNOTS as i32 + 19) {
        for (x, w) in legendre() {
            let z = SPACING * (f64::from(interval) + x) - EDGE;
            let p = w * SPACING * normal::density(z);
            let values: Vec<f64> = cells.iter().map(|f| value(f, z)).collect();
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
                rough[(i, j)] += SPACING / 6.0
                    * (2.0 * a[k] * b[k]
                        + a[k] * b[k + 1]
                        + a[k + 1] * b[k]
                        + 2.0 * a[k + 1] * b[k + 1]);
            }
        }
    }
    // gram = R Rᵀ with R = U Λ^½ Uᵀ; eigenvectors of R⁻¹ rough R⁻¹, by rising roughness.
    let evd = gram.self_adjoint_eigen(Side::Lower).expect("a finite matrix of constants");
    let root = Mat::from_fn(KNOTS, KNOTS, |i, j| {
        (0..KNOTS).map(|k| evd.U()[(i, k)] * evd.U()[(j, k)] / evd.S()[k].sqrt()).sum::<f64>()
    });
    let inner = &root * &rough * &root;
    let evd = inner.self_adjoint_eigen(Side::Lower).expect("a finite matrix of constants");
    let functions = &root * evd.U();
    let mut basis =
        Basis { cells: vec![spline(&Tilt::knots().collect::<Vec<_>>())], rough: vec![0.0] };
    for k in 2..KNOTS {
        let mut values: Vec<f64> = (0..KNOTS).map(|i| functions[(i, k)]).collect();
        if values[KNOTS - 1] < 0.0 {
            values.iter_mut().for_each(|v| *v = -*v);
        }
        basis.cells.push(spline(&values));
        basis.rough.push(evd.S()[k]);
    }
    debug_assert_eq!(basis.cells.len(), FUNCTIONS);
    basis
}
