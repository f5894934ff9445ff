//! A smooth density of any shape whose tails follow the data: the marginal that (12) asks for.

mod band;
mod device;
mod frame;
mod learning;
mod points;
mod sampler;
mod stored;
mod tail;
mod version_1;

pub use band::Factor;
pub use sampler::Sampler;

use crate::expert::quadrature::{NODES, legendre};
use crate::expert::{Marginal, Parameter, Shape, normal};
use crate::linalg::HALF_LN_TAU;
use frame::{Coordinate, Cubic, Frame, Kind};
use rand::Rng;
use serde::{Deserialize, Serialize};
use std::sync::OnceLock;
use stored::{Plain, Stored};
use tail::Tail;
use upoe_kernels::{dispatch, exp, ln_1p};

/// ln T(z) = B(y) + f(y) − ln Z with y = s asinh(z/s), s = 2.5: f is a natural cubic spline with a
/// penalty on ∫ f″², and B that of the Gaussian.
///
/// The knots are fixed on |y| ≤ 5.6, that is |z| ≤ 11.6 (z has unit variance). Beyond them ln T is
/// linear in y, so that T is a power of |z| there, with its own exponent on each side: from tails
/// heavier than a Cauchy density's to tails that vanish. The statistics are four moments of y in
/// each cell between two knots. They do not depend on f, and the loss is convex in f.
///
/// ```
/// use upoe::expert::{Marginal, Tilt};
/// let gaussian = Tilt::gaussian(1000.0); // to be learned from 1000 rows
/// assert!((gaussian.cdf(1.0) - 0.8413447460685429).abs() < 1e-5);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Stored", into = "Plain")]
pub struct Tilt {
    kind: Kind,
    /// Of the B-splines that add up to f.
    coefficients: Vec<f64>,
    /// The rows that the penalty is weighed against.
    rows: f64,
    /// B + f.
    cells: Vec<Cubic>,
    /// The left tail and the right one.
    tails: [Tail; 2],
    /// How much of a change of its slope each tail follows.
    follow: [f64; 2],
    ln_z: f64,
    /// ∫ T vᵏ over each cell, k = 0 … 6.
    moments: Vec<[f64; MOMENTS]>,
}

/// As many as the covariance of two cubics needs.
const MOMENTS: usize = 7;

/// Beyond this many rows the penalty grows with them. Otherwise ties make f sharper with every
/// further row, until the quadrature misses its peaks.
const MOST_ROWS: f64 = 1e4;

/// Larger coefficients are not stored.
const LARGEST: f64 = 1e4;

/// The largest difference of neighbouring coefficients: the quadrature is exact to rounding up to
/// changes of ln T by about this much within a cell.
const STEEPEST: f64 = 24.0;

impl Tilt {
    /// The Gaussian, to be learned from rows of total weight `weight`. ln T differs from the exact
    /// one by less than 1e-4 up to three standard deviations and 0.02 up to five; beyond them its
    /// tails are heavier.
    pub fn gaussian(weight: f64) -> Self {
        static FLAT: OnceLock<Tilt> = OnceLock::new();
        let flat = FLAT
            .get_or_init(|| Tilt::build(Kind::Tails, vec![0.0; Kind::Tails.frame().knots], 1.0));
        let rows = if weight > 1.0 { weight.min(MOST_ROWS) } else { 1.0 };
        Tilt { rows, ..flat.clone() }
    }

    /// ln T − ln N: λ(z) of section 6.3.
    pub fn tilt(&self, z: f64) -> f64 {
        self.ln_density(z) + 0.5 * z * z + HALF_LN_TAU
    }

    /// The y-coordinates of the knots, and ln T and its slope by y there: between two knots ln T is
    /// the cubic in y that these determine. `None` for tilts of version 0.1.
    pub fn hermite(&self) -> Option<Vec<[f64; 3]>> {
        let frame = self.frame();
        let at = |i: usize| {
            let y = frame.knot(i);
            let [a, b, ..] = self.cells[i + 1];
            [y, a - self.ln_z, b / frame.spacing]
        };
        (self.kind == Kind::Tails).then(|| (0..frame.knots).map(at).collect())
    }

