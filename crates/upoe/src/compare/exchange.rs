//! Sums over rows, for the tables as they are and after exchanging rows between them.

use super::Told;
use crate::random::{self, Use};
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};
use rand::RngExt;
use rayon::prelude::*;

/// Functions of a row that are summed together.
const FUNCTIONS: usize = 256;

/// Exchanges that are summed together.
const TOGETHER: usize = 32;

/// Which rows count as B, and how often they are exchanged.
#[derive(Clone, Copy)]
pub(super) struct Exchange {
    /// Rows of both tables; those of A come first.
    pub rows: usize,
    /// Rows of B.
    pub of_b: usize,
    /// How often rows are exchanged.
    pub times: usize,
    pub seed: u64,
}

impl Exchange {
    /// The rows that count as B: its own in exchange 0, random ones in the others.
    fn chosen(&self, exchange: usize) -> Vec<usize> {
        let Exchange { rows, of_b, seed, .. } = *self;
        if exchange == 0 {
            return (rows - of_b..rows).collect();
        }
        let mut rng = random::stream(seed, Use::Exchange, exchange as u64);
        let mut all: Vec<usize> = (0..rows).collect();
        for i in 0..of_b {
            all.swap(i, rng.random_range(i..rows));
        }
        all.truncate(of_b);
        all
    }

    /// Σ over the rows of B of every function, each as its distance from what exchanges give on average,
    /// in standard deviations: one line per exchange, of which the first is the tables as they are.
    /// `fill(k, column)` gives the values of function k, standardised over all rows.
    pub fn sums<E>(
        &self,
        functions: usize,
        fill: impl Fn(usize, &mut [f64]) + Sync,
        told: &mut Told<E>,
    ) -> Result<Vec<Vec<f64>>, E> {
        let (n, of_b) = (self.rows as f64, self.of_b as f64);
        let scale = (n / (of_b * (n - of_b)) * (n - 1.0) / n).sqrt();
        let mut sums = vec![Vec::with_capacity(functions); self.times + 1];
        for start in (0..functions).step_by(FUNCTIONS) {
            told.step("exchanging rows", start, functions, "statistics")?;
            let some = FUNCTIONS.min(functions - start);
            let mut columns = vec![0.0; some * self.rows];
            columns
                .par_chunks_exact_mut(self.rows)
                .enumerate()
                .for_each(|(k, column)| fill(start + k, column));
            let columns = faer::MatRef::from_column_major_slice(&columns, self.rows, some);
            sums.par_chunks_mut(TOGETHER).enumerate().for_each(|(block, lines)| {
                let mut labels = Mat::<f64>::zeros(lines.len(), self.rows);
                for line in 0..lines.len() {
                    let chosen = self.chosen(block * TOGETHER + line);
                    chosen.into_iter().for_each(|i| labels[(line, i)] = scale);
                }
                let mut out = Mat::<f64>::zeros(lines.len(), some);
                matmul(out.as_mut(), Accum::Replace, labels.as_ref(), columns, 1.0, Par::Seq);
                for (i, line) in lines.iter_mut().enumerate() {
                    line.extend((0..some).map(|k| out[(i, k)]));
                }
            });
        }
        Ok(sums)
    }
}

/// The share of exchanges that are as large as what was seen, to rounding; what was seen counts as one.
pub(super) fn p_value(seen: f64, exchanged: &[f64]) -> f64 {
    let least = seen - 1e-9 * seen.abs();
    let as_large = exchanged.iter().filter(|x| **x >= least).count();
    (1 + as_large) as f64 / (1 + exchanged.len()) as f64
}
