//! The log-concave density that fits counts in bins best: of all densities with one mode whose tails
//! are not heavy.

use crate::linalg::dot;
use upoe_kernels::{dispatch, exp};

/// Newton steps at most.
const STEPS: usize = 500;
/// A step that gains less, in nats over all rows, is the last.
const ENOUGH: f64 = 1e-5;

/// ln p of the counts under the best log-concave density, which is constant in every bin; or, where
/// that is more than `enough`, at least `enough`. Bin k lies between edges k and k + 1.
///
/// The slopes of ln p from bin to bin fall. Newton steps with the diagonal of the curvature are
/// projected on falling slopes (iterative convex minorants).
pub fn log_concave(edges: &[f64], counts: &[f64], enough: f64) -> f64 {
    let n: f64 = counts.iter().sum();
    let centres: Vec<f64> = edges.windows(2).map(|e| 0.5 * (e[0] + e[1])).collect();
    let steps: Vec<f64> = centres.windows(2).map(|c| c[1] - c[0]).collect();
    let mean = dot(counts, &centres) / n;
    let square = |(c, x): (&f64, &f64)| c * (x - mean) * (x - mean);
    let variance = counts.iter().zip(&centres).map(square).sum::<f64>() / n;
    // The slopes of a Gaussian.
    let gaussian = centres.windows(2).map(|c| (mean - 0.5 * (c[0] + c[1])) / variance).collect();
    let ln_widths: Vec<f64> = edges.windows(2).map(|e| (e[1] - e[0]).ln()).collect();
    let mut here = Curve::new(gaussian, ln_widths.len());
    let mut next = here.clone();
    here.evaluate(&ln_widths, &steps, counts);
    let bends = steps.len();
    let (mut slope, mut curve, mut target) = (vec![0.0; bends], vec![0.0; bends], vec![0.0; bends]);
    let mut pools = Vec::with_capacity(bends);
    for _ in 0..STEPS {
        if here.value > enough {
            break;
        }
        let (mut above, mut counted) = (0.0, 0.0);
        for k in (0..bends).rev() {
            above += here.p[k + 1];
            counted += counts[k + 1];
            slope[k] = steps[k] * (counted - n * above);
            curve[k] = n * steps[k] * steps[k] * (above * (1.0 - above)).max(1e-9);
            target[k] = here.slopes[k] + slope[k] / curve[k];
        }
        fall(&mut target, &curve, &mut pools);
        target.iter_mut().zip(&here.slopes).for_each(|(t, s)| *t -= s);
        let rise = dot(&target, &slope);
        if rise < ENOUGH {
            break;
        }
        let mut step = 1.0;
        let found = loop {
            for ((tried, here), move_by) in next.slopes.iter_mut().zip(&here.slopes).zip(&target) {
                *tried = here + step * move_by;
            }
            next.evaluate(&ln_widths, &steps, counts);
            if next.value >= here.value + 0.1 * step * rise {
                break true;
            }
            step *= 0.5;
            if step < 1e-8 {
                break false;
            }
        };
        if !found {
            break;
        }
        let gained = next.value - here.value;
        std::mem::swap(&mut here, &mut next);
        if gained < ENOUGH {
            break;
        }
    }
    here.value
}

/// A density that is constant in every bin.
#[derive(Clone)]
struct Curve {
    /// Of ln p, from bin to bin.
    slopes: Vec<f64>,
    /// The probability of each bin.
    p: Vec<f64>,
    /// ln p of the counts.
    value: f64,
}

impl Curve {
    fn new(slopes: Vec<f64>, bins: usize) -> Self {
        Curve { slopes, p: vec![0.0; bins], value: f64::NEG_INFINITY }
    }

    /// The probabilities and ln p of the counts, given the slopes.
    fn evaluate(&mut self, ln_widths: &[f64], steps: &[f64], counts: &[f64]) {
        let p = &mut self.p;
        let mut height = 0.0;
        p[0] = ln_widths[0];
        for (k, (slope, step)) in self.slopes.iter().zip(steps).enumerate() {
            height += slope * step;
            p[k + 1] = height + ln_widths[k + 1];
        }
        let top = p.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let ln_p = dot(counts, p);
        dispatch(
            #[inline(always)]
            || p.iter_mut().for_each(|p| *p = exp(*p - top)),
        );
        let total: f64 = p.iter().sum();
        p.iter_mut().for_each(|p| *p /= total);
        self.value = ln_p - counts.iter().sum::<f64>() * (top + total.ln());
    }
}

/// Makes a sequence the nearest falling one, with weights: pool adjacent violators.
fn fall(values: &mut [f64], weights: &[f64], pools: &mut Vec<(f64, f64, usize)>) {
    pools.clear();
    for (&value, &weight) in values.iter().zip(weights) {
        let mut pool = (value, weight, 1);
        while let Some(&(mean, mass, count)) = pools.last()
            && mean < pool.0
        {
            pools.pop();
            let total = mass + pool.1;
            pool = ((mean * mass + pool.0 * pool.1) / total, total, count + pool.2);
        }
        pools.push(pool);
    }
    let mut next = 0;
    for &(mean, _, count) in pools.iter() {
        values[next..next + count].fill(mean);
        next += count;
    }
}

#[cfg(test)]
mod tests {
    use super::{fall, log_concave};

    #[test]
    fn one_mode_is_fitted_exactly_and_two_are_not() {
        let edges: Vec<f64> = (0..=20).map(|k| f64::from(k) / 10.0).collect();
        let entropy = |counts: &[f64]| -> f64 {
            let n: f64 = counts.iter().sum();
            counts.iter().map(|c| c * (c / n).ln()).sum()
        };
        // Log-concave counts are their own best density.
        let exponential: Vec<f64> = (0..20).map(|k| 1000.0 * (-0.3 * f64::from(k)).exp()).collect();
        let found = log_concave(&edges, &exponential, f64::INFINITY);
        assert!((found - entropy(&exponential)).abs() < 1e-3, "{found}");
        // Of two equal peaks with a valley between them, it is the uniform density.
        let peaks: Vec<f64> =
            (0..20).map(|k| if (5..15).contains(&k) { 10.0 } else { 100.0 }).collect();
        let found = log_concave(&edges, &peaks, f64::INFINITY);
        let uniform = 1100.0 * (0.05_f64).ln();
        assert!((found - uniform).abs() < 1e-3, "{found} {uniform}");
        let some = log_concave(&edges, &exponential, -1e9);
        assert!(some > -1e9 && some <= entropy(&exponential), "{some}");
    }

    #[test]
    fn the_nearest_falling_sequence_keeps_the_weighted_mean() {
        let mut values = [3.0, 1.0, 2.0, 2.5, 0.0];
        fall(&mut values, &[1.0, 1.0, 2.0, 1.0, 1.0], &mut Vec::new());
        assert_eq!(values, [3.0, 1.875, 1.875, 1.875, 0.0]);
    }
}
