//! The overall figure: how much less probable the rows of B are than rows of A, under a model of A.

use super::exchange::{Exchange, p_value};
use super::pair::fitted;
use super::{Reference, Settings, Told};
use crate::error::{Error, Result};
use crate::evaluate::Mean;
use crate::holdout::held_out;
use crate::rows::Rows;
use serde::Serialize;

/// How much lower the mean ln p of B is than that of rows of A that the model has not seen, in nats per row.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Drop {
    /// The drop; negative where the rows of B are the more probable ones.
    pub nats: f64,
    /// Its standard error.
    pub standard_error: f64,
    /// The chance of a drop, or a rise, as large between tables of the same distribution.
    pub p_value: f64,
    /// Rows of B that are impossible under the model of A, because they leave the subspace of its rows; they do
    /// not count in `nats`.
    pub impossible: usize,
}

impl Drop {
    /// With a model of each half of A, under which the other half and B are as new; or with the model that is given, and
    /// rows drawn from it.
    pub(super) fn of<E: From<Error> + Send>(
        reference: &Reference,
        b: &Rows,
        settings: &Settings,
        told: &mut Told<E>,
    ) -> std::result::Result<Option<Drop>, E> {
        match reference {
            Reference::Model { density, .. } => {
                let drawn = density.sample(super::MOST_ROWS, settings.seed ^ 1);
                let a = density.score(&Rows::new(&drawn, b.columns())?)?;
                Ok(of_scores(&[(a, density.score(b)?)], settings))
            }
            Reference::Rows(a) => {
                let out = held_out::<usize>(a.len(), Some(0.5), None, settings.seed)?;
                let half = |which: bool| -> Vec<usize> {
                    (0..a.len()).filter(|i| out[*i] == which).collect()
                };
                let mut scores = Vec::new();
                for which in [false, true] {
                    let (seen, new) = (a.pick(&half(which)).0, a.pick(&half(!which)).0);
                    let map = fitted(&seen, a.columns(), settings, told)?;
                    scores.push((map.score(&Rows::new(&new, a.columns())?)?, map.score(b)?));
                }
                Ok(of_scores(&scores, settings))
            }
        }
    }
}

/// From ln p of rows of A and of B, under one model or two. Each model's p-value is exact; the smaller one counts, times
/// their number.
fn of_scores(scores: &[(Vec<f64>, Vec<f64>)], settings: &Settings) -> Option<Drop> {
    let possible = |i: &usize| scores.iter().all(|(_, b)| b[*i].is_finite());
    let kept: Vec<usize> = (0..scores[0].1.len()).filter(possible).collect();
    let impossible = scores[0].1.len() - kept.len();
    if kept.len() < 2 {
        return None;
    }
    let models = scores.len() as f64;
    let a: Vec<f64> =
        scores.iter().flat_map(|(a, _)| a.clone()).filter(|x| x.is_finite()).collect();
    let of_row = |i: &usize| scores.iter().map(|(_, b)| b[*i]).sum::<f64>() / models;
    let b: Vec<f64> = kept.iter().map(of_row).collect();
    let (a, b) = (Mean::of(&a), Mean::of(&b));
    let p_values = scores.iter().map(|(a, b)| exchanged(a, b, settings));
    let p_value = (models * p_values.fold(1.0, f64::min)).min(1.0);
    let standard_error = a.standard_error.hypot(b.standard_error);
    Some(Drop { nats: a.mean - b.mean, standard_error, p_value, impossible })
}

/// How surprising the difference of two means is when rows are exchanged.
fn exchanged(a: &[f64], b: &[f64], settings: &Settings) -> f64 {
    let least = a.iter().chain(b).copied().filter(|x| x.is_finite()).fold(f64::INFINITY, f64::min);
    // Impossible rows are a little less probable than all others.
    let finite = |x: &f64| if x.is_finite() { *x } else { least - 1.0 };
    let mut all: Vec<f64> = a.iter().chain(b).map(finite).collect();
    super::scores::standardise(&mut all);
    let (rows, of_b, seed) = (all.len(), b.len(), settings.seed);
    let exchange = Exchange { rows, of_b, times: settings.exchanges, seed };
    let mut silent = Told::<Error>::silent();
    let fill = |_: usize, column: &mut [f64]| column.copy_from_slice(&all);
    let sums: Result<Vec<Vec<f64>>> = exchange.sums(1, fill, &mut silent);
    let sums: Vec<f64> = sums.unwrap_or_default().into_iter().map(|line| line[0].abs()).collect();
    sums.split_first().map_or(1.0, |(seen, others)| p_value(*seen, others))
}
