//! A mixture as it is stored.

use super::TMixture;
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// What of a mixture is stored.
#[derive(Serialize, Deserialize)]
pub struct Plain {
    dims: usize,
    /// Not there for Gaussians: JSON has no ∞.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    degrees: Option<f64>,
    weights: Vec<f64>,
    means: Vec<f64>,
    covariances: Vec<f64>,
}

impl TryFrom<Plain> for TMixture {
    type Error = Error;

    fn try_from(plain: Plain) -> Result<Self> {
        let Plain { dims, degrees, weights, means, covariances } = plain;
        let degrees = degrees.unwrap_or(f64::INFINITY);
        TMixture::from_parts(dims, degrees, weights, means, covariances)
    }
}

impl From<TMixture> for Plain {
    fn from(mixture: TMixture) -> Self {
        let TMixture { dims, degrees, weights, means, covariances, .. } = mixture;
        let degrees = degrees.is_finite().then_some(degrees);
        Plain { dims, degrees, weights, means, covariances }
    }
}
