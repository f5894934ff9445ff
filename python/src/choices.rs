//! The words that settings take: the names of Rust's own variants.

use std::collections::BTreeMap;

use pyo3::prelude::*;
use serde::Serialize;
use upoe::expert::Family;
use upoe::{Learner, ParallelStart, Precision, Recipe, Stop};

use crate::errors;

/// The words that each setting takes, by the name of the estimators' parameter.
#[pyfunction]
pub fn choices() -> PyResult<BTreeMap<&'static str, Vec<String>>> {
    use {Learner as L, ParallelStart as P, Stop as S};
    let mut choices = BTreeMap::new();
    choices.insert("family", words(Family::ALL)?);
    choices.insert("learner", words(&[L::Pursuit, L::Sequential, L::Parallel])?);
    choices.insert("parallel_start", words(&[P::Sequential, P::Pursuit, P::Random, P::Grow])?);
    choices.insert("stop", words(&[S::Null, S::Train, S::Holdout, S::Bic])?);
    choices.insert("recipe", words(&[Recipe::Best, Recipe::Paper])?);
    choices.insert("precision", words(&[Precision::F64, Precision::F32])?);
    Ok(choices)
}

/// The names of variants, as settings and model files write them.
fn words(variants: &[impl Serialize]) -> PyResult<Vec<String>> {
    let word = |variant| errors::json(variant).map(|json| json.trim_matches('"').to_owned());
    variants.iter().map(word).collect()
}
