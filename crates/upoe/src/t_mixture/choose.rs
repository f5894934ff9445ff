//! Which components: K, κ and ν by ln p of rows held out.

use super::fit::{Limits, fit, go_on};
use super::holes::patterns;
use super::maximise::Table;
use super::{Components, FittedMixture, TMixture, Watch};
use crate::error::{Error, Result, invalid};
use crate::rows::view;
use rayon::prelude::*;

/// The numbers of components that are tried: first the powers of two.
const COUNTS: [usize; 13] = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96];

/// A component needs this many rows on average.
const ROWS_EACH: usize = 4;

/// The shrinkages that are tried, in multiples of D, and the degrees of freedom; the first of
/// each are those of the search for K.
const SHRINKAGES: [f64; 2] = [1.0, 4.0];
const DEGREES: [f64; 3] = [10.0, 4.0, f64::INFINITY];

/// EM of a first look at a K.
const SCREENING: Limits = Limits { steps: (3, 10), tolerance: 1e-3 };

/// EM from the fit with another κ or ν.
const WARM: Limits = Limits { steps: (2, 3), tolerance: 1e-3 };

/// EM of the choice, from its short fit.
const CHOSEN: Limits = Limits { steps: (2, 12), tolerance: 2e-4 };

/// The search for K ends after this many in succession that are worse than the best.
const FALLS: usize = 2;

/// The K at which the search for K settles on κ and ν: with tails that are too light it would
/// take more and more components.
const SETTLE: usize = 4;

/// Sphered rows to learn from, and rows held out, in the same columns.
#[derive(Clone, Debug)]
pub struct Fold {
    /// Values of the rows to learn from, row after row.
    pub learn: Vec<f64>,
    /// Their weights.
    pub learn_weights: Option<Vec<f64>>,
    /// Values of the rows held out.
    pub held: Vec<f64>,
    /// Their weights.
    pub held_weights: Option<Vec<f64>>,
    /// What every covariance has in addition, row after row: the variance of what the rows are rounded by;
    /// empty for nothing.
    pub grain: Vec<f64>,
    /// Of each row to learn from, the columns whose cells are missing and only filled in to begin with; empty
    /// where none is. Cells that are missing in rows held out are NaN.
    pub missing: Vec<Vec<usize>>,
    /// How far correlations of the pooled covariance are shrunk.
    pub prior: f64,
}

impl Fold {
    /// The fold that holds out the rows with these indices.
    pub fn new(x: &[f64], dims: usize, weights: Option<&[f64]>, held: &[usize]) -> Result<Self> {
        let rows = view(x, dims, weights)?;
        let mut out = vec![false; rows.len()];
        for &i in held {
            match out.get_mut(i) {
                Some(out) => *out = true,
                None => return invalid("held-out row", i, "is not among the rows"),
            }
        }
        let kept: Vec<usize> = (0..rows.len()).filter(|&i| !out[i]).collect();
        let (learn, learn_weights) = rows.pick(&kept);
        let (held, held_weights) = rows.pick(held);
        Ok(Fold {
            learn,
            learn_weights,
            held,
            held_weights,
            grain: Vec::new(),
            missing: Vec::new(),
            prior: 0.0,
        })
    }

    /// The rows to learn from.
    pub(super) fn table<'a>(&'a self, dims: usize, watch: Option<Watch<'a>>) -> Result<Table<'a>> {
        let table = Table::new(&self.learn, dims, self.learn_weights.as_deref())?;
        let rows = self.learn.len() / dims.max(1);
        if !self.missing.is_empty() && self.missing.len() != rows {
            let (what, got) = ("lists of missing cells", self.missing.len());
            return Err(Error::Shape { what, expected: rows, got });
        }
        if let Some(column) = self.missing.iter().flatten().find(|c| **c >= dims) {
            return invalid("missing", column, format!("rows have {dims} columns"));
        }
        let patterns = (!self.missing.is_empty()).then(|| patterns(&self.missing));
        Ok(Table { watch, grain: &self.grain, patterns, prior: self.prior, ..table })
    }
}

