//! Fits to rows with missing cells.
//!
//! A Gaussian, found by EM, fills in the missing cells first. Then rounds follow: a model is learned from
//! all rows, those with missing cells in several draws that share their weight, and the missing cells are
//! drawn anew from that model. They end when the values that are there become no more probable. Rounds that
//! start at draws from mixtures follow; the fit under which the values that are there are most probable
//! stays.

use super::climb::Climb;
use super::dependent::check_counts;
use super::{Fitter, in_pool};
use crate::chosen::{Chosen, others};
use crate::error::{Error, Result, invalid};
use crate::fitted::Fit;
use crate::learn::{Event, Notice, StopReason};
use crate::missing::Missing;
use crate::rows::Rows;

impl<'a> Fitter<'a> {
    /// Fits a model to rows whose missing cells are NaN. Rows without any value are left out; a column
    /// without values is refused. Without missing cells this is [`Fitter::fit`].
    ///
    /// It assumes that cells are *missing at random*: whether one is missing may depend on the values that
    /// the row has, but not on the missing value itself.
    pub fn fit_incomplete(self, rows: &Rows) -> Result<Fit> {
        self.settings.check()?;
        self.settings.check_holdout(self.holdout.is_some())?;
        let missing = Missing::of(rows)?;
        check_counts(rows, &self.settings)?;
        self.holdout.as_ref().map(Rows::check_present).transpose()?;
        if missing.cells == 0 && self.holdout.as_ref().is_none_or(Rows::is_complete) {
            return self.fit(rows);
        }
        if !self.state.experts.is_empty() {
            return invalid("resume", "missing cells", "a fit with missing cells starts anew");
        }
        in_pool(self.settings.threads, || self.rounds(rows, missing))
    }

    fn rounds(mut self, rows: &Rows, missing: Missing) -> Result<Fit> {
        let (columns, of) = (rows.columns(), rows.len());
        let chosen: Vec<usize> = known(rows).filter(|&i| rows.weight(i) > 0.0).collect();
        let picked = Chosen::of(rows, &chosen);
        let rows = picked.view(columns)?;
        let held = self.holdout.take();
        let held = held.map(|held| Chosen::of(&held, &known(&held).collect::<Vec<_>>()));
        let held = held.as_ref().map(|held| held.view(columns)).transpose()?;
        let none = Box::new(|_: &Event| true);
        let mut observer = std::mem::replace(&mut self.observer, none);
        let (pool, place) = (self.settings.pool, self.place);
        // A pool begins with one layer.
        let settings = self.settings.with(|s| {
            (s.threads, s.pool) = (None, false);
            s.depth = if pool { Some(1) } else { s.depth };
        });
        let mut climb = Climb::new(rows, held, settings, place)?;
        let ended = match climb.start_at_gaussian(&mut *observer)? {
            None => climb.start_at_groups(&mut *observer)?,
            ended => ended,
        };
        let (fit, widened) = match (climb.best.take(), ended) {
            (Some(best), None) => climb.stretched(best.fit, &mut *observer),
            (Some(best), Some(_)) => (Fit { stop: StopReason::Interrupted, ..best.fit }, None),
            (None, Some(fit)) => (fit, None),
            (None, None) => {
                return Err(Error::NoConvergence { what: "fit to rows with missing cells" });
            }
        };
        let interrupted = fit.stop == StopReason::Interrupted;
        let (fit, widened) = match pool && !interrupted {
            true => climb.pooled(fit, widened, &mut *observer)?,
            false => (fit, widened),
        };
        let (draws, rounds) = (climb.draws, climb.rounds);
        let notice = Notice::Missing { missing, draws, rounds, widened };
        Ok(finished(fit, notice, (&chosen, of)))
    }
}

/// The rows that have a value.
fn known<'r>(rows: &'r Rows) -> impl Iterator<Item = usize> + use<'r> {
    let rows = *rows;
    (0..rows.len()).filter(move |&i| rows.row(i).iter().any(|x| !x.is_nan()))
}

/// The fit with a notice of what was missing, and rows counted as in the table.
fn finished(mut fit: Fit, missing: Notice, (chosen, of): (&[usize], usize)) -> Fit {
    fit.left_out.iter_mut().for_each(|i| *i = chosen[*i]);
    fit.left_out.extend(others(of, chosen));
    fit.left_out.sort_unstable();
    for notice in &mut fit.notices {
        if let Notice::Outliers { named, .. } = notice {
            named.iter_mut().for_each(|cell| cell.row = chosen[cell.row]);
        }
    }
    fit.notices.insert(0, missing);
    fit
}
