//! Figures that interfaces report, each computed in one place: means of ln p with their standard
//! errors, tail probabilities, the price of parameters.

use crate::density::Density;
use crate::error::Result;
use crate::expert::{Expert, Learnable};
use crate::linalg::{HALF_LN_TAU, dot};
use crate::missing::{FEW, observed};
use crate::model::Model;
use crate::rows::Rows;
use crate::whitening::{Rest, Whitening};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// A weighted mean and its standard error.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Mean {
    /// Σ w x / Σ w.
    pub mean: f64,
    /// The standard error of the mean; NaN for a single row.
    pub standard_error: f64,
}

impl Mean {
    /// Of independent values that count alike.
    pub fn of(values: &[f64]) -> Self {
        weighted_mean(values, |_| 1.0, None)
    }
}

/// The mean of one value per row, weighted as the rows are. Rows of weight 0 do not count, whatever
/// their value.
///
/// The standard error takes blocks of rows as independent and weights as given:
/// √(n / (n − 1) · Σ_b (Σ_{i in b} w (x − mean))²) / Σ w, with n = (Σ w)² / Σ_b (Σ_{i in b} w)² the
/// effective number of blocks. Without blocks each row is one of its own, and for equal weights
/// this is the sample deviation over √N.
///
/// ```
/// use upoe::{Rows, evaluate};
/// let rows = Rows::new(&[0.0, 0.0, 0.0], 1)?.weighted(&[1.0, 1.0, 0.0])?;
/// let ln_p = evaluate::mean(&[-1.0, -3.0, f64::NEG_INFINITY], &rows);
/// assert_eq!((ln_p.mean, ln_p.standard_error), (-2.0, 1.0));
/// # Ok::<(), upoe::Error>(())
/// ```
pub fn mean(values: &[f64], rows: &Rows) -> Mean {
    weighted_mean(values, |i| rows.weight(i), rows.blocks())
}

fn weighted_mean(values: &[f64], weight: impl Fn(usize) -> f64, blocks: Option<&[usize]>) -> Mean {
    let weighted = || values.iter().enumerate().map(|(i, x)| (weight(i), x));
    let counted = || weighted().filter(|(w, _)| *w > 0.0);
    let total: f64 = counted().map(|(w, _)| w).sum();
    let mean = counted().map(|(w, x)| w * x).sum::<f64>() / total;
    let (square, squared_weights) = match blocks {
        None => (
            counted().map(|(w, x)| (w * (x - mean)).powi(2)).sum::<f64>(),
            counted().map(|(w, _)| w * w).sum::<f64>(),
        ),
        Some(blocks) => {
            let mut sums = vec![(0.0, 0.0); blocks.iter().max().map_or(0, |last| last + 1)];
            for ((w, x), block) in weighted().zip(blocks).filter(|((w, _), _)| *w > 0.0) {
                sums[*block].0 += w * (x - mean);
                sums[*block].1 += w;
            }
            (sums.iter().map(|b| b.0 * b.0).sum(), sums.iter().map(|b| b.1 * b.1).sum())
        }
    };
    let effective = total * total / squared_weights;
    let correction = effective / (effective - 1.0);
    Mean { mean, standard_error: (correction * square).sqrt() / total }
}

/// Mean ln p in nats per row; `None` where there are no such rows, or it is not finite.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Likelihood {
    /// Over the training rows.
    pub train: Option<f64>,
    /// Over the held-out rows.
    pub holdout: Option<f64>,
    /// The standard error of `holdout`.
    pub holdout_standard_error: Option<f64>,
}

/// How well a model describes the rows it was trained on, and held-out ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    /// Rows it was trained on.
    pub rows: usize,
    /// Their total weight.
    pub weight: f64,
    /// Held-out rows.
    pub holdout_rows: usize,
    /// Mean ln p in sphered space.
    pub log_likelihood: Likelihood,
    /// Mean ln p over the data's own columns.
    pub log_density: Likelihood,
    /// What stacks and pools add to the mean ln p of the Gaussian.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gain: Option<Likelihood>,
}

