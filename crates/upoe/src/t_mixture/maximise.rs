//! The M-step: from shares of rows to weights, means and shrunk covariances.

use super::holes::Pattern;
use super::pass::{BLOCK, Shares};
use super::{Components, TMixture, Watch, floored};
use crate::error::{Error, Result};
use crate::rows::view;
use faer::linalg::matmul::triangular::{BlockStructure, matmul};
use faer::{Accum, MatMut, MatRef, Par};
use rayon::prelude::*;

/// The prior count of each component's weight.
pub(super) const PRIOR_ROWS: f64 = 1.0;

/// How many rows at the mean of all rows each component has in addition; it keeps the mean of an
/// empty component finite.
pub(super) const PRIOR_MEAN: f64 = 1e-3;

/// The same where cells are missing: what a component of few rows has there would stay as it was filled in at the start.
const PRIOR_MEAN_WITH_HOLES: f64 = 1.0;

/// How many rows of the pooled scale each component's scale τ has in addition.
const PRIOR_SCALE: f64 = 1e-3;

/// The smallest eigenvalue of a covariance, relative to the mean variance of all columns.
const FLOOR: f64 = 1e-6;

/// Shares below this are left out of the sums of squares: those of a million rows count less
/// than the prior.
pub(super) const NEGLIGIBLE: f64 = 1e-12;

/// Blocks of rows per partial sum.
const SPAN: usize = 32;

/// The rows a mixture is learned from.
pub(super) struct Table<'a> {
    pub x: &'a [f64],
    pub dims: usize,
    pub weights: Option<&'a [f64]>,
    /// Σ of the weights.
    pub total: f64,
    /// Mean of the rows.
    pub mean: Vec<f64>,
    /// The smallest eigenvalue of a covariance.
    pub floor: f64,
    /// What every covariance has in addition: D × D, or nothing.
    pub grain: &'a [f64],
    /// What rows miss, where `x` only has cells that were filled in to begin with.
    pub patterns: Option<Vec<Pattern>>,
    /// How far correlations of the pooled covariance are shrunk.
    pub prior: f64,
    /// Whether to go on.
    pub watch: Option<Watch<'a>>,
}

impl<'a> Table<'a> {
    pub fn new(x: &'a [f64], dims: usize, weights: Option<&'a [f64]>) -> Result<Self> {
        let rows = view(x, dims, weights)?;
        rows.check()?;
        let learned = (0..rows.len()).filter(|&i| rows.weight(i) > 0.0).count();
        if learned < 2 {
            return Err(Error::TooFewRows { rows: learned, needed: 2 });
        }
        let (mut total, mut mean) = (0.0, vec![0.0; dims]);
        for (i, row) in x.chunks_exact(dims).enumerate() {
            let weight = rows.weight(i);
            total += weight;
            // Running means do not overflow.
            let step = if total > 0.0 { weight / total } else { 0.0 };
            mean.iter_mut().zip(row).for_each(|(m, x)| *m += step * (x - *m));
        }
        let mut variances = vec![0.0; dims];
        for (i, row) in x.chunks_exact(dims).enumerate() {
            let share = rows.weight(i) / total;
            for ((v, x), m) in variances.iter_mut().zip(row).zip(&mean) {
                *v += share * (x - m) * (x - m);
            }
        }
        let variance = variances.iter().sum::<f64>() / dims as f64;
        if variance == 0.0 {
            return Err(Error::NoVariance { columns: dims });
        }
        // Products of the covariances' entries must not overflow or vanish.
        if !(variance > 1e-100 && variance < 1e100) {
            let widest = (0..dims).max_by(|&i, &j| variances[i].total_cmp(&variances[j]));
            return Err(Error::Spread { column: widest.unwrap_or(0), variance });
        }
        let floor = FLOOR * variance;
        Ok(Table {
            x,
            dims,
            weights,
            total,
            mean,
            floor,
            grain: &[],
            patterns: None,
            prior: 0.0,
            watch: None,
        })
    }

    /// How many rows at the mean of all rows each component has in addition.
    fn prior_mean(&self) -> f64 {
        if self.patterns.is_some() { PRIOR_MEAN_WITH_HOLES } else { PRIOR_MEAN }
    }

    pub fn stopped(&self) -> bool {
        self.watch.is_some_and(|goes_on| !goes_on())
    }

    pub fn len(&self) -> usize {
        self.x.len() / self.dims
    }

