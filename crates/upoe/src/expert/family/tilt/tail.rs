//! A tilt beyond its knots, in closed form.

use super::frame::Coordinate;
use crate::expert::{bounds, normal};
use crate::linalg::HALF_LN_TAU;

/// One tail: how fast ln T falls with |y| at the outermost knot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tail {
    pub coordinate: Coordinate,
    /// The outermost knot, at |y|.
    pub edge: f64,
    pub decay: f64,
}

impl Tail {
    /// The tail of the given slope, and how much of a change of the slope it follows: 1, but near
    /// the heaviest tail that has an integral it falls towards 0.
    pub fn new(coordinate: Coordinate, edge: f64, slope: f64) -> (Self, f64) {
        let tail = |decay| Tail { coordinate, edge, decay };
        let Coordinate::Asinh(s) = coordinate else { return (tail(slope), 1.0) };
        // T falls as |z|^(−s · decay), which is |z|^−(ν + 1).
        let (least, room) = ((1.0 + bounds::DEGREES_OF_FREEDOM) / s, 0.2 / s);
        let above = slope - least;
        if above >= room {
            return (tail(slope), 1.0);
        }
        let follow = (above / room - 1.0).exp();
        (tail(least + room * follow), follow)
    }

    /// ln of the probability beyond |y|, over the density at |y|.
    pub fn ln_beyond(&self, y: f64) -> f64 {
        match self.coordinate {
            Coordinate::Identity => ln_mills(self.decay + y - self.edge),
            Coordinate::Asinh(s) => {
                let [slow, fast] = self.parts(s, y);
                y / s + (slow + fast).ln()
            }
        }
    }

    /// dz/dy = cosh(y/s) is two exponentials: the integral of T times each beyond |y|, over
    /// T(y) e^(|y|/s).
    pub fn parts(&self, s: f64, y: f64) -> [f64; 2] {
        [0.5 / (self.decay - 1.0 / s), 0.5 * (-2.0 * y / s).exp() / (self.decay + 1.0 / s)]
    }

    /// ⟨t⟩ and ⟨t²⟩ given that z lies in the tail, t the distance of |y| from the knot.
    pub fn moments(&self) -> [f64; 2] {
        match self.coordinate {
            Coordinate::Identity => {
                let [_, first, second, ..] = self.gaussian_moments();
                [first, second]
            }
            Coordinate::Asinh(s) => {
                let [slow, fast] = self.parts(s, self.edge);
                let (p, q) = (self.decay - 1.0 / s, self.decay + 1.0 / s);
                let first = (slow / p + fast / q) / (slow + fast);
                let second = 2.0 * (slow / (p * p) + fast / (q * q)) / (slow + fast);
                [first, second]
            }
        }
    }

    /// ⟨tᵏ⟩ of e^(−½t² − decay·t) on t > 0.
    fn gaussian_moments(&self) -> [f64; 5] {
        let first = ((-ln_mills(self.decay)).exp() - self.decay).max(0.0);
        let mut m = [1.0, first, 0.0, 0.0, 0.0];
        for k in 2..5 {
            m[k] = ((k - 1) as f64 * m[k - 2] - self.decay * m[k - 1]).max(0.0);
        }
        m
    }

    /// ⟨|z|ᵏ⟩ given that z lies in the tail, for k up to 4; infinite where they do not exist.
    pub fn z_moments(&self) -> [f64; 5] {
        let Coordinate::Asinh(s) = self.coordinate else {
            let [_, a, b, c, d] = self.gaussian_moments();
            let e = self.edge;
            let square = e * e + 2.0 * e * a + b;
            let third = e.powi(3) + 3.0 * e * e * a + 3.0 * e * b + c;
            let fourth = e.powi(4) + 4.0 * e.powi(3) * a + 6.0 * e * e * b + 4.0 * e * c + d;
            return [1.0, e + a, square, third, fourth];
        };
        // sinhᵏ cosh as powers of e^(y/s): entry 5 + m is that of e^(m y/s).
        let mut powers = [0.0; 11];
        (powers[4], powers[6]) = (0.5, 0.5);
        let mut out = [0.0; 5];
        for (k, out) in out.iter_mut().enumerate() {
            if self.decay * s <= (k + 1) as f64 {
                *out = f64::INFINITY;
            } else {
                let term = |(i, p): (usize, &f64)| {
                    let m = (i as f64 - 5.0) / s;
                    p * (m * self.edge).exp() / (self.decay - m)
                };
                let sum = powers.iter().enumerate().filter(|(_, p)| **p != 0.0).map(term);
                *out = s.powi(k as i32) * sum.sum::<f64>();
            }
            let before = powers;
            for (i, p) in powers.iter_mut().enumerate() {
                let of = |i: Option<usize>| i.and_then(|i| before.get(i)).copied().unwrap_or(0.0);
                *p = 0.5 * (of(i.checked_sub(1)) - of(Some(i + 1)));
            }
        }
        let total = out[0];
        out.map(|m| m / total)
    }
}

/// ln of Mills' ratio P(Z > g) / φ(g), by its continued fraction where both underflow.
pub fn ln_mills(g: f64) -> f64 {
    if g < 5.0 {
        return normal::upper(g).ln() + 0.5 * g * g + HALF_LN_TAU;
    }
    let mut value = g;
    for k in (1..60).rev() {
        value = g + f64::from(k) / value;
    }
    -value.ln()
}
