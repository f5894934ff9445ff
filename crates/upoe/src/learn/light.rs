//! Starts for light-tailed directions in too few rows for fourth moments to show them.
//!
//! FOBI ranks directions by kurtosis with a noise of about D √(2/N). Where that hides a light-tailed
//! direction, its part within the lowest eigenvectors is still larger than by chance. Within their span a
//! random start is closer to it, and fixed-point steps reach what they would miss in all dimensions.

use super::objective::Objective;
use crate::error::Result;
use crate::linalg::unit;
use crate::random::{self, Use};
use faer::{Mat, MatRef};
use rand::RngExt;
use rand_distr::StandardNormal;
use rayon::prelude::*;

/// Shares of the dimensions that the spans have.
const SHARES: [f64; 4] = [0.25, 0.33, 0.5, 0.67];
/// Starts in each span at most.
const STARTS: usize = 512;
/// Starts at least: fewer find nothing.
const FEWEST: usize = 64;
/// Starts times cells in each span, so that the time stays small beside the rest of the search.
const WORK: usize = 30_000_000;
/// Starts that move together.
const TOGETHER: usize = 32;
/// Steps within a span, and then in all dimensions.
const STEPS: (usize, usize) = (12, 25);
/// Of each span, the directions to keep.
const KEPT: usize = 8;

/// Where fixed-point steps from random directions in spans of FOBI's lowest eigenvectors lead: the
/// directions with the lightest tails. `lowest` holds the eigenvectors by rising kurtosis. Nothing
/// where there are rows enough, or so many cells that it would take long.
pub fn light(objective: &Objective, lowest: &[Vec<f64>]) -> Result<Vec<Vec<f64>>> {
    let engine = objective.engine();
    let (rows, d) = (engine.rows(), engine.dims());
    let starts = (WORK / (rows * d).max(1)).min(STARTS);
    if rows >= 4 * d * d || starts < FEWEST || lowest.len() < 8 {
        return Ok(Vec::new());
    }
    let all: Vec<usize> = (0..rows).collect();
    let x = engine.pick(&all)?.rows;
    let x = MatRef::from_row_major_slice(&x, rows, d).to_owned();
    let spans = SHARES.into_par_iter().enumerate().map(|(stream, share)| {
        let k = (share * lowest.len() as f64).round() as usize;
        let span = Mat::from_fn(d, k, |i, a| lowest[a][i]);
        let mut rng = random::stream(0, Use::Starts, stream as u64);
        let drawn = Mat::from_fn(k, starts, |_, _| rng.sample::<f64, _>(StandardNormal));
        let within = lightest(&walked(&(&x * &span), drawn, STEPS.0), starts / 4);
        let found = lightest(&walked(&x, &span * within, STEPS.1), KEPT);
        (0..found.ncols()).filter_map(|a| objective.outside(column(&found, a))).collect()
    });
    let spans: Vec<Vec<Vec<f64>>> = spans.collect();
    Ok(spans.concat())
}

/// Directions after some fixed-point steps w ← ⟨g(z) x⟩ − ⟨g′(z)⟩ w, with the mean of G(z) last.
fn walked(x: &Mat<f64>, starts: Mat<f64>, steps: usize) -> (Mat<f64>, Vec<f64>) {
    let groups: Vec<usize> = (0..starts.ncols()).step_by(TOGETHER).collect();
    let walk = |from: usize| {
        let mut w = starts.subcols(from, TOGETHER.min(starts.ncols() - from)).to_owned();
        (0..steps).for_each(|_| w = step(x, &w));
        let z = x * &w;
        let mean = |a: usize| z.col(a).iter().map(|z| (1.0 + z * z / 2.0).ln()).sum::<f64>();
        let means: Vec<f64> = (0..w.ncols()).map(mean).collect();
        (w, means)
    };
    let groups: Vec<(Mat<f64>, Vec<f64>)> = groups.into_par_iter().map(walk).collect();
    let at = |i: usize, a: usize| groups[a / TOGETHER].0[(i, a % TOGETHER)];
    let w = Mat::from_fn(starts.nrows(), starts.ncols(), at);
    (w, groups.into_iter().flat_map(|(_, means)| means).collect())
}

/// One step of all directions, with the slope of a Student-t's energy: G(z) = ln(1 + z²/2).
fn step(x: &Mat<f64>, w: &Mat<f64>) -> Mat<f64> {
    let mut z = x * w;
    let mut curvatures = Vec::new();
    for z in z.col_iter_mut() {
        let mut curvature = 0.0;
        for z in z.iter_mut() {
            let q = 1.0 / (1.0 + 0.5 * *z * *z);
            curvature += q * (2.0 * q - 1.0);
            *z *= q;
        }
        curvatures.push(curvature);
    }
    let moved = x.transpose() * &z;
    let mut moved =
        Mat::from_fn(w.nrows(), w.ncols(), |i, a| moved[(i, a)] - curvatures[a] * w[(i, a)]);
    for w in moved.col_iter_mut() {
        let norm = w.norm_l2();
        w.iter_mut().for_each(|w| *w /= norm);
    }
    moved
}

/// The directions with the lightest tails, those with the largest mean of G(z) at variance 1.
fn lightest((w, means): &(Mat<f64>, Vec<f64>), keep: usize) -> Mat<f64> {
    let mut order: Vec<usize> = (0..w.ncols()).collect();
    order.sort_by(|&a, &b| means[b].total_cmp(&means[a]));
    Mat::from_fn(w.nrows(), keep.min(order.len()), |i, a| w[(i, order[a])])
}

fn column(w: &Mat<f64>, a: usize) -> Vec<f64> {
    unit(&w.col(a).iter().copied().collect::<Vec<f64>>())
}
