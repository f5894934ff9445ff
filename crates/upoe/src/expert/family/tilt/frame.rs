//! Natural cubic splines on equally spaced knots in a coordinate y of z, given by B-splines.

use super::band::Band;
use crate::expert::quadrature::{NODES, legendre};
use crate::linalg::HALF_LN_TAU;
use std::sync::OnceLock;

/// a + b v + c v² + d v³ on a cell; v counts from its left knot, in units of the spacing.
pub type Cubic = [f64; 4];

/// The coordinate in which the knots are equally spaced.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Coordinate {
    /// y = z.
    Identity,
    /// y = s asinh(z/s): z itself in the middle, a logarithm of it far out.
    Asinh(f64),
}

/// Which knots a tilt has, and what it is beyond them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Linear in ln |z| beyond the knots: a power of |z|, with its own exponent on each side.
    Tails,
    /// Version 0.1: knots on [−4, 4], Gaussian beyond them.
    Gaussian,
}

/// How the cubic of a cell follows from the coefficients: four of them, from `first` on.
pub struct Map {
    pub first: usize,
    pub rows: [[f64; 4]; 4],
}

/// Knots, and everything about splines on them that does not change.
///
/// Cell 0 is the left tail, cell i lies between knots i − 1 and i, the last one is the right tail.
/// A spline is given by one coefficient per knot, those of the uniform cubic B-splines; the two
/// that would lie outside follow from f″ = 0 at the ends.
pub struct Frame {
    pub knots: usize,
    pub spacing: f64,
    pub coordinate: Coordinate,
    /// ln T where f = 0.
    pub base: Vec<Cubic>,
    /// One per cell.
    pub maps: Vec<Map>,
    /// The weights of the quadrature nodes in each cell between knots, dz/dy included.
    pub weights: Vec<[f64; NODES]>,
    /// ∫ f″² dy, weighted, as a quadratic form of the coefficients.
    pub rough: Band,
    /// A coefficient is this times its coordinate. The outer ones travel farthest in learning.
    pub scales: Vec<f64>,
}

/// The B-splines over an interval: rows 1, v, v², v³; one column for each of the four.
const B_SPLINES: [[f64; 4]; 4] = [
    [1.0 / 6.0, 4.0 / 6.0, 1.0 / 6.0, 0.0],
    [-0.5, 0.0, 0.5, 0.0],
    [0.5, -1.0, 0.5, 0.0],
    [-1.0 / 6.0, 0.5, -0.5, 1.0 / 6.0],
];

/// The s of asinh: how far the middle reaches, in standard deviations.
const MIDDLE: f64 = 2.5;

impl Kind {
    /// The frame, built once.
    pub fn frame(self) -> &'static Frame {
        static FRAMES: [OnceLock<Frame>; 2] = [OnceLock::new(), OnceLock::new()];
        match self {
            Kind::Tails => FRAMES[0].get_or_init(with_tails),
            Kind::Gaussian => FRAMES[1].get_or_init(gaussian_tailed),
        }
    }
}

/// Knots at y = −5.6, −5.32 … 5.6, that is |z| ≤ 11.6. Without f, T is Gaussian up to the knot at
/// |z| = 5.1 and a power of |z| beyond it. A Gaussian farther out would make heavy tails rough.
fn with_tails() -> Frame {
    let mut frame = Frame::new(41, 0.28, Coordinate::Asinh(MIDDLE));
    let last = frame.coordinate.z(13.0 * frame.spacing);
    let slope = last * (1.0 + (last / MIDDLE).powi(2)).sqrt();
    let energy = |y: f64| {
        let (z, beyond) = (frame.coordinate.z(y), y.abs() - 13.0 * frame.spacing);
        if beyond < 1e-9 { 0.5 * z * z } else { 0.5 * last * last + slope * beyond }
    };
    let values: Vec<f64> = (0..frame.knots).map(|i| -energy(frame.knot(i)) - HALF_LN_TAU).collect();
    frame.base = frame.cells(&through(&values));
    frame
}

fn gaussian_tailed() -> Frame {
    let mut frame = Frame::new(21, 0.4, Coordinate::Identity);
    let h = frame.spacing;
    let square = |cell: usize| {
        let left = frame.left(cell);
        [-0.5 * left * left - HALF_LN_TAU, -left * h, -0.5 * h * h, 0.0]
    };
    frame.base = (0..frame.n_cells()).map(square).collect();
    frame
}

impl Coordinate {
    /// z at y.
    pub fn z(self, y: f64) -> f64 {
        match self {
            Coordinate::Identity => y,
            Coordinate::Asinh(s) => s * (y / s).sinh(),
        }
    }

    /// y at z.
    pub fn y(self, z: f64) -> f64 {
        match self {
            Coordinate::Identity => z,
            Coordinate::Asinh(s) => s * (z / s).asinh(),
        }
    }

    /// The weight of f″² at y in the penalty. Few rows lie far out, and the slope that they give is
    /// continued beyond the last of them: f must not follow each of them there.
    fn stiffness(self, y: f64) -> f64 {
        match self {
            Coordinate::Identity => 1.0,
            Coordinate::Asinh(_) => 1.0 + 9.0 * (0.5 * y.abs() - 1.0).clamp(0.0, 1.0),
        }
    }

