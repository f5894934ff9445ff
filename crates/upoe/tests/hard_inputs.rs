//! Inputs that break lesser programs: each gives the right answer or a clear error.

use crate::common::{PARALLEL, normals};
use upoe::expert::Family;
use upoe::{Dims, Error, Fitter, Learner, Notice, Rest, Rows, Settings, Whitening, fit};

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
fn ill_conditioned_columns_of_unequal_scale_are_sphered() {
    let values: Vec<f64> =
        normals(3000, 4).chunks(3).flat_map(|r| [r[0], r[0] + 1e-6 * r[1], 1e4 * r[2]]).collect();
    let rows = Rows::new(&values, 3).unwrap();
    let whitening = Whitening::fit(&rows, Dims::All).unwrap();
    assert_eq!(whitening.rank(), 3);
    let x = whitening.sphere(&rows).unwrap();
    for i in 0..3 {
        let mean = x.chunks(3).map(|r| r[i] * r[i]).sum::<f64>() / 1000.0;
        assert!((mean - 1.0).abs() < 1e-6, "{mean}");
    }
    // Scales of 1 and 1e12 beside a constant; and dropping what is below rounding.
    let graded: Vec<f64> = values.chunks(3).flat_map(|r| [r[0], 3.0, 1e8 * r[2]]).collect();
    let tame: Vec<f64> = values.chunks(3).flat_map(|r| [r[0], r[2]]).collect();
    let of = |v: &[f64], d| Whitening::fit(&Rows::new(v, d).unwrap(), Dims::All).unwrap().ln_det();
    assert!((of(&graded, 3) + 1e8_f64.ln() - of(&tame, 2)).abs() < 1e-9);
    let far: Vec<f64> = values.chunks(3).flat_map(|r| [r[0], 1e10 * r[2]]).collect();
    assert!(matches!(
        Whitening::fit(&Rows::new(&far, 2).unwrap(), Dims::Count(1)),
        Err(Error::InvalidSetting { .. })
    ));
}

