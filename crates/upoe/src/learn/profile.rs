//! All families on one direction, from one pass over the rows.
//!
//! The statistics of a tilt hold the distribution of the projections almost completely, so the other
//! families can be fitted to them without another pass.

use super::objective::{Geometry, Objective};
use super::session::Step;
use crate::engine::{Candidate, Memory, Sums, ask};
use crate::error::Result;
use crate::expert::{Expert, Learnable, Tilt};
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
        let profile = |(_, mut candidate, sums): (f64, Candidate, Sums)| {
            let points = flat.points(&sums.statistics);
            let square = points.iter().map(|(z, w)| w * z * z).sum::<f64>() / weight;
            let square = if engine.is_white() { 1.0 } else { square };
            let tilt = flat.fitted(&sums.statistics, weight, 1e-6);
            let value = tilt.loss(&sums.statistics, weight) + tilt.penalty();
            candidate.expert = tilt.into();
            Profile { candidate, gain: 0.5 * square + HALF_LN_TAU - value, points }
        };
        let mut profiles: Vec<Profile> = found.into_par_iter().map(profile).collect();
        profiles.sort_by(|a, b| b.gain.total_cmp(&a.gain));
        Ok(profiles)
    }
}

impl Profile {
    /// The best expert of some templates after learning from the projections, and its gain less
    /// its penalty.
    pub fn fit(&self, templates: &[Expert]) -> Step<Option<(Expert, f64)>> {
        if self.points.is_empty() {
            return Ok(None);
        }
        let (z, weights): (Vec<f64>, Vec<f64>) = self.points.iter().copied().unzip();
        let engine = Memory::<f64>::held_out(z, 1, Some(weights))?;
        let objective = Objective::new(&engine, &[], Geometry::Orthonormal);
        let from = |t: &Expert| objective.start(vec![Candidate::new(vec![1.0], t.clone())], 1e-4);
        let mut starts: Vec<_> = templates.iter().map(from).collect();
        objective.walk(&mut starts, 60, &mut |_| true)?;
        let best = starts.into_iter().min_by(|a, b| a.value().total_cmp(&b.value()));
        Ok(best.map(|s| (objective.answer(&s).swap_remove(0).expert, -s.value())))
    }
}
