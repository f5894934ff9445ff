//! Fits to rows with missing cells.
//!
//! A Gaussian, found by EM, fills in the missing cells first. Then rounds follow: a model is learned from
//! all rows, those with missing cells in several draws that share their weight, and the missing cells are
//! drawn anew from that model. They end when the values that are there become no more probable. Rounds that
//! start at draws from mixtures follow; the fit under which the values that are there are most probable
//! stays.

use super::{Fitter, in_pool};
use crate::chosen::{Chosen, others};
use crate::effective::{Effective, Repeats};
use crate::error::{Error, Result, invalid};
use crate::evaluate;
use crate::expert::Family;
use crate::fitted::Fit;
use crate::learn::{Event, Families, Notice, Observer, Settings, Stop, StopReason};
use crate::missing::{
    FEW, Filler, Gaussian, MOST, Missing, em, gaussian_draws, holes, observed, patterns, prior,
};
use crate::place::Place;
use crate::rows::{Rows, view};

/// How often the missing cells of a row are drawn: more often where rows are few, so that what is learned does not
/// depend on the draws.
fn draws(rows: usize) -> usize {
    (20_000 / rows.max(1)).clamp(5, 20)
}

/// Rounds at most, from each start.
const ROUNDS: usize = 8;
/// How many mixtures keep groups apart at the start.
const GROUPS: usize = 2;

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
        let rows = picked.view(columns)?;
        let held = self.holdout.take();
        let held = held.map(|held| Chosen::of(&held, &known(&held).collect::<Vec<_>>()));
        let held = held.as_ref().map(|held| held.view(columns)).transpose()?;
        let none = Box::new(|_: &Event| true);
        let mut observer = std::mem::replace(&mut self.observer, none);
        let (settings, place) = (self.settings.with(|s| s.threads = None), self.place);
        let prior = prior(&rows)?;
        let (gaussian, _) = em(&rows, &patterns(&rows), prior, MOST)?;
        let draws = draws(rows.len());
        let mut climb =
            Climb { rows, held, settings, place, prior, gaussian, draws, rounds: 0, best: None };
        let ended = match climb.start_at_gaussian(&mut *observer)? {
            None => climb.start_at_groups(&mut *observer)?,
            ended => ended,
        };
        let fit = match (climb.best, ended) {
            (Some((fit, _)), None) => fit,
            (Some((fit, _)), Some(_)) => Fit { stop: StopReason::Interrupted, ..fit },
            (None, Some(fit)) => fit,
            (None, None) => {
                return Err(Error::NoConvergence { what: "fit to rows with missing cells" });
            }
        };
        Ok(finished(fit, missing, (draws, climb.rounds), (&chosen, of)))
    }
}

/// Rounds of drawing missing cells and learning, and the best fit so far.
struct Climb<'r> {
    rows: Rows<'r>,
    held: Option<Rows<'r>>,
    settings: Settings,
    place: Option<&'r dyn Place>,
    /// How far correlations are shrunk.
    prior: f64,
    gaussian: Gaussian,
    draws: usize,
    rounds: usize,
    /// With ln p of the values of each row.
    best: Option<(Fit, Vec<f64>)>,
}

