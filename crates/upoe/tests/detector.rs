//! Laws of the detector of odd rows.

use crate::common::{apply, crabs, mixed, normals, rotation};
use upoe::evaluate::false_discovery;
use upoe::{Detector, DetectorFit, DetectorSettings, Error, Rows};

fn fit(values: &[f64], columns: usize) -> DetectorFit {
    let rows = Rows::new(values, columns).unwrap();
    Detector::fit(&rows, &DetectorSettings::default()).unwrap()
}

fn oddness(fit: &DetectorFit, values: &[f64]) -> Vec<f64> {
    fit.detector.oddness(&Rows::new(values, fit.detector.columns()).unwrap()).unwrap()
}

#[test]
fn parts_add_up_to_the_oddness() {
    let mut values = mixed();
    let fitted = fit(&values, 5);
    values.truncate(200 * 5);
    values.extend([1e15, 0.0, 0.0, 0.0, 0.0, -3.0, 1e-300, 4.0, 1e300, -1e300]);
    let all = oddness(&fitted, &values);
    for (row, oddness) in values.chunks(5).zip(all) {
        let o = fitted.detector.explain(row).unwrap();
        let by_direction =
            o.base + o.directions.iter().sum::<f64>() + o.rest + o.alone.iter().sum::<f64>();
        let by_column = o.base + o.columns.iter().sum::<f64>();
        for sum in [by_direction, by_column, o.oddness] {
            assert!((sum - oddness).abs() < 1e-9 * (1.0 + oddness.abs()), "{sum} {oddness}");
        }
    }
}

#[test]
fn order_repeats_and_threads_do_not_matter_to_the_bit() {
    let values = mixed();
    let fitted = fit(&values, 5);
    let reversed: Vec<f64> = values.chunks(5).rev().flatten().copied().collect();
    let turned = fit(&reversed, 5);
    assert_eq!(turned.detector, fitted.detector);
    let back: Vec<f64> = turned.oddness.iter().rev().copied().collect();
    assert_eq!((back, turned.p_values.len()), (fitted.oddness.clone(), 600));

    let weights: Vec<f64> = (0..600).map(|i| f64::from(i % 3)).collect();
    let rows = Rows::new(&values, 5).unwrap().weighted(&weights).unwrap();
    let weighted = Detector::fit(&rows, &DetectorSettings::default()).unwrap();
    let repeat = |(i, row): (usize, &[f64])| row.repeat(i % 3);
    let repeated: Vec<f64> = values.chunks(5).enumerate().flat_map(repeat).collect();
    assert_eq!(fit(&repeated, 5).detector, weighted.detector);

    for threads in [1, 8] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        assert_eq!(pool.install(|| fit(&values, 5)).detector, fitted.detector);
    }
}

#[test]
fn units_of_columns_do_not_matter() {
    let values = mixed();
    let units = [1e-6, 1.0, 1e6, 3.0, 0.1];
    let change = |row: &[f64]| -> Vec<f64> {
        row.iter().zip(units).map(|(x, unit)| x * unit + 7.0 * unit).collect()
    };
    let changed: Vec<f64> = values.chunks(5).flat_map(change).collect();
    let (a, b) = (fit(&values, 5), fit(&changed, 5));
    let (a, b) = (oddness(&a, &values), oddness(&b, &changed));
    assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-6), "{:?}", &a[..5]);
}

/// Correlated Gaussian rows, some of them changed.
fn correlated(n: usize, d: usize, seed: u64) -> Vec<f64> {
    let mut mixing = rotation(d, 3);
    mixing.iter_mut().flatten().enumerate().for_each(|(i, m)| *m *= 1.0 + (i % d) as f64);
    apply(&mixing, &normals(n * d, seed), d)
}

