//! ⟨ln p⟩ of the models on the path, from sums alone.

use super::outcome::{PathPoint, State};
use super::session::Session;
use crate::engine::{Candidate, Engine, ask};
use crate::error::Result;
use crate::expert::{Expert, Learnable};
use crate::linalg::{LN_TAU, dot, orthonormal, remove};

/// The path to the current model: with no expert, with the first, and so on.
pub fn path(session: &Session, state: &State) -> Result<Vec<PathPoint>> {
    let experts = state.candidates();
    let along = |engine: &dyn Engine| -> Result<Vec<f64>> {
        let mut values = vec![gaussian(engine)?];
        for change in changes(engine, &[], &experts)? {
            values.push(after(values[values.len() - 1], change));
        }
        Ok(values)
    };
    let holdout = session.holdout.map(along).transpose()?;
    let point = |(j, train)| PathPoint { train, holdout: holdout.as_ref().map(|h| h[j]) };
    Ok(along(session.train)?.into_iter().enumerate().map(point).collect())
}

/// Adds a point to the path: the newest expert has joined, and the others have not changed.
pub fn extend(session: &Session, state: &mut State) -> Result<()> {
    let (Some(new), Some(last)) = (state.experts.last(), state.path.last()) else { return Ok(()) };
    let mut others = state.directions();
    others.pop();
    let gain = |h: &dyn Engine| Ok(changes(h, &others, std::slice::from_ref(&new.candidate))?[0]);
    let holdout = last.holdout.zip(session.holdout);
    let holdout = holdout.map(|(mean, h)| gain(h).map(|change| after(mean, change))).transpose()?;
    let point = PathPoint { train: last.train + new.gain, holdout };
    state.path.push(point);
    Ok(())
}

/// ⟨ln p⟩ in sphered space (5) under the Gaussian alone.
fn gaussian(engine: &dyn Engine) -> Result<f64> {
    Ok(after(0.0, -0.5 * (engine.mean_square()? + engine.dims() as f64 * LN_TAU)))
}

/// ⟨ln p⟩ after a change; −∞ where held-out rows are so far away that squares overflow.
fn after(mean: f64, change: f64) -> f64 {
    let mean = mean + change;
    if mean.is_nan() { f64::NEG_INFINITY } else { mean }
}

/// What each new expert adds to ⟨ln p⟩ beside the frozen ones and the new ones before it, all
/// of which stay as they are: its own ln T in place of the Gaussian along the part of its
/// direction outside theirs, and that part's length.
pub fn changes(engine: &dyn Engine, frozen: &[Vec<f64>], new: &[Candidate]) -> Result<Vec<f64>> {
    let mut span = orthonormal(frozen);
    let mut lengths = Vec::with_capacity(new.len());
    for c in new {
        let mut outside = c.direction.clone();
        remove(&span, &mut outside);
        remove(&span, &mut outside);
        let length = dot(&outside, &outside).sqrt();
        outside.iter_mut().for_each(|w| *w /= length);
        span.push(outside);
        lengths.push(length);
    }
    let mut asked = new.to_vec();
    if !engine.is_white() {
        let twin = |w: Vec<f64>| Candidate::new(w, Expert::gaussian());
        asked.extend(span.drain(frozen.len()..).map(twin));
    }
    let sums = ask(engine, &asked)?;
    let loss = |i: usize| asked[i].expert.loss(&sums[i].statistics, engine.weight());
    let gaussian = |i: usize| if i < asked.len() { loss(i) } else { 0.5 * (1.0 + LN_TAU) };
    let change = |(i, l): (usize, &f64)| gaussian(new.len() + i) - loss(i) + l.ln();
    Ok(lengths.iter().enumerate().map(change).collect())
}
