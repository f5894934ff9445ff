//! ln p of many rows, fast: blocks of rows against all directions at once.

use crate::error::Result;
use crate::expert::Marginal;
use crate::linalg::LN_TAU;
use crate::model::Model;
use crate::rows::Rows;
use rayon::prelude::*;

/// Rows per block.
const BLOCK: usize = 1024;

impl Model {
    /// ln p of many rows over the data's own columns; see [`Model::ln_p`].
    pub fn score(&self, rows: &Rows) -> Result<Vec<f64>> {
        self.by_block(rows, |rows, x, scores| {
            let x = x.chunks_exact(self.whitening().dims());
            for ((i, x), score) in x.enumerate().zip(scores) {
                *score += self.whitening().ln_jacobian(&rows.row(i), x);
            }
        })
    }

    /// ln p of many rows in sphered space, as the paper reports it.
    pub fn score_sphered(&self, rows: &Rows) -> Result<Vec<f64>> {
        self.by_block(rows, |_, _, _| {})
    }

    fn by_block(
        &self,
        rows: &Rows,
        finish: impl Fn(&Rows, &[f64], &mut [f64]) + Sync,
    ) -> Result<Vec<f64>> {
        self.whitening().check_columns(rows.columns())?;
        rows.check()?;
        let axes = self.axes()?;
        let blocks: Vec<Vec<f64>> = (0..rows.len().div_ceil(BLOCK))
            .into_par_iter()
            .map(|block| {
                let rows = rows.slice(block * BLOCK..((block + 1) * BLOCK).min(rows.len()));
                let x = self.whitening().sphere(&rows)?;
                let mut scores = self.score_block(&x, axes);
                finish(&rows, &x, &mut scores);
                Ok(scores)
            })
            .collect::<Result<_>>()?;
        Ok(blocks.concat())
    }

    /// ln p of sphered rows (4). It adds squares along axes outside the directions, because
    /// ‖x‖² less the part inside would cancel.
    fn score_block(&self, x: &[f64], axes: &[f64]) -> Vec<f64> {
        let (d, j) = (self.whitening().dims(), self.experts().len());
        let constant = self.half_ln_gram() - 0.5 * (d - j) as f64 * LN_TAU;
        let of_row = |z: &[f64]| {
            let (inside, outside) = z.split_at(j);
            let experts = self.experts().iter().zip(inside).map(|(e, z)| e.ln_density(*z));
            let off: f64 = outside.iter().map(|z| z * z).sum();
            let total = experts.sum::<f64>() + constant - 0.5 * off;
            if total.is_nan() { f64::NEG_INFINITY } else { total }
        };
        upoe_kernels::project(x, d, axes).chunks_exact(d).map(of_row).collect()
    }
}
