//! What changed between two tables: levels, planted changes, refusals.

use crate::common::{crabs, rng};
use rand::RngExt;
use rand_distr::{StandardNormal, StudentT};
use rayon::prelude::*;
use upoe::compare::{Comparison, Kind, Place, Reference, Settings, compare};
use upoe::random::Stream;
use upoe::{Error, Rows, fit};

fn normal(rng: &mut Stream) -> f64 {
    rng.sample(StandardNormal)
}

/// Rows of four columns: two that are strongly correlated, one in two groups, one alone.
fn table(seed: u64, n: usize) -> Vec<[f64; 4]> {
    let mut rng = rng(seed);
    (0..n)
        .map(|_| {
            let size = normal(&mut rng);
            let group = if rng.random::<f64>() < 0.5 { -2.5 } else { 2.5 };
            let [e, f, g, h] = [(); 4].map(|()| normal(&mut rng));
            [10.0 + 3.0 * size + 0.5 * e, 20.0 + 6.0 * size + f, group + g, h]
        })
        .collect()
}

fn names(columns: usize) -> Vec<String> {
    (0..columns).map(|i| format!("c{i}")).collect()
}

fn of(a: &[f64], b: &[f64], columns: usize, settings: &Settings) -> Comparison {
    let (a, b) = (Rows::new(a, columns).unwrap(), Rows::new(b, columns).unwrap());
    compare(&Reference::Rows(a), &b, &names(columns), settings).unwrap()
}

/// What a change of B is found to be.
fn changed(change: impl Fn(&mut [f64; 4], &mut Stream)) -> Comparison {
    let (a, mut b) = (table(1, 400), table(2, 400));
    let mut rng = rng(3);
    b.iter_mut().for_each(|row| change(row, &mut rng));
    of(&a.concat(), &b.concat(), 4, &Settings::default())
}

#[test]
fn tables_of_one_distribution_differ_in_five_percent_of_draws() {
    // 60 draws at 5 %: more than 9 in 1 of 1,000 cases.
    let settings = Settings::default().with(|s| s.exchanges = 99);
    for (n, m, skewed) in [(30, 40, false), (60, 20, true)] {
        let draw = |seed: u64| {
            let mut rng = rng(seed);
            let mut cell = || match normal(&mut rng) {
                x if skewed => (2.0 * x).exp().round(),
                x => x,
            };
            let rows: Vec<f64> = (0..2 * (n + m)).map(|_| cell()).collect();
            let (a, b) = rows.split_at(2 * n);
            u32::from(of(a, b, 2, &settings).changed(0.05).unwrap())
        };
        let found: u32 = (0..60).into_par_iter().map(draw).sum();
        assert!(found <= 9, "{found} of 60, {n} and {m} rows");
    }
}

#[test]
fn nothing_is_found_where_nothing_changed() {
    let compared = changed(|_, _| {});
    assert!(compared.p_value.unwrap() > 0.05 && compared.changes.is_empty(), "{compared:?}");
    let drop = compared.drop.unwrap();
    assert!(drop.nats.abs() < 3.0 * drop.standard_error && drop.p_value > 0.05, "{drop:?}");
}

#[test]
fn a_shift_is_named_with_its_size() {
    let compared = changed(|row, _| row[3] += 0.8);
    assert_eq!(compared.changes.len(), 1, "{compared:#?}");
    let change = &compared.changes[0];
    assert_eq!((change.kind, &change.place), (Kind::Shift, &Place::Column { column: "c3".into() }));
    assert!(change.interval[0] < 0.8 && 0.8 < change.interval[1], "{change:?}");
    assert!(change.p_value < 0.01 && change.sentence.starts_with("c3 is 0."), "{change:?}");
    let drop = compared.drop.unwrap();
    // The expected drop is ½ 0.8².
    assert!(
        (drop.nats - 0.32).abs() < 3.0 * drop.standard_error && drop.p_value < 0.05,
        "{drop:?}"
    );
}

#[test]
fn a_shift_for_its_companion_is_named_as_such() {
    let compared = changed(|row, _| row[0] += 0.5);
    assert_eq!(compared.changes.len(), 1, "{compared:#?}");
    let change = &compared.changes[0];
    let place = Place::Given { column: "c0".into(), given: vec!["c1".into()] };
    assert_eq!((change.kind, &change.place), (Kind::Shift, &place), "{change:?}");
    assert!((change.size - 0.5).abs() < 0.15, "{change:?}");
    assert!(change.sentence.contains("higher for its c1"), "{}", change.sentence);
}

