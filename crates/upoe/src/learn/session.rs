//! What learners work with: engines, settings, an observer.

use super::outcome::{LayerRecord, Learned, State};
use super::settings::Settings;
use crate::engine::Engine;
use crate::error::Error;

/// What an observer sees.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// A pass over the rows is done.
    Pass {
        /// Which expert is being learned, from 0.
        expert: usize,
        /// The best gain so far, less penalties: of the new expert, or of all experts over the
        /// Gaussian when they are learned together.
        gain: f64,
        /// What is learned already, where learning together does not change it.
        state: &'a State,
    },
    /// A search has ended: the best of each family, before the stop rule judges them.
    Found(&'a [Learned]),
    /// An expert is learned, or all of them at once.
    Learned(&'a State),
    /// A layer of a stack is learned.
    Layer {
        /// Which one, from 0.
        layer: usize,
        /// Whether it is a radial expert.
        radial: bool,
        /// What it adds.
        record: &'a LayerRecord,
    },
    /// A part of a pool is learned.
    Pool {
        /// Parts that are done.
        done: usize,
        /// Parts at most.
        total: usize,
    },
}

/// Sees every pass and every expert. Returning false stops the fit, which keeps what is learned.
pub type Observer<'a> = dyn FnMut(&Event) -> bool + Send + 'a;

/// Why a step of learning ended early.
#[derive(Debug)]
pub enum Halt {
    /// The observer stopped it.
    Interrupted,
    /// An engine or a check failed.
    Failed(Error),
}

impl From<Error> for Halt {
    fn from(error: Error) -> Self {
        Halt::Failed(error)
    }
}

/// A result of a step of learning.
pub type Step<T> = std::result::Result<T, Halt>;

/// What learners work with.
pub struct Session<'a> {
    /// The training rows.
    pub train: &'a dyn Engine,
    /// Weights of the training rows with which every distinct row counts once, where some rows are there
    /// more often than others.
    pub once: Option<&'a [f64]>,
    /// The sample that most steps are made on, where the settings ask for one.
    pub lead: Option<&'a dyn Engine>,
    /// Some of these rows that screen starts, where they are many.
    pub sample: Option<&'a dyn Engine>,
    /// The unit directions in sphered space on which projections are the columns themselves.
    pub columns: &'a [Vec<f64>],
    /// The held-out rows, where there are any.
    pub holdout: Option<&'a dyn Engine>,
    /// Experts that other draws of the rows had, from which these begin. Then nothing is searched.
    pub known: &'a [Learned],
    /// What the fit is asked to do.
    pub settings: &'a Settings,
    /// The observer.
    pub observer: Box<Observer<'a>>,
}

impl Session<'_> {
    /// Reports a pass that ended at this value of the objective; false when the observer stops it.
    pub fn pass(&mut self, state: &State, expert: usize, value: f64) -> bool {
        (self.observer)(&Event::Pass { expert, gain: -value, state })
    }

    /// Reports the best of each family; false when the observer stops it.
    pub fn found(&mut self, best: &[Learned]) -> bool {
        (self.observer)(&Event::Found(best))
    }

    /// Reports a learned expert; false when the observer stops it.
    pub fn learned(&mut self, state: &State) -> bool {
        (self.observer)(&Event::Learned(state))
    }
}
