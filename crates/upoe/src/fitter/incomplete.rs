//! Fits to rows with missing cells.
//!
//! A Gaussian, found by EM, fills in the missing cells first. Then rounds follow: a model is learned from
//! all rows, those with missing cells in several draws that share their weight, and the missing cells are
//! drawn anew from that model. They end when the values that are there become no more probable.

use super::{Fitter, in_pool};
use crate::chosen::{Chosen, others};
use crate::effective::{Effective, Repeats};
use crate::error::{Error, Result, invalid};
use crate::evaluate;
use crate::fitted::Fit;
use crate::learn::{Event, Notice, Settings, StopReason};
use crate::missing::{FEW, Filler, Missing, em, gaussian_draws, holes, observed, patterns};
use crate::rows::{Rows, view};

/// How often the missing cells of a row are drawn: more often where rows are few, so that what is learned does not
/// depend on the draws.
fn draws(rows: usize) -> usize {
    (20_000 / rows.max(1)).clamp(5, 20)
}

/// Rounds at most.
const ROUNDS: usize = 8;

/// Rows whose missing cells are filled in, several times each.
struct Drawn {
    values: Vec<f64>,
    weights: Vec<f64>,
    /// Which row each of them is a draw of.
    origins: Vec<usize>,
    /// The blocks of the rows, or the origins: draws of one row belong together.
    blocks: Vec<usize>,
}

impl Drawn {
    /// From `draws` draws of every row; rows without missing cells count once.
    fn new(rows: &Rows, drawn: &[f64], draws: usize) -> Self {
        let columns = rows.columns();
        let mut all = Drawn {
            values: Vec::with_capacity(drawn.len()),
            weights: Vec::new(),
            origins: Vec::new(),
            blocks: Vec::new(),
        };
        for (i, of_row) in drawn.chunks_exact(draws * columns).enumerate() {
            let times = if holes(&rows.row(i)).is_empty() { 1 } else { draws };
            all.values.extend_from_slice(&of_row[..times * columns]);
            for _ in 0..times {
                all.weights.push(rows.weight(i) / times as f64);
                all.origins.push(i);
                all.blocks.push(rows.blocks().map_or(i, |blocks| blocks[i]));
            }
        }
        all
    }

    fn rows(&self, columns: usize) -> Result<Rows<'_>> {
        view(&self.values, columns, Some(&self.weights))?.in_blocks(&self.blocks)
    }
}

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
        let rows = &picked.view(columns)?;
        let held = self.holdout.take();
        let held = held.map(|held| Chosen::of(&held, &known(&held).collect::<Vec<_>>()));
        let held = held.as_ref().map(|held| held.view(columns)).transpose()?;
        let none = Box::new(|_: &Event| true);
        let mut observer = std::mem::replace(&mut self.observer, none);
        let (settings, place) = (self.settings, self.place);
        let settings = settings.with(|s| s.threads = None);
        let (gaussian, _) = em(rows, &patterns(rows))?;
        let first = |rows: &Rows, draws| gaussian_draws(&gaussian, rows, draws, settings.seed);
        let draws = draws(rows.len());
        let mut drawn = Drawn::new(rows, &first(rows, draws)?, draws);
        let mut held_values = held.as_ref().map(|held| first(held, 1)).transpose()?;
        let mut best: Option<(Fit, Vec<f64>)> = None;
        let mut rounds = 0;
        while rounds < ROUNDS {
            rounds += 1;
            let mut fitter = Fitter::new(settings.clone()).observe(|event| observer(event));
            fitter.place = place;
            fitter.origins = Some(drawn.origins.clone());
            if let (Some(held), Some(values)) = (&held, &held_values) {
                let filled = view(values, columns, held.weights())?;
                let blocks = held.blocks();
                fitter = fitter.holdout(blocks.map_or(Ok(filled), |b| filled.in_blocks(b))?);
            }
            let mut fit = fitter.fit(&drawn.rows(columns)?)?;
            to_origins(&mut fit, &drawn.origins, rows.len());
            if fit.stop == StopReason::Interrupted {
                let fit = best.map_or(fit, |(fit, _)| Fit { stop: StopReason::Interrupted, ..fit });
                return Ok(finished(fit, missing, (draws, rounds), (&chosen, of)));
            }
            let ln_p = observed(fit.density(), fit.model.whitening(), rows, FEW, settings.seed)?;
            let rose = best.as_ref().map(|(_, before)| rise(before, &ln_p, rows));
            if rose.is_none_or(|(mean, _)| mean > 0.0) {
                best = Some((fit, ln_p));
            }
            let (Some((fit, _)), false) = (&best, rose.is_some_and(|(mean, error)| mean <= error))
            else {
                break;
            };
            let seed = settings.seed.wrapping_add(rounds as u64);
            let filler = Filler::new(fit.density(), fit.model.whitening(), seed)?;
            drawn = Drawn::new(rows, &filler.draw(rows, draws, 0)?, draws);
            held_values = held.as_ref().map(|held| filler.draw(held, 1, rows.len())).transpose()?;
        }
        match best {
            Some((fit, _)) => Ok(finished(fit, missing, (draws, rounds), (&chosen, of))),
            None => Err(Error::NoConvergence { what: "fit to rows with missing cells" }),
        }
    }
}

