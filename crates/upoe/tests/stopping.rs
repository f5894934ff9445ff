//! The null rule: noise gets no expert, one hidden direction is found and nothing else.
//!
//! `UPOE_DRAWS=10` takes fewer draws than the hundred that the limits are meant for.

use crate::common::normals;
use rand_distr::Distribution;
use rayon::prelude::*;
use upoe::expert::Family;
use upoe::{Rows, Settings, fit};

fn draws() -> u64 {
    std::env::var("UPOE_DRAWS").ok().and_then(|d| d.parse().ok()).unwrap_or(100)
}

/// How many of the draws get at least one expert.
fn false_finds(n: usize, d: usize, draws: u64) -> usize {
    let found = (0..draws).into_par_iter().map(|draw| {
        let values = normals(n * d, 1_000_000 + draw * 977 + (n * d) as u64);
        let fitted = fit(&Rows::new(&values, d).unwrap(), &Settings::default()).unwrap();
        usize::from(!fitted.state.experts.is_empty())
    });
    let found = found.sum();
    eprintln!("{n} × {d}: {found} of {draws} Gaussian draws got an expert");
    found
}

/// Whether so many false finds are no more than 5 %, to two standard errors.
fn is_five_percent(found: usize, draws: u64) -> bool {
    let draws = draws as f64;
    found as f64 <= 0.05 * draws + 2.0 * (0.05 * 0.95 * draws).sqrt()
}

#[test]
fn gaussian_rows_get_no_expert_50_by_20() {
    let draws = draws();
    assert!(is_five_percent(false_finds(50, 20, draws), draws));
}

#[test]
fn gaussian_rows_get_no_expert_200_by_50() {
    let draws = draws();
    assert!(is_five_percent(false_finds(200, 50, draws), draws));
}

#[test]
fn gaussian_rows_get_no_expert_10000_by_20() {
    let draws = draws();
    assert!(is_five_percent(false_finds(10_000, 20, draws), draws));
}

#[test]
fn one_heavy_tailed_direction_in_fifty_is_found_and_nothing_else() {
    let draws = draws();
    let t = rand_distr::StudentT::new(3.0).unwrap();
    let found = (0..draws).into_par_iter().map(|draw| {
        let mut rng = crate::common::rng(5_000 + draw);
        let mut values = normals(5000 * 50, 6_000 + draw);
        values.iter_mut().step_by(50).for_each(|x| *x = t.sample(&mut rng) / 3.0_f64.sqrt());
        let fitted = fit(&Rows::new(&values, 50).unwrap(), &Settings::default()).unwrap();
        let [only] = &fitted.model.directions() else { return 0 };
        // The hidden column's own direction in sphered space.
        let a = &fitted.model.whitening().matrix();
        let hidden: Vec<f64> = (0..50).map(|k| a[(k, 0)]).collect();
        let norm = crate::common::dot(&hidden, &hidden).sqrt();
        usize::from(crate::common::dot(only, &hidden).abs() / norm > 0.95)
    });
    let found: usize = found.sum();
    eprintln!("found alone in {found} of {draws} draws");
    assert!(found as u64 * 10 >= draws * 9, "{found} of {draws}");
}

#[test]
fn too_few_rows_per_dimension_get_no_expert() {
    for (rows, columns) in [(100, 100), (100, 95)] {
        let values = normals(rows * columns, 7);
        for family in [Family::StudentT, Family::Mixture] {
            let settings = Settings::default().with(|s| s.families = family.into());
            let fit = fit(&Rows::new(&values, columns).unwrap(), &settings).unwrap();
            assert_eq!(fit.state.experts.len(), 0, "{rows} × {columns}");
            let said = fit.notices.iter().any(|n| n.to_string().contains("keep fewer dimensions"));
            assert!(said, "{:?}", fit.notices);
        }
    }
}
