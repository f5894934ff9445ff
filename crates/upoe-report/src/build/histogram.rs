//! Counts of projections in equal bins.

use crate::Histogram;

/// Sorted projections as the page has them, in `f32`.
pub(super) fn sorted(z: &[f64]) -> Vec<f64> {
    let mut sorted: Vec<f64> = z.iter().map(|z| f64::from(crate::packed::single(*z))).collect();
    sorted.sort_by(f64::total_cmp);
    sorted
}

/// The quantile of sorted values.
pub(super) fn quantile(sorted: &[f64], p: f64) -> f64 {
    sorted[((p * sorted.len() as f64) as usize).min(sorted.len() - 1)]
}

/// From where to where a picture of these values goes: all of them, unless a few lie so far
/// out that the others would become one bar. Then a little beyond their 0.1 % and 99.9 %
/// quantiles; what lies farther out counts in the bins at the ends.
fn range(sorted: &[f64]) -> (f64, f64) {
    let (least, most) = (sorted[0], sorted[sorted.len() - 1]);
    let quartiles = quantile(sorted, 0.75) - quantile(sorted, 0.25);
    let (low, high) = (quantile(sorted, 0.001), quantile(sorted, 0.999));
    // A Gaussian's quartiles lie 1.35 deviations apart: ten deviations from the middle at most,
    // unless half of the rows are ties.
    let reach = if quartiles > 0.0 { 7.5 * quartiles } else { f64::INFINITY };
    let middle = quantile(sorted, 0.5);
    let margin = 0.1 * (high - low);
    let from = least.max((low - margin).max(middle - reach));
    let to = most.min((high + margin).min(middle + reach));
    if to > from { (from, to) } else { (least - 0.5, most + 0.5) }
}

/// The histogram of sorted projections; bins by Freedman and Diaconis, within reason.
pub(super) fn histogram(sorted: &[f64]) -> Histogram {
    let (from, to) = range(sorted);
    let quartiles = quantile(sorted, 0.75) - quantile(sorted, 0.25);
    let ideal = 2.0 * quartiles / (sorted.len() as f64).cbrt();
    let bins = if ideal > 0.0 { ((to - from) / ideal).ceil().clamp(16.0, 80.0) } else { 40.0 };
    let width = (to - from) / bins;
    let mut counts = vec![0.0; bins as usize];
    for z in sorted {
        let bin = ((z - from) / width).floor().clamp(0.0, bins - 1.0);
        counts[bin as usize] += 1.0;
    }
    Histogram {
        from,
        width,
        counts,
        below: sorted.iter().filter(|z| **z < from).count(),
        above: sorted.iter().filter(|z| **z > to).count(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_counted() {
        for z in [vec![2.0], vec![1.0; 9], (0..1000).map(|i| f64::from(i) * 0.013).collect()] {
            let histogram = histogram(&sorted(&z));
            assert_eq!(histogram.counts.iter().sum::<f64>(), z.len() as f64);
            assert_eq!(histogram.below + histogram.above, 0);
            assert!(histogram.width > 0.0);
        }
    }

    #[test]
    fn far_rows_do_not_squeeze_the_others() {
        let mut z: Vec<f64> = (0..1000).map(|i| (f64::from(i) * 0.7).sin()).collect();
        z.extend([1e6, -400.0, 4e9]);
        let histogram = histogram(&sorted(&z));
        let to = histogram.from + histogram.width * histogram.counts.len() as f64;
        assert!(histogram.from > -20.0 && to < 20.0, "{} to {to}", histogram.from);
        assert_eq!(histogram.counts.iter().sum::<f64>(), 1003.0);
        assert_eq!((histogram.below, histogram.above), (1, 2));
    }
}
