//! The panels on which a density along a line is integrated: as many as it needs, where it needs them.

use super::LnDensity;
use super::rule::{POINTS, rule};
use crate::error::{Error, Result};

/// A peak that falls between two points matters if it may reach within this many nats of the top.
const HIDDEN: f64 = 30.0;
/// Points lie within ± this.
const FARTHEST: f64 = 1e300;
/// With more panels than this a larger error is accepted, up to [`LARGEST_ERROR`] of the whole.
const MOST_PANELS: usize = 5_000;
const LARGEST_ERROR: f64 = 1e-6;

/// How well a grid follows its density.
#[derive(Clone, Copy)]
pub struct Accuracy {
    /// The error of a panel's interpolant, as a share of the whole integral.
    pub tolerance: f64,
    /// Panels whose ends lie this many nats below the highest point are not looked into.
    pub depth: f64,
    /// Whether tails are followed as far as the mean needs.
    pub mean: bool,
    /// How far tails are followed, in half widths of the middle.
    pub farthest: f64,
}

/// Everything can be asked: the integral is exact to 1e-10 or better.
pub const FINE: Accuracy =
    Accuracy { tolerance: 2e-13, depth: 150.0, mean: true, farthest: FARTHEST };
/// The same where ln f itself is exact to about 1e-10 only, and not far out.
pub const COARSE: Accuracy = Accuracy { tolerance: 1e-9, farthest: 1e15, ..FINE };
/// Enough for one of many lines over which a mean is taken.
pub const ROUGH: Accuracy = Accuracy { tolerance: 1e-5, depth: 30.0, mean: true, farthest: 1e15 };
/// Only the integral is asked, to about 1e-9: it is much closer than the interpolant.
pub const INTEGRAL: Accuracy = Accuracy { tolerance: 1e-7, mean: false, ..FINE };

/// Where a panel lies: its own coordinate s rises with t.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Part {
    /// t = centre − half · exp(−s), for s < 0.
    Left,
    /// t = s.
    Middle,
    /// t = centre + half · exp(s), for s > 0.
    Right,
}

/// One panel: the density at its points, in its own coordinate.
#[derive(Clone, Debug)]
pub struct Panel {
    part: Part,
    from: f64,
    to: f64,
    /// The density by s, over exp(`Grid::top`).
    pub values: [f64; POINTS],
    /// The integral over the panel.
    pub mass: f64,
    error: f64,
    /// The mass and the error where every point counts by its distance from the centre too.
    far: (f64, f64),
    /// How high a peak between the points might reach.
    hidden: f64,
}

/// The middle of the points that a grid started from, and half the distance of the outer ones.
#[derive(Clone, Copy, Debug)]
struct Frame {
    centre: f64,
    half: f64,
}

impl Frame {
    /// t at a panel's coordinate.
    fn place(&self, part: Part, s: f64) -> f64 {
        match part {
            Part::Left => self.centre - self.half * (-s).exp(),
            Part::Middle => s,
            Part::Right => self.centre + self.half * s.exp(),
        }
    }
}

/// Panels in rising order, with gaps where there is next to nothing.
#[derive(Clone, Debug)]
pub struct Grid {
    frame: Frame,
    /// What the logarithms of all values were reduced by.
    pub top: f64,
    /// In rising order.
    pub panels: Vec<Panel>,
    /// The integral, over exp(`top`).
    pub total: f64,
    /// Whether both tails end early enough for a mean.
    pub has_mean: bool,
}

