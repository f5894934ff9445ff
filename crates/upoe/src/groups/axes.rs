//! The axes on which groups are looked for: all dimensions, or of many those with experts first;
//! or those of the columns on power scales.

use super::FARTHEST;
use super::power::Power;
use super::sphered::Sphered;
use crate::error::Result;
use crate::linalg::{dot, remove, unit};
use crate::model::Model;
use crate::rows::{Rows, view};
use serde::{Deserialize, Serialize};

/// Up to this many dimensions all are used.
const MOST: usize = 50;

/// Orthonormal axes in sphered space; none where all dimensions are used. Where columns are on power
/// scales, axes in the space of these columns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Axes {
    dims: usize,
    axes: Vec<Vec<f64>>,
    /// The power scale of each column; empty where all are as they are.
    #[serde(default)]
    powers: Vec<Power>,
    /// The mean of the columns on their power scales.
    #[serde(default)]
    centre: Vec<f64>,
}

/// Sphered axes of columns on power scales.
pub struct Bent {
    pub axes: Axes,
    /// ln of the volume on the axes over that of the rows, summed over all rows.
    pub ln_volume: f64,
}

impl Axes {
    pub fn of(model: &Model) -> Self {
        let dims = model.whitening().dims();
        let mut axes: Vec<Vec<f64>> = Vec::new();
        if dims > MOST {
            let first = (0..dims).map(|k| (0..dims).map(|i| f64::from(u8::from(i == k))).collect());
            for w in model.directions().iter().cloned().chain(first) {
                let mut w = unit(&w);
                remove(&axes, &mut w);
                remove(&axes, &mut w);
                if axes.len() < MOST && dot(&w, &w) > 0.01 {
                    axes.push(unit(&w));
                }
            }
        }
        Axes { dims, axes, powers: vec![], centre: vec![] }
    }

    /// Sphered axes of columns on power scales.
    pub fn bent(powers: Vec<Power>, values: &[f64]) -> Result<Option<Bent>> {
        let dims = powers.len();
        let mut axes = Axes { dims, axes: vec![], powers, centre: vec![0.0; dims] };
        let bent: Vec<f64> =
            values.chunks_exact(dims).flat_map(|row| axes.on_powers(row)).collect();
        let n = (values.len() / dims) as f64;
        for row in bent.chunks_exact(dims) {
            axes.centre.iter_mut().zip(row).for_each(|(c, x)| *c += x / n);
        }
        let Some(sphered) = Sphered::of(&bent, dims, false)? else { return Ok(None) };
        axes.axes = sphered.map;
        let ln_slopes = values.chunks_exact(dims).flat_map(|row| row.iter().zip(&axes.powers));
        let ln_slopes: f64 = ln_slopes.map(|(x, power)| power.ln_slope(*x)).sum();
        Ok(Some(Bent { axes, ln_volume: ln_slopes - 0.5 * n * sphered.ln_det }))
    }

    fn on_powers(&self, row: &[f64]) -> Vec<f64> {
        let at = |(x, power): (&f64, &Power)| power.at(*x).clamp(-FARTHEST, FARTHEST);
        row.iter().zip(&self.powers).map(at).collect()
    }

    /// How many axes there are.
    pub fn count(&self) -> usize {
        if self.axes.is_empty() { self.dims } else { self.axes.len() }
    }

    /// Whether they are axes of this model's sphered rows.
    pub fn suit(&self, model: &Model) -> bool {
        self.dims == model.whitening().dims()
    }

    /// Whether a mixture over so many dimensions belongs to them.
    pub fn fit(&self, dims: usize) -> bool {
        let sound = |w: &Vec<f64>| w.len() == self.dims && w.iter().all(|x| x.is_finite());
        let bends = self.powers.len() == self.dims
            && self.centre.len() == self.dims
            && self.centre.iter().all(|x| x.is_finite())
            && self.powers.iter().all(Power::sound);
        self.count() == dims && self.axes.iter().all(sound) && (self.powers.is_empty() || bends)
    }

    /// Rows on the axes.
    pub fn project(&self, model: &Model, rows: &Rows) -> Result<Vec<f64>> {
        if !self.powers.is_empty() {
            let row = |i: usize| {
                let row = self.on_powers(&rows.row(i));
                let off: Vec<f64> = row.iter().zip(&self.centre).map(|(x, c)| x - c).collect();
                self.axes.iter().map(|w| dot(w, &off)).collect::<Vec<f64>>()
            };
            return Ok((0..rows.len()).flat_map(row).collect());
        }
        let whitening = model.whitening();
        let mut x = whitening.sphere(rows)?;
        for (i, x) in x.chunks_exact_mut(self.dims).enumerate() {
            // Sums of huge cells may be infinity less infinity.
            if x.iter().any(|x| x.is_nan()) {
                let scales = whitening.mean().iter().zip(whitening.deviations());
                let near = |(cell, (mean, deviation)): (&f64, (&f64, &f64))| {
                    let most = FARTHEST * deviation;
                    mean + (cell - mean).max(-most).min(most)
                };
                let row: Vec<f64> = rows.row(i).iter().zip(scales).map(near).collect();
                x.copy_from_slice(&whitening.sphere(&view(&row, row.len(), None)?)?);
            }
        }
        x.iter_mut().for_each(|x| *x = x.clamp(-FARTHEST, FARTHEST));
        if self.axes.is_empty() {
            return Ok(x);
        }
        Ok(x.chunks_exact(self.dims).flat_map(|x| self.axes.iter().map(|w| dot(w, x))).collect())
    }

    /// The model's directions, on the axes.
    pub fn starts(&self, model: &Model) -> Vec<Vec<f64>> {
        let on = |w: &Vec<f64>| self.axes.iter().map(|a| dot(a, w)).collect();
        let directions = model.directions().iter().take(MOST);
        directions.map(|w| if self.axes.is_empty() { w.clone() } else { on(w) }).collect()
    }
}