impl Evaluation {
    /// Scores the training rows and, where there are any, the held-out ones.
    pub fn of(model: &Model, rows: &Rows, holdout: Option<&Rows>) -> Result<Self> {
        let (sphered, density) = means(model, rows)?;
        let held = holdout.map(|rows| means(model, rows)).transpose()?;
        Ok(Evaluation {
            rows: rows.len(),
            weight: (0..rows.len()).map(|i| rows.weight(i)).sum(),
            holdout_rows: holdout.map_or(0, Rows::len),
            log_likelihood: Likelihood::of(sphered, held.map(|(sphered, _)| sphered)),
            log_density: Likelihood::of(density, held.map(|(_, density)| density)),
            gain: None,
        })
    }

    /// The same where cells are missing: ln p of the values that are there. Sphered rows have no missing
    /// cells, so that there is nothing to say about them. The gain is that over the Gaussian of the same cells; that of
    /// one layer is known.
    pub fn of_known(
        density: &dyn Density,
        model: &Model,
        rows: &Rows,
        holdout: Option<&Rows>,
        one_layer: bool,
    ) -> Result<Self> {
        let gaussian = model.truncated(0)?;
        let both = |rows: &Rows| -> Result<[Mean; 2]> {
            let ln_p = observed(density, model.whitening(), rows, FEW, 0)?;
            let own = mean(&ln_p, rows);
            if one_layer {
                return Ok([own, own]);
            }
            let base = gaussian.score_present(rows)?;
            let gains: Vec<f64> = ln_p.iter().zip(&base).map(|(p, g)| p - g.value).collect();
            Ok([own, mean(&gains, rows)])
        };
        let ([train, gain], held) = (both(rows)?, holdout.map(both).transpose()?);
        let (held, held_gain) = (held.map(|h| h[0]), held.map(|h| h[1]));
        Ok(Evaluation {
            rows: rows.len(),
            weight: (0..rows.len()).map(|i| rows.weight(i)).sum(),
            holdout_rows: holdout.map_or(0, Rows::len),
            log_density: Likelihood::of(train, held),
            gain: (!one_layer).then(|| Likelihood::of(gain, held_gain)),
            ..Evaluation::default()
        })
    }

    /// The same for any density, against the Gaussian of the rows. In sphered space it has the mean of
    /// ln p(row) − ln|A|, so that all kinds compare.
    pub fn against_gaussian(
        density: &dyn Density,
        whitening: &Whitening,
        rows: &Rows,
        holdout: Option<&Rows>,
    ) -> Result<Self> {
        let train = three_means(density, whitening, rows)?;
        let held = holdout.map(|rows| three_means(density, whitening, rows)).transpose()?;
        let of = |i: usize| Likelihood::of(train[i], held.map(|held| held[i]));
        Ok(Evaluation {
            rows: rows.len(),
            weight: (0..rows.len()).map(|i| rows.weight(i)).sum(),
            holdout_rows: holdout.map_or(0, Rows::len),
            log_likelihood: of(0),
            log_density: of(1),
            gain: Some(of(2)),
        })
    }
}

impl Likelihood {
    fn of(train: Mean, holdout: Option<Mean>) -> Self {
        let finite = |x: f64| x.is_finite().then_some(x);
        Likelihood {
            train: finite(train.mean),
            holdout: holdout.and_then(|h| finite(h.mean)),
            holdout_standard_error: holdout.and_then(|h| finite(h.standard_error)),
        }
    }
}

/// Mean ln p in sphered space and over the columns.
fn means(model: &Model, rows: &Rows) -> Result<(Mean, Mean)> {
    let sphered = mean(&model.score_sphered(rows)?, rows);
    let density = match model.whitening().rest() {
        Rest::Nothing => Mean { mean: sphered.mean + model.whitening().ln_det(), ..sphered },
        Rest::Degenerate | Rest::Noise { .. } => mean(&model.score(rows)?, rows),
    };
    Ok((sphered, density))
}

