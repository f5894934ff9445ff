//! Draws from a tilt: exact, by rejection from a piecewise exponential density above it.

use super::Tilt;
use super::frame::Coordinate;
use super::tail::Tail;
use rand::{Rng, RngExt};
use rand_distr::{Exp1, StandardNormal};

/// How far the logarithm of the density of y may lie from a straight line within a piece, in nats:
/// at least four of five proposals are accepted.
const BEND: f64 = 0.1;

/// Draws lie within ± this, so that sums of them are finite.
const FARTHEST_DRAW: f64 = 1e300;

/// What drawing from a tilt needs, prepared once.
pub struct Sampler {
    coordinate: Coordinate,
    pieces: Vec<Piece>,
    /// The mass of the proposals up to the end of each piece, then of the two tails.
    mass: Vec<f64>,
    /// For each of equal parts of the mass the first piece that can hold it.
    guide: Vec<u32>,
    tails: [Tail; 2],
}

/// A part of a cell, w from 0 to 1 along it. There the logarithm of the density of y is its chord,
/// plus r(w) = −w (1 − w) (C + D (1 + w)), less what dz/dy, which is convex, lies below its chord.
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
    /// ln dz/dy at the start, and its chord's slope.
    stretch: [f64; 2],
}

impl Tilt {
    /// Prepares draws.
    pub(in crate::expert) fn sampler(&self) -> Sampler {
        let frame = self.frame();
        let (mut pieces, mut masses) = (Vec::new(), Vec::new());
        for cell in 1..frame.knots {
            let ([a, b, c, d], knot) = (self.cells[cell], frame.left(cell));
            let bend = c.abs().max((c + 3.0 * d).abs()) + 2.0 * d.abs();
            let count = (0.5 * (bend / BEND).sqrt()).ceil().clamp(1.0, 1e4);
            let share = 1.0 / count;
            for k in 0..count as usize {
                let v = share * k as f64;
                let (start, width) = (knot + frame.spacing * v, frame.spacing * share);
                let ln_stretch = |y: f64| frame.coordinate.stretch(y).ln();
                let low = ln_stretch(start);
                let stretch = [low, ln_stretch(start + width) - low];
                let height = a - self.ln_z + v * (b + v * (c + v * d)) + low;
                let linear = share * (b + v * (2.0 * c + 3.0 * v * d));
                let bend = [share * share * (c + 3.0 * d * v), share.powi(3) * d];
                let [c, d] = bend;
                let slope = linear + c + d + stretch[1];
                let top = 0.25 * (-(c + d).min(c + 2.0 * d)).max(0.0);
                let fall = -(-slope.abs()).exp_m1();
                let mean = if slope == 0.0 { 1.0 } else { fall / slope.abs() };
                let mass = width * mean * (height + slope.max(0.0) + top).exp();
                // Next to a sharp peak most pieces hold nothing.
                if mass > 1e-18 {
                    masses.push(mass);
                    pieces.push(Piece { start, width, slope, fall, bend, top, stretch });
                }
            }
        }
        masses.extend([0, frame.knots].map(|cell| self.moments[cell][0]));
        let mut total = 0.0;
        masses.iter_mut().for_each(|mass| {
            total += *mass;
            *mass = total;
        });
        let parts = 2 * masses.len();
        let first = |k: usize| {
            let at = total * k as f64 / parts as f64;
            masses.partition_point(|mass| *mass <= at).min(masses.len() - 1) as u32
        };
        let guide = (0..parts).map(first).collect();
        Sampler { coordinate: frame.coordinate, pieces, mass: masses, guide, tails: self.tails }
    }
}

impl Sampler {
    /// One draw.
    pub fn draw<R: Rng + ?Sized>(&self, rng: &mut R) -> f64 {
        let total = self.mass.last().copied().unwrap_or(0.0);
        let y = loop {
            let share: f64 = rng.random();
            let at = total * share;
            let mut chosen = self.guide[(share * self.guide.len() as f64) as usize] as usize;
            while self.mass[chosen] <= at && chosen + 1 < self.mass.len() {
                chosen += 1;
            }
            let Some(piece) = self.pieces.get(chosen) else {
                let right = chosen > self.pieces.len();
                let y = self.tails[usize::from(right)].draw(rng);
                break if right { y } else { -y };
            };
            if let Some(y) = piece.draw(self.coordinate, rng) {
                break y;
            }
        };
        self.coordinate.z(y).clamp(-FARTHEST_DRAW, FARTHEST_DRAW)
    }
}

impl Piece {
    /// A draw from the exponential above the piece, if it is accepted.
    fn draw<R: Rng + ?Sized>(&self, coordinate: Coordinate, rng: &mut R) -> Option<f64> {
        let u: f64 = rng.random();
        let steep = self.slope.abs();
        // The distance from the higher end.
        let down = if steep > 1e-9 { -(-u * self.fall).ln_1p() / steep } else { u };
        let w = if self.slope > 0.0 { 1.0 - down } else { down };
        let [c, d] = self.bend;
        let below = self.top + w * (1.0 - w) * (c + d * (1.0 + w));
        let height: f64 = rng.random();
        let y = self.start + self.width * w;
        // (ln cosh)″ ≤ 1: only next to the bound is the exact test needed.
        let most = match coordinate {
            Coordinate::Identity => 0.0,
            Coordinate::Asinh(s) => 0.125 * (self.width / s).powi(2),
        };
        // Below 1 − x is below e^−x, too.
        if height < (1.0 - below) * (1.0 - most) {
            return Some(y);
        }
        let chance = (-below).exp();
        let accepted = match coordinate {
            _ if height >= chance => false,
            Coordinate::Identity => true,
            Coordinate::Asinh(s) => {
                let [start, slope] = self.stretch;
                height < chance * (1.0 - most)
                    || height.ln() < (y / s).cosh().ln() - start - slope * w - below
            }
        };
        accepted.then_some(y)
    }
}

impl Tail {
    /// A draw of |y| beyond the outermost knot.
    fn draw<R: Rng + ?Sized>(&self, rng: &mut R) -> f64 {
        if let Coordinate::Asinh(s) = self.coordinate {
            let [slow, fast] = self.parts(s, self.edge);
            let is_slow = rng.random::<f64>() * (slow + fast) < slow;
            let rate = self.decay + if is_slow { -1.0 / s } else { 1.0 / s };
            return self.edge + rng.sample::<f64, _>(Exp1) / rate;
        }
        // A Gaussian from its mean outwards, given that it is beyond the gap.
        let gap = self.decay;
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
        self.edge + beyond - gap
    }
}
