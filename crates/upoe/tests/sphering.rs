//! Tables that are hard to sphere: degenerate, wide, of unequal scales.

use crate::common::normals;
use upoe::{Dims, Error, Notice, Rest, Rows, Settings, Whitening, fit};

fn quick() -> Settings {
    Settings::default().with(|s| s.starts = Some(8))
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
fn rounding_of_a_constant_column_is_not_a_dimension() {
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
fn tiny_weights_do_not_hide_a_spread_that_cannot_be_squared() {
    let values: Vec<f64> = normals(20, 2).iter().map(|x| 1e300 * x).collect();
    let weights = [1e-300; 20];
    let rows = Rows::new(&values, 1).unwrap().weighted(&weights).unwrap();
    assert!(matches!(fit(&rows, &quick()), Err(Error::Spread { column: 0, .. })));
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
fn a_share_of_the_variance_that_one_column_has_is_named() {
    let scales = [1.0, 1.0, 1.0, 1.0, 1000.0];
    let of = |scales: [f64; 5]| {
        let values: Vec<f64> =
            normals(300, 5).iter().zip(scales.iter().cycle()).map(|(z, s)| z * s).collect();
        let mut settings = quick();
        settings.dims = Dims::Share(0.9);
        fit(&Rows::new(&values, 5).unwrap(), &settings).unwrap().notices
    };
    let notices = of(scales);
    let found = notices.iter().find(|n| matches!(n, Notice::Dominated { .. })).expect("a notice");
    assert!(matches!(found, Notice::Dominated { columns, dims: 1, of: 5, .. } if *columns == [4]));
    let said = found.message(|i| format!("c{}", i + 1));
    assert!(said.starts_with("1 of 5 dimensions were kept, because `c5` has 90 % of"), "{said}");
    assert!(!of([1.0; 5]).iter().any(|n| matches!(n, Notice::Dominated { .. })));
}