/// Mean ln p in sphered space, over the columns, and over that of the Gaussian.
fn three_means(density: &dyn Density, whitening: &Whitening, rows: &Rows) -> Result<[Mean; 3]> {
    let ln_p = density.score(rows)?;
    let sphered: Vec<f64> = less_jacobian(&ln_p, whitening, rows);
    let gain = |i: usize| {
        let x = whitening.sphere_row(&rows.row(i));
        sphered[i] + 0.5 * dot(&x, &x) + x.len() as f64 * HALF_LN_TAU
    };
    let gains: Vec<f64> = (0..rows.len()).into_par_iter().map(gain).collect();
    Ok([&sphered, &ln_p, &gains].map(|values| mean(values, rows)))
}

/// ln p of rows of any density in sphered space: ln p(row) − ln|A|, so that all kinds compare.
pub fn sphered(density: &dyn Density, whitening: &Whitening, rows: &Rows) -> Result<Vec<f64>> {
    Ok(less_jacobian(&density.score(rows)?, whitening, rows))
}

fn less_jacobian(ln_p: &[f64], whitening: &Whitening, rows: &Rows) -> Vec<f64> {
    let less = |i: usize| {
        let row = rows.row(i);
        let sphered = ln_p[i] - whitening.ln_jacobian(&row, &whitening.sphere_row(&row));
        // A row outside the subspace has neither.
        if sphered.is_nan() { f64::NEG_INFINITY } else { sphered }
    };
    (0..rows.len()).into_par_iter().map(less).collect()
}

/// The step from one factor of a density's width to the next, and how many there are.
const STEP: f64 = 0.05;
const STEPS: u32 = 20;
/// By how many of its standard errors a wider density must be better.
const CERTAIN: f64 = 2.0;

/// How much wider a density must be, by the ln p that each row has where it is wider by a factor; `None` where no factor
/// is clearly better than 1.
pub(crate) fn widening<E>(
    rows: &Rows,
    mut ln_p: impl FnMut(f64) -> std::result::Result<Vec<f64>, E>,
) -> std::result::Result<Option<f64>, E> {
    let plain = ln_p(1.0)?;
    let (mut found, mut best) = (1.0, plain.clone());
    for step in 1..=STEPS {
        let factor = 1.0 + STEP * f64::from(step);
        let next = ln_p(factor)?;
        if rise(&best, &next, rows).0 <= 0.0 {
            break;
        }
        (found, best) = (factor, next);
    }
    let (mean, error) = rise(&plain, &best, rows);
    Ok((mean > CERTAIN * error).then_some(found))
}

/// Tail probabilities under a density, estimated from rows drawn from it.
#[derive(Clone, Debug)]
pub struct Tail {
    /// ln p of the drawn rows, in rising order.
    drawn: Vec<f64>,
}

impl Tail {
    /// Draws `samples` rows and scores them. `watch` is called after every block with the number of
    /// rows that are done; if it returns false, the result is `None`.
    pub fn draw(
        density: &dyn Density,
        samples: usize,
        seed: u64,
        watch: &mut dyn FnMut(usize) -> bool,
    ) -> Result<Option<Self>> {
        // About a million numbers at a time.
        let units = ((1 << 20) / density.columns() / Model::SAMPLE_BLOCK).max(1);
        let block = units * Model::SAMPLE_BLOCK;
        let mut drawn = Vec::with_capacity(samples);
        for start in (0..samples).step_by(block) {
            let rows = density.sample_range(start..(start + block).min(samples), seed);
            drawn.extend(density.score(&Rows::new(&rows, density.columns())?)?);
            if !watch(drawn.len()) {
                return Ok(None);
            }
        }
        Ok(Some(Tail::of_scores(drawn)))
    }

    /// From ln p of rows that were drawn from the density.
    pub fn of_scores(mut drawn: Vec<f64>) -> Self {
        drawn.sort_unstable_by(f64::total_cmp);
        Tail { drawn }
    }

