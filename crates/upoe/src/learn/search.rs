//! The best new direction: many starts that share each pass, the losers dropped on the way.

use super::problem::{Geometry, Problem, Start};
use super::settings::Settings;
use crate::engine::{Candidate, Engine};
use crate::error::Result;
use crate::expert::{Family, Marginal};
use crate::model::dot;
use crate::random::{self, Use};
use rand::RngExt;
use rand_distr::StandardNormal;
use serde::{Deserialize, Serialize};

/// A direction and expert that a search ended at.
pub struct Found {
    /// The direction and its expert.
    pub candidate: Candidate,
    /// Q: the change in ⟨−ln p⟩ over the training rows.
    pub q: f64,
    /// Steps the last descent took.
    pub iterations: usize,
    /// Whether it ended at its tolerance.
    pub converged: bool,
}

/// A start that came second: where it stood, and its value there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spare {
    /// The direction and its expert.
    pub candidate: Candidate,
    /// Q, beside the experts learned by then.
    pub value: f64,
}

/// Starts that are walked to the end, of each family.
const FINALISTS: usize = 4;
/// Steps between two cuts of the field.
const STRIDE: usize = 4;
/// Starts that a search over many rows leaves for the searches after it.
const RESERVE: usize = 16;

/// The best directions orthogonal to the frozen ones, of each family tried the best few, best
/// first; `None` when `watch` stopped the search.
///
/// Few rows are searched anew for every direction. Of many rows a sample screens the starts,
/// and those that come second are kept in `reserve`: the next directions start from them, and
/// only when it runs out is the field drawn anew.
pub fn search(
    engine: &dyn Engine,
    sample: Option<&dyn Engine>,
    frozen: &[Vec<f64>],
    settings: &Settings,
    reserve: &mut Vec<Spare>,
    watch: &mut dyn FnMut(f64) -> bool,
) -> Result<Option<Vec<Vec<Found>>>> {
    let full = Problem::new(engine, frozen, Geometry::Orthonormal);
    let rough = settings.tol.max(1e-3);
    let mut families = Vec::new();
    let mut spares = Vec::new();
    for family in settings.families() {
        let outside = |mut s: Spare| {
            s.candidate.direction = full.outside(s.candidate.direction)?;
            Some(s)
        };
        let known = reserve.extract_if(.., |s| s.candidate.expert.family() == family);
        let mut kept: Vec<Spare> = known.filter_map(outside).collect();
        let field: Vec<Candidate> = if kept.len() < FINALISTS {
            let drawn = screen(&full, engine, sample, frozen, settings, family, watch)?;
            let Some(drawn) = drawn else { return Ok(None) };
            kept.drain(..).map(|s| s.candidate).chain(drawn).collect()
        } else {
            kept.drain(..FINALISTS).map(|s| s.candidate).collect()
        };
        let mut field: Vec<Start> =
            field.into_iter().map(|c| full.start(pairs(vec![c]), rough)).collect();
        if !full.walk(&mut field, settings.max_iter, watch) {
            return Ok(None);
        }
        by_value(&mut field);
        drop_doubles(&full, &mut field);
        // What a rough end can still hide; many rows are not walked over for that.
        let best = field[0].value();
        let close = field.iter().take_while(|s| s.value() <= best + 1e-3).count();
        let rest = field.split_off(if sample.is_some() { 1 } else { close });
        if sample.is_some() {
            let spare =
                |s: &Start| Spare { value: s.value(), candidate: full.answer(s).swap_remove(0) };
            kept.extend(rest.iter().map(spare));
            kept.sort_by(|a, b| a.value.total_cmp(&b.value));
        }
        spares.extend(kept);
        field.iter_mut().for_each(|s| s.tighten(settings.tol));
        if !full.walk(&mut field, settings.max_iter, watch) {
            return Ok(None);
        }
        by_value(&mut field);
        families.push(field.iter().map(|s| found(&full, s)).collect());
    }
    *reserve = spares;
    Ok(Some(families))
}

fn by_value(field: &mut [Start]) {
    field.sort_by(|a, b| a.value().total_cmp(&b.value()));
}

/// A sample of many rows: good for screening starts, not for finishing.
pub fn sample(engine: &dyn Engine, seed: u64) -> Option<Box<dyn Engine>> {
    let size = (32 * engine.dims()).max(3072);
    if engine.rows() > 3 * size { engine.subset(seed, size) } else { None }
}

