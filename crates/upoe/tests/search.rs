//! The search finds what is plainly there, whatever the seed, and says what it could not have found.

use crate::common::{apply, dot, laplace, normals, rng, rotation};
use rand::RngExt;
use rand_distr::{Distribution, Exp1, StudentT};
use rayon::prelude::*;
use upoe::expert::Family;
use upoe::{Detectable, Fit, Notice, Rows, Settings, fit};

fn fitted(values: &[f64], columns: usize, change: impl FnOnce(&mut Settings)) -> Fit {
    fit(&Rows::new(values, columns).unwrap(), &Settings::default().with(change)).unwrap()
}

/// Rows of Gaussian noise whose first column is drawn from `source`, before and after a rotation.
fn planted(n: usize, d: usize, source: impl FnMut() -> f64) -> (Vec<f64>, Vec<f64>) {
    let column: Vec<f64> = std::iter::repeat_with(source).take(n).collect();
    let mut values = normals(n * d, 77);
    values.iter_mut().step_by(d).zip(&column).for_each(|(x, source)| *x = *source);
    (column, apply(&rotation(d, 5), &values, d))
}

#[test]
fn every_seed_finds_the_planted_direction() {
    let mut r = rng(1);
    let t = StudentT::new(3.0).unwrap();
    type Source<'a> = Box<dyn FnMut() -> f64 + 'a>;
    let mut normal = {
        let mut noise = normals(20_000, 9).into_iter().cycle();
        move || noise.next().unwrap()
    };
    let mut group = |groups: &[f64], r: &mut upoe::random::Stream| {
        groups[r.random_range(0..groups.len())] + 0.2 * normal()
    };
    let mut shapes = Vec::new();
    let (n, d) = (1000, 20);
    let mut add = |name, source: Source| shapes.push((name, planted(n, d, source)));
    add("t", Box::new(|| t.sample(&mut r)));
    add("exponential", Box::new(|| Exp1.sample(&mut r)));
    add("uniform", Box::new(|| r.random_range(-1.0..1.0)));
    add("two groups", Box::new(|| group(&[-1.0, 1.0], &mut r)));
    add("three groups", Box::new(|| group(&[-1.2, 0.0, 1.2], &mut r)));
    add("a spike", Box::new(|| laplace(&mut r).powi(3)));
    shapes.par_iter().for_each(|(name, (column, rows))| {
        let alone = fitted(column, 1, |s| s.experts = Some(1)).state.experts[0].gain;
        let gains: Vec<f64> =
            (0..3).map(|seed| fitted(rows, d, |s| s.seed = seed).state.experts[0].gain).collect();
        for gain in &gains {
            assert!(*gain > alone - (0.01 * alone).max(1e-3), "{name}: {gain} of {alone}");
            assert!((gain - gains[0]).abs() < 1e-3, "{name}: {gains:?}");
        }
    });
}

#[test]
fn three_groups_among_many_rows_are_found_by_the_tilt_alone() {
    let mut r = rng(3);
    let noise = normals(10_000, 4);
    let mut at = 0..;
    let source = || [-1.2, 0.0, 1.2][r.random_range(0..3)] + 0.2 * noise[at.next().unwrap()];
    let (_, rows) = planted(10_000, 20, source);
    for seed in 0..3 {
        for families in [Family::Tilt.into(), upoe::Families::default()] {
            let fit = fitted(&rows, 20, |s| (s.families, s.seed) = (families, seed));
            assert!(fit.state.experts[0].gain > 0.49, "{:?}", fit.state.experts[0].gain);
        }
    }
}

/// One row far out must not decide what a sample of the rows shows.
#[test]
fn a_heavy_tail_does_not_hide_groups() {
    let (n, d) = (30_000, 12);
    let mut r = rng(8);
    let t = StudentT::new(2.5).unwrap();
    let mut values = normals(n * d, 11);
    for row in values.chunks_exact_mut(d) {
        row[0] += if r.random::<bool>() { 3.0 } else { -3.0 };
        row[1] = t.sample(&mut r);
    }
    let rows = apply(&rotation(d, 6), &values, d);
    let groups: Vec<f64> = values.iter().step_by(d).copied().collect();
    let alone = fitted(&groups, 1, |s| s.experts = Some(1)).state.experts[0].gain;
    for seed in 0..4 {
        let fit = fitted(&rows, d, |s| (s.experts, s.seed) = (Some(2), seed));
        let best = fit.state.experts.iter().map(|e| e.gain).fold(0.0, f64::max);
        assert!(best > 0.99 * alone, "seed {seed}: {best} of {alone}");
    }
}

/// A column needs no search: two groups in it are seen where the same groups along an unknown
/// direction would be noise.
#[test]
fn a_single_column_is_examined() {
    let (n, d) = (600, 100);
    let mut r = rng(12);
    let mut values = normals(n * d, 13);
    values.iter_mut().step_by(d).for_each(|x| *x += if r.random::<bool>() { 1.5 } else { -1.5 });
    let fit = fitted(&values, d, |_| ());
    let [only] = fit.model.directions() else { panic!("{:?}", fit.stop) };
    let a = fit.model.whitening().inverse();
    let column: Vec<f64> = (0..d).map(|k| a[(0, k)]).collect();
    let cosine = dot(only, &column).abs() / dot(&column, &column).sqrt();
    assert!(cosine > 0.9, "{cosine}");
    assert!(fit.state.experts[0].p_value.unwrap() < 1e-3);
    // Rotated, the groups are hidden.
    let rotated = apply(&rotation(d, 14), &values, d);
    assert!(fitted(&rotated, d, |_| ()).state.experts.is_empty());
}

#[test]
fn where_nothing_is_found_the_fit_says_what_could_have_been() {
    let (n, d) = (300, 10);
    let values = normals(n * d, 21);
    let fit = fitted(&values, d, |_| ());
    let nothing = fit.notices.iter().find(|n| matches!(n, Notice::Nothing { .. }));
    let Some(Notice::Nothing { gain, groups: Some(groups), .. }) = nothing else {
        panic!("{:?}", fit.notices)
    };
    let shown = Detectable::of(&Settings::default(), n as f64, d).unwrap();
    assert_eq!((*gain, *groups), (shown.gain, shown.groups.unwrap()));
    assert!(0.5 * shown.noise < shown.gain && shown.gain < 0.5, "{shown:?}");
    // Two such groups are found in about 80 % of samples.
    let draws = 40;
    let found = (0..draws).into_par_iter().map(|draw| {
        let mut r = rng(1000 + draw);
        let mut values = normals(n * d, 2000 + draw);
        let half = 0.5 * groups;
        values.iter_mut().step_by(d).for_each(|x| *x += if r.random() { half } else { -half });
        let rows = apply(&rotation(d, draw), &values, d);
        usize::from(!fitted(&rows, d, |_| ()).state.experts.is_empty())
    });
    let share = found.sum::<usize>() as f64 / draws as f64;
    assert!((0.6..=0.98).contains(&share), "{share}");
}

#[test]
fn columns_of_few_values_are_told() {
    let mut values = normals(3000, 31);
    let told = |values: &[f64]| {
        let notices = fitted(values, 3, |_| ()).notices;
        notices.into_iter().find_map(|n| match n {
            Notice::Ties { columns } => Some(columns),
            _ => None,
        })
    };
    assert_eq!(told(&values), None);
    values.chunks_exact_mut(3).for_each(|row| row[1] = row[1].round());
    assert_eq!(told(&values), Some(vec![1]));
}
