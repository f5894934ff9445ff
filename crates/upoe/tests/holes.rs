//! Rows with missing cells: drawing them, conditions, fits.

use crate::common;
use upoe::evaluate::mean;
use upoe::{
    Condition, Density, Error, Filler, Fitter, Missing, Model, Range, Rows, Settings, fit, within,
};

const NAN: f64 = f64::NAN;

fn crabs() -> Vec<f64> {
    common::crabs().0
}

/// The rows with cells removed: every `every`-th, in an order without pattern.
fn with_holes(values: &[f64], every: u64) -> Vec<f64> {
    let mut state = 1_u64;
    let holes = values.iter().map(|x| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        if (state >> 33).is_multiple_of(every) { NAN } else { *x }
    });
    holes.collect()
}

fn crabs_model(experts: usize) -> Model {
    let values = crabs();
    let settings = Settings::default().with(|s| s.experts = Some(experts));
    fit(&Rows::new(&values, 5).unwrap(), &settings).unwrap().model
}

#[test]
fn a_gaussians_missing_cells_are_its_regression() {
    // Without experts the model is Gaussian, and the mean of missing cells is known.
    let (model, values) = (crabs_model(0), crabs());
    let filler = Filler::new(&model, model.whitening(), 3).unwrap();
    let back = model.whitening().inverse();
    let covariance = back * back.transpose();
    let (mean, row) = (model.whitening().mean(), &values[..5]);
    // Columns 1 and 3 given 0, 2 and 4, by elimination.
    let (gone, kept) = ([1, 3], [0, 2, 4]);
    let own = faer::Mat::from_fn(3, 3, |i, j| covariance[(kept[i], kept[j])]);
    let across = faer::Mat::from_fn(3, 2, |i, j| covariance[(kept[i], gone[j])]);
    let off = faer::Mat::from_fn(3, 1, |i, _| row[kept[i]] - mean[kept[i]]);
    use faer::linalg::solvers::Solve;
    let solved = own.partial_piv_lu().solve(&off);
    let expected: Vec<f64> = (0..2)
        .map(|j| mean[gone[j]] + (0..3).map(|i| across[(i, j)] * solved[(i, 0)]).sum::<f64>())
        .collect();
    let mut holed = row.to_vec();
    (holed[1], holed[3]) = (NAN, NAN);
    let many = holed.repeat(400);
    let drawn = filler.draw(&Rows::new(&many, 5).unwrap(), 5, 0).unwrap();
    for (j, column) in gone.into_iter().enumerate() {
        let cells: Vec<f64> = drawn.iter().skip(column).step_by(5).copied().collect();
        let n = cells.len() as f64;
        let centre = cells.iter().sum::<f64>() / n;
        let error = (cells.iter().map(|x| (x - centre).powi(2)).sum::<f64>() / n / n).sqrt();
        assert!((centre - expected[j]).abs() < 4.0 * error, "{column}: {centre} {expected:?}");
        // The density of the cell is the same Gaussian, from 32 draws of the other cell.
        let cells = filler.cells(&Rows::new(&holed, 5).unwrap(), 0, |_, c, cell| (c, cell.mean()));
        let (found, at) = (cells.unwrap(), expected[j]);
        assert!((found[0][j].1 - at).abs() < 40.0 * error, "{at} {found:?}");
    }
}

#[test]
fn values_that_are_there_stay_and_draws_repeat() {
    let (model, values) = (crabs_model(2), crabs());
    let holed = with_holes(&values, 4);
    let rows = Rows::new(&holed, 5).unwrap();
    let filler = Filler::new(&model, model.whitening(), 7).unwrap();
    let drawn = filler.draw(&rows, 2, 0).unwrap();
    for (i, row) in drawn.chunks(5).enumerate() {
        let had = &holed[i / 2 * 5..][..5];
        assert!(row.iter().zip(had).all(|(x, y)| x.is_finite() && (y.is_nan() || x == y)));
    }
    // Row i depends on the seed and its number alone.
    let later = filler.draw(&rows.slice(100..120), 2, 100).unwrap();
    assert_eq!(later, drawn[1000..1200]);
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    assert_eq!(one.install(|| filler.draw(&rows, 2, 0)).unwrap(), drawn);
}

