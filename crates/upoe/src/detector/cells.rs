//! Single cells that the rest of their row makes improbable: a shifted value, a slip of the pen.
//!
//! A row that lies far out in many columns also has large residuals. So a residual is judged as under a Student-t core:
//! the farther out a row lies in its *other* columns, the more its own may spread. And columns differ in how often the
//! others are wrong about them, so each has a tail of its own, with a shape: a column of zeros and a few ones is often wrong.

use super::core::Core;
use super::frame::quantile;
use super::gaps::Gaps;
use crate::linalg::dot;
use std::f64::consts::LN_2;

/// Degrees of freedom of the core.
const FREEDOM: f64 = 20.0;
/// Each tail goes through the residuals that these shares of the rows do not exceed: a few per cent of shifted cells,
/// which share out over the columns, lie beyond.
const BODY: [f64; 3] = [0.5, 0.9, 0.99];
/// Exponents of a tail: at most that of an exponential one.
const POWER: [f64; 2] = [0.1, 1.0];
/// A column whose residuals hardly differ has no tail.
const LEAST: f64 = 1e-9;
/// Tails are fitted to about this many rows.
const JUDGED: usize = 5_000;
/// No cell counts as less probable than the smallest numbers: −ln p is at most this.
const MOST: f64 = 700.0;
/// Cells count where fewer ordinary rows than this share have one that is so improbable.
const RARE: f64 = 1e-3;

/// P(|residual| > x) = ½ exp(−level ((x − median)/reach)^power) for each column, beyond its median.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Cells {
    pub median: Vec<f64>,
    pub reach: Vec<f64>,
    pub power: Vec<f64>,
    /// −ln of the probability at `reach`, less ln 2.
    pub level: f64,
    /// From which ratio on a cell is rare.
    from: Vec<f64>,
}

/// What residuals are computed with: A of the core, P = AᵀA, and missing cells.
pub(super) struct Residuals<'a> {
    core: &'a Core,
    own: Vec<f64>,
    gaps: Option<Gaps<'a>>,
}

impl<'a> Residuals<'a> {
    /// For rows `z` of a core's columns.
    pub fn new(core: &'a Core, z: &[f64]) -> Self {
        let d = core.centre.len();
        let mut own = vec![0.0; d];
        for row in core.sphering.chunks_exact(d) {
            own.iter_mut().zip(row).for_each(|(own, a)| *own += a * a);
        }
        Residuals { core, own, gaps: z.iter().any(|z| z.is_nan()).then(|| core.gaps()) }
    }

    /// t²/(degrees of freedom) of each cell of a row given the others, as of a row without gaps; `u` is the sphered row.
    fn ratios(&self, z: &[f64], u: &[f64]) -> Vec<f64> {
        let d = z.len();
        match &self.gaps {
            Some(gaps) if z.iter().any(|z| z.is_nan()) => {
                let mut row = z.to_vec();
                let Some(gap) = gaps.fill(&mut row) else { return vec![0.0; d] };
                let there = (d - gap.missing.len()) as f64;
                let own: Vec<f64> = (0..d).map(|c| gaps.own(&gap, c)).collect();
                let mut ratios = self.whole(&self.core.sphere(&row), &own);
                gap.missing.iter().for_each(|&c| ratios[c] = 0.0);
                let power = (FREEDOM + there) / (FREEDOM + d as f64);
                ratios.iter_mut().for_each(|t| *t = (power * t.ln_1p()).exp_m1());
                ratios
            }
            _ => self.whole(u, &self.own),
        }
    }

    /// The same for a row that is whole; `own` is what is known of each cell given the others.
    fn whole(&self, u: &[f64], own: &[f64]) -> Vec<f64> {
        let d = u.len();
        let mut ratios = vec![0.0; d];
        for (i, u) in u.iter().enumerate() {
            let row = &self.core.sphering[i * d..][..=i];
            ratios.iter_mut().zip(row).for_each(|(r, a)| *r += a * u);
        }
        let square = dot(u, u);
        for (r, own) in ratios.iter_mut().zip(own) {
            let explained = (*r * *r / own.max(f64::MIN_POSITIVE)).min(square);
            *r = explained / (FREEDOM + square - explained);
        }
        ratios
    }
}

