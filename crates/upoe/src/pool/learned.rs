//! Learning a pool: members, their shares, and which rows decide about them.

use super::recipe::{Trial, Tried};
use super::{Member, Pool, pooled};
use crate::error::{Error, Result};
use crate::grain;
use crate::learn::Settings;
use crate::random::{self, Use};
use crate::rows::Rows;
use crate::stack::Stack;
use rand::seq::SliceRandom;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Rows are in this many folds, of which as many are held out in turn as together have `ENOUGH` rows: shares
/// that so many rows decide lose less than 0.01 nats.
const FOLDS: usize = 5;
const ENOUGH: usize = 500;
/// Steps that find the shares.
const STEPS: usize = 300;
/// Rows that the shares have together before any are seen.
const PRIOR: f64 = 1.0;
/// Members with a smaller share are left out.
pub(super) const SMALLEST: f64 = 1e-3;

impl Pool {
    /// Fits stacks and mixtures, with and without column experts, and finds their shares on rows held
    /// out; rows of one block are held out together. `watch` is asked often whether to go on, with the
    /// number of parts that are done and of all; `None` where it says no.
    pub fn fit(
        rows: &Rows,
        settings: &Settings,
        watch: impl FnMut(usize, usize) -> bool + Send,
    ) -> Result<Option<Self>> {
        Self::beside(None, rows, settings, watch)
    }

    /// The same with a stack that was learned from the same rows already.
    pub(crate) fn beside(
        known: Option<&Stack>,
        rows: &Rows,
        settings: &Settings,
        watch: impl FnMut(usize, usize) -> bool + Send,
    ) -> Result<Option<Self>> {
        let folds = folds(rows, settings.seed);
        let total = Trial::PARTS * folds.len() + 1;
        let (watch, done) = (Mutex::new(watch), AtomicUsize::new(0));
        let watch = &|| {
            let mut watch = watch.lock().unwrap_or_else(PoisonError::into_inner);
            watch(done.load(Ordering::Relaxed), total)
        };
        let step = || {
            done.fetch_add(1, Ordering::Relaxed);
            watch()
        };
        let grain = grain::of(rows);
        let weights: Vec<f64> = folds.iter().flatten().map(|&i| rows.weight(i)).collect();
        let trial = Trial { rows, settings, grain: &grain, watch, step: &step };
        let Some(kept) = trial.all(&folds, &weights)? else { return Ok(None) };
        let shares = shares_of(&kept, &weights);
        let (mut members, mut kept_shares) = (Vec::<Member>::new(), Vec::new());
        for (tried, share) in kept.into_iter().zip(shares).filter(|(_, share)| *share >= SMALLEST) {
            if let Some(member) = trial.finish(tried, known)? {
                members.push(member);
                kept_shares.push(share);
            }
            if !watch() {
                return Ok(None);
            }
        }
        if members.is_empty() {
            return Err(Error::NoConvergence { what: "growth of a pool" });
        }
        let total: f64 = kept_shares.iter().sum();
        kept_shares.iter_mut().for_each(|s| *s /= total);
        Ok(watch().then_some(Pool { members, shares: kept_shares }))
    }
}

/// Which rows are held out at a time. Rows of one block stay together.
pub fn folds(rows: &Rows, seed: u64) -> Vec<Vec<usize>> {
    let mut rng = random::stream(seed, Use::Holdout, u64::from(u32::MAX));
    let of_row = |i: usize| rows.blocks().map_or(i, |blocks| blocks[i]);
    let count = (0..rows.len()).map(of_row).max().map_or(0, |last| last + 1);
    let mut order: Vec<usize> = (0..count).collect();
    order.shuffle(&mut rng);
    let mut fold = vec![0; count];
    order.iter().enumerate().for_each(|(place, &block)| fold[block] = place % FOLDS);
    let members = |k: usize| (0..rows.len()).filter(|&i| fold[of_row(i)] == k).collect();
    let mut held = 0;
    (0..FOLDS)
        .map(members)
        .filter(|fold: &Vec<usize>| !fold.is_empty())
        .take_while(|fold| {
            let more = held < ENOUGH;
            held += fold.len();
            more
        })
        .collect()
}

/// The shares of recipes in the first of the rows held out, as many as there are weights.
pub fn shares_of(tried: &[Tried], weights: &[f64]) -> Vec<f64> {
    let held: Vec<&[f64]> = tried.iter().map(|t| &t.held[..weights.len()]).collect();
    shares(&held, weights)
}

/// The shares that make rows held out most probable, by EM.
pub(super) fn shares(held: &[&[f64]], weights: &[f64]) -> Vec<f64> {
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