#[test]
fn a_degenerate_table_of_unequal_scales_has_its_density_on_the_subspace() {
    // Columns of scale 1 and 1e12, and a copy of the second: the density over the first two,
    // less the ½ ln 2 by which lengths along the copied axis grow.
    let both: Vec<f64> = normals(200, 4).chunks(2).flat_map(|r| [r[0], 1e12 * r[1]]).collect();
    let copied: Vec<f64> = both.chunks(2).flat_map(|r| [r[0], r[1], r[1]]).collect();
    let (both, copied) = (Rows::new(&both, 2).unwrap(), Rows::new(&copied, 3).unwrap());
    let whitening = Whitening::fit(&copied, Dims::All).unwrap();
    assert_eq!((whitening.rank(), whitening.rest()), (2, Rest::Degenerate));
    let expected = Whitening::fit(&both, Dims::All).unwrap().ln_det() - 0.5 * 2_f64.ln();
    assert!((whitening.ln_det() - expected).abs() < 1e-9, "{} {expected}", whitening.ln_det());
    // The same with a constant column, and with all on one line.
    for table in [[0.0, 1.0, 1e12], [1.0, 1.0, 1e-7]] {
        let line: Vec<f64> = normals(50, 4).iter().flat_map(|z| table.map(|t| t * z)).collect();
        let whitening = Whitening::fit(&Rows::new(&line, 3).unwrap(), Dims::All).unwrap();
        let along: Vec<f64> = line.chunks(3).map(|r| r[0].hypot(r[1]).hypot(r[2])).collect();
        let deviation = (along.iter().map(|l| l * l).sum::<f64>() / 50.0).sqrt();
        let mean = whitening.mean().iter().map(|m| m * m).sum::<f64>().sqrt();
        let expected = -(deviation * deviation - mean * mean).sqrt().ln();
        assert!((whitening.ln_det() - expected).abs() < 1e-9, "{} {expected}", whitening.ln_det());
    }
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
fn a_constant_column_s_rounding_is_no_dimension() {
    // 1e15 and its next few neighbours: constant, though with more variance than the other.
    let values: Vec<f64> = normals(60, 8)
        .iter()
        .enumerate()
        .flat_map(|(i, z)| [1e15 + (i % 3) as f64 / 8.0, 1e-8 * z])
        .collect();
    let rows = Rows::new(&values, 2).unwrap();
    let model = fit(&rows, &quick()).unwrap().model;
    assert_eq!((model.whitening().rank(), model.whitening().deviations()[0]), (1, 0.0));
    assert!(model.score(&rows).unwrap().iter().all(|p| p.is_finite()));
}

#[test]
fn rows_of_no_weight_count_for_nothing_however_far_they_lie() {
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
fn tiny_weights_do_not_hide_a_spread_that_cannot_be_squared() {
    let values: Vec<f64> = normals(20, 2).iter().map(|x| 1e300 * x).collect();
    let weights = [1e-300; 20];
    let rows = Rows::new(&values, 1).unwrap().weighted(&weights).unwrap();
    assert!(matches!(fit(&rows, &quick()), Err(Error::Spread { column: 0, .. })));
}

#[test]
fn data_that_spread_too_far_are_told_so() {
    for columns in [1, 2] {
        let values: Vec<f64> = normals(40, 2).iter().map(|x| 1e300 * x).collect();
        let error = fit(&Rows::new(&values, columns).unwrap(), &quick()).unwrap_err();
        assert!(error.to_string().contains("spreads too far (its variance is inf)"), "{error}");
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
fn constant_and_duplicated_columns_leave_a_density_on_the_subspace() {
    let values: Vec<f64> =
        normals(400, 2).chunks(2).flat_map(|r| [r[0], 5.0, r[1], 2.0 * r[0] - 1.0]).collect();
    let rows = Rows::new(&values, 4).unwrap();
    let fitted = fit(&rows, &quick()).unwrap();
    assert_eq!(fitted.model.whitening().rest(), Rest::Degenerate);
    assert!(
        matches!(&fitted.notices[0], Notice::Degenerate { rank: 2, columns: 4, constant } if *constant == [1])
    );
    let scores = fitted.model.score(&rows).unwrap();
    assert!(scores.iter().all(|s| s.is_finite()));
    assert_eq!(fitted.model.ln_p(&[0.0, 5.1, 0.0, -1.0]).unwrap(), f64::NEG_INFINITY);
    assert_eq!(fitted.model.ln_p(&[0.0, 5.0, 0.0, 1.0]).unwrap(), f64::NEG_INFINITY);
    assert!(fitted.model.ln_p(&[0.3, 5.0, 0.1, -0.4]).unwrap().is_finite());
    let off = fitted.model.explain(&[0.3, 5.1, 0.1, -0.4]).unwrap();
    assert_eq!((off.rest, off.rest_by_column[1]), (f64::NEG_INFINITY, f64::NEG_INFINITY));
    assert!(off.rest_by_column[0].is_finite());
    let outside = |rows: &[f64]| {
        let outside = fitted.model.whitening().outside(&Rows::new(rows, 4).unwrap()).unwrap();
        outside.map(|o| (o.rows, o.of, o.message(|i| format!("c{i}"))))
    };
    assert_eq!(outside(&values), None);
    let (rows, of, said) = outside(&[0.3, 5.1, 0.1, -0.4, 0.3, 5.0, 0.1, -0.4]).unwrap();
    assert_eq!((rows, of), (1, 2));
    assert!(said.starts_with("1 of 2 rows lie outside the subspace of the training rows"));
    assert!(said.contains("column `c1` was constant (5) in training"), "{said}");
    let (_, _, said) = outside(&[0.3, 5.0, 0.1, 0.4]).unwrap();
    assert!(said.contains("columns `c0`, `c3` do not follow the linear relation"), "{said}");
    assert_eq!(fitted.model.ln_p(&[1e300, 5.0, 0.1, 2e300 - 1.0]).unwrap(), f64::NEG_INFINITY);
    // The density on the subspace: over (r0, r1), less the stretch of the map into it.
    let plain: Vec<f64> = values.chunks(4).flat_map(|r| [r[0], r[2]]).collect();
    let gaussian = |v: &[f64], d| {
        let w = Whitening::fit(&Rows::new(v, d).unwrap(), Dims::All).unwrap();
        upoe::Model::new(w, vec![], vec![]).unwrap()
    };
    let (a, b) = (gaussian(&values, 4), gaussian(&plain, 2));
    let stretch = 0.5 * 5.0_f64.ln();
    assert!(
        (a.ln_p(&[0.3, 5.0, 0.1, -0.4]).unwrap() + stretch - b.ln_p(&[0.3, 0.1]).unwrap()).abs()
            < 1e-8
    );
}

#[test]
fn scales_of_one_and_1e12_are_both_real() {
    let values: Vec<f64> = normals(3000, 3)
        .chunks(3)
        .flat_map(|r| [r[0], 1e12 * (r[0] + r[1]), 1e-12 * r[2]])
        .collect();
    let rows = Rows::new(&values, 3).unwrap();
    let whitening = Whitening::fit(&rows, Dims::All).unwrap();
    assert_eq!((whitening.rank(), whitening.rest()), (3, Rest::Nothing));
    let x = whitening.sphere(&rows).unwrap();
    for i in 0..3 {
        for k in 0..3 {
            let mean = x.chunks(3).map(|r| r[i] * r[k]).sum::<f64>() / 1000.0;
            assert!((mean - f64::from(u8::from(i == k))).abs() < 1e-9, "{mean}");
        }
    }
    // ln|A| against the same columns on one scale.
    let tame: Vec<f64> = values.chunks(3).flat_map(|r| [r[0], r[1] / 1e12, r[2] * 1e12]).collect();
    let other = Whitening::fit(&Rows::new(&tame, 3).unwrap(), Dims::All).unwrap();
    assert!((whitening.ln_det() - other.ln_det()).abs() < 1e-9);
}

#[test]
fn nearly_collinear_columns_are_sphered_exactly() {
    let values: Vec<f64> =
        normals(2000, 4).chunks(2).flat_map(|r| [r[0], r[0] + 1e-5 * r[1]]).collect();
    let rows = Rows::new(&values, 2).unwrap();
    let whitening = Whitening::fit(&rows, Dims::All).unwrap();
    let x = whitening.sphere(&rows).unwrap();
    for i in 0..2 {
        for k in 0..2 {
            let mean = x.chunks(2).map(|r| r[i] * r[k]).sum::<f64>() / 1000.0;
            assert!((mean - f64::from(u8::from(i == k))).abs() < 1e-8, "{mean}");
        }
    }
}

#[test]
fn fewer_rows_than_columns_and_reduction() {
    let values = normals(20 * 50, 5);
    let rows = Rows::new(&values, 50).unwrap();
    let fitted = fit(&rows, &quick()).unwrap();
    assert_eq!(
        (fitted.model.whitening().rank(), fitted.model.whitening().rest()),
        (19, Rest::Degenerate)
    );
    assert!(fitted.model.score(&rows).unwrap().iter().all(|s| s.is_finite()));
    let reduced = fit(&rows, &quick().with(|s| s.dims = Dims::Count(5))).unwrap();
    assert!(matches!(reduced.model.whitening().rest(), Rest::Noise { .. }));
    assert!(reduced.model.ln_p(&vec![0.1; 50]).unwrap().is_finite());
    let share = Whitening::fit(&rows, Dims::Share(0.5)).unwrap();
    assert!(share.kept_variance() >= 0.5 && share.dims() < 19);
    assert!(matches!(
        fit(&rows, &quick().with(|s| s.dims = Dims::Count(30))),
        Err(Error::InvalidSetting { name: "dims", .. })
    ));
    assert!(matches!(
        Whitening::fit(&rows, Dims::Share(1.5)),
        Err(Error::InvalidSetting { name: "dims", .. })
    ));
}

#[test]
fn fewer_rows_than_columns_are_sphered_as_from_moments() {
    let values: Vec<f64> = normals(15 * 40, 3)
        .iter()
        .enumerate()
        .map(|(k, x)| 3.0 + x * (1 + k % 40) as f64)
        .collect();
    let weights: Vec<f64> = (0..15).map(|i| f64::from(i % 4)).collect();
    let rows = Rows::new(&values, 40).unwrap();
    for rows in [rows, rows.weighted(&weights).unwrap()] {
        let moments = upoe::Moments::of(&rows).unwrap();
        for dims in [Dims::All, Dims::Count(5), Dims::Share(0.6)] {
            let few = Whitening::fit(&rows, dims).unwrap();
            let (many, _) = Whitening::from_moments(&moments, dims).unwrap();
            assert!(
                (few.ln_det() - many.ln_det()).abs() < 1e-9,
                "{} {}",
                few.ln_det(),
                many.ln_det()
            );
            assert_eq!((few.rank(), few.dims(), few.columns()), (many.rank(), many.dims(), 40));
            for (a, b) in [(few.matrix(), many.matrix()), (few.inverse(), many.inverse())] {
                assert!((a - b).norm_max() < 1e-9 * b.norm_max(), "{dims:?}");
            }
            if let (Rest::Noise { variance: a }, Rest::Noise { variance: b }) =
                (few.rest(), many.rest())
            {
                assert!((a / b - 1.0).abs() < 1e-9);
            } else {
                assert_eq!(few.rest(), many.rest());
            }
        }
    }
    // A matrix of columns² would have 80 GB.
    let rows = normals(6 * 100_000, 4);
    let wide = Whitening::fit(&Rows::new(&rows, 100_000).unwrap(), Dims::All).unwrap();
    assert_eq!((wide.rank(), wide.rest()), (5, Rest::Degenerate));
}

#[test]
fn rows_next_to_a_degenerate_subspace_are_possible() {
    // A dimension of next to no variance, beside columns on other scales.
    let tables = [
        [
            [-0.001, -0.001, 0.0, 0.0],
            [-0.001, -0.001, -0.001, 20.479],
            [20.437, 20.303, 0.0, 0.0],
            [0.0, 0.0, 0.0, 0.0],
            [20.303, 20.303, -0.177, -0.001],
        ],
        [
            [-19.247, 0.0, -0.001, -0.001],
            [-0.001, -0.001, -0.001, -0.001],
            [-0.001, -0.001, -0.001, -0.001],
            [-0.001, -0.001, -0.001, -0.001],
            [-0.213, -0.001, -0.001, -0.001],
        ],
    ];
    for table in tables {
        let rows = Rows::new(table.as_flattened(), 4).unwrap();
        let whitening = Whitening::fit(&rows, Dims::All).unwrap();
        assert_eq!(whitening.rest(), Rest::Degenerate);
        for row in &table {
            assert!(whitening.ln_jacobian(row, &whitening.sphere_row(row)).is_finite(), "{row:?}");
        }
        let off = [table[0][0], table[0][1] + 0.1, table[0][2] + 0.1, table[0][3]];
        assert_eq!(whitening.ln_jacobian(&off, &whitening.sphere_row(&off)), f64::NEG_INFINITY);
    }
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
    assert_eq!(refused(quick().with(|s| s.stop = Some(upoe::Stop::Holdout))), "stop");
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
