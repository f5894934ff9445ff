//! Mean ln p of an engine's rows under a model, from sums alone.

use super::problem::{orthonormal, remove};
use crate::engine::{Candidate, Engine};
use crate::error::Result;
use crate::expert::{Expert, Marginal};
use crate::model::{LN_TAU, dot, pseudo_inverse};

/// ⟨ln p⟩ in sphered space (5). On rows other than the training rows their own ⟨xxᵀ⟩ counts.
pub fn mean_ln_p(engine: &dyn Engine, experts: &[Candidate]) -> Result<f64> {
    let (d, j) = (engine.dims(), experts.len());
    let directions: Vec<Vec<f64>> = experts.iter().map(|c| c.direction.clone()).collect();
    let (inverse, half_ln_gram) = pseudo_inverse(&directions, d)?;
    // tr(P⊥⟨xxᵀ⟩) = tr⟨xxᵀ⟩ − tr(W ⟨xxᵀ⟩ W#).
    let off = if engine.is_white() {
        (d - j) as f64
    } else {
        let second = engine.moments().second();
        let total: f64 = (0..d).map(|i| second[(i, i)]).sum();
        let spanned = &second * &inverse;
        let along = |(a, w): (usize, &Vec<f64>)| -> f64 {
            w.iter().enumerate().map(|(i, w)| w * spanned[(i, a)]).sum()
        };
        total - directions.iter().enumerate().map(along).sum::<f64>()
    };
    let loss =
        |(c, s): (&Candidate, &crate::engine::Sums)| c.expert.loss(&s.statistics, engine.weight());
    let losses: f64 = experts.iter().zip(&engine.sums(experts)).map(loss).sum();
    let mean = -losses + half_ln_gram - 0.5 * off - 0.5 * (d - j) as f64 * LN_TAU;
    // Held-out rows may be so far away that squares overflow.
    Ok(if mean.is_nan() { f64::NEG_INFINITY } else { mean })
}

/// What a new expert adds to ⟨ln p⟩ beside others that stay as they are: its own ln T in place
/// of the Gaussian along the part of its direction outside theirs, and that part's length.
pub fn change(engine: &dyn Engine, frozen: &[Vec<f64>], new: &Candidate) -> f64 {
    let mut outside = new.direction.clone();
    remove(&orthonormal(frozen), &mut outside);
    let norm = dot(&outside, &outside).sqrt();
    outside.iter_mut().for_each(|w| *w /= norm);
    let asked = [new.clone(), Candidate { direction: outside, expert: Expert::gaussian() }];
    let sums = engine.sums(&asked);
    let loss = |i: usize| asked[i].expert.loss(&sums[i].statistics, engine.weight());
    loss(1) - loss(0) + norm.ln()
}
