//! What rows in several parts say before they are sphered: moments, and what shows how many
//! independent rows they are worth. Each part is looked at once, in constant memory, and parts are
//! merged in their order.

use crate::effective::{Cause, Effective};
use crate::error::Result;
use crate::learn::FEW;
use crate::moments::Moments;
use crate::rows::Rows;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hasher};

/// Distinct rows whose repeats are counted: those with the smallest hashes. All copies of a row have
/// the same hash, so the sample is one of distinct rows, whatever part a copy is in.
const DISTINCT: usize = 4096;

/// What some rows say before they are sphered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Tally {
    /// Count, mean and scatter.
    pub moments: Moments,
    /// Whether rows have weights.
    weighted: bool,
    powers: Powers,
    /// Of the rows with the smallest hashes: how often each is there, and its total weight.
    repeats: BTreeMap<u64, (f64, f64)>,
    /// The different values of each column, until there are too many.
    values: Vec<Option<Vec<f64>>>,
}

/// Σ (w / largest)^k for k = 1, 2, 3.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Powers {
    largest: f64,
    sums: [f64; 3],
}

impl Powers {
    fn add(&mut self, weight: f64) {
        self.merge(Powers { largest: weight, sums: [1.0; 3] });
    }

    fn merge(&mut self, other: Powers) {
        let largest = self.largest.max(other.largest);
        if !(largest > 0.0) {
            return;
        }
        let share = |powers: &Powers, k: usize| {
            powers.sums[k] * (powers.largest / largest).powi(k as i32 + 1)
        };
        *self = Powers { largest, sums: [0, 1, 2].map(|k| share(self, k) + share(&other, k)) };
    }

    /// How many equal rows rows of these weights are worth: Σw Σw² / Σw³, as for rows in memory.
    fn worth(&self) -> f64 {
        self.sums[0] * self.sums[1] / self.sums[2]
    }
}

impl Tally {
    /// Of no rows.
    pub fn empty(columns: usize) -> Self {
        Tally {
            moments: Moments::empty(columns),
            weighted: false,
            powers: Powers::default(),
            repeats: BTreeMap::new(),
            values: vec![Some(Vec::new()); columns],
        }
    }

    /// Of some rows, and `moments` of them.
    pub fn of(rows: &Rows, moments: Moments) -> Self {
        let mut tally = Tally { moments, ..Tally::empty(rows.columns()) };
        tally.weighted = rows.weights().is_some();
        for i in (0..rows.len()).filter(|&i| rows.weight(i) > 0.0) {
            let (row, weight) = (rows.row(i), rows.weight(i));
            tally.powers.add(weight);
            let mut hasher = DefaultHasher::new();
            // Adding zero makes −0 and 0 the same.
            row.iter().for_each(|x| hasher.write_u64((x + 0.0).to_bits()));
            tally.repeat(hasher.finish(), (1.0, weight));
            tally.values.iter_mut().zip(row.iter()).for_each(|(known, x)| note(known, *x));
        }
        tally
    }

    /// Adds what other rows say.
    pub fn merge(&mut self, other: &Tally) {
        self.moments.merge(&other.moments);
        self.weighted |= other.weighted;
        self.powers.merge(other.powers);
        other.repeats.iter().for_each(|(hash, row)| self.repeat(*hash, *row));
        for (known, others) in self.values.iter_mut().zip(&other.values) {
            match others {
                Some(others) => others.iter().for_each(|x| note(known, *x)),
                None => *known = None,
            }
        }
    }

    fn repeat(&mut self, hash: u64, (times, weight): (f64, f64)) {
        let full = self.repeats.len() >= DISTINCT;
        if full && self.repeats.last_key_value().is_some_and(|(last, _)| hash > *last) {
            return;
        }
        let known = self.repeats.entry(hash).or_default();
        *known = (known.0 + times, known.1 + weight);
        if self.repeats.len() > DISTINCT {
            self.repeats.pop_last();
        }
    }

