//! Parallel learning: all directions and experts together, by (6) and (7).

use super::fit::Context;
use super::grow::candidates;
use super::outcome::{Learned, State, StopReason};
use super::problem::{Geometry, Problem, Start};
use super::search::{pairs, price};
use crate::engine::{Candidate, Engine};
use crate::error::Result;
use crate::expert::{Expert, Marginal};
use crate::random::{self, Use};
use rand::RngExt;
use rand_distr::StandardNormal;

/// Learns all experts of a state together, from where they stand; false when the observer
/// stopped it (the state then holds what was reached).
pub fn refine(context: &mut Context, state: &mut State) -> Result<bool> {
    if state.experts.is_empty() {
        return Ok(true);
    }
    let settings = context.settings;
    let problem = Problem::new(context.train, &[], Geometry::Oblique);
    let mut starts = vec![problem.start(pairs(candidates(state)), settings.tol)];
    let j = state.experts.len() - 1;
    let goes_on =
        problem.walk(&mut starts, settings.max_iter, &mut |value| context.pass(state, j, value));
    store(&problem, &starts[0], state);
    Ok(goes_on)
}

/// Writes where a start stands into the state.
fn store(problem: &Problem, start: &Start, state: &mut State) {
    for (learned, c) in state.experts.iter_mut().zip(problem.answer(start)) {
        learned.direction = c.direction;
        learned.expert = c.expert;
        learned.iterations += start.iterations();
        learned.converged = start.converged();
    }
}

/// Starts from random orthonormal directions, keeps the best of several, and gives every
/// direction the family that suits it.
pub fn from_random(context: &mut Context, state: &mut State) -> Result<StopReason> {
    let settings = context.settings;
    let dims = context.train.dims();
    let j = settings.experts.unwrap_or(dims).min(dims);
    let first = settings.families()[0];
    let template = settings.templates(first, context.train.weight())?.swap_remove(0);
    // Where all dimensions have experts, a sample of many rows will do for the way there.
    // (Elsewhere the Gaussian rest needs ⟨xxᵀ⟩ = I.)
    let sample = if j == dims { context.sample.take() } else { None };
    let tolerance = if sample.is_some() { settings.tol.max(1e-2) } else { settings.tol };
    let mut problem =
        Problem::new(sample.as_deref().unwrap_or(context.train), &[], Geometry::Oblique);
    let mut starts: Vec<Start> = (0..settings.starts.unwrap_or(8))
        .map(|k| {
            let mut rng = random::stream(settings.seed, Use::Starts, k as u64);
            let random: Vec<Vec<f64>> =
                (0..j).map(|_| (0..dims).map(|_| rng.sample(StandardNormal)).collect()).collect();
            let directions = super::problem::orthonormal(&random);
            problem
                .start(directions.into_iter().map(|w| (w, template.clone())).collect(), tolerance)
        })
        .collect();
    let train = context.train;
    let mut watch = |value| context.pass(&State::default(), 0, value);
    let mut goes_on = true;
    // Half of the starts go on after each round.
    while goes_on && starts.len() > 1 {
        goes_on = problem.walk(&mut starts, 10, &mut watch);
        starts.sort_by(|a, b| a.value().total_cmp(&b.value()));
        starts.truncate(starts.len().div_ceil(2));
    }
    goes_on = goes_on && problem.walk(&mut starts, settings.max_iter, &mut watch);
    if sample.is_some() {
        let reached = pairs(problem.answer(&starts[0]));
        problem = Problem::new(train, &[], Geometry::Oblique);
        starts = vec![problem.start(reached, settings.tol)];
        goes_on = goes_on && problem.walk(&mut starts, settings.max_iter, &mut watch);
    }
    let answer = problem.answer(&starts[0]);
    state.experts = if goes_on && settings.families().len() > 1 {
        suit(context, answer)?
    } else {
        answer.into_iter().map(learned).collect()
    };
    goes_on = goes_on && refine(context, state)?;
    Ok(if !goes_on {
        StopReason::Interrupted
    } else if j == dims {
        StopReason::Dimensions
    } else {
        StopReason::Experts
    })
}

/// An expert that has not joined a path yet.
fn learned(c: Candidate) -> Learned {
    Learned {
        direction: c.direction,
        expert: c.expert,
        q: 0.0,
        p_value: None,
        iterations: 0,
        converged: true,
    }
}

/// Gives every direction the family with the best penalised fit to its projections.
fn suit(context: &Context, answer: Vec<Candidate>) -> Result<Vec<Learned>> {
    let (engine, settings) = (context.train, context.settings);
    let mut tried: Vec<Vec<Candidate>> = answer.iter().map(|c| vec![c.clone()]).collect();
    for family in settings.families().into_iter().skip(1) {
        for template in settings.templates(family, engine.weight())? {
            let fitted = fit_marginals(engine, &answer, &template);
            tried.iter_mut().zip(fitted).for_each(|(tried, c)| tried.push(c));
        }
    }
    let weight = engine.weight();
    let flat: Vec<Candidate> = tried.concat();
    let mut sums = engine.sums(&flat).into_iter();
    let costs = flat.iter().zip(&mut sums).map(|(c, s)| {
        c.expert.loss(&s.statistics, weight) + price(c.expert.degrees_of_freedom(), weight)
    });
    let costs: Vec<f64> = costs.collect();
    let each = tried.first().map_or(1, Vec::len);
    let best = tried.into_iter().zip(costs.chunks(each)).filter_map(|(tried, costs)| {
        tried.into_iter().zip(costs).min_by(|(_, a), (_, b)| a.total_cmp(b)).map(|(c, _)| c)
    });
    Ok(best.map(learned).collect())
}

/// Fits an expert to the projections on each direction by the family's own update: EM with
/// IRLS (32)–(38), or Newton.
pub fn fit_marginals(
    engine: &dyn Engine,
    directions: &[Candidate],
    template: &Expert,
) -> Vec<Candidate> {
    let mut fitted: Vec<Candidate> = directions
        .iter()
        .map(|c| Candidate { direction: c.direction.clone(), expert: template.clone() })
        .collect();
    for _ in 0..60 {
        let sums = engine.sums(&fitted);
        for (c, s) in fitted.iter_mut().zip(sums) {
            c.expert = c.expert.update(&s.statistics, engine.weight());
        }
    }
    fitted
}
