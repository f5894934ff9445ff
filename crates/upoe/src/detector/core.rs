//! The robust core: centre and covariance of the central rows, by concentration steps.

use super::frame::quantile;
use super::gaps::{Gap, Gaps};
use crate::error::{Error, Result};
use crate::linalg::dot;
use faer::linalg::triangular_inverse::invert_lower_triangular;
use faer::{Mat, Par, Side};

/// The share of rows that are the core.
const CENTRAL: f64 = 0.7;
/// While the central rows are searched for, correlations are shrunk so far towards 0: nearly dependent columns
/// would lead each step to other rows, and one far value could turn the path.
const SEARCH_SHRINK: f64 = 0.08;
/// The first step of a search, over all rows, takes values beyond so many robust units for so many.
const PULLED_IN: f64 = 20.0;
/// How far the correlations that were found are shrunk towards 0 at least and at most.
const SHRINK: [f64; 2] = [1e-3, 0.05];
/// How often the share with the smallest expected error is taken: outliers are left in the core.
const CAUTION: f64 = 2.0;
/// Steps of EM where cells are missing.
const EM_STEPS: usize = 20;
/// A column of the core spreads at least so far, in robust units.
const LEAST_SPREAD: f64 = 1e-3;

/// The core of some rows in robust units, and how those rows lie to it.
pub(super) struct Concentrated {
    pub core: Core,
    /// Sphered rows: n × d.
    pub u: Vec<f64>,
    /// ‖u‖² of each row.
    pub square: Vec<f64>,
    /// Which rows the core was estimated from.
    pub central: Vec<bool>,
    /// The correlations of the central rows: d × d.
    pub correlations: Mat<f64>,
    /// What they were chosen by: a core, and the square up to which rows are central. `None` where they were given.
    pub chosen_by: Option<(Core, f64)>,
}

/// u = A (z − m): the central rows have mean 0 and nearly unit covariance.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Core {
    pub centre: Vec<f64>,
    pub spread: Vec<f64>,
    /// A: d × d, lower triangular, row after row.
    pub sphering: Vec<f64>,
}

/// Estimates the core from the rows `central`, then from the share [`CENTRAL`] of the rows that lie
/// nearest to it, and so on, `steps` times in all. Where all rows are central, far values are pulled in for the first
/// of several steps. `step` is called after each; the result is `None` where it answers false.
pub(super) fn concentrate(
    z: &[f64],
    weights: &[f64],
    d: usize,
    mut central: Vec<bool>,
    steps: usize,
    step: &(dyn Fn() -> bool + Sync),
) -> Result<Option<Concentrated>> {
    let far = steps > 1 && central.iter().all(|central| *central);
    let mut first =
        far.then(|| z.iter().map(|z| z.clamp(-PULLED_IN, PULLED_IN)).collect::<Vec<f64>>());
    let mut chosen_by = None;
    for left in (0..steps).rev() {
        let values = first.take();
        let shrink = if left > 0 { Shrink::Search } else { Shrink::Estimated };
        let (core, correlations) =
            Core::of(values.as_deref().unwrap_or(z), weights, d, &central, shrink)?;
        let u = core.sphere_present(z);
        let square = squares(&u, d);
        if !step() {
            return Ok(None);
        }
        if left == 0 {
            return Ok(Some(Concentrated { core, u, square, central, correlations, chosen_by }));
        }
        let edge = quantile(&square, weights, CENTRAL);
        central = square.iter().map(|s| *s <= edge).collect();
        chosen_by = Some((core, edge));
    }
    Err(Error::NoConvergence { what: "core" })
}

impl Concentrated {
    /// The same core with all rows around it. Those are central that were given, or that would have been chosen.
    pub fn over(self, z: &[f64], given: &[bool]) -> Self {
        let d = self.core.centre.len();
        let central = match &self.chosen_by {
            Some((by, edge)) => {
                squares(&by.sphere_present(z), d).iter().map(|s| s <= edge).collect()
            }
            None => given.to_vec(),
        };
        let u = self.core.sphere_present(z);
        let square = squares(&u, d);
        Concentrated { u, square, central, ..self }
    }
}

/// ‖u‖² of each row.
fn squares(u: &[f64], d: usize) -> Vec<f64> {
    u.chunks_exact(d).map(|u| dot(u, u)).collect()
}

/// How far correlations are shrunk: as the search for central rows needs it, or as their errors say.
#[derive(Clone, Copy)]
enum Shrink {
    Search,
    Estimated,
}

impl Core {
    fn of(
        z: &[f64],
        weights: &[f64],
        d: usize,
        central: &[bool],
        shrink: Shrink,
    ) -> Result<(Self, Mat<f64>)> {
        let rows = z.chunks_exact(d).zip(weights).zip(central).filter(|(_, c)| **c);
        let (mut values, mut counts) = (Vec::with_capacity(z.len()), Vec::new());
        for ((row, weight), _) in rows {
            values.extend_from_slice(row);
            counts.push(*weight);
        }
        if values.iter().any(|z| z.is_nan()) {
            return Self::of_present(&values, &counts, d, shrink);
        }
        let near = vec![0.0; d];
        let (total, first, second) = upoe_kernels::scatter(&values, d, Some(&counts), &near);
        Self::of_sums(total, &first, &second, shrink)
    }

