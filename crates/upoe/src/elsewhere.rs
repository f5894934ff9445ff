//! A fit of rows that are not in memory: in files larger than it, or on the machines of a cluster.

use crate::effective::Effective;
use crate::engine::Engine;
use crate::error::{Result, invalid};
use crate::evaluate::{Evaluation, Likelihood};
use crate::fitted::Fit;
use crate::fitter::{Fitter, in_pool};
use crate::learn::{PathPoint, Settings};
use crate::whitening::{Rest, Whitening};

/// What is known of rows that are not in memory.
pub(crate) struct Elsewhere {
    /// How many independent rows they are worth.
    pub effective: Effective,
    /// The columns that take few values.
    pub ties: Vec<usize>,
}

impl Fitter<'_> {
    /// The settings, checked for rows that are not in memory.
    pub(crate) fn checked(&self, held_out: bool) -> Result<Settings> {
        self.settings.check()?;
        self.settings.check_holdout(held_out)?;
        if self.settings.depth != Some(1) || self.settings.pool {
            let depth = self.settings.depth.map_or("auto".into(), |depth| depth.to_string());
            return invalid("depth", depth, "rows that are not in memory are fitted by one layer");
        }
        if self.settings.ordered {
            return invalid("ordered", true, "the order of rows is judged in memory only");
        }
        if self.holdout.is_some() {
            return invalid("holdout", "rows", "give the share of rows to hold out");
        }
        Ok(self.settings.clone())
    }

    /// Learns from engines, and says how probable the model makes their rows.
    pub(crate) fn fit_elsewhere(
        mut self,
        whitening: Whitening,
        train: &dyn Engine,
        holdout: Option<&dyn Engine>,
        known: Elsewhere,
    ) -> Result<(Fit, Evaluation)> {
        (self.effective, self.ties) = (Some(known.effective), known.ties);
        let threads = self.settings.threads;
        let fit = in_pool(threads, || self.learn(whitening, None, train, holdout))?;
        let evaluation = evaluation(&fit, train, holdout);
        Ok((fit, evaluation))
    }
}

/// Mean ln p from what learning knows, without another pass. Held-out rows have no standard error then, and
/// none over their columns where dimensions were dropped.
fn evaluation(fit: &Fit, train: &dyn Engine, holdout: Option<&dyn Engine>) -> Evaluation {
    let whitening = fit.model.whitening();
    let finite = |x: f64| x.is_finite().then_some(x);
    let PathPoint { train: mean, holdout: held } =
        fit.state.path.last().copied().unwrap_or(PathPoint { train: f64::NAN, holdout: None });
    let likelihood = |shift: f64, held: Option<f64>| Likelihood {
        train: finite(mean + shift),
        holdout: held.map(|held| held + shift).and_then(finite),
        holdout_standard_error: None,
    };
    let log_density = match whitening.rest() {
        Rest::Nothing | Rest::Degenerate => likelihood(whitening.ln_det(), held),
        // Of the training rows, ⟨‖residual‖²⟩ is the variance that was dropped.
        Rest::Noise { variance } => {
            let dropped = (whitening.columns() - whitening.dims()) as f64;
            let noise = -0.5 * dropped * (1.0 + (std::f64::consts::TAU * variance).ln());
            likelihood(whitening.ln_det() + noise, None)
        }
    };
    Evaluation {
        rows: train.rows(),
        weight: train.weight(),
        holdout_rows: holdout.map_or(0, Engine::rows),
        log_likelihood: likelihood(0.0, held),
        log_density,
        gain: None,
    }
}
