//! Makes the table behind the `null` stop rule: how much the best direction of a Gaussian
//! sample gains, by family, dimensions and rows, with the search as it is by default.
//!
//! `make null-table` writes it to its file.
//!
//! Each line has the mean, the standard deviation and the 95 % point of 2N·gain over samples of a
//! standard normal. Takes about half an hour on two cores; any change to the experts' bounds, penalty
//! or starts asks for a new table.

use rand::RngExt;
use rayon::prelude::*;
use std::sync::Mutex;
use upoe::expert::Family;
use upoe::{Event, Fitter, Rows, Settings, random};

const DIMS: [usize; 8] = [1, 2, 4, 8, 16, 32, 64, 128];
const RATIOS: [f64; 10] = [1.5, 2.0, 3.0, 5.0, 10.0, 30.0, 100.0, 300.0, 1000.0, 10_000.0];
/// Rows times dimensions at most.
const LARGEST: usize = 200_000;

/// The size of mixtures, the families that are searched together, and those whose gains are noted:
/// Student-t and tilt find most when all families help each other, a mixture when it is alone and
/// all starts are its own.
const PARTS: [(usize, &[Family], &[Family]); 3] = [
    (2, Family::ALL, &[Family::StudentT, Family::Tilt]),
    (2, &[Family::Mixture], &[Family::Mixture]),
    (3, &[Family::Mixture], &[Family::Mixture]),
];

/// Prints the table, or the part of it that `only` names, such as `mixture-2`.
pub fn run(only: Option<&str>) -> Result<(), Box<dyn std::error::Error>> {
    let wanted = |family: &str, size: usize| {
        only.is_none_or(|only| only == family || only == format!("{family}-{size}"))
    };
    let mut cells: Vec<(usize, usize)> = DIMS
        .iter()
        .flat_map(|&d| RATIOS.iter().map(move |r| (d, (r * d as f64).round() as usize)))
        .filter(|&(d, n)| n >= 8 && n * d <= LARGEST)
        .collect();
    // Cheap ones first: a run that is cut short still says much.
    cells.sort_by_key(|&(d, n)| n * d);
    println!("family,size,dims,rows,samples,mean,deviation,upper");
    for (d, n) in cells {
        let samples = match (d, n * d) {
            (1..=2, ..20_000) => 600,
            (4, ..20_000) => 300,
            (_, ..10_000) => 120,
            _ => 48,
        };
        for (size, families, of) in PARTS
            .iter()
            .filter(|(size, _, of)| of.iter().any(|family| wanted(family.name(), *size)))
        {
            let (size, families) = (*size, *families);
            let drawn: Result<Vec<Vec<f64>>, upoe::Error> =
                (0..samples).into_par_iter().map(|k| gains(n, d, k, size, families)).collect();
            let drawn = drawn?;
            for (i, family) in families.iter().enumerate().filter(|(_, f)| of.contains(f)) {
                let of_family = drawn.iter().map(|gains| gains[i]).collect();
                let [mean, deviation, upper] = summary(of_family);
                let size = if *family == Family::Mixture { size } else { 1 };
                let name = family.name();
                println!("{name},{size},{d},{n},{samples},{mean:.3},{deviation:.3},{upper:.3}");
            }
        }
    }
    Ok(())
}

/// Mean, deviation and 95 % point of some values.
fn summary(mut values: Vec<f64>) -> [f64; 3] {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let square = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>();
    values.sort_by(f64::total_cmp);
    let place = 0.95 * n - 0.5;
    let at = |i: f64| values[(i.max(0.0) as usize).min(values.len() - 1)];
    let upper = at(place.floor()) + place.fract() * (at(place.floor() + 1.0) - at(place.floor()));
    [mean, (square / (n - 1.0)).sqrt(), upper]
}

/// 2N times the gain of the best direction of one Gaussian sample, for each family.
fn gains(
    n: usize,
    d: usize,
    sample: u64,
    size: usize,
    families: &[Family],
) -> upoe::Result<Vec<f64>> {
    let mut rng = random::stream(sample, random::Use::Data, (n * 1000 + d) as u64);
    let values: Vec<f64> = (0..n * d).map(|_| rng.sample(rand_distr::StandardNormal)).collect();
    let tried = upoe::Families::new(families.iter().copied())?;
    let settings = Settings::default().with(|s| {
        s.experts = Some(1);
        s.families = tried;
        s.mixture_size = size;
    });
    let best = Mutex::new(vec![0.0_f64; families.len()]);
    let observe = |event: &Event| {
        if let (Event::Found(found), Ok(mut best)) = (event, best.lock()) {
            for learned in *found {
                let family = families.iter().position(|f| *f == learned.expert().family());
                if let Some(i) = family {
                    best[i] = best[i].max(2.0 * n as f64 * learned.gain);
                }
            }
        }
        true
    };
    Fitter::new(settings).observe(observe).fit(&Rows::new(&values, d)?)?;
    Ok(best.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner))
}
