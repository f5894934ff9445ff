//! Whether a new expert stays.

use super::choices::Stop;
use super::null;
use super::outcome::{Learned, State, StopReason};
use super::path::changes;
use super::session::Session;
use crate::error::{Error, Result};
use crate::evaluate::expert_price;
use crate::expert::{Expert, Family, Marginal};
use crate::linalg::dot;
use rayon::prelude::*;

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
            let mut p = 1.0_f64;
            for (l, gain) in best.iter().zip(gains_of_distinct(session, best)?) {
                let one = null::p_value(l.expert(), weight, free, gain);
                p = p.min(one * tests(l.expert().family(), &tried, free));
            }
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

/// Rows at a time.
const BLOCK: usize = 4096;

/// What experts gain over the Gaussian where every distinct row counts once. Rows that are there many
/// times are no chance, but say nothing of the others.
pub fn gains_of_distinct(session: &Session, found: &[Learned]) -> Result<Vec<f64>> {
    let Some(once) = session.once else { return Ok(found.iter().map(|f| f.gain).collect()) };
    let train = session.train;
    let norms: Vec<f64> = found.iter().map(|f| dot(f.direction(), f.direction()).sqrt()).collect();
    // Of both weights: their sum, ⟨z⟩, ⟨z²⟩ and ⟨ln T⟩ times it.
    let mut sums = vec![[[0.0; 4]; 2]; found.len()];
    for start in (0..train.rows()).step_by(BLOCK) {
        let chosen: Vec<usize> = (start..train.rows().min(start + BLOCK)).collect();
        let picked = train.pick(&chosen)?;
        let add = |((sums, found), norm): ((&mut [[f64; 4]; 2], &Learned), &f64)| {
            for (k, row) in picked.rows.chunks_exact(train.dims()).enumerate() {
                let z = dot(row, found.direction()) / norm;
                let parts = [1.0, z, z * z, found.expert().ln_density(z * norm)];
                let weights = [picked.weights.as_ref().map_or(1.0, |w| w[k]), once[start + k]];
                for (sums, weight) in sums.iter_mut().zip(weights) {
                    sums.iter_mut().zip(parts).for_each(|(sum, part)| *sum += weight * part);
                }
            }
        };
        sums.par_iter_mut().zip(found).zip(&norms).for_each(add);
    }
    let gain = |(sums, found): ([[f64; 4]; 2], &Learned)| {
        let [all, distinct] = sums.map(|[n, z, square, ln_t]| {
            let variance = (square / n - (z / n).powi(2)).max(f64::MIN_POSITIVE);
            ln_t / n + 0.5 * variance.ln()
        });
        found.gain + distinct - all
    };
    Ok(sums.into_iter().zip(found).map(gain).collect())
}

/// The share of the level that the search has; single columns have the rest. Columns are what was measured, and
/// often what is not Gaussian; a search with three quarters of the level needs about 3 % more gain than one
/// with all of it.
const SEARCH: f64 = 0.75;

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

/// Whether one more expert that gains so much is significant, in a search of `free` dimensions among some families.
pub fn significant(
    expert: &Expert,
    weight: f64,
    free: usize,
    families: &[Family],
    gain: f64,
) -> bool {
    null::p_value(expert, weight, free, gain) * tests(expert.family(), families, free) <= LEVEL
}

/// [`tests`] for single columns, `columns` of them.
pub fn tests_of_column(family: Family, tried: &[Family], columns: usize) -> f64 {
    tests(family, tried, 1) * columns as f64 / (1.0 - SEARCH)
}
