//! A missing cell's density, given what is there.

use crate::error::Result;
use crate::linalg::ln_sum;
use crate::line::{FINE, Line};
use crate::random::place_of;
use rand::{Rng, RngExt};

/// The density of one missing cell, given the values that the row has.
///
/// Where it is the only missing cell, this is the density along its column, exactly. Where other cells
/// are missing, too, it is the mean of such densities over draws of the others; for a mixture over the
/// columns themselves, a formula says it.
pub struct Cell<'a>(Kind<'a>);

enum Kind<'a> {
    /// Densities with their weights, which add up to 1.
    Lines(Vec<(f64, Line<'a>)>),
    /// Values that the other cells determine, one per draw of the others.
    Values(Vec<f64>),
}

impl<'a> Cell<'a> {
    pub(super) fn of_lines(lines: Vec<Line<'a>>) -> Self {
        let weight = 1.0 / lines.len() as f64;
        Cell(Kind::Lines(lines.into_iter().map(|line| (weight, line)).collect()))
    }

    /// The sum of some cells' densities with their weights, which add up to 1.
    pub(super) fn sum(cells: Vec<(f64, Self)>) -> Self {
        let (mut lines, mut values) = (Vec::new(), Vec::new());
        for (weight, Cell(kind)) in cells {
            match kind {
                Kind::Lines(more) => lines.extend(more.into_iter().map(|(w, l)| (weight * w, l))),
                Kind::Values(more) => values.extend(more),
            }
        }
        let total: f64 = lines.iter().map(|(weight, _)| weight).sum();
        lines.iter_mut().for_each(|(weight, _)| *weight /= total);
        if lines.is_empty() { Cell::of_values(values) } else { Cell(Kind::Lines(lines)) }
    }

    /// A Student-t mixture: the weight, the middle and the scale of each component.
    pub(super) fn of_bells(bells: Vec<(f64, f64, f64)>, degrees: f64) -> Result<Self> {
        let ends =
            |(_, middle, scale): &(f64, f64, f64)| [-4.0, 0.0, 4.0].map(|k| middle + k * scale);
        let points: Vec<f64> = bells.iter().flat_map(ends).collect();
        let apart = bells.iter().map(|(.., scale)| *scale).fold(f64::INFINITY, f64::min);
        let ln_weights: Vec<f64> = bells.iter().map(|(w, _, s)| w.ln() - s.ln()).collect();
        let ln_f = move |t: &[f64], heights: &mut [f64]| {
            for (t, height) in t.iter().zip(heights) {
                let terms = bells.iter().zip(&ln_weights).map(|((_, middle, scale), ln_weight)| {
                    let square = ((t - middle) / scale).powi(2);
                    let fall = if degrees.is_infinite() {
                        0.5 * square
                    } else {
                        0.5 * (degrees + 1.0) * (square / degrees).ln_1p()
                    };
                    ln_weight - fall
                });
                *height = ln_sum(terms);
            }
        };
        Ok(Cell::of_lines(vec![Line::new(Box::new(ln_f), (&points, apart), 0.0, FINE)?]))
    }

    pub(super) fn of_values(mut values: Vec<f64>) -> Self {
        values.sort_unstable_by(f64::total_cmp);
        Cell(Kind::Values(values))
    }

    /// ln of the density at a value; NaN where other cells determine the value, so that there is no
    /// density.
    pub fn ln_density(&self, value: f64) -> f64 {
        match &self.0 {
            Kind::Values(_) => f64::NAN,
            Kind::Lines(lines) => {
                let each = lines.iter().map(|(weight, line)| weight.ln() + line.ln_density(value));
                ln_sum(each.collect::<Vec<f64>>().into_iter())
            }
        }
    }

    /// The mean. A line whose tails are too heavy for one counts with its median.
    pub fn mean(&self) -> f64 {
        match &self.0 {
            Kind::Values(values) => mean_of(values.iter().copied()),
            Kind::Lines(lines) => weighted(lines, |line| {
                let mean = line.mean();
                if mean.is_nan() { line.median() } else { mean }
            }),
        }
    }

    /// P(cell ≤ value).
    pub fn cdf(&self, value: f64) -> f64 {
        match &self.0 {
            Kind::Values(values) => {
                values.partition_point(|x| *x <= value) as f64 / values.len() as f64
            }
            Kind::Lines(lines) => weighted(lines, |line| line.cdf(value)),
        }
    }

    /// The value with P(cell ≤ value) = p.
    pub fn quantile(&self, p: f64) -> f64 {
        match &self.0 {
            Kind::Values(values) => {
                let last = values.len() - 1;
                values[((p * values.len() as f64) as usize).min(last)]
            }
            Kind::Lines(lines) => {
                let each = || lines.iter().map(|(_, line)| line.quantile(p));
                let mut low = each().fold(f64::INFINITY, f64::min);
                let mut high = each().fold(f64::NEG_INFINITY, f64::max);
                // The mean of the CDFs is at most p at the lowest of the quantiles, and at least p at the
                // highest.
                while high - low > 1e-9 * (high.abs() + low.abs()) {
                    let middle = low + 0.5 * (high - low);
                    if middle <= low || middle >= high {
                        break;
                    }
                    if self.cdf(middle) < p { low = middle } else { high = middle }
                }
                low + 0.5 * (high - low)
            }
        }
    }

    /// The value with as much below as above.
    pub fn median(&self) -> f64 {
        self.quantile(0.5)
    }

    /// The interval that holds this share of the probability, with as much below as above.
    pub fn interval(&self, share: f64) -> (f64, f64) {
        (self.quantile(0.5 - 0.5 * share), self.quantile(0.5 + 0.5 * share))
    }

    /// A value drawn from the density.
    pub fn sample(&self, rng: &mut impl Rng) -> f64 {
        match &self.0 {
            Kind::Values(values) => values[rng.random_range(0..values.len())],
            Kind::Lines(lines) => {
                let found = place_of(rng.random_range(0.0..1.0), lines.iter().map(|(w, _)| *w));
                let (_, line) = &lines[found.unwrap_or(lines.len() - 1)];
                line.quantile(rng.random_range(0.0..1.0))
            }
        }
    }
}

fn weighted(lines: &[(f64, Line)], of: impl Fn(&Line) -> f64) -> f64 {
    lines.iter().map(|(weight, line)| weight * of(line)).sum()
}

fn mean_of(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let n = values.len() as f64;
    values.sum::<f64>() / n
}
