//! Rounds of drawing missing cells and learning from the draws.
//!
//! The first round searches, over few draws. The others go on from the experts of the round before, over all draws,
//! which costs little. At the end, experts stay that add significantly to the values that are there.

use super::Fitter;
use super::drawn::{Drawn, to_origins};
use crate::error::Result;
use crate::evaluate::{self, bic_price, expert_price, rise};
use crate::expert::Family;
use crate::fitted::Fit;
use crate::learn::{
    Event, Families, Learned, Learner, Observer, Recipe, Settings, Stop, StopReason, significant,
};
use crate::missing::{
    EXACT, FEW, Filler, Gaussian, em, gains, gaussian_draws, observed, patterns, prior,
};
use crate::place::Place;
use crate::rows::{Rows, view};

/// Rounds at most, from each start.
const ROUNDS: usize = 12;
/// How many mixtures keep groups apart at the start.
const GROUPS: usize = 2;
/// Draws of each row that are searched.
const SEARCHED: usize = 3;

/// How often the missing cells of a row are drawn: more often where rows are few, so that what is learned does not
/// depend on the draws.
fn draws(rows: usize) -> usize {
    (5_000 / rows.max(1)).clamp(5, 20)
}

/// Rounds of drawing missing cells and learning, and the best fit so far.
pub struct Climb<'r> {
    pub(super) rows: Rows<'r>,
    held: Option<Rows<'r>>,
    pub(super) settings: Settings,
    pub(super) place: Option<&'r dyn Place>,
    /// How far correlations are shrunk.
    pub(super) prior: f64,
    gaussian: Gaussian,
    /// Draws per row.
    pub draws: usize,
    /// Rounds so far.
    pub rounds: usize,
    /// The last draws, and one of each held-out row.
    pub(super) values: Vec<f64>,
    held_values: Option<Vec<f64>>,
    /// How many rows these are worth.
    worth: f64,
    /// The best fit.
    pub best: Option<Round>,
}

/// A fit and what it says about the values that are there.
#[derive(Clone)]
pub struct Round {
    pub fit: Fit,
    /// ln p of the values of each row.
    ln_p: Vec<f64>,
    /// Its mean, less the price of the parameters.
    value: f64,
}

impl<'r> Climb<'r> {
    /// Before the first round.
    pub fn new(
        rows: Rows<'r>,
        held: Option<Rows<'r>>,
        settings: Settings,
        place: Option<&'r dyn Place>,
    ) -> Result<Self> {
        let prior = prior(&rows)?;
        Self::shrunk(rows, held, settings, place, prior)
    }

    /// The same with correlations that are shrunk so far.
    pub(super) fn shrunk(
        rows: Rows<'r>,
        held: Option<Rows<'r>>,
        settings: Settings,
        place: Option<&'r dyn Place>,
        prior: f64,
    ) -> Result<Self> {
        let gaussian = em(&rows, &patterns(&rows), prior, EXACT, &mut None)?;
        let (draws, worth) = (draws(rows.len()), rows.len() as f64);
        let (rounds, values, held_values, best) = (0, Vec::new(), None, None);
        Ok(Climb {
            rows,
            held,
            settings,
            place,
            prior,
            gaussian,
            draws,
            rounds,
            values,
            held_values,
            worth,
            best,
        })
    }

    /// Rounds that start at draws from a Gaussian. The last fit is returned where they were interrupted.
    pub fn start_at_gaussian(&mut self, observer: &mut Observer) -> Result<Option<Fit>> {
        let settings = self.settings.clone();
        Ok(self.climb(&settings, None, observer)?.err())
    }

