//! The radial expert: a density of how far out a row lies, whatever its direction.
//!
//! ln p(x) = ln f(v) − v − ln χ_d(r) + ln N(x) with r = ‖x‖ and v = ln r: elliptical rows need one such
//! expert instead of one for every direction. As a map it moves every row along its ray until the
//! lengths are those of standard normal rows.

use super::chi::Chi;
use super::placed::{Placed, PlacedParts, quartiles};
use super::quintic;
use crate::error::{Result, invalid};
use crate::expert::normal;
use crate::linalg::{HALF_LN_TAU, dot, orthonormal_in, remove};
use serde::{Deserialize, Serialize};

/// Rows closer to the centre than this count as this close.
const NEAREST: f64 = -300.0;
/// Rows so many times the distance between the quartiles of ln‖x‖ below the lower one do not belong with the
/// others: twice as far as what box plots call outside.
const FAR_BELOW: f64 = 3.0;
/// Grid of the table from standard normal values to radii, and how far it reaches.
const SPACING: f64 = 1.0 / 16.0;
const REACH: usize = 128;

/// A density of ln‖x‖, of all dimensions or of those outside some directions.
#[derive(Clone, Debug)]
pub struct Radial {
    /// Orthonormal directions that do not count.
    outside: Vec<Vec<f64>>,
    dims: usize,
    expert: Placed,
    chi: Chi,
    /// ln of the radius at y = −8, −7.9375 … 8, with its first two derivatives.
    table: Vec<[f64; 3]>,
}

/// A [`Radial`] as it is stored.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RadialParts {
    /// Orthonormal directions that do not count.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outside: Vec<Vec<f64>>,
    /// The density of ln r.
    pub expert: PlacedParts,
}

impl Radial {
    /// The expert that fits rows of these ln‖x‖ best, worth `rows` independent ones, and the least ln‖x‖ that
    /// learning took as it is. At the centre itself the density has no bound, and one row there would count
    /// for all others. Nearer than that no standard normal row lies, with a chance of nine in ten, and no
    /// row that belongs with the others: it is far below their quartiles.
    pub(crate) fn fit(
        v: &[f64],
        dims: usize,
        weights: Option<&[f64]>,
        rows: f64,
        outside: Vec<Vec<f64>>,
    ) -> (Self, f64) {
        let normal =
            Chi::new(dims - outside.len()).ln_length(normal::quantile(0.1 / rows.max(1.0)));
        let [low, _, high] = quartiles(v, weights);
        let nearest = normal.min(low - FAR_BELOW * (high - low));
        let v: Vec<f64> = v.iter().map(|v| v.max(nearest)).collect();
        (Self::new(outside, dims, Placed::fit(&v, weights, rows)), nearest)
    }

    /// The gain of the best radial expert for rows of these squared lengths in `dims` dimensions, in nats
    /// per row. The table behind p-values is made with it.
    pub fn gain_of_lengths(squares: &[f64], dims: usize) -> f64 {
        let v: Vec<f64> = squares.iter().map(|s| 0.5 * s.ln()).collect();
        let (expert, chi) = (Placed::fit(&v, None, v.len() as f64), Chi::new(dims));
        let term = |v: &f64| expert.ln_density(*v) - chi.ln_density(*v);
        v.iter().map(term).sum::<f64>() / v.len() as f64
    }

    fn new(outside: Vec<Vec<f64>>, dims: usize, expert: Placed) -> Self {
        let chi = Chi::new(dims - outside.len());
        let d = (dims - outside.len()) as f64;
        let node = |i: usize| {
            let y = SPACING * (i as f64 - REACH as f64);
            let v = chi.ln_length(y);
            let first = (-0.5 * y * y - HALF_LN_TAU - chi.ln_density(v)).exp();
            [v, first, first * (-y - (d - (2.0 * v).exp()) * first)]
        };
        let table = (0..=2 * REACH).map(node).collect();
        Radial { outside, dims, expert, chi, table }
    }

    /// From what a file stores, over rows of `dims` dimensions.
    pub fn from_parts(parts: RadialParts, dims: usize) -> Result<Self> {
        if parts.outside.len() + 2 > dims || !orthonormal_in(&parts.outside, dims) {
            let due = "must be orthonormal and leave two dimensions or more";
            return invalid("radial expert", "its directions", due);
        }
        Ok(Self::new(parts.outside, dims, Placed::from_parts(parts.expert)?))
    }

    /// What a file stores.
    pub fn parts(&self) -> RadialParts {
        RadialParts { outside: self.outside.clone(), expert: self.expert.parts() }
    }

    /// How many dimensions its radius is of.
    pub fn dims(&self) -> usize {
        self.dims - self.outside.len()
    }

