//! Outliers do not decide: the density of the other rows is that of a fit without them.

use crate::common::{crabs, laplace, mixed, normals, rng};
use rand::RngExt;
use rand_distr::{Cauchy, Distribution, StandardNormal, StudentT};
use upoe::engine::Memory;
use upoe::{Event, Fit, Fitter, Notice, Precision, Rows, Settings, Whitening, fit};

fn rows(values: &[f64], columns: usize) -> Rows<'_> {
    Rows::new(values, columns).expect("rows")
}

fn fitted(values: &[f64], columns: usize) -> Fit {
    fit(&rows(values, columns), &Settings::default()).expect("a fit")
}

fn mean_ln_p(fit: &Fit, values: &[f64], columns: usize) -> f64 {
    let ln_p = fit.model.score(&rows(values, columns)).expect("scores");
    ln_p.iter().sum::<f64>() / ln_p.len() as f64
}

/// Five columns with one common cause.
fn correlated(n: usize, seed: u64) -> Vec<f64> {
    let cause = |row: &[f64]| row.iter().map(|x| 0.6 * x + row[0]).collect::<Vec<_>>();
    normals(5 * n, seed).chunks(5).flat_map(cause).collect()
}

#[test]
fn one_value_does_not_decide() {
    for clean in [normals(2000 * 5, 1), correlated(2000, 2), laplaces(2000 * 5, 3)] {
        let reference = fitted(&clean, 5);
        let due = mean_ln_p(&reference, &clean, 5);
        for far in [1e15, -1e6, 1e4, 1e300] {
            let mut values = clean.clone();
            let mut row = values[50..55].to_vec();
            row[2] = far;
            values.splice(85..85, row);
            let fit = fitted(&values, 5);
            let got = mean_ln_p(&fit, &clean, 5);
            assert!((got - due).abs() < 1e-12, "{far}: {got} instead of {due}");
            assert_eq!(fit.left_out, [17]);
            let said = fit.notices[0].to_string();
            assert!(said.contains("1 of 2001 training rows lies too far away"), "{said}");
            assert!(said.contains("row 18 (column 3: "), "{said}");
            assert_eq!(fit.state.path, reference.state.path);
        }
    }
}

/// The ways in which 1 % of the rows lie at 10 deviations.
fn contaminated(clean: &[f64], columns: usize, way: usize) -> Vec<f64> {
    let n = clean.len() / columns;
    let deviation = |k: usize| {
        let of = |f: &dyn Fn(f64) -> f64| {
            clean.iter().skip(k).step_by(columns).map(|x| f(*x)).sum::<f64>() / n as f64
        };
        (of(&|x| x * x) - of(&|x| x).powi(2)).sqrt()
    };
    let deviations: Vec<f64> = (0..columns).map(deviation).collect();
    let mut rng = rng(77);
    let mut values = clean.to_vec();
    for (i, row) in clean.chunks(columns).take(n / 100).enumerate() {
        let shift = |(k, x): (usize, &f64)| {
            let noise: f64 = rng.sample(StandardNormal);
            x + deviations[k]
                * match way {
                    0 => 10.0,                                               // every column
                    1 => 10.0 * f64::from(u8::from(k == 1)),                 // one column
                    2 => 10.0 * f64::from(u8::from(k == i % columns)),       // one column of many
                    3 => 10.0 * noise,                                       // noise everywhere
                    4 => 10.0 * noise * f64::from(u8::from(k == 1)),         // noise in one column
                    5 => [10.0, -10.0][i % 2] * f64::from(u8::from(k == 0)), // both sides
                    6 => 10.0 * [0.7, -0.5, 0.1, 0.4, -0.3][k % 5],          // one direction
                    _ => 10.0 - x / deviations[k] + 0.01 * noise,            // one point
                }
        };
        values.extend(row.iter().enumerate().map(shift));
    }
    values
}

