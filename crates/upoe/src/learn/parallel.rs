//! Parallel learning: all directions and experts together, by (6) and (7).

use super::choices::ParallelStart;
use super::lockstep::Start;
use super::objective::{Geometry, Objective};
use super::outcome::{Learned, State, StopReason};
use super::session::{Session, Step};
use super::{path, sequence};
use crate::engine::{Candidate, Engine, ask};
use crate::error::Result;
use crate::evaluate::bic_price;
use crate::expert::{Expert, Learnable};
use crate::linalg::orthonormal;
use crate::random::{self, Use};
use rand::RngExt;
use rand_distr::StandardNormal;

/// Learns all experts together, from the chosen start; returns why no further one was added.
pub fn learn(session: &mut Session, state: &mut State, start: ParallelStart) -> Step<StopReason> {
    match start {
        ParallelStart::Random => {
            let reason = from_random(session, state);
            renumber(session, state)?;
            session.learned(state);
            reason
        }
        ParallelStart::Grow => sequence::learn(session, state),
        ParallelStart::Sequential | ParallelStart::Pursuit => {
            let reason = sequence::learn(session, state)?;
            let refined = refine(session, state);
            renumber(session, state)?;
            refined.map(|()| reason)
        }
    }
}

/// The path of the experts as they are now, and each expert's gain along it.
fn renumber(session: &Session, state: &mut State) -> Result<()> {
    state.path = path::path(session, state)?;
    for (j, learned) in state.experts.iter_mut().enumerate() {
        learned.gain = state.path[j + 1].train - state.path[j].train;
    }
    Ok(())
}

/// Learns all experts of a state together, from their current values. When the observer stops it, the
/// state holds what was reached.
pub fn refine(session: &mut Session, state: &mut State) -> Step<()> {
    if state.experts.is_empty() {
        return Ok(());
    }
    let settings = session.settings;
    let objective = Objective::new(session.train, &[], Geometry::Oblique);
    let mut starts = [objective.start(state.candidates(), settings.tol)];
    let j = state.experts.len() - 1;
    let walked =
        objective.walk(&mut starts, settings.max_iter, &mut |value| session.pass(state, j, value));
    let [start] = starts;
    for (learned, candidate) in state.experts.iter_mut().zip(objective.answer(&start)) {
        learned.candidate = candidate;
        learned.iterations += start.iterations();
        learned.converged = start.converged();
    }
    walked
}

/// Starts from random orthonormal directions, keeps the best of several, and gives every direction
/// the family that suits it.
fn from_random(session: &mut Session, state: &mut State) -> Step<StopReason> {
    let settings = session.settings;
    let dims = session.train.dims();
    let j = settings.experts.unwrap_or(dims).min(dims);
    race(session, state, j)?;
    if settings.families.only().is_none() {
        state.experts = suit(session, state.candidates())?;
    }
    refine(session, state)?;
    Ok(if j == dims { StopReason::Dimensions } else { StopReason::Experts })
}

/// Learns `j` experts of the first family together from several random starts, of which half continue
/// after each round. When the observer stops it, the state holds what was reached.
fn race(session: &mut Session, state: &mut State, j: usize) -> Step<()> {
    let (train, settings, dims) = (session.train, session.settings, session.train.dims());
    let first = settings.families.iter().next();
    let templates = first.map(|family| settings.templates(family, train.weight())).transpose()?;
    let template = templates.and_then(|t| t.into_iter().next()).unwrap_or_else(Expert::gaussian);
    // Where all dimensions have experts, the race over many rows is run on a sample of them.
    // (Elsewhere the Gaussian rest needs ⟨xxᵀ⟩ = I.)
    let sample = session.sample.filter(|_| j == dims);
    let tolerance = if sample.is_some() { settings.tol.max(1e-2) } else { settings.tol };
    let mut objective = Objective::new(sample.unwrap_or(train), &[], Geometry::Oblique);
    let random_start = |k: usize| {
        let mut rng = random::stream(settings.seed, Use::Starts, k as u64);
        let random: Vec<Vec<f64>> =
            (0..j).map(|_| (0..dims).map(|_| rng.sample(StandardNormal)).collect()).collect();
        let directions = orthonormal(&random).into_iter();
        let from = directions.map(|w| Candidate::new(w, template.clone())).collect();
        objective.start(from, tolerance)
    };
    let mut starts: Vec<Start> = (0..settings.starts.unwrap_or(8)).map(random_start).collect();
    let mut watch = |value| session.pass(&State::default(), 0, value);
    let mut walked = Ok(());
    while walked.is_ok() && starts.len() > 1 {
        walked = objective.walk(&mut starts, 10, &mut watch);
        starts.sort_by(|a, b| a.value().total_cmp(&b.value()));
        starts.truncate(starts.len().div_ceil(2));
    }
    if walked.is_ok() {
        walked = objective.walk(&mut starts, settings.max_iter, &mut watch);
    }
    if sample.is_some() {
        let reached = objective.answer(&starts[0]);
        objective = Objective::new(train, &[], Geometry::Oblique);
        starts = vec![objective.start(reached, settings.tol)];
        if walked.is_ok() {
            walked = objective.walk(&mut starts, settings.max_iter, &mut watch);
        }
    }
    state.experts = objective.answer(&starts[0]).into_iter().map(unjoined).collect();
    walked
}

/// An expert that has not joined a path yet.
fn unjoined(candidate: Candidate) -> Learned {
    Learned::new(candidate, 0.0)
}

/// Gives every direction the family with the best penalised fit to its projections.
fn suit(session: &Session, answer: Vec<Candidate>) -> Result<Vec<Learned>> {
    let (engine, settings) = (session.train, session.settings);
    let weight = engine.weight();
    let mut tried: Vec<Vec<Candidate>> = answer.iter().map(|c| vec![c.clone()]).collect();
    for family in settings.families.iter().skip(1) {
        for template in settings.templates(family, weight)? {
            let fitted = fit_marginals(engine, &answer, &template)?;
            tried.iter_mut().zip(fitted).for_each(|(tried, c)| tried.push(c));
        }
    }
    let flat: Vec<Candidate> = tried.concat();
    let sums = ask(engine, &flat)?;
    let costs = flat.iter().zip(&sums).map(|(c, s)| {
        c.expert.loss(&s.statistics, weight) + bic_price(c.expert.free_parameters(), weight)
    });
    let costs: Vec<f64> = costs.collect();
    let each = tried.first().map_or(1, Vec::len);
    let best = tried.into_iter().zip(costs.chunks(each)).filter_map(|(tried, costs)| {
        tried.into_iter().zip(costs).min_by(|(_, a), (_, b)| a.total_cmp(b)).map(|(c, _)| c)
    });
    Ok(best.map(unjoined).collect())
}

/// Fits an expert to the projections on each direction by the family's own update: EM with
/// IRLS (32)–(38), or Newton.
fn fit_marginals(
    engine: &dyn Engine,
    directions: &[Candidate],
    template: &Expert,
) -> Result<Vec<Candidate>> {
    let templated = |c: &Candidate| Candidate::new(c.direction.clone(), template.clone());
    let mut fitted: Vec<Candidate> = directions.iter().map(templated).collect();
    for _ in 0..60 {
        let sums = ask(engine, &fitted)?;
        for (c, s) in fitted.iter_mut().zip(sums) {
            c.expert = c.expert.update(&s.statistics, engine.weight());
        }
    }
    Ok(fitted)
}