#[test]
fn draws_of_missing_cells_follow_the_model() {
    // Rows drawn from the model, with cells removed and drawn again, are again rows of the model: each column has
    // the same distribution (Kolmogorov and Smirnov).
    let model = crabs_model(2);
    let n = 4_000;
    let first = model.sample(n, 1);
    let holed: Vec<f64> = first
        .iter()
        .enumerate()
        .map(|(k, x)| if [0, 2, 4].contains(&(k % 5)) { NAN } else { *x })
        .collect();
    let filler = Filler::new(&model, model.whitening(), 5).unwrap();
    let drawn = filler.draw(&Rows::new(&holed, 5).unwrap(), 1, 0).unwrap();
    let projected = |values: &[f64]| model.transform(&Rows::new(values, 5).unwrap()).unwrap();
    let others = model.sample(n, 2);
    for (drawn, others, width) in
        [(&drawn, &others, 5), (&projected(&drawn), &projected(&others), 2)]
    {
        for column in 0..width {
            let of = |values: &[f64]| {
                let mut v: Vec<f64> = values.iter().skip(column).step_by(width).copied().collect();
                v.sort_unstable_by(f64::total_cmp);
                v
            };
            let (a, b) = (of(drawn), of(others));
            let largest = a
                .iter()
                .enumerate()
                .map(|(i, x)| (i as f64 - b.partition_point(|y| y <= x) as f64).abs() / n as f64)
                .fold(0.0, f64::max);
            assert!(largest < 1.95 * (2.0 / n as f64).sqrt(), "column {column}: {largest}");
        }
    }
}

#[test]
fn a_condition_is_a_density_of_the_other_columns() {
    let model = crabs_model(2);
    let given = [(0, 15.0), (3, 36.0), (2, 32.0), (4, 14.0)];
    let one = Condition::new(&model, model.whitening(), &given, 0).unwrap();
    assert_eq!(one.free(), [1]);
    // The density of the only free column, by ratios of the model's own.
    let line = model.conditional(&[15.0, 0.0, 32.0, 36.0, 14.0], 1).unwrap();
    let cells = one.columns().unwrap();
    assert!((cells[0].1.mean() - line.mean()).abs() < 1e-12);
    assert!((cells[0].1.quantile(0.1) - line.quantile(0.1)).abs() < 1e-12);
    let drawn = one.sample(64).unwrap();
    assert_eq!(drawn[..5 * 40], one.sample(40).unwrap());
    assert!(drawn.chunks(5).all(|r| (r[0], r[2], r[3], r[4]) == (15.0, 32.0, 36.0, 14.0)));
}

#[test]
fn bad_conditions_are_refused() {
    let model = crabs_model(1);
    let new =
        |given: &[(usize, f64)]| Condition::new(&model, model.whitening(), given, 0).err().unwrap();
    for given in [&[(9, 1.0)][..], &[(0, NAN)], &[(0, 1.0), (0, 2.0)]] {
        assert!(matches!(new(given), Error::InvalidSetting { name: "given", .. }), "{given:?}");
    }
    let all: Vec<(usize, f64)> = (0..5).map(|i| (i, 10.0)).collect();
    assert!(new(&all).to_string().contains("all columns are given"));
    // A subspace: the third column is the sum of the others.
    let values: Vec<f64> = crabs().chunks(5).flat_map(|r| [r[0], r[1], r[0] + r[1]]).collect();
    let sums = fit(&Rows::new(&values, 3).unwrap(), &Settings::default()).unwrap().model;
    let given = [(0, 10.0), (1, 10.0), (2, 20.0)];
    let two = Condition::new(&sums, sums.whitening(), &given[..2], 0).unwrap();
    let row = two.sample(1).unwrap();
    assert!((row[2] - 20.0).abs() < 1e-6, "{row:?}");
    let one = Condition::new(&sums, sums.whitening(), &given[..1], 0).unwrap().sample(32).unwrap();
    assert!(one.chunks(3).all(|r| (r[0] + r[1] - r[2]).abs() < 1e-6 && r[0] == 10.0));
    assert!(one[1] != one[4]);
    let values: Vec<f64> = values.chunks(3).flat_map(|r| [r[0], r[1], r[2], 2.0 * r[0]]).collect();
    let twice = fit(&Rows::new(&values, 4).unwrap(), &Settings::default()).unwrap().model;
    let given = [(0, 10.0), (3, 5.0)];
    let error = Condition::new(&twice, twice.whitening(), &given, 0).err().unwrap();
    assert!(matches!(error, Error::OutsideSubspace { .. }), "{error}");
}

