//! From one group to several: the split with the clearest valley, again and again.
//!
//! A split divides one group, or all groups by the same direction (sexes within each species):
//! then rows are taken about the mean of their group.

use super::sphered::scatter;
use super::split::{Split, smallest, split};
use crate::error::Result;
use crate::linalg::eigenvalues;
use faer::Mat;

/// More groups are not looked for.
const MOST: usize = 32;
/// A group needs this many rows, and this many per dimension, to be split.
const FEWEST: usize = 20;
const ROWS_EACH: usize = 3;

/// The group of each row, and how many groups were too small to stay.
pub struct Partition {
    pub labels: Vec<usize>,
    pub merged: usize,
}

/// Divides rows x (N × D) until no valley is significant. `starts` are directions to look along.
pub fn partition(x: &[f64], d: usize, starts: &[Vec<f64>]) -> Result<Partition> {
    let n = x.len() / d;
    let mut labels = vec![0; n];
    let mut merged = 0;
    // The best split of each group, and of all together.
    let mut own = vec![of_group(x, d, &labels, 0, starts)?];
    loop {
        let groups = own.len();
        let mut candidates: Vec<Vec<usize>> = Vec::new();
        for (k, found) in own.iter().enumerate() {
            let Some(found) = found.as_ref().filter(|s| significant(s)) else { continue };
            let mut above = found.above.iter();
            let next = labels.iter().map(|&l| {
                let second = l == k && above.next().is_some_and(|a| *a);
                if second { groups } else { l }
            });
            candidates.push(next.collect());
        }
        if groups > 1 {
            let directions: Vec<Vec<f64>> =
                own.iter().flatten().map(|s| s.direction.clone()).collect();
            let means = means(x, d, &labels, groups);
            let about: Vec<f64> = (0..n)
                .flat_map(|i| x[i * d..][..d].iter().zip(&means[labels[i]]).map(|(x, m)| x - m))
                .collect();
            let found = searched(&about, d, &directions, n)?;
            if let Some(found) = found.filter(significant) {
                let mut next: Vec<usize> =
                    labels.iter().zip(&found.above).map(|(l, a)| 2 * l + usize::from(*a)).collect();
                merged += merge_small(&mut next, 2 * groups);
                candidates.push(next);
            }
        }
        let mut best: Option<(f64, Vec<usize>)> = None;
        for next in candidates {
            let value = completed(x, d, &next)?;
            if best.as_ref().is_none_or(|(top, _)| value > *top) {
                best = Some((value, next));
            }
        }
        let Some((_, mut next)) = best else { return Ok(Partition { labels, merged }) };
        renumber(&mut next);
        let count = next.iter().max().map_or(0, |l| l + 1);
        if count <= groups || count > MOST {
            return Ok(Partition { labels, merged });
        }
        // Groups that did not change keep what was found in them.
        let mut found = Vec::with_capacity(count);
        for k in 0..count {
            let before = (0..groups)
                .find(|&g| next.iter().zip(&labels).all(|(new, old)| (*new == k) == (*old == g)));
            found.push(match before {
                Some(g) => own[g].take(),
                None => of_group(x, d, &next, k, &[])?,
            });
        }
        (labels, own) = (next, found);
    }
}

fn of_group(
    x: &[f64],
    d: usize,
    labels: &[usize],
    group: usize,
    starts: &[Vec<f64>],
) -> Result<Option<Split>> {
    let rows = x.chunks_exact(d).zip(labels).filter(|(_, l)| **l == group);
    let rows: Vec<f64> = rows.flat_map(|(x, _)| x).copied().collect();
    searched(&rows, d, starts, labels.len())
}

fn searched(rows: &[f64], d: usize, starts: &[Vec<f64>], all: usize) -> Result<Option<Split>> {
    let n = rows.len() / d;
    if n < FEWEST.max(ROWS_EACH * d) {
        return Ok(None);
    }
    split(rows, d, starts, all)
}

/// Whether the valley is clearer than what the search finds in rows without groups.
fn significant(split: &Split) -> bool {
    split.evidence > split.bar
}

/// The completed ln likelihood of groups that share one covariance, up to a constant:
/// Σ n_g ln(n_g/N) − N/2 ln|W|.
pub fn completed(x: &[f64], d: usize, labels: &[usize]) -> Result<f64> {
    let n = labels.len() as f64;
    let count = labels.iter().max().map_or(0, |l| l + 1);
    let means = means(x, d, labels, count);
    let within = scatter(x, d, &vec![1.0; labels.len()], |i| &means[labels[i]]);
    let values = eigenvalues(&Mat::from_fn(d, d, |i, j| within[i * d + j] / n))?;
    let ln_det: f64 = values.iter().map(|v| v.max(1e-9).ln()).sum();
    let sizes = sizes(labels, count);
    let shares: f64 =
        sizes.iter().filter(|s| **s > 0).map(|&s| s as f64 * (s as f64 / n).ln()).sum();
    Ok(shares - 0.5 * n * ln_det)
}

pub fn sizes(labels: &[usize], count: usize) -> Vec<usize> {
    let mut sizes = vec![0; count];
    labels.iter().for_each(|l| sizes[*l] += 1);
    sizes
}

pub fn means(x: &[f64], d: usize, labels: &[usize], count: usize) -> Vec<Vec<f64>> {
    let mut means = vec![vec![0.0; d]; count];
    for (x, l) in x.chunks_exact(d).zip(labels) {
        means[*l].iter_mut().zip(x).for_each(|(m, x)| *m += x);
    }
    for (mean, size) in means.iter_mut().zip(sizes(labels, count)) {
        mean.iter_mut().for_each(|m| *m /= size.max(1) as f64);
    }
    means
}

/// Gives the rows of each small half back to the other half of its group; how many there were.
fn merge_small(labels: &mut [usize], count: usize) -> usize {
    let sizes = sizes(labels, count);
    let least = smallest(labels.len());
    let small = |k: usize| sizes[k] > 0 && (sizes[k] as f64) < least;
    let merged = (0..count).filter(|&k| small(k) && sizes[k ^ 1] > 0).count();
    labels.iter_mut().filter(|l| small(**l) && sizes[**l ^ 1] > 0).for_each(|l| *l ^= 1);
    merged
}

/// Numbers groups from 0 without gaps, in the order of their first row.
fn renumber(labels: &mut [usize]) {
    let mut known = std::collections::HashMap::new();
    for label in labels {
        let next = known.len();
        *label = *known.entry(*label).or_insert(next);
    }
}
