//! A pool: several densities at once, each with a share of the mass that rows held out decide.

use crate::density::Density;
use crate::error::{Error, Result, invalid};
use crate::grow::stack_alone;
use crate::learn::Settings;
use crate::model::Model;
use crate::random::{self, Use};
use crate::rows::{Rows, view};
use crate::stack::Stack;
use crate::t_mixture::{ChosenComponents, Fold, TMixture, Watch};
use rand::RngExt;
use rand::seq::SliceRandom;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Up to this many rows every row is held out once, by five folds; of more rows a fifth is held out.
const FOLDED: usize = 3_000;
const FOLDS: usize = 5;
/// Steps that find the shares.
const STEPS: usize = 300;
/// Rows that the shares have together before any are seen.
const PRIOR: f64 = 1.0;
/// Rows farther out have no density.
const FARTHEST: f64 = 1e150;
/// Members with a smaller share are left out.
const SMALLEST: f64 = 1e-3;

/// Σ πₘ pₘ(row) over stacks and mixtures. It has no map to standard normal rows.
#[derive(Clone, Debug)]
pub struct Pool {
    members: Vec<Member>,
    shares: Vec<f64>,
}

/// A density in a pool: a stack, or its maps with a mixture of Student-t components at their end.
#[derive(Clone, Debug)]
pub struct Member {
    stack: Stack,
    mixture: Option<TMixture>,
}

/// What a member is made of.
#[derive(Clone, Copy)]
struct Recipe {
    columns: bool,
    mixture: bool,
}

const RECIPES: [Recipe; 4] = [
    Recipe { columns: false, mixture: false },
    Recipe { columns: true, mixture: false },
    Recipe { columns: false, mixture: true },
    Recipe { columns: true, mixture: true },
];

impl Recipe {
    /// A mixture stands in for the layers.
    fn settings(self, settings: &Settings) -> Settings {
        settings.clone().with(|s| s.depth = if self.mixture { Some(0) } else { s.depth })
    }
}

impl Member {
    /// From its parts.
    pub fn new(stack: Stack, mixture: Option<TMixture>) -> Result<Self> {
        let expected = stack.whitening().dims();
        if let Some(got) = mixture.as_ref().map(TMixture::dims).filter(|got| *got != expected) {
            return Err(Error::Shape { what: "dimensions of a mixture", expected, got });
        }
        Ok(Member { stack, mixture })
    }

    /// The whole stack, or the maps before the mixture.
    pub fn stack(&self) -> &Stack {
        &self.stack
    }

    /// The mixture that stands in for the standard normal.
    pub fn mixture(&self) -> Option<&TMixture> {
        self.mixture.as_ref()
    }

    fn score(&self, rows: &Rows) -> Result<Vec<f64>> {
        let Some(mixture) = &self.mixture else { return self.stack.score(rows) };
        let (mut x, mut ln_det) = self.stack.mapped(rows)?;
        // Squares of a far row overflow.
        for (x, ln_det) in x.chunks_exact_mut(mixture.dims()).zip(&mut ln_det) {
            if !x.iter().all(|x| x.abs() < FARTHEST) {
                x.fill(0.0);
                *ln_det = f64::NEG_INFINITY;
            }
        }
        Ok(mixture.ln_density(&x)?.iter().zip(&ln_det).map(|(p, ln_det)| p + ln_det).collect())
    }

    fn slope(&self, row: &[f64]) -> Result<Vec<f64>> {
        match &self.mixture {
            Some(mixture) => self.stack.slope_with(row, |x| mixture.slope(x)),
            None => self.stack.slope(row),
        }
    }

    fn draw(&self, rng: &mut random::Stream) -> Vec<f64> {
        match &self.mixture {
            Some(mixture) => {
                let x = mixture.draw(rng);
                self.stack.back(x, rng)
            }
            None => self.stack.draw(rng),
        }
    }
}

impl Pool {
    /// From its members and their shares, which are positive and add up to 1.
    pub fn new(members: Vec<Member>, shares: Vec<f64>) -> Result<Self> {
        let (expected, got) = (members.len().max(1), shares.len());
        if members.len() != got || got == 0 {
            return Err(Error::Shape { what: "shares of a pool", expected, got });
        }
        let total: f64 = shares.iter().sum();
        if !(shares.iter().all(|s| *s > 0.0) && (total - 1.0).abs() < 1e-9) {
            return invalid("pool", "its shares", "must be positive and add up to 1");
        }
        Ok(Pool { members, shares })
    }