#[test]
fn ranges_are_met_or_refused() {
    let model = crabs_model(1);
    let draw = |rows: std::ops::Range<usize>| Ok(model.sample_range(rows, 0));
    let range = |low: f64, high: f64| [Range { column: 3, low, high }];
    let go = &mut |_: usize| true;
    let (rows, share) = within(&range(40.0, f64::INFINITY), 5, 200, draw, go).unwrap().unwrap();
    assert!(rows.len() == 1000 && rows.chunks(5).all(|r| r[3] > 40.0));
    let drawn = model.sample(20_000, 9);
    let truth = drawn.chunks(5).filter(|r| r[3] > 40.0).count() as f64 / 20_000.0;
    assert!((share - truth).abs() < 0.02, "{share} {truth}");
    assert!(matches!(within(&range(500.0, 501.0), 5, 1, draw, go), Err(Error::TooRare { .. })));
    assert!(within(&range(2.0, 1.0), 5, 1, draw, go).is_err());
    assert!(within(&range(40.0, 50.0), 5, 9, draw, &mut |_| false).unwrap().is_none());
}

#[test]
fn what_is_missing_is_counted() {
    let rows = [1.0, NAN, NAN, NAN, 2.0, 3.0];
    let missing = Missing::of(&Rows::new(&rows, 2).unwrap()).unwrap();
    assert_eq!((missing.cells, missing.rows, missing.empty, missing.of), (3, 2, 1, 3));
    let said = missing.message(|c| ["a", "b"][c].into());
    assert!(
        said.contains("50.0 % of all cells") && said.contains("`b` 66.7 %, `a` 33.3 %"),
        "{said}"
    );
    let none = Missing::of(&Rows::new(&[NAN, 1.0, NAN, 2.0], 2).unwrap());
    assert_eq!(none, Err(Error::EmptyColumn { column: 0 }));
    let infinite = Missing::of(&Rows::new(&[f64::INFINITY, 1.0], 2).unwrap());
    assert!(matches!(infinite, Err(Error::NonFinite { .. })));
}