    /// dz/dy at y.
    pub fn stretch(self, y: f64) -> f64 {
        match self {
            Coordinate::Identity => 1.0,
            Coordinate::Asinh(s) => (y / s).cosh(),
        }
    }
}

impl Frame {
    fn new(knots: usize, spacing: f64, coordinate: Coordinate) -> Self {
        let mut frame = Frame {
            knots,
            spacing,
            coordinate,
            base: Vec::new(),
            maps: (0..=knots).map(|cell| map(cell, knots)).collect(),
            weights: Vec::new(),
            rough: Band::zeros(knots),
            scales: Vec::new(),
        };
        for cell in 1..knots {
            let left = frame.left(cell);
            let weight = |(x, w): (f64, f64)| w * spacing * coordinate.stretch(left + spacing * x);
            frame.weights.push(legendre().map(weight));
            // The weight times ∫ (2c + 6dv)² dv / h³.
            let weight = coordinate.stiffness(left + 0.5 * spacing) / spacing.powi(3);
            let mut form = [[0.0; 4]; 4];
            (form[2][2], form[2][3], form[3][2], form[3][3]) = (4.0, 6.0, 6.0, 12.0);
            let form = form.map(|row| row.map(|x| weight * x));
            frame.rough.add(&frame.maps[cell], &form);
        }
        frame.scales = (0..knots).map(|i| 1.0 + frame.knot(i).abs()).collect();
        frame
    }

    /// Between the knots and beyond them.
    pub fn n_cells(&self) -> usize {
        self.knots + 1
    }

    /// The outermost knots lie at ± this.
    pub fn edge(&self) -> f64 {
        0.5 * self.spacing * (self.knots - 1) as f64
    }

    /// Knot i, in y.
    pub fn knot(&self, i: usize) -> f64 {
        self.spacing * i as f64 - self.edge()
    }

    /// Whether a cell is a tail.
    pub fn is_tail(&self, cell: usize) -> bool {
        cell == 0 || cell == self.knots
    }

    /// The knot from which a cell's v counts.
    pub fn left(&self, cell: usize) -> f64 {
        self.knot(cell.max(1) - 1)
    }

    /// The cell of a place given in spacings from one left of the first knot, and v there.
    #[inline(always)]
    pub fn locate(&self, place: f64) -> (usize, f64) {
        let cell = place.clamp(0.0, self.knots as f64) as usize;
        (cell, place - cell.max(1) as f64)
    }

    /// The place of y for [`Frame::locate`].
    #[inline(always)]
    pub fn place(&self, y: f64) -> f64 {
        (y + self.edge()) / self.spacing + 1.0
    }

    /// The cubics of the spline with the given coefficients.
    pub fn cells(&self, coefficients: &[f64]) -> Vec<Cubic> {
        let cubic = |map: &Map| {
            let near = &coefficients[map.first..map.first + 4];
            map.rows.map(|row| row.iter().zip(near).map(|(m, c)| m * c).sum())
        };
        self.maps.iter().map(cubic).collect()
    }

    /// The derivative by the coefficients, given that by the entries of the cubics.
    pub fn gradient(&self, by_cells: impl Iterator<Item = Cubic>) -> Vec<f64> {
        let mut out = vec![0.0; self.knots];
        for (map, by) in self.maps.iter().zip(by_cells) {
            for (row, by) in map.rows.iter().zip(by) {
                for (out, m) in out[map.first..map.first + 4].iter_mut().zip(row) {
                    *out += m * by;
                }
            }
        }
        out
    }
}

/// The cubic of a cell from the coefficients; f″ = 0 at the ends gives the outer two.
fn map(cell: usize, knots: usize) -> Map {
    let last = knots - 4;
    if cell == 0 {
        let rows = [[1.0, 0.0, 0.0, 0.0], [-1.0, 1.0, 0.0, 0.0], [0.0; 4], [0.0; 4]];
        return Map { first: 0, rows };
    }
    if cell == knots {
        let rows = [[0.0, 0.0, 0.0, 1.0], [0.0, 0.0, -1.0, 1.0], [0.0; 4], [0.0; 4]];
        return Map { first: last, rows };
    }
    match cell - 1 {
        0 => Map { first: 0, rows: B_SPLINES.map(|[p, q, r, s]| [2.0 * p + q, r - p, s, 0.0]) },
        i if i == knots - 2 => {
            Map { first: last, rows: B_SPLINES.map(|[p, q, r, s]| [0.0, p, q - s, r + 2.0 * s]) }
        }
        i => Map { first: i - 1, rows: B_SPLINES },
    }
}

/// The coefficients of the natural spline through the given values at the knots:
/// cᵢ₋₁ + 4cᵢ + cᵢ₊₁ = 6fᵢ, and cᵢ = fᵢ at the ends.
pub fn through(values: &[f64]) -> Vec<f64> {
    let n = values.len();
    let (mut diagonal, mut c) = (vec![1.0; n], values.to_vec());
    for i in 1..n - 1 {
        let factor = if i == 1 { 0.0 } else { 1.0 / diagonal[i - 1] };
        let before = if i == 1 { c[0] } else { factor * c[i - 1] };
        diagonal[i] = 4.0 - factor;
        c[i] = 6.0 * values[i] - before;
    }
    for i in (1..n - 1).rev() {
        c[i] = (c[i] - c[i + 1]) / diagonal[i];
    }
    c
}