#[test]
fn a_far_value_does_not_change_the_other_rows() {
    let mut values = correlated(1000, 6, 1);
    let before = oddness(&fit(&values, 6), &values);
    values[17] = 1e15;
    let after = oddness(&fit(&values, 6), &values);
    let top = after.iter().copied().fold(f64::MIN, f64::max);
    assert_eq!(after[2], top, "row 2 is the oddest");
    // Its own oddness changes the unit, so order is compared: of the 50 oddest others, 48 stay.
    let oddest = |oddness: &[f64]| -> Vec<usize> {
        let mut order: Vec<usize> = (0..1000).filter(|i| *i != 2).collect();
        order.sort_by(|a, b| oddness[*b].total_cmp(&oddness[*a]));
        order.truncate(50);
        order
    };
    let (before, after) = (oddest(&before), oddest(&after));
    let stay = after.iter().filter(|i| before.contains(i)).count();
    assert!(stay >= 48, "{stay}");
}

/// Shifts a cell of each of the first 30 rows by six deviations of its column.
fn shift(values: &mut [f64], d: usize) {
    let deviation = |c: usize| {
        let squares = values.chunks(d).map(|row| row[c] * row[c]).sum::<f64>();
        (squares / (values.len() / d) as f64).sqrt()
    };
    let deviations: Vec<f64> = (0..d).map(deviation).collect();
    for i in 0..30 {
        values[i * d + i % d] += 6.0 * deviations[i % d];
    }
}

#[test]
fn shifted_rows_are_found_and_the_shifted_column_is_blamed() {
    let (n, d) = (1000, 6);
    let mut values = correlated(n, d, 2);
    shift(&mut values, d);
    let fitted = fit(&values, d);
    let rows = Rows::new(&values, d).unwrap();
    let threshold = fitted.detector.threshold_of_share(&rows, 0.03).unwrap();
    let odd = oddness(&fitted, &values);
    assert_eq!(odd.iter().filter(|o| **o > threshold).count(), 30);
    assert!((0..30).filter(|i| odd[*i] > threshold).count() >= 29);
    let blamed = (0..30).filter(|i| {
        let row = rows.row(*i);
        let reasons = fitted.detector.explain(&row).unwrap().reasons(&row);
        reasons[0].column == i % d && reasons[0].expected.excludes(row[i % d])
    });
    assert!(blamed.count() >= 28);
    // More rows are odd than chance would give, and on clean rows about as many.
    let small = |fit: &DetectorFit| fit.p_values.iter().filter(|p| **p <= 0.01).count();
    assert!(small(&fitted) >= 25, "{}", small(&fitted));
    let clean = fit(&correlated(n, d, 5), d);
    assert!(small(&clean) <= 20, "{}", small(&clean));
    let discovered =
        |fit: &DetectorFit| false_discovery(&fit.p_values).iter().filter(|q| **q <= 0.1).count();
    assert!(discovered(&clean) <= 1, "{}", discovered(&clean));
    assert!(discovered(&fitted) >= 5, "{}", discovered(&fitted));
}

/// False alarms on fresh rows, as multiples of alpha, mean of many draws.
fn false_alarms(n: usize, d: usize, draws: u64, alpha: f64) -> f64 {
    let mut alarms = 0;
    for draw in 0..draws {
        let fitted = fit(&normals(n * d, 1000 + draw), d);
        let threshold = fitted.detector.threshold(alpha).unwrap();
        let fresh = oddness(&fitted, &normals(1000 * d, 900_000 + draw));
        alarms += fresh.iter().filter(|o| **o > threshold).count();
        if draw == 0 {
            let p: Vec<f64> = fresh.iter().map(|o| fitted.detector.p_value(*o)).collect();
            let same = fresh.iter().zip(p).all(|(o, p)| (*o > threshold) == (p <= alpha));
            assert!(same, "threshold and p-value disagree");
        }
    }
    alarms as f64 / (1000.0 * draws as f64 * alpha)
}

#[test]
fn false_alarms_on_fresh_rows_come_at_the_nominal_rate() {
    for (n, d, draws, alpha) in [(100, 5, 200, 0.05), (300, 10, 60, 0.05), (1000, 3, 30, 0.01)] {
        let ratio = false_alarms(n, d, draws, alpha);
        assert!((0.8..1.2).contains(&ratio), "{n} × {d}: {ratio}");
    }
}

