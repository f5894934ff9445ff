//! How unusual rows are: the probability, under the model, of a row less probable than each.

/// Counts, for each of some scores, the samples that are at most as probable. Samples come in any
/// number and order and are not kept.
pub struct Tail {
    /// The scores, rising.
    sorted: Vec<f64>,
    /// Samples above all scores before this one, and not above it.
    counts: Vec<u64>,
    samples: u64,
}

impl Tail {
    /// Of these scores.
    pub fn of(scores: &[f64]) -> Self {
        let mut sorted = scores.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        Tail { counts: vec![0; sorted.len()], sorted, samples: 0 }
    }

    /// Counts samples by their scores.
    pub fn count(&mut self, samples: &[f64]) {
        for sample in samples {
            let first = self.sorted.partition_point(|score| score < sample);
            if let Some(count) = self.counts.get_mut(first) {
                *count += 1;
            }
        }
        self.samples += samples.len() as u64;
    }

    /// The estimate for each of these scores, which are those it was made of: one more than the
    /// samples at most as probable, over one more than all samples.
    pub fn estimates(&self, scores: &[f64]) -> Vec<f64> {
        let below: Vec<u64> = (self.counts.iter())
            .scan(0, |sum, count| {
                *sum += count;
                Some(*sum)
            })
            .collect();
        let estimate = |score: &f64| {
            let at_most = self.sorted.partition_point(|other| other <= score);
            let below = at_most.checked_sub(1).map_or(0, |last| below[last]);
            (below + 1) as f64 / (self.samples + 1) as f64
        };
        scores.iter().map(estimate).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counting_is_sorting() {
        let mut next = {
            let mut state = 1u64;
            move || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                // few values, so that many are equal; zeros of both signs
                ((state >> 33) % 40) as f64 - 20.0
            }
        };
        let mut scores: Vec<f64> = (0..200).map(|_| next()).collect();
        scores.extend([f64::NEG_INFINITY, -0.0, 0.0, 1e300, f64::NEG_INFINITY]);
        let mut samples: Vec<f64> = (0..1000).map(|_| next()).collect();
        samples.extend([f64::NEG_INFINITY, -0.0, 0.0]);
        let mut tail = Tail::of(&scores);
        samples.chunks(77).for_each(|some| tail.count(some));
        let direct = |score: &f64| {
            let below = samples.iter().filter(|sample| *sample <= score).count();
            (below + 1) as f64 / (samples.len() + 1) as f64
        };
        assert_eq!(tail.estimates(&scores), scores.iter().map(direct).collect::<Vec<_>>());
        assert!(Tail::of(&[]).estimates(&[]).is_empty());
    }
}
