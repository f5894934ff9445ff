//! Single columns. A column needs no search, so that much less evidence shows that it is not Gaussian.

use super::choices::Stop;
use super::objective::{Geometry, Objective};
use super::outcome::{Learned, State};
use super::profile::refitted;
use super::session::{Halt, Session, Step};
use super::{null, stop};
use crate::engine::Candidate;
use crate::expert::Family;
use crate::linalg::{dot, orthonormal, remove};
use std::cmp::Ordering;

/// A column whose directions are mostly taken is no longer that column.
const LEFT: f64 = 0.7;

/// Steps of the families' own updates on all rows.
const ROUNDS: usize = 10;

/// Columns that are looked at closely: those that promise most.
const CLOSELY: usize = 8;
/// A search with a smaller p-value needs no columns beside it.
const SURE: f64 = 1e-6;

/// What was found, or a column that is even less likely by chance. A direction learned from few rows
/// follows their noise; a column does not.
pub fn instead(session: &mut Session, state: &State, found: Learned) -> Step<Learned> {
    let Some(p) = found.p_value.filter(|p| *p > SURE) else { return Ok(found) };
    let column = best(session, state)?.filter(|c| c.p_value.is_some_and(|of_column| of_column < p));
    Ok(column.unwrap_or(found))
}

/// The column with the smallest p-value as a direction with its expert, where it is significant
/// under the null rule.
pub fn best(session: &mut Session, state: &State) -> Step<Option<Learned>> {
    let (train, settings) = (session.train, session.settings);
    let (weight, frozen) = (train.weight(), state.directions());
    if settings.stop_rule() != Stop::Null || train.dims() - frozen.len() < 2 {
        return Ok(None);
    }
    let span = orthonormal(&frozen);
    let outside = |w: &Vec<f64>| {
        let mut w = w.clone();
        remove(&span, &mut w);
        let norm = dot(&w, &w).sqrt();
        (norm > LEFT).then(|| w.iter().map(|x| x / norm).collect::<Vec<f64>>())
    };
    let columns: Vec<Vec<f64>> = session.columns.iter().filter_map(outside).collect();
    let (tried, count): (Vec<Family>, usize) = (settings.families.iter().collect(), columns.len());
    let objective = Objective::new(train, &frozen, Geometry::Orthonormal);
    let p_of = |c: &Candidate, gain: f64| {
        let p = null::p_value(&c.expert, weight, 1, gain);
        p * stop::tests_of_column(c.expert.family(), &tried, count)
    };
    let mut promising = Vec::new();
    for profile in objective.profiles(columns, CLOSELY)? {
        if !session.pass(state, frozen.len(), -profile.gain) {
            return Err(Halt::Interrupted);
        }
        for family in settings.families.iter() {
            let fitted = profile.best(settings, family, weight)?;
            let likely = fitted.filter(|f| p_of(&f.candidate, f.gain) <= stop::LEVEL);
            promising.extend(likely.map(|f| f.candidate));
        }
    }
    // The few points of a profile are nearly the rows; the rows decide.
    let mut judged = Vec::new();
    let refitted = refitted(train, promising, ROUNDS)?;
    let gains = stop::gains_of_distinct(session, &refitted)?;
    for (found, gain) in refitted.into_iter().zip(gains) {
        let p = p_of(&found.candidate, gain);
        judged.push(Learned { p_value: Some(p), ..found });
    }
    let best = judged
        .into_iter()
        .min_by(|a, b| a.p_value.partial_cmp(&b.p_value).unwrap_or(Ordering::Equal));
    Ok(best.filter(|b| b.p_value.is_some_and(|p| p <= stop::LEVEL)))
}
