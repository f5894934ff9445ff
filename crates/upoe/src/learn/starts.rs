//! Directions that a search begins at.

use super::light::light;
use super::objective::Objective;
use super::settings::Settings;
use crate::engine::{Candidate, ask, differences};
use crate::error::Result;
use crate::expert::{Expert, Marginal, Mixture, StudentT};
use crate::linalg::eigen;
use crate::random::{self, Use};
use faer::Mat;
use rand::RngExt;
use rand_distr::StandardNormal;

/// Most directions that the fixed-point steps move at once.
const TOGETHER: usize = 128;
/// Steps of each contrast.
const ROUNDS: usize = 6;

/// How many directions are drawn, by the size of the data unless the settings say it.
pub fn number(objective: &Objective, settings: &Settings) -> usize {
    let engine = objective.engine();
    let (d, work) = (engine.dims() as f64, (engine.rows() * engine.dims()) as f64);
    settings.starts.unwrap_or((4e7 / work).clamp(16.0, 128.0).min(16.0 * d) as usize)
}

/// `n` directions outside the `j` frozen ones: half of them differences of rows, half uniform. Where
/// one dimension is left, there is one direction.
pub fn drawn(
    objective: &Objective,
    settings: &Settings,
    n: usize,
    j: usize,
) -> Result<Vec<Vec<f64>>> {
    let engine = objective.engine();
    let d = engine.dims();
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

/// Directions of extreme kurtosis outside the frozen ones, and where fixed-point steps lead from
/// them: towards heavy or light tails, and towards skewness.
pub fn striking(objective: &Objective, j: usize) -> Result<Vec<Vec<f64>>> {
    let free = objective.engine().dims() - j;
    if free < 2 {
        return Ok(Vec::new());
    }
    let mut found = kurtotic(objective, free)?;
    let by_extremes: Vec<Vec<f64>> = found.iter().map(|(_, w)| w.clone()).collect();
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    let lowest: Vec<Vec<f64>> = found.into_iter().map(|(_, w)| w).collect();
    let mut all = if j == 0 { light(objective, &lowest)? } else { Vec::new() };
    all.extend(fixed_points(objective, by_extremes)?);
    Ok(all)
}

/// Directions of extreme kurtosis, and where fixed-point steps lead from them.
pub fn extremes(objective: &Objective) -> Result<Vec<Vec<f64>>> {
    let found = kurtotic(objective, objective.engine().dims())?;
    fixed_points(objective, found.into_iter().map(|(_, w)| w).collect())
}

/// Some directions, and where the steps of every contrast lead from them.
fn fixed_points(objective: &Objective, mut first: Vec<Vec<f64>>) -> Result<Vec<Vec<f64>>> {
    first.truncate(TOGETHER);
    let mut all = first.clone();
    for contrast in contrasts()? {
        let mut directions = first.clone();
        for _ in 0..ROUNDS {
            directions = step(objective, directions, &contrast)?;
        }
        all.extend(directions);
    }
    Ok(all)
}

/// The eigenvectors of ⟨‖x‖² xxᵀ⟩ outside the frozen directions, each with how far its eigenvalue is
/// from a Gaussian's: FOBI.
fn kurtotic(objective: &Objective, free: usize) -> Result<Vec<(f64, Vec<f64>)>> {
    let d = objective.engine().dims();
    let moments = objective.engine().fourth_moments(objective.span())?;
    let sum = Mat::from_fn(d, d, |i, k| moments[i * d + k]);
    let (values, vectors) = eigen(&sum)?;
    // Gaussian rows have the eigenvalue 2 outside the frozen directions, and 0 along them.
    let vector = |k: usize| {
        let w = objective.outside((0..d).map(|i| vectors[(i, k)]).collect())?;
        Some((values[k] - 2.0, w))
    };
    let mut order: Vec<usize> = (0..d).collect();
    order.sort_by(|&a, &b| (values[b] - 2.0).abs().total_cmp(&(values[a] - 2.0).abs()));
    // Those along frozen directions are noise after their removal.
    Ok(order.into_iter().filter_map(vector).take(free).collect())
}

/// Experts whose slopes E′ serve as contrasts.
fn contrasts() -> Result<[Expert; 2]> {
    let t = |mu: f64, deviation: f64| StudentT::with_scale(mu, deviation * 0.5_f64.sqrt(), 4.0);
    let skewed = Mixture::new(vec![3.0, 1.0], vec![t(-0.5, 0.6)?, t(1.5, 0.6)?])?;
    Ok([t(0.0, 1.0)?.into(), skewed.into()])
}

/// One fixed-point step w ← ⟨E′(z) x⟩ − β w of all directions, made orthonormal symmetrically. β is
/// ⟨E″⟩ for a Gaussian.
fn step(
    objective: &Objective,
    directions: Vec<Vec<f64>>,
    contrast: &Expert,
) -> Result<Vec<Vec<f64>>> {
    let engine = objective.engine();
    let beta = gaussian_curvature(contrast);
    let from = |w: &Vec<f64>| Candidate::new(w.clone(), contrast.clone());
    let asked: Vec<Candidate> = directions.iter().map(from).collect();
    let sums = ask(engine, &asked)?;
    let moved = directions.iter().zip(sums).map(|(w, sums)| {
        let by = sums.gradient.iter().zip(w).map(|(g, w)| g / engine.weight() - beta * w);
        objective.outside(by.collect()).unwrap_or_else(|| w.clone())
    });
    let moved: Vec<Vec<f64>> = moved.collect();
    let (n, d) = (moved.len(), engine.dims());
    let w = Mat::from_fn(n, d, |a, i| moved[a][i]);
    let (values, vectors) = eigen(&(&w * w.transpose()))?;
    let root = Mat::from_fn(n, n, |a, k| vectors[(a, k)] / values[k].max(1e-6).sqrt());
    let even = root * vectors.transpose() * w;
    let row = |a: usize| objective.outside((0..d).map(|i| even[(a, i)]).collect());
    Ok((0..n).filter_map(row).collect())
}

/// ∫ N(z) E″(z) dz = ∫ N(z) z E′(z) dz.
fn gaussian_curvature(expert: &Expert) -> f64 {
    let at = |i: i32| f64::from(i) * 0.05;
    let weight = |z: f64| 0.05 * (-0.5 * z * z).exp() / std::f64::consts::TAU.sqrt();
    (-160..=160).map(|i| weight(at(i)) * at(i) * expert.energy_slope(at(i))).sum()
}
