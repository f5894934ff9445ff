//! Learning: settings, the three learners, when to stop.

mod descent;
mod fit;
mod grow;
mod joint;
mod likelihood;
mod null;
mod outcome;
mod paper;
mod problem;
mod search;
mod settings;
mod stop;
mod together;

pub use fit::{Event, fit, fit_with};
pub use outcome::{Fit, Learned, Notice, PathPoint, State, StopReason};
pub use search::Spare;
pub use settings::{Learner, ParallelStart, Precision, Recipe, Settings, Stop};
