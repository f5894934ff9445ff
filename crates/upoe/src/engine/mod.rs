//! Who sums over rows.
//!
//! Learners never touch rows: they ask an engine for sums, which can be added up over
//! threads, files, devices or machines.

mod memory;

pub use memory::Memory;

use crate::expert::Expert;
use serde::{Deserialize, Serialize};

/// A direction in sphered space and its expert.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// w, with one entry a dimension.
    pub direction: Vec<f64>,
    /// The expert on z = wᵀx.
    pub expert: Expert,
}

/// What a pass over the rows gives for one candidate.
#[derive(Clone, Debug)]
pub struct Sums {
    /// Σ weight · E′(z) · x.
    pub score: Vec<f64>,
    /// The expert's own statistics, from which its loss and gradient follow.
    pub statistics: Vec<f64>,
}

/// Sums over sphered rows.
pub trait Engine: Sync {
    /// D, the dimensions of a row.
    fn dims(&self) -> usize;

    /// How many rows there are.
    fn rows(&self) -> usize;

    /// Σ weights.
    fn weight(&self) -> f64;

    /// Whether the rows are the sphered training rows themselves, so that ⟨xxᵀ⟩ = I.
    fn is_white(&self) -> bool;

    /// The error that rounding leaves in a mean loss.
    fn rounding(&self) -> f64 {
        1e-15
    }

    /// ⟨‖x‖²⟩, which is D where ⟨xxᵀ⟩ = I.
    fn mean_square(&self) -> f64;

    /// The sums of every candidate, from one pass.
    fn sums(&self, candidates: &[Candidate]) -> Vec<Sums>;

    /// An engine over about `n` rows drawn without replacement, for screening starts and for
    /// mini-batches; `None` where that is not worth it or not to be had.
    fn subset(&self, _seed: u64, _n: usize) -> Option<Box<dyn Engine>> {
        None
    }

    /// Directions the rows suggest as starts: differences of random pairs of rows, as they
    /// come (not normalised). They turn with the data, and point along groups and outliers.
    fn suggest(&self, _seed: u64, _n: usize) -> Vec<Vec<f64>> {
        Vec::new()
    }
}
