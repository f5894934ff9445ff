//! Engines, which sum over rows.
//!
//! Learners never see rows. They ask an [`Engine`] for sums, which can be merged over threads,
//! files, devices or machines. [`Memory`] holds all rows in memory; a program can pass its
//! own engine to [`Fitter::fit_engine`](crate::Fitter::fit_engine) and get the same model
//! (`examples/own_engine.rs`).

mod memory;
mod partition;
mod remote;

pub use memory::Memory;
pub use partition::Partition;
pub use remote::{Cluster, Remote};

/// Rows that are summed together before sums are merged, of a table with so many columns. Where
/// partitions have as many rows each, a fit of them has the bits of a fit in memory.
pub use upoe_kernels::part_rows;

pub(crate) use memory::rounding;
pub(crate) use partition::{Stored, VERSION, at};
pub(crate) use remote::Shape;

use crate::error::{Error, Result};
use crate::expert::Expert;
use crate::linalg::{dot, remove};
use crate::random::{self, Use};
use faer::Mat;
use rand::RngExt;
use serde::{Deserialize, Serialize};
use upoe_kernels::Term as _;

/// A direction in sphered space and its expert: what learners ask engines about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Candidate {
    /// w, with one entry per dimension.
    pub direction: Vec<f64>,
    /// The expert on z = wᵀx.
    pub expert: Expert,
}

impl Candidate {
    /// A direction and its expert.
    pub fn new(direction: Vec<f64>, expert: Expert) -> Self {
        Candidate { direction, expert }
    }
}

/// What a pass over the rows gives for one candidate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sums {
    /// Σ weight · E′(z) · x, the gradient of the summed energy in the direction.
    pub gradient: Vec<f64>,
    /// The expert's own statistics, which determine its loss and that loss's gradient.
    pub statistics: Vec<f64>,
}

impl Sums {
    /// Adds the sums of the same candidate over other rows. Addition rounds, so the order of
    /// merging decides the last bits: the caller fixes it.
    ///
    /// ```
    /// use upoe::engine::Sums;
    /// let mut sums = Sums { gradient: vec![1.0, 2.0], statistics: vec![3.0] };
    /// sums.merge(&Sums { gradient: vec![0.5, 0.5], statistics: vec![1.0] });
    /// assert_eq!(sums, Sums { gradient: vec![1.5, 2.5], statistics: vec![4.0] });
    /// ```
    ///
    /// # Panics
    /// If the other sums belong to a candidate of another shape.
    pub fn merge(&mut self, other: &Sums) {
        let pairs =
            [(&mut self.gradient, &other.gradient), (&mut self.statistics, &other.statistics)];
        for (into, from) in pairs {
            assert_eq!(into.len(), from.len(), "sums of the same candidate");
            into.iter_mut().zip(from).for_each(|(a, b)| *a += b);
        }
    }
}

/// Asks an engine for sums and checks that its answer has the shape that learning relies on, because
/// an engine may come from outside the crate.
pub(crate) fn ask(engine: &dyn Engine, candidates: &[Candidate]) -> Result<Vec<Sums>> {
    let sums = engine.sums(candidates)?;
    let check = |what, expected, got| match expected == got {
        true => Ok(()),
        false => Err(Error::Shape { what, expected, got }),
    };
    check("sums of an engine, one per candidate", candidates.len(), sums.len())?;
    for (candidate, sums) in candidates.iter().zip(&sums) {
        check("entries of a gradient from an engine", engine.dims(), sums.gradient.len())?;
        let (expected, got) = (candidate.expert.n_sums(), sums.statistics.len());
        check("statistics of an expert from an engine", expected, got)?;
    }
    Ok(sums)
}

/// Some of an engine's rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Picked {
    /// Sphered rows, row after row.
    pub rows: Vec<f64>,
    /// Their weights, where rows have weights.
    pub weights: Option<Vec<f64>>,
}

/// Sums over sphered rows.
///
/// Rows are numbered from 0 in an order that the engine fixes. Every call that touches rows may
/// fail; the error says where ([`Error::Engine`]).
pub trait Engine: Send + Sync {
    /// D, the dimensions of a row.
    fn dims(&self) -> usize;

    /// How many rows there are.
    fn rows(&self) -> usize;

    /// Σ weights.
    fn weight(&self) -> f64;

    /// Whether the rows are the sphered training rows themselves, so that ⟨xxᵀ⟩ = I.
    fn is_white(&self) -> bool;

