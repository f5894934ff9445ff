//! Hard inputs: each gives the right answer or a clear error.

use crate::common::{PARALLEL, normals};
use upoe::expert::Family;
use upoe::{Dims, Error, Fitter, Learner, Notice, Rows, Settings, fit};

fn quick() -> Settings {
    Settings::default().with(|s| s.starts = Some(8))
}

#[test]
fn nan_and_infinities_are_named_with_row_and_column() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let mut values = normals(30, 1);
        values[3 * 7 + 2] = bad;
        let error = fit(&Rows::new(&values, 3).unwrap(), &quick()).unwrap_err();
        assert!(matches!(error, Error::NonFinite { row: 7, column: 2, .. }), "{error}");
        assert!(error.to_string().contains("drop the row"));
    }
}

#[test]
fn scoring_refuses_what_is_not_finite() {
    let values = normals(60, 1);
    let rows = Rows::new(&values, 3).unwrap();
    let model = fit(&rows, &quick()).unwrap().model;
    let bad = [0.0, 1.0, 2.0, 0.0, f64::NAN, 2.0];
    let bad = Rows::new(&bad, 3).unwrap();
    for error in [model.score(&bad).unwrap_err(), model.transform(&bad).unwrap_err()] {
        assert!(matches!(error, Error::NonFinite { row: 1, column: 1, .. }), "{error}");
    }
    assert!(model.ln_p(&bad.row(1)).is_err() && model.explain(&bad.row(1)).is_err());
}

#[test]
fn rows_beyond_all_squares_score_minus_infinity_not_nan() {
    let values = normals(300, 9);
    let rows = Rows::new(&values, 3).unwrap();
    let copied: Vec<f64> = values.iter().flat_map(|x| [*x, *x]).collect();
    let degenerate = Rows::new(&copied, 2).unwrap();
    for (rows, dims) in [(rows, Dims::Count(2)), (rows, Dims::All), (degenerate, Dims::All)] {
        let settings = quick().with(|s| s.dims = dims);
        let far = vec![1.7e308; rows.columns()];
        let far = Rows::new(&far, rows.columns()).unwrap();
        let model = fit(&rows, &settings).unwrap().model;
        assert_eq!(model.score(&far).unwrap(), [f64::NEG_INFINITY]);
        assert_eq!(model.ln_p(&far.row(0)).unwrap(), f64::NEG_INFINITY);
        // Held out, they are as improbable.
        let held = Fitter::new(settings.clone()).holdout(far).fit(&rows).unwrap();
        assert!(held.state.path.iter().all(|p| p.holdout == Some(f64::NEG_INFINITY)));
    }
}

#[test]
fn explanations_of_far_rows_are_numbers_or_minus_infinity() {
    let values: Vec<f64> = normals(1200, 9).iter().map(|x| x * x * x).collect();
    let square = Rows::new(&values, 3).unwrap();
    let copied: Vec<f64> = values.chunks(2).flat_map(|r| [r[0], r[1], r[0], 7.0]).collect();
    let degenerate = Rows::new(&copied, 4).unwrap();
    let sizes = [0.0, 1.0, -40.0, 1e100, -1e153, 1e155, -1e160, 1e200, -1e300, 1.7e308, -1.7e308];
    for family in [Family::StudentT, Family::Mixture, Family::Tilt] {
        for (rows, dims) in [(square, Dims::Count(2)), (square, Dims::All), (degenerate, Dims::All)]
        {
            let settings = quick().with(|s| {
                (s.families, s.dims, s.stop) = (family.into(), dims, Some(upoe::Stop::Train));
            });
            let model = fit(&rows, &settings).unwrap().model;
            let cells = sizes.iter().flat_map(|a| sizes.iter().map(move |b| (*a, *b)));
            for (i, (a, b)) in cells.enumerate() {
                let mut row = rows.row(i % rows.len()).to_vec();
                row[i % 2] += a;
                row[2] += b;
                let why = model.explain(&row).unwrap();
                assert_eq!(why.ln_p, model.ln_p(&row).unwrap());
                let parts: Vec<f64> = why
                    .experts_by_column
                    .iter()
                    .flatten()
                    .chain(&why.rest_by_column)
                    .copied()
                    .collect();
                let wholes: Vec<f64> =
                    why.experts.iter().copied().chain([why.rest, why.baseline, why.ln_p]).collect();
                let legal = |x: &f64| x.is_finite() || *x == f64::NEG_INFINITY;
                assert!(parts.iter().chain(&wholes).all(legal), "{row:?} {why:?}");
                let size: f64 = parts.iter().map(|p| p.abs()).sum();
                let sum = why.baseline + why.experts.iter().sum::<f64>() + why.rest;
                if size.is_finite() {
                    assert!((sum - why.ln_p).abs() <= 1e-9 * size.max(1.0), "{row:?} {why:?}");
                } else {
                    assert_eq!(sum, f64::NEG_INFINITY, "{row:?} {why:?}");
                }
                // The far columns say so, and no other.
                if a.abs() > 1e155 && b == 0.0 && rows.columns() == 3 {
                    assert_eq!(why.rest_by_column[2], 0.0, "{row:?} {why:?}");
                }
            }
        }
    }
}

