//! P-values where rows are not independent or do not count alike.

use crate::common::normals;
use upoe::{Cause, Notice, Rows, Settings, fit};

/// The share of `draws` fits of Gaussian rows that find an expert.
fn level(draws: u64, find: impl Fn(u64) -> usize) -> f64 {
    (0..draws).filter(|&draw| find(draw) > 0).count() as f64 / draws as f64
}

fn exponential(n: usize, seed: u64) -> Vec<f64> {
    // Half the sum of two squared normals.
    normals(2 * n, seed).chunks(2).map(|z| 0.5 * (z[0] * z[0] + z[1] * z[1])).collect()
}

const DRAWS: u64 = 40;

#[test]
fn weights_do_not_make_evidence() {
    let found = |draw: u64, weights: &[f64]| {
        let values = normals(2500, 1000 + draw);
        let rows = Rows::new(&values, 5).unwrap().weighted(weights).unwrap();
        fit(&rows, &Settings::default()).unwrap().state.experts.len()
    };
    let unequal = level(DRAWS, |draw| found(draw, &exponential(500, 5000 + draw)));
    assert!(unequal <= 0.15, "{unequal}");
    let constant = level(DRAWS, |draw| found(draw, &[10.0; 500]));
    assert!(constant <= 0.15, "{constant}");
}

#[test]
fn counts_are_whole_numbers() {
    let (values, mut weights) = (normals(300, 1), vec![2.0; 100]);
    let counts = Settings::default().with(|s| s.counts = true);
    assert!(fit(&Rows::new(&values, 3).unwrap().weighted(&weights).unwrap(), &counts).is_ok());
    weights[7] = 2.5;
    let rows = Rows::new(&values, 3).unwrap().weighted(&weights).unwrap();
    assert!(fit(&rows, &counts).unwrap_err().to_string().starts_with("counts = 2.5"));
    assert!(fit(&rows, &Settings::default()).is_ok());
}

#[test]
fn repeated_rows_count_once_unless_they_are_counts() {
    let repeated = |draw: u64| {
        let values = normals(1000, 2000 + draw);
        let five: Vec<f64> = values.chunks(5).flat_map(|row| row.repeat(5)).collect();
        fit(&Rows::new(&five, 5).unwrap(), &Settings::default()).unwrap()
    };
    let share = level(DRAWS, |draw| repeated(draw).state.experts.len());
    assert!(share <= 0.15, "{share}");
    let notices = repeated(0).notices;
    let told = |n: &Notice| matches!(n, Notice::Effective { cause: Cause::Repeats, .. });
    assert!(notices.iter().any(told), "{notices:?}");
    // That equal rows follow one another says nothing else.
    let alike = |n: &Notice| matches!(n, Notice::Neighbours { .. });
    assert!(!notices.iter().any(alike), "{notices:?}");
}

#[test]
fn one_row_repeated_often_is_no_evidence_and_takes_none_from_the_others() {
    let fitted = |others: &[f64]| {
        let values = [others, &[0.0; 5].repeat(100)].concat();
        fit(&Rows::new(&values, 5).unwrap(), &Settings::default()).unwrap()
    };
    let share = level(DRAWS / 2, |draw| fitted(&normals(5000, 7000 + draw)).state.experts.len());
    assert!(share <= 0.2, "{share}");
    // One column in two groups.
    let mut groups = normals(5000, 7100);
    groups.iter_mut().step_by(10).for_each(|x| *x += 6.0);
    let found = fitted(&groups);
    assert!(!found.state.experts.is_empty(), "{:?}", found.stop);
    let worth = found.notices.iter().find_map(|n| match n {
        Notice::Effective { effective, cause: Cause::Repeats, .. } => Some(*effective),
        _ => None,
    });
    assert!(worth.is_some_and(|n| (n - 1001.0).abs() < 1.0), "{worth:?}");
}

#[test]
fn constant_columns_may_stand_beside_blocks_and_order() {
    let mut values = normals(1000, 7200);
    values.iter_mut().skip(4).step_by(5).for_each(|x| *x = 7.25);
    let blocks: Vec<usize> = (0..200).map(|i| i / 20).collect();
    let rows = Rows::new(&values, 5).unwrap();
    fit(&rows.in_blocks(&blocks).unwrap(), &Settings::default()).unwrap();
    fit(&rows, &Settings::default().with(|s| s.ordered = true)).unwrap();
}

#[test]
fn rows_of_one_block_are_worth_one() {
    let values = normals(1000, 7300);
    let rows = Rows::new(&values, 5).unwrap();
    let fitted = fit(&rows.in_blocks(&[0; 200]).unwrap(), &Settings::default()).unwrap();
    let one = |n: &Notice| matches!(n, Notice::Effective { effective, .. } if *effective == 1.0);
    assert!(fitted.notices.iter().any(one), "{:?}", fitted.notices);
}

#[test]
fn rows_in_time_are_worth_fewer() {
    let settings = Settings::default().with(|s| s.ordered = true);
    let series = |draw: u64| {
        let noise = normals(5000, 3000 + draw);
        let mut values = noise.clone();
        for i in 5..values.len() {
            values[i] = 0.95 * values[i - 5] + (1.0 - 0.95_f64.powi(2)).sqrt() * noise[i];
        }
        values
    };
    let found = |draw: u64| {
        let values = series(draw);
        fit(&Rows::new(&values, 5).unwrap(), &settings).unwrap().state.experts.len()
    };
    let share = level(DRAWS, found);
    assert!(share <= 0.15, "{share}");
    let values = series(0);
    let unsaid = fit(&Rows::new(&values, 5).unwrap(), &Settings::default()).unwrap();
    assert!(unsaid.notices.iter().any(|n| matches!(n, Notice::Neighbours { .. })));
}

#[test]
fn rows_of_a_block_are_worth_fewer() {
    // 40 blocks of 25 rows that share a part.
    let blocks: Vec<usize> = (0..1000).map(|i| i / 25).collect();
    let found = |draw: u64| {
        let (own, part) = (normals(200, 4000 + draw), normals(5000, 6000 + draw));
        let value = |(i, x): (usize, &f64)| 0.6 * x + 0.8 * own[5 * blocks[i / 5] + i % 5];
        let values: Vec<f64> = part.iter().enumerate().map(value).collect();
        let rows = Rows::new(&values, 5).unwrap().in_blocks(&blocks).unwrap();
        fit(&rows, &Settings::default()).unwrap().state.experts.len()
    };
    let share = level(DRAWS, found);
    assert!(share <= 0.15, "{share}");
}