#[test]
fn one_percent_at_ten_deviations_costs_the_others_little() {
    for clean in [normals(2000 * 5, 4), correlated(2000, 5)] {
        let due = mean_ln_p(&fitted(&clean, 5), &clean, 5);
        for way in 0..8 {
            let fit = fitted(&contaminated(&clean, 5, way), 5);
            let got = mean_ln_p(&fit, &clean, 5);
            assert!((got - due).abs() < 0.2, "way {way}: {got} instead of {due}");
        }
    }
}

#[test]
fn a_group_across_the_structure_of_the_others_is_left_out() {
    let exponential = |n: usize| laplaces(n, 27).into_iter().map(f64::abs).collect::<Vec<_>>();
    for (clean, columns) in [(laplaces(2000 * 5, 26), 5), (exponential(1000 * 12), 12)] {
        let (n, due) = (clean.len() / columns, fitted(&clean, columns));
        for way in [0, 5] {
            // In every column, all on one side; and at both ends of one column, which an expert describes.
            let values = contaminated(&clean, columns, way);
            let fit = fitted(&values, columns);
            let left_out: Vec<usize> = if way == 0 { (n..n + n / 100).collect() } else { vec![] };
            assert_eq!(fit.left_out, left_out, "{columns} columns, way {way}");
            let said = fit.notices.iter().any(|n| matches!(n, Notice::Outliers { .. }));
            assert_eq!(said, way == 0);
            if way == 0 {
                assert_eq!(fit.state.path, due.state.path);
                // Layers can describe such a group.
                let deep = Settings::default().with(|s| s.depth = Some(2));
                let deep = upoe::fit(&rows(&values, columns), &deep).expect("a fit");
                assert_eq!(deep.left_out, [0; 0]);
            }
        }
    }
}

fn cauchy(n: usize, seed: u64) -> Vec<f64> {
    let (mut rng, law) = (rng(seed), Cauchy::new(0.0, 1.0).expect("a law"));
    (0..n).map(|_| law.sample(&mut rng)).collect()
}

#[test]
fn independent_cauchy_columns_get_their_density() {
    for (n, columns) in [(2000, 5), (5000, 10)] {
        let fit = fitted(&cauchy(n * columns, 6), columns);
        let fresh = cauchy(n * columns, 7);
        let ln_p = |x: &f64| -(std::f64::consts::PI * (1.0 + x * x)).ln();
        let truth = fresh.iter().map(ln_p).sum::<f64>() / n as f64;
        let loss = (truth - mean_ln_p(&fit, &fresh, columns)) / columns as f64;
        assert!(loss.abs() < 0.1, "{n} × {columns}: {loss} nats per column");
        assert!(fit.left_out.len() < n / 50, "{} rows left out", fit.left_out.len());
    }
}

fn laplaces(n: usize, seed: u64) -> Vec<f64> {
    let mut rng = rng(seed);
    (0..n).map(|_| laplace(&mut rng)).collect()
}

fn students(n: usize, degrees_of_freedom: f64, seed: u64) -> Vec<f64> {
    let (mut rng, law) = (rng(seed), StudentT::new(degrees_of_freedom).expect("a law"));
    (0..n).map(|_| law.sample(&mut rng)).collect()
}

/// Whether the fit has the bits that it has with the sphering of all rows.
fn untouched(name: &str, values: &[f64], columns: usize) {
    // So that repeated rows count as often as they are there, as below.
    let settings = Settings::default().with(|s| s.counts = true);
    let fit = upoe::fit(&rows(values, columns), &settings).expect("a fit");
    assert_eq!(fit.left_out, [0; 0], "{name}");
    assert!(!fit.notices.iter().any(|n| matches!(n, Notice::Outliers { .. })), "{name}");
    let (sorted, weights) = rows(values, columns).canonical();
    let mut all = rows(&sorted, columns);
    if let Some(weights) = &weights {
        all = all.weighted(weights).expect("weights");
    }
    let whitening = Whitening::fit(&all, settings.dims).expect("a whitening");
    let x = whitening.sphere(&all).expect("sphered rows");
    let engine = Memory::<f64>::new(x, whitening.dims(), weights).expect("an engine");
    let plain = Fitter::new(settings).fit_engine(whitening, &engine, None).expect("a fit");
    assert_eq!(fit.state, plain.state, "{name}");
    let score = |fit: &Fit| fit.model.score(&rows(values, columns)).expect("scores");
    assert_eq!(score(&fit), score(&plain), "{name}");
}

