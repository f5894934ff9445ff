//! The oddness of rows: distance to the core and rarity in the columns, in one number that splits
//! exactly over directions and over columns.

use super::cells::{Cells, Residuals};
use super::columns::Columns;
use super::core::{Concentrated, Core};
use super::gaps::stretch;
use super::heavy::Heavy;
use crate::error::Result;
use crate::linalg::dot;
use rayon::prelude::*;

/// What the columns count beside the distance.
const COLUMN_WEIGHT: f64 = 0.25;
/// What each nat counts by which a cell is rarer than rare ones.
const CELL_WEIGHT: f64 = 4.0;
/// The least deviation of a part: where all rows are alike, digits would be lost.
const LEAST_DEVIATION: f64 = 1e-6;
/// Rows that a thread takes at a time.
const BLOCK: usize = 256;

/// What makes rows odd, in robust units:
///
/// oddness = (ln(1 + S/d) − μ₁)/σ₁ + ¼ (ln(1 + C/d) − μ₂)/σ₂ + 4 E
///
/// S is the weighted squared distance to the core, C the sum of the columns' rarities; μ and σ are
/// means and deviations over the training rows. E is 0 for nearly all rows: by how many nats the least probable cell given
/// the others is rarer than rare ones (`cells.rs`). Rows with missing cells are judged by the others, and S and C
/// brought to those of whole rows (`gaps.rs`). A row without any value has S = C = 0.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Scorer {
    pub core: Core,
    pub heavy: Heavy,
    pub columns: Columns,
    pub cells: Cells,
    pub units: Units,
}

/// Means and deviations over the training rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Units {
    pub distance: (f64, f64),
    pub rarity: (f64, f64),
}

/// The parts of a row's oddness in the columns that are looked at.
pub(super) struct Split {
    pub base: f64,
    pub directions: Vec<f64>,
    pub rest: f64,
    /// How rare each value is in its own column, and the rarest cell given the others.
    pub alone: Vec<f64>,
    /// Each column's share of the distance, and its rarity.
    pub columns: Vec<f64>,
}

impl Scorer {
    /// From rows and their core; `units` are the rows' own where none are given.
    pub fn of(
        z: &[f64],
        weights: &[f64],
        found: Concentrated,
        directions: usize,
        units: Option<Units>,
    ) -> Result<Self> {
        let Concentrated { core, u, square, central, .. } = found;
        let d = core.centre.len();
        let heavy = Heavy::of(&u, &square, weights, d, directions)?;
        let columns = Columns::of(z, weights, &core, &central);
        let cells = Cells::of(&core, z, &u, weights);
        let ones = Units { distance: (0.0, 1.0), rarity: (0.0, 1.0) };
        let mut scorer = Scorer { core, heavy, columns, cells, units: units.unwrap_or(ones) };
        if units.is_none() {
            let parts = scorer.parts(z, &u);
            scorer.units = Units {
                distance: mean_and_deviation(parts.iter().map(|p| p.0), weights),
                rarity: mean_and_deviation(parts.iter().map(|p| p.1), weights),
            };
        }
        Ok(scorer)
    }

    /// ln(1 + S/d) and ln(1 + C/d) of each row.
    fn parts(&self, z: &[f64], u: &[f64]) -> Vec<(f64, f64)> {
        let d = self.core.centre.len();
        let row = |(z, u): (&[f64], &[f64])| {
            let columns = z.iter().zip(&self.core.centre).zip(&self.core.spread);
            let rarity = self.columns.sum(columns.map(|((z, m), s)| (z - m) / s), d);
            let per_column = |x: f64| (x / d as f64).ln_1p();
            (per_column(self.heavy.distance(u)), per_column(rarity))
        };
        let block = |(z, u): (&[f64], &[f64])| {
            z.chunks_exact(d).zip(u.chunks_exact(d)).map(row).collect::<Vec<_>>()
        };
        z.par_chunks(d * BLOCK).zip(u.par_chunks(d * BLOCK)).flat_map_iter(block).collect()
    }

