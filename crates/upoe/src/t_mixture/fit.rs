//! EM: from rows to a mixture.

use super::choose::Fold;
use super::holes::Precisions;
use super::maximise::{Sums, Table, maximise, maximise_from};
use super::pass::{Panels, Shares};
use super::{Components, TMixture, Watch, start};
use crate::error::{Error, Result, invalid};
use rayon::prelude::*;

/// Why EM ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ending {
    /// A step raised the mean ln p by less than the tolerance.
    Converged,
    /// All steps were taken.
    StepLimit,
}

/// A mixture and how it was fitted.
#[derive(Clone, Debug)]
pub struct FittedMixture {
    /// The mixture.
    pub mixture: TMixture,
    /// Mean ln p of the rows before the last step.
    pub mean_ln_p: f64,
    /// How many EM steps were taken.
    pub steps: usize,
    /// Why no further one was.
    pub ending: Ending,
}

/// When EM ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Steps at least and at most.
    pub steps: (usize, usize),
    /// It ends with a step that raises the mean ln p by less, in nats per row and 10 columns.
    pub tolerance: f64,
}

/// Those of a fit from the beginning.
const FULL: Limits = Limits { steps: (7, 60), tolerance: 1e-4 };

/// Those of a member of a pool, as far as the choice between members goes.
const POOLED: Limits = Limits { steps: (7, 24), tolerance: 2e-4 };

/// Those of a fit that goes on from another.
const CONTINUED: Limits = Limits { steps: (2, 20), tolerance: 1e-4 };

/// EM of each start, before the best goes on.
const STARTED: Limits = Limits { steps: (3, 3), tolerance: 0.0 };

/// How many starts are tried, where rows × columns² × components are at most `FEW`: with many rows or
/// components starts differ less, and cost more.
const STARTS: u64 = 3;
const FEW: f64 = 1e7;

impl TMixture {
    /// A mixture of these components, learned by EM from rows of `dims` sphered columns, of which
    /// each counts `weights[i]` times.
    ///
    /// EM starts from groups found by k-means, with a fixed seed; in small tables from the best of
    /// three such starts. It ends when a step raises the
    /// mean ln p by less than 10⁻⁴ nats (in more than 10 columns by less than 10⁻⁵ per column),
    /// or after 60 steps.
    pub fn fit(
        x: &[f64],
        dims: usize,
        weights: Option<&[f64]>,
        components: &Components,
    ) -> Result<FittedMixture> {
        components.check()?;
        fit(&Table::new(x, dims, weights)?, components, FULL)
    }

    /// The same in at most 24 steps; every covariance has `grain` in addition, unless that is empty. Where
    /// `watch` says no, it ends with the mixture that it has.
    pub(crate) fn pooled(
        x: &[f64],
        dims: usize,
        weights: Option<&[f64]>,
        components: &Components,
        grain: &[f64],
        watch: Option<Watch>,
    ) -> Result<FittedMixture> {
        components.check()?;
        let table = Table { watch, grain, ..Table::new(x, dims, weights)? };
        fit(&table, components, POOLED)
    }

    /// The same from the rows to learn from of a fold, whose missing cells are only filled in to begin with.
    pub(crate) fn incomplete(
        fold: &Fold,
        dims: usize,
        components: &Components,
        watch: Option<Watch>,
    ) -> Result<Self> {
        Ok(fit(&fold.table(dims, watch)?, components, POOLED)?.mixture)
    }

    /// The same components learned further from these rows, with this mixture as the start and at
    /// most 20 steps.
    pub fn continued(
        &self,
        x: &[f64],
        weights: Option<&[f64]>,
        components: &Components,
    ) -> Result<FittedMixture> {
        components.check()?;
        if components.count != self.count() {
            return invalid("components", components.count, "must be as many as the start has");
        }
        let table = Table::new(x, self.dims, weights)?;
        go_on(&table, self.clone(), components, CONTINUED)
    }
}

/// A fit from the beginning.
pub(super) fn fit(table: &Table, components: &Components, limits: Limits) -> Result<FittedMixture> {
    let count = components.count;
    if count > table.len() {
        return Err(Error::TooFewRows { rows: table.len(), needed: count });
    }
    let begin = |start: u64| -> Result<TMixture> {
        let groups = start::groups(table, count, start);
        let shares = start::shares(table, &groups, count);
        let centres = table.mean.repeat(count);
        Ok(maximise(table, &shares, &centres, components)?.mixture)
    };
    let size = table.len() as f64 * (table.dims * table.dims * count) as f64;
    if count == 1 || size > FEW {
        return go_on(table, begin(0)?, components, limits);
    }
    let short = |start: u64| go_on(table, begin(start)?, components, STARTED);
    let starts: Vec<FittedMixture> =
        (0..STARTS).into_par_iter().map(short).collect::<Result<_>>()?;
    let mut best = &starts[0];
    for start in &starts[1..] {
        best = if start.mean_ln_p > best.mean_ln_p { start } else { best };
    }
    go_on(table, best.mixture.clone(), components, limits)
}

/// What an E-step gives: the rows' shares, or the sums over them where cells are missing.
enum Expected {
    Shares(Vec<Shares>),
    Sums(f64, Vec<Sums>),
}