    /// How many independent rows they are worth. Repeats are judged by a sample of distinct rows.
    pub fn effective(&self, counts: bool) -> Effective {
        let (of, weight) = (self.moments.rows(), self.moments.weight());
        let [mut apart, mut merged] = [Powers::default(); 2];
        for &(times, total) in self.repeats.values() {
            let one = Powers { largest: total / times, sums: [1.0; 3] };
            merged.merge(one);
            apart.merge(Powers { sums: [times; 3], ..one });
        }
        let (by_weights, by_repeats) = match counts {
            true => (1.0, 1.0),
            false => (self.powers.worth() / of as f64, merged.worth() / apart.worth()),
        };
        let rows = if counts { weight } else { self.powers.worth() * by_repeats };
        let causes = [(by_weights, Cause::Weights), (by_repeats, Cause::Repeats)];
        let lowest = causes.into_iter().min_by(|a, b| a.0.total_cmp(&b.0));
        let cause = lowest.filter(|(share, _)| *share < 0.99).map(|(_, cause)| cause);
        Effective { of, rows: rows.max(1.0), cause, neighbours: 0.0 }
    }

    /// By how much weights are multiplied so that they add up to the effective number; `None` where
    /// rows without weights are worth their number.
    pub fn scale(&self, effective: &Effective) -> Option<f64> {
        let scale = effective.rows / self.moments.weight();
        (self.weighted || (scale - 1.0).abs() >= 1e-3).then_some(scale)
    }

    /// Whether rows have weights.
    pub fn weighted(&self) -> bool {
        self.weighted
    }

    /// The columns that vary but take few values, each of them often.
    pub fn ties(&self) -> Vec<usize> {
        let few = |known: &Option<Vec<f64>>| {
            let count = known.as_ref().map_or(usize::MAX, Vec::len);
            count > 1 && count <= FEW && self.moments.rows() >= 10 * count
        };
        (0..self.values.len()).filter(|&column| few(&self.values[column])).collect()
    }
}

/// Adds a value to the different ones of a column, unless they are too many.
fn note(known: &mut Option<Vec<f64>>, x: f64) {
    if let Some(values) = known
        && !values.contains(&x)
    {
        values.push(x);
        if values.len() > FEW {
            *known = None;
        }
    }
}

/// The tally of rows, whose cells and weights must be finite.
pub(crate) fn tally(rows: &Rows) -> Result<Tally> {
    Ok(Tally::of(rows, Moments::of(rows)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effective::Repeats;
    use crate::random::{Use, stream};
    use rand::RngExt;

    /// 3,000 rows of which some are there up to three times, with weights.
    fn rows() -> (Vec<f64>, Vec<f64>) {
        let mut rng = stream(1, Use::Data, 0);
        let (mut values, mut weights) = (Vec::new(), Vec::new());
        for i in 0..2000 {
            let row = [rng.random::<f64>(), f64::from(i % 7)];
            for _ in 0..=(i % 4) / 2 {
                values.extend(row);
                weights.push(f64::from(1 + i % 3));
            }
        }
        (values, weights)
    }

    #[test]
    fn parts_say_what_all_rows_in_memory_say() {
        let (values, weights) = rows();
        let all = Rows::new(&values, 2).unwrap().weighted(&weights).unwrap();
        let repeats = Repeats::of(&all);
        for counts in [false, true] {
            let known = (!counts).then_some(&repeats);
            let expected = Effective::of(&all, known, false).unwrap();
            let mut merged = Tally::empty(2);
            for part in [0..1, 1..1, 1..1700, 1700..all.len()] {
                merged.merge(&tally(&all.slice(part)).unwrap());
            }
            let found = merged.effective(counts);
            assert_eq!((found.of, found.cause), (expected.of, expected.cause));
            assert!((found.rows / expected.rows - 1.0).abs() < 1e-12, "{found:?} {expected:?}");
            assert_eq!(merged.ties(), [1]);
            let sum: f64 = expected.scaled(&all).unwrap().iter().sum();
            let scaled = merged.scale(&found).unwrap() * weights.iter().sum::<f64>();
            assert!((scaled / sum - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn rows_without_repeats_are_worth_exactly_their_number() {
        let values: Vec<f64> = (0..20_000).map(|i| f64::from(i).sqrt()).collect();
        let tally = tally(&Rows::new(&values, 1).unwrap()).unwrap();
        let effective = tally.effective(false);
        assert_eq!((effective.rows, effective.cause), (20_000.0, None));
        assert_eq!((tally.scale(&effective), tally.ties()), (None, vec![]));
        // Every row twice, more than are counted: half of them.
        let twice: Vec<f64> = values.iter().chain(&values).copied().collect();
        let tally = super::tally(&Rows::new(&twice, 1).unwrap()).unwrap();
        assert_eq!(tally.effective(false).rows, 20_000.0);
    }
}