#[test]
fn rows_of_zero_weight_do_not_count_however_far_away() {
    for n in [60, 11_000] {
        let mut values = normals(2 * n, 3);
        let mut weights = vec![1.0; n];
        let near = Rows::new(&values[4..], 2).unwrap();
        let expected = fit(&near, &quick()).unwrap();
        values[..4].copy_from_slice(&[1e114, -1e120, 1e300, 5.0]);
        weights[..2].copy_from_slice(&[1e-300, 0.0]);
        let rows = Rows::new(&values, 2).unwrap().weighted(&weights).unwrap();
        let fitted = fit(&rows, &quick()).unwrap();
        assert!(fitted.state.path.iter().all(|p| p.train.is_finite()));
        assert_eq!(fitted.state.path.len(), expected.state.path.len());
        let (a, b) = (fitted.state.path[0].train, expected.state.path[0].train);
        assert!((a - b).abs() < 1e-12, "{a} {b}");
    }
}

#[test]
fn a_variance_that_overflows_spreads_too_far() {
    for far in [1e300, -1.7e308] {
        let values = [3.0, far, 3.1, 1.7e308, 2.0, 5e299, 1.0, 2.0];
        let error = fit(&Rows::new(&values, 2).unwrap(), &quick()).unwrap_err();
        assert!(error.to_string().contains("column 1 spreads too far"), "{error}");
    }
}

#[test]
fn too_few_rows_and_no_variance_are_errors() {
    let one = fit(&Rows::new(&[1.0, 2.0], 2).unwrap(), &quick()).unwrap_err();
    assert_eq!(one, Error::TooFewRows { rows: 1, needed: 2 });
    let none = fit(&Rows::new(&[], 2).unwrap(), &quick()).unwrap_err();
    assert_eq!(none, Error::TooFewRows { rows: 0, needed: 2 });
    let same = fit(&Rows::new(&[3.0, 4.0, 3.0, 4.0, 3.0, 4.0], 2).unwrap(), &quick()).unwrap_err();
    assert_eq!(same, Error::NoVariance { columns: 2 });
    let unequal = Rows::new(&[1.0, 2.0, 3.0], 2).unwrap_err();
    assert!(matches!(unequal, Error::Shape { expected: 4, got: 3, .. }), "{unequal}");
    let negative = Rows::new(&[1.0, 2.0, 3.0], 1).unwrap().weighted(&[1.0, -1.0, 1.0]).unwrap();
    assert_eq!(fit(&negative, &quick()).unwrap_err(), Error::Weight { row: 1, value: -1.0 });
}

#[test]
fn ties_end_at_a_bound_and_say_so() {
    // Half of the column is exactly zero.
    let values: Vec<f64> = normals(600, 6)
        .chunks(2)
        .enumerate()
        .flat_map(|(i, r)| [if i % 2 == 0 { 0.0 } else { 5.0 * r[0] }, r[1]])
        .collect();
    let rows = Rows::new(&values, 2).unwrap();
    for family in [Family::StudentT, Family::Mixture, Family::Tilt] {
        for learner in [Learner::Pursuit, Learner::Sequential, PARALLEL] {
            let fitted = fit(
                &rows,
                &quick().with(|s| {
                    s.families = family.into();
                    s.learner = learner;
                }),
            )
            .unwrap();
            assert!(fitted.model.score(&rows).unwrap().iter().all(|s| s.is_finite()));
            let bounded = fitted.notices.iter().any(|n| matches!(n, Notice::Bound { .. }));
            assert_eq!(
                bounded,
                family != Family::Tilt,
                "{family:?} {learner:?} {:?}",
                fitted.notices
            );
        }
    }
}

#[test]
fn more_experts_than_dimensions_stop_at_the_dimensions() {
    let values: Vec<f64> = normals(900, 8).iter().map(|z| z * z * z).collect();
    let fitted =
        fit(&Rows::new(&values, 3).unwrap(), &quick().with(|s| s.experts = Some(10))).unwrap();
    assert_eq!(fitted.model.experts().len(), 3);
    assert_eq!(fitted.stop, upoe::StopReason::Dimensions);
    let none =
        fit(&Rows::new(&values, 3).unwrap(), &quick().with(|s| s.experts = Some(0))).unwrap();
    assert!(none.model.experts().is_empty());
    let single = fit(&Rows::new(&values, 1).unwrap(), &quick()).unwrap();
    assert_eq!(single.model.experts().len(), 1);
}

