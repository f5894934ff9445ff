//! Integrals over several numbers by importance sampling: heavy-tailed proposals that move to where the
//! mass is, until the standard error is small enough.

use crate::linalg::dot;
use crate::random::Stream;
use faer::{Mat, Side};
use rand::RngExt;
use rand_distr::{ChiSquared, Distribution, StandardNormal};
use special::Gamma;

/// An estimate and its standard error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The value.
    pub value: f64,
    /// Its standard error; 0 where it is exact.
    pub standard_error: f64,
}

impl Estimate {
    /// A value without an error.
    pub fn exact(value: f64) -> Self {
        Estimate { value, standard_error: 0.0 }
    }
}

/// The standard error of ln of an integral at which drawing stops.
pub const STANDARD_ERROR: f64 = 0.008;
/// Degrees of freedom of the proposals.
const DEGREES: usize = 3;
/// How many kernels a proposal has.
const KERNELS: usize = 48;
/// The share of the first proposal in all later ones: no region is ever given up.
const KEPT: f64 = 0.15;
const FIRST: usize = 1024;
const MOST: usize = 1 << 17;

/// Weighted draws from a density over R^r that is known up to its integral.
pub(crate) struct Draws {
    /// n × r, row after row.
    pub points: Vec<f64>,
    /// One for each point; they add up to 1.
    pub weights: Vec<f64>,
    /// ln of the integral.
    pub ln_integral: Estimate,
}

/// Kernels of a common shape, and the first proposal.
struct Proposal {
    r: usize,
    /// L with LLᵀ = shape: r × r.
    root: Mat<f64>,
    ln_det: f64,
    /// Centres, as L⁻¹c: r × kernels, one coordinate of all of them after the other.
    centres: Vec<f64>,
    /// How many kernels there are.
    kernels: usize,
    /// ln of the density of a Student-t at its centre.
    constant: f64,
}

/// Draws until the standard error is at most [`STANDARD_ERROR`] or [`MOST`] points are drawn at once.
///
/// ln f is asked at points of R^r, row after row; a standard normal is a rough guess of its shape. Where the integral is a part of a sum
/// whose other parts are known, as ln, it need only be as exact as the sum must be.
pub(crate) fn draws(
    ln_others: f64,
    r: usize,
    ln_f: impl Fn(&[f64], &mut [f64]),
    rng: &mut Stream,
) -> Draws {
    let mut proposal = Proposal::first(r);
    let mut n = FIRST;
    loop {
        let points = proposal.draw(n, rng);
        let mut heights = vec![0.0; n];
        ln_f(&points, &mut heights);
        for (height, point) in heights.iter_mut().zip(points.chunks_exact(r)) {
            let ratio = *height - proposal.ln_density(point);
            *height = if ratio.is_nan() { f64::NEG_INFINITY } else { ratio };
        }
        let top = heights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if top == f64::NEG_INFINITY {
            let weights = vec![1.0 / n as f64; n];
            return Draws { points, weights, ln_integral: Estimate::exact(top) };
        }
        let weights: Vec<f64> = heights.iter().map(|h| (h - top).exp()).collect();
        let mean = weights.iter().sum::<f64>() / n as f64;
        let square = weights.iter().map(|w| (w - mean).powi(2)).sum::<f64>() / n as f64;
        let standard_error = (square / n as f64).sqrt() / mean;
        // The first draws may have missed where the mass is; the second ones know where to look.
        // The part that the integral may have of the sum, were it three errors larger.
        let largest = top + mean.ln() + (3.0 * standard_error).ln_1p();
        let part = 1.0 / (1.0 + (ln_others - largest).exp());
        let settled = n > FIRST && part * standard_error <= STANDARD_ERROR;
        if settled || n >= MOST {
            let weights = weights.iter().map(|w| w / (mean * n as f64)).collect();
            let ln_integral = Estimate { value: top + mean.ln(), standard_error };
            return Draws { points, weights, ln_integral };
        }
        proposal = Proposal::around(r, &points, &heights, rng);
        n *= 2;
    }
}

impl Proposal {
    fn first(r: usize) -> Self {
        let (root, centres, constant) = (Mat::identity(r, r), Vec::new(), ln_peak(r));
        Proposal { r, root, ln_det: 0.0, centres, kernels: 0, constant }
    }

    /// Kernels where the weighted points lie.
    fn around(r: usize, points: &[f64], ln_weights: &[f64], rng: &mut Stream) -> Self {
        let n = ln_weights.len();
        let weights = tempered(ln_weights, (16 + 8 * r).min(n / 4) as f64);
        let mean: Vec<f64> = (0..r)
            .map(|i| weights.iter().enumerate().map(|(k, w)| w * points[k * r + i]).sum())
            .collect();
        let mut shape = Mat::<f64>::zeros(r, r);
        for (weight, point) in weights.iter().zip(points.chunks_exact(r)) {
            for i in 0..r {
                for j in 0..=i {
                    shape[(i, j)] += weight * (point[i] - mean[i]) * (point[j] - mean[j]);
                }
            }
        }
        // Silverman's width of a kernel.
        let effective = 1.0 / weights.iter().map(|w| w * w).sum::<f64>();
        let count = effective.min(KERNELS as f64);
        let width = (4.0 / (r as f64 + 2.0) / count).powf(2.0 / (r as f64 + 4.0));
        let scale = (0..r).map(|i| shape[(i, i)]).fold(0.0, f64::max);
        for i in 0..r {
            shape[(i, i)] += 1e-6 * scale + 1e-12;
        }
        let shape = Mat::from_fn(r, r, |i, j| width * shape[(i.max(j), i.min(j))]);
        let Ok(root) = shape.llt(Side::Lower) else {
            return Proposal::first(r);
        };
        let root = root.L().to_owned();
        let ln_det = (0..r).map(|i| root[(i, i)].ln()).sum();
        // Centres at equal steps of the cumulative weight.
        let start: f64 = rng.random_range(0.0..1.0);
        let (mut centres, mut passed, mut next) = (Vec::new(), 0.0, start / KERNELS as f64);
        for (weight, point) in weights.iter().zip(points.chunks_exact(r)) {
            passed += weight;
            while next < passed && centres.len() < KERNELS {
                centres.push(solved(&root, point));
                next += 1.0 / KERNELS as f64;
            }
        }
        let kernels = centres.len();
        let centres = (0..r).flat_map(|i| centres.iter().map(move |c: &Vec<f64>| c[i])).collect();
        Proposal { r, root, ln_det, centres, kernels, constant: ln_peak(r) }
    }

