//! Groups are found where they are, and only there.

use crate::common::{crabs, normals, rng};
use rand::RngExt;
use upoe::groups::{Agreement, Groups, adjusted_rand};
use upoe::{Dims, Model, Rows, Settings, Whitening, fit};

fn gaussian(rows: &Rows) -> Model {
    Model::new(Whitening::fit(rows, Dims::All).unwrap(), vec![], vec![]).unwrap()
}

fn count(values: &[f64], d: usize) -> usize {
    let rows = Rows::new(values, d).unwrap();
    Groups::find(&gaussian(&rows), &rows).unwrap().count()
}

/// Rows of unit variance about the means of their groups.
fn planted(n: usize, d: usize, seed: u64, mean: impl Fn(usize, usize) -> f64) -> Vec<f64> {
    normals(n * d, seed).iter().enumerate().map(|(i, z)| z + mean(i / d, i % d)).collect()
}

#[test]
fn species_and_sex_of_the_crabs_are_found() {
    let (values, truth) = crabs();
    let rows = Rows::new(&values, 5).unwrap();
    let fitted = fit(&rows, &Settings::default()).unwrap();
    let groups = fitted.groups(&rows).unwrap();
    let labels = groups.labels(&fitted.model, &rows).unwrap();
    let agreement = adjusted_rand(&labels, &truth);
    let sizes: Vec<f64> = groups.groups().iter().map(|g| g.size).collect();
    assert!(agreement >= 0.80, "{agreement}");
    assert!(sizes.is_sorted_by(|a, b| a >= b), "the largest first: {sizes:?}");
}

#[test]
fn rows_without_groups_are_one_group() {
    type Kind = fn(f64, f64, f64) -> f64;
    let kinds: [(&str, Kind); 4] = [
        ("Gaussian", |z, _, _| z),
        ("uniform", |_, u, _| u),
        ("skewed", |_, u, _| -u.ln()),
        ("heavy tails", |z, _, c| z / c),
    ];
    for (n, d) in [(200, 5)] {
        for (name, of) in kinds {
            let more = (0..20)
                .filter(|seed| {
                    let mut rng = rng(1000 + seed);
                    let z = normals(n * d, *seed);
                    let scale: Vec<f64> = normals(4 * n, 500 + seed)
                        .chunks(4)
                        .map(|c| (c.iter().map(|x| x * x).sum::<f64>() / 4.0).sqrt())
                        .collect();
                    let values: Vec<f64> = (0..n * d)
                        .map(|i| of(z[i], rng.random_range(1e-9..1.0), scale[i / d]))
                        .collect();
                    count(&values, d) > 1
                })
                .count();
            // A level of 5 % gives more than 4 of 20 in 0.3 % of runs.
            assert!(more <= 4, "{name} {n} x {d}: {more} of 20");
        }
    }
}

#[test]
fn planted_groups_are_found() {
    let half = |i: usize| f64::from(u8::from(i % 2 == 1));
    let far = planted(400, 20, 1, |i, c| if c < 4 { 3.0 * half(i) } else { 0.0 });
    let small = planted(1000, 4, 2, |i, c| if i % 20 == 0 && c < 2 { 4.0 } else { 0.0 });
    let square = planted(600, 6, 3, |i, c| match c {
        0 => 6.0 * half(i),
        1 => 6.0 * half(i / 2),
        _ => 0.0,
    });
    let nested = planted(600, 4, 4, |i, c| match c {
        0 => 20.0 * half(i) + if i % 4 == 0 { 5.0 } else { 0.0 },
        1 if i % 4 == 1 => 5.0,
        _ => 0.0,
    });
    type Truth = fn(usize) -> usize;
    // On the scale of their logarithms.
    let factors: Vec<f64> = planted(600, 6, 5, |i, c| if i % 3 == 0 && c < 4 { 2.5 } else { 0.0 })
        .iter()
        .map(|x| (0.6 * x).exp())
        .collect();
    let cases: [(&str, &[f64], usize, Truth); 5] = [
        ("two in 20 dimensions", &far, 20, |i| i % 2),
        ("one of 5 %", &small, 4, |i| usize::from(i % 20 == 0)),
        ("four in a plane", &square, 6, |i| i % 4),
        ("groups within groups", &nested, 4, |i| i % 4),
        ("groups that differ by a factor", &factors, 6, |i| usize::from(i % 3 == 0)),
    ];
    for (name, values, d, truth) in cases {
        let rows = Rows::new(values, d).unwrap();
        let model = gaussian(&rows);
        let groups = Groups::find(&model, &rows).unwrap();
        let labels = groups.labels(&model, &rows).unwrap();
        let truth: Vec<usize> = (0..rows.len()).map(truth).collect();
        let agreement = adjusted_rand(&labels, &truth);
        println!("{name}: {} groups, {agreement:.3}", groups.count());
        assert!(agreement > 0.9, "{name}: {agreement}");
    }
}

