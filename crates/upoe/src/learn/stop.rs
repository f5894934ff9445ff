//! Whether a new expert stays.

use super::choices::Stop;
use super::null;
use super::outcome::{Learned, State, StopReason};
use super::path::changes;
use super::session::Session;
use crate::error::{Error, Result};
use crate::evaluate::expert_price;
use crate::expert::Family;

/// The level of the null rule.
pub const LEVEL: f64 = 0.05;
/// Gains up to this count as none: rounding and an unfinished descent can leave as much.
const NOTHING: f64 = 1e-6;

/// What the stop rule says of a new expert.
pub enum Verdict {
    /// It stays, with its p-value where the rule has one.
    Keep { p_value: Option<f64> },
    /// It does not, and this is why.
    Stop(StopReason),
}

/// Judges a new expert by the stop rule that applies. It is the first of `best`, which are the best
/// of each family.
pub fn judge(session: &Session, state: &State, best: &[Learned]) -> Result<Verdict> {
    let found = &best[0];
    let settings = session.settings;
    let weight = session.train.weight();
    let free = session.train.dims() - state.experts.len();
    let (gain, expert) = (found.gain, found.expert());
    let nothing = gain <= NOTHING;
    let keep = Verdict::Keep { p_value: None };
    Ok(match settings.stop_rule() {
        Stop::Train if nothing => Verdict::Stop(StopReason::NoGain { gain }),
        Stop::Train => keep,
        Stop::Null => {
            // The family that shows most decides whether there is anything: Bonferroni.
            let tried: Vec<Family> = best.iter().map(|l| l.expert().family()).collect();
            let p_of = |l: &Learned| {
                let p = null::p_value(l.expert(), weight, free, l.gain);
                p * tests(l.expert().family(), &tried, free)
            };
            let p = best.iter().map(p_of).fold(1.0, f64::min);
            if p <= LEVEL && !nothing {
                Verdict::Keep { p_value: Some(p) }
            } else {
                Verdict::Stop(StopReason::NotSignificant { p })
            }
        }
        Stop::Bic => {
            let price = expert_price(expert, free, weight);
            if gain > price { keep } else { Verdict::Stop(StopReason::Bic { gain, price }) }
        }
        Stop::Holdout => {
            let holdout = session.holdout.ok_or(Error::NeedsHoldout)?;
            let new = std::slice::from_ref(&found.candidate);
            let change = changes(holdout, &state.directions(), new)?[0];
            if change > 0.0 && !nothing {
                keep
            } else {
                Verdict::Stop(StopReason::Holdout { change })
            }
        }
    })
}

/// The share of the level that the search has; single columns have the rest.
const SEARCH: f64 = 0.95;

/// By how many tests the p-value of a family is multiplied that was tried in a search of `free`
/// dimensions. Student-t has half of the level, because it has the fewest parameters and shows heavy tails
/// in few rows; the others share the other half.
pub fn tests(family: Family, tried: &[Family], free: usize) -> f64 {
    let several = tried.len() > 1 && tried.contains(&Family::StudentT);
    let families = match family {
        Family::StudentT if several => 2,
        _ if several => 2 * (tried.len() - 1),
        _ => tried.len(),
    };
    if free > 1 { families as f64 / SEARCH } else { families as f64 }
}

/// The same for single columns, `columns` of them.
pub fn tests_of_column(family: Family, tried: &[Family], columns: usize) -> f64 {
    tests(family, tried, 1) * columns as f64 / (1.0 - SEARCH)
}