#[test]
fn spread_tails_correlation_and_groups_have_their_names() {
    let kinds = |compared: &Comparison| -> Vec<(Kind, Place)> {
        compared.changes.iter().map(|c| (c.kind, c.place.clone())).collect()
    };
    let column = |i: usize| Place::Column { column: format!("c{i}") };
    let wider = changed(|row, _| row[3] *= 1.5);
    assert_eq!(kinds(&wider), [(Kind::Spread, column(3))], "{wider:#?}");
    assert!((wider.changes[0].size - 1.5).abs() < 0.3);
    let heavy = changed(|row, rng| {
        row[3] = rng.sample::<f64, _>(StudentT::new(2.5).unwrap()) / 2.0;
    });
    assert!(kinds(&heavy).contains(&(Kind::Tails, column(3))), "{heavy:#?}");
    let looser = changed(|row, rng| {
        row[3] = 0.5 * row[3] + 0.75f64.sqrt() * row[2] / 2.7 + 0.0 * normal(rng)
    });
    let pair = Place::Pair { columns: ["c2".into(), "c3".into()] };
    assert!(
        kinds(&looser).iter().any(|(k, p)| *k == Kind::Correlation && *p == pair),
        "{looser:#?}"
    );
    let merged = changed(|row, rng| row[2] = 2.7 * normal(rng));
    let change = &merged.changes[0];
    assert_eq!((change.kind, change.before, change.after), (Kind::Groups, 2.0, 1.0), "{merged:#?}");
    assert!(change.sentence.contains("have become one"), "{}", change.sentence);
    let moved = changed(|row, rng| {
        if row[2] < 0.0 && rng.random::<f64>() < 0.4 {
            row[2] += 5.0;
        }
    });
    let change = &moved.changes[0];
    assert_eq!(change.kind, Kind::Share, "{moved:#?}");
    assert!((change.size - 0.2).abs() < 0.08, "{change:?}");
}

/// Rows of two groups, 1.2 deviations apart in each of four columns; some columns are multiplied.
fn blurred(seed: u64, n: usize, share: f64, apart: f64) -> Vec<f64> {
    let mut rng = rng(seed);
    let row = |rng: &mut Stream| {
        let up = if rng.random::<f64>() < share { apart } else { 0.0 };
        [(); 5]
            .map(|()| normal(rng))
            .iter()
            .enumerate()
            .map(move |(i, z)| z + up * f64::from(i32::from(i < 4)))
            .collect::<Vec<f64>>()
    };
    (0..n).flat_map(|_| row(&mut rng)).collect()
}

#[test]
fn columns_that_move_a_little_together_are_found() {
    // No group can be seen, and no single column differs enough: a test of each column finds 50 %.
    let found = |seed: u64| {
        let (a, b) = (blurred(2 * seed, 100, 0.5, 1.2), blurred(2 * seed + 1, 100, 0.75, 1.2));
        u32::from(of(&a, &b, 5, &Settings::default()).changed(0.05).unwrap())
    };
    let found: u32 = (0..40).into_par_iter().map(found).sum();
    assert!(found >= 24, "{found} of 40");
}

#[test]
fn the_share_of_a_group_has_its_name() {
    let (a, b) = (blurred(1, 400, 0.5, 3.0), blurred(2, 400, 0.7, 3.0));
    let compared = of(&a, &b, 5, &Settings::default());
    let change = &compared.changes[0];
    let Place::Group { name, columns } = &change.place else { panic!("{compared:#?}") };
    assert_eq!((change.kind, compared.changes.len()), (Kind::Share, 1), "{compared:#?}");
    assert!(name.contains("c") && columns.len() > 1, "{change:?}");
    let sizes = (0.2 - change.size.abs()).abs();
    assert!(sizes < 0.08 && change.interval[0] < change.size, "{change:?}");
    let said = &change.sentence;
    assert!(
        said.starts_with("the group “c") && said.contains(" of the rows instead of "),
        "{said}"
    );
    // Both groups moved: not a change of shares.
    let mut moved = blurred(2, 400, 0.5, 3.0);
    moved.iter_mut().for_each(|x| *x += 0.8);
    let moved = of(&a, &moved, 5, &Settings::default());
    assert!(moved.changes.iter().all(|c| c.kind != Kind::Share), "{moved:#?}");
}

