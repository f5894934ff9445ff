//! The checkpoint of a fit.

use std::path::Path;

use upoe::{Settings, State};
use upoe_file::Checkpoint;

use crate::failure::Failure;
use crate::fit_args::FitArgs;
use crate::progress::{Progress, counted};

/// Keeps the state of the fit in the checkpoint.
pub struct Keeper<'a> {
    path: Option<&'a Path>,
    resume: bool,
    settings: Settings,
    data: String,
    progress: &'a Progress,
}

impl<'a> Keeper<'a> {
    /// For data with this fingerprint; an existing checkpoint needs `--resume`.
    pub fn new(
        args: &'a FitArgs,
        settings: &Settings,
        progress: &'a Progress,
        fingerprint: impl FnOnce() -> String,
    ) -> Result<Self, Failure> {
        let path = args.checkpoint.as_deref();
        if let Some(path) = path.filter(|path| path.is_file() && !args.resume) {
            return Err(Failure::Message(format!(
                "{}: the checkpoint exists already; add `--resume` to continue from it, or delete \
                 it to start over",
                path.display()
            )));
        }
        let data = path.map_or(String::new(), |_| fingerprint());
        Ok(Keeper { path, resume: args.resume, settings: settings.clone(), data, progress })
    }

    /// The state to go on from.
    pub fn resume(&self) -> Result<State, Failure> {
        let Some(path) = self.path.filter(|_| self.resume) else { return Ok(State::default()) };
        if !path.exists() {
            self.progress.note(&format!(
                "{}: no checkpoint yet, so the fit starts from nothing",
                path.display()
            ));
            return Ok(State::default());
        }
        let found = Checkpoint::read(path)?;
        found.check(path, &self.settings, &self.data)?;
        let experts = found.state.experts.len();
        self.progress.say(&format!(
            "resumed after {} from {}",
            counted(experts, "expert"),
            path.display()
        ));
        Ok(found.state)
    }

    /// Keeps this state; a checkpoint that cannot be written does not end the fit.
    pub fn keep(&self, state: &State) {
        let Some(path) = self.path else { return };
        let (state, settings) = (state.clone(), self.settings.clone());
        let checkpoint = Checkpoint { state, settings, data: self.data.clone() };
        if let Err(error) = checkpoint.write(path) {
            self.progress.warn(&format!("the checkpoint could not be written: {error}"));
        }
    }
}