    /// The oddness of each row.
    pub fn oddness(&self, z: &[f64]) -> Vec<f64> {
        let Units { distance: (m1, s1), rarity: (m2, s2) } = self.units;
        let u = self.core.sphere_present(z);
        let residuals = Residuals::new(&self.core, z);
        let d = self.core.centre.len();
        let cell = |(z, u): (&[f64], &[f64])| {
            self.cells.worst(&residuals, z, u).map_or(0.0, |(_, e)| CELL_WEIGHT * e)
        };
        let block = |(z, u): (&[f64], &[f64])| {
            z.chunks_exact(d).zip(u.chunks_exact(d)).map(cell).collect::<Vec<_>>()
        };
        let blocks = z.par_chunks(d * BLOCK).zip(u.par_chunks(d * BLOCK));
        let cells: Vec<f64> = blocks.flat_map_iter(block).collect();
        let parts = self.parts(z, &u);
        let sum = |((l, c), e)| (l - m1) / s1 + COLUMN_WEIGHT * (c - m2) / s2 + e;
        parts.into_iter().zip(cells).map(sum).collect()
    }

    /// The oddness at the core's centre, with no rare value.
    pub fn base(&self) -> f64 {
        let Units { distance: (m1, s1), rarity: (m2, s2) } = self.units;
        -m1 / s1 - COLUMN_WEIGHT * m2 / s2
    }

    /// The exact parts of one row's oddness: base + Σ directions + rest + Σ alone, and
    /// base + Σ columns.
    pub fn split(&self, z: &[f64]) -> Split {
        let d = self.core.centre.len();
        let (s1, s2) = (self.units.distance.1, self.units.rarity.1);
        let u = self.core.sphere_present(z);
        let (along, rest) = self.heavy.parts(&u);
        // ln(1 + S/d) is shared out in proportion to S, and ln(1 + C/d) in proportion to C.
        let per_unit = |total: f64| {
            if total > 0.0 { (total / d as f64).ln_1p() / total } else { 1.0 / d as f64 }
        };
        let share = per_unit(along.iter().sum::<f64>() + rest) / s1;
        let slope = self.heavy.half_slope(&u);
        let gaps = self.core.gaps();
        let mut filled = z.to_vec();
        let gap = gaps.fill(&mut filled);
        let off: Vec<f64> = filled.iter().zip(&self.core.centre).map(|(z, m)| z - m).collect();
        let there = z.iter().filter(|z| !z.is_nan()).count();
        let spread = off.iter().zip(&self.core.spread).zip(z).enumerate();
        let of_whole = d as f64 / there.max(1) as f64;
        let rarity: Vec<f64> = spread
            .map(
                |(c, ((off, s), z))| {
                    if z.is_nan() { 0.0 } else { of_whole * self.columns.rarity(c, off / s) }
                },
            )
            .collect();
        let rare = COLUMN_WEIGHT * per_unit(rarity.iter().sum()) / s2;
        let mut alone: Vec<f64> = rarity.iter().map(|rarity| rare * rarity).collect();
        if let Some((c, excess)) = self.cells.worst(&Residuals::new(&self.core, z), z, &u) {
            alone[c] += CELL_WEIGHT * excess;
        }
        let through = |c: usize| -> f64 {
            (c..d).map(|i| self.core.sphering[i * d + c] * slope[i]).sum::<f64>()
        };
        let mut factors: Vec<f64> = (0..d).map(through).collect();
        // The sphered row lies farther out than its cells, where some are missing.
        let mut stretched = 1.0;
        if let Some(gap) = &gap {
            gaps.passed_on(gap, &mut factors);
            let near = self.core.sphere(&filled);
            stretched = stretch(dot(&near, &near), there, d);
        }
        let columns = (0..d).map(|c| share * stretched * off[c] * factors[c] + alone[c]).collect();
        Split {
            base: self.base(),
            directions: along.into_iter().map(|part| share * part).collect(),
            rest: share * rest,
            alone,
            columns,
        }
    }
}

/// Mean and deviation of weighted values; the deviation is never 0.
fn mean_and_deviation(values: impl Iterator<Item = f64>, weights: &[f64]) -> (f64, f64) {
    let (mut mean, mut square, mut total) = (0.0, 0.0, 0.0);
    for (x, w) in values.zip(weights).filter(|(_, w)| **w > 0.0) {
        total += w;
        let step = x - mean;
        mean += step * w / total;
        square += w * step * (x - mean);
    }
    (mean, (square / total).sqrt().max(LEAST_DEVIATION))
}
