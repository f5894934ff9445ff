//! The paper's own recipe: gradient steps on batches of 100 rows with an adaptive step size,
//! Gram–Schmidt after each.

use super::objective::{Geometry, Objective};
use super::outcome::{Learned, State};
use super::ranking::choose;
use super::session::{Halt, Session, Step};
use crate::engine::Candidate;
use crate::error::Result;
use crate::expert::Learnable;
use crate::linalg::dot;
use crate::random::{self, Use};
use rand::RngExt;
use rand_distr::StandardNormal;

/// Rows per batch.
const BATCH: usize = 100;
/// Most steps between two evaluations over all rows.
const EPOCH: usize = 1000;

/// One new expert, and after it the best of each other family.
pub fn next(
    session: &mut Session,
    state: &State,
    frozen: &[Vec<f64>],
    geometry: Geometry,
) -> Step<Vec<Learned>> {
    let (engine, settings) = (session.train, session.settings);
    let (d, j) = (engine.dims(), frozen.len());
    let full = Objective::new(engine, frozen, geometry);
    let mut rng = random::stream(settings.seed, Use::Starts, j as u64);
    let mut families = Vec::new();
    for family in settings.families.iter() {
        for template in settings.templates(family, engine.weight())? {
            let mut found = Vec::new();
            // The paper takes one random start.
            for _ in 0..settings.starts.unwrap_or(1) {
                let direction = loop {
                    let w = (0..d).map(|_| rng.sample(StandardNormal)).collect();
                    if let Some(w) = full.outside(w) {
                        break w;
                    }
                };
                let start = Candidate::new(direction, template.clone());
                found.push(descend(session, state, &full, frozen, start)?);
            }
            found.sort_by(|a, b| b.gain.total_cmp(&a.gain));
            families.push(found);
        }
    }
    choose(families, engine.weight())
}

/// Gradient descent. The step grows after an epoch that lowers Q over all rows and shrinks,
/// with the epoch undone, after one that does not.
fn descend(
    session: &mut Session,
    state: &State,
    full: &Objective,
    frozen: &[Vec<f64>],
    start: Candidate,
) -> Step<Learned> {
    let (engine, settings) = (session.train, session.settings);
    let j = frozen.len();
    let epoch = (engine.rows() / BATCH).clamp(1, EPOCH);
    let (mut rate, mut at) = (0.1, start);
    let (mut value, _) = full.value_and_gradient(&at)?;
    let (mut epochs, mut quiet) = (0, 0);
    let mut batches = 0_u64;
    while epochs < settings.max_iter && rate > 1e-5 && quiet < 3 {
        let mut next = at.clone();
        for _ in 0..epoch {
            batches += 1;
            let seed = settings.seed ^ (j as u64) << 40 ^ batches << 8;
            match engine.subset(seed, BATCH)? {
                Some(batch) => {
                    let objective = Objective::new(&*batch, frozen, full.geometry());
                    gradient_step(&objective, &mut next, rate)?;
                }
                None => gradient_step(full, &mut next, rate)?,
            }
        }
        epochs += 1;
        let (after, _) = full.value_and_gradient(&next)?;
        if after < value {
            quiet = if value - after < 0.1 * settings.tol { quiet + 1 } else { 0 };
            (at, value, rate) = (next, after, (1.2 * rate).min(1.0));
        } else {
            rate *= 0.5;
        }
        if !session.pass(state, j, value) {
            return Err(Halt::Interrupted);
        }
    }
    let gain = -(value - at.expert.penalty());
    let converged = epochs < settings.max_iter;
    Ok(Learned { candidate: at, gain, p_value: None, iterations: epochs, converged })
}

/// One step (18), (20), then Gram–Schmidt (19).
fn gradient_step(objective: &Objective, at: &mut Candidate, rate: f64) -> Result<()> {
    let (_, gradient) = objective.value_and_gradient(at)?;
    let d = at.direction.len();
    let norm = dot(&at.direction, &at.direction).sqrt();
    let mut w: Vec<f64> =
        at.direction.iter().zip(&gradient).map(|(w, g)| w - norm * rate * g).collect();
    let rest = &gradient[d..];
    let coordinates = at.expert.coordinates();
    let free_norm = rest.len() - coordinates.len();
    let moved: Vec<f64> =
        coordinates.iter().zip(&rest[free_norm..]).map(|(a, g)| a - rate * g).collect();
    if objective.geometry() == Geometry::Orthonormal {
        w = objective.outside(w).unwrap_or_else(|| at.direction.clone());
    } else {
        let length = norm * if free_norm == 1 { (-rate * rest[0]).exp() } else { 1.0 };
        let now = dot(&w, &w).sqrt();
        w.iter_mut().for_each(|w| *w *= length / now);
    }
    *at = Candidate::new(w, at.expert.at(&moved));
    Ok(())
}
