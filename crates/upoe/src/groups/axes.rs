//! The axes on which groups are looked for: all dimensions, or of many those with experts first.

use super::FARTHEST;
use crate::error::Result;
use crate::linalg::{dot, remove, unit};
use crate::model::Model;
use crate::rows::Rows;
use serde::{Deserialize, Serialize};

/// Up to this many dimensions all are used.
const MOST: usize = 50;

/// Orthonormal axes in sphered space; none where all dimensions are used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Axes {
    dims: usize,
    axes: Vec<Vec<f64>>,
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
        Axes { dims, axes }
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
        self.count() == dims && self.axes.iter().all(sound)
    }

    /// Rows on the axes.
    pub fn project(&self, model: &Model, rows: &Rows) -> Result<Vec<f64>> {
        let mut x = model.whitening().sphere(rows)?;
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
