//! Adding experts one at a time, by pursuit or sequentially, until a rule says stop.

use super::fit::Context;
use super::outcome::{Learned, State, StopReason};
use super::problem::{Geometry, Problem, Start};
use super::search::{Found, choose, found, pairs, search};
use super::settings::{Learner, ParallelStart, Recipe};
use super::{joint, paper, stop};
use crate::engine::Candidate;
use crate::error::Result;

/// Adds experts to what is learned already; says why it stopped.
pub fn grow(context: &mut Context, state: &mut State) -> Result<StopReason> {
    let settings = context.settings;
    let dims = context.train.dims();
    let grows =
        settings.learner == Learner::Parallel && settings.parallel_start == ParallelStart::Grow;
    loop {
        let j = state.experts.len();
        if settings.experts.is_some_and(|most| j >= most) {
            return Ok(StopReason::Experts);
        }
        if j >= dims {
            return Ok(StopReason::Dimensions);
        }
        let fresh = state.reserve.is_empty();
        let Some(found) = step(context, state)? else { return Ok(StopReason::Interrupted) };
        let p_value = match stop::judge(context, state, &found)? {
            Ok(p_value) => p_value,
            Err(reason) if fresh => return Ok(reason),
            // A last look round: what was in reserve does not do, what else there is may.
            Err(_) => {
                state.reserve.clear();
                continue;
            }
        };
        state.experts.push(Learned {
            direction: found.candidate.direction,
            expert: found.candidate.expert,
            q: found.q,
            p_value,
            iterations: found.iterations,
            converged: found.converged,
        });
        let mut goes_on = true;
        if grows {
            goes_on = joint::refine(context, state)?;
            state.path.extend(context.path(state).pop());
            // Along the path of models that were learned jointly.
            state.experts[j].q = state.path[j].train - state.path[j + 1].train;
        } else {
            context.join_path(state);
        }
        if !goes_on || !context.learned(state) {
            return Ok(StopReason::Interrupted);
        }
    }
}

/// The next expert of the learner in force; `None` when the observer stopped it.
fn step(context: &mut Context, state: &mut State) -> Result<Option<Found>> {
    let settings = context.settings;
    let frozen: Vec<Vec<f64>> = state.experts.iter().map(|e| e.direction.clone()).collect();
    let pursues = settings.learner == Learner::Pursuit
        || settings.learner == Learner::Parallel
            && settings.parallel_start == ParallelStart::Pursuit;
    let train = context.train;
    if settings.recipe == Recipe::Paper {
        let geometry = if pursues { Geometry::Orthonormal } else { Geometry::Oblique };
        return paper::step(context, state, &frozen, geometry);
    }
    let j = frozen.len();
    let mut reserve = std::mem::take(&mut state.reserve);
    let sample = context.sample.take();
    let families = search(train, sample.as_deref(), &frozen, settings, &mut reserve, &mut |q| {
        context.pass(state, j, q)
    })?;
    (context.sample, state.reserve) = (sample, reserve);
    let Some(families) = families else { return Ok(None) };
    if pursues || frozen.is_empty() {
        return Ok(choose(families, train.weight()));
    }
    // Sequential: from the orthogonal answers on, with the direction free. It can only fall.
    let problem = Problem::new(train, &frozen, Geometry::Oblique);
    let mut freed = Vec::new();
    for family in families {
        let from = |f: Found| problem.start(pairs(vec![f.candidate]), settings.tol);
        let mut starts: Vec<Start> = family.into_iter().map(from).collect();
        if !problem.walk(&mut starts, settings.max_iter, &mut |q| context.pass(state, j, q)) {
            return Ok(None);
        }
        starts.sort_by(|a, b| a.value().total_cmp(&b.value()));
        freed.push(starts.iter().map(|s| found(&problem, s)).collect());
    }
    Ok(choose(freed, train.weight()))
}

/// All learned experts as candidates.
pub fn candidates(state: &State) -> Vec<Candidate> {
    let of = |e: &Learned| Candidate { direction: e.direction.clone(), expert: e.expert.clone() };
    state.experts.iter().map(of).collect()
}