/// The rows that have a value.
fn known<'r>(rows: &'r Rows) -> impl Iterator<Item = usize> + use<'r> {
    let rows = *rows;
    (0..rows.len()).filter(move |&i| rows.row(i).iter().any(|x| !x.is_nan()))
}

/// By how much rows became more probable, and the standard error of that.
fn rise(before: &[f64], after: &[f64], rows: &Rows) -> (f64, f64) {
    let change = |(a, b): (&f64, &f64)| if (b - a).is_finite() { b - a } else { 0.0 };
    let rise: Vec<f64> = before.iter().zip(after).map(change).collect();
    let mean = evaluate::mean(&rise, rows);
    (mean.mean, mean.standard_error)
}

/// Counts rows as they were before they were drawn several times.
fn to_origins(fit: &mut Fit, origins: &[usize], rows: usize) {
    fit.left_out.iter_mut().for_each(|i| *i = origins[*i]);
    fit.left_out.dedup();
    for notice in &mut fit.notices {
        if let Notice::Outliers { rows: count, of, named } = notice {
            (*count, *of) = (fit.left_out.len(), rows);
            named.iter_mut().for_each(|cell| cell.row = origins[cell.row]);
            named.dedup_by_key(|cell| cell.row);
        }
    }
}

/// The fit with a notice of what was missing, and rows counted as in the table.
fn finished(
    mut fit: Fit,
    missing: Missing,
    (draws, rounds): (usize, usize),
    (chosen, of): (&[usize], usize),
) -> Fit {
    fit.left_out.iter_mut().for_each(|i| *i = chosen[*i]);
    fit.left_out.extend(others(of, chosen));
    fit.left_out.sort_unstable();
    for notice in &mut fit.notices {
        if let Notice::Outliers { named, .. } = notice {
            named.iter_mut().for_each(|cell| cell.row = chosen[cell.row]);
        }
    }
    fit.notices.insert(0, Notice::Missing { missing, draws, rounds });
    fit
}

/// What rows are worth that are drawn several times, and weights with which each distinct one counts once:
/// draws of one row count as that row.
pub(super) fn worth_of_drawn(
    rows: &Rows,
    origins: &[usize],
    settings: &Settings,
) -> Result<(Effective, Option<Vec<f64>>)> {
    let firsts: Vec<usize> =
        (0..rows.len()).filter(|&i| i == 0 || origins[i] != origins[i - 1]).collect();
    let mut totals = vec![0.0; firsts.len()];
    let mut number = vec![0; rows.len()];
    for i in 0..rows.len() {
        number[i] = firsts.partition_point(|&first| first <= i) - 1;
        totals[number[i]] += rows.weight(i);
    }
    let picked = Chosen::of(rows, &firsts);
    let mut first = picked.view(rows.columns())?.weighted(&totals)?;
    let (values, _) = rows.pick(&firsts);
    if rows.blocks() == Some(origins) {
        first = view(&values, rows.columns(), Some(&totals))?; // rows without blocks of their own
    }
    let repeats = (!settings.counts).then(|| Repeats::of(&first));
    let effective = Effective::of(&first, repeats.as_ref(), settings.ordered)?;
    let share = |i: usize| rows.weight(i) / totals[number[i]];
    let once = repeats.and_then(|repeats| repeats.once());
    let once = once.map(|once| (0..rows.len()).map(|i| once[number[i]] * share(i)).collect());
    Ok((effective, once))
}
