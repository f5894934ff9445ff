//! Makes the table behind the `null` stop rule: how much the best direction of a Gaussian
//! sample gains, by family, dimensions and rows, with the search as it is by default.
//!
//! `make null-table` writes it to its file.
//!
//! Each line has the mean, the standard deviation and the 95 % point of 2N·gain over samples of a
//! standard normal. Takes about 40 minutes on two cores; any change to the experts' bounds, penalty
//! or starts asks for a new table.

use rand::RngExt;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::Mutex;
use upoe::expert::Family;
use upoe::{Event, Fitter, Rows, Settings, random};

const DIMS: [usize; 8] = [1, 2, 4, 8, 16, 32, 64, 128];
const RATIOS: [f64; 10] = [1.5, 2.0, 3.0, 5.0, 10.0, 30.0, 100.0, 300.0, 1000.0, 10_000.0];
/// Rows times dimensions at most.
const LARGEST: usize = 200_000;

/// Searches: the size of mixtures, and the families that are searched together. All families together
/// help each other; a mixture alone has all starts for itself.
const SEARCHES: [(usize, &[Family]); 4] =
    [(2, Family::ALL), (2, &[Family::Mixture]), (3, Family::ALL), (3, &[Family::Mixture])];

/// Prints the table.
pub fn run() -> Result<(), Box<dyn std::error::Error>> {
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
        // Of several searches the one counts that finds most.
        let mut most: BTreeMap<(Family, usize), [f64; 3]> = BTreeMap::new();
        for (size, families) in SEARCHES {
            let drawn: Result<Vec<Vec<f64>>, upoe::Error> =
                (0..samples).into_par_iter().map(|k| gains(n, d, k, size, families)).collect();
            let drawn = drawn?;
            for (i, family) in families.iter().enumerate() {
                let found = summary(drawn.iter().map(|gains| gains[i]).collect());
                let size = if *family == Family::Mixture { size } else { 1 };
                let known = most.entry((*family, size)).or_insert(found);
                if found[2] > known[2] {
                    *known = found;
                }
            }
        }
        for ((family, size), [mean, deviation, upper]) in most {
            let name = family.name();
            println!("{name},{size},{d},{n},{samples},{mean:.3},{deviation:.3},{upper:.3}");
        }
    }
    Ok(())
}

/// Mean, deviation and 95 % point of some values.
pub fn summary(mut values: Vec<f64>) -> [f64; 3] {
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