    pub fn weight(&self, i: usize) -> f64 {
        self.weights.map_or(1.0, |w| w[i])
    }

    pub fn row(&self, i: usize) -> &'a [f64] {
        &self.x[i * self.dims..][..self.dims]
    }
}

/// Sums over the rows of one component.
pub(super) struct Sums {
    /// Σ of the shares.
    mass: f64,
    /// Σ of the pulls.
    pull: f64,
    /// Σ pull (x − centre): D.
    first: Vec<f64>,
    /// Σ pull (x − centre)(x − centre)ᵀ, lower half, column after column: D × D.
    pub second: Vec<f64>,
}

impl Sums {
    pub fn new(d: usize) -> Self {
        Sums { mass: 0.0, pull: 0.0, first: vec![0.0; d], second: vec![0.0; d * d] }
    }

    pub fn add(&mut self, other: &Sums) {
        self.mass += other.mass;
        self.pull += other.pull;
        self.first.iter_mut().zip(&other.first).for_each(|(a, b)| *a += b);
        self.second.iter_mut().zip(&other.second).for_each(|(a, b)| *a += b);
    }

    /// One row, from its centre.
    pub fn put(&mut self, mass: f64, pull: f64, off: &[f64]) {
        (self.mass, self.pull) = (self.mass + mass, self.pull + pull);
        self.first.iter_mut().zip(off).for_each(|(s, x)| *s += pull * x);
        for (j, column) in self.second.chunks_exact_mut(off.len()).enumerate() {
            let by = pull * off[j];
            column[j..].iter_mut().zip(&off[j..]).for_each(|(s, x)| *s += by * x);
        }
    }

    /// The sums of component `k` over some successive blocks, the first of which is `block`.
    fn of(table: &Table, shares: &[Shares], block: usize, k: usize, centre: &[f64]) -> Self {
        let d = table.dims;
        let mut sums = Sums::new(d);
        let mut scaled = Vec::with_capacity(2 * BLOCK * d);
        for (b, shares) in shares.iter().enumerate() {
            let start = (block + b) * BLOCK;
            let n = (table.len() - start).min(BLOCK);
            let (mass, pull) = (&shares.mass[k * n..][..n], &shares.pull[k * n..][..n]);
            sums.mass += mass.iter().sum::<f64>();
            for (i, &pull) in pull.iter().enumerate() {
                if !(mass[i] > NEGLIGIBLE) {
                    continue;
                }
                sums.pull += pull;
                let root = pull.sqrt();
                let off = table.row(start + i).iter().zip(centre).map(|(x, c)| root * (x - c));
                let from = scaled.len();
                scaled.extend(off);
                sums.first.iter_mut().zip(&scaled[from..]).for_each(|(s, x)| *s += root * x);
            }
            if scaled.len() > BLOCK * d {
                sums.add_squares(&mut scaled, d);
            }
        }
        sums.add_squares(&mut scaled, d);
        sums
    }

    fn add_squares(&mut self, scaled: &mut Vec<f64>, d: usize) {
        let rows = MatRef::from_column_major_slice(scaled, d, scaled.len() / d);
        matmul(
            MatMut::from_column_major_slice_mut(&mut self.second, d, d),
            BlockStructure::TriangularLower,
            Accum::Add,
            rows,
            BlockStructure::Rectangular,
            rows.transpose(),
            BlockStructure::Rectangular,
            1.0,
            Par::Seq,
        );
        scaled.clear();
    }

    /// The new mean, and in `second` the scatter about it, both halves, with the prior's part.
    fn centred(&mut self, table: &Table, centre: &[f64]) -> Vec<f64> {
        let d = table.dims;
        let Sums { pull, first, second, .. } = self;
        let to_prior = |i: usize| table.mean[i] - centre[i];
        let rows = table.prior_mean();
        let step: Vec<f64> =
            (0..d).map(|i| (first[i] + rows * to_prior(i)) / (*pull + rows)).collect();
        for i in 0..d {
            for j in 0..=i {
                let moved = first[i] * step[j] + step[i] * first[j] - *pull * step[i] * step[j];
                let prior = rows * (step[i] - to_prior(i)) * (step[j] - to_prior(j));
                let entry = second[j * d + i] - moved + prior;
                second[j * d + i] = entry;
                second[i * d + j] = entry;
            }
        }
        centre.iter().zip(&step).map(|(c, s)| c + s).collect()
    }
}

