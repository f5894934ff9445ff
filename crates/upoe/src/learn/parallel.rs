//! Parallel learning: all directions and experts together, by (6) and (7).

use super::choices::ParallelStart;
use super::lockstep::Start;
use super::objective::{Geometry, Objective};
use super::outcome::{Learned, State, StopReason};
use super::profile::refitted;
use super::session::{Session, Step};
use super::{path, sequence};
use crate::engine::{Candidate, Engine};
use crate::error::Result;
use crate::expert::{Expert, Family, Learnable};
use crate::linalg::{orthonormal, unit};
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
    let (train, tolerance) = (session.train, session.settings.tol);
    refine_on(session, state, train, tolerance)
}

/// Learns all experts of a state together from the rows of an engine, to a tolerance.
fn refine_on(
    session: &mut Session,
    state: &mut State,
    rows: &dyn Engine,
    tolerance: f64,
) -> Step<()> {
    if state.experts.is_empty() {
        return Ok(());
    }
    let settings = session.settings;
    let objective = Objective::new(rows, &[], Geometry::Oblique);
    let mut starts = [objective.start(state.candidates(), tolerance)];
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
/// the family that suits it. Where all dimensions have experts, the first steps are taken on
/// samples of many rows, each three times as large as the one before. (Elsewhere the Gaussian rest
/// needs ⟨xxᵀ⟩ = I.) Mixtures of more than two components begin with two.
fn from_random(session: &mut Session, state: &mut State) -> Step<StopReason> {
    let (train, settings, dims) = (session.train, session.settings, session.train.dims());
    let j = settings.experts.unwrap_or(dims).min(dims);
    let sample = session.sample.filter(|_| j == dims);
    let rough = settings.tol.max(1e-2);
    match sample {
        Some(sample) => race(session, state, sample, rough, j)?,
        None => race(session, state, train, settings.tol, j)?,
    }
    let mut size = sample.map_or(train.rows(), |s| 3 * s.rows());
    let mut larger = None;
    while 2 * size < train.rows() {
        larger = train.subset(settings.seed, size)?;
        let Some(larger) = larger.as_deref() else { break };
        refine_on(session, state, larger, rough)?;
        size *= 3;
    }
    let rows = larger.as_deref().or(sample).unwrap_or(train);
    if settings.mixture_size > 2 {
        for expert in state.experts.iter_mut().map(|e| &mut e.candidate.expert) {
            if let Expert::Mixture(mixture) = expert {
                *mixture = mixture.clone().divided(settings.mixture_size);
            }
        }
        if sample.is_some() {
            refine_on(session, state, rows, rough)?;
        }
    }
    if settings.families.only().is_none() {
        suit(session, state, rows)?;
    }
    refine(session, state)?;
    Ok(if j == dims { StopReason::Dimensions } else { StopReason::Experts })
}

/// Learns `j` experts of one family together from several random starts, of which half continue
/// after each round. Where mixtures are allowed, it is they: unlike a Student-t, a mixture
/// can have heavy tails, light tails or two peaks, so it finds sources of any shape. With three
/// components it could also fit the sum of two sources of two peaks, and stay there. When the
/// observer stops it, the state holds what was reached.
fn race(
    session: &mut Session,
    state: &mut State,
    rows: &dyn Engine,
    tolerance: f64,
    j: usize,
) -> Step<()> {
    let (settings, dims) = (session.settings, rows.dims());
    let families = || settings.families.iter();
    let family = families().find(|f| *f == Family::Mixture).or_else(|| families().next());
    let fixed = settings.fix_mu.as_ref().is_some_and(|mu| mu.len() == settings.mixture_size);
    let most = if fixed { settings.mixture_size } else { 2 };
    let simple = settings.clone().with(|s| s.mixture_size = s.mixture_size.min(most));
    let templates = family.map(|f| simple.templates(f, rows.weight())).transpose()?;
    let template = templates.and_then(|t| t.into_iter().next()).unwrap_or_else(Expert::gaussian);
    let objective = Objective::new(rows, &[], Geometry::Oblique);
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
    let reached = objective.answer(&starts[0]).into_iter();
    state.experts = reached.map(|c| Learned::new(c, 0.0)).collect();
    walked
}

/// Gives every direction the family that promises the highest ln p of other rows: the gain of its
/// fit to the projections, less one nat per parameter over all rows (Akaike). All directions stay,
/// so the stricter price of a new expert does not apply.
fn suit(session: &Session, state: &mut State, rows: &dyn Engine) -> Step<()> {
    let (settings, weight) = (session.settings, rows.weight());
    let directions = state.experts.iter().map(|e| unit(e.direction())).collect();
    let objective = Objective::new(rows, &[], Geometry::Orthonormal);
    for (learned, profile) in state.experts.iter_mut().zip(objective.profiles_of_all(directions)?) {
        let mut tried = vec![learned.candidate.clone()];
        for family in settings.families.iter() {
            tried.extend(profile.best(settings, family, weight)?.map(|f| f.candidate));
        }
        let net = |f: &Learned| f.gain - f.expert().free_parameters() / weight;
        let tried = refitted(rows, tried, 1)?.into_iter();
        if let Some(best) = tried.max_by(|a, b| net(a).total_cmp(&net(b))) {
            learned.candidate = best.candidate;
        }
    }
    Ok(())
}