    /// The error that rounding leaves in a mean loss.
    fn rounding(&self) -> f64 {
        1e-15
    }

    /// ⟨‖x‖²⟩, which is D where ⟨xxᵀ⟩ = I.
    fn mean_square(&self) -> Result<f64>;

    /// The sums of every candidate, from one pass.
    fn sums(&self, candidates: &[Candidate]) -> Result<Vec<Sums>>;

    /// Copies of some rows, in the order asked for. Learners ask for few: starts, and samples
    /// whose size depends on N and D alone.
    fn pick(&self, rows: &[usize]) -> Result<Picked>;

    /// An engine over `n` rows drawn without replacement, for screening starts and for
    /// mini-batches; `None` where there are no more than `n` rows, or where those drawn have no
    /// weight. Which rows are drawn depends on the seed, `n` and the number of rows alone.
    fn subset(&self, seed: u64, n: usize) -> Result<Option<Box<dyn Engine>>> {
        let Some(chosen) = draw(self.rows(), seed, n) else { return Ok(None) };
        let picked = self.pick(&chosen)?;
        if picked.weights.as_ref().is_some_and(|w| !(w.iter().sum::<f64>() > 0.0)) {
            return Ok(None);
        }
        Ok(Some(self.over(picked)?))
    }

    /// An engine of the same kind over other rows, such as a sample of these. Their ⟨xxᵀ⟩ need not
    /// be I. Unless an engine has a better way, they are in memory.
    fn over(&self, rows: Picked) -> Result<Box<dyn Engine>> {
        let Picked { rows, weights } = rows;
        Ok(Box::new(Memory::<f64>::held_out(rows, self.dims(), weights)?))
    }

    /// ⟨(‖y‖² − f) yyᵀ⟩ (D × D), where y is the part of a row outside `span`, some orthonormal
    /// directions, and f the number of dimensions outside it: 2 for Gaussian rows, times the
    /// projection onto these dimensions. All rows count alike.
    fn fourth_moments(&self, span: &[Vec<f64>]) -> Result<Vec<f64>> {
        let (rows, d) = (self.rows(), self.dims());
        let free = (d - span.len()) as f64;
        let mut sum = Mat::<f64>::zeros(d, d);
        for start in (0..rows).step_by(BLOCK) {
            let chosen: Vec<usize> = (start..rows.min(start + BLOCK)).collect();
            let mut x = self.pick(&chosen)?.rows;
            x.chunks_exact_mut(d).for_each(|row| remove(span, row));
            let share = |row: &[f64]| (dot(row, row) - free) / rows as f64;
            let shares: Vec<f64> = x.chunks_exact(d).map(share).collect();
            let x = Mat::from_fn(chosen.len(), d, |i, k| x[i * d + k]);
            sum += x.transpose() * Mat::from_fn(chosen.len(), d, |i, k| shares[i] * x[(i, k)]);
        }
        Ok((0..d * d).map(|i| sum[(i / d, i % d)]).collect())
    }
}

/// Rows at a time for fourth moments.
const BLOCK: usize = 4096;

/// The numbers of `n` rows drawn without replacement, in rising order; `None` if there are no more
/// than `n` rows.
pub fn draw(rows: usize, seed: u64, n: usize) -> Option<Vec<usize>> {
    if n >= rows {
        return None;
    }
    let mut rng = random::stream(seed, Use::Rows, n as u64);
    let mut chosen = rand::seq::index::sample(&mut rng, rows, n).into_vec();
    chosen.sort_unstable();
    Some(chosen)
}

/// Differences of `n` random pairs of rows, not normalised. As starts they turn with the data, and
/// point along groups and outliers.
pub(crate) fn differences(engine: &dyn Engine, seed: u64, n: usize) -> Result<Vec<Vec<f64>>> {
    let mut rng = random::stream(seed, Use::Starts, u64::from(u32::MAX));
    let pairs: Vec<usize> = (0..2 * n).map(|_| rng.random_range(0..engine.rows())).collect();
    let picked = engine.pick(&pairs)?.rows;
    let difference = |pair: &[f64]| {
        let (a, b) = pair.split_at(engine.dims());
        a.iter().zip(b).map(|(a, b)| a - b).collect()
    };
    Ok(picked.chunks_exact(2 * engine.dims()).map(difference).collect())
}
