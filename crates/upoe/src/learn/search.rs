//! The search for the best new direction: many starts share each pass, and the worst are dropped.

use super::lockstep::Start;
use super::objective::{Geometry, Objective};
use super::outcome::{Learned, State};
use super::session::{Halt, Session, Step};
use super::settings::Settings;
use crate::engine::{Candidate, Engine, differences};
use crate::error::{Error, Result};
use crate::evaluate::bic_price;
use crate::expert::{Expert, Learnable};
use crate::linalg::dot;
use crate::random::{self, Use};
use rand::RngExt;
use rand_distr::StandardNormal;

/// Starts per family that are walked to the end.
const FINALISTS: usize = 4;
/// Steps between two cuts of the field.
const STRIDE: usize = 4;
/// Starts that a search over many rows leaves for the searches after it.
const RESERVE: usize = 16;

/// The best directions orthogonal to the frozen ones: of each family tried the best few, best
/// first.
///
/// Few rows are searched again for every direction. Of many rows a sample screens the starts, and
/// those that come second are kept in `reserve`: the next directions start from them, and new starts
/// are drawn only when the reserve runs out.
pub fn search(
    session: &mut Session,
    state: &State,
    frozen: &[Vec<f64>],
    reserve: &mut Vec<Learned>,
) -> Step<Vec<Vec<Learned>>> {
    let (engine, sample, settings) = (session.train, session.sample, session.settings);
    let mut watch = |value: f64| session.pass(state, frozen.len(), value);
    let full = Objective::new(engine, frozen, Geometry::Orthonormal);
    let screening = Objective::new(sample.unwrap_or(engine), frozen, Geometry::Orthonormal);
    let rough = settings.tol.max(1e-3);
    let mut families = Vec::new();
    let mut spares = Vec::new();
    for family in settings.families.iter() {
        let outside = |mut s: Learned| {
            s.candidate.direction = full.outside(s.candidate.direction)?;
            Some(s)
        };
        let known = reserve.extract_if(.., |s| s.expert().family() == family);
        let mut kept: Vec<Learned> = known.filter_map(outside).collect();
        let field: Vec<Candidate> = if kept.len() < FINALISTS {
            let directions = starts(&full, settings, frozen.len())?;
            let templates = settings.templates(family, engine.weight())?;
            let field = pairs(&directions, &templates);
            let drawn = screen(&screening, sample.is_some(), field, settings, &mut watch)?;
            kept.drain(..).map(|s| s.candidate).chain(drawn).collect()
        } else {
            kept.drain(..FINALISTS).map(|s| s.candidate).collect()
        };
        let mut field: Vec<Start> = field.into_iter().map(|c| full.start(vec![c], rough)).collect();
        full.walk(&mut field, settings.max_iter, &mut watch)?;
        by_value(&mut field);
        drop_doubles(&full, &mut field);
        // A rough tolerance can hide small differences. With few rows all close starts continue; with
        // many rows that would cost too much.
        let best = field[0].value();
        let close = field.iter().take_while(|s| s.value() <= best + 1e-3).count();
        let rest = field.split_off(if sample.is_some() { 1 } else { close });
        if sample.is_some() {
            kept.extend(rest.iter().map(|s| spare(&full, s)));
            kept.sort_by(|a, b| b.gain.total_cmp(&a.gain));
        }
        spares.extend(kept);
        field.iter_mut().for_each(|s| s.tighten(settings.tol));
        full.walk(&mut field, settings.max_iter, &mut watch)?;
        by_value(&mut field);
        families.push(field.iter().map(|s| found(&full, s)).collect());
    }
    *reserve = spares;
    Ok(families)
}

fn by_value(field: &mut [Start]) {
    field.sort_by(|a, b| a.value().total_cmp(&b.value()));
}

/// A sample of many rows: good for screening starts, not for finishing.
pub fn sample(engine: &dyn Engine, seed: u64) -> Result<Option<Box<dyn Engine>>> {
    let size = (32 * engine.dims()).max(3072);
    if engine.rows() > 3 * size { engine.subset(seed, size) } else { Ok(None) }
}

