//! Makes the table behind the `null` stop rule: how much the best direction of a Gaussian
//! sample gains, by family, dimensions and rows, with the search as it is by default.
//!
//! `make null-table` writes it to its file.
//!
//! Each line has the mean and the standard deviation of 2N·gain over samples of a standard
//! normal. Takes about half an hour on two cores; any change to the experts' bounds, penalty
//! or starts asks for a new table.

use rand::RngExt;
use rayon::prelude::*;
use upoe::expert::Family;
use upoe::{Rows, Settings, fit, random};

const DIMS: [usize; 8] = [1, 2, 4, 8, 16, 32, 64, 128];
const RATIOS: [f64; 9] = [1.5, 2.0, 3.0, 5.0, 10.0, 30.0, 100.0, 300.0, 1000.0];
const FAMILIES: [(Family, usize); 4] =
    [(Family::StudentT, 1), (Family::Tilt, 1), (Family::Mixture, 2), (Family::Mixture, 3)];

/// Prints the table.
pub fn run() -> Result<(), Box<dyn std::error::Error>> {
    let mut cells: Vec<(usize, usize)> = DIMS
        .iter()
        .flat_map(|&d| RATIOS.iter().map(move |r| (d, (r * d as f64).round() as usize)))
        .filter(|&(d, n)| n >= 8 && n * d <= 130_000)
        .collect();
    // Cheap ones first: a run that is cut short still says much.
    cells.sort_by_key(|&(d, n)| n * d);
    println!("family,size,dims,rows,samples,mean,deviation");
    for (d, n) in cells {
        let samples = if n * d < 10_000 { 100 } else { 40 };
        for (family, size) in FAMILIES {
            let settings = Settings::default().with(|s| {
                s.experts = Some(1);
                s.families = family.into();
                s.mixture_size = size.max(2);
            });
            let gains: Result<Vec<f64>, upoe::Error> =
                (0..samples).into_par_iter().map(|k| gain(n, d, k, &settings)).collect();
            let gains = gains?;
            let count = samples as f64;
            let mean = gains.iter().sum::<f64>() / count;
            let square = gains.iter().map(|g| (g - mean).powi(2)).sum::<f64>();
            let deviation = (square / (count - 1.0)).sqrt();
            println!("{},{size},{d},{n},{samples},{mean:.3},{deviation:.3}", family.name());
        }
    }
    Ok(())
}

/// 2N times the gain of the best direction of one Gaussian sample.
fn gain(n: usize, d: usize, sample: u64, settings: &Settings) -> upoe::Result<f64> {
    let mut rng = random::stream(sample, random::Use::Data, (n * 1000 + d) as u64);
    let values: Vec<f64> = (0..n * d).map(|_| rng.sample(rand_distr::StandardNormal)).collect();
    let fitted = fit(&Rows::new(&values, d)?, settings)?;
    Ok(fitted.state.experts.first().map_or(0.0, |e| 2.0 * n as f64 * e.gain))
}