#[test]
fn clean_tables_keep_their_bits() {
    let of = |values: Vec<f64>, f: fn(f64) -> f64| values.into_iter().map(f).collect::<Vec<_>>();
    untouched("Gaussian", &normals(3000, 8), 3);
    untouched("correlated", &correlated(600, 9), 5);
    untouched("Student-t 5", &students(6000, 5.0, 10), 4);
    untouched("Student-t 3", &students(9000, 3.0, 11), 3);
    untouched("Student-t 2", &students(6000, 2.0, 12), 3);
    untouched("Laplace", &laplaces(6000, 13), 4);
    untouched("exponential", &of(laplaces(6000, 14), f64::abs), 3);
    untouched("lognormal", &of(normals(6000, 15), f64::exp), 3);
    untouched("counts", &of(students(6000, 3.0, 16), f64::round), 3);
    untouched("groups", &mixed(), 5);
    untouched("Crabs", &crabs().0, 5);
    untouched("few rows", &normals(24, 17), 3);
    untouched("fewer rows than columns", &normals(20 * 30, 18), 30);
}

#[test]
fn rare_values_and_rare_groups_are_structure() {
    let n = 2000;
    let noise = normals(4 * n, 19);
    let table = |first: &dyn Fn(usize, &[f64]) -> f64| -> Vec<f64> {
        let row = |(i, e): (usize, &[f64])| [first(i, e), e[1], e[2] + 0.5 * e[1], e[3]];
        noise.chunks(4).enumerate().flat_map(row).collect()
    };
    let every = |i: usize, k: usize| f64::from(u8::from(i.is_multiple_of(k)));
    untouched("a flag, 1 %", &table(&|i, _| every(i, 100)), 4);
    untouched("a flag, one row", &table(&|i, _| every(i, n)), 4);
    untouched("95 % zeros", &table(&|i, e| every(i, 20) * (4.0 + 1.5 * e[0]).exp()), 4);
    untouched("88 % zeros", &table(&|i, e| every(i, 8) * (4.0 + e[0]).exp()), 4);
    untouched("a relation with exceptions", &table(&|i, e| e[1] + e[3] + every(i, 50) * e[0]), 4);
    untouched("a rare group", &table(&|i, e| e[0] + 12.0 * every(i, 100)), 4);
    // Four groups of 1 %, each in its own column.
    let groups = noise.chunks(4).enumerate().flat_map(|(i, e)| {
        (0..4).map(move |k| e[k] + if i % 100 == k { 15.0 } else { 0.0 }).collect::<Vec<_>>()
    });
    untouched("rare groups", &groups.collect::<Vec<f64>>(), 4);
}

#[test]
fn an_outlier_of_a_relation_between_columns_is_found() {
    // The columns agree to 1e-4; in one row they differ by 4, which is not much in either.
    let clean: Vec<f64> =
        normals(4000, 20).chunks(2).flat_map(|e| [e[0], e[0] + 1e-4 * e[1]]).collect();
    let due = mean_ln_p(&fitted(&clean, 2), &clean, 2);
    let mut values = clean.clone();
    values.extend([2.0, -2.0]);
    let fit = fitted(&values, 2);
    let got = mean_ln_p(&fit, &clean, 2);
    assert!((got - due).abs() < 1e-9, "{got} instead of {due}");
    assert_eq!(fit.left_out, [2000]);
}

