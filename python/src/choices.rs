//! The words that settings take: the names of Rust's own variants.

use std::collections::BTreeMap;

use pyo3::prelude::*;
use upoe::expert::Family;
use upoe::{Choice, Learner, ParallelStart, Precision, Recipe, Settings, Stop};

use crate::errors;

/// The words that each setting takes, by the name of the estimators' parameter.
#[pyfunction]
pub fn choices() -> BTreeMap<&'static str, Vec<&'static str>> {
    BTreeMap::from([
        ("family", names::<Family>()),
        ("learner", Learner::NAMES.to_vec()),
        ("parallel_start", names::<ParallelStart>()),
        ("stop", names::<Stop>()),
        ("recipe", names::<Recipe>()),
        ("precision", names::<Precision>()),
    ])
}

/// The settings of a fit that is asked for nothing, as JSON.
#[pyfunction]
pub fn defaults() -> PyResult<String> {
    errors::json(&Settings::default())
}

fn names<T: Choice>() -> Vec<&'static str> {
    T::ALL.iter().map(|choice| choice.name()).collect()
}
