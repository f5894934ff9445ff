//! All directions of a later layer at once: an orthonormal basis, turned until the tilts along it gain most.
//!
//! With experts Eₖ on directions wₖ, W → (1 + Ω)W with a skew Ω changes the loss Σ ⟨Eₖ(wₖx)⟩ by
//! Σ Ωₖₗ (Gₖₗ − Gₗₖ) + ½ Ωₖₗ² (βₖ + βₗ − 2) over pairs, with Gₖₗ = ⟨E′ₖ zₗ⟩ and βₖ = ⟨E″ₖ⟩, if zₖ and zₗ are
//! independent. Directions without an expert have E′ = z and β = 1. L-BFGS with this curvature finds in a few
//! dozen passes what a search for one direction after another finds in thousands. Then each direction goes on
//! alone for a few steps, by falling gain, because the null rule judges the best of all.

use super::lockstep::found;
use super::objective::{Geometry, Objective};
use super::outcome::{Learned, State, StopReason};
use super::session::{Halt, Session, Step};
use super::stop::{LEVEL, gains_of_distinct, tests};
use super::turns::{History, slope, turned};
use super::{null, starts};
use crate::engine::{Candidate, Sums, ask};
use crate::error::Result;
use crate::expert::{Family, Learnable, Tilt};
use crate::linalg::{HALF_LN_TAU, dot, remove, unit};
use rayon::prelude::*;

/// Directions that are drawn to start from, besides columns and striking ones. In few dimensions some lie
/// close to any direction.
const DRAWN: usize = 200;
/// Starts per dimension that are looked at closely.
const PROMISING: usize = 4;
/// A start must have this part outside the better ones.
const LEFT: f64 = 0.7;
/// What a parameter of a start's tilt must add to N times its gain.
const PRICE: f64 = 2.0;
/// Steps together, and then alone, at most.
const STEPS: usize = 20;
const ALONE: usize = 8;
/// How often a step that does not lower the loss is halved.
const HALVINGS: i32 = 4;
/// A step is not worth taking where it gains less than this share of what it would gain on noise: half a nat over all
/// rows for each angle.
const UNSURE: f64 = 0.02;

/// Learns the directions that are significant, by falling gain; returns why there are no more.
pub fn learn(session: &mut Session, state: &mut State) -> Step<StopReason> {
    let (train, tolerance) = (session.train, session.settings.tol);
    let (dims, weight) = (train.dims(), train.weight());
    let objective = Objective::new(train, &[], Geometry::Orthonormal);
    let (basis, with) = basis(session, &objective)?;
    let together = walk(session, &objective, basis, with)?;
    let distinct = gains_of_distinct(session, &together)?;
    let mut together: Vec<(f64, Learned)> = distinct.into_iter().zip(together).collect();
    together.retain(|(gain, _)| gain.is_finite());
    together.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut least = 1.0;
    for (_, learned) in together {
        let (frozen, j) = (state.directions(), state.experts.len());
        let alone = Objective::new(train, &frozen, Geometry::Orthonormal);
        let Some(direction) = alone.outside(learned.direction().to_vec()) else { continue };
        let from = Candidate::new(direction, learned.expert().clone());
        let free = dims - j;
        let worthless = UNSURE * free as f64 / weight;
        let mut starts = [alone.start_content(from, tolerance, worthless)];
        alone.walk(&mut starts, ALONE, &mut |value| session.pass(state, j, value))?;
        let learned = found(&alone, &starts[0]);
        let gain = gains_of_distinct(session, std::slice::from_ref(&learned))?[0];
        let p = null::p_value(learned.expert(), weight, free, gain);
        let p = p * tests(Family::Tilt, &[Family::Tilt], free);
        if !(p <= LEVEL) {
            least = p;
            break;
        }
        state.experts.push(Learned { p_value: Some(p), ..learned });
    }
    Ok(match state.experts.len() == dims {
        true => StopReason::Dimensions,
        false => StopReason::NotSignificant { p: least },
    })
}

