//! What a fit is asked to do.

use super::choices::{Families, Learner, ParallelStart, Precision, Recipe, Stop};
use crate::error::{Error, Result, invalid};
use crate::whitening::Dims;
use serde::{Deserialize, Serialize};

/// What a fit is asked to do. `Settings::default()` is a good choice for most tables.
///
/// ```
/// use upoe::Settings;
/// use upoe::expert::Family;
/// let settings = Settings::default().with(|s| {
///     s.experts = Some(2);
///     s.families = Family::Mixture.into();
/// });
/// assert!(settings.check().is_ok());
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Stored", into = "Stored")]
#[non_exhaustive]
pub struct Settings {
    /// At most this many experts; `None` leaves it to the stop rule.
    pub experts: Option<usize>,
    /// Dimensions kept by sphering.
    pub dims: Dims,
    /// The families of experts that every direction tries.
    pub families: Families,
    /// Components of a mixture.
    pub mixture_size: usize,
    /// Whether a weight is a number of independent rows. Otherwise weights say how much a row
    /// matters, and p-values count an effective number of rows.
    pub counts: bool,
    /// Whether rows follow one another in time. Then p-values count an effective number of rows.
    pub ordered: bool,
    /// Fixed locations μ: one for a Student-t, one per component for a mixture.
    pub fix_mu: Option<Vec<f64>>,
    /// Fixed β of Student-t experts and mixtures.
    pub fix_beta: Option<f64>,
    /// How directions are learned.
    pub learner: Learner,
    /// When to stop; `None` is [`Stop::Null`], or [`Stop::Train`] where `experts` is given.
    pub stop: Option<Stop>,
    /// Starts per direction; `None` chooses by the size of the data.
    pub starts: Option<usize>,
    /// The largest number of steps of a descent.
    pub max_iter: usize,
    /// Largest entry of the gradient at an answer. Over many rows a search of several families also ends
    /// where what is left to gain is noise.
    pub tol: f64,
    /// The seed of all random numbers.
    pub seed: u64,
    /// Which steps are taken.
    pub recipe: Recipe,
    /// How rows are stored.
    pub precision: Precision,
    /// Threads; `None` takes all cores. The result does not depend on it.
    pub threads: Option<usize>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            experts: None,
            dims: Dims::All,
            families: Families::default(),
            mixture_size: 2,
            counts: false,
            ordered: false,
            fix_mu: None,
            fix_beta: None,
            learner: Learner::Pursuit,
            stop: None,
            starts: None,
            max_iter: 500,
            tol: 1e-5,
            seed: 0,
            recipe: Recipe::Best,
            precision: Precision::F64,
            threads: None,
        }
    }
}

impl Settings {
    /// The same settings after a change.
    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    /// The stop rule that applies.
    pub fn stop_rule(&self) -> Stop {
        self.stop.unwrap_or(if self.experts.is_some() { Stop::Train } else { Stop::Null })
    }

    /// Refuses a stop rule that needs held-out rows where there are none.
    pub fn check_holdout(&self, held_out: bool) -> Result<()> {
        if self.stop_rule() == Stop::Holdout && !held_out {
            Err(Error::NeedsHoldout)
        } else {
            Ok(())
        }
    }

    /// Refuses settings outside their range.
    pub fn check(&self) -> Result<()> {
        if !(self.tol > 0.0 && self.tol.is_finite()) {
            return invalid("tol", self.tol, "the tolerance must be positive");
        }
        if self.max_iter == 0 {
            return invalid("max_iter", 0, "at least one iteration is needed");
        }
        if self.starts == Some(0) {
            return invalid("starts", 0, "at least one start is needed");
        }
        if self.threads == Some(0) {
            return invalid("threads", 0, "at least one thread is needed");
        }
        if !(1..=20).contains(&self.mixture_size) {
            return invalid("mixture_size", self.mixture_size, "a mixture has 1 to 20 components");
        }
        if let Some(beta) = self.fix_beta
            && !(beta > 0.505 && beta.is_finite())
        {
            return invalid("fix_beta", beta, "beta must be above 0.505");
        }
        if let Some(mu) = &self.fix_mu {
            if let Some(bad) = mu.iter().find(|m| !m.is_finite()) {
                return invalid("fix_mu", bad, "fixed locations must be finite");
            }
            if !self.families.iter().any(|family| self.fixes(family, mu)) {
                return invalid(
                    "fix_mu",
                    format!("{mu:?}"),
                    "give one location for student-t or one per component for mixture; tilt has none",
                );
            }
        }
        self.check_parallel()
    }

    fn check_parallel(&self) -> Result<()> {
        let Learner::Parallel { start } = self.learner else { return Ok(()) };
        if self.recipe == Recipe::Paper {
            return invalid("recipe", "paper", "the paper's recipe learns one direction at a time");
        }
        if start != ParallelStart::Random {
            return Ok(());
        }
        if self.stop_rule() != Stop::Train {
            let rule = if self.experts.is_none() {
                "a random start needs a number of experts, or the stop rule train for one per dimension"
            } else {
                "a random start takes all experts at once: no stop rule applies"
            };
            return invalid("parallel_start", "random", rule);
        }
        Ok(())
    }
}

/// Settings as JSON stores them: flat, under the names that interfaces use.
#[derive(Serialize, Deserialize)]
#[serde(default)]
struct Stored {
    experts: Option<usize>,
    dims: Dims,
    family: Families,
    mixture_size: usize,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    counts: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    ordered: bool,
    fix_mu: Option<Vec<f64>>,
    fix_beta: Option<f64>,
    learner: String,
    parallel_start: ParallelStart,
    stop: Option<Stop>,
    starts: Option<usize>,
    max_iter: usize,
    tol: f64,
    seed: u64,
    recipe: Recipe,
    precision: Precision,
    threads: Option<usize>,
}

impl Default for Stored {
    fn default() -> Self {
        Settings::default().into()
    }
}

impl From<Settings> for Stored {
    fn from(s: Settings) -> Self {
        let parallel_start = match s.learner {
            Learner::Parallel { start } => start,
            Learner::Pursuit | Learner::Sequential => ParallelStart::default(),
        };
        Stored {
            experts: s.experts,
            dims: s.dims,
            family: s.families,
            mixture_size: s.mixture_size,
            counts: s.counts,
            ordered: s.ordered,
            fix_mu: s.fix_mu,
            fix_beta: s.fix_beta,
            learner: s.learner.name().to_owned(),
            parallel_start,
            stop: s.stop,
            starts: s.starts,
            max_iter: s.max_iter,
            tol: s.tol,
            seed: s.seed,
            recipe: s.recipe,
            precision: s.precision,
            threads: s.threads,
        }
    }
}

impl TryFrom<Stored> for Settings {
    type Error = Error;

    fn try_from(s: Stored) -> Result<Self> {
        Ok(Settings {
            experts: s.experts,
            dims: s.dims,
            families: s.family,
            mixture_size: s.mixture_size,
            counts: s.counts,
            ordered: s.ordered,
            fix_mu: s.fix_mu,
            fix_beta: s.fix_beta,
            learner: Learner::named(&s.learner, s.parallel_start)?,
            stop: s.stop,
            starts: s.starts,
            max_iter: s.max_iter,
            tol: s.tol,
            seed: s.seed,
            recipe: s.recipe,
            precision: s.precision,
            threads: s.threads,
        })
    }
}
