//! All families on one direction, from one pass over the rows.
//!
//! The statistics of a tilt hold the distribution of the projections almost completely, so the other
//! families can be fitted to them without another pass.

use super::objective::{Geometry, Objective};
use super::outcome::Learned;
use super::session::Step;
use super::settings::Settings;
use crate::engine::{Candidate, Engine, Memory, Sums, ask};
use crate::error::Result;
use crate::expert::{Expert, Family, Learnable, Tilt};
use crate::linalg::HALF_LN_TAU;
use rayon::prelude::*;

/// The projections on a direction.
pub struct Profile {
    /// The direction, with the tilt that fits its projections best.
    pub candidate: Candidate,
    /// The gain of that tilt less its penalty, in nats per row.
    pub gain: f64,
    /// The projections, as few weighted points.
    points: Vec<(f64, f64)>,
}

impl Objective<'_> {
    /// The profiles of some unit directions, by falling gain: of the `keep` most promising ones.
    pub fn profiles(&self, directions: Vec<Vec<f64>>, keep: usize) -> Result<Vec<Profile>> {
        let engine = self.engine();
        let weight = engine.weight();
        let flat = Tilt::gaussian(weight);
        let from = |w: Vec<f64>| Candidate::new(w, flat.clone().into());
        let mut found: Vec<(f64, Candidate, Sums)> = Vec::new();
        let mut directions = directions.into_iter();
        // Few at a time, because a tilt has many statistics.
        loop {
            let some: Vec<Candidate> = directions.by_ref().take(256).map(from).collect();
            if some.is_empty() {
                break;
            }
            let sums = ask(engine, &some)?;
            let statistics: Vec<&[f64]> = sums.iter().map(|s| &s.statistics[..]).collect();
            let promises = flat.promises(&statistics, weight);
            let new = promises.into_iter().zip(some).zip(sums);
            found.extend(new.map(|((promise, candidate), sums)| (promise, candidate, sums)));
            found.sort_by(|a, b| b.0.total_cmp(&a.0));
            found.truncate(keep);
        }
        let of = |(_, candidate, sums)| Profile::of(engine, &flat, candidate, &sums);
        let mut profiles: Vec<Profile> = found.into_par_iter().map(of).collect();
        profiles.sort_by(|a, b| b.gain.total_cmp(&a.gain));
        Ok(profiles)
    }

    /// The profile of each direction, in their order.
    pub fn profiles_of_all(&self, directions: Vec<Vec<f64>>) -> Result<Vec<Profile>> {
        let engine = self.engine();
        let flat = Tilt::gaussian(engine.weight());
        let from = |w: Vec<f64>| Candidate::new(w, flat.clone().into());
        let asked: Vec<Candidate> = directions.into_iter().map(from).collect();
        let sums = ask(engine, &asked)?;
        let of = |(candidate, sums)| Profile::of(engine, &flat, candidate, &sums);
        Ok(asked.into_par_iter().zip(sums).map(of).collect())
    }
}

impl Profile {
    /// From the sums of the flat tilt.
    fn of(engine: &dyn Engine, flat: &Tilt, mut candidate: Candidate, sums: &Sums) -> Self {
        let weight = engine.weight();
        let points = flat.points(&sums.statistics);
        let square = points.iter().map(|(z, w)| w * z * z).sum::<f64>() / weight;
        let square = if engine.is_white() { 1.0 } else { square };
        let tilt = flat.fitted(&sums.statistics, weight, 1e-6);
        let value = tilt.loss(&sums.statistics, weight) + tilt.penalty();
        candidate.expert = tilt.into();
        Profile { candidate, gain: 0.5 * square + HALF_LN_TAU - value, points }
    }

    /// The best expert of a family for the projections, with its gain less its penalty.
    pub fn best(&self, settings: &Settings, family: Family, weight: f64) -> Step<Option<Learned>> {
        if family == Family::Tilt {
            return Ok(Some(Learned::new(self.candidate.clone(), self.gain)));
        }
        let fitted = self.fit(&settings.templates(family, weight)?)?;
        let at = |expert| Candidate::new(self.candidate.direction.clone(), expert);
        Ok(fitted.map(|(expert, gain)| Learned::new(at(expert), gain)))
    }

    /// The best expert of some templates after learning from the projections, and its gain less
    /// its penalty.
    fn fit(&self, templates: &[Expert]) -> Step<Option<(Expert, f64)>> {
        if self.points.is_empty() {
            return Ok(None);
        }
        let (z, weights): (Vec<f64>, Vec<f64>) = self.points.iter().copied().unzip();
        let engine = Memory::<f64>::held_out(z, 1, Some(weights))?;
        let objective = Objective::new(&engine, &[], Geometry::Orthonormal);
        let from = |t: &Expert| objective.start(vec![Candidate::new(vec![1.0], t.clone())], 1e-4);
        let mut starts: Vec<_> = templates.iter().map(from).collect();
        objective.walk(&mut starts, 60, &mut |_| true)?;
        let fitted = starts.iter().map(|s| (objective.answer(s).swap_remove(0).expert, -s.value()));
        // A component can shrink onto a single point, which the rows do not have.
        let sound = fitted.filter(|(expert, _)| expert.at_bound().is_none());
        Ok(sound.max_by(|a, b| a.1.total_cmp(&b.1)))
    }
}

/// Candidates after some steps of their families' own updates at their directions, with their gains on
/// the training rows, from as many passes and one.
pub fn refitted(
    engine: &dyn Engine,
    mut candidates: Vec<Candidate>,
    rounds: usize,
) -> Result<Vec<Learned>> {
    let weight = engine.weight();
    for _ in 0..rounds {
        let sums = ask(engine, &candidates)?;
        for (c, sums) in candidates.iter_mut().zip(sums) {
            c.expert = c.expert.update(&sums.statistics, weight);
        }
    }
    let sums = ask(engine, &candidates)?;
    let gain = |c: &Candidate, s: &Sums| 0.5 + HALF_LN_TAU - c.expert.loss(&s.statistics, weight);
    let gains: Vec<f64> = candidates.iter().zip(&sums).map(|(c, s)| gain(c, s)).collect();
    Ok(candidates.into_iter().zip(gains).map(|(c, gain)| Learned::new(c, gain)).collect())
}