impl Expected {
    fn of(table: &Table, mixture: &TMixture) -> Result<Self> {
        Ok(match &table.patterns {
            None => Expected::Shares(Panels::new(mixture).shares(table.x, table.weights)),
            Some(patterns) => {
                let (ln_p, sums) = Precisions::new(mixture).sums(table, patterns)?;
                Expected::Sums(ln_p, sums)
            }
        })
    }

    /// Σ ln p of the rows.
    fn ln_p(&self) -> f64 {
        match self {
            Expected::Shares(shares) => shares.iter().map(|s| s.ln_p).sum(),
            Expected::Sums(ln_p, _) => *ln_p,
        }
    }
}

/// A fit from a mixture of as many components.
pub(super) fn go_on(
    table: &Table,
    start: TMixture,
    components: &Components,
    limits: Limits,
) -> Result<FittedMixture> {
    let enough = limits.tolerance * (table.dims as f64 / 10.0).max(1.0);
    let (least, most) = limits.steps;
    let mut mixture = start;
    if mixture.degrees != components.degrees {
        let TMixture { dims, weights, means, covariances, whiteners, .. } = mixture;
        let degrees = components.degrees;
        mixture = TMixture::build(dims, degrees, weights, means, covariances, whiteners);
    }
    let mut before = f64::NEG_INFINITY;
    let mut steps = 0;
    loop {
        let expected = Expected::of(table, &mixture)?;
        let mean_ln_p = expected.ln_p() / table.total;
        let ending = if steps >= least && mean_ln_p - before < enough {
            Some(Ending::Converged)
        } else {
            (steps >= most || table.stopped()).then_some(Ending::StepLimit)
        };
        if let Some(ending) = ending {
            return Ok(FittedMixture { mixture, mean_ln_p, steps, ending });
        }
        mixture = match expected {
            Expected::Shares(shares) => maximise(table, &shares, &mixture.means, components)?,
            Expected::Sums(_, sums) => maximise_from(table, sums, &mixture.means, components)?,
        }
        .mixture;
        before = mean_ln_p;
        steps += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::super::maximise::{PRIOR_MEAN, PRIOR_ROWS};
    use super::*;
    use crate::random::{Use, stream};
    use rand::RngExt;
    use rand_distr::StandardNormal;

    /// What an M-step with these targets maximises.
    fn objective(table: &Table, mixture: &TMixture, kappa: f64, targets: &[f64]) -> f64 {
        let d = table.dims;
        let shares = Panels::new(mixture).shares(table.x, table.weights);
        let mut total: f64 = shares.iter().map(|s| s.ln_p).sum();
        for (k, target) in targets.chunks_exact(d * d).enumerate() {
            let a = mixture.whitener(k);
            let ln_det: f64 = (0..d).map(|i| -2.0 * a[i * d + i].ln()).sum();
            let inverse =
                |i: usize, j: usize| -> f64 { (0..d).map(|l| a[l * d + i] * a[l * d + j]).sum() };
            let off: Vec<f64> =
                mixture.mean(k).iter().zip(&table.mean).map(|(m, x)| m - x).collect();
            let (mut trace, mut square) = (0.0, 0.0);
            for i in 0..d {
                for j in 0..d {
                    trace += inverse(i, j) * target[i * d + j];
                    square += inverse(i, j) * off[i] * off[j];
                }
            }
            total += PRIOR_ROWS * mixture.weights()[k].ln();
            total -= 0.5 * (kappa * (ln_det + trace) + PRIOR_MEAN * square);
        }
        total
    }

    #[test]
    fn no_step_lowers_the_penalised_likelihood() {
        let (n, d) = (300, 4);
        let mut rng = stream(3, Use::Data, 0);
        let x: Vec<f64> = (0..n * d)
            .map(|i| {
                let z: f64 = rng.sample(StandardNormal);
                z * (1.0 + (i / d % 3) as f64) + (i / d % 2) as f64 * 3.0
            })
            .collect();
        let weights: Vec<f64> = (0..n).map(|_| rng.random_range(0.0..2.0)).collect();
        let table = Table::new(&x, d, Some(&weights)).expect("a table");
        for degrees in [4.0, 10.0, f64::INFINITY] {
            for shrinkage in [0.5, 4.0, 40.0] {
                let components = Components { count: 4, shrinkage, degrees };
                let start = Limits { steps: (0, 0), tolerance: 0.0 };
                let mut mixture = fit(&table, &components, start).expect("a start").mixture;
                let mut raised = 0.0;
                for step in 0..30 {
                    let shares = Panels::new(&mixture).shares(table.x, table.weights);
                    let next =
                        maximise(&table, &shares, &mixture.means, &components).expect("a step");
                    let before = objective(&table, &mixture, shrinkage, &next.targets);
                    let after = objective(&table, &next.mixture, shrinkage, &next.targets);
                    assert!(after >= before - 1e-9, "step {step}: {before} to {after}");
                    raised += after - before;
                    mixture = next.mixture;
                }
                assert!(raised > 1.0, "EM went nowhere: {raised}");
            }
        }
    }
}
