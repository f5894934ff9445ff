//! The paper's two claims, in numbers.

use serde_json::{Value, json};
use upoe::evaluate::Mean;

use super::super::statistics::{mean_of_series, mean_of_splits};
use super::paths::{Curves, LEARNERS, STRIDE};

/// Successive test frames that count as one when errors are estimated: neighbours look alike.
pub const BLOCK: usize = 20;

/// The pairs of learners that are compared: what the first reaches more than the second.
const PAIRS: [(usize, usize); 3] = [(0, 1), (0, 2), (2, 1)];

/// What one learner reaches more than another at one number of projections.
pub struct Difference {
    /// The pair, such as "PAR − PP".
    pub pair: String,
    pub projections: usize,
    /// On training rows, mean over splits.
    pub train: f64,
    /// On the test rows of the first split, paired by rows.
    pub test: Mean,
    /// On test rows over splits, where there are several.
    pub over_splits: Option<Mean>,
}

/// Both claims on one kind of split.
pub struct Claims {
    /// What PAR-TRN exceeds the better of PP-TRN and SEQ-TRN by, at the worst number of
    /// projections above one, over all splits.
    pub least_lead: f64,
    /// At which number that is.
    pub least_lead_at: usize,
    /// From this number of projections on PAR-TRN is no less than both others on every split.
    pub leads_from: usize,
    /// For every pair, at 5, 10, … projections.
    pub differences: Vec<Difference>,
}

impl Claims {
    /// From the curves of one or more splits.
    pub fn of(splits: &[Curves]) -> Claims {
        let most = splits[0].most();
        let lead = |j: usize| {
            let of = |curves: &Curves| {
                let at = |l: usize| curves.paths[l].train[j];
                at(0) - at(1).max(at(2))
            };
            splits.iter().map(of).fold(f64::INFINITY, f64::min)
        };
        let worst = (2..=most).map(|j| (j, lead(j))).min_by(|a, b| a.1.total_cmp(&b.1));
        let (least_lead_at, least_lead) = worst.unwrap_or((0, 0.0));
        let leads_from = (2..=most).rev().find(|j| lead(*j) < -1e-3).map_or(2, |j| j + 1);
        let mut differences = Vec::new();
        for (a, b) in PAIRS {
            for (k, j) in (STRIDE..=most).step_by(STRIDE).enumerate() {
                let more = |of: &dyn Fn(usize) -> f64| of(a) - of(b);
                let over = |values: &dyn Fn(&Curves, usize) -> f64| -> Vec<f64> {
                    splits.iter().map(|curves| more(&|l| values(curves, l))).collect()
                };
                let train = over(&|curves, l| curves.paths[l].train[j]);
                let tests = over(&|curves, l| curves.paths[l].test[j]);
                let (first, second) = (&splits[0].paths[a].rows[k], &splits[0].paths[b].rows[k]);
                let rows: Vec<f64> = first.iter().zip(second).map(|(a, b)| a - b).collect();
                let ratio = splits[0].test_over_train;
                differences.push(Difference {
                    pair: format!("{} − {}", LEARNERS[a].0, LEARNERS[b].0),
                    projections: j,
                    train: super::mean(&train),
                    test: mean_of_series(&rows, BLOCK),
                    over_splits: (splits.len() > 1).then(|| mean_of_splits(&tests, ratio)),
                });
            }
        }
        Claims { least_lead, least_lead_at, leads_from, differences }
    }

    /// A difference by its pair and number of projections.
    pub fn get(&self, pair: &str, projections: usize) -> Option<&Difference> {
        self.differences.iter().find(|d| d.pair == pair && d.projections == projections)
    }

    /// Every number.
    pub fn json(&self) -> Value {
        let differences = self.differences.iter().map(|d| {
            json!({
                "pair": d.pair,
                "projections": d.projections,
                "train": d.train,
                "test": d.test,
                "test_over_splits": d.over_splits,
            })
        });
        json!({
            "parallel_least_lead_on_train": self.least_lead,
            "parallel_least_lead_at": self.least_lead_at,
            "parallel_leads_from": self.leads_from,
            "differences": differences.collect::<Vec<_>>(),
        })
    }
}
