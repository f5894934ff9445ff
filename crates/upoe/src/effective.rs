//! How many independent rows a table is worth.
//!
//! P-values and prices of parameters take rows as independent and alike. Weights, repeated rows,
//! rows that belong together and rows that follow one another in time make a table worth fewer
//! rows than it has. Learning scales the weights so that they add up to that number.

use crate::error::Result;
use crate::outliers;
use crate::rows::Rows;
use crate::whitening::Dims;
use faer::{Mat, Side};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::hash::{DefaultHasher, Hasher};

/// Why a table is worth fewer rows than it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Cause {
    /// Rows have unequal weights.
    Weights,
    /// Rows are repeated.
    Repeats,
    /// Rows of a block resemble each other.
    Blocks,
    /// Rows resemble those before them.
    Order,
}

/// How many independent rows a table is worth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Effective {
    /// How many rows have weight.
    pub of: usize,
    /// How many they are worth.
    pub rows: f64,
    /// What lowers it most, where anything does.
    pub cause: Option<Cause>,
    /// The largest correlation of a column with itself one row before, where the order of rows was not
    /// said to matter.
    pub neighbours: f64,
}

impl Effective {
    /// Of rows with positive weights and their repeats, unless weights and repeats are numbers of
    /// independent rows. `ordered` says that rows follow one another in time.
    pub fn of(rows: &Rows, repeats: Option<&Repeats>, ordered: bool) -> Result<Self> {
        let weights = || (0..rows.len()).map(|i| rows.weight(i));
        let weight: f64 = weights().sum();
        let apart = worth(weights().map(|w| (w, 1.0)));
        let merged = repeats.map_or(weight, Repeats::worth);
        let sphered = (ordered || rows.blocks().is_some()).then(|| sphered(rows)).transpose()?;
        let by_blocks = match (&sphered, rows.blocks()) {
            (Some((x, dims)), Some(blocks)) => of_blocks(x, *dims, blocks),
            _ => 1.0,
        };
        let by_order = match &sphered {
            Some((x, dims)) if ordered => of_order(x, *dims),
            _ => 1.0,
        };
        let of = rows.len();
        let (by_weights, by_repeats) = match repeats {
            None => (1.0, 1.0),
            Some(_) => (apart / of as f64, merged / apart),
        };
        let causes = [
            (by_weights, Cause::Weights),
            (by_repeats, Cause::Repeats),
            (by_blocks, Cause::Blocks),
            (by_order, Cause::Order),
        ];
        let lowest = causes.into_iter().min_by(|a, b| a.0.total_cmp(&b.0));
        let cause = lowest.filter(|(share, _)| *share < 0.99).map(|(_, cause)| cause);
        let rows_worth = (merged * by_blocks.min(by_order)).max(1.0);
        let told = ordered || rows.blocks().is_some();
        let neighbours = if told { 0.0 } else { neighbours(rows, repeats.is_some()) };
        Ok(Effective { of, rows: rows_worth, cause, neighbours })
    }

    /// Weights that add up to the effective number; `None` where rows without weights are worth their
    /// number.
    pub fn scaled(&self, rows: &Rows) -> Option<Vec<f64>> {
        let weights = || (0..rows.len()).map(|i| rows.weight(i));
        let scale = self.rows / weights().sum::<f64>();
        if (scale - 1.0).abs() < 1e-3 && rows.weights().is_none() {
            return None;
        }
        Some(weights().map(|w| w * scale).collect())
    }
}

/// How many equal rows rows of these weights are worth: Σw Σw² / Σw³. A variance would be worth
/// (Σw)² / Σw²; the gain of an expert depends on higher moments, to which few heavy rows matter more.
/// Each weight comes with the number of rows that share it.
fn worth(weights: impl Iterator<Item = (f64, f64)> + Clone) -> f64 {
    // In units of the largest, so that no power overflows.
    let largest = weights.clone().map(|(w, _)| w).fold(f64::MIN_POSITIVE, f64::max);
    let power = |k: i32| weights.clone().map(|(w, m)| (w / largest).powi(k) / m).sum::<f64>();
    power(1) * power(2) / power(3)
}

/// Which rows are repeated, and how often.
pub(crate) struct Repeats {
    /// Of each row, how often it is there.
    times: Vec<f64>,
    /// Of each row, the mean weight of those equal to it.
    means: Vec<f64>,
}

impl Repeats {
    pub fn of(rows: &Rows) -> Self {
        let hash = |i: usize| {
            let mut hasher = DefaultHasher::new();
            // Adding zero makes −0 and 0 the same.
            rows.row(i).iter().for_each(|x| hasher.write_u64((x + 0.0).to_bits()));
            (hasher.finish(), i)
        };
        let mut known: Vec<(u64, usize)> = (0..rows.len()).into_par_iter().map(hash).collect();
        known.par_sort_unstable();
        let (mut times, mut means) = (vec![1.0; rows.len()], vec![1.0; rows.len()]);
        for same in known.chunk_by(|a, b| a.0 == b.0) {
            let often = same.len() as f64;
            let mean = same.iter().map(|(_, i)| rows.weight(*i)).sum::<f64>() / often;
            for (_, i) in same {
                (times[*i], means[*i]) = (often, mean);
            }
        }
        Repeats { times, means }
    }

    /// Weights with which every distinct row counts once; `None` where all rows are there equally often, so
    /// that nothing would change.
    pub fn once(&self) -> Option<Vec<f64>> {
        let uneven = self.times.iter().any(|m| *m != self.times[0]);
        uneven.then(|| self.means.iter().zip(&self.times).map(|(w, m)| w / m).collect())
    }

