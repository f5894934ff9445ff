//! Rows with missing cells: the detector, and the parts of ln p.

use crate::common::{crabs, normals};
use upoe::{
    Detector, DetectorFit, DetectorSettings, Error, Explainer, Fitted, Rows, Settings,
    explain_present, fit,
};

const NAN: f64 = f64::NAN;

/// Rows of six columns that depend on each other, some of whose cells are missing.
fn holed(rows: usize, seed: u64, share: f64) -> Vec<f64> {
    let z = normals(rows * 7, seed);
    let gone = normals(rows * 6, seed + 1);
    let edge = -1.2816 * (share / 0.1); // 10 % of normal values lie below −1.2816.
    let mut values = Vec::with_capacity(rows * 6);
    for i in 0..rows {
        let (common, own) = (z[7 * i], &z[7 * i + 1..7 * i + 7]);
        for (c, own) in own.iter().enumerate() {
            let missing = share > 0.0 && gone[6 * i + c] < edge;
            values.push(if missing { NAN } else { 10.0 + common + 0.5 * own });
        }
    }
    values
}

fn detector(values: &[f64]) -> DetectorFit {
    let rows = Rows::new(values, 6).unwrap();
    Detector::fit(&rows, &DetectorSettings::default()).unwrap()
}

#[test]
fn rows_with_missing_cells_are_judged_by_the_others() {
    let values = holed(2_000, 1, 0.1);
    let share = values.iter().filter(|x| x.is_nan()).count() as f64 / values.len() as f64;
    assert!(share > 0.05, "{share}");
    let fitted = detector(&values);
    // New rows: p-values keep their promise, for whole rows and for rows with many missing cells alike.
    let new = holed(4_000, 7, 0.1);
    let mut some = new.clone();
    some.chunks_mut(6).for_each(|row| (row[1], row[4]) = (NAN, NAN));
    let whole = holed(4_000, 11, 0.0);
    for rows in [&new, &some, &whole] {
        let oddness = fitted.detector.oddness(&Rows::new(rows, 6).unwrap()).unwrap();
        let listed = oddness.iter().filter(|o| fitted.detector.p_value(**o) <= 0.05).count();
        let share = listed as f64 / 4_000.0;
        assert!((0.03..0.075).contains(&share), "{share}");
    }
    // Two cells say that the third is odd, though the rest is missing.
    let odd = [10.0, 10.1, 16.0, NAN, NAN, NAN];
    let why = fitted.detector.explain(&odd).unwrap();
    assert!(fitted.detector.p_value(why.oddness) < 0.005, "{}", why.oddness);
    assert_eq!(why.reasons(&odd)[0].column, 2);
    assert!(why.reasons(&odd).iter().all(|reason| reason.column < 3));
    let ordinary =
        fitted.detector.oddness(&Rows::new(&[10.0, 10.1, NAN, NAN, NAN, NAN], 6).unwrap());
    assert!(ordinary.unwrap()[0] < why.oddness - 3.0);
}

#[test]
fn parts_of_oddness_add_up_over_the_cells_that_are_there() {
    let values = holed(600, 3, 0.1);
    let fitted = detector(&values);
    for row in values.chunks(6).take(100).chain([&[NAN; 6][..], &[NAN, 1e9, NAN, NAN, 0.0, NAN]]) {
        let oddness = fitted.detector.oddness(&Rows::new(row, 6).unwrap()).unwrap()[0];
        let o = fitted.detector.explain(row).unwrap();
        let by_direction =
            o.base + o.directions.iter().sum::<f64>() + o.rest + o.alone.iter().sum::<f64>();
        let by_column = o.base + o.columns.iter().sum::<f64>();
        for sum in [by_direction, by_column, o.oddness] {
            assert!((sum - oddness).abs() < 1e-9 * (1.0 + oddness.abs()), "{sum} {oddness}");
        }
        for (c, x) in row.iter().enumerate().filter(|(_, x)| x.is_nan()) {
            assert_eq!((o.columns[c], o.alone[c]), (0.0, 0.0), "{x}");
            assert!(o.expected[c].is_some_and(|e| e.value.is_finite()));
        }
    }
    let nothing = fitted.detector.oddness(&Rows::new(&[NAN; 6], 6).unwrap()).unwrap()[0];
    assert!((nothing - fitted.detector.base()).abs() < 1e-12);
}