impl Climb<'_> {
    /// Rounds that start at draws from a Gaussian. The last fit is returned where they were interrupted.
    fn start_at_gaussian(&mut self, observer: &mut Observer) -> Result<Option<Fit>> {
        let settings = self.settings.clone();
        let (end, _) = self.climb(&settings, None, observer)?;
        Ok(end)
    }

    /// Rounds that start at draws which keep groups apart. Draws from a Gaussian fill the gaps between groups,
    /// and later rounds may never find the groups again. So mixtures are sought first, as many as are asked
    /// for or [`GROUPS`], whether or not they are significant. Only for fits of one layer.
    fn start_at_groups(&mut self, observer: &mut Observer) -> Result<Option<Fit>> {
        let one_layer = self.settings.depth == Some(1) && !self.settings.pool;
        let gaussian = self.settings.experts == Some(0);
        if !one_layer || gaussian || self.settings.families.only().is_some() {
            return Ok(None);
        }
        let groups = self.settings.clone().with(|s| {
            s.families = Families::from(Family::Mixture);
            s.experts = s.experts.or(Some(GROUPS));
            s.stop = Some(Stop::Train);
            (s.fix_mu, s.fix_beta) = (None, None);
        });
        let before = self.best.take();
        let (end, from) = self.climb(&groups, None, observer)?;
        self.best = before;
        if end.is_some() {
            return Ok(end);
        }
        let settings = self.settings.clone();
        let (end, _) = self.climb(&settings, from, observer)?;
        Ok(end)
    }

    /// Rounds that start at draws from a fit, or from the Gaussian, until the values that are there become no
    /// more probable. Returns the fit that was interrupted, and otherwise the last one.
    fn climb(
        &mut self,
        settings: &Settings,
        mut from: Option<Fit>,
        observer: &mut Observer,
    ) -> Result<(Option<Fit>, Option<Fit>)> {
        let mut before: Option<Vec<f64>> = None;
        for _ in 0..ROUNDS {
            let fit = self.learn(settings, from.as_ref(), observer)?;
            if fit.stop == StopReason::Interrupted {
                return Ok((Some(fit), None));
            }
            let whitening = fit.model.whitening();
            let ln_p = observed(fit.density(), whitening, &self.rows, FEW, self.settings.seed)?;
            let rose = before.as_ref().map(|before| rise(before, &ln_p, &self.rows));
            let best = self.best.as_ref().map(|(_, best)| rise(best, &ln_p, &self.rows).0);
            if best.is_none_or(|mean| mean > 0.0) {
                self.best = Some((fit.clone(), ln_p.clone()));
            }
            if rose.is_none_or(|(mean, _)| mean > 0.0) {
                from = Some(fit);
            }
            if rose.is_some_and(|(mean, error)| mean <= error) {
                break;
            }
            before = Some(ln_p);
        }
        Ok((None, from))
    }

    /// One round: draws from a fit, or from the Gaussian, and a fit to them.
    fn learn(
        &mut self,
        settings: &Settings,
        from: Option<&Fit>,
        observer: &mut Observer,
    ) -> Result<Fit> {
        let (rows, columns) = (&self.rows, self.rows.columns());
        let seed = self.settings.seed;
        let filler = |fit: &'_ Fit| -> Result<_> {
            let seed = seed.wrapping_add(self.rounds as u64);
            let filler = Filler::new(fit.density(), fit.model.whitening(), seed)?;
            let held = self.held.as_ref().map(|held| filler.draw(held, 1, rows.len()));
            Ok((filler.draw(rows, self.draws, 0)?, held.transpose()?))
        };
        let (values, held_values) = match from {
            Some(fit) => filler(fit)?,
            None => {
                let first = |rows: &Rows, draws| gaussian_draws(&self.gaussian, rows, draws, seed);
                let held = self.held.as_ref().map(|held| first(held, 1)).transpose()?;
                (first(rows, self.draws)?, held)
            }
        };
        let drawn = Drawn::new(rows, &values, self.draws);
        let mut fitter = Fitter::new(settings.clone()).observe(|event| observer(event));
        fitter.place = self.place;
        fitter.prior = self.prior;
        fitter.origins = Some(drawn.origins.clone());
        if let (Some(held), Some(values)) = (&self.held, &held_values) {
            let filled = view(values, columns, held.weights())?;
            let blocks = held.blocks();
            fitter = fitter.holdout(blocks.map_or(Ok(filled), |b| filled.in_blocks(b))?);
        }
        let mut fit = fitter.fit(&drawn.rows(columns)?)?;
        to_origins(&mut fit, &drawn.origins, rows.len());
        self.rounds += 1;
        Ok(fit)
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