    /// How many equal rows the distinct rows are worth.
    fn worth(&self) -> f64 {
        worth(self.means.iter().copied().zip(self.times.iter().copied()))
    }
}

/// Farther out, in deviations, rows count as if they were this far.
const FAR: f64 = 8.0;

/// Sphered rows and their dimensions. Where rows are fewer than dimensions, the largest
/// dimensions are kept, because the others tell nothing about dependence.
fn sphered(rows: &Rows) -> Result<(Vec<f64>, usize)> {
    const ROWS_PER_DIMENSION: usize = 10;
    let most = (rows.len() / ROWS_PER_DIMENSION).max(1);
    let mut whitening = outliers::sphering(rows, Dims::All)?.whitening;
    if whitening.dims() > most {
        whitening = outliers::sphering(rows, Dims::Count(most))?.whitening;
    }
    let mut x = whitening.sphere(rows)?;
    // One row far out must not hide that all others are alike.
    x.iter_mut().for_each(|x| *x = x.clamp(-FAR, FAR));
    Ok((x, whitening.dims()))
}

/// The share that blocks leave: 1 / (1 + (m − 1) ρ), with m the size of a block and ρ the largest
/// correlation, over all directions, of two rows of one block.
fn of_blocks(x: &[f64], dims: usize, blocks: &[usize]) -> f64 {
    let n = blocks.len() as f64;
    let count = blocks.iter().max().map_or(0, |last| last + 1);
    let mut sums = vec![0.0; count * dims];
    let mut sizes = vec![0.0; count];
    for (row, &block) in x.chunks_exact(dims).zip(blocks) {
        sizes[block] += 1.0;
        sums[block * dims..][..dims].iter_mut().zip(row).for_each(|(sum, x)| *sum += x);
    }
    // The size that matters where sizes differ.
    let size = sizes.iter().map(|m| m * m).sum::<f64>() / n;
    if size <= 1.0 {
        return 1.0;
    }
    let sums = Mat::from_fn(count, dims, |g, k| sums[g * dims + k]);
    let Ok(values) = (sums.transpose() * &sums).self_adjoint_eigenvalues(Side::Lower) else {
        return 1.0 / size;
    };
    // ⟨(Σ over a block)²⟩ is m (1 + (m − 1) ρ) along every direction of unit variance; a block less for the
    // mean, which was subtracted.
    let spare = count as f64 / (count as f64 - 1.0);
    let largest = spare * values.iter().copied().fold(0.0, f64::max) / n;
    if !largest.is_finite() {
        return 1.0 / size;
    }
    1.0 / largest.clamp(1.0, size)
}

/// The share that order leaves: one over the largest integrated autocorrelation time of a
/// coordinate, by Geyer's initial positive sequence.
fn of_order(x: &[f64], dims: usize) -> f64 {
    let n = x.len() / dims;
    let time = |k: usize| {
        let z: Vec<f64> = x.iter().skip(k).step_by(dims).copied().collect();
        let variance = z.iter().map(|z| z * z).sum::<f64>() / n as f64;
        let lag = |l: usize| {
            z.iter().zip(&z[l..]).map(|(a, b)| a * b).sum::<f64>() / (n as f64 * variance)
        };
        let mut time = -1.0;
        for l in (0..n.saturating_sub(1)).step_by(2) {
            let pair = lag(l) + lag(l + 1);
            if !(pair > 0.0) {
                break;
            }
            time += 2.0 * pair;
        }
        time
    };
    let longest = (0..dims).into_par_iter().map(time).reduce(|| 1.0, f64::max);
    1.0 / longest
}

/// Sorted tables have neighbours that are alike, too, so that weaker correlations are not spoken of.
const SORTED: f64 = 0.5;

/// Whether a correlation with the row before is more than chance, which has a deviation of 1/√N, and more than
/// weak.
pub(crate) fn is_strong(correlation: f64, rows: usize) -> bool {
    correlation > SORTED.max(5.0 / (rows as f64).sqrt())
}

/// Whether rows resemble those before them.
pub(crate) fn follow(rows: &Rows) -> bool {
    rows.len() > 1 && is_strong(neighbours(rows, true), rows.len())
}

/// The largest correlation of a column with itself one row before. Where rows that are equal count
/// `once`, so do those that follow one another.
fn neighbours(rows: &Rows, once: bool) -> f64 {
    let (mut n, columns) = (0.0, rows.columns());
    let mut sums = vec![[0.0; 3]; columns]; // x, x², x times the x before
    let first = rows.row(0);
    let mut before: Vec<f64> = vec![0.0; columns];
    for i in 0..rows.len() {
        let row = rows.row(i);
        if once && i > 0 && row == rows.row(i - 1) {
            continue;
        }
        n += 1.0;
        for (((sums, x), at), last) in
            sums.iter_mut().zip(row.iter()).zip(first.iter()).zip(&mut before)
        {
            let x = x - at; // so that a large mean does not cost digits
            sums[0] += x;
            sums[1] += x * x;
            sums[2] += x * *last;
            *last = x;
        }
    }
    let correlation = |[x, square, product]: &[f64; 3]| {
        let mean = x / n;
        (product / n - mean * mean) / (square / n - mean * mean)
    };
    sums.iter().map(correlation).filter(|c| c.is_finite()).fold(0.0, f64::max).min(1.0)
}
