//! Counts of projections in equal bins.

use rayon::prelude::*;

use crate::Histogram;

/// Sorted projections as the page has them, in `f32`. Those of rows so far out that they are not
/// a number are left out; infinite ones stay.
pub(super) fn sorted(z: &[f64]) -> Vec<f64> {
    let numbers = z.iter().filter(|z| !z.is_nan());
    let mut sorted: Vec<f64> = numbers.map(|z| f64::from(crate::packed::single(*z))).collect();
    sorted.par_sort_unstable_by(f64::total_cmp); // what is equal is the same to the bit
    sorted
}

/// The quantile of sorted values, of which there is at least one.
pub(super) fn quantile(sorted: &[f64], p: f64) -> f64 {
    sorted[((p * sorted.len() as f64) as usize).min(sorted.len() - 1)]
}

/// The finite ones of sorted values.
fn finite(sorted: &[f64]) -> &[f64] {
    let from = sorted.partition_point(|z| *z == f64::NEG_INFINITY);
    &sorted[from..sorted.partition_point(|z| *z < f64::INFINITY)]
}

/// From where to where a picture of these values goes: all of them, unless a few lie so far
/// out that the others would become one bar. Then a little beyond their 0.1 % and 99.9 %
/// quantiles; what lies farther out counts in the bins at the ends. The values are finite.
fn range(sorted: &[f64]) -> (f64, f64) {
    if sorted.is_empty() {
        return (-4.0, 4.0); // where a Gaussian lies
    }
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
    // Ties have some room beside them, also where half a unit would be lost to rounding.
    let room = 0.5_f64.max(1e-6 * least.abs().max(most.abs()));
    if to > from { (from, to) } else { (least - room, most + room) }
}

/// The histogram of sorted projections; bins by Freedman and Diaconis, within reason.
pub(super) fn histogram(sorted: &[f64]) -> Histogram {
    let finite = finite(sorted);
    let (from, to) = range(finite);
    let ideal = match finite {
        [] => 0.0,
        _ => {
            let quartiles = quantile(finite, 0.75) - quantile(finite, 0.25);
            2.0 * quartiles / (finite.len() as f64).cbrt()
        }
    };
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
    fn what_is_not_finite_has_its_place() {
        let z = [f64::NAN, f64::NEG_INFINITY, 1e300, 1e300, f64::INFINITY, -f64::NAN];
        let known = sorted(&z);
        assert_eq!(known.len(), 4);
        let histogram = histogram(&known);
        assert_eq!((histogram.below, histogram.above), (1, 1));
        assert_eq!(histogram.counts.iter().sum::<f64>(), 4.0);
        assert!(histogram.width > 0.0 && histogram.width.is_finite());
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
