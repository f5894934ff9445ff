//! What a fit is asked to do.

use crate::error::{Result, invalid};
use crate::expert::{Expert, Family, Mixture, StudentT, Tilt};
use crate::whitening::Dims;
use serde::{Deserialize, Serialize};

/// How directions are learned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Learner {
    /// One direction at a time, orthonormal to the earlier ones (section 4, "PP").
    #[default]
    Pursuit,
    /// One direction at a time, free, the earlier ones frozen ("SEQ").
    Sequential,
    /// All directions together (section 3, "PAR").
    Parallel,
}

/// Where parallel learning starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ParallelStart {
    /// At the sequential answer.
    #[default]
    Sequential,
    /// At the pursuit answer.
    Pursuit,
    /// At random orthonormal directions; needs a number of experts.
    Random,
    /// One expert at a time, learning all of them together after each, as figure 1 does.
    Grow,
}

/// When to stop adding experts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stop {
    /// An expert must gain more than the best direction of Gaussian rows does in 95 % of
    /// samples.
    Null,
    /// An expert must have Q < 0 on the training rows: the paper's rule.
    Train,
    /// An expert must raise the likelihood of held-out rows.
    Holdout,
    /// An expert must gain more than its parameters cost: ½ ln N nats each.
    Bic,
}

/// Which steps are taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Recipe {
    /// L-BFGS over directions and experts from many starts.
    #[default]
    Best,
    /// The paper's: gradient steps on batches of 100 rows with an adaptive step size,
    /// Gram–Schmidt after each.
    Paper,
}

/// How rows are stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Precision {
    /// In double precision.
    #[default]
    F64,
    /// In single precision: half the memory; sums stay in double precision.
    F32,
}

/// What a fit is asked to do. `Settings::default()` is a good fit for most tables.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// At most this many experts; `None` leaves it to the stop rule.
    pub experts: Option<usize>,
    /// Dimensions kept by sphering.
    pub dims: Dims,
    /// The family of experts; `None` tries them all on every direction.
    pub family: Option<Family>,
    /// Components of a mixture.
    pub mixture_size: usize,
    /// Locations μ that are held: one for a Student-t, one a component for a mixture.
    pub fix_mu: Option<Vec<f64>>,
    /// β that is held, in Student-t experts and mixtures.
    pub fix_beta: Option<f64>,
    /// How directions are learned.
    pub learner: Learner,
    /// Where parallel learning starts.
    pub parallel_start: ParallelStart,
    /// When to stop; `None` is [`Stop::Null`], or [`Stop::Train`] where `experts` is given.
    pub stop: Option<Stop>,
    /// Starts a direction; `None` chooses by the size of the data.
    pub starts: Option<usize>,
    /// Most steps a descent takes.
    pub max_iter: usize,
    /// Largest entry of the gradient at an answer.
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
            family: None,
            mixture_size: 2,
            fix_mu: None,
            fix_beta: None,
            learner: Learner::Pursuit,
            parallel_start: ParallelStart::Sequential,
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
    /// The stop rule in force.
    pub fn stop_rule(&self) -> Stop {
        self.stop.unwrap_or(if self.experts.is_some() { Stop::Train } else { Stop::Null })
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
            && !(beta > 0.5 && beta.is_finite())
        {
            return invalid("fix_beta", beta, "beta must be above 1/2");
        }
        if let Some(mu) = &self.fix_mu {
            if let Some(bad) = mu.iter().find(|m| !m.is_finite()) {
                return invalid("fix_mu", bad, "held locations must be finite");
            }
            let fits = |family| match family {
                Family::StudentT => mu.len() == 1,
                Family::Mixture => mu.len() == self.mixture_size,
                Family::Tilt => false,
            };
            if !self.families().into_iter().any(fits) {
                return invalid(
                    "fix_mu",
                    format!("{mu:?}"),
                    "give one location for student-t or one a component for mixture; tilt has none",
                );
            }
        }
        if self.learner != Learner::Parallel {
            return Ok(());
        }
        if self.recipe == Recipe::Paper {
            return invalid("recipe", "paper", "the paper's recipe learns one direction at a time");
        }
        if self.parallel_start == ParallelStart::Random {
            if self.experts.is_none() {
                return invalid(
                    "parallel_start",
                    "random",
                    "a random start needs a number of experts",
                );
            }
            if self.stop_rule() != Stop::Train {
                return invalid(
                    "parallel_start",
                    "random",
                    "a random start takes all experts at once: no stop rule applies",
                );
            }
        }
        Ok(())
    }

    /// The families that are tried.
    pub fn families(&self) -> Vec<Family> {
        self.family.map_or(Family::ALL.to_vec(), |f| vec![f])
    }

    /// The experts a family's learning starts from, for rows of total weight `weight`.
    pub fn templates(&self, family: Family, weight: f64) -> Result<Vec<Expert>> {
        let freedom = self.fix_beta.map(|beta| 2.0 * beta - 1.0);
        let student = |mu: f64, deviation: f64, default: f64, held: Option<f64>| {
            let nu = freedom.unwrap_or(default);
            let scale =
                if nu > 2.0 { deviation * ((nu - 2.0) / nu).sqrt() } else { 0.5 * deviation };
            let mut expert = StudentT::with_scale(held.unwrap_or(mu), scale, nu)?;
            expert.hold_mu = held.is_some();
            expert.hold_beta = freedom.is_some();
            Ok::<_, crate::Error>(expert)
        };
        let held = |n: usize| self.fix_mu.as_ref().filter(|mu| mu.len() == n);
        Ok(match family {
            Family::StudentT => vec![student(0.0, 1.0, 4.0, held(1).map(|mu| mu[0]))?.into()],
            Family::Tilt => vec![Tilt::gaussian(weight).into()],
            Family::Mixture => {
                let k = self.mixture_size;
                let mixture = |spread: f64, weights: Vec<f64>, shift: f64, deviation: f64| {
                    let components = (0..k).map(|a| {
                        let at = if k == 1 { 0.0 } else { 2.0 * a as f64 / (k - 1) as f64 - 1.0 };
                        student(spread * at + shift, deviation, 20.0, held(k).map(|mu| mu[a]))
                    });
                    Ok::<_, crate::Error>(
                        Mixture::new(weights, components.collect::<Result<_>>()?)?.into(),
                    )
                };
                // Groups of one size, and a large group with smaller ones beside it.
                let small = (0..k).map(|a| if a == 0 { 3.0 } else { 1.0 }).collect();
                vec![
                    mixture(0.85, vec![1.0; k], 0.0, 1.0 / k as f64)?,
                    mixture(1.1, small, 0.6, 1.2 / k as f64)?,
                ]
            }
        })
    }
}