/// The components with the highest mean ln p of rows held out.
#[derive(Clone, Debug)]
pub struct ChosenComponents {
    /// The choice.
    pub components: Components,
    /// Mean ln p of the rows held out.
    pub mean_ln_p: f64,
    /// ln p of every row held out, for each fold, by the mixture of the others.
    pub ln_p: Vec<Vec<f64>>,
    /// Everything that was tried, with its mean ln p of the rows held out after a short fit.
    pub tried: Vec<(Components, f64)>,
    /// The mixtures of the choice, one per fold.
    pub mixtures: Vec<TMixture>,
}

impl ChosenComponents {
    /// Chooses by some folds: one split, or several folds that together hold out every row.
    ///
    /// K is doubled from 1 until two in succession are worse than the best, with κ = D and ν = 10 up to
    /// K = 4, and with the best κ and ν of that K from there. The other κ and ν are tried at the best K, and
    /// with the best of those the neighbours of K as long as they are better.
    pub fn new(folds: &[Fold], dims: usize) -> Result<Self> {
        let mut tried = Vec::new();
        let search = Search::new(folds, dims, None)?;
        let (_, best) = search.best(&mut tried)?;
        search.last(&best, tried)
    }

    /// The same, and after it half and a quarter as many components: together they are a better density than
    /// each alone. Where a good choice for similar rows is known, it is taken. Where `watch` says no, it ends
    /// soon with what it has.
    pub(crate) fn several(
        folds: &[Fold],
        dims: usize,
        known: Option<Components>,
        watch: Option<Watch>,
    ) -> Result<Vec<Self>> {
        Search::new(folds, dims, watch)?.several(known)
    }

    /// The choice, learned from all rows, starting from the mixture of the first fold.
    pub fn fit(&self, x: &[f64], weights: Option<&[f64]>) -> Result<FittedMixture> {
        self.mixtures[0].continued(x, weights, &self.components)
    }
}

/// A trial: fits of one choice to every fold.
struct Trial {
    components: Components,
    mixtures: Vec<TMixture>,
    ln_p: Vec<Vec<f64>>,
    mean: f64,
}

struct Search<'a> {
    folds: &'a [Fold],
    tables: Vec<Table<'a>>,
    dims: usize,
    counts: Vec<usize>,
}

impl<'a> Search<'a> {
    fn new(folds: &'a [Fold], dims: usize, watch: Option<Watch<'a>>) -> Result<Self> {
        if folds.is_empty() {
            return Err(Error::NeedsHoldout);
        }
        for fold in folds {
            let held = view(&fold.held, dims, fold.held_weights.as_deref())?;
            held.check_present()?;
            if !(0..held.len()).any(|i| held.weight(i) > 0.0) {
                return Err(Error::NeedsHoldout);
            }
        }
        let tables: Vec<Table> =
            folds.iter().map(|fold| fold.table(dims, watch)).collect::<Result<_>>()?;
        let rows = tables.iter().map(Table::len).min().unwrap_or(0);
        let counts = COUNTS.into_iter().filter(|k| *k == 1 || k * ROWS_EACH <= rows).collect();
        Ok(Search { folds, tables, dims, counts })
    }

    /// Fits every fold and scores its held-out rows.
    fn trial(
        &self,
        components: Components,
        start: Option<&Trial>,
        limits: Limits,
    ) -> Result<Trial> {
        let of_fold = |i: usize| -> Result<(TMixture, Vec<f64>)> {
            let table = &self.tables[i];
            let fitted = match start {
                Some(start) => go_on(table, start.mixtures[i].clone(), &components, limits)?,
                None => fit(table, &components, limits)?,
            };
            let ln_p = fitted.mixture.ln_present(&self.folds[i].held)?;
            Ok((fitted.mixture, ln_p))
        };
        let fits: Vec<(TMixture, Vec<f64>)> =
            (0..self.folds.len()).into_par_iter().map(of_fold).collect::<Result<_>>()?;
        let (mixtures, ln_p): (Vec<_>, Vec<_>) = fits.into_iter().unzip();
        let (mut sum, mut total) = (0.0, 0.0);
        for (fold, ln_p) in self.folds.iter().zip(&ln_p) {
            for (i, ln_p) in ln_p.iter().enumerate() {
                let weight = fold.held_weights.as_ref().map_or(1.0, |w| w[i]);
                // A row of weight 0 may lie where p vanishes.
                sum += if weight > 0.0 { weight * ln_p } else { 0.0 };
                total += weight;
            }
        }
        Ok(Trial { components, mixtures, ln_p, mean: sum / total })
    }

