//! The laws of pools: normalised, drawn from exactly, better than one layer where that is not enough.

use crate::common::{normals, rng};
use rand::RngExt;
use rand_distr::StandardNormal;
use upoe::{Fitter, Pool, Rows, Settings};

/// Three bent clusters.
fn clusters(n: usize, d: usize, seed: u64) -> Vec<f64> {
    let mut rng = rng(seed);
    let mut row = |i: usize| -> Vec<f64> {
        let x: f64 = rng.sample(StandardNormal);
        let centre = [(-4.0, 0.0), (4.0, 0.0), (0.0, 6.0)][i % 3];
        let mut row = vec![centre.0 + x, centre.1 + 0.5 * x * x];
        row[1] += 0.4 * rng.sample::<f64, _>(StandardNormal);
        row.extend((2..d).map(|_| rng.sample::<f64, _>(StandardNormal)));
        row
    };
    (0..n).flat_map(&mut row).collect()
}

fn deep() -> Settings {
    Settings::default().with(|s| s.depth = None)
}

fn pool(values: &[f64], d: usize, settings: &Settings) -> Pool {
    let rows = Rows::new(values, d).expect("rows");
    Pool::fit(&rows, settings, |_, _| true).expect("a fit").expect("not stopped")
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[test]
fn a_pool_in_two_dimensions_integrates_to_one() {
    let pool = pool(&clusters(600, 2, 1), 2, &deep());
    assert!(pool.members().len() > 1 && pool.members().iter().any(|m| m.mixture().is_some()));
    let (n, edge) = (800, 11.0);
    let step = 2.0 * edge / f64::from(n);
    let t: Vec<f64> = (0..=n).map(|i| -edge + step * f64::from(i)).collect();
    let of_line = |a: &f64| {
        let line: Vec<f64> = t.iter().flat_map(|b| [a.sinh(), 2.0 + b.sinh()]).collect();
        let ln_p = pool.score(&Rows::new(&line, 2).expect("rows")).expect("scores");
        ln_p.iter().zip(&t).map(|(p, b)| p.exp() * b.cosh()).sum::<f64>() * a.cosh() * step * step
    };
    let total: f64 = t.iter().map(of_line).sum();
    assert!((total - 1.0).abs() < 1e-5, "{total}");
}

/// Two pools weigh each other's rows: ⟨q/p⟩ over rows drawn from p is 1 if both are normalised and p is drawn
/// from exactly.
#[test]
fn pools_in_five_dimensions_weigh_each_other_to_one() {
    let values = clusters(900, 5, 2);
    let pools = [pool(&values, 5, &deep()), pool(&clusters(900, 5, 3), 5, &deep())];
    let drawn = pools[0].sample(40_000, 4);
    assert_eq!(drawn[..500], pools[0].sample(100, 4)[..], "row i depends on the seed and i alone");
    let rows = Rows::new(&drawn, 5).expect("rows");
    let [p, q] = pools.map(|pool| pool.score(&rows).expect("scores"));
    let ratios: Vec<f64> = p.iter().zip(&q).map(|(p, q)| (q - p).exp()).collect();
    let total = mean(&ratios);
    let square = mean(&ratios.iter().map(|r| (r - total).powi(2)).collect::<Vec<_>>());
    let error = (square / 40_000.0).sqrt();
    assert!((total - 1.0).abs() < 4.0 * error && error < 0.02, "{total} ± {error}");
}

#[test]
fn a_pool_beats_the_single_layer_on_fresh_rows_and_on_gaussian_rows_loses_little() {
    let values = clusters(900, 3, 5);
    let fresh = clusters(3000, 3, 6);
    let (rows, fresh) = (Rows::new(&values, 3).expect("rows"), Rows::new(&fresh, 3).expect("rows"));
    let single = Fitter::new(Settings::default()).fit(&rows).expect("a fit").model;
    let gain = mean(&pool(&values, 3, &deep()).score(&fresh).expect("scores"))
        - mean(&single.score(&fresh).expect("scores"));
    assert!(gain > 0.3, "{gain}");
    let (values, fresh) = (normals(900 * 3, 7), normals(3000 * 3, 8));
    let fresh = Rows::new(&fresh, 3).expect("rows");
    let truth = -1.5 * std::f64::consts::TAU.ln() - 0.5 * fresh_square(&fresh);
    let loss = truth - mean(&pool(&values, 3, &deep()).score(&fresh).expect("scores"));
    assert!(loss < 0.02, "{loss}");
}

/// ⟨‖row‖²⟩.
fn fresh_square(rows: &Rows) -> f64 {
    (0..rows.len()).map(|i| rows.row(i).iter().map(|x| x * x).sum::<f64>()).sum::<f64>()
        / rows.len() as f64
}

#[test]
fn the_number_of_threads_changes_no_bit_and_a_stop_is_heard() {
    let values = clusters(300, 3, 9);
    let rows = Rows::new(&values, 3).expect("rows");
    let bits = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        let scores = pool.install(|| self::pool(&values, 3, &deep()).score(&rows));
        scores.expect("scores").iter().map(|s| s.to_bits()).collect::<Vec<u64>>()
    };
    assert_eq!(bits(1), bits(3));
    let mut asked = 0;
    let stopped = Pool::fit(&rows, &deep(), |_, _| {
        asked += 1;
        asked < 5
    });
    assert!(stopped.expect("no error").is_none());
}

#[test]
fn few_rows_and_far_rows_give_a_pool_or_an_error() {
    for (n, d) in [(10, 12), (12, 2), (25, 5)] {
        let values = normals(n * d, 15);
        let rows = Rows::new(&values, d).expect("rows");
        let pool = match Pool::fit(&rows, &deep(), |_, _| true) {
            Ok(pool) => pool.expect("not stopped"),
            Err(_) => continue,
        };
        let mut far = values.clone();
        far[0] = 1e308;
        let scores = pool.score(&Rows::new(&far, d).expect("rows")).expect("scores");
        assert!(scores[0] < -100.0 && scores[n - 1].is_finite(), "{scores:?}");
    }
}
