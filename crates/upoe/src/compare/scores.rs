//! Ranks as standard normal numbers, and functions of them that show what differs.

use crate::expert::normal;

/// The standard normal quantile of each value's rank among all; equal values share their mean rank.
pub(super) fn normal_scores(values: &[f64]) -> Vec<f64> {
    let n = values.len();
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut scores = vec![0.0; n];
    let mut start = 0;
    while start < n {
        let same = |i: &usize| values[*i] == values[order[start]];
        let end = start + order[start..].iter().take_while(|i| same(i)).count().max(1);
        let share = 0.5 * (start + end) as f64 / n as f64;
        // `quantile` is for the lower half.
        let score =
            if share <= 0.5 { normal::quantile(share) } else { -normal::quantile(1.0 - share) };
        order[start..end].iter().for_each(|&i| scores[i] = score);
        start = end;
    }
    scores
}

/// The orders of [`hermite`]: shift, spread, skewness, tails.
pub(super) const ORDERS: usize = 4;

/// The Hermite polynomial of an order from 1 to 4: uncorrelated over normal scores, with variance 1.
pub(super) fn hermite(order: usize, h: f64) -> f64 {
    let square = h * h;
    match order {
        1 => h,
        2 => (square - 1.0) / 2f64.sqrt(),
        3 => h * (square - 3.0) / 6f64.sqrt(),
        _ => (square * (square - 6.0) + 3.0) / 24f64.sqrt(),
    }
}

/// Brings values to mean 0 and variance 1; values that are all equal become 0.
pub(super) fn standardise(values: &mut [f64]) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n;
    let scale = if variance > 1e-20 { variance.sqrt().recip() } else { 0.0 };
    values.iter_mut().for_each(|x| *x = (*x - mean) * scale);
}

/// The quantile at a share of the way, between sorted values.
pub(super) fn quantile(sorted: &[f64], share: f64) -> f64 {
    let at = (share * sorted.len() as f64 - 0.5).clamp(0.0, (sorted.len() - 1) as f64);
    let (low, part) = (at.floor() as usize, at.fract());
    let high = (low + 1).min(sorted.len() - 1);
    sorted[low] + part * (sorted[high] - sorted[low])
}

/// The values in rising order.
pub(super) fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}
