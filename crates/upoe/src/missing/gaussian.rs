//! A Gaussian over rows: what the cells that are missing are like, given the others.

use crate::error::Result;
use crate::linalg::{LN_TAU, dot, eigen};
use crate::random::Stream;
use crate::whitening::{Rest, Whitening};
use faer::linalg::solvers::Solve;
use faer::{Mat, Side};
use rand::RngExt;
use rand_distr::StandardNormal;

/// Directions of standardised columns with less variance than this, per column, have none.
const NO_VARIANCE: f64 = 1e-13;
/// Directions along which given cells say less than this about the others say nothing.
const NO_WORD: f64 = 1e-12;

/// A Gaussian, perhaps without variance in some directions.
#[derive(Clone, Debug)]
pub struct Gaussian {
    mean: Vec<f64>,
    /// The deviations; 1 for a column that does not vary.
    scales: Vec<f64>,
    /// B with BBᵀ the covariance of the standardised columns: columns × rank.
    factor: Mat<f64>,
    /// The inverse of that covariance, where it has one.
    precision: Option<Mat<f64>>,
}

impl Gaussian {
    /// From a mean and a covariance.
    pub fn new(mean: Vec<f64>, covariance: &Mat<f64>) -> Result<Self> {
        let n = mean.len();
        let deviation = |i: usize| covariance[(i, i)].max(0.0).sqrt();
        let scale = |i: usize| if deviation(i) > 0.0 { deviation(i) } else { 1.0 };
        let scales: Vec<f64> = (0..n).map(scale).collect();
        let standard = Mat::from_fn(n, n, |i, j| covariance[(i, j)] / scales[i] / scales[j]);
        let (values, vectors) = eigen(&standard)?;
        let rank = values.iter().take_while(|v| **v > NO_VARIANCE * n as f64).count();
        let factor = Mat::from_fn(n, rank, |i, k| vectors[(i, k)] * values[k].sqrt());
        let precision = (rank == n).then(|| {
            let scaled = Mat::from_fn(n, n, |i, k| vectors[(i, k)] / values[k]);
            &scaled * vectors.transpose()
        });
        Ok(Gaussian { mean, scales, factor, precision })
    }

    /// That of the sphered rows, with noise where dimensions were dropped.
    pub fn of(whitening: &Whitening) -> Result<Self> {
        let (n, back) = (whitening.columns(), whitening.inverse());
        let mut covariance = back * back.transpose();
        if let Rest::Noise { variance } = whitening.rest() {
            let kept = back * whitening.matrix();
            for i in 0..n {
                for j in 0..n {
                    let one = f64::from(u8::from(i == j));
                    covariance[(i, j)] += variance * (one - 0.5 * (kept[(i, j)] + kept[(j, i)]));
                }
            }
        }
        Gaussian::new(whitening.mean().to_vec(), &covariance)
    }

    /// ln p of the values that a row has; `None` where columns determine each other.
    pub fn ln_p(&self, row: &[f64]) -> Option<f64> {
        self.precision.as_ref()?;
        let there: Vec<usize> = (0..row.len()).filter(|&i| !row[i].is_nan()).collect();
        let rank = self.factor.ncols();
        let seen = Mat::from_fn(there.len(), rank, |a, c| self.factor[(there[a], c)]);
        let root = (&seen * seen.transpose()).llt(Side::Lower).ok()?;
        let off = |a: usize| (row[there[a]] - self.mean[there[a]]) / self.scales[there[a]];
        let off = Mat::from_fn(there.len(), 1, |a, _| off(a));
        let square = (off.transpose() * root.solve(&off))[(0, 0)];
        let ln_scale = |a: usize| root.L()[(a, a)].ln() + self.scales[there[a]].ln();
        let ln_volume: f64 = (0..there.len()).map(ln_scale).sum();
        Some(-0.5 * (square + there.len() as f64 * LN_TAU) - ln_volume)
    }

