//! Where EM starts: groups found by k-means from spread centres.

use super::maximise::Table;
use super::pass::{BLOCK, Shares};
use crate::linalg::dot;
use crate::random::{Use, stream};
use rand::RngExt;
use rayon::prelude::*;

/// Lloyd's steps at most; fewer where no row changes its group.
const STEPS: usize = 12;

/// The seed of the starts: the same rows always give the same mixture.
const SEED: u64 = 17;

/// The group of each row, by k-means++ (Arthur and Vassilvitskii 2007) and Lloyd's steps.
/// Each `start` draws other centres. There may be empty groups where rows are equal.
pub(super) fn groups(table: &Table, count: usize, start: u64) -> Vec<usize> {
    if count == 1 {
        return vec![0; table.len()];
    }
    let mut centres = spread(table, count, start);
    let mut groups = nearest(table, &centres);
    for _ in 0..STEPS {
        move_centres(table, &groups, &mut centres);
        let moved = nearest(table, &centres);
        let same = moved == groups;
        groups = moved;
        if same || table.stopped() {
            break;
        }
    }
    groups
}

/// The shares of rows that belong to one group each.
pub(super) fn shares(table: &Table, groups: &[usize], count: usize) -> Vec<Shares> {
    let block = |(block, groups): (usize, &[usize])| {
        let n = groups.len();
        let mut mass = vec![0.0; count * n];
        for (i, k) in groups.iter().enumerate() {
            mass[k * n + i] = table.weight(block * BLOCK + i);
        }
        Shares { ln_p: 0.0, pull: mass.clone(), mass }
    };
    groups.chunks(BLOCK).enumerate().map(block).collect()
}

/// Centres among the rows, each drawn with a probability proportional to its weight and its
/// squared distance to the nearest centre before it: the best of a few draws.
fn spread(table: &Table, count: usize, start: u64) -> Vec<f64> {
    let d = table.dims;
    let mut rng = stream(SEED, Use::Starts, (count as u64) << 8 | start);
    let trials = 2 + (count as f64).ln() as usize;
    let weights: Vec<f64> = (0..table.len()).map(|i| table.weight(i)).collect();
    let first = draw(&weights, rng.random());
    let mut centres = table.row(first).to_vec();
    let mut distances = distances_to(table, table.row(first));
    for _ in 1..count {
        let chances: Vec<f64> = distances.iter().zip(&weights).map(|(q, w)| q * w).collect();
        let tries: Vec<usize> = (0..trials).map(|_| draw(&chances, rng.random())).collect();
        let after = |&i: &usize| {
            let mut q = distances_to(table, table.row(i));
            q.iter_mut().zip(&distances).for_each(|(q, old)| *q = q.min(*old));
            (dot(&q, &weights), i, q)
        };
        let best = tries.iter().map(after).min_by(|a, b| a.0.total_cmp(&b.0));
        let (_, i, q) = best.expect("there are at least two trials");
        centres.extend_from_slice(&table.x[i * d..][..d]);
        distances = q;
    }
    centres
}

/// An index drawn with these chances, by one number between 0 and 1.
fn draw(chances: &[f64], at: f64) -> usize {
    let mut left = at * chances.iter().sum::<f64>();
    let found = chances.iter().position(|chance| {
        left -= chance;
        left < 0.0
    });
    found.unwrap_or((at * chances.len() as f64) as usize).min(chances.len() - 1)
}

fn distances_to(table: &Table, centre: &[f64]) -> Vec<f64> {
    let square = |row: &[f64]| row.iter().zip(centre).map(|(x, c)| (x - c) * (x - c)).sum();
    table.x.par_chunks(table.dims).with_min_len(256).map(square).collect()
}

/// The nearest centre of each row.
fn nearest(table: &Table, centres: &[f64]) -> Vec<usize> {
    let count = centres.len() / table.dims;
    let half: Vec<f64> = centres.chunks_exact(table.dims).map(|c| 0.5 * dot(c, c)).collect();
    // The nearest has the largest c·x − ½‖c‖².
    let along = upoe_kernels::project(table.x, table.dims, centres);
    let best = |along: &[f64]| {
        let (mut best, mut top) = (0, f64::NEG_INFINITY);
        for (k, (along, half)) in along.iter().zip(&half).enumerate() {
            if along - half > top {
                (best, top) = (k, along - half);
            }
        }
        best
    };
    along.par_chunks(count).with_min_len(256).map(best).collect()
}

/// Moves each centre to the mean of its rows; one without rows stays.
fn move_centres(table: &Table, groups: &[usize], centres: &mut [f64]) {
    let d = table.dims;
    let mut sums = vec![0.0; centres.len()];
    let mut totals = vec![0.0; centres.len() / d];
    for (i, &k) in groups.iter().enumerate() {
        let weight = table.weight(i);
        totals[k] += weight;
        sums[k * d..][..d].iter_mut().zip(table.row(i)).for_each(|(s, x)| *s += weight * x);
    }
    for (k, total) in totals.iter().enumerate().filter(|(_, total)| **total > 0.0) {
        let sums = sums[k * d..][..d].iter();
        centres[k * d..][..d].iter_mut().zip(sums).for_each(|(c, s)| *c = s / total);
    }
}