#[test]
fn the_rows_that_drive_a_change_are_those_that_changed() {
    let (a, mut b) = (table(1, 300), table(2, 300));
    let planted = [3, 50, 77, 120, 290];
    planted.iter().for_each(|&i: &usize| b[i][3] += 9.0);
    b.iter_mut().for_each(|row| row[3] += 0.5);
    let compared = of(&a.concat(), &b.concat(), 4, &Settings::default());
    let mut rows = compared.changes[0].rows.clone();
    rows.sort_unstable();
    assert_eq!(rows, planted);
}

#[test]
fn a_model_stands_for_its_rows() {
    let rows = table(1, 500).concat();
    let fitted = fit(&Rows::new(&rows, 4).unwrap(), &upoe::Settings::default()).unwrap();
    let reference = Reference::fitted(fitted.fitted()).unwrap();
    let mut b = fitted.model.sample(300, 9);
    let judged = |b: &[f64]| {
        compare(&reference, &Rows::new(b, 4).unwrap(), &names(4), &Settings::default()).unwrap()
    };
    let same = judged(&b);
    assert!(same.p_value.unwrap() > 0.05 && same.drop.unwrap().p_value > 0.05, "{same:?}");
    b.chunks_exact_mut(4).for_each(|row| row[3] -= 0.7);
    let moved = judged(&b);
    assert_eq!(moved.changes[0].place, Place::Column { column: "c3".into() }, "{moved:#?}");
    assert!(moved.changes[0].interval[0] < -0.7 && -0.7 < moved.changes[0].interval[1]);
}

#[test]
fn the_same_bits_for_any_number_of_threads() {
    let of = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| format!("{:?}", changed(|row, _| row[1] *= 1.1)))
    };
    assert_eq!(of(1), of(5));
}

#[test]
fn tables_that_cannot_be_compared_are_refused() {
    let refused = |a: &[f64], b: &[f64], columns: (usize, usize)| {
        let (a, b) = (Rows::new(a, columns.0).unwrap(), Rows::new(b, columns.1).unwrap());
        compare(&Reference::Rows(a), &b, &names(columns.0), &Settings::default()).unwrap_err()
    };
    let some: Vec<f64> = (0..60).map(|i| f64::from(i * i % 31)).collect();
    assert!(matches!(refused(&some, &some, (2, 3)), Error::Shape { .. }));
    assert!(matches!(refused(&some, &some[..2], (2, 2)), Error::TooFewRows { rows: 1, needed: 2 }));
    let mut constant = some.clone();
    constant.iter_mut().skip(1).step_by(2).for_each(|x| *x = 4.0);
    let found = refused(&some, &constant, (2, 2));
    assert_eq!(found, Error::ConstantInOne { column: 1, table: "second", value: 4.0 });
    let mut missing = some.clone();
    missing[7] = f64::NAN;
    assert!(matches!(refused(&some, &missing, (2, 2)), Error::NonFinite { row: 3, column: 1, .. }));
}

#[test]
fn few_rows_cannot_tell_and_other_units_are_told() {
    let (a, b) = (table(1, 100).concat(), table(2, 11).concat());
    let few = of(&a, &b, 4, &Settings::default());
    assert_eq!((few.p_value, few.changed(0.05)), (None, None));
    assert!(few.answer().contains("12 in each table"), "{}", few.answer());
    let mut b = table(2, 100);
    b.iter_mut().for_each(|row| row[1] *= 1000.0);
    let units = of(&a, &b.concat(), 4, &Settings::default());
    let due = "c1 seems to be in other units: its values are about 1000 times as large";
    assert_eq!(units.notes, [due]);
    assert!(units.p_value.unwrap() < 0.01);
}

#[test]
fn crabs_of_two_species_differ_and_halves_do_not() {
    let (rows, _) = crabs();
    let columns = 5;
    // The first 100 crabs are blue, the others orange.
    let (blue, orange) = rows.split_at(100 * columns);
    let species = of(blue, orange, columns, &Settings::default());
    assert!(species.p_value.unwrap() < 0.01 && !species.changes.is_empty(), "{species:?}");
    let every = |which: usize| -> Vec<f64> {
        rows.chunks_exact(columns).skip(which).step_by(2).flatten().copied().collect()
    };
    let halves = of(&every(0), &every(1), columns, &Settings::default());
    assert!(halves.p_value.unwrap() > 0.05, "{halves:#?}");
}
