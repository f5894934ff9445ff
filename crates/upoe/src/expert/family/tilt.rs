//! A Gaussian tilted by a smooth function: the flexible marginal that (12) asks for.

mod learning;
mod sampler;

pub use sampler::Sampler;

use super::spline::{
    CELLS, Cells, EDGE, FUNCTIONS, KNOTS, SPACING, basis, derivative, is_tail, knot, left, locate,
    value,
};
use crate::error::{Result, invalid};
use crate::expert::quadrature::legendre;
use crate::expert::{Marginal, Parameter, Shape, normal};
use crate::linalg::{HALF_LN_TAU, dot};
use rand::Rng;
use serde::{Deserialize, Serialize};
use upoe_kernels::{dispatch, exp};

/// ln T(z) = ln N(z) + f(z) − ln Z, with f a natural cubic spline and a penalty on ∫ f″².
///
/// The knots are fixed on [−4, 4] (z has unit variance); outside them f is linear, so the
/// tails stay Gaussian and T is always a density. f is written in a basis in which its square
/// under N and its roughness are both diagonal, so the coordinates are alike in scale. The
/// statistics are four moments of the projections in each cell between two knots: from them
/// follows ⟨f⟩ for every f at once.
///
/// ```
/// use upoe::expert::{Marginal, Tilt};
/// let gaussian = Tilt::gaussian(1000.0); // to be learned from 1000 rows
/// assert!((gaussian.cdf(1.0) - 0.8413447460685429).abs() < 1e-12);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Plain", into = "Plain")]
pub struct Tilt {
    coefficients: [f64; FUNCTIONS],
    roughness: f64,
    spline: Cells,
    ln_z: f64,
    /// Mean and variance of each basis function under T.
    mean: [f64; FUNCTIONS],
    variance: [f64; FUNCTIONS],
}

/// What of a tilt is stored.
#[derive(Serialize, Deserialize)]
struct Plain {
    coefficients: Vec<f64>,
    roughness: f64,
}

impl TryFrom<Plain> for Tilt {
    type Error = crate::Error;

    fn try_from(plain: Plain) -> Result<Self> {
        let Plain { coefficients, roughness } = plain;
        if coefficients.len() != FUNCTIONS {
            return invalid("coefficients", coefficients.len(), "a tilt has 20");
        }
        if let Some(bad) = coefficients.iter().find(|c| !(c.abs() <= LARGEST)) {
            return invalid("coefficients", bad, "those of a tilt lie within ±200");
        }
        if !(roughness >= 0.0 && roughness.is_finite()) {
            return invalid("roughness", roughness, "must be finite and not negative");
        }
        Ok(Tilt::build(&coefficients, roughness))
    }
}

impl From<Tilt> for Plain {
    fn from(tilt: Tilt) -> Self {
        Plain { coefficients: tilt.coefficients.to_vec(), roughness: tilt.roughness }
    }
}

/// The prior precision of ∫ f″²: N rows weigh N times their mean log-density against it.
const ROUGHNESS: f64 = 0.1;

/// The prior grows with the rows past this many. Ties would else sharpen f with every further row
/// until the nodes miss its peaks: at 1e6 tied rows ∫ T came out as 1.004.
const MOST_ROWS: f64 = 1e4;

/// Past this coefficient T is one spike to rounding.
const LARGEST: f64 = 200.0;

/// Beyond the last knot: a Gaussian of unit variance, shifted by f's slope and cut.
struct Tail {
    side: f64,
    shift: f64,
    /// ∫ T, ∫ t T and ∫ t² T over the tail, t the distance from the knot.
    moments: [f64; 3],
}

impl Tilt {
    /// The Gaussian itself, to be learned from rows of total weight `weight`.
    pub fn gaussian(weight: f64) -> Self {
        let rows = if weight > 1.0 { weight.min(MOST_ROWS) } else { 1.0 };
        Tilt::build(&[], ROUGHNESS / rows)
    }

    /// f(z) − ln Z, that is ln T − ln N: λ(z) of section 6.3.
    pub fn tilt(&self, z: f64) -> f64 {
        value(&self.spline, z) - self.ln_z
    }

