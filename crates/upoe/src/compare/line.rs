//! Lines through the rows of both tables, in the units of their readers.

use super::change::Place;
use super::pair::Pair;
use super::statistics::{Sight, View};
use crate::error::Result;
use crate::linalg::dot;
use crate::rows::Rows;
use crate::whitening::{Dims, Whitening};

/// A line through the rows, in the units of its readers.
pub(super) struct Line {
    pub values: Vec<f64>,
    pub place: Place,
}

impl Line {
    pub fn of(pair: &Pair, view: &View, names: &[String]) -> Result<Line> {
        match view.sight {
            Sight::Column(i) => {
                let place = Place::Column { column: names[i].clone() };
                Ok(Line { values: pair.column(i), place })
            }
            Sight::Given(i) => Line::given(pair, i, names),
            Sight::Found => Line::along(pair, &view.direction, names),
        }
    }

    /// What the others do not say of a column, by linear regression: Σ_j P_ij (row_j − m_j) / P_ii, with the
    /// inverse covariance P.
    fn given(pair: &Pair, i: usize, names: &[String]) -> Result<Line> {
        let rows = Rows::new(&pair.rows, pair.columns)?;
        let whitening = Whitening::fit(&rows, Dims::All)?;
        let (matrix, dims) = (whitening.matrix(), whitening.dims());
        let inverse = |j: usize| (0..dims).map(|k| matrix[(k, i)] * matrix[(k, j)]).sum::<f64>();
        let weights: Vec<f64> = (0..pair.columns).map(|j| inverse(j) / inverse(i)).collect();
        let residual = |row: &[f64]| -> f64 {
            let parts = row.iter().zip(whitening.mean()).zip(&weights);
            parts.map(|((x, m), w)| w * (x - m)).sum()
        };
        let values = pair.rows.chunks_exact(pair.columns).map(residual).collect();
        let pull = |j: usize| if j == i { 0.0 } else { weights[j] * whitening.deviations()[j] };
        let given = leading(&(0..pair.columns).map(pull).collect::<Vec<f64>>(), 2);
        let given = given.into_iter().map(|j| names[j].clone()).collect();
        Ok(Line { values, place: Place::Given { column: names[i].clone(), given } })
    }

    /// Projections of sphered rows, in deviations of A from its mean.
    fn along(pair: &Pair, direction: &[f64], names: &[String]) -> Result<Line> {
        let whitening = pair.whitening();
        let loading = |j: usize| {
            let filter: f64 =
                direction.iter().enumerate().map(|(k, w)| w * whitening.matrix()[(k, j)]).sum();
            filter * whitening.deviations()[j]
        };
        let mut loadings: Vec<f64> = (0..pair.columns).map(loading).collect();
        let named = leading(&loadings, 3);
        let sign = named.first().map_or(1.0, |j| loadings[*j].signum());
        loadings.iter_mut().for_each(|w| *w *= sign);
        let mut values: Vec<f64> = pair.sphered().map(|x| sign * dot(&x, direction)).collect();
        let a = &values[..pair.of_a];
        let mean = a.iter().sum::<f64>() / a.len() as f64;
        let variance = a.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / a.len() as f64;
        let deviation = variance.sqrt().max(1e-12);
        values.iter_mut().for_each(|x| *x = (*x - mean) / deviation);
        let weights = named.iter().map(|j| loadings[*j]).collect();
        let columns = named.iter().map(|j| names[*j].clone()).collect();
        let moved = |j: &usize| {
            let parts = direction.iter().enumerate().map(|(k, w)| w * whitening.inverse()[(*j, k)]);
            sign * deviation * parts.sum::<f64>()
        };
        let moves = named.iter().map(moved).collect();
        Ok(Line { values, place: Place::Along { columns, weights, moves } })
    }
}

/// The largest entries, at most `most` of them, and none less than half the largest.
fn leading(weights: &[f64], most: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..weights.len()).collect();
    order.sort_by(|&a, &b| weights[b].abs().total_cmp(&weights[a].abs()));
    let least = order.first().map_or(0.0, |j| 0.5 * weights[*j].abs());
    order.into_iter().filter(|j| weights[*j].abs() >= least).take(most).collect()
}
