//! Learning: settings, the three learners, when to stop. Learners see sums, never rows.

mod choices;
mod columns;
mod descent;
mod equal;
mod joint_curvature;
mod light;
mod lockstep;
mod notice;
mod null;
mod objective;
mod outcome;
mod paper_recipe;
mod parallel;
mod path;
mod power;
mod profile;
mod ranking;
mod sample;
mod search;
mod sequence;
mod session;
mod settings;
mod starts;
mod stop;
mod templates;
mod together;
mod turns;
mod units;

pub use choices::{
    Choice, Depth, Families, Learner, ParallelStart, Precision, Quality, Recipe, Stop,
};
pub use notice::{Notice, OutlierCell};
pub use outcome::{LayerRecord, Learned, PathPoint, State, StopReason};
pub use power::Detectable;
pub use session::{Event, Observer};
pub use settings::{Settings, sample_rows};

pub(crate) use equal::FEW;
pub(crate) use notice::notices;
pub(crate) use null::{column_p_value, radial_p_value};
pub(crate) use path::path;
pub(crate) use sample::screening;
pub(crate) use session::Session;
pub(crate) use stop::significant;

use crate::error::Result;
pub(crate) use session::Halt;
use session::Step;

/// Learns experts with the chosen learner, beginning at a state; returns why it stopped.
pub(crate) fn learn(session: &mut Session, state: &mut State) -> Result<StopReason> {
    if state.path.is_empty() {
        state.path = path::path(session, state)?;
    }
    ended(match session.settings.learner {
        _ if !session.known.is_empty() => sequence::again(session, state),
        Learner::Pursuit | Learner::Sequential => sequence::learn(session, state),
        Learner::Parallel { start } => parallel::learn(session, state, start),
    })
}

/// Learns the directions of a later layer together, with tilts; returns why there are no more.
pub(crate) fn learn_together(session: &mut Session, state: &mut State) -> Result<StopReason> {
    ended(together::learn(session, state))
}

fn ended(step: Step<StopReason>) -> Result<StopReason> {
    match step {
        Ok(reason) => Ok(reason),
        Err(Halt::Interrupted) => Ok(StopReason::Interrupted),
        Err(Halt::Failed(error)) => Err(error),
    }
}