/// The best few of many starts of a family, after a race; on a sample where rows are many.
fn screen(
    full: &Problem,
    engine: &dyn Engine,
    sample: Option<&dyn Engine>,
    frozen: &[Vec<f64>],
    settings: &Settings,
    family: Family,
    watch: &mut dyn FnMut(f64) -> bool,
) -> Result<Option<Vec<Candidate>>> {
    let (d, j) = (engine.dims(), frozen.len());
    let keep = if sample.is_some() { RESERVE } else { FINALISTS };
    let screen = Problem::new(sample.unwrap_or(engine), frozen, Geometry::Orthonormal);
    // Where one dimension is left, there is one direction.
    let mut directions = starts(full, engine, settings, j);
    directions.truncate(if d - j == 1 { 1 } else { usize::MAX });
    let tolerance = if sample.is_some() { 1e-2 } else { 1e-3 };
    let mut field: Vec<Start> = Vec::new();
    for template in settings.templates(family, engine.weight())? {
        let from = |w: &Vec<f64>| screen.start(vec![(w.clone(), template.clone())], tolerance);
        field.extend(directions.iter().map(from));
    }
    while field.len() > keep {
        if !screen.walk(&mut field, STRIDE, watch) {
            return Ok(None);
        }
        by_value(&mut field);
        field.truncate(keep.max(field.len() / 2));
        if field.iter().all(|s| s.steepness() <= tolerance) {
            break;
        }
        drop_doubles(&screen, &mut field);
    }
    drop_doubles(&screen, &mut field);
    field.truncate(keep);
    // A sample is walked over to the end of what it knows; it costs little.
    if sample.is_some() && !screen.walk(&mut field, settings.max_iter, watch) {
        return Ok(None);
    }
    Ok(Some(field.iter().map(|s| screen.answer(s).swap_remove(0)).collect()))
}

/// What a start of one free expert ended at.
pub fn found(problem: &Problem, start: &Start) -> Found {
    let mut answer = problem.answer(start);
    let mut candidate = answer.swap_remove(0);
    if problem.geometry() == Geometry::Orthonormal {
        // What rounding let in of the frozen directions goes (19).
        candidate.direction =
            problem.outside(candidate.direction.clone()).unwrap_or(candidate.direction);
    }
    let q = start.value() - candidate.expert.penalty();
    Found { candidate, q, iterations: start.iterations(), converged: start.converged() }
}

/// A set of candidates as what [`Problem::start`] takes.
pub fn pairs(candidates: Vec<Candidate>) -> Vec<(Vec<f64>, crate::expert::Expert)> {
    candidates.into_iter().map(|c| (c.direction, c.expert)).collect()
}

/// Of starts that have met, in direction and value, keeps one. The field is sorted by value.
fn drop_doubles(problem: &Problem, field: &mut Vec<Start>) {
    let mut kept: Vec<(Vec<f64>, f64)> = Vec::new();
    field.retain(|s| {
        let (w, value) = (problem.answer(s).swap_remove(0).direction, s.value());
        let met = |(k, v): &(Vec<f64>, f64)| dot(&w, k).abs() > 0.9995 && (value - v).abs() < 1e-4;
        let new = !kept.iter().any(met);
        if new {
            kept.push((w, value));
        }
        new
    });
}

/// Starting directions outside the frozen ones: half of them differences of rows, half
/// uniform.
fn starts(problem: &Problem, engine: &dyn Engine, settings: &Settings, j: usize) -> Vec<Vec<f64>> {
    let d = engine.dims();
    let work = (engine.rows() * d) as f64;
    let n =
        settings.starts.unwrap_or((4e7 / work).clamp(16.0, 128.0).min(16.0 * d as f64) as usize);
    let seed = settings.seed.wrapping_add((j as u64) << 32);
    let suggested = engine.suggest(seed, n / 2).into_iter().filter_map(|w| problem.outside(w));
    let mut directions: Vec<Vec<f64>> = suggested.collect();
    let mut rng = random::stream(settings.seed, Use::Starts, j as u64);
    while directions.len() < n {
        let w = (0..d).map(|_| rng.sample(StandardNormal)).collect();
        directions.extend(problem.outside(w));
    }
    directions
}

/// ½ ln N nats for each parameter the data determine, over N.
pub fn price(parameters: f64, weight: f64) -> f64 {
    0.5 * parameters * weight.max(2.0).ln() / weight
}

/// Which family to keep: the one with the best gain after the price of its own parameters.
pub fn choose(families: Vec<Vec<Found>>, weight: f64) -> Option<Found> {
    let score = |f: &Found| -f.q - price(f.candidate.expert.degrees_of_freedom(), weight);
    let best = families.into_iter().filter_map(|f| f.into_iter().next());
    best.max_by(|a, b| score(a).total_cmp(&score(b)))
}