/// The best few of many starts of a family, after a race; on a sample where rows are many.
fn screen(
    objective: &Objective,
    sampled: bool,
    field: Vec<Candidate>,
    settings: &Settings,
    watch: &mut dyn FnMut(f64) -> bool,
) -> Step<Vec<Candidate>> {
    let (keep, tolerance) = if sampled { (RESERVE, 1e-2) } else { (FINALISTS, 1e-3) };
    let mut field: Vec<Start> =
        field.into_iter().map(|c| objective.start(vec![c], tolerance)).collect();
    while field.len() > keep {
        objective.walk(&mut field, STRIDE, watch)?;
        by_value(&mut field);
        field.truncate(keep.max(field.len() / 2));
        if field.iter().all(|s| s.steepness() <= tolerance) {
            break;
        }
        drop_doubles(objective, &mut field);
    }
    drop_doubles(objective, &mut field);
    field.truncate(keep);
    // On a sample the finalists are walked to the end, because it costs little.
    if sampled {
        objective.walk(&mut field, settings.max_iter, watch)?;
    }
    Ok(field.iter().map(|s| objective.answer(s).swap_remove(0)).collect())
}

/// Every template at every direction.
fn pairs(directions: &[Vec<f64>], templates: &[Expert]) -> Vec<Candidate> {
    let at_all = |t: &Expert| -> Vec<Candidate> {
        directions.iter().map(|w| Candidate::new(w.clone(), t.clone())).collect()
    };
    templates.iter().flat_map(at_all).collect()
}

/// What a start of one free expert ended at.
pub fn found(objective: &Objective, start: &Start) -> Learned {
    let mut candidate = objective.answer(start).swap_remove(0);
    if objective.geometry() == Geometry::Orthonormal {
        // Remove the part along the frozen directions that rounding let in (19).
        candidate.direction =
            objective.outside(candidate.direction.clone()).unwrap_or(candidate.direction);
    }
    let gain = -(start.value() - candidate.expert.penalty());
    learned(candidate, gain, start)
}

/// The current point of a start that came second. The penalty is subtracted from its gain.
fn spare(objective: &Objective, start: &Start) -> Learned {
    learned(objective.answer(start).swap_remove(0), -start.value(), start)
}

fn learned(candidate: Candidate, gain: f64, start: &Start) -> Learned {
    let (iterations, converged) = (start.iterations(), start.converged());
    Learned { candidate, gain, p_value: None, iterations, converged }
}

/// Keeps one of the starts that have reached the same direction and value. The field is sorted by
/// value.
fn drop_doubles(objective: &Objective, field: &mut Vec<Start>) {
    let mut kept: Vec<(Vec<f64>, f64)> = Vec::new();
    field.retain(|s| {
        let (w, value) = (objective.answer(s).swap_remove(0).direction, s.value());
        let met = |(k, v): &(Vec<f64>, f64)| dot(&w, k).abs() > 0.9995 && (value - v).abs() < 1e-4;
        let new = !kept.iter().any(met);
        if new {
            kept.push((w, value));
        }
        new
    });
}

/// Starting directions outside the `j` frozen ones: half of them differences of rows, half
/// uniform. Where one dimension is left, there is one direction.
fn starts(objective: &Objective, settings: &Settings, j: usize) -> Result<Vec<Vec<f64>>> {
    let engine = objective.engine();
    let d = engine.dims();
    let work = (engine.rows() * d) as f64;
    let n =
        settings.starts.unwrap_or((4e7 / work).clamp(16.0, 128.0).min(16.0 * d as f64) as usize);
    let seed = settings.seed.wrapping_add((j as u64) << 32);
    let suggested = differences(engine, seed, n / 2)?;
    let mut directions: Vec<Vec<f64>> =
        suggested.into_iter().filter_map(|w| objective.outside(w)).collect();
    let mut rng = random::stream(settings.seed, Use::Starts, j as u64);
    while directions.len() < n {
        let w = (0..d).map(|_| rng.sample(StandardNormal)).collect();
        directions.extend(objective.outside(w));
    }
    directions.truncate(if d - j == 1 { 1 } else { usize::MAX });
    Ok(directions)
}

/// The best of all families: the one with the largest gain less the price of its own parameters.
pub fn choose(families: Vec<Vec<Learned>>, weight: f64) -> Step<Learned> {
    let net = |f: &Learned| f.gain - bic_price(f.expert().free_parameters(), weight);
    let best = families.into_iter().filter_map(|f| f.into_iter().next());
    let best = best.max_by(|a, b| net(a).total_cmp(&net(b)));
    best.ok_or(Halt::Failed(Error::NoConvergence { what: "search for a direction" }))
}