    fn draw(&self, n: usize, rng: &mut Stream) -> Vec<f64> {
        let Ok(chi) = ChiSquared::new(DEGREES as f64) else { return vec![0.0; n * self.r] };
        let mut points = Vec::with_capacity(n * self.r);
        for _ in 0..n {
            let stretch = (DEGREES as f64 / chi.sample(rng)).sqrt();
            let mut y: Vec<f64> =
                (0..self.r).map(|_| stretch * rng.sample::<f64, _>(StandardNormal)).collect();
            let first: f64 = rng.random_range(0.0..1.0);
            if self.centres.is_empty() || first < KEPT {
                points.append(&mut y);
                continue;
            }
            let centre = self.centres.iter().skip(rng.random_range(0..self.kernels));
            y.iter_mut().zip(centre.step_by(self.kernels)).for_each(|(y, c)| *y += c);
            points.extend(
                (0..self.r).map(|i| (0..=i).map(|j| self.root[(i, j)] * y[j]).sum::<f64>()),
            );
        }
        points
    }

    fn ln_density(&self, point: &[f64]) -> f64 {
        let mut first = [dot(point, point)];
        densities(self.r, &mut first);
        if self.centres.is_empty() {
            return self.constant + first[0].ln();
        }
        let y = solved(&self.root, point);
        let mut squares = [0.0; KERNELS];
        let squares = &mut squares[..self.kernels];
        for (y, centres) in y.iter().zip(self.centres.chunks_exact(self.kernels)) {
            squares.iter_mut().zip(centres).for_each(|(s, c)| *s += (c - y) * (c - y));
        }
        densities(self.r, squares);
        let kernels = squares.iter().sum::<f64>() / self.kernels as f64;
        self.constant + (KEPT * first[0] + (1.0 - KEPT) * kernels * (-self.ln_det).exp()).ln()
    }
}

/// ln of the density of a Student-t over R^r at its centre.
fn ln_peak(r: usize) -> f64 {
    let (r, degrees) = (r as f64, DEGREES as f64);
    Gamma::ln_gamma(0.5 * (degrees + r)).0
        - Gamma::ln_gamma(0.5 * degrees).0
        - 0.5 * r * (degrees * std::f64::consts::PI).ln()
}

/// What Student-t densities over R^r are at squared distances, [`KERNELS`] of them at most, up to their common constant:
/// (1 + s / ν)^(−½(ν + r)) by products and a root, because powers would take most of the time.
fn densities(r: usize, squares: &mut [f64]) {
    let twice = DEGREES + r;
    let mut bases = [1.0; KERNELS];
    let bases = &mut bases[..squares.len()];
    for (base, s) in bases.iter_mut().zip(squares.iter_mut()) {
        *base = *s / DEGREES as f64 + 1.0;
        *s = if twice % 2 == 1 { base.sqrt() } else { 1.0 };
    }
    let mut power = twice / 2;
    while power > 0 {
        if power % 2 == 1 {
            squares.iter_mut().zip(bases.iter()).for_each(|(s, base)| *s *= base);
        }
        bases.iter_mut().for_each(|base| *base *= *base);
        power /= 2;
    }
    squares.iter_mut().for_each(|s| *s = 1.0 / *s);
}

/// L⁻¹x of a lower triangle.
fn solved(root: &Mat<f64>, x: &[f64]) -> Vec<f64> {
    let mut y = x.to_vec();
    for i in 0..y.len() {
        let sum: f64 = (0..i).map(|j| root[(i, j)] * y[j]).sum();
        y[i] = (y[i] - sum) / root[(i, i)];
    }
    y
}

/// Weights ∝ exp(β ln w) with the largest β ≤ 1 at which they are worth as many equal ones as asked.
fn tempered(ln_weights: &[f64], least: f64) -> Vec<f64> {
    let top = ln_weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let at = |beta: f64| -> Vec<f64> {
        let raw: Vec<f64> = ln_weights.iter().map(|w| (beta * (w - top)).exp()).collect();
        let total: f64 = raw.iter().sum();
        raw.iter().map(|w| w / total).collect()
    };
    let worth = |weights: &[f64]| 1.0 / weights.iter().map(|w| w * w).sum::<f64>();
    let (mut low, mut high) = (0.0, 1.0);
    if worth(&at(1.0)) >= least {
        return at(1.0);
    }
    for _ in 0..20 {
        let middle = 0.5 * (low + high);
        if worth(&at(middle)) >= least {
            low = middle;
        } else {
            high = middle;
        }
    }
    at(low)
}
