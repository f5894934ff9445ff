//! The laws the crate keeps, the values it must reach, the inputs it must survive.

use upoe::engine::{Engine, Memory};

mod cluster;
mod common;
mod compare;
mod dependence;
mod detector;
mod engines;
mod errata;
mod examples;
mod experts;
mod fitted;
mod gaps;
mod groups;
mod hard_inputs;
mod holes;
mod learners;
mod line;
mod missing;
mod model;
mod outliers;
mod pool;
mod recovery;
mod search;
mod settings;
mod sphering;
mod stack;
mod stopping;
mod t_mixture;
mod t_mixture_holes;
mod tails;
mod tilt;
mod values;
mod weights;

/// The engine on which the laws of experts are tested; `upoe-cuda` tests them on its own.
pub fn engine_of(z: Vec<f64>, weights: Option<Vec<f64>>) -> Box<dyn Engine> {
    Box::new(Memory::<f64>::new(z, 1, weights).unwrap())
}