    /// From rows with missing cells, by EM: each step fills in the cells, and counts what remains unknown of them
    /// as spread.
    fn of_present(
        z: &[f64],
        weights: &[f64],
        d: usize,
        shrink: Shrink,
    ) -> Result<(Self, Mat<f64>)> {
        let mut found: Option<(Core, Mat<f64>)> = None;
        for _ in 0..EM_STEPS {
            let mut values = z.to_vec();
            let mut unknown = vec![0.0; d * d];
            let start = |c: usize| {
                let there = z.iter().skip(c).step_by(d).zip(weights).filter(|(z, _)| !z.is_nan());
                let (sum, total) = there.fold((0.0, 0.0), |(s, t), (z, w)| (s + w * z, t + w));
                if total > 0.0 { sum / total } else { 0.0 }
            };
            let (centre, sphering) = match &found {
                Some((core, _)) => (core.centre.clone(), core.sphering.clone()),
                None => {
                    let one = |i: usize| f64::from(u8::from(i / d == i % d));
                    ((0..d).map(start).collect(), (0..d * d).map(one).collect())
                }
            };
            let gaps = Gaps::new(&centre, &sphering);
            for (row, w) in values.chunks_exact_mut(d).zip(weights) {
                let Some(Gap { missing, covariance }) = gaps.fill(row) else { continue };
                for (a, &i) in missing.iter().enumerate() {
                    for (b, &j) in missing.iter().enumerate() {
                        unknown[i * d + j] += w * covariance[(a, b)];
                    }
                }
            }
            let near = vec![0.0; d];
            let (total, first, mut second) =
                upoe_kernels::scatter(&values, d, Some(weights), &near);
            second.iter_mut().zip(&unknown).for_each(|(s, u)| *s += u);
            found = Some(Self::of_sums(total, &first, &second, shrink)?);
        }
        found.ok_or(Error::NoConvergence { what: "core" })
    }

    fn of_sums(
        total: f64,
        first: &[f64],
        second: &[f64],
        shrink: Shrink,
    ) -> Result<(Self, Mat<f64>)> {
        let d = first.len();
        let centre: Vec<f64> = first.iter().map(|f| f / total).collect();
        let variance = |i: usize| (second[i * d + i] / total - centre[i] * centre[i]).max(0.0);
        let spread: Vec<f64> = (0..d).map(|i| variance(i).sqrt().max(LEAST_SPREAD)).collect();
        let correlations = Mat::from_fn(d, d, |i, j| {
            (second[i * d + j] / total - centre[i] * centre[j]) / (spread[i] * spread[j])
        });
        let share = match shrink {
            Shrink::Search => SEARCH_SHRINK,
            Shrink::Estimated => shrinkage(&correlations, total),
        };
        let sphering = sphering(&correlations, share, &spread)?;
        Ok((Core { centre, spread, sphering }, correlations))
    }

    /// Sphered rows: n × d.
    pub fn sphere(&self, z: &[f64]) -> Vec<f64> {
        let d = self.centre.len();
        upoe_kernels::affine::<f64, f64>(z, d, &self.centre, &self.sphering).to_vec()
    }
}

/// How far correlations of so many rows are shrunk towards 0: Σ Var r / Σ r² over pairs of columns has
/// the smallest expected squared error (Ledoit and Wolf), with Var r = (1 − r²)²/N as among normal
/// rows. Columns that are nearly dependent stay so: their relation tells when it is broken.
fn shrinkage(correlations: &Mat<f64>, rows: f64) -> f64 {
    let (mut error, mut square) = (0.0, 0.0);
    for j in 0..correlations.ncols() {
        for i in 0..j {
            let r2 = correlations[(i, j)].powi(2);
            error += (1.0 - r2).powi(2) / rows;
            square += r2;
        }
    }
    if square > 0.0 { (CAUTION * error / square).clamp(SHRINK[0], SHRINK[1]) } else { SHRINK[1] }
}

/// L⁻¹ / spread, where LLᵀ = (1 − shrink) R + shrink I: lower triangular, row after row.
pub(super) fn sphering(correlations: &Mat<f64>, shrink: f64, spread: &[f64]) -> Result<Vec<f64>> {
    let d = spread.len();
    let shrunk = Mat::from_fn(d, d, |i, j| {
        (1.0 - shrink) * correlations[(i, j)] + if i == j { shrink } else { 0.0 }
    });
    let failed = |_| Error::NoConvergence { what: "decomposition of the core's covariance" };
    let root = shrunk.llt(Side::Lower).map_err(failed)?;
    let mut inverse = Mat::<f64>::zeros(d, d);
    invert_lower_triangular(inverse.as_mut(), root.L(), Par::Seq);
    let entry = |i: usize, j: usize| if j <= i { inverse[(i, j)] / spread[j] } else { 0.0 };
    Ok((0..d).flat_map(|i| (0..d).map(move |j| (i, j))).map(|(i, j)| entry(i, j)).collect())
}