    /// Rounds that start at draws which keep groups apart. Draws from a Gaussian fill the gaps between groups,
    /// and later rounds may never find the groups again. So mixtures are sought first, as many as are asked
    /// for or [`GROUPS`], whether or not they are significant. Only for fits of one layer.
    pub fn start_at_groups(&mut self, observer: &mut Observer) -> Result<Option<Fit>> {
        let gaussian = self.settings.experts == Some(0);
        if !self.one_layer() || gaussian || self.settings.families.only().is_some() {
            return Ok(None);
        }
        let groups = self.settings.clone().with(|s| {
            s.families = Families::from(Family::Mixture);
            s.experts = s.experts.or(Some(GROUPS));
            s.stop = Some(Stop::Train);
            (s.fix_mu, s.fix_beta) = (None, None);
        });
        let before = self.best.take();
        let found = self.climb(&groups, None, observer)?;
        self.best = before;
        let from = match found {
            Ok(from) => from,
            Err(fit) => return Ok(Some(fit)),
        };
        let settings = self.settings.clone();
        Ok(self.climb(&settings, Some(from), observer)?.err())
    }

    pub(super) fn one_layer(&self) -> bool {
        self.settings.depth == Some(1) && !self.settings.pool
    }

    /// Rounds that start at draws from a fit, or from the Gaussian, until the values that are there become no
    /// more probable. Returns the last fit, as an error where it was interrupted.
    fn climb(
        &mut self,
        settings: &Settings,
        start: Option<Fit>,
        observer: &mut Observer,
    ) -> Result<std::result::Result<Fit, Fit>> {
        let goes_on = self.one_layer()
            && settings.learner == Learner::Pursuit
            && settings.recipe == Recipe::Best;
        let (mut from, mut last): (Option<Fit>, Option<Round>) = (start, None);
        for _ in 0..ROUNDS {
            let fit = match &last {
                Some(last) if goes_on => {
                    let (before, experts) = (&last.fit, &last.fit.state.experts);
                    self.draw(Some(before))?;
                    self.again(settings, before, experts, observer)?
                }
                _ => self.search(settings, from.as_ref(), goes_on, observer)?,
            };
            if fit.stop == StopReason::Interrupted {
                return Ok(Err(fit));
            }
            let round = self.judged(fit)?;
            let rose = last.as_ref().map(|last| rise(&last.ln_p, &round.ln_p, &self.rows));
            if rose.is_none_or(|(mean, _)| mean > 0.0) {
                from = Some(round.fit.clone());
                last = Some(round);
            }
            if rose.is_some_and(|(mean, error)| mean <= error) {
                break;
            }
        }
        let Some(mut last) = last else {
            return Err(crate::Error::NoConvergence { what: "fit to rows with missing cells" });
        };
        if goes_on && settings.stop_rule() == Stop::Null {
            last = match self.pruned(settings, last, observer)? {
                Ok(last) => last,
                Err(fit) => return Ok(Err(fit)),
            };
        }
        if self.best.as_ref().is_none_or(|best| last.value > best.value) {
            self.best = Some(last.clone());
        }
        Ok(Ok(last.fit))
    }

    /// Draws the missing cells anew and searches among few of the draws, then learns what was found from all.
    fn search(
        &mut self,
        settings: &Settings,
        from: Option<&Fit>,
        goes_on: bool,
        observer: &mut Observer,
    ) -> Result<Fit> {
        self.draw(from)?;
        let few = if goes_on { SEARCHED.min(self.draws) } else { self.draws };
        let found = self.learn(settings, few, Vec::new(), observer)?;
        if few == self.draws || found.stop == StopReason::Interrupted {
            return Ok(found);
        }
        let experts = found.state.experts.clone();
        self.again(settings, &found, &experts, observer)
    }

    /// Learns experts of a fit from all draws. What is said about the search stays.
    fn again(
        &mut self,
        settings: &Settings,
        before: &Fit,
        experts: &[Learned],
        observer: &mut Observer,
    ) -> Result<Fit> {
        let whitening = before.model.whitening();
        let over_columns = |e: &Learned| {
            let mut e = e.clone();
            e.candidate.direction = whitening.factors_of(e.direction());
            e
        };
        let known: Vec<Learned> = experts.iter().map(over_columns).collect();
        let settings = match known.is_empty() {
            true => &settings.clone().with(|s| s.experts = Some(0)),
            false => settings,
        };
        let mut fit = self.learn(settings, self.draws, known, observer)?;
        if fit.stop != StopReason::Interrupted {
            fit.stop = before.stop;
        }
        Ok(fit)
    }