#[test]
fn what_is_left_out_does_not_depend_on_order_weights_or_threads() {
    let clean = correlated(2000, 21);
    let mut values = contaminated(&clean, 5, 3);
    values.extend([1e9, 0.0, 0.0, 0.0, 1.0]);
    let n = values.len() / 5;
    let first = fitted(&values, 5);
    assert_eq!(first.left_out, (2000..n).collect::<Vec<_>>());
    let backwards: Vec<f64> = values.chunks(5).rev().flatten().copied().collect();
    let reversed = fitted(&backwards, 5);
    assert_eq!(reversed.left_out, (0..n - 2000).collect::<Vec<_>>());
    assert_eq!(reversed.state, first.state);
    for threads in [1, 8] {
        let settings = Settings::default().with(|s| s.threads = Some(threads));
        assert_eq!(fit(&rows(&values, 5), &settings).expect("a fit").state, first.state);
    }
    // Each row twice, or each with weight 2, and rows of weight 0 between them.
    let twice: Vec<f64> = values.chunks(5).flat_map(|r| [r, r].concat()).collect();
    let weights: Vec<f64> = (0..2 * n).map(|i| [2.0, 0.0][i % 2]).collect();
    let weighted = rows(&twice, 5).weighted(&weights).expect("weights");
    let weighted = fit(&weighted, &Settings::default()).expect("a fit");
    assert_eq!(weighted.left_out, (2000..n).map(|i| 2 * i).collect::<Vec<_>>());
    assert_eq!(weighted.state, fitted(&twice, 5).state);
}

#[test]
fn outliers_among_few_rows_and_dependent_columns_are_left_out() {
    // Fewer rows than columns, a copied column, many rows, single precision.
    let copied: Vec<f64> = normals(600, 23).chunks(2).flat_map(|e| [e[0], e[1], e[0]]).collect();
    for (clean, columns) in [(normals(40 * 60, 22), 60), (copied, 3), (normals(36_000, 24), 3)] {
        for precision in [Precision::F64, Precision::F32] {
            let settings = Settings::default().with(|s| s.precision = precision);
            let mut values = clean.clone();
            let mut row = clean[..columns].to_vec();
            row[0] = 1e12;
            row[columns - 1] = 1e12;
            values.extend(row);
            let reference = fit(&rows(&clean, columns), &settings).expect("a fit");
            let fit = fit(&rows(&values, columns), &settings).expect("a fit");
            assert_eq!(fit.left_out, [clean.len() / columns]);
            assert_eq!(fit.state, reference.state);
        }
    }
}

#[test]
fn held_out_outliers_are_scored_and_training_figures_leave_theirs_out() {
    let clean = normals(1500, 25);
    let far = [0.0, 1e7, 0.0];
    let values = [&clean[..], &far].concat();
    let both = rows(&values, 3);
    let held = [&clean[..30], &far].concat();
    let held = rows(&held, 3);
    let fit = Fitter::new(Settings::default()).holdout(held).fit(&both).expect("a fit");
    assert!(fit.state.path[0].holdout.is_some_and(|ln_p| ln_p < -1e9));
    let figures = fit.evaluate(&both, Some(&held)).expect("figures");
    let due = mean_ln_p(&fit, &clean, 3);
    assert!((figures.log_density.train.expect("a mean") - due).abs() < 1e-9);
    assert_eq!((figures.rows, figures.weight, figures.holdout_rows), (500, 500.0, 11));
    assert!(figures.log_density.holdout.is_some_and(|ln_p| ln_p < -1e9));
}

#[test]
fn a_fit_with_outliers_continues_with_the_same_bits() {
    let mut values = mixed();
    values[7] = 1e8;
    let whole = fitted(&values, 5);
    assert_eq!(whole.left_out, [1]);
    let mut kept = None;
    Fitter::new(Settings::default())
        .observe(|event| {
            if let (Event::Learned(state), None) = (event, &kept) {
                kept = Some((*state).clone());
            }
            true
        })
        .fit(&rows(&values, 5))
        .expect("a fit");
    let kept = kept.expect("a state");
    assert!(kept.experts.len() < whole.state.experts.len());
    let resumed = Fitter::new(Settings::default()).resume(kept).fit(&rows(&values, 5));
    assert_eq!(resumed.expect("a fit").state, whole.state);
}
