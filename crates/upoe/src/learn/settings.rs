//! What a fit is asked to do.

use super::choices::{
    Choice, Depth, Families, Learner, ParallelStart, Precision, Quality, Recipe, Stop,
};
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
    /// Starts and most steps are made on a sample of this many rows, and all rows decide at the end: few
    /// passes, for rows that are slow to reach. `None` takes all rows. See [`sample_rows`].
    pub sample: Option<usize>,
    /// The seed of all random numbers.
    pub seed: u64,
    /// Which steps are taken.
    pub recipe: Recipe,
    /// How rows are stored.
    pub precision: Precision,
    /// Layers at most: 1 is the model of the paper, `None` goes on until what is left is Gaussian noise.
    pub depth: Option<usize>,
    /// Whether stacks and mixtures are pooled, with shares that rows held out decide.
    pub pool: bool,
    /// Threads; `None` takes all cores. The result does not depend on it.
    pub threads: Option<usize>,
}

/// The least rows of a sample that most steps are made on. Experts learned from so many rows are as flexible
/// as those learned from all.
const LEAST: usize = 10_000;
/// Numbers in that sample: 128 MB in double precision.
const CELLS: usize = 1 << 24;

/// How many rows a sample has that most steps of a fit of `rows` × `columns` are made on. It does not depend
/// on the machine, so neither does the result; `None` where the rows are not many more.
pub fn sample_rows(rows: usize, columns: usize) -> Option<usize> {
    let sample = (CELLS / columns.max(1)).max(LEAST);
    (rows >= 2 * sample).then_some(sample)
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
            sample: None,
            seed: 0,
            recipe: Recipe::Best,
            precision: Precision::F64,
            depth: Some(1),
            pool: false,
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

    /// The same settings with a quality or a depth, as interfaces ask for them. Where neither is given, what
    /// only the paper's model has (a number of experts, another learner or recipe, fixed parameters) asks for
    /// one layer.
    pub fn asked(self, quality: Option<Quality>, depth: Option<Depth>) -> Result<Self> {
        let paper = self.experts.is_some()
            || self.learner != Learner::Pursuit
            || self.recipe != Recipe::Best
            || self.fix_mu.is_some()
            || self.fix_beta.is_some();
        let quality = match (quality, depth) {
            (Some(quality), _) => quality,
            (None, Some(_)) => Quality::Good,
            (None, None) if paper => Quality::Fast,
            (None, None) => Self::DEFAULT_QUALITY,
        };
        if let (Quality::Fast, Some(depth)) = (quality, depth.filter(|d| *d != Depth::Layers(1))) {
            let depth = match depth {
                Depth::Auto => "auto".to_owned(),
                Depth::Layers(layers) => layers.to_string(),
            };
            return invalid("depth", depth, "the quality fast has one layer: ask for good");
        }
        let depth = match depth {
            Some(Depth::Layers(layers)) => Some(layers),
            None if quality == Quality::Fast => Some(1),
            Some(Depth::Auto) | None => None,
        };
        Ok(self.with(|s| (s.depth, s.pool) = (depth, quality == Quality::Best)))
    }

    /// What interfaces take where nothing is asked for.
    pub const DEFAULT_QUALITY: Quality = Quality::Fast;

    /// The quality that these settings have.
    pub fn quality(&self) -> Quality {
        match (self.pool, self.depth) {
            (true, _) => Quality::Best,
            (false, Some(1)) => Quality::Fast,
            (false, _) => Quality::Good,
        }
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
        if self.depth == Some(0) {
            return invalid("depth", 0, "at least one layer is needed");
        }
        if self.quality() != Quality::Fast && self.learner != Learner::Pursuit {
            let rule = format!(
                "the quality {} needs orthonormal directions: use the learner pursuit, or the quality fast",
                self.quality().name()
            );
            return invalid("learner", self.learner.name(), rule);
        }
        if self.sample.is_some_and(|rows| rows < LEAST) {
            let rule = "a sample of at least 10,000 rows is needed";
            return invalid("sample", self.sample.unwrap_or(0), rule);
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
    #[serde(skip_serializing_if = "Option::is_none")]
    sample: Option<usize>,
    seed: u64,
    recipe: Recipe,
    precision: Precision,
    /// Files of version 0.1 have one layer, and do not say so.
    #[serde(default = "one", skip_serializing_if = "one_layer")]
    depth: Option<usize>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pool: bool,
    threads: Option<usize>,
}

fn one() -> Option<usize> {
    Some(1)
}

fn one_layer(depth: &Option<usize>) -> bool {
    *depth == Some(1)
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
            sample: s.sample,
            seed: s.seed,
            recipe: s.recipe,
            precision: s.precision,
            depth: s.depth,
            pool: s.pool,
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
            sample: s.sample,
            seed: s.seed,
            recipe: s.recipe,
            precision: s.precision,
            depth: s.depth,
            pool: s.pool,
            threads: s.threads,
        })
    }
}
