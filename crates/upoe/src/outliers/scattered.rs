//! Rows that lie far outside the others, scattered over many directions.
//!
//! A tail, however heavy, thins out: each doubling of the distance holds fewer rows than all nearer
//! ones. Rows from elsewhere leave a gap. Those that lie in one direction are a group, which an
//! expert describes. Those in many directions would need as many experts and still spoil the
//! sphering of the others.

use super::together::together;
use super::{SAMPLE, SHARE, Smooth, Table, mark};
use crate::error::Result;
use crate::rows::{Rows, view};
use crate::whitening::{Dims, Whitening};
use rayon::prelude::*;

/// The share of rows, the nearest, that distances are measured by.
pub(super) const INNER: f64 = 0.9;
/// At least this many rows must lie beyond a gap.
const FEWEST: usize = 5;
/// A gap is a shell from r to 2r with less than this share of the weight that lies beyond. A tail
/// of ν degrees of freedom has 2^ν − 1 times as much in the shell as beyond.
const GAP: f64 = 0.25;
/// Rows in one direction are looked for where they add so much to ⟨‖x‖⁴⟩: 1 % of rows at 7 deviations add 11.
const ONE_WAY: f64 = 10.0;
/// How often the inner rows are chosen again.
const STEPS: usize = 10;
/// Rows within 45° of each other lie in one direction, and with this share of the weight and this
/// many rows they are a group.
pub(super) const GROUP: (f64, usize) = (0.005, 5);
/// Directions are compared with at most about this many rows.
const COMPARED: usize = 1000;

/// Marks scattered rows, none where there are none; and the far rows that belong to groups.
pub(super) fn scattered(table: &Table, smooth: &Smooth) -> Result<(Vec<bool>, Vec<usize>)> {
    let (rows, dims) = (table.rows, smooth.dims());
    let none = || Ok((Vec::new(), Vec::new()));
    let (x, weights) = table.sample(SAMPLE.max(10 * dims), smooth)?;
    let x = view(&x, dims, weights.as_deref())?;
    // A Gaussian has ⟨‖x‖⁴⟩ = D (D + 2), and 1 % of rows at 10 deviations more: far more where they lie
    // in all directions, less in one, in which sphering pulls them in.
    let d = dims as f64;
    let weight: f64 = (0..x.len()).map(|i| x.weight(i)).sum();
    let fourth = |i: usize| x.weight(i) * x.row(i).iter().map(|x| x * x).sum::<f64>().powi(2);
    let fourth = (0..x.len()).map(fourth).sum::<f64>() / weight;
    if fourth < d * (d + 2.0) + ONE_WAY {
        return none();
    }
    let Some(inner) = inner(&x, weight)? else { return none() };
    let mut alone = Vec::new();
    if fourth >= 2.0 * d * (d + 2.0)
        && let Some(limit) = gap(&lengths(&inner, &x)?, &x, weight)
    {
        let place = |row: usize, x: &[f64]| {
            let u = inner.sphere_row(x);
            (length(&u) > limit).then_some((row, u))
        };
        let far: Vec<(usize, Vec<f64>)> = table.each(smooth, place)?;
        let total: f64 = table.kept.iter().map(|&i| rows.weight(i)).sum();
        alone = self::alone(&far, rows, total);
    }
    if alone.len() < FEWEST {
        alone.clear();
    }
    let alone = mark(rows, alone);
    let mut together = together(table, smooth, &x, &inner)?;
    together.retain(|&i| alone.is_empty() || !alone[i]);
    Ok((alone, together))
}

pub(super) fn length(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// The lengths of rows after sphering.
fn lengths(whitening: &Whitening, x: &Rows) -> Result<Vec<f64>> {
    Ok(whitening.sphere(x)?.chunks_exact(whitening.dims()).map(length).collect())
}

/// The sphering of the inner rows: the nearest under their own sphering (the steps of the
/// minimum covariance determinant). `None` where they do not vary in all dimensions.
fn inner(x: &Rows, weight: f64) -> Result<Option<Whitening>> {
    let mut distances: Vec<f64> = (0..x.len()).map(|i| length(&x.row(i))).collect();
    let mut chosen = Vec::new();
    let mut whitening = None;
    for _ in 0..STEPS {
        let near = nearest(&distances, x, weight);
        if near == chosen {
            break;
        }
        chosen = near;
        let (values, weights) = x.pick(&chosen);
        let found = Whitening::fit(&view(&values, x.columns(), weights.as_deref())?, Dims::All)?;
        // Directions without variance, but for rounding, are ties: rare values, not outliers.
        let largest =
            found.matrix().col_iter().flat_map(|c| c.iter()).fold(0.0_f64, |a, m| a.max(m.abs()));
        if found.dims() < x.columns() || largest > 1e3 {
            return Ok(None);
        }
        distances = lengths(&found, x)?;
        whitening = Some(found);
    }
    Ok(whitening)
}

/// The nearest rows, in rising order.
fn nearest(distances: &[f64], x: &Rows, weight: f64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..x.len()).collect();
    order.sort_by(|&a, &b| distances[a].total_cmp(&distances[b]));
    let mut sum = 0.0;
    let mut near: Vec<usize> = order
        .into_iter()
        .take_while(|&i| {
            sum += x.weight(i);
            sum <= INNER * weight
        })
        .collect();
    near.sort_unstable();
    near
}

/// Where the rows beyond a gap begin, if there is a gap.
pub(super) fn gap(distances: &[f64], x: &Rows, weight: f64) -> Option<f64> {
    let mut order: Vec<(f64, f64)> =
        distances.iter().enumerate().map(|(i, d)| (*d, x.weight(i))).collect();
    order.sort_by(|a, b| a.0.total_cmp(&b.0));
    // The weight from here outwards.
    let mut outside = vec![0.0; order.len() + 1];
    for i in (0..order.len()).rev() {
        outside[i] = outside[i + 1] + order[i].1;
    }
    let first = outside.partition_point(|w| *w > (1.0 - INNER) * weight);
    (first..order.len())
        .map(|i| order[i].0)
        .find(|r| {
            let shell = order.partition_point(|o| o.0 <= *r);
            let far = order.partition_point(|o| o.0 <= 2.0 * r);
            let beyond = outside[far];
            // Of few rows all must lie beyond; then one may lie in the shell for every four more.
            order.len() - far >= FEWEST
                && (far - shell) as f64 <= GAP * (order.len() - far - FEWEST + 1) as f64
                && beyond <= SHARE * weight
                && outside[shell] - beyond <= GAP * beyond
        })
        .map(|r| 1.5 * r)
}

/// The far rows that belong to no group.
fn alone(far: &[(usize, Vec<f64>)], rows: &Rows, total: f64) -> Vec<usize> {
    let step = (far.len() / COMPARED).max(1);
    let others: Vec<&(usize, Vec<f64>)> = far.iter().step_by(step).collect();
    let is_alone = |(_, u): &&(usize, Vec<f64>)| {
        let near = others.iter().filter(|(_, v)| {
            let product: f64 = u.iter().zip(v).map(|(a, b)| a * b).sum();
            product * product > 0.5 * (length(u) * length(v)).powi(2)
        });
        let (weight, count) = near
            .fold((0.0, 0), |(weight, count), (row, _)| (weight + rows.weight(*row), count + 1));
        weight * (step as f64) < GROUP.0 * total || count * step < GROUP.1
    };
    far.par_iter().filter(is_alone).map(|(row, _)| *row).collect()
}
