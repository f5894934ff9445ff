//! The laws the crate keeps, the values it must reach, the inputs it must survive.

mod common;
mod dependence;
mod engines;
mod errata;
mod examples;
mod experts;
mod hard_inputs;
mod learners;
mod model;
mod outliers;
mod recovery;
mod search;
mod settings;
mod sphering;
mod stopping;
mod tails;
mod tilt;
mod values;
mod weights;
