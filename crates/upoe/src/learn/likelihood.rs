//! Mean ln p of an engine's rows under a model, from sums alone.

use super::problem::remove;
use crate::engine::{Candidate, Engine};
use crate::expert::{Expert, Marginal};
use crate::model::{LN_TAU, dot};

/// ⟨ln p⟩ in sphered space (5) under the Gaussian alone.
pub fn gaussian(engine: &dyn Engine) -> f64 {
    after(0.0, -0.5 * (engine.mean_square() + engine.dims() as f64 * LN_TAU))
}

/// ⟨ln p⟩ after a change; −∞ where held-out rows are so far away that squares overflow.
pub fn after(mean: f64, change: f64) -> f64 {
    let mean = mean + change;
    if mean.is_nan() { f64::NEG_INFINITY } else { mean }
}

/// What each new expert adds to ⟨ln p⟩ beside the frozen ones and the new ones before it, all
/// of which stay as they are: its own ln T in place of the Gaussian along the part of its
/// direction outside theirs, and that part's length.
pub fn changes(engine: &dyn Engine, frozen: &[Vec<f64>], new: &[Candidate]) -> Vec<f64> {
    let mut span = super::problem::orthonormal(frozen);
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
        let twin = |w: Vec<f64>| Candidate { direction: w, expert: Expert::gaussian() };
        asked.extend(span.drain(frozen.len()..).map(twin));
    }
    let sums = engine.sums(&asked);
    let loss = |i: usize| asked[i].expert.loss(&sums[i].statistics, engine.weight());
    let gaussian = |i: usize| if i < asked.len() { loss(i) } else { 0.5 * (1.0 + LN_TAU) };
    let change = |(i, l): (usize, &f64)| gaussian(new.len() + i) - loss(i) + l.ln();
    lengths.iter().enumerate().map(change).collect()
}