/// What an M-step gives.
pub(super) struct Maximised {
    pub mixture: TMixture,
    /// τ_k C̄, what the covariances were shrunk to: K × D × D.
    #[cfg(test)]
    pub targets: Vec<f64>,
}

/// The mixture of highest penalised likelihood given the shares:
///
/// ```text
/// w = (n_k + 1)/(N + K),  m = (Σ pull x + ε x̄)/(Σ pull + ε),  Σ = (n_k C_k + κ τ_k C̄)/(n_k + κ)
/// ```
///
/// with n_k C_k the scatter about m, C̄ = Σ n_k C_k / N and τ_k = tr C_k / tr C̄. For given
/// targets τ_k C̄ this is the maximum with an inverse Wishart prior on each Σ.
pub(super) fn maximise(
    table: &Table,
    shares: &[Shares],
    centres: &[f64],
    components: &Components,
) -> Result<Maximised> {
    let (d, count) = (table.dims, components.count);
    let spans = shares.len().div_ceil(SPAN);
    let partial: Vec<Sums> = (0..count * spans)
        .into_par_iter()
        .map(|task| {
            let (k, span) = (task / spans, task % spans);
            let blocks = span * SPAN..((span + 1) * SPAN).min(shares.len());
            Sums::of(table, &shares[blocks], span * SPAN, k, &centres[k * d..][..d])
        })
        .collect();
    let sums: Vec<Sums> = partial
        .chunks_exact(spans)
        .map(|parts| {
            let mut sums = Sums::new(d);
            parts.iter().for_each(|part| sums.add(part));
            sums
        })
        .collect();
    maximise_from(table, sums, centres, components)
}

/// The same from the sums of every component about its centre.
pub(super) fn maximise_from(
    table: &Table,
    mut sums: Vec<Sums>,
    centres: &[f64],
    components: &Components,
) -> Result<Maximised> {
    let (d, count) = (table.dims, components.count);
    let means: Vec<f64> = sums
        .iter_mut()
        .zip(centres.chunks_exact(d))
        .flat_map(|(s, c)| s.centred(table, c))
        .collect();

    let mut pooled = vec![0.0; d * d];
    for sums in &sums {
        pooled.iter_mut().zip(&sums.second).for_each(|(p, s)| *p += s / table.total);
    }
    if table.prior > 0.0 {
        let across = pooled.iter_mut().enumerate().filter(|(e, _)| e / d != e % d);
        across.for_each(|(_, p)| *p /= 1.0 + table.prior);
    }
    let trace = |c: &[f64]| (0..d).map(|i| c[i * d + i]).sum::<f64>();
    let pooled_trace = trace(&pooled).max(table.floor * d as f64);
    let kappa = components.shrinkage;
    let scale = |sums: &Sums| {
        if table.patterns.is_some() {
            return 1.0;
        }
        let own = trace(&sums.second) / pooled_trace;
        (own + PRIOR_SCALE) / (sums.mass + PRIOR_SCALE)
    };
    let of_component = |sums: &Sums| {
        let (tau, rows) = (scale(sums), sums.mass + kappa);
        // Without rows and without shrinkage nothing is known but the pooled covariance.
        let mut covariance: Vec<f64> = if rows > 1e-9 {
            let pair = sums.second.iter().zip(&pooled);
            pair.map(|(own, pooled)| (own + kappa * tau * pooled) / rows).collect()
        } else {
            pooled.clone()
        };
        covariance.iter_mut().zip(table.grain).for_each(|(c, grain)| *c += grain);
        floored(covariance, d, table.floor)
    };
    let parts: Vec<(Vec<f64>, Vec<f64>)> =
        sums.par_iter().map(of_component).collect::<Result<_>>()?;
    #[cfg(test)]
    let targets =
        sums.iter().flat_map(|s| pooled.iter().map(|p| p * scale(s)).collect::<Vec<_>>()).collect();
    let (covariances, whiteners): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
    let prior = PRIOR_ROWS * count as f64;
    let weights: Vec<f64> =
        sums.iter().map(|s| (s.mass + PRIOR_ROWS) / (table.total + prior)).collect();
    // Rounding leaves a last digit.
    let total: f64 = weights.iter().sum();
    let weights = weights.iter().map(|w| w / total).collect();
    let mixture = TMixture::build(
        d,
        components.degrees,
        weights,
        means,
        covariances.concat(),
        whiteners.concat(),
    );
    Ok(Maximised {
        mixture,
        #[cfg(test)]
        targets,
    })
}
