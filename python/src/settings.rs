//! What a fit is asked to do, from the estimators' JSON.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::Deserialize;
use serde_json::Value;
use upoe::{Depth, Quality, Settings};

use crate::errors;

/// Settings, and the two dials that decide how many layers there are.
#[derive(Deserialize)]
struct Asked {
    quality: Option<Quality>,
    depth: Option<String>,
}

/// The settings of JSON whose `quality` and `depth` are as users write them.
pub fn parse(json: &str) -> PyResult<Settings> {
    let wrong = |error: serde_json::Error| PyValueError::new_err(format!("settings: {error}"));
    let mut value: Value = serde_json::from_str(json).map_err(wrong)?;
    let Asked { quality, depth } = Asked::deserialize(&value).map_err(wrong)?;
    let depth: Option<Depth> = depth
        .map(|text| text.parse())
        .transpose()
        .map_err(|rule| PyValueError::new_err(format!("depth: {rule}")))?;
    if let Some(map) = value.as_object_mut() {
        map.remove("quality");
        map.remove("depth");
    }
    let settings: Settings = serde_json::from_value(value).map_err(wrong)?;
    settings.asked(quality, depth).map_err(|error| errors::of(error, None))
}

/// The estimators' `quality` and `depth` of the settings of a fit: (quality, layers or None for auto).
#[pyfunction]
pub fn dials(json: &str) -> PyResult<(&'static str, Option<usize>)> {
    let settings: Settings =
        serde_json::from_str(json).map_err(|e| PyValueError::new_err(e.to_string()))?;
    Ok((upoe::Choice::name(settings.quality()), settings.depth))
}
