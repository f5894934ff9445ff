//! The best new direction: many starts that share each pass, the losers dropped on the way.

use super::problem::{Geometry, Problem, Start};
use super::settings::Settings;
use crate::engine::{Candidate, Engine};
use crate::error::Result;
use crate::expert::Marginal;
use crate::model::dot;
use crate::random::{self, Use};
use rand::RngExt;
use rand_distr::StandardNormal;

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

/// Starts that are walked to the end, of each family.
const FINALISTS: usize = 4;
/// Steps between two cuts of the field.
const STRIDE: usize = 4;

/// The best directions orthogonal to the frozen ones, of each family tried the best few, best
/// first; `None` when `watch` stopped the search.
pub fn search(
    engine: &dyn Engine,
    frozen: &[Vec<f64>],
    settings: &Settings,
    watch: &mut dyn FnMut(f64) -> bool,
) -> Result<Option<Vec<Vec<Found>>>> {
    let (d, j) = (engine.dims(), frozen.len());
    let full = Problem::new(engine, frozen, Geometry::Orthonormal);
    // A sample of the rows is good for screening starts, not for finishing.
    let sample = (32 * d).max(4096);
    let seed = settings.seed.wrapping_add((j as u64) << 32);
    let subset = if engine.rows() > 2 * sample { engine.subset(seed, sample) } else { None };
    let screen = match &subset {
        Some(subset) => Problem::new(&**subset, frozen, Geometry::Orthonormal),
        None => Problem::new(engine, frozen, Geometry::Orthonormal),
    };
    let directions = starts(&full, engine, settings, j);
    let mut families = Vec::new();
    for family in settings.families() {
        let templates = settings.templates(family, engine.weight())?;
        // Where one dimension is left, there is one direction.
        let directions = if d - j == 1 { &directions[..1] } else { &directions[..] };
        let mut field: Vec<Start> = Vec::new();
        for template in &templates {
            let from = |w: &Vec<f64>| screen.start(vec![(w.clone(), template.clone())], 1e-3);
            field.extend(directions.iter().map(from));
        }
        while field.len() > FINALISTS {
            if !screen.walk(&mut field, STRIDE, watch) {
                return Ok(None);
            }
            field.sort_by(|a, b| a.value().total_cmp(&b.value()));
            field.truncate(FINALISTS.max(field.len() / 2));
            if field.iter().all(|s| s.steepness() <= 1e-3) {
                break;
            }
            drop_doubles(&screen, &mut field);
        }
        drop_doubles(&screen, &mut field);
        field.truncate(FINALISTS);
        let Some(found) = finish(&full, &screen, field, settings, watch) else { return Ok(None) };
        families.push(found);
    }
    Ok(Some(families))
}

/// Walks the finalists to the end on all rows: first roughly, then the best to the tolerance.
fn finish(
    full: &Problem,
    screen: &Problem,
    field: Vec<Start>,
    settings: &Settings,
    watch: &mut dyn FnMut(f64) -> bool,
) -> Option<Vec<Found>> {
    let rough = settings.tol.max(1e-3);
    let again = |s: &Start| full.start(pairs(screen.answer(s)), rough);
    let mut field: Vec<Start> = field.iter().map(again).collect();
    if !full.walk(&mut field, settings.max_iter, watch) {
        return None;
    }
    field.sort_by(|a, b| a.value().total_cmp(&b.value()));
    drop_doubles(full, &mut field);
    // What a rough end can still hide.
    let best = field[0].value();
    field.retain(|s| s.value() <= best + 1e-3);
    field.iter_mut().for_each(|s| s.tighten(settings.tol));
    if !full.walk(&mut field, settings.max_iter, watch) {
        return None;
    }
    field.sort_by(|a, b| a.value().total_cmp(&b.value()));
    Some(field.iter().map(|s| found(full, s)).collect())
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
