//! Which rows are held out: the same as the `upoe` command holds out.

use std::collections::{HashMap, HashSet};

use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;

/// Marks rows to hold out: a share of them at random, or whole groups until the share is
/// reached. Which ones depends on the seed, the number of rows and the groups alone.
#[pyfunction]
#[pyo3(signature = (rows, groups, share, seed))]
pub fn held_out(
    py: Python<'_>,
    rows: usize,
    groups: Option<Vec<String>>,
    share: f64,
    seed: u64,
) -> Bound<'_, PyArray1<bool>> {
    let wanted = ((share * rows as f64).round() as usize).max(1);
    let out: Vec<bool> = match groups {
        None => {
            let mut order: Vec<usize> = (0..rows).collect();
            order.sort_by_key(|&row| (mix(seed, row as u64), row));
            let mut out = vec![false; rows];
            order.iter().take(wanted).for_each(|&row| out[row] = true);
            out
        }
        Some(groups) => {
            let chosen = choose(&groups, wanted, seed);
            groups.iter().map(|group| chosen.contains(group.as_str())).collect()
        }
    };
    out.into_pyarray(py)
}

/// Groups, in a shuffled order, until they have as many rows as wanted; never all.
fn choose(groups: &[String], wanted: usize, seed: u64) -> HashSet<&str> {
    let mut sizes: HashMap<&str, usize> = HashMap::new();
    groups.iter().for_each(|group| *sizes.entry(group).or_default() += 1);
    let mut order: Vec<&str> = sizes.keys().copied().collect();
    order.sort_by_key(|group| (mix(seed, hash(group)), *group));
    order.pop();
    let mut rows = 0;
    let enough = |group: &&str| (rows < wanted, rows += sizes[group]).0;
    order.into_iter().take_while(enough).collect()
}

/// A well-mixed hash of a seed and a number (the finaliser of SplitMix64, twice).
fn mix(seed: u64, n: u64) -> u64 {
    let round = |mut x: u64| {
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    };
    round(round(seed.wrapping_add(0x9e37_79b9_7f4a_7c15)).wrapping_add(n))
}

/// FNV-1a.
fn hash(text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |h, byte| (h ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
