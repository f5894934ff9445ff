//! Rows drawn from the model.

use super::Model;
use crate::expert::Expert;
use crate::random;
use crate::whitening::Rest;
use rand::RngExt;
use rand_distr::StandardNormal;
use rayon::prelude::*;
use std::ops::Range;

impl Model {
    /// How many drawn rows share a stream of random numbers.
    pub const SAMPLE_BLOCK: usize = 256;

    /// `n` sphered rows drawn from the model by (23): x = W# z + P⊥ x′ with z from the experts
    /// and x′ standard normal. Row i depends on the seed and i alone.
    pub fn sample_sphered(&self, n: usize, seed: u64) -> Vec<f64> {
        self.sample_with(0..n, seed, |x, _| x)
    }

    /// `n` rows drawn from the model, in the data's own units.
    pub fn sample(&self, n: usize, seed: u64) -> Vec<f64> {
        self.sample_range(0..n, seed)
    }

    /// Some of the rows that [`Model::sample`] draws: those from `rows.start`, rounded down to
    /// a multiple of [`Model::SAMPLE_BLOCK`], to `rows.end`.
    pub fn sample_range(&self, rows: Range<usize>, seed: u64) -> Vec<f64> {
        self.sample_with(rows, seed, |x, rng| {
            let mut row = self.whitening.restore(&x);
            if let Rest::Noise { variance } = self.whitening.rest() {
                self.whitening.add_noise(&mut row, variance, rng);
            }
            row
        })
    }

    fn sample_with(
        &self,
        rows: Range<usize>,
        seed: u64,
        finish: impl Fn(Vec<f64>, &mut random::Stream) -> Vec<f64> + Sync,
    ) -> Vec<f64> {
        const BLOCK: usize = Model::SAMPLE_BLOCK;
        let d = self.whitening.dims();
        let samplers: Vec<_> = self.experts.iter().map(Expert::sampler).collect();
        let blocks: Vec<Vec<f64>> = (rows.start / BLOCK..rows.end.div_ceil(BLOCK))
            .into_par_iter()
            .map(|block| {
                let mut rng = random::stream(seed, random::Use::Sample, block as u64);
                (block * BLOCK..((block + 1) * BLOCK).min(rows.end))
                    .flat_map(|_| {
                        let z: Vec<f64> = samplers.iter().map(|s| s.draw(&mut rng)).collect();
                        let noise: Vec<f64> = (0..d).map(|_| rng.sample(StandardNormal)).collect();
                        let mut x = self.off_span(&noise, &self.projections(&noise));
                        for (i, x) in x.iter_mut().enumerate() {
                            *x += z
                                .iter()
                                .enumerate()
                                .map(|(j, z)| self.pseudo_inverse[(i, j)] * z)
                                .sum::<f64>();
                        }
                        finish(x, &mut rng)
                    })
                    .collect()
            })
            .collect();
        blocks.concat()
    }
}
