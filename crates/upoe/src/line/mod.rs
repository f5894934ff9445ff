//! The density along a line, normalised by quadrature: with everything but one number t fixed, what is
//! t like?
//!
//! Panels of Chebyshev points cover the line. They are halved until the interpolant in each is exact to
//! 2e-13 of the whole. Both tails are followed in ln |t|, as far as they matter. Probabilities below
//! 1e-4 are integrated anew from the density itself, so that they keep their digits.

mod grid;
mod rule;

use crate::error::{Result, invalid};
pub(crate) use grid::{Accuracy, COARSE, FINE, ROUGH};
use grid::{Grid, INTEGRAL, Panel};
use rand::{Rng, RngExt};
use rule::{Integral, POINTS, clenshaw, rule};

/// ln of a density, up to a constant, at many points.
pub(crate) type LnDensity<'a> = dyn Fn(&[f64], &mut [f64]) + Send + Sync + 'a;

/// Smaller probabilities are integrated anew.
const SMALL: f64 = 1e-4;

/// A normalised density of one number: what [`Model::along`](crate::Model::along) and
/// [`Density::along`](crate::Density::along) return.
///
/// ```
/// use upoe::{Rows, Settings, fit};
/// let values: Vec<f64> = (0..400).map(|i| f64::from(i * i % 397)).collect();
/// let model = fit(&Rows::new(&values, 2)?, &Settings::default())?.model;
/// let second = model.conditional(&[100.0, 0.0], 1)?; // the second column, where the first is 100
/// let (low, high) = second.interval(0.9);
/// assert!((second.cdf(high) - second.cdf(low) - 0.9).abs() < 1e-9);
/// # Ok::<(), upoe::Error>(())
/// ```
pub struct Line<'a> {
    ln_f: Box<LnDensity<'a>>,
    /// What is added to t in all that is said.
    origin: f64,
    grid: Grid,
    /// The mass below each panel, and above it.
    below: Vec<f64>,
    above: Vec<f64>,
}

impl std::fmt::Debug for Line<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Line(median {}, 90 % in {:?})", self.median(), self.interval(0.9))
    }
}

/// ln ∫ exp(ln_f), to about 1e-9. Features of ln_f are no narrower than the first number of `scales`; of
/// points closer than the second one is enough.
pub(crate) fn ln_integral(ln_f: &LnDensity, points: &[f64], scales: (f64, f64)) -> Result<f64> {
    let grid = Grid::new(ln_f, points, scales, INTEGRAL)?;
    Ok(grid.top + grid.total.ln())
}

/// A column's axis: the row with that column at its middle, the direction, and the middle.
pub(crate) fn axis(
    row: &[f64],
    column: usize,
    middle: impl Fn(usize) -> f64,
) -> Result<(Vec<f64>, Vec<f64>, f64)> {
    if column >= row.len() {
        return invalid("column", column, format!("rows have {} columns", row.len()));
    }
    let origin = middle(column);
    let (mut row, mut direction) = (row.to_vec(), vec![0.0; row.len()]);
    (row[column], direction[column]) = (origin, 1.0);
    Ok((row, direction, origin))
}

impl<'a> Line<'a> {
    /// Of ln f, which may have peaks and corners at the given points and falls beyond them. Of points closer than
    /// `apart` one is enough. Values are reported as `origin` + t.
    pub(crate) fn new(
        ln_f: Box<LnDensity<'a>>,
        (points, apart): (&[f64], f64),
        origin: f64,
        accuracy: Accuracy,
    ) -> Result<Self> {
        let grid = Grid::new(&*ln_f, points, (0.0, apart), accuracy)?;
        let sums = |panels: &mut dyn Iterator<Item = &Panel>| -> Vec<f64> {
            panels
                .scan(0.0, |sum, panel| {
                    *sum += panel.mass;
                    Some(*sum - panel.mass)
                })
                .collect()
        };
        let below = sums(&mut grid.panels.iter());
        let mut above = sums(&mut grid.panels.iter().rev());
        above.reverse();
        Ok(Line { ln_f, origin, grid, below, above })
    }

    /// ln of the integral that was divided by: of p(row + t·direction) over t. Along a column it is
    /// ln p of the row without that column.
    pub fn ln_total(&self) -> f64 {
        self.grid.top + self.grid.total.ln()
    }

    /// ln of the density at a value.
    pub fn ln_density(&self, value: f64) -> f64 {
        self.ln_f_at(value - self.origin) - self.ln_total()
    }