    /// From coefficients in the basis; missing ones are 0.
    fn build(from: &[f64], roughness: f64) -> Self {
        // A line search may ask for anything.
        let sane = |c: f64| if c.is_nan() { 0.0 } else { c.clamp(-LARGEST, LARGEST) };
        let coefficients: [f64; FUNCTIONS] =
            std::array::from_fn(|k| from.get(k).copied().map_or(0.0, sane));
        let mut spline = [[0.0; 4]; CELLS];
        for (c, function) in coefficients.iter().zip(&basis().functions) {
            for (x, f) in spline.iter_mut().flatten().zip(function.iter().flatten()) {
                *x += c * f;
            }
        }
        let zeros = [0.0; FUNCTIONS];
        let mut tilt =
            Tilt { coefficients, roughness, spline, ln_z: 0.0, mean: zeros, variance: zeros };
        tilt.normalise();
        tilt
    }

    /// Finds ln Z, and the basis functions' mean and variance, by one sweep over the nodes.
    fn normalise(&mut self) {
        let nodes = &basis().nodes;
        // Steep ends put all of the mass beyond the knots: no exponential may overflow there.
        let in_tails = self.ln_tail(0).max(self.ln_tail(CELLS - 1));
        let mut p = vec![0.0; nodes.len()];
        let (mut total, mut mean, mut square) = (0.0, [0.0; FUNCTIONS], [0.0; FUNCTIONS]);
        let top = dispatch(
            #[inline(always)]
            || {
                for (p, (z, _, values)) in p.iter_mut().zip(nodes) {
                    *p = dot(&self.coefficients, values) - 0.5 * z * z - HALF_LN_TAU;
                }
                let top = p.iter().copied().fold(in_tails, f64::max);
                p.iter_mut().for_each(|p| *p = exp(*p - top));
                for (p, (_, w, values)) in p.iter().zip(nodes) {
                    let p = p * w;
                    total += p;
                    for k in 0..FUNCTIONS {
                        mean[k] += p * values[k];
                        square[k] += p * values[k] * values[k];
                    }
                }
                top
            },
        );
        self.ln_z = top;
        for (Tail { moments: [t0, t1, t2], .. }, lines) in self.tails() {
            total += t0;
            for (k, (a, b)) in lines.into_iter().enumerate() {
                mean[k] += a * t0 + b * t1;
                square[k] += a * a * t0 + 2.0 * a * b * t1 + b * b * t2;
            }
        }
        self.ln_z += total.ln();
        self.mean = mean.map(|m| m / total);
        self.variance = std::array::from_fn(|k| square[k] / total - self.mean[k] * self.mean[k]);
    }

    /// The probability of each cell.
    fn masses(&self) -> [f64; CELLS] {
        std::array::from_fn(|cell| {
            if is_tail(cell) { self.tail(cell).moments[0] } else { self.partial(cell, 0.0, 1.0) }
        })
    }

    /// P(Z > z) where `upper`, otherwise P(Z ≤ z), given the probability of each cell. Adds up
    /// what lies on that side, so that small probabilities keep their digits.
    fn mass(&self, z: f64, upper: bool, masses: &[f64; CELLS]) -> f64 {
        let (cell, v) = locate(z);
        let others = if upper { &masses[cell + 1..] } else { &masses[..cell] };
        let own = if is_tail(cell) {
            let Tail { side, shift, .. } = self.tail(cell);
            let mills = |z: f64, gap: f64| (self.ln_density(z) + ln_mills(gap)).exp();
            let gap = |z: f64| side * (z - shift);
            let edge = side * EDGE;
            match (upper == (cell > 0), gap(z) <= 0.0) {
                (true, _) => mills(z, gap(z)),
                // Between the knot and z, from the side on which the shifted Gaussian vanishes.
                (false, true) => mills(z, -gap(z)) - mills(edge, -gap(edge)),
                (false, false) => masses[cell] - mills(z, gap(z)),
            }
        } else if upper {
            self.partial(cell, v, 1.0)
        } else {
            self.partial(cell, 0.0, v)
        };
        (others.iter().sum::<f64>() + own).clamp(0.0, 1.0)
    }

    /// ∫ T over a part of a cell between knots, in units of the spacing.
    fn partial(&self, cell: usize, from: f64, to: f64) -> f64 {
        let (start, width) = (left(cell) + SPACING * from, SPACING * (to - from));
        let at = |x: f64| self.ln_density(start + width * x).exp();
        legendre().iter().map(|(x, w)| w * width * at(*x)).sum()
    }

