//! How far an expert reaches: the central range of a column, and the values beyond.

use crate::rows::Rows;
use rayon::prelude::*;

/// The largest deviation that experts can work with, in units of the central range. They shrink to
/// 0.02 deviations; a Cauchy column's own scale is 0.4 of this unit, which leaves a factor of 2.
const REACH: f64 = 10.0;
/// From the 10th to the 90th percentile of a Gaussian, in deviations.
const CENTRAL: f64 = 2.563;
/// From this share of equal values on, the others are judged by themselves.
const TIED: f64 = 0.2;

/// Median and central range of a column. The range is that from the 10th to the 90th percentile,
/// in units of which a Gaussian has deviation 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Spread {
    pub centre: f64,
    pub scale: f64,
    /// Whether many values equal the median.
    pub tied: bool,
}

impl Spread {
    /// Of values with weights. Where many are equal, as in counts and flags, the range of the
    /// others counts if it is larger: rare values are not far away. Differences up to `rounding`
    /// do not count.
    fn of(mut values: Vec<(f64, f64)>, rounding: f64) -> Self {
        values.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let centre = quantile(&values, 0.5);
        let central = (quantile(&values, 0.9) - quantile(&values, 0.1)) / CENTRAL;
        let rounding = rounding.max(1e-12 * centre.abs());
        let mut others: Vec<(f64, f64)> = values
            .iter()
            .map(|(x, w)| ((x - centre).abs(), *w))
            .filter(|v| v.0 > rounding)
            .collect();
        let total: f64 = values.iter().map(|v| v.1).sum();
        let different: f64 = others.iter().map(|v| v.1).sum();
        let mut scale = if central > rounding { central } else { 0.0 };
        let tied = different < (1.0 - TIED) * total;
        if tied && !others.is_empty() {
            others.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
            scale = scale.max(2.0 * quantile(&others, 0.8) / CENTRAL);
        }
        Spread { centre, scale, tied }
    }

    /// Whether a deviation is more than experts can work with.
    pub fn is_exceeded(&self, deviation: f64) -> bool {
        self.scale > 0.0 && self.scale.is_finite() && !(deviation <= REACH * self.scale)
    }
}

/// The value up to which this share of the weight lies. Values are sorted.
fn quantile(values: &[(f64, f64)], share: f64) -> f64 {
    let total: f64 = values.iter().map(|v| v.1).sum();
    let mut sum = 0.0;
    let reached = values.iter().find(|(_, w)| {
        sum += w;
        sum > share * total
    });
    reached.or(values.last()).map_or(0.0, |v| v.0)
}

/// The spread of every column.
pub(super) fn spreads(
    values: &[f64],
    columns: usize,
    weights: Option<&[f64]>,
    rounding: f64,
) -> Vec<Spread> {
    let weight = |i: usize| weights.map_or(1.0, |w| w[i]);
    let column = |k: usize| {
        let cells = values.iter().skip(k).step_by(columns).enumerate();
        Spread::of(cells.map(|(i, x)| (*x, weight(i))).collect(), rounding)
    };
    (0..columns).into_par_iter().map(column).collect()
}

/// The standard deviation of every column, infinite where squares overflow.
pub(super) fn deviations(rows: &Rows, spreads: &[Spread]) -> Vec<f64> {
    let parts: Vec<(f64, Vec<[f64; 2]>)> = upoe_kernels::chunks(rows.len())
        .into_par_iter()
        .map(|range| {
            let (mut weight, mut sums) = (0.0, vec![[0.0; 2]; spreads.len()]);
            for i in range.filter(|&i| rows.weight(i) > 0.0) {
                let w = rows.weight(i);
                weight += w;
                for ((sum, x), spread) in sums.iter_mut().zip(&*rows.row(i)).zip(spreads) {
                    let d = x - spread.centre;
                    sum[0] += w * d;
                    sum[1] += w * d * d;
                }
            }
            (weight, sums)
        })
        .collect();
    let total: f64 = parts.iter().map(|p| p.0).sum();
    let sum = |column: usize, k: usize| parts.iter().map(|p| p.1[column][k]).sum::<f64>() / total;
    let deviation = |column: usize| {
        let variance = sum(column, 1) - sum(column, 0).powi(2);
        if variance.is_nan() { f64::INFINITY } else { variance.max(0.0).sqrt() }
    };
    (0..spreads.len()).map(deviation).collect()
}

/// Which of these cells, given as value, weight and row, must be left out, the farthest first, so that
/// the deviation of the others is within reach, or within this `part` of it. None, where that takes
/// more than `share` of the weight and more than one row: so many are structure.
pub(super) fn beyond(
    mut cells: Vec<(f64, f64, usize)>,
    spread: &Spread,
    part: f64,
    share: f64,
) -> Vec<usize> {
    let distance = |cell: &(f64, f64, usize)| (cell.0 - spread.centre).abs();
    cells.sort_unstable_by(|a, b| distance(a).total_cmp(&distance(b)));
    // Mean and scatter of the cells so far, from the nearest on.
    let (mut weight, mut mean, mut scatter) = (0.0, 0.0, 0.0);
    let mut within = (0.0, 0.0);
    for cell in &cells {
        let d = cell.0 - spread.centre;
        weight += cell.1;
        let step = d - mean;
        mean += step * cell.1 / weight;
        scatter += cell.1 * step * (d - mean);
        if !spread.is_exceeded((scatter / weight).sqrt() / part) {
            within = (distance(cell), weight);
        }
    }
    let (limit, kept) = within;
    let far: Vec<usize> =
        cells.iter().filter(|cell| distance(cell) > limit).map(|cell| cell.2).collect();
    if far.len() > 1 && kept < (1.0 - share) * weight { Vec::new() } else { far }
}
