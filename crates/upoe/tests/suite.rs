//! The laws the crate keeps, the values it must reach, the inputs it must survive.

mod common;
mod engines;
mod errata;
mod examples;
mod experts;
mod hard_inputs;
mod learners;
mod model;
mod outliers;
mod recovery;
mod settings;
mod sphering;
mod stopping;
mod tails;
mod values;
mod weights;