    /// ln ∫ T beyond the outermost knot.
    fn ln_tail(&self, cell: usize) -> f64 {
        let side = if cell == 0 { -1.0 } else { 1.0 };
        let gap = EDGE - side * self.spline[cell][1] / SPACING;
        self.ln_density(side * EDGE) + ln_mills(gap)
    }

    fn tail(&self, cell: usize) -> Tail {
        let side = if cell == 0 { -1.0 } else { 1.0 };
        let (edge, shift) = (side * EDGE, self.spline[cell][1] / SPACING);
        let gap = side * (edge - shift);
        let mass = self.ln_tail(cell).exp();
        let first = (self.ln_density(edge).exp() - gap * mass).max(0.0);
        Tail { side, shift, moments: [mass, first, (mass - gap * first).max(0.0)] }
    }

    /// The tails, and a + b·t of every basis function in them.
    fn tails(&self) -> [(Tail, [(f64, f64); FUNCTIONS]); 2] {
        [0, CELLS - 1].map(|cell| {
            let tail = self.tail(cell);
            let line = |f: &Cells| (f[cell][0], f[cell][1] * tail.side / SPACING);
            let lines = std::array::from_fn(|k| line(&basis().functions[k]));
            (tail, lines)
        })
    }

    /// ⟨g⟩ under T, the tails cut where N has fallen by more than 1e-40.
    fn integrate(&self, g: impl Fn(f64) -> f64) -> f64 {
        let piece = |from: f64, width: f64| -> f64 {
            let at = |z: f64| g(z) * self.ln_density(z).exp();
            legendre().iter().map(|(x, w)| w * width * at(from + width * x)).sum()
        };
        let tail = |cell: usize, side: f64| -> f64 {
            let width = (self.spline[cell][1].abs() / SPACING + 14.0) / 40.0;
            let from = |k: usize| side * (EDGE + width * k as f64);
            (0..40).map(|k| piece(from(k), side * width)).sum::<f64>() * side
        };
        let inner: f64 = (0..KNOTS - 1).map(|i| piece(knot(i), SPACING)).sum();
        tail(0, -1.0) + inner + tail(CELLS - 1, 1.0)
    }
}

impl Marginal for Tilt {
    fn ln_density(&self, z: f64) -> f64 {
        let square = z * z;
        if square == f64::INFINITY {
            return f64::NEG_INFINITY;
        }
        self.tilt(z) - 0.5 * square - HALF_LN_TAU
    }

    fn energy_slope(&self, z: f64) -> f64 {
        // Beyond the knots f is linear.
        z - derivative(&self.spline, z.clamp(-1e9, 1e9))
    }

    fn cdf(&self, z: f64) -> f64 {
        self.mass(z, false, &self.masses())
    }

    fn upper_tail(&self, z: f64) -> f64 {
        self.mass(z, true, &self.masses())
    }

    fn quantile(&self, p: f64) -> f64 {
        let masses = self.masses();
        let mass = |z, upper| self.mass(z, upper, &masses);
        normal::invert(p, mass, |z| self.ln_density(z).exp())
    }

    fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> f64 {
        self.sampler().draw(rng)
    }

    fn shape(&self) -> Shape {
        let mean = self.integrate(|z| z);
        let variance = self.integrate(|z| (z - mean).powi(2));
        let kurtosis = self.integrate(|z| (z - mean).powi(4)) / (variance * variance) - 3.0;
        Shape { mean, variance, kurtosis }
    }

    fn entropy(&self) -> f64 {
        self.integrate(|z| -self.ln_density(z))
    }

    fn parameters(&self) -> Vec<Parameter> {
        let knots: Vec<f64> = (0..KNOTS).map(knot).collect();
        let values = knots.iter().map(|z| self.tilt(*z)).collect();
        vec![
            Parameter { name: "knots", values: knots, fixed: true },
            Parameter { name: "tilt", values, fixed: false },
        ]
    }
}

/// ln of Mills' ratio P(Z > g) / φ(g), by its continued fraction where both underflow.
fn ln_mills(g: f64) -> f64 {
    if g < 5.0 {
        return normal::upper(g).ln() + 0.5 * g * g + HALF_LN_TAU;
    }
    let mut value = g;
    for k in (1..60).rev() {
        value = g + f64::from(k) / value;
    }
    -value.ln()
}