    /// The z of the knots.
    pub(crate) fn knots(&self) -> impl Iterator<Item = f64> {
        let frame = self.frame();
        (0..frame.knots).map(|i| frame.coordinate.z(frame.knot(i)))
    }

    /// The distance of the knots in the middle.
    pub(crate) fn spacing(&self) -> f64 {
        self.frame().spacing
    }

    /// Adds ln T at each z.
    pub(crate) fn add_ln_density(&self, z: impl Iterator<Item = f64>, sums: &mut [f64]) {
        const MANY: usize = 32;
        let (mut z, mut y) = (z, [0.0; MANY]);
        for sums in sums.chunks_mut(MANY) {
            let y = &mut y[..sums.len()];
            y.iter_mut().zip(&mut z).for_each(|(y, z)| *y = z);
            if let Coordinate::Asinh(s) = self.frame().coordinate {
                dispatch(
                    #[inline(always)]
                    || {
                        for y in y.iter_mut() {
                            *y = s * asinh(*y / s);
                        }
                    },
                );
            }
            sums.iter_mut().zip(y).for_each(|(sum, y)| *sum += self.height(*y));
        }
    }

    fn frame(&self) -> &'static Frame {
        self.kind.frame()
    }

    /// From the coefficients of f.
    fn build(kind: Kind, mut coefficients: Vec<f64>, rows: f64) -> Self {
        let frame = kind.frame();
        if kind == Kind::Tails {
            tame(&mut coefficients);
        }
        let mut cells = frame.cells(&coefficients);
        for (cell, base) in cells.iter_mut().zip(&frame.base) {
            (0..4).for_each(|k| cell[k] += base[k]);
        }
        let tail = |cell: usize, side: f64| {
            let slope = -side * cells[cell][1] / frame.spacing;
            Tail::new(frame.coordinate, frame.edge(), slope)
        };
        let (left, right) = (tail(0, -1.0), tail(frame.knots, 1.0));
        cells[0][1] = left.0.decay * frame.spacing;
        cells[frame.knots][1] = -right.0.decay * frame.spacing;
        let mut tilt = Tilt {
            kind,
            coefficients,
            rows,
            cells,
            tails: [left.0, right.0],
            follow: [left.1, right.1],
            ln_z: 0.0,
            moments: vec![[0.0; MOMENTS]; frame.n_cells()],
        };
        tilt.normalise();
        tilt
    }

    /// Finds ln Z and the moments of the cells.
    fn normalise(&mut self) {
        let frame = self.frame();
        let outer = [0, frame.knots];
        let ln_tails: [f64; 2] = std::array::from_fn(|side| {
            self.cells[outer[side]][0] + self.tails[side].ln_beyond(frame.edge())
        });
        let powers = powers();
        let mut p = vec![[0.0; NODES]; frame.knots - 1];
        let (mut top, mut total) = (ln_tails[0].max(ln_tails[1]), 0.0);
        dispatch(
            #[inline(always)]
            || {
                for (p, [a, b, c, d]) in p.iter_mut().zip(&self.cells[1..]) {
                    for (p, v) in p.iter_mut().zip(&powers[1]) {
                        *p = a + v * (b + v * (c + v * d));
                    }
                    top = p.iter().copied().fold(top, f64::max);
                }
                let inner = self.moments[1..].iter_mut().zip(&frame.weights);
                for (p, (moments, weights)) in p.iter_mut().zip(inner) {
                    for (p, w) in p.iter_mut().zip(weights) {
                        *p = w * exp(*p - top);
                    }
                    for (moment, powers) in moments.iter_mut().zip(powers) {
                        let mut lanes = [0.0; 8];
                        for (p, v) in p.chunks_exact(8).zip(powers.chunks_exact(8)) {
                            (0..8).for_each(|k| lanes[k] += p[k] * v[k]);
                        }
                        *moment = lanes.iter().sum();
                    }
                    total += moments[0];
                }
            },
        );
        for side in 0..2 {
            let mass = (ln_tails[side] - top).exp();
            let [first, second] = self.tails[side].moments();
            let h = if side == 0 { -frame.spacing } else { frame.spacing };
            let moments = &mut self.moments[outer[side]];
            moments[..3].copy_from_slice(&[mass, mass * first / h, mass * second / (h * h)]);
            total += mass;
        }
        self.ln_z = top + total.ln();
        self.moments.iter_mut().flatten().for_each(|m| *m /= total);
    }

    /// ln T at y.
    fn height(&self, y: f64) -> f64 {
        let frame = self.frame();
        let (cell, v) = frame.locate(frame.place(y));
        if v.is_infinite() {
            return f64::NEG_INFINITY;
        }
        let [a, b, c, d] = self.cells[cell];
        a + v * (b + v * (c + v * d)) - self.ln_z
    }

    /// P(Z > z) where `upper`, otherwise P(Z ≤ z). Adds up what lies on that side, so that small
    /// probabilities keep their digits.
    fn mass(&self, z: f64, upper: bool) -> f64 {
        let frame = self.frame();
        let y = frame.coordinate.y(z);
        let (cell, v) = frame.locate(frame.place(y));
        let others = if upper { &self.moments[cell + 1..] } else { &self.moments[..cell] };
        let own = if frame.is_tail(cell) {
            let (tail, out) = (&self.tails[usize::from(cell > 0)], y.abs());
            let beyond = (self.height(y) + tail.ln_beyond(out)).exp();
            let beyond = if y.is_infinite() { 0.0 } else { beyond };
            let gap = tail.decay + out - tail.edge;
            if upper == (cell > 0) {
                beyond
            } else if frame.coordinate == Coordinate::Identity && gap <= 0.0 {
                // The shifted Gaussian between the knot and z, from the side on which it vanishes.
                let edge = frame.edge().copysign(y);
                let from = |y: f64, gap: f64| (self.height(y) + tail::ln_mills(-gap)).exp();
                from(y, gap) - from(edge, tail.decay)
            } else {
                self.moments[cell][0] - beyond
            }
        } else if upper {
            self.partial(cell, v, 1.0)
        } else {
            self.partial(cell, 0.0, v)
        };
        (others.iter().map(|m| m[0]).sum::<f64>() + own).clamp(0.0, 1.0)
    }

    /// ∫ T over a part of a cell between knots.
    fn partial(&self, cell: usize, from: f64, to: f64) -> f64 {
        let frame = self.frame();
        let (left, width) = (frame.left(cell), to - from);
        let [a, b, c, d] = self.cells[cell];
        let at = |(x, w): &(f64, f64)| {
            let v = from + width * x;
            let height = a + v * (b + v * (c + v * d)) - self.ln_z;
            w * width
                * frame.spacing
                * height.exp()
                * frame.coordinate.stretch(left + frame.spacing * v)
        };
        legendre().iter().map(at).sum()
    }

    /// ⟨(z − centre)ᵏ⟩.
    fn central(&self, centre: f64, k: i32) -> f64 {
        let frame = self.frame();
        let inner: f64 = (1..frame.knots)
            .map(|cell| {
                let (left, [a, b, c, d]) = (frame.left(cell), self.cells[cell]);
                let at = |((v, _), w): (&(f64, f64), &f64)| {
                    let z = frame.coordinate.z(left + frame.spacing * v);
                    let height = a + v * (b + v * (c + v * d)) - self.ln_z;
                    w * height.exp() * (z - centre).powi(k)
                };
                legendre().iter().zip(&frame.weights[cell - 1]).map(at).sum::<f64>()
            })
            .sum();
        let outer = [(0, -1.0), (frame.knots, 1.0)].map(|(cell, side): (usize, f64)| {
            let (mass, raw) = (self.moments[cell][0], self.tails[cell.min(1)].z_moments());
            if raw[k as usize].is_infinite() {
                return side.powi(k) * f64::INFINITY;
            }
            // The binomial expansion of (±|z| − centre)ᵏ.
            let mut sum = 0.0;
            let mut choose = 1.0;
            for i in 0..=k {
                sum += choose * side.powi(i) * raw[i as usize] * (-centre).powi(k - i);
                choose *= f64::from(k - i) / f64::from(i + 1);
            }
            mass * sum
        });
        inner + outer[0] + outer[1]
    }
}