#[test]
fn a_fit_with_missing_cells_keeps_most_of_the_gain() {
    let values = crabs();
    let settings = Settings::default;
    // What four splits add up to: the gain of complete rows, of those with missing cells, also over their own
    // Gaussian, and of those without any.
    let (mut gain, mut kept, mut over_own, mut of_dropped) = (0.0, 0.0, 0.0, 0.0);
    for step in [77, 27, 61, 13] {
        let order = (0..200).map(|i| (i * step) % 200);
        let shuffled: Vec<f64> = order.flat_map(|i| values[5 * i..5 * i + 5].to_vec()).collect();
        let (train, held) = shuffled.split_at(5 * 150);
        let held = Rows::new(held, 5).unwrap();
        let ln_p = |model: &Model| mean(&model.score(&held).unwrap(), &held).mean;
        let whole = fit(&Rows::new(train, 5).unwrap(), &settings()).unwrap().model;
        let gaussian = ln_p(&whole.truncated(0).unwrap());
        let holed = with_holes(train, 5);
        let rows = Rows::new(&holed, 5).unwrap();
        let fitted = Fitter::new(settings()).fit_incomplete(&rows).unwrap();
        assert!(
            fitted.notices[0].message(|c| c.to_string()).contains("% of all cells are missing")
        );
        let complete: Vec<f64> =
            holed.chunks(5).filter(|r| r.iter().all(|x| !x.is_nan())).flatten().copied().collect();
        let dropped = fit(&Rows::new(&complete, 5).unwrap(), &settings()).unwrap().model;
        gain += ln_p(&whole) - gaussian;
        kept += ln_p(&fitted.model) - gaussian;
        over_own += ln_p(&fitted.model) - ln_p(&fitted.model.truncated(0).unwrap());
        of_dropped += ln_p(&dropped) - gaussian;
    }
    println!("gain {gain} kept {kept} over its own Gaussian {over_own} dropped {of_dropped}");
    // docs/missing.md has means over more splits.
    assert!(kept > 0.8 * gain && over_own > 0.9 * gain, "{gain} {kept} {over_own}");
    assert!(kept > of_dropped + 0.4, "{kept} {of_dropped}");
}

#[test]
fn without_missing_cells_the_bits_are_the_same() {
    let values = crabs();
    let rows = Rows::new(&values, 5).unwrap();
    let (a, b) = (Fitter::new(Settings::default()), Fitter::new(Settings::default()));
    let (a, b) = (a.fit(&rows).unwrap(), b.fit_incomplete(&rows).unwrap());
    assert_eq!(a.model.score(&rows).unwrap(), b.model.score(&rows).unwrap());
    assert_eq!(a.notices, b.notices);
}

#[test]
fn draws_do_not_count_as_rows() {
    // Gaussian rows with a third of their cells missing: five draws of each row must not look like five times
    // as many rows.
    let mut found = 0;
    for seed in 0..6 {
        let noise = crabs_model(0).sample(150, seed);
        let holed = with_holes(&noise, 3);
        let rows = Rows::new(&holed, 5).unwrap();
        let fitted = Fitter::new(Settings::default()).fit_incomplete(&rows).unwrap();
        found += usize::from(!fitted.state.experts.is_empty());
    }
    assert!(found <= 1, "{found} of 6 tables of noise have experts");
}

/// Three groups in four columns, a hundred rows of each.
fn grouped(seed: u64) -> Vec<f64> {
    let noise = common::normals(1200, seed);
    let cell = |(k, z): (usize, &f64)| {
        let (group, column) = (k / 4 % 3, k % 4);
        z + if column == group { 5.0 } else { 0.0 }
    };
    noise.iter().enumerate().map(cell).collect()
}

fn pooled(holed: &[f64]) -> upoe::Fit {
    let settings = Settings::default().with(|s| (s.depth, s.pool) = (None, true));
    Fitter::new(settings).fit_incomplete(&Rows::new(holed, 4).unwrap()).unwrap()
}

#[test]
fn a_pool_learns_from_the_cells_that_are_there() {
    let holed = with_holes(&grouped(1), 4);
    let fitted = pooled(&holed);
    let pool = fitted.pool.as_ref().unwrap();
    let one_layer = Fitter::new(Settings::default());
    let one_layer = one_layer.fit_incomplete(&Rows::new(&holed, 4).unwrap()).unwrap().model;
    let fresh = grouped(2);
    let fresh = Rows::new(&fresh, 4).unwrap();
    let ln_p = |density: &dyn Density| mean(&density.score(&fresh).unwrap(), &fresh).mean;
    // Three groups of unit variance: the entropy of one, and ln 3.
    let truth = -4.0 * (0.5 + 0.5 * std::f64::consts::TAU.ln()) - 3_f64.ln();
    assert!(ln_p(pool) > truth - 0.2, "{} {truth}", ln_p(pool));
    assert!(ln_p(pool) > ln_p(&one_layer) + 0.1, "{} {}", ln_p(pool), ln_p(&one_layer));
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let again = one.install(|| pooled(&holed));
    assert_eq!(again.pool.unwrap().score(&fresh).unwrap(), pool.score(&fresh).unwrap());
}

