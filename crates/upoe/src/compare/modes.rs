//! Groups along a line: humps of a kernel estimate with a real valley between them.

use super::scores::{quantile, sorted};

/// Places at which the density is computed.
const GRID: usize = 200;

/// A group has at least this share of the values.
const LEAST: f64 = 0.05;

/// The cuts between groups: the lowest points of valleys in which the density is at most `depth` times that
/// of the lower hump beside them. The kernel is wider than most would take, so that noise makes no groups.
pub(super) fn cuts(values: &[f64], depth: f64) -> Vec<f64> {
    let values = sorted(values);
    let n = values.len();
    let mean = values.iter().sum::<f64>() / n as f64;
    let deviation = (values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n as f64).sqrt();
    let middle = (quantile(&values, 0.75) - quantile(&values, 0.25)) / 1.349;
    let width = 0.9 * deviation.min(middle) * (n as f64).powf(-0.2);
    if !(width > 0.0 && width.is_finite()) {
        return Vec::new();
    }
    let (low, high) = (quantile(&values, 0.005) - width, quantile(&values, 0.995) + width);
    let at = |k: usize| low + (high - low) * k as f64 / (GRID - 1) as f64;
    let density = |k: usize| -> f64 {
        let x = at(k);
        let near = values.partition_point(|v| *v < x - 5.0 * width)
            ..values.partition_point(|v| *v <= x + 5.0 * width);
        values[near].iter().map(|v| (-0.5 * ((x - v) / width).powi(2)).exp()).sum()
    };
    let density: Vec<f64> = (0..GRID).map(density).collect();
    let mut cuts = Vec::new();
    let mut start = 0;
    // A valley counts once the density has risen well above it again.
    let (mut top, mut bottom) = (density[0], 0);
    for k in 1..GRID {
        if density[bottom] <= depth * top.min(density[k]) {
            let cut = at(bottom);
            let end = values.partition_point(|v| *v <= cut);
            let enough = LEAST * n as f64;
            if (end - start) as f64 >= enough && (n - end) as f64 >= enough {
                cuts.push(cut);
                start = end;
            }
            (top, bottom) = (density[k], k);
        } else if density[k] > top {
            (top, bottom) = (density[k], k);
        } else if density[k] < density[bottom] {
            bottom = k;
        }
    }
    cuts
}

/// The share of values above a cut.
pub(super) fn above(values: &[f64], cut: f64) -> f64 {
    values.iter().filter(|x| **x > cut).count() as f64 / values.len() as f64
}
