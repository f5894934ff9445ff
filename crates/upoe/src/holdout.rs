//! Which rows are held out.

use crate::error::{Error, Result, invalid};
use crate::random::{self, Use};
use rand::seq::SliceRandom;
use std::collections::{BTreeMap, BTreeSet};

/// The share of rows held out where groups are given and no share is.
pub const HOLDOUT_SHARE: f64 = 0.2;

/// Marks rows to hold out: a share of them at random ([`HOLDOUT_SHARE`] where none is given), or
/// whole groups until the share is reached (never all groups). Which ones depends on the seed, the
/// number of rows and the groups alone.
///
/// ```
/// let groups = ["a", "a", "b", "b", "c", "c"];
/// let out = upoe::held_out(6, Some(0.3), Some(&groups), 1)?;
/// assert_eq!(out.iter().filter(|out| **out).count(), 2);
/// assert!(out.chunks(2).all(|pair| pair[0] == pair[1]));
/// # Ok::<(), upoe::Error>(())
/// ```
pub fn held_out<G: Ord>(
    rows: usize,
    share: Option<f64>,
    groups: Option<&[G]>,
    seed: u64,
) -> Result<Vec<bool>> {
    let share = share.unwrap_or(HOLDOUT_SHARE);
    if !(share > 0.0 && share < 1.0) {
        return invalid("holdout", share, "the share of rows held out lies between 0 and 1");
    }
    if groups.is_some_and(|groups| groups.windows(2).all(|pair| pair[0] == pair[1])) {
        return Err(Error::OneGroup);
    }
    let out = marked(rows, share, groups, seed);
    let held = out.iter().filter(|out| **out).count();
    if held + 2 > rows { Err(Error::HoldsOutTooMany { rows, held }) } else { Ok(out) }
}

fn marked<G: Ord>(rows: usize, share: f64, groups: Option<&[G]>, seed: u64) -> Vec<bool> {
    let wanted = ((share * rows as f64).round() as usize).max(1);
    let mut rng = random::stream(seed, Use::Holdout, 0);
    let Some(groups) = groups else {
        let mut order: Vec<usize> = (0..rows).collect();
        order.shuffle(&mut rng);
        let mut out = vec![false; rows];
        order.into_iter().take(wanted).for_each(|row| out[row] = true);
        return out;
    };
    let mut sizes: BTreeMap<&G, usize> = BTreeMap::new();
    groups.iter().for_each(|group| *sizes.entry(group).or_default() += 1);
    let mut order: Vec<(&G, usize)> = sizes.into_iter().collect();
    order.shuffle(&mut rng);
    order.pop();
    let mut taken = 0;
    let enough = |(_, size): &(&G, usize)| (taken < wanted, taken += size).0;
    let chosen: BTreeSet<&G> =
        order.into_iter().take_while(enough).map(|(group, _)| group).collect();
    groups.iter().map(|group| chosen.contains(group)).collect()
}