    /// The best κ and ν at the K of a trial, all by a few more steps of EM from it.
    fn vary(&self, trial: &Trial, tried: &mut Vec<(Components, f64)>) -> Result<Trial> {
        let mut best = self.trial(trial.components, Some(trial), WARM)?;
        for degrees in DEGREES {
            for factor in SHRINKAGES {
                let shrinkage = factor * self.dims as f64;
                let components = Components { shrinkage, degrees, ..trial.components };
                if components == trial.components {
                    continue;
                }
                let other = self.trial(components, Some(trial), WARM)?;
                tried.push((components, other.mean));
                if other.mean > best.mean {
                    best = other;
                }
            }
        }
        Ok(best)
    }

    /// The trials for one K after another, and which of them is the best.
    fn path(&self, tried: &mut Vec<(Components, f64)>) -> Result<(Vec<Trial>, usize)> {
        let shrinkage = SHRINKAGES[0] * self.dims as f64;
        let mut settings = Components { count: 1, shrinkage, degrees: DEGREES[0] };
        let mut path: Vec<Trial> = Vec::new();
        let (mut at, mut falls) = (0, 0);
        for &count in self.counts.iter().filter(|count| count.is_power_of_two()) {
            let mut trial = self.trial(Components { count, ..settings }, None, SCREENING)?;
            tried.push((trial.components, trial.mean));
            if count == SETTLE {
                settings = self.vary(&trial, tried)?.components;
                if settings != trial.components {
                    // From the beginning, like those of every other K on the path.
                    trial = self.trial(settings, None, SCREENING)?;
                }
            }
            let better = path.is_empty() || trial.mean > path[at].mean;
            path.push(trial);
            (at, falls) = if better { (path.len() - 1, 0) } else { (at, falls + 1) };
            if falls == FALLS || self.tables[0].stopped() {
                break;
            }
        }
        Ok((path, at))
    }

    fn several(&self, known: Option<Components>) -> Result<Vec<ChosenComponents>> {
        let mut tried = Vec::new();
        let known = known.filter(|known| self.counts.contains(&known.count));
        let (path, best) = match known {
            Some(known) => (Vec::new(), self.trial(known, None, SCREENING)?),
            None => self.best(&mut tried)?,
        };
        let mut chosen = vec![self.last(&best, tried)?];
        for count in [best.components.count / 2, best.components.count / 4] {
            if count == 0 || self.tables[0].stopped() {
                break;
            }
            let components = Components { count, ..best.components };
            let fewer = match path.iter().find(|trial| trial.components == components) {
                Some(trial) => self.last(trial, Vec::new())?,
                None => self.last(&self.trial(components, None, SCREENING)?, Vec::new())?,
            };
            chosen.push(fewer);
        }
        Ok(chosen)
    }

    /// The path, and the best trial near the best of it.
    fn best(&self, tried: &mut Vec<(Components, f64)>) -> Result<(Vec<Trial>, Trial)> {
        let (path, at) = self.path(tried)?;
        let mut best = self.vary(&path[at], tried)?;
        // Neighbours of K, upwards, then downwards; not those of the path with the same κ and ν,
        // which were worse.
        let place = |count| self.counts.iter().position(|known| *known == count);
        for up in [true, false] {
            loop {
                let i = place(best.components.count).unwrap_or(0);
                let next = if up { i + 1 } else { i.wrapping_sub(1) };
                let Some(&count) = self.counts.get(next) else { break };
                let components = Components { count, ..best.components };
                let trial = match path.iter().find(|trial| trial.components.count == count) {
                    Some(start) if start.components == components => break,
                    Some(start) => self.trial(components, Some(start), WARM)?,
                    None => self.trial(components, None, SCREENING)?,
                };
                tried.push((components, trial.mean));
                if !(trial.mean > best.mean) || self.tables[0].stopped() {
                    break;
                }
                best = trial;
            }
        }
        Ok((path, best))
    }

    /// A choice, learned to the end.
    fn last(&self, trial: &Trial, tried: Vec<(Components, f64)>) -> Result<ChosenComponents> {
        let last = self.trial(trial.components, Some(trial), CHOSEN)?;
        let Trial { components, mixtures, ln_p, mean: mean_ln_p } = last;
        Ok(ChosenComponents { components, mean_ln_p, ln_p, tried, mixtures })
    }
}