    fn ln_f_at(&self, t: f64) -> f64 {
        let mut height = [0.0];
        (self.ln_f)(&[t], &mut height);
        if height[0].is_nan() { f64::NEG_INFINITY } else { height[0] }
    }

    /// The mean; NaN where there is none.
    pub fn mean(&self) -> f64 {
        if !self.grid.has_mean {
            return f64::NAN;
        }
        // About the median, so that no digits are lost where t is large.
        let median = self.median() - self.origin;
        let rule = rule();
        let of_panel = |panel: &Panel| {
            let terms = rule.points.iter().zip(&rule.weights).zip(&panel.values);
            let sum: f64 =
                terms.map(|((v, w), value)| w * value * (self.grid.t(panel, *v) - median)).sum();
            sum * self.grid.width(panel)
        };
        let shift: f64 = self.grid.panels.iter().map(of_panel).sum();
        self.origin + median + shift / self.grid.total
    }

    /// The value with as much below as above.
    pub fn median(&self) -> f64 {
        self.quantile(0.5)
    }

    /// P(value ≤ this).
    pub fn cdf(&self, value: f64) -> f64 {
        self.ln_tail(value, false).exp()
    }

    /// P(value > this), which keeps its digits where 1 − P(value ≤ this) has lost them.
    pub fn upper_tail(&self, value: f64) -> f64 {
        self.ln_tail(value, true).exp()
    }

    /// ln of the probability above a value where `upper`, otherwise below it: also where the probability
    /// itself is less than the smallest number.
    pub fn ln_tail(&self, value: f64, upper: bool) -> f64 {
        let t = value - self.origin;
        let (i, v) = self.locate(t);
        let share = match self.grid.panels.get(i) {
            Some(panel) if v > 0.0 => {
                let part = self.integral(panel).at(v);
                let sum =
                    if upper { self.above[i] + (panel.mass - part) } else { self.below[i] + part };
                sum / self.grid.total
            }
            // In a gap before panel i, or beyond all panels.
            _ if upper => self.above_from(i) / self.grid.total,
            _ => self.grid.panels[..i].iter().map(|p| p.mass).sum::<f64>() / self.grid.total,
        };
        if share >= SMALL { share.min(1.0).ln() } else { self.fresh_tail(t, upper, i, v) }
    }

    /// The mass of panel i and all above it.
    fn above_from(&self, i: usize) -> f64 {
        self.grid.panels.get(i).map_or(0.0, |panel| self.above[i] + panel.mass)
    }

    /// ln of the two-sided tail probability: twice the smaller tail.
    pub fn ln_surprise(&self, value: f64) -> f64 {
        let smaller = self.ln_tail(value, false).min(self.ln_tail(value, true));
        (std::f64::consts::LN_2 + smaller).min(0.0)
    }

    /// The value with P(value ≤ this) = p.
    pub fn quantile(&self, p: f64) -> f64 {
        if !(0.0..=1.0).contains(&p) {
            return f64::NAN;
        }
        if p == 0.0 || p == 1.0 {
            return if p == 0.0 { f64::NEG_INFINITY } else { f64::INFINITY };
        }
        if !(SMALL..=1.0 - SMALL).contains(&p) {
            return self.far_quantile(p);
        }
        let target = p * self.grid.total;
        let last = self.grid.panels.len() - 1;
        let i = self.below.partition_point(|below| *below <= target).saturating_sub(1).min(last);
        let panel = &self.grid.panels[i];
        let coefficients = rule().coefficients(&panel.values);
        let integral = Integral::new(&coefficients);
        let width = self.grid.width(panel);
        let (mut low, mut high) = (0.0, 1.0);
        let mut v = (target - self.below[i]) / panel.mass;
        for _ in 0..100 {
            let excess = self.below[i] + width * integral.at(v) - target;
            if excess > 0.0 {
                high = v;
            } else {
                low = v;
            }
            let newton = v - excess / (width * clenshaw(&coefficients, v));
            let next = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
            let step = (next - v).abs();
            v = next;
            if step <= 1e-15 {
                break;
            }
        }
        self.origin + self.grid.t(panel, v)
    }

