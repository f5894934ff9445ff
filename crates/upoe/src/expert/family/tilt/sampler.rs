//! Draws from a tilt: exact, by rejection from a piecewise exponential density above it.

use super::{Tail, Tilt};
use crate::expert::family::spline::{CELLS, EDGE, SPACING, left};
use crate::linalg::HALF_LN_TAU;
use rand::{Rng, RngExt};
use rand_distr::{Exp1, StandardNormal};

/// How far ln T may lie from a straight line within a piece, in nats: at least four of five
/// proposals are accepted.
const BEND: f64 = 0.1;

/// What drawing from a tilt needs, prepared once.
pub struct Sampler {
    pieces: Vec<Piece>,
    /// The mass of the proposals up to the end of each piece, then of the two tails.
    mass: Vec<f64>,
    tails: [Tail; 2],
}

/// A part of a cell, w from 0 to 1 along it. There ln T is its chord and
/// r(w) = −w (1 − w) (C + D (1 + w)).
struct Piece {
    start: f64,
    width: f64,
    /// The slope of the chord.
    slope: f64,
    /// 1 − e^−|slope|.
    fall: f64,
    /// C and D.
    bend: [f64; 2],
    /// At least the largest r.
    top: f64,
}

impl Tilt {
    /// Prepares draws.
    pub(in crate::expert) fn sampler(&self) -> Sampler {
        let (mut pieces, mut masses) = (Vec::new(), Vec::new());
        for cell in 1..CELLS - 1 {
            // ln T = a + b v + c v² + d v³ on the cell.
            let ([a, b, c, d], knot) = (self.spline[cell], left(cell));
            let (a, b) = (a - self.ln_z - 0.5 * knot * knot - HALF_LN_TAU, b - knot * SPACING);
            let c = c - 0.5 * SPACING * SPACING;
            let bend = c.abs().max((c + 3.0 * d).abs()) + 2.0 * d.abs();
            let count = (0.5 * (bend / BEND).sqrt()).ceil().clamp(1.0, 1e4);
            let share = 1.0 / count;
            for k in 0..count as usize {
                let v = share * k as f64;
                let height = a + v * (b + v * (c + v * d));
                let linear = share * (b + v * (2.0 * c + 3.0 * v * d));
                let bend = [share * share * (c + 3.0 * d * v), share.powi(3) * d];
                let [c, d] = bend;
                let slope = linear + c + d;
                let top = 0.25 * (-(c + d).min(c + 2.0 * d)).max(0.0);
                let fall = -(-slope.abs()).exp_m1();
                let piece = Piece {
                    start: knot + SPACING * v,
                    width: SPACING * share,
                    slope,
                    fall,
                    bend,
                    top,
                };
                let mean = if slope == 0.0 { 1.0 } else { fall / slope.abs() };
                let mass = piece.width * mean * (height + slope.max(0.0) + top).exp();
                // Next to a sharp peak most pieces hold nothing.
                if mass > 1e-18 {
                    masses.push(mass);
                    pieces.push(piece);
                }
            }
        }
        let tails = [0, CELLS - 1].map(|cell| self.tail(cell));
        masses.extend(tails.iter().map(|tail| tail.moments[0]));
        let mut total = 0.0;
        masses.iter_mut().for_each(|mass| {
            total += *mass;
            *mass = total;
        });
        Sampler { pieces, mass: masses, tails }
    }
}

impl Sampler {
    /// One draw.
    pub fn draw<R: Rng + ?Sized>(&self, rng: &mut R) -> f64 {
        let total = self.mass.last().copied().unwrap_or(0.0);
        loop {
            let at = total * rng.random::<f64>();
            let chosen = self.mass.partition_point(|mass| *mass <= at);
            let Some(piece) = self.pieces.get(chosen) else {
                return self.tails[usize::from(chosen > self.pieces.len())].draw(rng);
            };
            if let Some(z) = piece.draw(rng) {
                return z;
            }
        }
    }
}

impl Piece {
    /// A draw from the exponential above the piece, if it is accepted.
    fn draw<R: Rng + ?Sized>(&self, rng: &mut R) -> Option<f64> {
        let u: f64 = rng.random();
        let steep = self.slope.abs();
        // The distance from the higher end.
        let down = if steep > 1e-9 { -(-u * self.fall).ln_1p() / steep } else { u };
        let w = if self.slope > 0.0 { 1.0 - down } else { down };
        let [c, d] = self.bend;
        let below = self.top + w * (1.0 - w) * (c + d * (1.0 + w));
        (rng.random::<f64>() < (-below).exp()).then_some(self.start + self.width * w)
    }
}

impl Tail {
    /// A draw from the Gaussian beyond the outermost knot.
    fn draw<R: Rng + ?Sized>(&self, rng: &mut R) -> f64 {
        let gap = EDGE - self.side * self.shift;
        // From the mean of the Gaussian outwards, given that it is beyond the gap.
        let beyond = if gap <= 0.0 {
            loop {
                let x: f64 = rng.sample(StandardNormal);
                if x > gap {
                    break x;
                }
            }
        } else {
            // By the exponential that is closest from above (Robert, 1995).
            let rate = 0.5 * (gap + (gap * gap + 4.0).sqrt());
            loop {
                let x = gap + rng.sample::<f64, _>(Exp1) / rate;
                if rng.random::<f64>() < (-0.5 * (x - rate).powi(2)).exp() {
                    break x;
                }
            }
        };
        self.shift + self.side * beyond
    }
}
