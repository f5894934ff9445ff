//! One layer of a stack: experts along directions, or a radial expert.

use super::gaussianise::Gaussianiser;
use super::radial::{Radial, RadialParts};
use crate::error::{Result, invalid};
use crate::expert::{Expert, Marginal};
use crate::linalg::{HALF_LN_TAU, dot, orthonormal_in};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// One layer of a stack. It maps the rows of the layer before it to rows that are closer to standard normal.
// Layers are few; a box would only add a step to every use.
#[allow(clippy::large_enum_variant)]
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Layer {
    /// Experts along orthonormal directions.
    Directions(Directions),
    /// An expert on how far out rows lie.
    Radial(Radial),
}

/// Experts along orthonormal directions.
#[derive(Clone, Debug)]
pub struct Directions {
    directions: Vec<Vec<f64>>,
    maps: Vec<Gaussianiser>,
}

/// A [`Layer`] as it is stored.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "layer")]
#[non_exhaustive]
pub enum LayerParts {
    /// Experts along orthonormal directions.
    Directions {
        /// The directions.
        directions: Vec<Vec<f64>>,
        /// One expert for each.
        experts: Vec<Expert>,
    },
    /// An expert on how far out rows lie.
    Radial(RadialParts),
}

impl Directions {
    /// Of orthonormal directions.
    pub(crate) fn new(directions: Vec<Vec<f64>>, experts: Vec<Expert>) -> Self {
        Directions { directions, maps: experts.into_par_iter().map(Gaussianiser::new).collect() }
    }

    /// The directions, orthonormal.
    pub fn directions(&self) -> &[Vec<f64>] {
        &self.directions
    }

    /// Their experts.
    pub fn experts(&self) -> impl Iterator<Item = &Expert> {
        self.maps.iter().map(Gaussianiser::expert)
    }

    fn z<'a>(&'a self, x: &'a [f64]) -> impl Iterator<Item = (f64, &'a Gaussianiser, &'a [f64])> {
        let pairs = self.directions.iter().zip(&self.maps);
        pairs.map(move |(w, map)| (dot(w, x), map, &w[..]))
    }

    /// What each expert adds to ln p of a row over the Gaussian.
    pub fn terms(&self, x: &[f64]) -> Vec<f64> {
        let term = |(z, map, _): (f64, &Gaussianiser, &[f64])| {
            map.expert().ln_density(z) + 0.5 * z * z + HALF_LN_TAU
        };
        self.z(x).map(term).collect()
    }

    fn map(&self, x: &mut [f64]) -> f64 {
        let moved: Vec<(f64, f64)> = self
            .z(x)
            .map(|(z, map, _)| {
                let mapped = map.map(z);
                (mapped.g - z, mapped.ln_slope)
            })
            .collect();
        for ((by, _), w) in moved.iter().zip(&self.directions) {
            x.iter_mut().zip(w).for_each(|(x, w)| *x += by * w);
        }
        moved.iter().map(|(_, ln_slope)| ln_slope).sum()
    }

    fn inverse(&self, x: &mut [f64]) {
        let moved: Vec<f64> = self.z(x).map(|(g, map, _)| map.inverse(g) - g).collect();
        for (by, w) in moved.iter().zip(&self.directions) {
            x.iter_mut().zip(w).for_each(|(x, w)| *x += by * w);
        }
    }

    fn pull(&self, x: &[f64], gradient: Vec<f64>) -> Vec<f64> {
        let mut pulled = gradient.clone();
        for (z, map, w) in self.z(x) {
            let mapped = map.map(z);
            let slope = mapped.ln_slope.exp();
            let own = mapped.g * slope - map.expert().energy_slope(z);
            let by = (slope - 1.0) * dot(w, &gradient) + own;
            pulled.iter_mut().zip(w).for_each(|(p, w)| *p += by * w);
        }
        pulled
    }
}

impl Layer {
    /// From what a file stores, over rows of `dims` dimensions.
    pub fn from_parts(parts: LayerParts, dims: usize) -> Result<Self> {
        match parts {
            LayerParts::Radial(parts) => Ok(Layer::Radial(Radial::from_parts(parts, dims)?)),
            LayerParts::Directions { directions, experts } => {
                if directions.len() != experts.len() || !orthonormal_in(&directions, dims) {
                    let due = "must be orthonormal, one for each expert";
                    return invalid("layer", "its directions", due);
                }
                Ok(Layer::Directions(Directions::new(directions, experts)))
            }
        }
    }

    /// What a file stores.
    pub fn parts(&self) -> LayerParts {
        match self {
            Layer::Radial(radial) => LayerParts::Radial(radial.parts()),
            Layer::Directions(layer) => LayerParts::Directions {
                directions: layer.directions.clone(),
                experts: layer.experts().cloned().collect(),
            },
        }
    }

    /// What its experts add to ln p of a row over the Gaussian, one by one.
    pub fn terms(&self, x: &[f64]) -> Vec<f64> {
        match self {
            Layer::Directions(layer) => layer.terms(x),
            Layer::Radial(radial) => vec![radial.term(x)],
        }
    }

    /// Maps a row; returns the logarithm of the map's determinant.
    pub(crate) fn map(&self, x: &mut [f64]) -> f64 {
        match self {
            Layer::Directions(layer) => layer.map(x),
            Layer::Radial(radial) => radial.map(x),
        }
    }

    /// Maps a row back.
    pub(crate) fn inverse(&self, x: &mut [f64]) {
        match self {
            Layer::Directions(layer) => layer.inverse(x),
            Layer::Radial(radial) => radial.inverse(x),
        }
    }

    /// The gradient of ln p before the map, given the row there and the gradient after it.
    pub(crate) fn pull(&self, x: &[f64], gradient: Vec<f64>) -> Vec<f64> {
        match self {
            Layer::Directions(layer) => layer.pull(x, gradient),
            Layer::Radial(radial) => radial.pull(x, gradient),
        }
    }
}
