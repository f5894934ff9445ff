//! How odd is odd? Thresholds and p-values from the oddness of training rows, each judged without it.

use super::tail::Tail;

/// So many of the largest oddnesses are kept one by one, and as many of the others.
const KEPT: usize = 10_000;

/// The oddness of the training rows, each by a detector that was fitted without it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Calibration {
    /// In falling order.
    pub oddness: Vec<f64>,
    /// How many rows are at least so odd.
    pub ranks: Vec<f64>,
    pub tail: Tail,
}

impl Calibration {
    /// From oddnesses and how often each counts; `unit` as [`Tail::of`] has it.
    pub fn of(oddness: &[f64], counts: &[f64], unit: f64) -> Self {
        let tail = Tail::of(oddness, counts, unit);
        let mut order: Vec<usize> = (0..oddness.len()).collect();
        order.sort_unstable_by(|&a, &b| oddness[b].total_cmp(&oddness[a]).then(a.cmp(&b)));
        let every = order.len().saturating_sub(KEPT).div_ceil(KEPT).max(1);
        let (mut kept, mut ranks, mut rank) = (Vec::new(), Vec::new(), 0.0);
        for (at, &i) in order.iter().enumerate() {
            rank += counts[i];
            if at < KEPT || (at - KEPT).is_multiple_of(every) || at + 1 == order.len() {
                kept.push(oddness[i]);
                ranks.push(rank);
            }
        }
        Calibration { oddness: kept, ranks, tail }
    }

    /// How many rows there are.
    pub fn rows(&self) -> f64 {
        self.ranks.last().copied().unwrap_or(0.0)
    }

    /// The conformal p-value of a new row: (1 + k)/(1 + N), where k of N training rows are at least
    /// as odd.
    pub fn p_value(&self, oddness: f64) -> f64 {
        let reached = self.oddness.partition_point(|o| *o >= oddness);
        let k = if reached == 0 { 0.0 } else { self.ranks[reached - 1] };
        (1.0 + k) / (1.0 + self.rows())
    }

    /// New rows that are odder than this have a p-value of at most `alpha`. Where even the oddest
    /// rows have a larger one, because there are too few training rows, the tail is used.
    pub fn threshold(&self, alpha: f64) -> f64 {
        let allowed = alpha * (1.0 + self.rows());
        if allowed < 1.0 {
            return self.tail.quantile(alpha);
        }
        // The first row with 1 + k > allowed, for rows that are odder than the one before it.
        let within = self.ranks.partition_point(|k| 1.0 + k <= allowed);
        self.oddness.get(within).copied().unwrap_or(f64::NEG_INFINITY)
    }
}

/// The oddness that a share of the rows exceeds, halfway between two rows.
pub fn exceeded_by(oddness: &[f64], weights: impl Fn(usize) -> f64, share: f64) -> f64 {
    let mut order: Vec<usize> = (0..oddness.len()).filter(|&i| weights(i) > 0.0).collect();
    order.sort_unstable_by(|&a, &b| oddness[b].total_cmp(&oddness[a]).then(a.cmp(&b)));
    let total: f64 = order.iter().map(|&i| weights(i)).sum();
    let (mut above, mut last) = (0.0, None);
    for &i in &order {
        above += weights(i);
        if above > share * total * (1.0 + 1e-12) {
            return last.map_or(oddness[i], |last| 0.5 * (last + oddness[i]));
        }
        last = Some(oddness[i]);
    }
    f64::NEG_INFINITY
}