    /// What EM needs of the cells of these columns, given all others: as [`Gaussian::given`], without moves.
    pub fn expected(&self, missing: &[usize]) -> Result<Expected> {
        let k = missing.len();
        let own = |precision: &Mat<f64>| {
            let own = Mat::from_fn(k, k, |a, b| precision[(missing[a], missing[b])]);
            let factor = own.llt(Side::Lower).ok()?;
            Some(factor.solve(Mat::<f64>::identity(k, k)))
        };
        if let Some(precision) = &self.precision
            && let Some(inverse) = own(precision)
        {
            return Ok(Expected::Solved { inverse, missing: missing.to_vec() });
        }
        Ok(Expected::Given(self.given(missing)?))
    }

    /// What the cells of these columns are like, given all others.
    pub fn given(&self, missing: &[usize]) -> Result<Given> {
        let n = self.mean.len();
        let mut is_missing = vec![false; n];
        missing.iter().for_each(|&i| is_missing[i] = true);
        let observed: Vec<usize> = (0..n).filter(|&i| !is_missing[i]).collect();
        let (k, o) = (missing.len(), observed.len());
        let (regression, moves, ln_volume) = match &self.precision {
            Some(precision) => {
                let own = Mat::from_fn(k, k, |a, b| precision[(missing[a], missing[b])]);
                let (values, vectors) = eigen(&own)?;
                let scaled = Mat::from_fn(k, k, |a, c| vectors[(a, c)] / values[c]);
                let inverse = &scaled * vectors.transpose();
                let across = Mat::from_fn(k, o, |a, b| -precision[(missing[a], observed[b])]);
                let moves = Mat::from_fn(k, k, |a, c| vectors[(a, c)] / values[c].sqrt());
                let ln_scales: f64 = missing.iter().map(|&i| self.scales[i].ln()).sum();
                let ln_volume = ln_scales - 0.5 * values.iter().map(|v| v.ln()).sum::<f64>();
                (&inverse * across, moves, ln_volume)
            }
            None => self.on_subspace(missing, &observed)?,
        };
        let scaled = |a: usize, b: usize| {
            regression[(a, b)] * self.scales[missing[a]] / self.scales[observed[b]]
        };
        let moves = (0..moves.ncols())
            .map(|c| (0..k).map(|a| moves[(a, c)] * self.scales[missing[a]]).collect())
            .collect();
        Ok(Given {
            means: missing.iter().map(|&i| self.mean[i]).collect(),
            centres: observed.iter().map(|&i| self.mean[i]).collect(),
            regression: (0..k).map(|a| (0..o).map(|b| scaled(a, b)).collect()).collect(),
            missing: missing.to_vec(),
            observed,
            moves,
            ln_volume,
        })
    }

    /// The same where some directions have no variance: y = Bx with x standard normal, so the given cells
    /// fix the part of x that they see, and the rest is free.
    fn on_subspace(
        &self,
        missing: &[usize],
        observed: &[usize],
    ) -> Result<(Mat<f64>, Mat<f64>, f64)> {
        let rank = self.factor.ncols();
        let pick = |of: &[usize]| Mat::from_fn(of.len(), rank, |a, c| self.factor[(of[a], c)]);
        let (own, seen) = (pick(missing), pick(observed));
        let (values, vectors) = eigen(&(seen.transpose() * &seen))?;
        let fixed = values.iter().take_while(|v| **v > NO_WORD).count();
        let inverse = Mat::from_fn(rank, fixed, |i, c| vectors[(i, c)] / values[c]);
        let kept = Mat::from_fn(rank, fixed, |i, c| vectors[(i, c)]);
        let regression = &own * inverse * (kept.transpose() * seen.transpose());
        let free = Mat::from_fn(rank, rank - fixed, |i, c| vectors[(i, fixed + c)]);
        let spread = &own * free;
        let (values, vectors) = eigen(&(&spread * spread.transpose()))?;
        let moving = values.iter().take_while(|v| **v > NO_WORD).count();
        let moves = Mat::from_fn(missing.len(), moving, |a, c| vectors[(a, c)] * values[c].sqrt());
        let ln_volume = 0.5 * values[..moving].iter().map(|v| v.ln()).sum::<f64>();
        Ok((regression, moves, ln_volume))
    }
}

