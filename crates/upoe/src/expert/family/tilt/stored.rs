//! A tilt as it is stored.

use super::frame::Kind;
use super::{LARGEST, MOST_ROWS, Tilt, version_1};
use crate::error::{Result, invalid};
use serde::{Deserialize, Serialize};

/// What of a tilt is stored.
#[derive(Serialize, Deserialize)]
pub struct Plain {
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub gaussian_tails: bool,
    pub coefficients: Vec<f64>,
    pub rows: f64,
}

/// What may be read: version 0.1 wrote another basis.
#[derive(Deserialize)]
#[serde(untagged)]
pub enum Stored {
    Present(Plain),
    Version1(version_1::Plain),
}

impl TryFrom<Stored> for Tilt {
    type Error = crate::Error;

    fn try_from(stored: Stored) -> Result<Self> {
        let plain = match stored {
            Stored::Present(plain) => plain,
            Stored::Version1(plain) => plain.present()?,
        };
        let Plain { gaussian_tails, coefficients, rows } = plain;
        let kind = if gaussian_tails { Kind::Gaussian } else { Kind::Tails };
        if coefficients.len() != kind.frame().knots {
            return invalid("coefficients", coefficients.len(), "a tilt has one per knot");
        }
        if let Some(bad) = coefficients.iter().find(|c| !(c.abs() <= LARGEST)) {
            return invalid("coefficients", bad, "those of a tilt lie within ±10,000");
        }
        if !(1.0..=MOST_ROWS).contains(&rows) {
            return invalid("rows", rows, "a tilt's penalty is for 1 to 10,000 rows");
        }
        Ok(Tilt::build(kind, coefficients, rows))
    }
}

impl From<Tilt> for Plain {
    fn from(tilt: Tilt) -> Self {
        let gaussian_tails = tilt.kind == Kind::Gaussian;
        Plain { gaussian_tails, coefficients: tilt.coefficients, rows: tilt.rows }
    }
}