impl Cells {
    /// Tails of the columns' residuals, from rows `z` and the same rows sphered, `u`.
    pub fn of(core: &Core, z: &[f64], u: &[f64], weights: &[f64]) -> Self {
        let d = core.centre.len();
        let every = weights.len().div_ceil(JUDGED);
        let residuals = Residuals::new(core, z);
        let rows = z.chunks_exact(d).zip(u.chunks_exact(d)).step_by(every);
        let ratios: Vec<f64> = rows.flat_map(|(z, u)| residuals.ratios(z, u)).collect();
        let judged: Vec<f64> = weights.iter().step_by(every).copied().collect();
        // The largest of N rows has about the mass ½/N above it.
        let total: f64 = judged.iter().sum();
        let level = |share: f64| (0.5 / (1.0 - share).max(0.5 / total)).ln();
        let levels = level(BODY[2]) / level(BODY[1]).max(LEAST);
        let (mut median, mut reach, mut power) = (vec![0.0; d], vec![0.0; d], vec![POWER[1]; d]);
        for c in 0..d {
            let there: Vec<usize> =
                (0..judged.len()).filter(|i| !z[i * every * d + c].is_nan()).collect();
            if there.is_empty() {
                continue;
            }
            let column: Vec<f64> = there.iter().map(|i| ratios[i * d + c]).collect();
            let counts: Vec<f64> = there.iter().map(|i| judged[*i]).collect();
            let [low, near, far] = BODY.map(|share| length(quantile(&column, &counts, share), d));
            (median[c], reach[c]) = (low, far - low);
            if reach[c] > LEAST && levels > 1.0 {
                let steps = reach[c] / (near - low).max(LEAST * reach[c]);
                let shape = if steps > 1.0 { levels.ln() / steps.ln() } else { POWER[1] };
                power[c] = shape.clamp(POWER[0], POWER[1]);
            }
        }
        Cells::new(median, reach, power, level(BODY[2]))
    }

    /// From the tails' numbers.
    pub fn new(median: Vec<f64>, reach: Vec<f64>, power: Vec<f64>, level: f64) -> Self {
        let d = median.len();
        let from = |c: usize| {
            if reach[c] <= LEAST || level <= 0.0 {
                return f64::INFINITY;
            }
            let rare = ((least(d) - LN_2) / level).powf(1.0 / power[c]);
            ratio(median[c] + reach[c] * rare, d)
        };
        let from = (0..d).map(from).collect();
        Cells { median, reach, power, level, from }
    }

    /// The cell of a row that the others make most improbable, and by how much its −ln p, corrected for the number of
    /// columns, exceeds that of a rare one; `None` where there is none.
    pub fn worst(&self, residuals: &Residuals, z: &[f64], u: &[f64]) -> Option<(usize, f64)> {
        let (d, mut worst) = (z.len(), None);
        for (c, ratio) in residuals.ratios(z, u).into_iter().enumerate() {
            if ratio > self.from[c] {
                let beyond = (length(ratio, d) - self.median[c]) / self.reach[c];
                let surprise = LN_2 + self.level * beyond.powf(self.power[c]);
                let excess = surprise.min(MOST) - least(d);
                if excess > worst.map_or(0.0, |(_, most)| most) {
                    worst = Some((c, excess));
                }
            }
        }
        worst
    }
}

/// −ln p of a cell that is just rare, where a row has d of them.
fn least(d: usize) -> f64 {
    (d as f64).ln() - RARE.ln()
}

/// The length of a residual: the root of −ln of its density, up to a constant.
fn length(ratio: f64, d: usize) -> f64 {
    (0.5 * (FREEDOM + d as f64) * ratio.ln_1p()).sqrt()
}

/// The ratio that has this length.
fn ratio(length: f64, d: usize) -> f64 {
    (2.0 * length * length / (FREEDOM + d as f64)).exp_m1()
}
