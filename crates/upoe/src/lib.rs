//! Under-complete products of experts: projection-pursuit density estimation with an exact
//! likelihood.

pub mod engine;
mod error;
pub mod expert;
mod learn;
mod model;
mod moments;
pub mod random;
mod rows;
mod whitening;

pub use error::{Error, Result};
pub use learn::{
    Event, Fit, Learned, Learner, Notice, ParallelStart, PathPoint, Precision, Recipe, Settings,
    State, Stop, StopReason, fit, fit_with,
};
pub use model::{Explanation, Model};
pub use moments::Moments;
pub use rows::Rows;
pub use whitening::{Dims, Rest, Whitening};
