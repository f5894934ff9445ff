//! Single columns. A column needs no search, so that much less evidence shows that it is not Gaussian.

use super::choices::Stop;
use super::objective::{Geometry, Objective};
use super::outcome::{Learned, State};
use super::session::{Session, Step};
use super::{null, stop};
use crate::engine::{Candidate, ask};
use crate::expert::{Family, Learnable};
use crate::linalg::{HALF_LN_TAU, dot, orthonormal, remove};

/// A column whose directions are mostly taken is no longer that column.
const LEFT: f64 = 0.7;

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
    let tests = stop::tests_of_columns(settings, columns.len());
    let objective = Objective::new(train, &frozen, Geometry::Orthonormal);
    let p_of = |c: &Candidate, gain: f64| null::p_value(&c.expert, weight, 1, gain) * tests;
    let mut found: Vec<(f64, Candidate)> = Vec::new();
    for profile in objective.profiles(columns, usize::MAX)? {
        if !session.pass(state, frozen.len(), -profile.gain) {
            return Err(super::session::Halt::Interrupted);
        }
        for family in settings.families.iter() {
            let direction = profile.candidate.direction.clone();
            let fitted = if family == Family::Tilt {
                let tilt = profile.candidate.expert.clone();
                let gain = profile.gain + tilt.penalty();
                Some((tilt, gain))
            } else {
                profile.fit(&settings.templates(family, weight)?)?
            };
            let Some((expert, gain)) = fitted else { continue };
            let candidate = Candidate::new(direction, expert);
            let p = p_of(&candidate, gain);
            if p <= stop::LEVEL {
                found.push((p, candidate));
            }
        }
    }
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    let Some((_, candidate)) = found.into_iter().next() else { return Ok(None) };
    // The few points of a profile are nearly the rows; the rows decide.
    let sums = ask(train, std::slice::from_ref(&candidate))?;
    let loss = sums.first().map_or(f64::NAN, |s| candidate.expert.loss(&s.statistics, weight));
    let gain = 0.5 + HALF_LN_TAU - loss;
    let p = p_of(&candidate, gain);
    let learned = Learned { p_value: Some(p.min(1.0)), ..Learned::new(candidate, gain) };
    Ok((p <= stop::LEVEL).then_some(learned))
}