/// Means and covariances of some cells of a row, given the others.
pub enum Expected {
    /// The inverse of the precision of these cells, in deviations.
    Solved { inverse: Mat<f64>, missing: Vec<usize> },
    /// Where some directions have no variance.
    Given(Given),
}

impl Expected {
    /// Puts the means into the missing cells of a row, whose cells may hold anything.
    pub fn put(&self, gaussian: &Gaussian, row: &mut [f64]) {
        match (self, &gaussian.precision) {
            (Expected::Solved { inverse, missing }, Some(precision)) => {
                missing.iter().for_each(|&i| row[i] = gaussian.mean[i]);
                let off = |j: usize| (row[j] - gaussian.mean[j]) / gaussian.scales[j];
                let off: Vec<f64> = (0..row.len()).map(off).collect();
                let pull: Vec<f64> = missing
                    .iter()
                    .map(|&i| precision.col(i).iter().zip(&off).map(|(p, off)| p * off).sum())
                    .collect();
                for (a, &i) in missing.iter().enumerate() {
                    let shift: f64 = inverse.col(a).iter().zip(&pull).map(|(c, p)| c * p).sum();
                    row[i] -= gaussian.scales[i] * shift;
                }
            }
            (Expected::Given(given), _) => {
                let mean = given.mean(row);
                given.put(row, &mean);
            }
            (Expected::Solved { .. }, None) => {}
        }
    }

    /// The covariances of the missing cells, with their columns.
    pub fn covariances(&self, gaussian: &Gaussian, mut each: impl FnMut(usize, usize, f64)) {
        match self {
            Expected::Solved { inverse, missing } => {
                for (a, &i) in missing.iter().enumerate() {
                    for (b, &j) in missing.iter().enumerate() {
                        each(i, j, inverse[(a, b)] * gaussian.scales[i] * gaussian.scales[j]);
                    }
                }
            }
            Expected::Given(given) => {
                for (a, &i) in given.missing.iter().enumerate() {
                    for (b, &j) in given.missing.iter().enumerate() {
                        each(i, j, given.covariance(a, b));
                    }
                }
            }
        }
    }
}

/// Some cells of a row, given the others.
pub struct Given {
    /// The columns that are missing.
    pub missing: Vec<usize>,
    /// The others.
    pub observed: Vec<usize>,
    means: Vec<f64>,
    centres: Vec<f64>,
    regression: Vec<Vec<f64>>,
    /// Independent changes of the missing cells, each of unit deviation. There are fewer than cells where
    /// given cells determine some of them.
    pub moves: Vec<Vec<f64>>,
    /// ln of the volume that the moves span; up to a constant where there are fewer moves than cells.
    pub ln_volume: f64,
}

impl Given {
    /// The mean of the missing cells.
    pub fn mean(&self, row: &[f64]) -> Vec<f64> {
        let off: Vec<f64> =
            self.observed.iter().zip(&self.centres).map(|(&i, centre)| row[i] - centre).collect();
        self.means.iter().zip(&self.regression).map(|(mean, r)| mean + dot(r, &off)).collect()
    }

    /// The covariance of two of the missing cells.
    pub fn covariance(&self, a: usize, b: usize) -> f64 {
        self.moves.iter().map(|m| m[a] * m[b]).sum()
    }

    /// Puts values into the missing cells.
    pub fn put(&self, row: &mut [f64], values: &[f64]) {
        self.missing.iter().zip(values).for_each(|(&i, value)| row[i] = *value);
    }

    /// Draws the missing cells from the Gaussian.
    pub fn start(&self, row: &mut [f64], rng: &mut Stream) {
        let mut values = self.mean(row);
        for change in &self.moves {
            let by: f64 = rng.sample(StandardNormal);
            values.iter_mut().zip(change).for_each(|(value, change)| *value += by * change);
        }
        self.put(row, &values);
    }

    /// A move as a direction over all columns.
    pub fn direction(&self, change: &[f64]) -> Vec<f64> {
        let mut direction = vec![0.0; self.missing.len() + self.observed.len()];
        self.put(&mut direction, change);
        direction
    }
}