/// Vectors that a line search may ask for become coefficients that the quadrature can follow: from
/// the middle outwards no step is larger than [`STEEPEST`].
fn tame(coefficients: &mut [f64]) {
    for c in coefficients.iter_mut() {
        *c = if c.is_nan() { 0.0 } else { c.clamp(-LARGEST, LARGEST) };
    }
    let middle = coefficients.len() / 2;
    for i in middle..coefficients.len() - 1 {
        let (here, there) = (coefficients[i], coefficients[i + 1]);
        coefficients[i + 1] = there.clamp(here - STEEPEST, here + STEEPEST);
    }
    for i in (1..=middle).rev() {
        let (here, there) = (coefficients[i], coefficients[i - 1]);
        coefficients[i - 1] = there.clamp(here - STEEPEST, here + STEEPEST);
    }
}

/// asinh x = ± ln(1 + |x| + x² / (1 + √(1 + x²))), or ± ln 2|x| where x² overflows.
#[inline(always)]
fn asinh(x: f64) -> f64 {
    let size = x.abs();
    let far = size > 1e100;
    let square = if far { 0.0 } else { x * x };
    let inner = if far { size } else { size + square / (1.0 + (1.0 + square).sqrt()) };
    (ln_1p(inner) + if far { std::f64::consts::LN_2 } else { 0.0 }).copysign(x)
}