/// An orthonormal basis of all dimensions, and how many of its first directions are promising: the best starts
/// come first.
fn basis(session: &Session, objective: &Objective) -> Result<(Vec<Vec<f64>>, usize)> {
    let (dims, weight) = (session.train.dims(), session.train.weight());
    let mut directions = starts::extremes(objective)?;
    directions.extend(session.columns.iter().cloned());
    directions.extend(starts::drawn(objective, session.settings, DRAWN, 0)?);
    let mut basis: Vec<Vec<f64>> = Vec::with_capacity(dims);
    let mut add = |mut w: Vec<f64>, least: f64| {
        remove(&basis, &mut w);
        if basis.len() < dims && dot(&w, &w).sqrt() > least {
            w = unit(&w);
            remove(&basis, &mut w);
            basis.push(unit(&w));
        }
        basis.len()
    };
    let mut with = 0;
    for profile in objective.profiles(directions, PROMISING * dims)? {
        let Candidate { direction, expert } = profile.candidate;
        if (profile.gain + expert.penalty()) * weight > PRICE * expert.free_parameters() {
            with = add(direction, LEFT);
        }
    }
    // While the basis is incomplete, some axis has at least 1/√d outside it.
    let least = 0.5 / (dims as f64).sqrt();
    for axis in 0..dims {
        add((0..dims).map(|i| f64::from(u8::from(i == axis))).collect(), least);
    }
    Ok((basis, with))
}

/// A basis whose first directions have tilts, what a pass says of them, and their loss.
struct Point {
    basis: Vec<Vec<f64>>,
    tilts: Vec<Tilt>,
    sums: Vec<Sums>,
    value: f64,
}

/// Turns a basis until what is left to gain is noise: its first directions, `with` tilts.
fn walk(
    session: &mut Session,
    objective: &Objective,
    basis: Vec<Vec<f64>>,
    with: usize,
) -> Step<Vec<Learned>> {
    let (dims, weight) = (basis.len() as f64, objective.engine().weight());
    let angles = with as f64 * (dims - 0.5 * (with as f64 + 1.0));
    let worthless = UNSURE * 0.5 * angles / weight;
    let gaussian = evaluate(objective, basis, vec![Tilt::gaussian(weight); with])?;
    let mut best = evaluate(objective, gaussian.basis, gaussian.tilts)?;
    let (mut steps, mut history) = (0, History::default());
    while steps < STEPS && with > 0 {
        steps += 1;
        let mean_squares = best.tilts.iter().zip(&best.sums);
        let mean_squares = mean_squares.map(|(t, s)| t.mean_square_slope(&s.statistics, weight));
        let slopes = best.sums.iter().map(|s| s.gradient.iter().map(|g| g / weight).collect());
        let (slopes, mean_squares): (Vec<Vec<f64>>, Vec<f64>) = slopes.zip(mean_squares).unzip();
        let (gradient, curvatures) = slope(&best.basis, &slopes, &mean_squares);
        let turn = history.step(gradient, &curvatures);
        let mut next = None;
        for halving in 0..HALVINGS {
            let share = 0.5_f64.powi(halving);
            let basis = turned(&best.basis, &turn, share)?;
            let tried = evaluate(objective, basis, best.tilts.clone())?;
            let value = tried.value.min(best.value) - with as f64 * (0.5 + HALF_LN_TAU);
            if !session.pass(&State::default(), 0, value) {
                return Err(Halt::Interrupted);
            }
            if tried.value < best.value {
                history.took(&turn, share);
                next = Some(tried);
                break;
            }
        }
        let Some(next) = next else { break };
        let fell = best.value - next.value;
        best = next;
        if fell < worthless {
            break;
        }
    }
    let Point { basis, tilts, sums, .. } = best;
    let learned = |((w, tilt), sums): ((Vec<f64>, Tilt), Sums)| {
        let gain = 0.5 + HALF_LN_TAU - tilt.loss(&sums.statistics, weight);
        Learned { iterations: steps, ..Learned::new(Candidate::new(w, tilt.into()), gain) }
    };
    Ok(basis.into_iter().zip(tilts).zip(sums).map(learned).collect())
}

/// The first directions with the tilts that fit them best, starting from their previous tilts. `sums`, slopes included,
/// belong to the previous ones: the two agree where the walk ends.
fn evaluate(objective: &Objective, basis: Vec<Vec<f64>>, before: Vec<Tilt>) -> Result<Point> {
    let weight = objective.engine().weight();
    let asked = basis.iter().zip(&before);
    let asked = asked.map(|(w, tilt)| Candidate::new(w.clone(), tilt.clone().into()));
    let sums = ask(objective.engine(), &asked.collect::<Vec<_>>())?;
    let fit = |(tilt, sums): (&Tilt, &Sums)| {
        let tilt = tilt.fitted(&sums.statistics, weight, 1e-6);
        let value = tilt.loss(&sums.statistics, weight) + tilt.penalty();
        (tilt, value)
    };
    let fitted: Vec<(Tilt, f64)> = before.par_iter().zip(&sums).map(fit).collect();
    let (tilts, values): (Vec<Tilt>, Vec<f64>) = fitted.into_iter().unzip();
    Ok(Point { basis, tilts, sums, value: values.iter().sum() })
}