    /// The probability of a row that is no more probable than one with this ln p: (k + 1) / (n + 1),
    /// where k of n drawn rows are no more probable. It is a valid p-value, ties included.
    pub fn at(&self, ln_p: f64) -> f64 {
        let below = self.drawn.partition_point(|drawn| *drawn <= ln_p);
        (below + 1) as f64 / (self.drawn.len() + 1) as f64
    }

    /// The ln p above which [`Tail::at`] exceeds `alpha`: a row is in the tail of probability `alpha`
    /// where its ln p is less than this. −∞ where too few rows were drawn for so small an `alpha`.
    pub fn threshold(&self, alpha: f64) -> f64 {
        // The least k with (k + 1) / (n + 1) > alpha; rows below the k-th drawn one are in the tail.
        let exceeds = |k: &usize| (k + 1) as f64 / (self.drawn.len() + 1) as f64 > alpha;
        match (0..=self.drawn.len()).find(exceeds) {
            Some(0) => f64::NEG_INFINITY,
            Some(k) => self.drawn[k - 1],
            None => f64::INFINITY,
        }
    }
}

/// The price of parameters by the Bayesian information criterion, in nats per row: ½ ln N for each
/// parameter that the data determine, over N = Σ weights.
pub fn bic_price(parameters: f64, weight: f64) -> f64 {
    0.5 * parameters * weight.max(2.0).ln() / weight
}

/// The price of an expert that joins where `free` dimensions have none: `free` − 1 parameters of its
/// direction and its own.
pub fn expert_price(expert: &Expert, free: usize, weight: f64) -> f64 {
    bic_price(free.saturating_sub(1) as f64 + expert.free_parameters(), weight)
}

/// The false discovery rate at which each p-value is significant, by Benjamini and Hochberg: of all
/// rows whose result is at most q, a share q is expected to be there by chance.
///
/// ```
/// let q = upoe::evaluate::false_discovery(&[0.01, 0.9, 0.02, 0.5]);
/// assert_eq!(q, [0.04, 0.9, 0.04, 2.0 / 3.0]);
/// ```
pub fn false_discovery(p_values: &[f64]) -> Vec<f64> {
    let n = p_values.len() as f64;
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_unstable_by(|&a, &b| p_values[a].total_cmp(&p_values[b]).then(a.cmp(&b)));
    let (mut q, mut least) = (vec![1.0; p_values.len()], 1.0_f64);
    for (rank, &i) in order.iter().enumerate().rev() {
        least = least.min(p_values[i] * n / (rank + 1) as f64);
        q[i] = least;
    }
    q
}

/// By how much rows became more probable, and the standard error of that.
pub(crate) fn rise(before: &[f64], after: &[f64], rows: &Rows) -> (f64, f64) {
    let change = |(a, b): (&f64, &f64)| if (b - a).is_finite() { b - a } else { 0.0 };
    let rise: Vec<f64> = before.iter().zip(after).map(change).collect();
    let found = mean(&rise, rows);
    (found.mean, found.standard_error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Use, stream};
    use rand::RngExt;
    use rand_distr::StandardNormal;

    #[test]
    fn a_density_that_is_too_narrow_is_widened_and_a_right_one_is_not() {
        let mut rng = stream(2, Use::Data, 0);
        let z: Vec<f64> = (0..2_000).map(|_| rng.sample(StandardNormal)).collect();
        for (scale, least, most) in [(1.4, 1.3, 1.5), (1.0, 1.0, 1.0)] {
            let x: Vec<f64> = z.iter().map(|z| scale * z).collect();
            let rows = Rows::new(&x, 1).unwrap();
            let ln_p = |factor: f64| -> Result<Vec<f64>> {
                Ok(x.iter().map(|x| -0.5 * (x / factor).powi(2) - factor.ln()).collect())
            };
            let found = widening(&rows, ln_p).unwrap().unwrap_or(1.0);
            assert!((least..=most).contains(&found), "{scale}: {found}");
        }
    }
}
