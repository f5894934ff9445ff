//! Means, their errors, and agreement of groups.

use serde::Serialize;

/// A mean and its standard error.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// Its standard error.
    pub standard_error: f64,
}

impl Estimate {
    /// Over independent values.
    pub fn of(values: &[f64]) -> Estimate {
        let mean = mean(values);
        Estimate { mean, standard_error: deviation(values) / (values.len() as f64).sqrt() }
    }

    /// Over values in order of time: the error comes from the means of blocks of `length`, so
    /// that neighbours may be alike.
    pub fn of_series(values: &[f64], length: usize) -> Estimate {
        let blocks: Vec<f64> = values.chunks(length).map(mean).collect();
        Estimate { mean: mean(values), ..Estimate::of(&blocks) }
    }

    /// Over random splits of one data set, which share rows: the correction of Nadeau and
    /// Bengio (2003), with the number of test rows over training rows.
    pub fn of_splits(values: &[f64], test_over_train: f64) -> Estimate {
        let share = 1.0 / values.len() as f64 + test_over_train;
        Estimate { mean: mean(values), standard_error: deviation(values) * share.sqrt() }
    }

    /// The mean over its error.
    pub fn t(&self) -> f64 {
        self.mean / self.standard_error
    }
}

/// The mean.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The standard deviation, over N − 1; NaN for a single value.
pub fn deviation(values: &[f64]) -> f64 {
    let mean = mean(values);
    let square: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
    (square / (values.len() as f64 - 1.0)).sqrt()
}

/// The least and the largest value.
pub fn extent(values: &[f64]) -> (f64, f64) {
    values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(*v), b.max(*v)))
}

/// Counts in `bins` equal bins from `low` to `high`.
pub fn counts(values: &[f64], (low, high): (f64, f64), bins: usize) -> Vec<f64> {
    let mut counts = vec![0.0; bins];
    for value in values.iter().filter(|v| **v >= low && **v <= high) {
        let bin = ((value - low) / (high - low) * bins as f64) as usize;
        counts[bin.min(bins - 1)] += 1.0;
    }
    counts
}

/// The adjusted Rand index of two ways to group.
pub fn adjusted_rand(a: &[usize], b: &[usize]) -> f64 {
    let pairs = |n: f64| n * (n - 1.0) / 2.0;
    let groups = a.iter().chain(b).max().map_or(0, |most| most + 1);
    let mut table = vec![0.0; groups * groups];
    a.iter().zip(b).for_each(|(a, b)| table[a * groups + b] += 1.0);
    let both: f64 = table.iter().map(|n| pairs(*n)).sum();
    let row = |g: usize| (0..groups).map(|h| table[g * groups + h]).sum();
    let column = |h: usize| (0..groups).map(|g| table[g * groups + h]).sum();
    let first: f64 = (0..groups).map(|g| pairs(row(g))).sum();
    let second: f64 = (0..groups).map(|h| pairs(column(h))).sum();
    let expected = first * second / pairs(a.len() as f64);
    (both - expected) / (0.5 * (first + second) - expected)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_see_what_rows_do_not() {
        // Every value comes ten times in a row: only a tenth of them are independent.
        let values: Vec<f64> = (0..1000).map(|i| ((i / 10) as f64 * 0.7).sin()).collect();
        let (rows, blocks) = (Estimate::of(&values), Estimate::of_series(&values, 10));
        assert!((rows.mean - blocks.mean).abs() < 1e-12);
        assert!((blocks.standard_error / rows.standard_error - 10_f64.sqrt()).abs() < 0.05);
    }

    #[test]
    fn splits_share_rows() {
        let values = [1.0, 2.0, 3.0, 4.0];
        let (apart, shared) = (Estimate::of(&values), Estimate::of_splits(&values, 1.0));
        assert!((shared.standard_error / apart.standard_error - 5_f64.sqrt()).abs() < 1e-12);
    }

    #[test]
    fn groups_that_agree() {
        assert_eq!(adjusted_rand(&[0, 0, 1, 1, 2], &[2, 2, 0, 0, 1]), 1.0);
        let half = adjusted_rand(&[0, 0, 0, 1, 1, 1], &[0, 0, 1, 1, 2, 2]);
        assert!((half - 0.24242424).abs() < 1e-6, "{half}");
        assert_eq!(counts(&[0.0, 0.1, 0.9, 1.0, 2.0], (0.0, 1.0), 2), [2.0, 2.0]);
    }
}