/// vᵏ at the quadrature nodes of a cell, k = 0 … 6.
fn powers() -> &'static [[f64; NODES]; MOMENTS] {
    static POWERS: OnceLock<[[f64; NODES]; MOMENTS]> = OnceLock::new();
    POWERS.get_or_init(|| std::array::from_fn(|k| legendre().map(|(v, _)| v.powi(k as i32))))
}

impl Marginal for Tilt {
    fn ln_density(&self, z: f64) -> f64 {
        self.height(self.frame().coordinate.y(z))
    }

    fn energy_slope(&self, z: f64) -> f64 {
        let frame = self.frame();
        // Beyond the knots of version 0.1 the slope is that of a Gaussian.
        let y = frame.coordinate.y(z).clamp(-1e9, 1e9);
        let (cell, v) = frame.locate(frame.place(y));
        let [_, b, c, d] = self.cells[cell];
        -(b + v * (2.0 * c + v * 3.0 * d)) / (frame.spacing * frame.coordinate.stretch(y))
    }

    fn cdf(&self, z: f64) -> f64 {
        self.mass(z, false)
    }

    fn upper_tail(&self, z: f64) -> f64 {
        self.mass(z, true)
    }

    fn quantile(&self, p: f64) -> f64 {
        normal::invert(p, |z, upper| self.mass(z, upper), |z| self.ln_density(z).exp())
    }

    fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> f64 {
        self.sampler().draw(rng)
    }

    fn shape(&self) -> Shape {
        let mean = self.central(0.0, 1);
        let mean = if mean.is_finite() { mean } else { f64::NAN };
        let or_infinite = |x: f64| if x.is_nan() { f64::INFINITY } else { x };
        let variance = or_infinite(self.central(mean, 2));
        let kurtosis = or_infinite(self.central(mean, 4) / (variance * variance) - 3.0);
        Shape { mean, variance, kurtosis }
    }

    fn entropy(&self) -> f64 {
        // −⟨ln T⟩, which is linear in the moments.
        let mean = |(cell, m): (&Cubic, &[f64; MOMENTS])| -> f64 {
            cell.iter().zip(m).map(|(c, m)| c * m).sum()
        };
        self.ln_z - self.cells.iter().zip(&self.moments).map(mean).sum::<f64>()
    }

    fn parameters(&self) -> Vec<Parameter> {
        let frame = self.frame();
        let knots: Vec<f64> = self.knots().collect();
        let values = knots.iter().map(|z| self.tilt(*z)).collect();
        let mut all = vec![
            Parameter { name: "knots", values: knots, fixed: true },
            Parameter { name: "tilt", values, fixed: false },
        ];
        if let Coordinate::Asinh(s) = frame.coordinate {
            // T falls as |z|^−(ν + 1).
            let values = self.tails.iter().map(|tail| s * tail.decay - 1.0).collect();
            all.push(Parameter { name: "degrees_of_freedom", values, fixed: false });
        }
        all
    }
}
