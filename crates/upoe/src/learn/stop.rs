//! Whether a new expert stays.

use super::choices::Stop;
use super::null;
use super::outcome::{Learned, State, StopReason};
use super::path::changes;
use super::session::Session;
use super::settings::Settings;
use crate::error::{Error, Result};
use crate::evaluate::expert_price;

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
            let p_of = |l: &Learned| null::p_value(l.expert(), weight, free, l.gain);
            let smallest = best.iter().map(p_of).fold(1.0, f64::min);
            let p = (smallest * tests(best.len(), free)).min(1.0);
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

/// The share of the level that the search has; where it finds nothing, single columns have the rest.
const SEARCH: f64 = 0.9;

/// By how many tests the smallest p-value of a search for some families in `free` dimensions is
/// multiplied.
pub fn tests(families: usize, free: usize) -> f64 {
    let families = families as f64;
    if free > 1 { families / SEARCH } else { families }
}

/// The same for `columns` columns.
pub fn tests_of_columns(settings: &Settings, columns: usize) -> f64 {
    (settings.families.iter().len() * columns) as f64 / (1.0 - SEARCH)
}
