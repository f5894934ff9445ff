//! The layers of a stack and the members of a pool, as the page shows them.

use serde::Serialize;

use super::{Curve, Histogram};
use crate::Floats;

/// The layers of a stack, and the members of a pool.
#[derive(Clone, Debug, Serialize)]
pub struct ShownLayers {
    /// The names of the columns that have experts before the first layer.
    pub column_experts: Vec<String>,
    /// The layers, in the order in which rows pass them.
    pub layers: Vec<ShownLayer>,
    /// The members of the pool; none where there is no pool.
    pub members: Vec<ShownMember>,
}

/// A layer.
#[derive(Clone, Debug, Serialize)]
pub struct ShownLayer {
    /// "directions" or "radial".
    pub kind: String,
    /// What it found, in words.
    pub words: String,
    /// What it adds to the mean ln p of the training rows, in nats per row.
    pub gain: f64,
    /// The same of the held-out rows.
    pub holdout: Option<f64>,
    /// The smallest p-value of its experts.
    pub p_value: Option<f64>,
    /// The picture of a radial expert.
    pub radial: Option<ShownRadial>,
}

/// How far out rows lie, in doublings of the distance of the middle row.
#[derive(Clone, Debug, Serialize)]
pub struct ShownRadial {
    /// Dimensions that the distance is of.
    pub dims: usize,
    /// All rows, counted.
    pub histogram: Histogram,
    /// The fitted density and the Gaussian's.
    pub curve: Curve,
    /// The distance of each shown row.
    pub values: Floats,
}

/// A member of a pool.
#[derive(Clone, Debug, Serialize)]
pub struct ShownMember {
    /// Its share.
    pub share: f64,
    /// What it is, in words.
    pub words: String,
}
