//! A draw along a line from a few values of ln p: a step of Metropolis and Hastings (1970), whose proposal
//! follows ln p from point to point.
//!
//! Where rows are drawn many times, the exact density along every line costs a hundred times as much. A step
//! leaves the density along the line as it is, whatever the points are, as long as they do not depend on
//! where on the line the row lies.

use super::along::Section;
use crate::random::Stream;
use rand::RngExt;

/// Points to each side of the middle of the Gaussian, and their distance in its deviations.
const SIDE: i32 = 16;
const APART: f64 = 0.3;
/// Where a narrow expert is looked at, in its scales from each of its places.
const NEAR: [f64; 7] = [-4.0, -2.0, -1.0, 0.0, 1.0, 2.0, 4.0];
/// Density below this share of the highest counts as this, so that every place can be left and reached.
const LEAST: f64 = 1e-12;

/// A density that is linear between points, and falls as 1 / t² beyond them.
struct Proposal {
    points: Vec<f64>,
    heights: Vec<f64>,
    /// The mass up to each point; before it, that of the lower tail; behind it, that of the upper one.
    below: Vec<f64>,
    /// How fast the tails fall.
    reach: f64,
    total: f64,
}

impl Section<'_, '_> {
    /// A draw of t, where the row at t = 0 is itself a draw: the result may depend on it, but has the density
    /// along the line.
    pub(super) fn step(&self, rng: &mut Stream) -> f64 {
        let points = self.places();
        let mut heights = vec![0.0; points.len()];
        self.ln_p(&points, &mut heights);
        let Some((proposal, top)) = Proposal::new(points, heights) else { return 0.0 };
        let t = proposal.draw(rng);
        let mut ln_p = [0.0; 2];
        self.ln_p(&[0.0, t], &mut ln_p);
        let ratio = |k: usize, t: f64| ln_p[k] - top - proposal.at(t).ln();
        let better = ratio(1, t) - ratio(0, 0.0);
        // A row where the density is 0 is left for any other.
        let accepted = better >= 0.0
            || ln_p[0] == f64::NEG_INFINITY
            || rng.random_range(0.0..1.0_f64).ln() < better;
        if accepted && t.is_finite() && ln_p[1] > f64::NEG_INFINITY { t } else { 0.0 }
    }

    /// Where ln p is looked at: around the middle that a Gaussian would have, and where experts are narrow.
    fn places(&self) -> Vec<f64> {
        let square: f64 = self.moved.iter().map(|(_, _, b)| b * b).sum();
        let precision = self.precision + square;
        let pull: f64 = self.moved.iter().map(|(_, a, b)| a * b).sum();
        let middle = (self.precision * self.centre - pull) / precision;
        let unit = APART / precision.sqrt();
        let mut points: Vec<f64> = (-SIDE..=SIDE).map(|k| middle + f64::from(k) * unit).collect();
        for (curve, a, b) in &self.moved {
            for (place, scale) in curve.bells() {
                if scale < 3.0 * unit * b.abs() {
                    points.extend(NEAR.map(|k| (place + k * scale - a) / b));
                } else {
                    points.push((place - a) / b);
                }
            }
        }
        points.retain(|t| t.is_finite());
        points.sort_unstable_by(f64::total_cmp);
        points.dedup();
        points
    }
}

impl Proposal {
    /// From points in rising order and ln p there, and the highest of those; `None` where all are −∞.
    fn new(points: Vec<f64>, mut heights: Vec<f64>) -> Option<(Self, f64)> {
        let top = heights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if points.len() < 2 || !top.is_finite() {
            return None;
        }
        heights.iter_mut().for_each(|h| *h = (*h - top).exp().max(LEAST));
        let last = points.len() - 1;
        let reach = 0.25 * (points[last] - points[0]);
        let mut sum = heights[0] * reach;
        let mut below = vec![sum];
        for (t, h) in points.windows(2).zip(heights.windows(2)) {
            sum += 0.5 * (h[0] + h[1]) * (t[1] - t[0]);
            below.push(sum);
        }
        let total = sum + heights[last] * reach;
        Some((Proposal { points, heights, below, reach, total }, top))
    }

    /// A draw.
    fn draw(&self, rng: &mut Stream) -> f64 {
        let last = self.points.len() - 1;
        let mass = self.total * rng.random_range(0.0..1.0);
        // The mass of a tail beyond t is height · reach / (1 + distance / reach).
        if mass < self.below[0] {
            return self.points[0] - self.reach * (self.below[0] / mass - 1.0);
        }
        if mass >= self.below[last] {
            let left = self.total - mass;
            return self.points[last] + self.reach * (self.heights[last] * self.reach / left - 1.0);
        }
        let i = self.below.partition_point(|below| *below <= mass) - 1;
        let (low, high) = (self.heights[i], self.heights[i + 1]);
        let width = self.points[i + 1] - self.points[i];
        let part = (mass - self.below[i]) / width;
        // The v with low v + (high − low) v² / 2 = part.
        let root = (low * low + 2.0 * (high - low) * part).max(0.0).sqrt();
        self.points[i] + width * (2.0 * part / (low + root)).min(1.0)
    }

    /// The density, up to the constant that the heights have.
    fn at(&self, t: f64) -> f64 {
        let last = self.points.len() - 1;
        let tail = |height: f64, distance: f64| height / (1.0 + distance / self.reach).powi(2);
        if t <= self.points[0] {
            return tail(self.heights[0], self.points[0] - t);
        }
        if t >= self.points[last] {
            return tail(self.heights[last], t - self.points[last]);
        }
        let i = self.points.partition_point(|point| *point <= t) - 1;
        let v = (t - self.points[i]) / (self.points[i + 1] - self.points[i]);
        self.heights[i] + v * (self.heights[i + 1] - self.heights[i])
    }
}

#[cfg(test)]
mod tests {
    use crate::random::{Use, stream};
    use crate::{Rows, Settings, fit};

    #[test]
    fn steps_leave_the_density_along_a_line_as_it_is() {
        // Two narrow groups, far apart; half of the steps must find the other one.
        let values: Vec<f64> = (0..600)
            .flat_map(|i| {
                let t = f64::from(i);
                let side = if i % 3 == 0 { -4.0 } else { 4.0 };
                [side + 0.3 * (1.7 * t).sin(), (2.3 * t).cos() + (0.9 * t).sin()]
            })
            .collect();
        let model = fit(&Rows::new(&values, 2).unwrap(), &Settings::default()).unwrap().model;
        assert!(!model.experts().is_empty());
        for direction in [[1.0, 0.0], [1.0, 0.7], [0.0, 1.0]] {
            let line = model.along(&[0.0, 0.3], &direction).unwrap();
            let mut rng = stream(1, Use::Missing, 3);
            let (mut at, mut shares) = (line.quantile(0.5), Vec::new());
            for _ in 0..20_000 {
                let row = [at * direction[0], 0.3 + at * direction[1]];
                at += model.step_along(&row, &direction, &mut rng).unwrap();
                shares.push(line.cdf(at));
            }
            shares.sort_unstable_by(f64::total_cmp);
            let n = shares.len() as f64;
            let off = |(i, share): (usize, &f64)| (share - (i as f64 + 0.5) / n).abs();
            let largest = shares.iter().enumerate().map(off).fold(0.0, f64::max);
            assert!(largest < 0.015, "{direction:?}: {largest}");
        }
    }
}