impl Grid {
    /// Follows a density that may have peaks and corners at the given points, and falls beyond them.
    /// Its features are no narrower than `narrowest`; of points closer than `apart` one is enough.
    pub fn new(
        ln_f: &LnDensity,
        points: &[f64],
        (narrowest, apart): (f64, f64),
        accuracy: Accuracy,
    ) -> Result<Self> {
        let points = tidy(points, apart);
        let (low, high) = match points[..] {
            [] => (-1.0, 1.0),
            [one] => (one - one.abs().max(1.0), one + one.abs().max(1.0)),
            [first, .., last] => (first, last),
        };
        let points = if points.len() < 2 { vec![low, 0.5 * (low + high), high] } else { points };
        let mut heights = vec![0.0; points.len()];
        ln_f(&points, &mut heights);
        let top = heights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if top == f64::NEG_INFINITY {
            return Err(Error::NoLine { reason: "the row lies where the density is 0" });
        }
        let frame = Frame { centre: 0.5 * (low + high), half: 0.5 * (high - low) };
        let mut grid = Grid { frame, top, panels: Vec::new(), total: 0.0, has_mean: accuracy.mean };
        let pairs = points.windows(2).zip(heights.windows(2));
        // A peak within a narrow panel is seen from its ends.
        let least =
            |p: &[f64]| if p[1] - p[0] <= 12.0 * narrowest { 0.3 } else { 1.0 } * accuracy.depth;
        let inner: Vec<_> = pairs
            .filter(|(p, h)| h[0].max(h[1]) > top - least(p))
            .map(|(p, _)| (Part::Middle, p[0], p[1]))
            .collect();
        grid.measure(ln_f, &inner, accuracy);
        grid.refine(ln_f, accuracy)?;
        for (part, end) in [(Part::Left, heights[0]), (Part::Right, heights[heights.len() - 1])] {
            if end > grid.top - accuracy.depth {
                grid.follow_tail(ln_f, part, accuracy);
            }
        }
        grid.refine(ln_f, accuracy)?;
        // So far out that sums overflow.
        if !(grid.total > 0.0 && grid.total.is_finite()) {
            return Err(Error::NoLine { reason: "the row lies where the density is 0" });
        }
        let start = |panel: &Panel| frame.place(panel.part, panel.from);
        grid.panels.sort_by(|a, b| start(a).total_cmp(&start(b)));
        Ok(grid)
    }

    /// Adds panels of doubling width in ln |t − centre|, until what they add is negligible.
    fn follow_tail(&mut self, ln_f: &LnDensity, part: Part, accuracy: Accuracy) {
        let most = FARTHEST / (self.frame.half + self.frame.centre.abs());
        let farthest = most.min(accuracy.farthest).ln();
        let (mut from, mut width) = (0.0, 1.0);
        loop {
            let to = farthest.min(from + width);
            let panel = if part == Part::Right { (part, from, to) } else { (part, -to, -from) };
            self.measure(ln_f, &[panel], accuracy);
            let panel = &self.panels[self.panels.len() - 1];
            let far = if part == Part::Right { POINTS - 1 } else { 0 };
            let weight = if accuracy.mean { 1.0 + to.exp() } else { 1.0 };
            let left = weight * panel.values[far];
            let enough = 1e-2 * accuracy.tolerance * self.total;
            if left <= enough {
                return;
            }
            if to >= farthest {
                self.has_mean &= left <= 1e-7 * self.total;
                return;
            }
            (from, width) = (to, 2.0 * width);
        }
    }

    /// Halves panels until each is followed.
    fn refine(&mut self, ln_f: &LnDensity, accuracy: Accuracy) -> Result<()> {
        loop {
            let allowed = accuracy.tolerance * self.total;
            let far: f64 = self.panels.iter().map(|p| p.far.0).sum();
            let allowed_far = if self.has_mean { accuracy.tolerance * far } else { f64::INFINITY };
            let (top, mut halves) = (self.top, Vec::new());
            let errors: f64 = self.panels.iter().map(|p| p.error).sum();
            if self.panels.len() > MOST_PANELS {
                let followed = errors <= LARGEST_ERROR * self.total;
                let what = "quadrature along a line";
                return followed.then_some(()).ok_or(Error::NoConvergence { what });
            }
            self.panels.retain(|panel| {
                let middle = 0.5 * (panel.from + panel.to);
                let splits = middle > panel.from && middle < panel.to;
                let followed = panel.error <= allowed && !(panel.far.1 > allowed_far);
                let done = followed && panel.hidden <= top - HIDDEN;
                if splits && !done {
                    halves.push((panel.part, panel.from, middle));
                    halves.push((panel.part, middle, panel.to));
                }
                done || !splits
            });
            if halves.is_empty() {
                return Ok(());
            }
            self.measure(ln_f, &halves, accuracy);
        }
    }

