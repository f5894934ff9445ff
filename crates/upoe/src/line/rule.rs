//! Chebyshev points of a panel: weights of the quadrature, coefficients of the interpolant, and its
//! integral up to any point.

use std::f64::consts::PI;
use std::sync::OnceLock;

/// The degree of the interpolant.
pub const DEGREE: usize = 16;
/// How many points a panel has, its two ends among them.
pub const POINTS: usize = DEGREE + 1;

/// What depends on the degree alone.
pub struct Rule {
    /// The points, from 0 to 1.
    pub points: [f64; POINTS],
    /// Clenshaw–Curtis weights, for an interval of length 1.
    pub weights: [f64; POINTS],
    /// From values at the points to coefficients of the Chebyshev polynomials.
    transform: [[f64; POINTS]; POINTS],
}

/// The rule, built once.
pub fn rule() -> &'static Rule {
    static RULE: OnceLock<Rule> = OnceLock::new();
    RULE.get_or_init(|| {
        let n = DEGREE as f64;
        let halved = |k: usize| if k == 0 || k == DEGREE { 0.5 } else { 1.0 };
        let angle = |k: usize| PI * (DEGREE - k) as f64 / n;
        let transform: [[f64; POINTS]; POINTS] = std::array::from_fn(|j| {
            std::array::from_fn(|k| 2.0 / n * halved(j) * halved(k) * (j as f64 * angle(k)).cos())
        });
        // ∫ T_j over [−1, 1] is 2 / (1 − j²) for even j; half of it on [0, 1].
        let integral =
            |j: usize| if j.is_multiple_of(2) { 1.0 / (1.0 - (j * j) as f64) } else { 0.0 };
        Rule {
            points: std::array::from_fn(|k| 0.5 * (1.0 + angle(k).cos())),
            weights: std::array::from_fn(|k| {
                (0..POINTS).map(|j| integral(j) * transform[j][k]).sum()
            }),
            transform,
        }
    })
}

impl Rule {
    /// The coefficients of the interpolant.
    pub fn coefficients(&self, values: &[f64; POINTS]) -> [f64; POINTS] {
        self.transform.each_ref().map(|row| row.iter().zip(values).map(|(t, v)| t * v).sum())
    }

    /// How large the last coefficients are: about the error of the interpolant.
    pub fn last_coefficients(&self, values: &[f64; POINTS]) -> f64 {
        let size = |row: &[f64; POINTS]| row.iter().zip(values).map(|(t, v)| t * v).sum::<f64>();
        self.transform[DEGREE - 2..].iter().map(|row| size(row).abs()).sum()
    }
}

/// ∫ of the interpolant from 0 to each point of [0, 1], given its coefficients.
pub struct Integral {
    coefficients: [f64; POINTS + 1],
    at_zero: f64,
}

impl Integral {
    /// Of the interpolant with these coefficients.
    pub fn new(of: &[f64; POINTS]) -> Self {
        // ∫ T_j = ½ (T_{j+1}/(j+1) − T_{j−1}/(j−1)); [0, 1] halves it once more.
        let at = |j: usize| of.get(j).copied().unwrap_or(0.0);
        let mut coefficients = [0.0; POINTS + 1];
        coefficients[1] = 0.5 * (at(0) - 0.5 * at(2));
        for (j, c) in coefficients.iter_mut().enumerate().skip(2) {
            *c = 0.25 * (at(j - 1) - at(j + 1)) / j as f64;
        }
        let mut integral = Integral { coefficients, at_zero: 0.0 };
        integral.at_zero = integral.raw(0.0);
        integral
    }

    fn raw(&self, v: f64) -> f64 {
        clenshaw(&self.coefficients, v)
    }

    /// The integral from 0 to v.
    pub fn at(&self, v: f64) -> f64 {
        self.raw(v) - self.at_zero
    }
}

/// Σ cⱼ Tⱼ(2v − 1).
pub fn clenshaw(coefficients: &[f64], v: f64) -> f64 {
    let x = 2.0 * (2.0 * v - 1.0);
    let (mut one, mut two) = (0.0, 0.0);
    for c in coefficients[1..].iter().rev() {
        (one, two) = (c + x * one - two, one);
    }
    coefficients[0] + 0.5 * x * one - two
}