#[test]
fn a_detector_needs_values_in_each_column() {
    let values: Vec<f64> = (0..40).flat_map(|i| [f64::from(i), NAN]).collect();
    let failed = Detector::fit(&Rows::new(&values, 2).unwrap(), &DetectorSettings::default());
    assert_eq!(failed.err(), Some(Error::EmptyColumn { column: 1 }));
    // A row without any value is not learned from, and not odd.
    let mut values = holed(300, 5, 0.0);
    values[..6].fill(NAN);
    let fitted = detector(&values);
    assert_eq!(fitted.detector.training_rows(), 299.0);
    assert!((fitted.oddness[0] - fitted.detector.base()).abs() < 1e-12);
}

#[test]
fn missing_cells_hide_little_of_what_is_odd() {
    // Few cells of a core with outliers: the same rows are the oddest as without missing cells.
    let mut values = holed(500, 9, 0.0);
    for i in 0..10 {
        values[6 * 50 * i + i % 6] += 6.0;
    }
    let whole = detector(&values);
    let mut some = values.clone();
    some.iter_mut().enumerate().filter(|(k, _)| k % 7 == 3).for_each(|(_, x)| *x = NAN);
    let fitted = detector(&some);
    let there = |i: &usize| some[6 * 50 * i + i % 6].is_finite();
    for i in (0..10).filter(there) {
        let rank = fitted.oddness.iter().filter(|o| **o > fitted.oddness[50 * i]).count();
        assert!(rank < 12, "{i} {rank} {}", whole.oddness[50 * i]);
    }
}

#[test]
fn parts_of_ln_p_add_up_where_cells_are_missing() {
    let (values, _) = crabs();
    let rows = Rows::new(&values, 5).unwrap();
    let settings = Settings::default().with(|s| s.experts = Some(2));
    let one = fit(&rows, &settings).unwrap();
    let deep = fit(&rows, &Settings::default().with(|s| s.depth = Some(2))).unwrap();
    let mut row = values[..5].to_vec();
    (row[1], row[3]) = (NAN, NAN);
    let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-9 * (1.0 + b.abs()), "{a} {b}");
    for fitted in [one.fitted(), deep.fitted()] {
        let explainer = Explainer::new(fitted, 0).unwrap();
        let ln_p = |row: &[f64]| {
            fitted.density().score_present(&Rows::new(row, 5).unwrap()).unwrap()[0].value
        };
        for row in [&row[..], &values[..5], &[NAN; 5]] {
            let parts = explainer.explain_present(fitted, row, 4).unwrap();
            close(parts.ln_p, ln_p(row));
            close(parts.baseline + parts.parts.iter().sum::<f64>(), ln_p(row));
            let columns = explainer.columns_present(fitted, row, 4).unwrap();
            close(parts.baseline + columns.iter().sum::<f64>(), ln_p(row));
        }
        assert_eq!(
            explainer.explain_present(fitted, &values[..5], 0).unwrap(),
            explainer.explain(fitted, &values[..5]).unwrap()
        );
    }
    let of = explain_present(&one.model, &row, 4).unwrap();
    close(of.baseline + of.experts.iter().sum::<f64>() + of.rest, of.ln_p);
    for (expert, by) in of.experts.iter().zip(&of.experts_by_column) {
        close(by.iter().sum(), *expert);
    }
    close(of.rest_by_column.iter().sum(), of.rest);
    let same = Explainer::new(Fitted::from(&one.model), 0).unwrap();
    assert_eq!(same.explain_present(one.fitted(), &row, 4).unwrap().parts[..2], of.experts[..]);
}
