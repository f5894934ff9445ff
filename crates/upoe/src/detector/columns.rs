//! Column experts: how rare each value is in its own column, judged from the core's rows.

use super::core::Core;
use rayon::prelude::*;

/// Points at which a density is kept, and the range that they span, in spreads of the core.
pub(super) const POINTS: usize = 256;
const SPAN: f64 = 8.0;
const STEP: f64 = 2.0 * SPAN / (POINTS - 1) as f64;
/// What every point has beside the rows near it, as a share of all rows: values that the core never
/// takes are rare, not impossible.
const FLOOR: f64 = 1e-3;
/// The kernel reaches so many points to each side.
const KERNEL: usize = 64;

/// For each column ln of the density's peak over the density, at [`POINTS`] points: d × POINTS. It is
/// 0 at the most ordinary value.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Columns(pub Vec<f64>);

impl Columns {
    /// Kernel estimates from the central rows.
    pub fn of(z: &[f64], weights: &[f64], core: &Core, central: &[bool]) -> Self {
        let d = core.centre.len();
        let rows: f64 = weights.iter().sum();
        // Silverman's rule for the normal spread of the core, and not below the points' distance.
        let width = (0.954 * rows.powf(-0.2)).max(0.05);
        let bell = |k: usize| {
            let off = (k as f64 - KERNEL as f64) * STEP / width;
            (-0.5 * off * off).exp()
        };
        let kernel: Vec<f64> = (0..=2 * KERNEL).map(bell).collect();
        let mass: f64 = kernel.iter().sum();
        let column = |c: usize| {
            let mut counts = vec![0.0; POINTS];
            let mut total = 0.0;
            let there = |(i, row): &(usize, &[f64])| central[*i] && !row[c].is_nan();
            for (i, row) in z.chunks_exact(d).enumerate().filter(there) {
                let at = position((row[c] - core.centre[c]) / core.spread[c]);
                counts[at.round() as usize] += weights[i];
                total += weights[i];
            }
            let smooth = |k: usize| {
                let from = k.saturating_sub(KERNEL);
                let near = counts[from..(k + KERNEL + 1).min(POINTS)].iter();
                near.zip(&kernel[from + KERNEL - k..]).map(|(c, w)| c * w).sum::<f64>()
            };
            let density: Vec<f64> =
                (0..POINTS).map(|k| smooth(k) / (mass * total) + FLOOR / POINTS as f64).collect();
            let peak = density.iter().copied().fold(0.0, f64::max);
            density.into_iter().map(|p| (peak / p).ln()).collect::<Vec<f64>>()
        };
        Columns((0..d).into_par_iter().flat_map_iter(column).collect())
    }

    /// The rarities of a row's values, in spreads of the core, as sum. Cells that are missing count as much as the
    /// others on average.
    pub fn sum(&self, y: impl Iterator<Item = f64>, d: usize) -> f64 {
        let (mut sum, mut there) = (0.0, 0_usize);
        for (c, y) in y.enumerate().filter(|(_, y)| !y.is_nan()) {
            sum += self.rarity(c, y);
            there += 1;
        }
        if there == d { sum } else { sum * d as f64 / there.max(1) as f64 }
    }

    /// How rare a value of column `c` is, in nats; `y` is in spreads of the core.
    #[inline]
    pub fn rarity(&self, c: usize, y: f64) -> f64 {
        let at = position(y);
        let k = (at as usize).min(POINTS - 2);
        let (low, high) = (self.0[c * POINTS + k], self.0[c * POINTS + k + 1]);
        low + (high - low) * (at - k as f64)
    }
}

/// Where a value lies among the points.
#[inline]
fn position(y: f64) -> f64 {
    (y.clamp(-SPAN, SPAN) + SPAN) / STEP
}