    /// The density of ln r.
    pub fn expert(&self) -> &Placed {
        &self.expert
    }

    /// ln‖x‖ in the dimensions that count.
    pub fn ln_radius(&self, x: &[f64]) -> f64 {
        ln_radius(x, &self.outside)
    }

    /// How many times as far out as the middle row a row lies.
    pub fn times_as_far(&self, x: &[f64]) -> f64 {
        (self.ln_radius(x) - self.expert.inverse(0.0)).exp()
    }

    /// How many times as far out as the middle row the row at a standard normal value lies: by this expert,
    /// and by the Gaussian.
    pub fn spread(&self, y: f64) -> [f64; 2] {
        let here = self.expert.inverse(y) - self.expert.inverse(0.0);
        [here, self.chi.ln_length(y) - self.chi.ln_length(0.0)].map(f64::exp)
    }

    /// The densities of ln r so many times as far out as the middle row, as logarithms: by this expert, and by
    /// the Gaussian.
    pub fn ln_densities(&self, times: f64) -> [f64; 2] {
        let v = self.expert.inverse(0.0) + times.ln();
        [self.expert.ln_density(v), self.chi.ln_density(v)]
    }

    /// What it adds to ln p of a row over the Gaussian.
    pub fn term(&self, x: &[f64]) -> f64 {
        self.term_at(self.ln_radius(x))
    }

    /// The same at ln‖x‖.
    pub(crate) fn term_at(&self, v: f64) -> f64 {
        self.expert.ln_density(v) - self.chi.ln_density(v)
    }

    /// Moves a row along its ray; returns the logarithm of the map's determinant.
    pub fn map(&self, x: &mut [f64]) -> f64 {
        let v = self.ln_radius(x);
        let to = self.ln_length(self.expert.map(v).g);
        self.scale(x, to - v);
        // Densities of ln r before and after, and the other dimensions.
        let d = self.dims() as f64;
        self.expert.ln_density(v) - self.chi.ln_density(to) + d * (to - v)
    }

    /// Moves a row back.
    pub fn inverse(&self, x: &mut [f64]) {
        let v = self.ln_radius(x);
        self.scale(x, self.expert.inverse(self.chi.normal_value(v)) - v);
    }

    /// The gradient of ln p before the map, given the row and the gradient after it.
    pub fn pull(&self, x: &[f64], mut gradient: Vec<f64>) -> Vec<f64> {
        let mut inside = x.to_vec();
        remove(&self.outside, &mut inside);
        let v = self.ln_radius(x);
        let mapped = self.expert.map(v);
        let to = self.ln_length(mapped.g);
        let d = self.dims() as f64;
        // d to / dv, from equal masses.
        let rate = (self.expert.ln_density(v) - self.chi.ln_density(to)).exp();
        let chi_slope = d - (2.0 * to).exp();
        let by_v = self.expert.slope(v) - chi_slope * rate + d * (rate - 1.0);
        let (factor, square) = ((to - v).exp(), dot(&inside, &inside));
        let mut along = gradient.clone();
        remove(&self.outside, &mut along);
        let product = dot(&along, &inside);
        for i in 0..x.len() {
            gradient[i] += (factor - 1.0) * along[i]
                + inside[i] / square * (by_v + factor * (rate - 1.0) * product);
        }
        gradient
    }

    fn scale(&self, x: &mut [f64], ln_factor: f64) {
        let factor = ln_factor.exp();
        if self.outside.is_empty() {
            x.iter_mut().for_each(|x| *x *= factor);
            return;
        }
        let mut inside = x.to_vec();
        remove(&self.outside, &mut inside);
        x.iter_mut().zip(inside).for_each(|(x, inside)| *x += (factor - 1.0) * inside);
    }

    /// ln of the radius of a standard normal value.
    fn ln_length(&self, y: f64) -> f64 {
        let place = y / SPACING + REACH as f64;
        if !(place > 0.0 && place < (2 * REACH) as f64) {
            return self.chi.ln_length(y);
        }
        let (i, u) = (place as usize, place.fract());
        quintic::between(&self.table[i], &self.table[i + 1], SPACING, u)[0]
    }
}

/// ln‖x‖ outside some orthonormal directions.
pub(crate) fn ln_radius(x: &[f64], outside: &[Vec<f64>]) -> f64 {
    let square = match outside.is_empty() {
        true => dot(x, x),
        false => {
            let mut x = x.to_vec();
            remove(outside, &mut x);
            dot(&x, &x)
        }
    };
    if square.is_finite() { (0.5 * square.ln()).max(NEAREST) } else { 354.0 }
}