    /// Fits stacks and mixtures, with and without column experts, and finds their shares on rows held
    /// out; rows of one block are held out together. `watch` is asked often whether to go on, with the
    /// number of parts that are done and of all; `None` where it says no.
    pub fn fit(
        rows: &Rows,
        settings: &Settings,
        watch: impl FnMut(usize, usize) -> bool + Send,
    ) -> Result<Option<Self>> {
        let folds = folds(rows, settings.seed);
        let total = RECIPES.len() * (folds.len() + 1);
        let (watch, done) = (Mutex::new(watch), AtomicUsize::new(0));
        let watch = &|| {
            let mut watch = watch.lock().unwrap_or_else(PoisonError::into_inner);
            watch(done.load(Ordering::Relaxed), total)
        };
        let step = || {
            done.fetch_add(1, Ordering::Relaxed);
            watch()
        };
        let mut kept = Vec::new();
        for recipe in RECIPES {
            kept.extend(Tried::new(rows, &folds, recipe, settings, watch, &step)?);
            if !watch() {
                return Ok(None);
            }
        }
        let weights: Vec<f64> = folds.iter().flatten().map(|&i| rows.weight(i)).collect();
        let held: Vec<&[f64]> = kept.iter().map(|t| &t.held[..]).collect();
        let shares = shares(&held, &weights);
        let mut pool = Pool { members: Vec::new(), shares: Vec::new() };
        for (tried, share) in kept.into_iter().zip(shares).filter(|(_, share)| *share >= SMALLEST) {
            if let Some(member) = tried.finish(rows, settings, watch)? {
                pool.members.push(member);
                pool.shares.push(share);
            }
            if !step() {
                return Ok(None);
            }
        }
        if pool.members.is_empty() {
            return Err(Error::NoConvergence { what: "growth of a pool" });
        }
        let total: f64 = pool.shares.iter().sum();
        pool.shares.iter_mut().for_each(|s| *s /= total);
        Ok(watch().then_some(pool))
    }

    /// The members.
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// The share of each.
    pub fn shares(&self) -> &[f64] {
        &self.shares
    }

    /// ln p of each row, in nats.
    pub fn score(&self, rows: &Rows) -> Result<Vec<f64>> {
        let scores: Result<Vec<Vec<f64>>> = self.members.iter().map(|m| m.score(rows)).collect();
        let scores = scores?;
        Ok((0..rows.len()).map(|i| pooled(scores.iter().map(|s| s[i]), &self.shares)).collect())
    }

    /// The gradient of ln p at a row, in the units of its columns.
    pub fn slope(&self, row: &[f64]) -> Result<Vec<f64>> {
        let rows = Rows::new(row, row.len())?;
        let ln_p = self.score(&rows)?[0];
        let mut slope = vec![0.0; row.len()];
        for (member, share) in self.members.iter().zip(&self.shares) {
            let part = share * (member.score(&rows)?[0] - ln_p).exp();
            if part > 0.0 {
                slope.iter_mut().zip(member.slope(row)?).for_each(|(s, m)| *s += part * m);
            }
        }
        Ok(slope)
    }

    /// Some of the rows that [`Pool::sample`] draws; see
    /// [`Density::sample_range`](crate::Density::sample_range).
    pub fn sample_range(&self, rows: Range<usize>, seed: u64) -> Vec<f64> {
        const BLOCK: usize = Model::SAMPLE_BLOCK;
        let blocks = (rows.start / BLOCK..rows.end.div_ceil(BLOCK)).into_par_iter();
        let drawn: Vec<Vec<f64>> = blocks
            .map(|block| {
                let mut rng = random::stream(seed, Use::Sample, block as u64);
                let some = block * BLOCK..((block + 1) * BLOCK).min(rows.end);
                some.flat_map(|_| self.draw(&mut rng)).collect()
            })
            .collect();
        drawn.concat()
    }

    /// `n` rows drawn from the pool, row after row.
    pub fn sample(&self, n: usize, seed: u64) -> Vec<f64> {
        self.sample_range(0..n, seed)
    }

    fn draw(&self, rng: &mut random::Stream) -> Vec<f64> {
        let mut left: f64 = rng.random_range(0.0..1.0);
        let chosen = self.shares.iter().position(|share| {
            left -= share;
            left < 0.0
        });
        self.members[chosen.unwrap_or(self.members.len() - 1)].draw(rng)
    }
}

impl Density for Pool {
    fn columns(&self) -> usize {
        self.members[0].stack.columns()
    }

    fn score(&self, rows: &Rows) -> Result<Vec<f64>> {
        Pool::score(self, rows)
    }

    fn sample_range(&self, rows: Range<usize>, seed: u64) -> Vec<f64> {
        Pool::sample_range(self, rows, seed)
    }

    fn places(&self) -> Vec<(f64, f64)> {
        self.members[0].stack.places()
    }
}

/// ln Σ πₘ pₘ from the ln pₘ.
fn pooled(ln_p: impl Iterator<Item = f64> + Clone, shares: &[f64]) -> f64 {
    let top = ln_p.clone().fold(f64::NEG_INFINITY, f64::max);
    if top == f64::NEG_INFINITY {
        return top;
    }
    top + ln_p.zip(shares).map(|(p, share)| share * (p - top).exp()).sum::<f64>().ln()
}

/// A recipe, tried on every fold.
struct Tried {
    recipe: Recipe,
    /// ln p of the rows held out, fold after fold.
    held: Vec<f64>,
    components: Option<ChosenComponents>,
}