#[test]
fn what_a_pool_says_of_missing_cells_fits_together() {
    let fitted = pooled(&with_holes(&grouped(1), 4));
    let (pool, whitening) = (fitted.pool.as_ref().unwrap(), fitted.model.whitening());
    assert!(pool.members().len() > 1);
    // One missing cell: what formulas say is what is found along the line.
    let row = &grouped(3)[..4];
    for column in 0..4 {
        let mut holed = row.to_vec();
        holed[column] = NAN;
        let found = pool.score_present(&Rows::new(&holed, 4).unwrap()).unwrap()[0].value;
        let line = pool.conditional(row, column).unwrap();
        assert!((found - line.ln_total()).abs() < 1e-7, "{found} {}", line.ln_total());
    }
    // Two: draws of a cell follow its density (Kolmogorov and Smirnov), and its quantiles are those of its CDF.
    let holed = [NAN, row[1], NAN, row[3]];
    let filler = Filler::new(pool, whitening, 3).unwrap();
    let n = 4_000;
    let drawn = filler.draw(&Rows::new(&holed.repeat(n), 4).unwrap(), 1, 0).unwrap();
    let ask = |_: usize, column: usize, cell: &upoe::Cell| {
        let mut of =
            drawn.iter().skip(column).step_by(4).map(|x| cell.cdf(*x)).collect::<Vec<f64>>();
        of.sort_unstable_by(f64::total_cmp);
        let off = of.iter().enumerate().map(|(i, p)| (p - (i as f64 + 0.5) / n as f64).abs());
        let at = cell.cdf(cell.quantile(0.3));
        (off.fold(0.0, f64::max), at)
    };
    for (largest, at) in filler.cells(&Rows::new(&holed, 4).unwrap(), 0, ask).unwrap().concat() {
        assert!(largest < 1.95 / (n as f64).sqrt(), "{largest}");
        assert!((at - 0.3).abs() < 1e-6, "{at}");
    }
    assert!(drawn.chunks(4).all(|r| r[1] == row[1] && r[3] == row[3]));
}

#[test]
fn far_rows_and_their_neighbours_get_what_they_would_alone() {
    let fitted = pooled(&with_holes(&grouped(1), 4));
    let pool = fitted.pool.as_ref().unwrap();
    let near = [0.5, NAN, NAN, 0.1];
    let alone = pool.score_present(&Rows::new(&near, 4).unwrap()).unwrap()[0];
    let filler = Filler::new(pool, fitted.model.whitening(), 3).unwrap();
    for far in [1e152, 1.5e154, 1e200, 1e300] {
        let both = [[far, NAN, 0.5, 1.0], near].concat();
        let rows = Rows::new(&both, 4).unwrap();
        let scores = pool.score_present(&rows).unwrap();
        assert_eq!(scores[1], alone);
        assert!(scores[0].value < -300.0, "{:?}", scores[0]);
        let cells = filler.cells(&rows, 0, |_, _, cell| (cell.mean(), cell.interval(0.9)));
        for (mean, (low, high)) in cells.unwrap().concat() {
            assert!(mean.is_finite() && low < high, "{far}: {mean} {low} {high}");
        }
        assert!(filler.draw(&rows, 3, 0).unwrap().iter().all(|x| x.is_finite()));
    }
}

#[test]
fn groups_are_found_where_no_row_is_complete() {
    let mut values = grouped(1);
    values.iter_mut().enumerate().filter(|(k, _)| k % 4 == k / 4 % 4).for_each(|(_, x)| *x = NAN);
    let rows = Rows::new(&values, 4).unwrap();
    let fitted = Fitter::new(Settings::default()).fit_incomplete(&rows).unwrap();
    let groups = fitted.groups(&rows).unwrap();
    assert!(groups.groups().iter().all(|group| group.share > 0.0 && group.size > 0.0));
}
