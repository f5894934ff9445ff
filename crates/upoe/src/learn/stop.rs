//! Whether a new expert stays.

use super::fit::Context;
use super::likelihood::changes;
use super::null;
use super::outcome::{State, StopReason};
use super::search::{Found, price};
use super::settings::Stop;
use crate::error::{Result, invalid};
use crate::expert::Marginal;

/// The level of the null rule.
pub const LEVEL: f64 = 0.05;
/// Gains below this are none: what rounding and an unfinished descent can leave.
const NOTHING: f64 = 1e-6;

/// The new expert's p-value if it stays (where the rule has one), or why it does not.
pub fn judge(
    context: &Context,
    state: &State,
    found: &Found,
) -> Result<std::result::Result<Option<f64>, StopReason>> {
    let settings = context.settings;
    let weight = context.train.weight();
    let free = context.train.dims() - state.experts.len();
    let nothing = found.q >= -NOTHING;
    Ok(match settings.stop_rule() {
        Stop::Train if nothing => Err(StopReason::NoGain { q: found.q }),
        Stop::Train => Ok(None),
        Stop::Null => {
            // The best of several families: Bonferroni.
            let tests = settings.families().len() as f64;
            let expert = &found.candidate.expert;
            let p = (tests * null::p_value(expert, weight, free, -found.q)).min(1.0);
            if p <= LEVEL && !nothing { Ok(Some(p)) } else { Err(StopReason::NotSignificant { p }) }
        }
        Stop::Bic => {
            let parameters = (free - 1) as f64 + found.candidate.expert.degrees_of_freedom();
            let price = price(parameters, weight);
            if -found.q > price { Ok(None) } else { Err(StopReason::Bic { q: found.q, price }) }
        }
        Stop::Holdout => {
            let Some(holdout) = context.holdout else {
                return invalid("stop", "holdout", "held-out rows are needed");
            };
            let frozen: Vec<Vec<f64>> = state.experts.iter().map(|e| e.direction.clone()).collect();
            let new = std::slice::from_ref(&found.candidate);
            let change = changes(holdout, &frozen, new)[0];
            if change > 0.0 && !nothing { Ok(None) } else { Err(StopReason::Holdout { change }) }
        }
    })
}