    /// Without the experts that do not add significantly to the values that are there. Draws show what the model
    /// believes more often than the values do, so that p-values of experts that were found among draws are too small.
    fn pruned(
        &mut self,
        settings: &Settings,
        round: Round,
        observer: &mut Observer,
    ) -> Result<std::result::Result<Round, Fit>> {
        let (fit, dims) = (&round.fit, round.fit.model.whitening().dims());
        let gains = gains(&fit.model, &self.rows, FEW, self.settings.seed)?;
        let experts = fit.state.experts.iter().zip(gains).enumerate();
        let families: Vec<Family> = settings.families.iter().collect();
        let counts = experts.filter(|(j, (e, gain))| {
            significant(e.expert(), self.worth, dims - j, &families, *gain)
        });
        let kept: Vec<Learned> = counts.map(|(_, (e, _))| e.clone()).collect();
        if kept.len() == fit.state.experts.len() {
            return Ok(Ok(round));
        }
        let fit = self.again(settings, fit, &kept, observer)?;
        if fit.stop == StopReason::Interrupted {
            return Ok(Err(fit));
        }
        Ok(Ok(self.judged(fit)?))
    }

    fn judged(&self, fit: Fit) -> Result<Round> {
        let whitening = fit.model.whitening();
        let ln_p = observed(fit.density(), whitening, &self.rows, FEW, self.settings.seed)?;
        let experts = fit.model.experts().iter().enumerate();
        let price: f64 = match &fit.stack {
            Some(_) => {
                let layers = fit.layers.iter();
                layers.map(|layer| bic_price(layer.parameters, self.worth)).sum()
            }
            None => {
                let dims = whitening.dims();
                experts.map(|(j, e)| expert_price(e, dims - j, self.worth)).sum()
            }
        };
        let value = evaluate::mean(&ln_p, &self.rows).mean - price;
        Ok(Round { fit, ln_p, value })
    }

    /// Draws the missing cells from a fit, or from the Gaussian.
    fn draw(&mut self, from: Option<&Fit>) -> Result<()> {
        let seed = self.settings.seed.wrapping_add(self.rounds as u64);
        let (rows, held) = (&self.rows, self.held.as_ref());
        match from {
            Some(fit) => {
                let filler = Filler::new(fit.density(), fit.model.whitening(), seed)?;
                self.values = filler.again(rows, self.draws, &self.values)?;
                let held = held.map(|held| filler.draw(held, 1, rows.len()));
                self.held_values = held.transpose()?;
            }
            None => {
                let first = |rows: &Rows, draws| gaussian_draws(&self.gaussian, rows, draws, seed);
                self.values = first(rows, self.draws)?;
                self.held_values = held.map(|held| first(held, 1)).transpose()?;
            }
        }
        Ok(())
    }

    /// A fit to some draws of each row, which begins at known experts or searches.
    fn learn(
        &mut self,
        settings: &Settings,
        draws: usize,
        known: Vec<Learned>,
        observer: &mut Observer,
    ) -> Result<Fit> {
        let (rows, columns) = (&self.rows, self.rows.columns());
        let drawn = Drawn::new(rows, &self.values, self.draws, draws);
        let mut fitter = Fitter::new(settings.clone()).observe(|event: &Event| observer(event));
        fitter.place = self.place;
        fitter.prior = self.prior;
        fitter.known = known;
        fitter.origins = Some(drawn.origins.clone());
        if let (Some(held), Some(values)) = (&self.held, &self.held_values) {
            let filled = view(values, columns, held.weights())?;
            let blocks = held.blocks();
            fitter = fitter.holdout(blocks.map_or(Ok(filled), |b| filled.in_blocks(b))?);
        }
        let mut fit = fitter.fit(&drawn.rows(columns)?)?;
        to_origins(&mut fit, &drawn.origins, rows);
        self.rounds += 1;
        Ok(fit)
    }
}
