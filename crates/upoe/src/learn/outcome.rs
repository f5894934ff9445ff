//! The outcome of a fit: experts, path, why it stopped.

use super::stop;
use crate::engine::Candidate;
use crate::error::{Error, Result, invalid};
use crate::expert::Expert;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What a layer adds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LayerRecord {
    /// To the mean ln p of the training rows, in nats per row: of each expert.
    pub gains: Vec<f64>,
    /// The chance of such a gain on Gaussian rows, of each expert, where it was computed.
    pub p_values: Vec<Option<f64>>,
    /// How many parameters it took: those of its experts, and the free entries of its directions.
    pub parameters: f64,
    /// What the layer adds to the mean ln p of the held-out rows, where there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holdout: Option<f64>,
}

impl LayerRecord {
    /// What the layer adds to the mean ln p of the training rows.
    pub fn gain(&self) -> f64 {
        self.gains.iter().sum()
    }
}

/// A direction and expert that learning found, and how.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Stored")]
#[non_exhaustive]
pub struct Learned {
    /// The direction in sphered space and its expert.
    #[serde(flatten)]
    pub candidate: Candidate,
    /// What it adds to the mean ln p of the training rows when it joins, in nats per row: −Q (17).
    pub gain: f64,
    /// The chance that Gaussian rows would give as large a gain, where the stop rule computes it.
    pub p_value: Option<f64>,
    /// Steps of its last descent.
    pub iterations: usize,
    /// Whether that ended at its tolerance.
    pub converged: bool,
}

impl Learned {
    /// A direction and expert that are learned, with this gain.
    pub fn new(candidate: Candidate, gain: f64) -> Self {
        Learned { candidate, gain, p_value: None, iterations: 0, converged: true }
    }

    /// The direction in sphered space.
    pub fn direction(&self) -> &[f64] {
        &self.candidate.direction
    }

    /// The expert.
    pub fn expert(&self) -> &Expert {
        &self.candidate.expert
    }
}

/// A [`Learned`] as it is stored. Version 0.1 wrote `q` for the gain, and `candidate` and `value`
/// for starts in reserve.
#[derive(Deserialize)]
struct Stored {
    direction: Option<Vec<f64>>,
    expert: Option<Expert>,
    candidate: Option<Candidate>,
    gain: Option<f64>,
    #[serde(alias = "value")]
    q: Option<f64>,
    p_value: Option<f64>,
    #[serde(default)]
    iterations: usize,
    #[serde(default)]
    converged: bool,
}

impl TryFrom<Stored> for Learned {
    type Error = Error;

    fn try_from(stored: Stored) -> Result<Self> {
        let Stored { p_value, iterations, converged, .. } = stored;
        let pair = stored.direction.zip(stored.expert).map(|(w, e)| Candidate::new(w, e));
        let gain = stored.gain.or(stored.q.map(|q| -q));
        match (pair.or(stored.candidate), gain) {
            (Some(candidate), Some(gain)) => {
                Ok(Learned { candidate, gain, p_value, iterations, converged })
            }
            _ => invalid("expert", "its parts", "direction, expert and gain are needed"),
        }
    }
}

/// ⟨ln p⟩ in sphered space of a model on the path, in nats per row.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PathPoint {
    /// Over the training rows.
    pub train: f64,
    /// Over the held-out rows, where there are any.
    pub holdout: Option<f64>,
}

/// What is learned so far. A fit that continues from it ends with the same bits as an
/// uninterrupted one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// The experts, in the order they were learned.
    pub experts: Vec<Learned>,
    /// The mean ln p of the models of 0…J experts.
    pub path: Vec<PathPoint>,
    /// Candidates kept as starts for the next directions while a fit goes on; empty once it is
    /// done.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reserve: Vec<Learned>,
}

impl State {
    /// The directions learned so far.
    pub(crate) fn directions(&self) -> Vec<Vec<f64>> {
        self.experts.iter().map(|e| e.candidate.direction.clone()).collect()
    }

    /// What all experts together add to the mean ln p of the Gaussian; `None` before the first
    /// pass.
    pub fn gain(&self) -> Option<PathPoint> {
        let (first, last) = (self.path.first()?, self.path.last()?);
        let holdout = last.holdout.zip(first.holdout).map(|(last, first)| last - first);
        Some(PathPoint { train: last.train - first.train, holdout })
    }

    /// The directions learned so far, with their experts.
    pub(crate) fn candidates(&self) -> Vec<Candidate> {
        self.experts.iter().map(|e| e.candidate.clone()).collect()
    }
}

/// Why a fit stopped.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "rule", try_from = "StoredReason")]
#[non_exhaustive]
pub enum StopReason {
    /// The requested number of experts is reached.
    Experts,
    /// Every dimension has its expert.
    Dimensions,
    /// The next expert gains no more than Gaussian rows would give.
    NotSignificant {
        /// Its p-value.
        p: f64,
    },
    /// The next expert gains nothing on the training rows.
    NoGain {
        /// Its gain.
        gain: f64,
    },
    /// The next expert does not raise the likelihood of the held-out rows.
    Holdout {
        /// How it changes it, in nats per row.
        change: f64,
    },
    /// The next expert gains less than its parameters cost.
    Bic {
        /// Its gain.
        gain: f64,
        /// The price of its parameters, in nats per row.
        price: f64,
    },
    /// The observer stopped it.
    Interrupted,
}

/// A reason as it is stored. Version 0.1 wrote `q` for the gain.
#[derive(Deserialize)]
struct StoredReason {
    rule: String,
    p: Option<f64>,
    gain: Option<f64>,
    q: Option<f64>,
    change: Option<f64>,
    price: Option<f64>,
}

impl TryFrom<StoredReason> for StopReason {
    type Error = Error;

    fn try_from(stored: StoredReason) -> Result<Self> {
        let StoredReason { rule, p, gain, q, change, price } = stored;
        let gain = gain.or(q.map(|q| -q));
        let reason = match rule.as_str() {
            "experts" => Some(StopReason::Experts),
            "dimensions" => Some(StopReason::Dimensions),
            "not-significant" => p.map(|p| StopReason::NotSignificant { p }),
            "no-gain" => gain.map(|gain| StopReason::NoGain { gain }),
            "holdout" => change.map(|change| StopReason::Holdout { change }),
            "bic" => gain.zip(price).map(|(gain, price)| StopReason::Bic { gain, price }),
            "interrupted" => Some(StopReason::Interrupted),
            _ => None,
        };
        reason.map_or_else(|| invalid("rule", rule, "is not a complete reason to stop"), Ok)
    }
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            StopReason::Experts => write!(f, "the requested number of experts is reached"),
            StopReason::Dimensions => write!(f, "every dimension has its expert"),
            StopReason::NotSignificant { p } => {
                let (places, level) = (if *p < 0.1 { 3 } else { 2 }, stop::LEVEL);
                write!(
                    f,
                    "the next direction gains no more than Gaussian noise would (p = {p:.places$}, needed {level})"
                )
            }
            StopReason::NoGain { gain } => write!(
                f,
                "the next direction gains nothing on the training rows ({gain:+.1e} nats per row)"
            ),
            StopReason::Holdout { change } => write!(
                f,
                "the next direction does not help on the held-out rows ({change:+.2e} nats per row)"
            ),
            StopReason::Bic { gain, price } => write!(
                f,
                "the next direction gains less than its parameters cost ({gain:.4} against {price:.4} nats per row)"
            ),
            StopReason::Interrupted => {
                write!(f, "the fit was interrupted; what was learned until then is kept")
            }
        }
    }
}