#[test]
fn a_label_depends_on_its_row_alone_and_not_on_the_order() {
    let (values, _) = crabs();
    let rows = Rows::new(&values, 5).unwrap();
    let model = gaussian(&rows);
    let groups = Groups::find(&model, &rows).unwrap();
    let all = groups.probabilities(&model, &rows).unwrap();
    let count = groups.count();
    for i in [0, 57, 199] {
        let one = groups.probabilities(&model, &rows.slice(i..i + 1)).unwrap();
        assert_eq!(one, all[i * count..][..count]);
        assert!((one.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }
    let turned: Vec<f64> = values.chunks(5).rev().flatten().copied().collect();
    let again = Groups::find(&model, &Rows::new(&turned, 5).unwrap()).unwrap();
    assert_eq!(again, groups);
}

#[test]
fn a_group_is_described_in_the_units_of_its_columns() {
    // The second column follows the first; the second group lies 3 higher for it.
    let z = normals(1200, 9);
    let values: Vec<f64> = (0..600)
        .flat_map(|i| {
            let size = 10.0 * z[2 * i];
            [size, size + 0.5 * z[2 * i + 1] + if i % 3 == 0 { 3.0 } else { 0.0 }]
        })
        .collect();
    let rows = Rows::new(&values, 2).unwrap();
    let model = gaussian(&rows);
    let groups = Groups::find(&model, &rows).unwrap();
    let names = groups.names(&["a".to_owned(), "b".to_owned()]);
    assert!(names.contains(&"b high for its a".to_owned()), "{names:?}");
    let small = &groups.groups()[1];
    let clause = &small.clauses[0];
    assert!((small.share - 1.0 / 3.0).abs() < 0.01);
    assert!(clause.difference.low < 3.0 && clause.difference.high > 3.0, "{clause:?}");
    assert!(clause.difference.high - clause.difference.low < 0.5, "{clause:?}");
}

#[test]
fn agreement_counts_pairs() {
    // Values of scikit-learn's adjusted_rand_score.
    assert_eq!(adjusted_rand(&[0, 0, 1, 1], &[1, 1, 0, 0]), 1.0);
    assert!((adjusted_rand(&[0, 0, 1, 2], &[0, 0, 1, 1]) - 0.571_428_571_428_571_4).abs() < 1e-12);
    assert!((adjusted_rand(&[0, 0, 1, 1], &[0, 1, 0, 1]) + 0.5).abs() < 1e-12);
    let agreement = Agreement::of(&[0, 0, 1, 1, 1], &["a", "a", "b", "b", "a"]);
    assert!((agreement.matches - 0.8).abs() < 1e-12 && (agreement.chance - 0.6).abs() < 1e-12);
}

#[test]
fn few_rows_and_other_columns_are_no_fault() {
    let rows = Rows::new(&[1.0, 2.0, 2.0, 5.0, 4.0, 1.0], 2).unwrap();
    let model = gaussian(&rows);
    let groups = Groups::find(&model, &rows).unwrap();
    assert_eq!((groups.count(), groups.labels(&model, &rows).unwrap()), (1, vec![0; 3]));
    assert!(groups.labels(&model, &Rows::new(&[1.0; 3], 3).unwrap()).is_err());
    let far = Rows::new(&[1e300, -1e300], 2).unwrap();
    assert_eq!(groups.labels(&model, &far).unwrap(), [0]);
}

/// The group of a row with a missing cell, against quantiles of the cell's density given the others.
#[test]
fn rows_with_missing_cells_have_the_mean_probabilities_of_what_they_may_be() {
    let (values, _) = crabs();
    let rows = Rows::new(&values, 5).unwrap();
    let fitted = fit(&rows, &Settings::default()).unwrap();
    let groups = fitted.groups(&rows).unwrap();
    let count = groups.count();
    let holes: Vec<f64> = (values.iter().enumerate())
        .map(|(i, x)| if i % 5 == i / 5 % 5 && i / 5 % 3 == 0 { f64::NAN } else { *x })
        .collect();
    let found = groups.probabilities(&fitted.model, &Rows::new(&holes, 5).unwrap()).unwrap();
    let whole = groups.probabilities(&fitted.model, &rows).unwrap();
    let mut differences = Vec::new();
    for (i, row) in holes.chunks(5).enumerate() {
        let own = &found[i * count..(i + 1) * count];
        assert!((own.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        let alone = groups.probabilities(&fitted.model, &Rows::new(row, 5).unwrap()).unwrap();
        assert_eq!(alone, own, "they depend on the row alone");
        let Some(hole) = row.iter().position(|x| x.is_nan()) else {
            assert_eq!(own, &whole[i * count..(i + 1) * count]);
            continue;
        };
        let line = fitted.model.conditional(row, hole).unwrap();
        let likely: Vec<f64> = (0..400)
            .flat_map(|k| {
                let mut row = row.to_vec();
                row[hole] = line.quantile((f64::from(k) + 0.5) / 400.0);
                row
            })
            .collect();
        let shares = groups.probabilities(&fitted.model, &Rows::new(&likely, 5).unwrap()).unwrap();
        for (k, share) in own.iter().enumerate() {
            let mean = shares.iter().skip(k).step_by(count).sum::<f64>() / 400.0;
            differences.push(share - mean);
        }
    }
    // 64 draws have a standard error of at most 0.0625; the mean of squares is far below that.
    let mean_square = differences.iter().map(|d| d * d).sum::<f64>() / differences.len() as f64;
    assert!(differences.len() == 67 * count && mean_square < 0.0625 * 0.0625, "{mean_square}");
    assert!(differences.iter().all(|d| d.abs() < 0.3), "{differences:?}");
}
