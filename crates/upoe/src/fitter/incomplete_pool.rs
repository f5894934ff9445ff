//! The pool of a fit to rows with missing cells: the one layer that was found, and mixtures that learn from the cells that
//! are there. Rows held out decide the shares.

use super::LIGHT;
use super::climb::Climb;
use super::dependent::blocks;
use super::hidden::without_some;
use crate::chosen::{Chosen, others};
use crate::effective::{Effective, Repeats};
use crate::error::{Error, Result};
use crate::fitted::Fit;
use crate::grain;
use crate::grow::as_layer;
use crate::learn::{Event, Observer, StopReason};
use crate::missing::observed;
use crate::pool::{Incomplete, Member, Pool, folds};
use crate::rows::{Rows, view};
use crate::stack::Stack;
use crate::whitening::Rest;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// Folds are held out until they have this many cells: they decide about a few shares and components.
const ENOUGH: usize = 2_000;
/// Draws per row that say how probable the cells are that it has.
const DRAWS: usize = 4_096;

impl Climb<'_> {
    /// A fit of one layer, whose density was stretched by a factor, with its pool, and the factor by which mixtures were widened.
    pub fn pooled(
        &self,
        fit: Fit,
        widened: Option<f64>,
        observer: &mut Observer,
    ) -> Result<(Fit, Option<f64>)> {
        let whitening = fit.model.whitening();
        let found = as_layer(&fit.state, whitening.dims());
        let (layers, records) = found.into_iter().unzip();
        let stack = Stack::new(Vec::new(), whitening.clone(), layers)?;
        let pool = match whitening.rest() {
            Rest::Nothing => self.pool(&fit, &stack, widened.unwrap_or(1.0), observer)?,
            // Where columns determine each other, no mixture has a density.
            _ => Some((Pool::new(vec![Member::new(stack.clone(), None)?], vec![1.0])?, widened)),
        };
        let (pool, factor) = pool.map_or((None, None), |(pool, factor)| (Some(pool), factor));
        let stop = if pool.is_some() { fit.stop } else { StopReason::Interrupted };
        let mut fit = Fit { stack: Some(stack), layers: records, pool, stop, ..fit };
        fit.notices.extend(grain::notice(&self.rows));
        Ok((fit, factor.or(widened)))
    }

    fn pool(
        &self,
        fit: &Fit,
        stack: &Stack,
        factor: f64,
        observer: &mut Observer,
    ) -> Result<Option<(Pool, Option<f64>)>> {
        let columns = self.rows.columns();
        let heaviest = (0..self.rows.len()).map(|i| self.rows.weight(i)).fold(0.0, f64::max);
        let mut near = others(self.rows.len(), &fit.left_out);
        near.retain(|&i| self.rows.weight(i) > LIGHT * heaviest);
        let size = self.draws * columns;
        let first_draw = |i: &usize| self.values[i * size..][..columns].iter().copied();
        let filled: Vec<f64> = near.iter().flat_map(first_draw).collect();
        let chosen = Chosen::of(&self.rows, &near);
        let rows = chosen.view(columns)?;
        let repeats = (!self.settings.counts).then(|| Repeats::of(&rows));
        let mut complete = view(&filled, columns, rows.weights())?;
        if let Some(blocks) = rows.blocks() {
            complete = complete.in_blocks(blocks)?;
        }
        let effective = Effective::of(&complete, repeats.as_ref(), self.settings.ordered)?;
        let weights = effective.scaled(&rows);
        let rows = weights.as_ref().map_or(Ok(rows), |weights| rows.weighted(weights))?;
        let together = blocks(&rows, &self.settings).unwrap_or_else(|| equal(&rows));
        let mut held_cells = 0;
        let folds: Vec<Vec<usize>> = folds(&rows.in_blocks(&together)?, self.settings.seed)
            .into_iter()
            .take_while(|fold| {
                let more = held_cells < ENOUGH;
                held_cells += fold.len() * columns;
                more
            })
            .collect();
        let mut held = Some(Vec::new());
        for (done, fold) in folds.iter().enumerate() {
            if !observer(&Event::Pool { done, total: folds.len() + 1 }) {
                return Ok(None);
            }
            match self.held_out(&rows, fold, factor, observer) {
                Ok(Some(ln_p)) => held.iter_mut().for_each(|held| held.extend(&ln_p)),
                Ok(None) => return Ok(None),
                // A layer that cannot be learned from the others has no share.
                Err(_) => held = None,
            }
        }
        let (done, total) = (folds.len(), folds.len() + 1);
        let observer = Mutex::new(observer);
        let watch = || {
            let mut observer = observer.lock().unwrap_or_else(PoisonError::into_inner);
            observer(&Event::Pool { done, total })
        };
        let whitening = fit.model.whitening();
        let places = (whitening.mean(), whitening.deviations());
        let fewer = without_some(&rows, self.settings.seed);
        let incomplete =
            Incomplete { rows: &rows, fewer, filled: &filled, places, prior: self.prior };
        incomplete.pool(stack.clone(), held, &folds, &watch)
    }

    /// ln p of the cells that some rows have, by one layer of the others; `None` where the observer stops it.
    fn held_out(
        &self,
        rows: &Rows,
        fold: &[usize],
        factor: f64,
        observer: &mut Observer,
    ) -> Result<Option<Vec<f64>>> {
        let (learned, held) = (Chosen::of(rows, &others(rows.len(), fold)), Chosen::of(rows, fold));
        let learned = learned.view(rows.columns())?;
        let settings = self.settings.clone();
        let mut trial = Climb::shrunk(learned, None, settings, self.place, self.prior)?;
        if trial.start_at_gaussian(observer)?.is_some() {
            return Ok(None);
        }
        let what = "fit to rows with missing cells";
        let model = trial.best.ok_or(Error::NoConvergence { what })?.fit.model.stretched(factor)?;
        let held = held.view(rows.columns())?;
        observed(&model, model.whitening(), &held, DRAWS, self.settings.seed).map(Some)
    }
}

/// One number for all rows that are equal, missing cells included.
fn equal(rows: &Rows) -> Vec<usize> {
    let mut known = HashMap::new();
    let number = |i: usize| {
        let bits: Vec<u64> = rows.row(i).iter().map(|x| x.to_bits()).collect();
        let next = known.len();
        *known.entry(bits).or_insert(next)
    };
    (0..rows.len()).map(number).collect()
}
