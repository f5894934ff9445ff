//! Makes the table behind the radial expert's p-values: how much it gains on Gaussian rows, by dimensions
//! and rows.
//!
//! `make radial-table` writes it to its file. Each line has the mean, the standard deviation and the 95 %
//! point of 2N·gain. The squared length of a sphered Gaussian row is (N − 1) times a Beta variable of
//! d/2 and (N − 1 − d)/2, so that no rows need to be sphered.

use rand_distr::{Beta, Distribution};
use rayon::prelude::*;
use upoe::{Radial, random};

use super::null_table::summary;

const DIMS: [usize; 9] = [2, 4, 8, 16, 32, 64, 128, 256, 512];
const RATIOS: [f64; 10] = [1.5, 2.0, 3.0, 5.0, 10.0, 30.0, 100.0, 300.0, 1000.0, 10_000.0];
const MOST_ROWS: usize = 20_000;
const SAMPLES: u64 = 400;

/// Prints the table.
pub fn run() -> Result<(), Box<dyn std::error::Error>> {
    println!("family,size,dims,rows,samples,mean,deviation,upper");
    for d in DIMS {
        for ratio in RATIOS {
            let n = (ratio * d as f64).round() as usize;
            if n < 8 || n < d + 2 || n > MOST_ROWS {
                continue;
            }
            let gains: Result<Vec<f64>, _> =
                (0..SAMPLES).into_par_iter().map(|k| gain(n, d, k)).collect();
            let [mean, deviation, upper] = summary(gains?);
            println!("radial,1,{d},{n},{SAMPLES},{mean:.3},{deviation:.3},{upper:.3}");
        }
    }
    Ok(())
}

/// 2N times the gain of the radial expert on one Gaussian sample.
fn gain(n: usize, d: usize, sample: u64) -> Result<f64, rand_distr::BetaError> {
    let mut rng = random::stream(sample, random::Use::Data, (n * 1000 + d) as u64);
    let beta = Beta::new(0.5 * d as f64, 0.5 * (n - 1 - d) as f64)?;
    let mut squares: Vec<f64> = (0..n).map(|_| beta.sample(&mut rng)).collect();
    // Sphered rows have ⟨‖x‖²⟩ = d.
    let scale = (n * d) as f64 / squares.iter().sum::<f64>();
    squares.iter_mut().for_each(|s| *s *= scale);
    Ok(2.0 * n as f64 * Radial::gain_of_lengths(&squares, d))
}
