//! Many starts that walk downhill in lock-step: each pass over the rows serves all of them.

use super::Step;
use super::descent::Descent;
use super::objective::{Geometry, Objective};
use super::outcome::Learned;
use super::session::Halt;
use crate::engine::Candidate;
use crate::expert::{Expert, Learnable};
use crate::linalg::dot;

/// One start: some free directions with their experts, and their descent.
///
/// A point holds for each expert its unit direction, the logarithm of its norm where that is
/// free, and the expert's coordinates.
pub struct Start {
    templates: Vec<Expert>,
    descent: Descent,
}

impl Start {
    /// The value at the best point so far.
    pub fn value(&self) -> f64 {
        self.descent.value()
    }

    /// A value that the end is not expected to go below.
    pub fn hope(&self) -> f64 {
        self.descent.hope()
    }

    /// Steps taken.
    pub fn iterations(&self) -> usize {
        self.descent.iterations()
    }

    /// Whether it ended at its tolerance, or at what rounding allows.
    pub fn converged(&self) -> bool {
        self.descent.ending().is_some()
    }

    /// Goes on to a smaller tolerance.
    pub fn tighten(&mut self, tolerance: f64) {
        self.descent.tighten(tolerance);
    }

    /// The largest entry of the gradient.
    pub fn steepness(&self) -> f64 {
        self.descent.steepness()
    }

    #[cfg(test)]
    pub fn ask(&self) -> &[f64] {
        self.descent.ask()
    }

    #[cfg(test)]
    pub fn templates(&self) -> &[Expert] {
        &self.templates
    }
}

impl Objective<'_> {
    /// A start at the given directions and experts.
    pub fn start(&self, from: Vec<Candidate>, tolerance: f64) -> Start {
        let mut point = Vec::new();
        for Candidate { direction, expert } in &from {
            let norm = dot(direction, direction).sqrt();
            point.extend(direction.iter().map(|w| w / norm));
            if self.norm_is_free(expert) {
                point.push(norm.ln());
            }
            point.extend(expert.coordinates());
        }
        let templates: Vec<Expert> = from.into_iter().map(|c| c.expert).collect();
        let spheres = self.slots(&templates).into_iter().map(|s| s.direction).collect();
        let descent = Descent::new(point, spheres, tolerance, self.engine().rounding());
        Start { descent, templates }
    }

    /// The same; it ends, too, where no more than `worthless` is left to gain.
    pub fn start_content(&self, from: Candidate, tolerance: f64, worthless: f64) -> Start {
        let start = self.start(vec![from], tolerance);
        Start { descent: start.descent.content_with(worthless), ..start }
    }

    /// Directions and experts at a start's current point.
    pub fn answer(&self, start: &Start) -> Vec<Candidate> {
        self.candidates(&start.templates, start.descent.point())
    }

    /// Walks all starts in lock-step for at most `iterations` steps each, or until they end.
    /// `watch` sees the best value after every pass and may stop the walk.
    pub fn walk(
        &self,
        starts: &mut [Start],
        iterations: usize,
        watch: &mut dyn FnMut(f64) -> bool,
    ) -> Step<()> {
        let limits: Vec<usize> = starts.iter().map(|s| s.iterations() + iterations).collect();
        loop {
            let mut active: Vec<&mut Start> = starts
                .iter_mut()
                .zip(&limits)
                .filter(|(s, limit)| s.descent.ending().is_none() && s.iterations() < **limit)
                .map(|(s, _)| s)
                .collect();
            if active.is_empty() {
                return Ok(());
            }
            let asked: Vec<Vec<Candidate>> =
                active.iter().map(|s| self.candidates(&s.templates, s.descent.ask())).collect();
            let found = self.evaluate(&asked)?;
            for (start, (candidates, evaluation)) in active.iter_mut().zip(asked.iter().zip(found))
            {
                let curvature = self.curvature(&start.templates, candidates, &evaluation);
                start.descent.tell(evaluation.value, evaluation.gradient, curvature);
            }
            let best = starts.iter().map(Start::value).fold(f64::INFINITY, f64::min);
            if !watch(best) {
                return Err(Halt::Interrupted);
            }
        }
    }
}

/// What a start of one free expert ended at.
pub fn found(objective: &Objective, start: &Start) -> Learned {
    let mut candidate = objective.answer(start).swap_remove(0);
    if objective.geometry() == Geometry::Orthonormal {
        // Remove the part along the frozen directions that rounding let in (19).
        candidate.direction =
            objective.outside(candidate.direction.clone()).unwrap_or(candidate.direction);
    }
    let gain = -(start.value() - candidate.expert.penalty());
    learned(candidate, gain, start)
}

/// The same after few steps on all rows, which end where they would otherwise only begin to converge.
pub fn decided(objective: &Objective, start: &Start) -> Learned {
    Learned { converged: true, ..found(objective, start) }
}

/// The current point of a start that came second. The penalty is subtracted from its gain.
pub fn spare(objective: &Objective, start: &Start) -> Learned {
    learned(objective.answer(start).swap_remove(0), -start.value(), start)
}

fn learned(candidate: Candidate, gain: f64, start: &Start) -> Learned {
    let (iterations, converged) = (start.iterations(), start.converged());
    Learned { candidate, gain, p_value: None, iterations, converged }
}
