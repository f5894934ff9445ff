//! Learning: settings, the three learners, when to stop.

mod descent;
mod fit;
mod grow;
mod joint;
mod likelihood;
mod null;
mod paper;
mod problem;
mod search;
mod settings;
mod stop;

pub use fit::{Event, Fit, Learned, Notice, PathPoint, State, StopReason, fit, fit_with};
pub use settings::{Learner, ParallelStart, Precision, Recipe, Settings, Stop};