    /// A quantile far out, by bisection of the tails themselves.
    fn far_quantile(&self, p: f64) -> f64 {
        let upper = p > 0.5;
        let ln_p = if upper { (1.0 - p).ln() } else { p.ln() };
        let near = self.quantile(if upper { 1.0 - SMALL } else { SMALL });
        let scale = (near - self.median()).abs();
        // Whether a value at exp(s) − 1 scales beyond `near` has too little beyond it.
        let at = |s: f64| near + if upper { scale } else { -scale } * s.exp_m1();
        let beyond = |s: f64| self.ln_tail(at(s), upper) < ln_p;
        let (mut low, mut high) = (0.0, 1.0);
        while !beyond(high) && high < 600.0 {
            (low, high) = (high, 2.0 * high);
        }
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if beyond(middle) {
                high = middle;
            } else {
                low = middle;
            }
        }
        at(0.5 * (low + high))
    }

    /// The likeliest value, and ln of the density there, up to the distance of the points of a panel.
    pub fn peak(&self) -> (f64, f64) {
        let (t, height) = self.grid.peak();
        (self.origin + t, height - self.ln_total())
    }

    /// The interval that holds this share, with as much below it as above it.
    pub fn interval(&self, share: f64) -> (f64, f64) {
        let out = 0.5 * (1.0 - share);
        (self.quantile(out), self.quantile(1.0 - out))
    }

    /// One draw.
    pub fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> f64 {
        self.quantile(rng.random_range(f64::EPSILON..1.0))
    }

    fn integral(&self, panel: &Panel) -> Integral {
        let width = self.grid.width(panel);
        Integral::new(&rule().coefficients(&panel.values.map(|v| v * width)))
    }

    /// The panel in which t lies and the share of it below t; otherwise the next panel and 0.
    fn locate(&self, t: f64) -> (usize, f64) {
        let panels = &self.grid.panels;
        let i = panels.partition_point(|panel| self.grid.t(panel, 1.0) < t);
        (i, panels.get(i).map_or(0.0, |panel| self.grid.share(panel, t).clamp(0.0, 1.0)))
    }

    /// ln of a small tail: fresh panels of doubling width from t to the end of its panel, and the panels
    /// beyond it.
    fn fresh_tail(&self, t: f64, upper: bool, i: usize, v: f64) -> f64 {
        let height = self.ln_f_at(t);
        if height == f64::NEG_INFINITY {
            return height;
        }
        let side = if upper { 1.0 } else { -1.0 };
        let panels = &self.grid.panels;
        // Where t lies in a panel, that one ends the fresh ones.
        let inside = v > 0.0 && i < panels.len();
        let next = match (inside, upper) {
            (true, true) => Some(self.grid.t(&panels[i], 1.0)),
            (true, false) => Some(self.grid.t(&panels[i], 0.0)),
            (false, true) => panels.get(i).map(|panel| self.grid.t(panel, 0.0)),
            (false, false) => i.checked_sub(1).map(|i| self.grid.t(&panels[i], 1.0)),
        };
        let beyond = match (inside, upper) {
            (true, true) => self.above[i],
            (false, true) => self.above_from(i),
            (_, false) => self.below.get(i).copied().unwrap_or(self.grid.total),
        };
        let median = self.median() - self.origin;
        let reach = next.map_or((t - median).abs(), |next| (next - t).abs());
        let small = 1e-4 * reach.min((t - median).abs().max(f64::MIN_POSITIVE));
        let decay = (height - self.ln_f_at(t + side * small)) / small;
        let mut width = if decay > 0.0 { (1.0 / decay).min(reach) } else { 0.01 * reach };
        let (mut from, mut sum, rule) = (t, 0.0, rule());
        let mut heights = [0.0; POINTS];
        for _ in 0..2000 {
            let ends = next.is_some_and(|next| side * (next - from) <= width);
            let to = next.filter(|_| ends).unwrap_or(from + side * width);
            let points = rule.points.map(|v| from + (to - from) * v);
            if !points.iter().all(|t| t.is_finite()) {
                break;
            }
            (self.ln_f)(&points, &mut heights);
            let terms = heights.iter().zip(&rule.weights);
            let part: f64 = terms
                .filter(|(h, _)| !h.is_nan())
                .map(|(h, w)| w * (h - height).exp() * (to - from).abs())
                .sum();
            sum += part;
            if ends || (next.is_none() && part <= 1e-13 * sum) {
                break;
            }
            (from, width) = (to, 2.0 * width);
        }
        // Both parts over exp(height); the panels beyond may be the larger part by far.
        let (fresh, rest) = (height + sum.ln(), self.grid.top + beyond.ln());
        let (large, little) = (fresh.max(rest), fresh.min(rest));
        large + (little - large).exp().ln_1p() - self.ln_total()
    }
}