#[test]
fn the_expected_value_is_the_regression_on_the_other_columns() {
    // y = 2 a − b + noise of deviation 0.1.
    let values: Vec<f64> = normals(3 * 4000, 8)
        .chunks(3)
        .flat_map(|e| [e[0], e[1], 2.0 * e[0] - e[1] + 0.1 * e[2]])
        .collect();
    let fitted = fit(&values, 3);
    let expected = fitted.detector.explain(&[1.0, 3.0, 50.0]).unwrap().expected[2].unwrap();
    assert!((expected.value - -1.0).abs() < 0.02, "{expected:?}");
    let (low, high) = (expected.low - expected.value, expected.high - expected.value);
    assert!((low + 0.1645).abs() < 0.01 && (high - 0.1645).abs() < 0.01, "{low} {high}");
}

#[test]
fn parts_of_a_detector_make_it_again() {
    let fitted = fit(&crabs().0, 5);
    let parts = fitted.detector.to_parts();
    assert_eq!(Detector::from_parts(parts.clone()).unwrap(), fitted.detector);
    let mut short = parts.clone();
    short.centre.pop();
    let mut infinite = parts.clone();
    infinite.rarity[3] = f64::NAN;
    let mut flat = parts.clone();
    flat.spread[0] = 0.0;
    let mut unordered = parts;
    unordered.oddness.swap(0, 150);
    for wrong in [short, infinite, flat, unordered] {
        assert!(matches!(Detector::from_parts(wrong), Err(Error::InvalidSetting { .. })));
    }
}

#[test]
fn hard_tables_are_judged_or_refused() {
    let refused = |values: &[f64], columns: usize| {
        let rows = Rows::new(values, columns).unwrap();
        Detector::fit(&rows, &DetectorSettings::default()).unwrap_err()
    };
    assert!(matches!(refused(&[1.0, 2.0], 2), Error::TooFewRows { rows: 1, needed: 2 }));
    assert!(matches!(refused(&[1.0; 10], 2), Error::NoVariance { columns: 2 }));
    assert!(matches!(refused(&[1.0, f64::INFINITY, 3.0], 1), Error::NonFinite { row: 1, .. }));

    // A constant column, a column that is nearly so, ties, a duplicated column, few rows, 1e±300.
    let tables: Vec<(Vec<f64>, usize)> = vec![
        (normals(200, 1).iter().flat_map(|x| [*x, 7.0]).collect(), 2),
        ((0..200).flat_map(|i| [f64::from(i % 2), f64::from(u8::from(i == 3))]).collect(), 2),
        (normals(200, 2).iter().flat_map(|x| [x.round(), x.round()]).collect(), 2),
        (normals(10 * 50, 3), 50),
        (vec![0.0, 1.0], 1),
        (vec![0.0, 0.0, 0.0, 0.0, 1.0], 1),
        (normals(100, 4).iter().map(|x| x * 1e300).collect(), 2),
        (normals(100, 5).iter().map(|x| x * 1e-300).collect(), 2),
    ];
    for (case, (values, columns)) in tables.iter().enumerate() {
        let fitted = fit(values, *columns);
        let odd = oddness(&fitted, values);
        assert!(odd.iter().chain(&fitted.oddness).all(|o| o.is_finite()), "{case}: {odd:?}");
        assert!(fitted.p_values.iter().all(|p| (0.0..=1.0).contains(p)), "{case}");
        let why = fitted.detector.explain(&values[..*columns]).unwrap();
        assert!((why.oddness - odd[0]).abs() < 1e-9 * (1.0 + odd[0].abs()), "{case}");
        assert!(fitted.detector.threshold(0.01).unwrap().is_finite(), "{case}");
    }
    assert_eq!(fit(&tables[0].0, 2).detector.constant(), [1]);
    let wide = fit(&tables[0].0, 2).detector.oddness(&Rows::new(&[1.0; 3], 3).unwrap());
    assert!(matches!(wide, Err(Error::Shape { .. })));
}