impl Tried {
    /// `None` where the recipe does not suit the rows, or where `watch` says stop.
    fn new(
        rows: &Rows,
        folds: &[Vec<usize>],
        recipe: Recipe,
        settings: &Settings,
        watch: Watch,
        step: Watch,
    ) -> Result<Option<Self>> {
        let settings = recipe.settings(settings);
        let (mut held, mut inner, mut ln_dets) = (Vec::new(), Vec::new(), Vec::new());
        let mut dims = None;
        for fold in folds {
            let (train, test) = split(rows, fold);
            let train = view(&train.0, rows.columns(), train.1.as_deref())?;
            let test = view(&test.0, rows.columns(), test.1.as_deref())?;
            let Some(stack) = stack_alone(&train, &settings, recipe.columns, watch)? else {
                return Ok(None);
            };
            if recipe.mixture {
                // Rows of all folds must have as many dimensions.
                if *dims.get_or_insert(stack.whitening().dims()) != stack.whitening().dims() {
                    return Ok(None);
                }
                let ((learn, _), (x, ln_det)) = (stack.mapped(&train)?, stack.mapped(&test)?);
                let weights = |rows: &Rows| rows.weights().map(<[f64]>::to_vec);
                let (learn_weights, held_weights) = (weights(&train), weights(&test));
                inner.push(Fold { learn, learn_weights, held: x, held_weights });
                ln_dets.push(ln_det);
            } else {
                held.extend(stack.score(&test)?);
            }
            if !step() {
                return Ok(None);
            }
        }
        let choose = |dims| ChosenComponents::watched(&inner, dims, Some(watch));
        let chosen = dims.map(choose).transpose()?;
        for (ln_p, ln_dets) in chosen.iter().flat_map(|c| &c.ln_p).zip(&ln_dets) {
            held.extend(ln_p.iter().zip(ln_dets).map(|(p, ln_det)| p + ln_det));
        }
        Ok(Some(Tried { recipe, held, components: chosen }))
    }

    /// The same on all rows; `None` where it does not suit them, although it suited every fold.
    fn finish(self, rows: &Rows, settings: &Settings, watch: Watch) -> Result<Option<Member>> {
        let settings = self.recipe.settings(settings);
        let Some(stack) = stack_alone(rows, &settings, self.recipe.columns, watch)? else {
            return Ok(None);
        };
        // From the start: the axes of rows that are sphered anew are others.
        let fit = |chosen: ChosenComponents| -> Result<TMixture> {
            let (x, dims) = (stack.mapped(rows)?.0, stack.whitening().dims());
            let components = &chosen.components;
            Ok(TMixture::watched(&x, dims, rows.weights(), components, Some(watch))?.mixture)
        };
        let mixture = self.components.map(fit).transpose()?;
        Ok(Some(Member::new(stack, mixture)?))
    }
}

/// A table's values, and weights where it has any.
type Picked = (Vec<f64>, Option<Vec<f64>>);

/// The rows outside a fold, and those in it.
fn split(rows: &Rows, fold: &[usize]) -> (Picked, Picked) {
    let mut out = vec![false; rows.len()];
    fold.iter().for_each(|&i| out[i] = true);
    let kept: Vec<usize> = (0..rows.len()).filter(|&i| !out[i]).collect();
    (rows.pick(&kept), rows.pick(fold))
}

/// Which rows are held out together. Rows of one block stay together.
fn folds(rows: &Rows, seed: u64) -> Vec<Vec<usize>> {
    let mut rng = random::stream(seed, Use::Holdout, u64::from(u32::MAX));
    let of_row = |i: usize| rows.blocks().map_or(i, |blocks| blocks[i]);
    let count = (0..rows.len()).map(of_row).max().map_or(0, |last| last + 1);
    let mut order: Vec<usize> = (0..count).collect();
    order.shuffle(&mut rng);
    let mut fold = vec![0; count];
    order.iter().enumerate().for_each(|(place, &block)| fold[block] = place % FOLDS);
    let used = if rows.len() <= FOLDED { FOLDS } else { 1 };
    let members = |k: usize| (0..rows.len()).filter(|&i| fold[of_row(i)] == k).collect();
    (0..used).map(members).filter(|f: &Vec<usize>| !f.is_empty()).collect()
}

/// The shares that make rows held out most probable, by EM.
fn shares(held: &[&[f64]], weights: &[f64]) -> Vec<f64> {
    let members = held.len() as f64;
    let mut shares = vec![1.0 / members; held.len()];
    for _ in 0..STEPS {
        let mut sums = vec![PRIOR / members; held.len()];
        for (i, weight) in weights.iter().enumerate() {
            let all = pooled(held.iter().map(|h| h[i]), &shares);
            if all == f64::NEG_INFINITY {
                continue;
            }
            for ((sum, h), share) in sums.iter_mut().zip(held).zip(&shares) {
                *sum += weight * share * (h[i] - all).exp();
            }
        }
        let total: f64 = sums.iter().sum();
        shares = sums.iter().map(|s| s / total).collect();
    }
    shares
}
