//! Adding experts one at a time, by pursuit or sequentially, until a rule says stop.

use super::choices::{Learner, ParallelStart, Recipe};
use super::lockstep::{Start, found};
use super::objective::{Geometry, Objective};
use super::outcome::{Learned, State, StopReason};
use super::ranking::choose;
use super::search::search;
use super::session::{Halt, Session, Step};
use super::stop::{Verdict, judge};
use super::{columns, paper_recipe, parallel, path};
use crate::engine::Candidate;

/// Descents from experts of other draws end at this slope: draws move the answer by more.
const AGAIN: f64 = 1e-4;

/// Adds experts to those learned already; returns why it stopped.
pub fn learn(session: &mut Session, state: &mut State) -> Step<StopReason> {
    let settings = session.settings;
    let dims = session.train.dims();
    let grows = settings.learner == Learner::Parallel { start: ParallelStart::Grow };
    loop {
        let j = state.experts.len();
        if settings.experts.is_some_and(|most| j >= most) {
            return Ok(StopReason::Experts);
        }
        if j >= dims {
            return Ok(StopReason::Dimensions);
        }
        let fresh = state.reserve.is_empty();
        let best = next(session, state)?;
        if !session.found(&best) {
            return Err(Halt::Interrupted);
        }
        let learned = match judge(session, state, &best)? {
            Verdict::Keep { p_value } => {
                let found = Learned { p_value, ..best[0].clone() };
                columns::instead(session, state, found)?
            }
            Verdict::Stop(reason) if fresh => match columns::best(session, state)? {
                Some(column) => column,
                None => return Ok(reason),
            },
            // The reserve candidates failed; search once more with fresh starts.
            Verdict::Stop(_) => {
                state.reserve.clear();
                continue;
            }
        };
        state.experts.push(learned);
        if grows {
            let refined = parallel::refine(session, state);
            state.path.extend(path::path(session, state)?.pop());
            // Along the path of models that were learned together.
            state.experts[j].gain = state.path[j + 1].train - state.path[j].train;
            refined?;
        } else {
            path::extend(session, state)?;
        }
        if !session.learned(state) {
            return Err(Halt::Interrupted);
        }
    }
}

/// Learns experts again that other draws of the rows had, each by one descent. Those that gain nothing any
/// more are left out.
pub fn again(session: &mut Session, state: &mut State) -> Step<StopReason> {
    for known in session.known {
        let frozen = state.directions();
        let objective = Objective::new(session.train, &frozen, Geometry::Orthonormal);
        let Some(direction) = objective.outside(known.direction().to_vec()) else { continue };
        let from = Candidate::new(direction, known.expert().clone());
        let mut starts = vec![objective.start(vec![from], session.settings.tol.max(AGAIN))];
        let (most, j) = (session.settings.max_iter, frozen.len());
        objective.walk(&mut starts, most, &mut |q| session.pass(state, j, q))?;
        let found = Learned { p_value: known.p_value, ..found(&objective, &starts[0]) };
        if found.gain > 0.0 {
            state.experts.push(found);
            path::extend(session, state)?;
            if !session.learned(state) {
                return Err(Halt::Interrupted);
            }
        }
    }
    Ok(StopReason::Experts)
}

/// The next expert, by the chosen learner, and after it the best of each other family.
fn next(session: &mut Session, state: &mut State) -> Step<Vec<Learned>> {
    let settings = session.settings;
    let frozen = state.directions();
    let pursues = matches!(
        settings.learner,
        Learner::Pursuit | Learner::Parallel { start: ParallelStart::Pursuit }
    );
    if settings.recipe == Recipe::Paper {
        let geometry = if pursues { Geometry::Orthonormal } else { Geometry::Oblique };
        return paper_recipe::next(session, state, &frozen, geometry);
    }
    let mut reserve = std::mem::take(&mut state.reserve);
    let families = search(session, state, &frozen, &mut reserve);
    state.reserve = reserve;
    let (families, train, j) = (families?, session.train, frozen.len());
    if pursues || frozen.is_empty() {
        return choose(families, train.weight());
    }
    // Sequential: start at the orthogonal answers and free the direction. The loss can only fall.
    let objective = Objective::new(train, &frozen, Geometry::Oblique);
    let mut freed = Vec::new();
    for family in families {
        let from = |f: Learned| objective.start(vec![f.candidate], settings.tol);
        let mut starts: Vec<Start> = family.into_iter().map(from).collect();
        objective.walk(&mut starts, settings.max_iter, &mut |q| session.pass(state, j, q))?;
        starts.sort_by(|a, b| a.value().total_cmp(&b.value()));
        freed.push(starts.iter().map(|s| found(&objective, s)).collect());
    }
    choose(freed, train.weight())
}