    /// Evaluates new panels.
    fn measure(&mut self, ln_f: &LnDensity, new: &[(Part, f64, f64)], accuracy: Accuracy) {
        let rule = rule();
        let mut t = Vec::with_capacity(new.len() * POINTS);
        for &(part, from, to) in new {
            t.extend(rule.points.iter().map(|v| self.frame.place(part, from + (to - from) * v)));
        }
        let mut heights = vec![0.0; t.len()];
        ln_f(&t, &mut heights);
        for (&(part, from, to), (heights, t)) in
            new.iter().zip(heights.chunks_exact_mut(POINTS).zip(t.chunks_exact(POINTS)))
        {
            if part != Part::Middle {
                let slope = |t: f64| (t - self.frame.centre).abs().ln();
                heights.iter_mut().zip(t).for_each(|(h, t)| *h += slope(*t));
            }
            heights.iter_mut().for_each(|h| *h = if h.is_nan() { f64::NEG_INFINITY } else { *h });
            let highest = heights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            if highest > self.top + 50.0 {
                self.rescale(highest);
            }
            let mut values = [0.0; POINTS];
            for (value, height) in values.iter_mut().zip(heights.iter()) {
                *value = (height - self.top).exp();
            }
            let width = to - from;
            let mass = width * rule.weights.iter().zip(&values).map(|(w, v)| w * v).sum::<f64>();
            let error = width * rule.last_coefficients(&values);
            let far = if accuracy.mean {
                let Frame { centre, half } = self.frame;
                let weighted =
                    std::array::from_fn(|k| values[k] * (1.0 + (t[k] - centre).abs() / half));
                let sum: f64 = rule.weights.iter().zip(&weighted).map(|(w, v)| w * v).sum();
                (width * sum, width * rule.last_coefficients(&weighted))
            } else {
                (0.0, 0.0)
            };
            let hidden = hidden(heights);
            self.panels.push(Panel { part, from, to, values, mass, error, far, hidden });
        }
        self.total = self.panels.iter().map(|p| p.mass).sum();
    }

    fn rescale(&mut self, top: f64) {
        let by = (self.top - top).exp();
        for panel in &mut self.panels {
            panel.values.iter_mut().for_each(|v| *v *= by);
            (panel.mass, panel.error) = (panel.mass * by, panel.error * by);
            panel.far = (panel.far.0 * by, panel.far.1 * by);
        }
        self.top = top;
    }

    /// t at a share v of a panel.
    pub fn t(&self, panel: &Panel, v: f64) -> f64 {
        self.frame.place(panel.part, panel.from + (panel.to - panel.from) * v)
    }

    /// The share v of a panel at which t lies; outside [0, 1] for a t outside the panel.
    pub fn share(&self, panel: &Panel, t: f64) -> f64 {
        let far = || ((t - self.frame.centre).abs() / self.frame.half).ln();
        let s = match panel.part {
            Part::Left => -far(),
            Part::Middle => t,
            Part::Right => far(),
        };
        (s - panel.from) / (panel.to - panel.from)
    }

    /// The point at which the density by t is highest, and its logarithm there.
    pub fn peak(&self) -> (f64, f64) {
        let rule = rule();
        let mut peak = (self.frame.centre, f64::NEG_INFINITY);
        for panel in &self.panels {
            for (v, value) in rule.points.iter().zip(&panel.values) {
                let t = self.t(panel, *v);
                let by_t = match panel.part {
                    Part::Middle => 0.0,
                    Part::Left | Part::Right => (t - self.frame.centre).abs().ln(),
                };
                let height = value.ln() - by_t;
                if height > peak.1 {
                    peak = (t, height);
                }
            }
        }
        (peak.0, peak.1 + self.top)
    }

    /// The width of a panel in its own coordinate.
    pub fn width(&self, panel: &Panel) -> f64 {
        panel.to - panel.from
    }
}

/// How high a peak between the points may reach: the highest point that stands out on both sides,
/// and twice as much as it does so; −∞ where the points follow every peak.
fn hidden(heights: &[f64]) -> f64 {
    let reach = |h: &[f64]| {
        let (left, right) = (h[1] - h[0], h[1] - h[2]);
        let reach = if left > 2.0 && right > 2.0 { 2.0 * left.max(right) } else { return None };
        Some(h[1] + reach)
    };
    heights.windows(3).filter_map(reach).filter(|r| r.is_finite()).fold(f64::NEG_INFINITY, f64::max)
}

/// Finite points in rising order, of those closer than `apart` or that coincide up to rounding one.
fn tidy(points: &[f64], apart: f64) -> Vec<f64> {
    let mut points: Vec<f64> = points.iter().copied().filter(|t| t.abs() < FARTHEST).collect();
    points.sort_unstable_by(f64::total_cmp);
    let span = points.last().zip(points.first()).map_or(0.0, |(last, first)| last - first);
    let last = points.last().copied();
    points.dedup_by(|b, a| *b - *a <= apart.max(1e-12 * (span + a.abs())));
    // The last point is an end as well.
    if let (Some(kept), Some(last)) = (points.last_mut(), last) {
        *kept = last;
    }
    points
}
