//! Far rows that lie together in one direction, as a rare group does: a gap along that direction.

use super::Table;
use super::scattered::{GROUP, INNER, gap, length};
use super::{SHARE, Smooth};
use crate::error::Result;
use crate::rows::Rows;
use crate::whitening::Whitening;

/// Rows within 45° of each other lie in one direction: the square of the cosine.
pub(crate) const ALIKE: f64 = 0.5;

/// The rows beyond a gap along a direction in which many of the farthest rows lie, in rising order. `x` is a sample of
/// the rows, and `inner` the sphering of its inner rows.
pub(super) fn together(
    table: &Table,
    smooth: &Smooth,
    x: &Rows,
    inner: &Whitening,
) -> Result<Vec<usize>> {
    let u = inner.sphere(x)?;
    let u: Vec<&[f64]> = u.chunks_exact(inner.dims()).collect();
    let weight: f64 = (0..x.len()).map(|i| x.weight(i)).sum();
    let mut limits: Vec<(Vec<f64>, f64)> = Vec::new();
    // Rows of a group lie far along other directions, too.
    let mut found = vec![false; u.len()];
    for direction in directions(&u, x, weight) {
        let along =
            |(u, found): (&&[f64], &bool)| if *found { 0.0 } else { dot(u, &direction).abs() };
        let along: Vec<f64> = u.iter().zip(&found).map(along).collect();
        if let Some(limit) = gap(&along, x, weight) {
            found.iter_mut().zip(&along).for_each(|(found, a)| *found |= *a > limit);
            limits.push((direction, limit));
        }
    }
    if limits.is_empty() {
        return Ok(Vec::new());
    }
    table.each(smooth, |row, x| {
        let u = inner.sphere_row(x);
        limits.iter().any(|(a, limit)| dot(&u, a).abs() > *limit).then_some(row)
    })
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The directions in which the farthest rows lie, where enough rows lie in one to be a group.
fn directions(u: &[&[f64]], x: &Rows, weight: f64) -> Vec<Vec<f64>> {
    let mut order: Vec<(f64, usize)> = u.iter().map(|u| length(u)).zip(0..).collect();
    order.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut sum = 0.0;
    let farthest = order.into_iter().take_while(|(_, i)| {
        sum += x.weight(*i);
        sum <= (1.0 - INNER).min(SHARE) * weight
    });
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (far, i) in farthest {
        let like = |group: &&mut Vec<usize>| {
            let first = u[group[0]];
            dot(u[i], first).powi(2) > ALIKE * (far * length(first)).powi(2)
        };
        match groups.iter_mut().find(like) {
            Some(group) => group.push(i),
            None => groups.push(vec![i]),
        }
    }
    let enough = |group: &&Vec<usize>| {
        let of_group: f64 = group.iter().map(|&i| x.weight(i)).sum();
        group.len() >= GROUP.1 && of_group >= GROUP.0 * weight
    };
    groups.iter().filter(enough).map(|group| mean(u, group)).collect()
}

/// The mean direction of some rows, on whichever side they lie.
fn mean(u: &[&[f64]], group: &[usize]) -> Vec<f64> {
    let mut sum = vec![0.0; u[group[0]].len()];
    for &i in group {
        let side = dot(u[i], u[group[0]]).signum() / length(u[i]);
        sum.iter_mut().zip(u[i]).for_each(|(sum, u)| *sum += side * u);
    }
    let length = length(&sum);
    sum.iter_mut().for_each(|a| *a /= length);
    sum
}
