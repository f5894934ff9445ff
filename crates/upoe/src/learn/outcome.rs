//! What comes of a fit: experts, path, why it stopped, what a user should know.

use super::search::Spare;
use super::stop;
use crate::expert::Expert;
use crate::model::Model;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A fitted model and how it came about.
#[derive(Clone, Debug)]
pub struct Fit {
    /// The model.
    pub model: Model,
    /// Experts and path, in the order they were learned.
    pub state: State,
    /// Why no further expert was added.
    pub stop: StopReason,
    /// What a user should know.
    pub notices: Vec<Notice>,
}

/// One learned expert and how it was learned.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Learned {
    /// Its direction in sphered space.
    pub direction: Vec<f64>,
    /// The expert.
    pub expert: Expert,
    /// Q, the change in ⟨−ln p⟩ over the training rows when it joined: negative is better.
    pub q: f64,
    /// The chance that Gaussian rows would give as large a gain, where the stop rule says.
    pub p_value: Option<f64>,
    /// Steps its last descent took.
    pub iterations: usize,
    /// Whether that ended at its tolerance.
    pub converged: bool,
}

/// ⟨ln p⟩ in sphered space of a model on the path, in nats a row.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PathPoint {
    /// Over the training rows.
    pub train: f64,
    /// Over the held-out rows, where there are any.
    pub holdout: Option<f64>,
}

/// What is learned so far: enough to go on from, with the same bits as without a break.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// The experts, in the order they were learned.
    pub experts: Vec<Learned>,
    /// The models of 0…J experts on the way.
    pub path: Vec<PathPoint>,
    /// Starts kept for the next directions while a fit goes on; empty once it is done.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reserve: Vec<Spare>,
}

/// Why a fit stopped.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "rule")]
#[non_exhaustive]
pub enum StopReason {
    /// The number of experts asked for is reached.
    Experts,
    /// Every dimension has its expert.
    Dimensions,
    /// The next expert gains no more than Gaussian rows would give.
    NotSignificant {
        /// Its p-value.
        p: f64,
    },
    /// The next expert has Q ≥ 0 on the training rows.
    NoGain {
        /// Its Q.
        q: f64,
    },
    /// The next expert does not raise the likelihood of the held-out rows.
    Holdout {
        /// What it does to it, in nats a row.
        change: f64,
    },
    /// The next expert gains less than its parameters cost.
    Bic {
        /// Its Q.
        q: f64,
        /// The price of its parameters, in nats a row.
        price: f64,
    },
    /// The observer stopped it.
    Interrupted,
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            StopReason::Experts => write!(f, "the number of experts asked for is reached"),
            StopReason::Dimensions => write!(f, "every dimension has its expert"),
            StopReason::NotSignificant { p } => write!(
                f,
                "the next direction gains no more than Gaussian noise would (p = {p:.2}, needed {})",
                stop::LEVEL
            ),
            StopReason::NoGain { q } => {
                write!(f, "the next direction gains nothing on the training rows (Q = {q:.1e})")
            }
            StopReason::Holdout { change } => {
                write!(
                    f,
                    "the next direction does not help on the held-out rows ({change:+.2e} nats a row)"
                )
            }
            StopReason::Bic { q, price } => write!(
                f,
                "the next direction gains less than its parameters cost ({:.4} against {price:.4} nats a row)",
                -q
            ),
            StopReason::Interrupted => {
                write!(f, "it was interrupted; what was learned until then is kept")
            }
        }
    }
}

/// Something a user should know about a fit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "notice")]
#[non_exhaustive]
pub enum Notice {
    /// The data have variance in fewer dimensions than columns; the density lives there.
    Degenerate {
        /// Dimensions with variance.
        rank: usize,
        /// Columns of the data.
        columns: usize,
        /// Columns that do not vary at all.
        constant: Vec<usize>,
    },
    /// An expert ended at a bound that keeps the likelihood finite.
    Bound {
        /// Which expert, from 0.
        expert: usize,
        /// Which bound.
        bound: String,
    },
    /// An expert's descent ran out of iterations.
    Iterations {
        /// Which expert, from 0.
        expert: usize,
    },
    /// The null rule was asked beyond its simulated table.
    Extrapolated {
        /// Rows over free dimensions.
        rows_per_dimension: f64,
        /// Free dimensions.
        dimensions: usize,
    },
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Notice::Degenerate { rank, columns, constant } => {
                write!(f, "the data vary in {rank} of {columns} dimensions")?;
                if !constant.is_empty() {
                    write!(f, " ({} constant column(s))", constant.len())?;
                }
                write!(
                    f,
                    ": the density is over that subspace, and rows outside it get ln p = −inf"
                )
            }
            Notice::Bound { expert, bound } => write!(
                f,
                "expert {} ended at the {bound} allowed: many equal values, a few rows in a line, or outliers so far off that they set the scale of their column; look at these rows before trusting its gain",
                expert + 1
            ),
            Notice::Iterations { expert } => {
                write!(
                    f,
                    "expert {} ran out of iterations before it converged: raise the limit",
                    expert + 1
                )
            }
            Notice::Extrapolated { rows_per_dimension, dimensions }
                if *rows_per_dimension < super::null::FEWEST =>
            {
                write!(
                    f,
                    "{rows_per_dimension:.1} rows a dimension in {dimensions} dimensions are too few: structure and noise cannot be told apart, and the null rule keeps no expert; keep fewer dimensions"
                )
            }
            Notice::Extrapolated { rows_per_dimension, dimensions } => write!(
                f,
                "{rows_per_dimension:.1} rows a dimension in {dimensions} dimensions lie outside the simulated table of the null rule: p-values continue its trend"
            ),
        }
    }
}