#[test]
fn settings_outside_their_range_are_refused_by_name() {
    let values = normals(60, 9);
    let rows = Rows::new(&values, 3).unwrap();
    let refused = |s: Settings| match fit(&rows, &s).unwrap_err() {
        Error::InvalidSetting { name, .. } => name,
        other => panic!("{other}"),
    };
    assert_eq!(refused(quick().with(|s| s.tol = f64::NAN)), "tol");
    assert_eq!(refused(quick().with(|s| s.starts = Some(0))), "starts");
    assert_eq!(refused(quick().with(|s| s.threads = Some(0))), "threads");
    assert_eq!(refused(quick().with(|s| s.mixture_size = 0)), "mixture_size");
    assert_eq!(refused(quick().with(|s| s.fix_beta = Some(0.5))), "fix_beta");
    assert_eq!(refused(quick().with(|s| s.fix_mu = Some(vec![1.0; 5]))), "fix_mu");
    assert_eq!(refused(quick().with(|s| s.dims = Dims::Count(0))), "dims");
    let needs = quick().with(|s| s.stop = Some(upoe::Stop::Holdout));
    assert_eq!(fit(&rows, &needs).unwrap_err(), Error::NeedsHoldout);
}

#[test]
fn tiny_and_extreme_tables_never_panic() {
    let tables: Vec<(Vec<f64>, usize)> = vec![
        (vec![1.0, 2.0], 1),
        (vec![1.0, 2.0, 2.0, 1.0], 2),
        (vec![1.0, 2.0, 4.0], 1),
        (normals(12, 1).iter().map(|x| x * 1e-300).collect(), 3),
        (normals(12, 2).iter().map(|x| x * 1e150).collect(), 3),
        (
            normals(30, 3)
                .iter()
                .enumerate()
                .map(|(i, x)| if i == 4 { 1e15 } else { *x })
                .collect(),
            3,
        ),
        (vec![f64::MAX, -f64::MAX, f64::MAX, 1.0], 1),
        ((0..40).map(|i| f64::from(i % 2)).collect(), 2),
        (normals(200, 4).iter().map(|z| (3.0 * z).tan()).collect(), 4),
    ];
    for (values, d) in tables {
        let rows = Rows::new(&values, d).unwrap();
        for learner in [Learner::Pursuit, Learner::Sequential, PARALLEL] {
            if let Ok(fitted) = fit(&rows, &quick().with(|s| s.learner = learner)) {
                assert!(
                    fitted.model.score(&rows).unwrap().iter().all(|s| s.is_finite()),
                    "{values:?} {d}"
                );
                let path = &fitted.state.path;
                assert!(
                    path.iter().all(|p| p.train >= path[0].train - 1e-9),
                    "never below the Gaussian"
                );
            }
        }
    }
}

#[test]
fn rows_in_single_precision_give_the_bits_of_the_same_rows_in_double() {
    // Few rows are sorted first, many are read where they lie.
    for n in [300, 11_000] {
        let single: Vec<f32> = normals(3 * n, 5).iter().map(|x| x.powi(3) as f32).collect();
        let double: Vec<f64> = single.iter().map(|x| f64::from(*x)).collect();
        let weights: Vec<f64> = (0..n).map(|i| 1.0 + (i % 3) as f64).collect();
        let a = Rows::single(&single, 3).and_then(|rows| rows.weighted(&weights)).expect("rows");
        let b = Rows::new(&double, 3).and_then(|rows| rows.weighted(&weights)).expect("rows");
        let settings = Settings::default().with(|s| {
            s.experts = Some(1);
            s.starts = Some(2);
        });
        let (fit_a, fit_b) = (fit(&a, &settings), fit(&b, &settings));
        let (model_a, model_b) = (fit_a.expect("a fit").model, fit_b.expect("a fit").model);
        assert_eq!(model_a.directions(), model_b.directions(), "{n} rows");
        assert_eq!(model_a.score(&a), model_b.score(&b));
        assert_eq!(model_a.transform(&a.slice(5..9)), model_b.transform(&b.slice(5..9)));
    }
    let bad = Rows::single(&[1.0, 2.0, f32::NAN, 4.0], 2).expect("rows").check();
    assert!(matches!(bad, Err(Error::NonFinite { row: 1, column: 0, .. })), "{bad:?}");
}

#[test]
fn rows_beside_one_of_almost_no_weight_are_in_their_own_subspace() {
    // Three rows count; two of them differ in the last digits alone.
    let (a, b) = (20.302999961999998, -0.12900003799999998);
    let values = [
        [20.303, -0.129, -0.001, -4.609],
        [20.302999981, -0.129000019, 0.0, -4.609000019],
        [a, b, -1.9e-8, 1e15],
        [a, b, -1.8000000000000002e-8, 1e15],
    ];
    let rows = Rows::new(values.as_flattened(), 4)
        .and_then(|rows| rows.weighted(&[1.0, 1e-300, 1.0, 1.0]));
    let rows = rows.expect("rows");
    let settings = quick().with(|s| s.depth = Some(1));
    let fitted = fit(&rows, &settings).expect("a fit");
    let scores = fitted.model.score(&rows).expect("scores");
    for i in [0, 2, 3] {
        let counts = fitted.left_out.contains(&i) || scores[i].is_finite();
        assert!(counts, "row {i}: {scores:?}");
    }
}
