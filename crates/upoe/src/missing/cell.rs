//! A missing cell's density, given what is there.

use crate::line::Line;
use rand::{Rng, RngExt};

/// The density of one missing cell, given the values that the row has.
///
/// Where it is the only missing cell, this is the density along its column, exactly. Where other cells
/// are missing, too, it is the mean of such densities over draws of the others.
pub struct Cell<'a>(Kind<'a>);

enum Kind<'a> {
    Lines(Vec<Line<'a>>),
    /// Values that the other cells determine, one per draw of the others.
    Values(Vec<f64>),
}

impl<'a> Cell<'a> {
    pub(super) fn of_lines(lines: Vec<Line<'a>>) -> Self {
        Cell(Kind::Lines(lines))
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
                let each: Vec<f64> = lines.iter().map(|line| line.ln_density(value)).collect();
                let top = each.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                if top == f64::NEG_INFINITY {
                    return top;
                }
                top + mean_of(each.iter().map(|p| (p - top).exp())).ln()
            }
        }
    }

    /// The mean. A line whose tails are too heavy for one counts with its median.
    pub fn mean(&self) -> f64 {
        match &self.0 {
            Kind::Values(values) => mean_of(values.iter().copied()),
            Kind::Lines(lines) => mean_of(lines.iter().map(|line| {
                let mean = line.mean();
                if mean.is_nan() { line.median() } else { mean }
            })),
        }
    }

    /// P(cell ≤ value).
    pub fn cdf(&self, value: f64) -> f64 {
        match &self.0 {
            Kind::Values(values) => {
                values.partition_point(|x| *x <= value) as f64 / values.len() as f64
            }
            Kind::Lines(lines) => mean_of(lines.iter().map(|line| line.cdf(value))),
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
                let each = || lines.iter().map(|line| line.quantile(p));
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
                lines[rng.random_range(0..lines.len())].quantile(rng.random_range(0.0..1.0))
            }
        }
    }
}

fn mean_of(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let n = values.len() as f64;
    values.sum::<f64>() / n
}
