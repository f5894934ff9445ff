//! The words that settings take: the names of Rust's own variants.

use std::collections::BTreeMap;

use pyo3::prelude::*;
use upoe::expert::Family;
use upoe::{
    Choice, Detectable, Learner, ParallelStart, Precision, Quality, Recipe, Settings, Stop,
};

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
        ("quality", names::<Quality>()),
    ])
}

/// The settings of a fit that is asked for nothing, as JSON.
#[pyfunction]
pub fn defaults() -> PyResult<String> {
    errors::json(&Settings::default())
}

/// What a default fit of `n_rows` independent rows in `n_dims` dimensions can find, in nats per row:
/// `noise` is the gain that Gaussian rows exceed in 5 % of samples, `gain` the smallest one of a
/// direction that is found in 80 %. A direction with two equal groups has that gain if they lie
/// `groups` of their standard deviations apart, one with heavy tails if it has
/// `degrees_of_freedom`; None where nothing is enough.
#[pyfunction]
pub fn detectable(n_rows: u32, n_dims: u32) -> PyResult<BTreeMap<&'static str, Option<f64>>> {
    let settings = Settings::default();
    let of = Detectable::of(&settings, f64::from(n_rows), n_dims.max(1) as usize);
    Ok(BTreeMap::from([
        ("noise", of.map(|d| d.noise)),
        ("gain", of.map(|d| d.gain)),
        ("groups", of.and_then(|d| d.groups)),
        ("degrees_of_freedom", of.and_then(|d| d.degrees_of_freedom)),
    ]))
}

fn names<T: Choice>() -> Vec<&'static str> {
    T::ALL.iter().map(|choice| choice.name()).collect()
}
