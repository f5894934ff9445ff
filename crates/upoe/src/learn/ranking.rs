//! Which starts, profiles and answers come first, and which are the same.

use super::lockstep::Start;
use super::objective::Objective;
use super::outcome::Learned;
use super::profile::Profile;
use super::session::{Halt, Step};
use crate::error::Error;
use crate::expert::Learnable;
use crate::linalg::dot;

/// Directions with at least this cosine are the same.
pub const SAME: f64 = 0.9995;

/// Profiles without those whose cosine with a better one is above `most`.
pub fn apart(profiles: Vec<Profile>, most: f64) -> Vec<Profile> {
    let mut kept: Vec<Profile> = Vec::new();
    for profile in profiles {
        let w = &profile.candidate.direction;
        if !kept.iter().any(|k| dot(&k.candidate.direction, w).abs() > most) {
            kept.push(profile);
        }
    }
    kept
}

pub fn by_value(field: &mut [Start]) {
    field.sort_by(|a, b| a.value().total_cmp(&b.value()));
}

pub fn by_gain(found: &mut [Learned]) {
    found.sort_by(|a, b| b.gain.total_cmp(&a.gain));
}

/// Keeps one of the starts that have reached the same direction and value. The field is sorted by
/// value.
pub fn drop_doubles(objective: &Objective, field: &mut Vec<Start>) {
    let mut kept: Vec<(Vec<f64>, f64)> = Vec::new();
    field.retain(|s| {
        let (w, value) = (objective.answer(s).swap_remove(0).direction, s.value());
        let met = |(k, v): &(Vec<f64>, f64)| dot(&w, k).abs() > SAME && (value - v).abs() < 1e-4;
        let new = !kept.iter().any(met);
        if new {
            kept.push((w, value));
        }
        new
    });
}

/// The best of each family, at least one, by falling gain less what their own parameters cost.
pub fn choose(families: Vec<Vec<Learned>>, weight: f64) -> Step<Vec<Learned>> {
    let best = families.into_iter().filter_map(|f| f.into_iter().next());
    let mut best: Vec<Learned> = best.collect();
    best.sort_by(|a, b| net(b, weight).total_cmp(&net(a, weight)));
    if best.is_empty() {
        return Err(Halt::Failed(Error::NoConvergence { what: "search for a direction" }));
    }
    Ok(best)
}

/// What a parameter must add to N times the gain: half of what one that is not needed adds to 2N times
/// the gain in 5 % of samples.
const PRICE: f64 = 1.92;

/// The gain less the price of an expert's own parameters. One that has shrunk to its bound lies on few or
/// equal rows, and comes after all others.
pub fn net(found: &Learned, weight: f64) -> f64 {
    let last = if found.expert().at_bound().is_some() { f64::MAX } else { 0.0 };
    found.gain - PRICE * found.expert().free_parameters() / weight - last
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Candidate;
    use crate::expert::{Expert, Mixture, StudentT};

    #[test]
    fn an_expert_at_its_bound_comes_last() {
        let student = |scale: f64| StudentT::with_scale(0.0, scale, 4.0).expect("a Student-t");
        let shrunk = Mixture::new(vec![1.0, 1.0], vec![student(0.7), student(0.02)]);
        let shrunk: Expert = shrunk.expect("a mixture").into();
        assert!(shrunk.at_bound().is_some());
        let found = |expert: Expert, gain: f64| {
            vec![Learned::new(Candidate::new(vec![1.0, 0.0], expert), gain)]
        };
        // It gains most, and is chosen only where nothing else was found.
        let plain: Expert = student(0.7).into();
        let both = vec![found(shrunk.clone(), 2.0), found(plain.clone(), 0.1)];
        let chosen = choose(both, 500.0).expect("a choice");
        assert_eq!(chosen.iter().map(|l| l.expert() == &plain).collect::<Vec<_>>(), [true, false]);
        let alone = choose(vec![found(shrunk.clone(), 2.0)], 500.0).expect("a choice");
        assert_eq!(alone[0].expert(), &shrunk);
    }
}
