//! New directions: pursuit on half of the Gaussianised rows of B, tested on the other half and half of A.

use super::exchange::{Exchange, p_value};
use super::pair::Pair;
use super::scores::{ORDERS, hermite, normal_scores, standardise};
use super::statistics::{Sight, View};
use super::steps::difference;
use super::{Settings, Told};
use crate::error::Error;
use crate::fitter::Fitter;
use crate::holdout::held_out;
use crate::learn::Settings as FitSettings;
use crate::linalg::{dot, unit};
use crate::rows::Rows;

/// Directions that are tested, at most.
const MOST: usize = 8;

/// Exchanges for each of the level's: few functions are tested, and only part of the level is theirs.
const TIMES: usize = 10;

/// A direction along which the rows of B are not distributed as those of A.
pub(super) struct New {
    pub view: View,
    /// The order in which it differs most.
    pub order: usize,
    pub p_value: f64,
}

/// The new direction that differs most; `None` where pursuit finds none, or has too few rows.
pub(super) fn found<E: From<Error> + Send>(
    pair: &Pair,
    settings: &Settings,
    told: &mut Told<E>,
) -> std::result::Result<Option<New>, E> {
    let (dims, of_a) = (pair.dims, pair.of_a);
    if pair.of_b < 2 * super::ROWS_PER_DIMENSION * dims.max(4) {
        return Ok(None);
    }
    let half_b = held_out::<usize>(pair.of_b, Some(0.5), None, settings.seed)?;
    let half_a = held_out::<usize>(of_a, Some(0.5), None, settings.seed)?;
    let learned: Vec<f64> = rows_of(&pair.x[of_a * dims..], dims, &half_b, false);
    let asked = FitSettings::default().with(|s| (s.seed, s.experts) = (settings.seed, None));
    let mut ended = None;
    let fit = Fitter::new(asked)
        .observe(|_| match told.step("looking for new directions", 0, 0, "") {
            Ok(()) => true,
            Err(error) => {
                ended = Some(error);
                false
            }
        })
        .fit(&Rows::new(&learned, dims)?)?;
    if let Some(error) = ended {
        return Err(error);
    }
    let directions: Vec<Vec<f64>> =
        fit.model.filters().into_iter().take(MOST).map(|w| unit(&w)).collect();
    if directions.is_empty() {
        return Ok(None);
    }
    let a = rows_of(&pair.x[..of_a * dims], dims, &half_a, true);
    let b = rows_of(&pair.x[of_a * dims..], dims, &half_b, true);
    let (tested_a, tested_b) = (a.len() / dims, b.len() / dims);
    let x = [a, b].concat();
    let scores: Vec<Vec<f64>> = directions
        .iter()
        .map(|w| normal_scores(&x.chunks_exact(dims).map(|x| dot(x, w)).collect::<Vec<f64>>()))
        .collect();
    let times = (TIMES * settings.exchanges + TIMES - 1).min(1_000_000);
    let exchange =
        Exchange { rows: tested_a + tested_b, of_b: tested_b, times, seed: settings.seed };
    let fill = |k: usize, column: &mut [f64]| {
        let (view, order) = (k / ORDERS, k % ORDERS + 1);
        column.iter_mut().zip(&scores[view]).for_each(|(c, h)| *c = hermite(order, *h));
        standardise(column);
    };
    let sums = exchange.sums(ORDERS * directions.len(), fill, told)?;
    let largest = |line: &Vec<f64>| line.iter().fold(0.0, |m: f64, t| m.max(t.abs()));
    let figures: Vec<f64> = sums.iter().map(largest).collect();
    let p_value = figures.split_first().map_or(1.0, |(seen, others)| p_value(*seen, others));
    let size = |k: usize| difference(&scores[k / ORDERS], k % ORDERS + 1, tested_a).abs();
    let most = (0..ORDERS * directions.len()).max_by(|&i, &j| size(i).total_cmp(&size(j)));
    Ok(most.map(|k| {
        let view = View { sight: Sight::Found, direction: directions[k / ORDERS].clone() };
        New { view, order: k % ORDERS + 1, p_value }
    }))
}

/// The rows that are held out, or the others.
fn rows_of(x: &[f64], dims: usize, held: &[bool], which: bool) -> Vec<f64> {
    let rows = x.chunks_exact(dims).zip(held).filter(|(_, held)| **held == which);
    rows.flat_map(|(x, _)| x.iter().copied()).collect()
}