/// Rows of which some lie farther out than others, in all columns: Student-t with 3 degrees of freedom.
fn spread_out(n: usize, d: usize, seed: u64) -> Vec<f64> {
    let mut values = correlated(n, d, seed);
    for (row, e) in values.chunks_mut(d).zip(normals(3 * n, seed + 100).chunks(3)) {
        let length = (e.iter().map(|e| e * e).sum::<f64>() / 3.0).sqrt();
        row.iter_mut().for_each(|x| *x /= length);
    }
    values
}

#[test]
fn a_cell_that_the_others_contradict_comes_before_rows_that_are_far() {
    let (n, d) = (1000, 6);
    let mut found = 0;
    for seed in 2..8 {
        let mut values = spread_out(n, d, seed);
        shift(&mut values, d);
        let fitted = fit(&values, d);
        let rows = Rows::new(&values, d).unwrap();
        let threshold = fitted.detector.threshold_of_share(&rows, 0.03).unwrap();
        let odd = oddness(&fitted, &values);
        found += (0..30).filter(|i| odd[*i] > threshold).count();
    }
    assert!(found >= 125, "{found} of 180");
}

#[test]
fn a_cell_is_judged_by_those_that_are_there() {
    let d = 6;
    let values = correlated(1000, d, 2);
    let fitted = fit(&values, d);
    let mut row = values[..d].to_vec();
    row[0] += 100.0;
    for missing in [None, Some(3)] {
        missing.iter().for_each(|c| row[*c] = f64::NAN);
        let o = fitted.detector.explain(&row).unwrap();
        assert!(o.alone[0] > 10.0 && o.columns[0] > o.alone[0], "{o:?}");
        assert!((1..d).all(|c| o.alone[c] < 1.0), "{o:?}");
        let sum = o.base + o.directions.iter().sum::<f64>() + o.rest + o.alone.iter().sum::<f64>();
        assert!((sum - oddness(&fitted, &row)[0]).abs() < 1e-9 * sum);
    }
}

#[test]
fn copies_of_rows_are_as_likely_in_a_fold_as_others() {
    // Rows of a few hundred kinds, some of them frequent: most new rows are copies of training rows.
    let kinds = normals(400 * 4, 21);
    let kind = |e: f64| (400.0 * (0.5 + 0.5 * (e / 1.5).tanh()).powi(4)) as usize;
    let draw = |n: usize, seed: u64| -> Vec<f64> {
        normals(n, seed).iter().flat_map(|e| kinds[4 * kind(*e)..][..4].to_vec()).collect()
    };
    let mut alarms = 0;
    for seed in 0..20 {
        let fitted = fit(&draw(1500, 300 + seed), 4);
        let threshold = fitted.detector.threshold(0.05).unwrap();
        let fresh = oddness(&fitted, &draw(1500, 900 + seed));
        alarms += fresh.iter().filter(|o| **o > threshold).count();
    }
    let rate = alarms as f64 / (20.0 * 1500.0);
    assert!((0.04..0.06).contains(&rate), "{rate}");
}

#[test]
fn rows_of_one_block_are_judged_without_the_whole_block() {
    // Each row is there ten times, nearly: without blocks its twins judge it.
    let centres = normals(30 * 4, 9);
    let noise = normals(300 * 4, 10);
    let values: Vec<f64> =
        (0..300 * 4).map(|i| centres[i / 40 * 4 + i % 4] + 1e-3 * noise[i]).collect();
    let blocks: Vec<usize> = (0..300).map(|i| i / 10).collect();
    let rows = Rows::new(&values, 4).unwrap();
    let apart = Detector::fit(&rows, &DetectorSettings::default()).unwrap();
    let blocked = rows.in_blocks(&blocks).unwrap();
    let together = Detector::fit(&blocked, &DetectorSettings::default()).unwrap();
    let mean = |fit: &DetectorFit| fit.oddness.iter().sum::<f64>() / 300.0;
    assert!(mean(&together) > mean(&apart) + 0.05, "{} {}", mean(&together), mean(&apart));
}
