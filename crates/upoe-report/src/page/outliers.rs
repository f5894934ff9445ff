//! The odd rows on the page.

use serde::Serialize;

use super::{ShownCell, real};
use crate::Floats;

/// The odd rows, by the detector of `upoe outliers`, and the least usual ones.
#[derive(Clone, Debug, Serialize)]
pub struct Outliers {
    /// "2 of 200 rows are odd at alpha 0.01; chance alone would give about 2.0", or why no row was judged.
    pub words: String,
    /// Which rows were not judged, in words.
    pub note: Option<String>,
    /// The rows of density 0, then the others, the oddest first; where none was judged, the least probable first.
    pub rows: Vec<Outlier>,
    /// The names of the parts in [`Outlier::experts`]; none where they are the experts of the one layer.
    pub parts: Vec<String>,
}

/// What a detector says of a row.
#[derive(Clone, Debug, Serialize)]
pub struct Judgement {
    /// Whether it is called odd, as `upoe outliers` does by default.
    pub odd: bool,
    /// How far it lies from the core of the rows.
    pub oddness: f64,
    /// How probable it is that an ordinary row is at least so odd.
    pub p_value: f64,
    /// The expected share of false alarms among the rows that are at least so odd.
    pub q_value: f64,
    /// How many rows as odd chance alone would give among all that were judged, in words.
    pub by_chance: String,
    /// Why it is odd, as `upoe outliers` says it, the most important reason first.
    pub reasons: Vec<String>,
}

/// A row that is odd, or less usual than the others, and why.
///
/// `baseline + Σ experts + rest = log_density` (unless that is −∞ and `note` says why),
/// and each term is the sum of its row of `split`.
#[derive(Clone, Debug, Serialize)]
pub struct Outlier {
    /// Where the row stands in [`crate::ShownRows`]' arrays (outliers survive sampling).
    pub position: usize,
    /// Its number in the data, from 1.
    pub number: u32,
    /// What the detector says of it.
    pub judgement: Option<Judgement>,
    /// ln p of the row.
    #[serde(serialize_with = "real")]
    pub log_density: f64,
    /// Probability, under the model, of a row no more probable.
    pub tail: Option<f64>,
    /// A note: why its ln p is −∞.
    pub note: Option<String>,
    /// How far out it lies, in words, where there is a radial expert.
    pub far: Option<String>,
    /// Its values beside their densities, given the row's others; the most to blame first.
    pub cells: Vec<ShownCell>,
    /// ln p at the data's mean; for stacks and pools the mean ln p of rows drawn from the model.
    pub baseline: f64,
    /// How each expert moves ln p from the baseline.
    pub experts: Vec<f64>,
    /// How the Gaussian rest moves it.
    pub rest: f64,
    /// Each modelled column's share of the whole move.
    pub columns: Floats,
    /// The full split: a row for each expert and one for the rest, each over the
    /// modelled columns. Empty when left out for size.
    pub split: Vec<Floats>,
    /// The row's modelled cells.
    pub values: Floats,
}
