//! Rows with missing cells: marginals against brute force and closed forms, expected projections, and
//! observed against expected.

use crate::common::{apply, dot, mixed, normals, plain, rotation};
use crate::line::{masses, models};
use upoe::expert::{Expert, Marginal, Mixture, StudentT};
use upoe::{
    Density, Dims, Error, Estimate, Fitter, Model, Pool, Rows, Settings, Whitening, expected,
};

fn present(density: &dyn Density, row: &[f64]) -> Estimate {
    density.score_present(&Rows::new(row, row.len()).unwrap()).unwrap()[0]
}

fn without(row: &[f64], missing: &[usize]) -> Vec<f64> {
    let mut row = row.to_vec();
    missing.iter().for_each(|&i| row[i] = f64::NAN);
    row
}

/// ln ∫ exp(ln_f) by the trapezoidal rule in sinh, at every n-th point of [`masses`].
fn brute(place: (f64, f64), ln_f: &dyn Fn(f64) -> f64) -> f64 {
    masses(place, ln_f).iter().map(|m| m.1).sum::<f64>().ln()
}

#[test]
fn one_missing_cell_is_integrated_exactly() {
    for (k, model) in models().iter().enumerate() {
        let rows = model.sample(2, 11);
        for (row, column) in rows.chunks(5).zip([1, 3]) {
            let found = present(model, &without(row, &[column]));
            let ln_p = |t: f64| {
                let mut row = row.to_vec();
                row[column] = t;
                model.ln_p(&row).unwrap_or(f64::NEG_INFINITY)
            };
            let line = model.conditional(row, column).unwrap();
            let place = (line.median(), 0.2 * (line.quantile(0.75) - line.quantile(0.25)));
            let exact = brute(place, &ln_p);
            assert_eq!(found.standard_error, 0.0);
            assert!((found.value - exact).abs() < 1e-8, "model {k}: {} {exact}", found.value);
        }
    }
}

#[test]
fn two_missing_cells_are_integrated_by_nested_lines() {
    for (k, model) in models().iter().enumerate().step_by(8) {
        let row = model.sample(1, 12);
        let found = present(model, &without(&row, &[0, 2]));
        let inner = |t: f64| {
            let mut row = row.clone();
            row[0] = t;
            model.conditional(&row, 2).map_or(f64::NEG_INFINITY, |line| line.ln_total())
        };
        // Coarser than `masses`, because each point is an integral; smooth, so that it is enough.
        let (centre, scale) =
            (model.whitening().mean()[0], 0.3 * model.whitening().deviations()[0]);
        let step = 0.02;
        let term = |k: i32| {
            let s = step * f64::from(k);
            (inner(centre + scale * s.sinh()) + (scale * s.cosh() * step).ln()).exp()
        };
        let exact = (-900..=900).map(term).sum::<f64>().ln();
        assert_eq!(found.standard_error, 0.0);
        assert!((found.value - exact).abs() < 1e-8, "model {k}: {} {exact}", found.value);
    }
}

/// Pairs of columns that are independent of each other, one expert in each: the marginal is a product.
#[test]
fn many_missing_cells_agree_with_a_product_of_pairs_within_the_error() {
    let t = |mu, scale, nu| StudentT::with_scale(mu, scale, nu).unwrap();
    let experts: Vec<Expert> = vec![
        t(0.0, 0.5, 2.0).into(),
        Mixture::new(vec![0.5, 0.5], vec![t(-1.2, 0.2, 30.0), t(1.2, 0.3, 30.0)]).unwrap().into(),
        crate::experts::everyone().pop().unwrap(),
        t(0.5, 0.3, 1.5).into(),
        Mixture::new(vec![0.2, 0.8], vec![t(2.0, 0.2, 9.0), t(-0.4, 0.6, 5.0)]).unwrap().into(),
    ];
    for pairs in [3, 5] {
        let d = 2 * pairs;
        let whitening = plain(d);
        let filter = |k: usize| -> Vec<f64> {
            let a = whitening.matrix();
            (0..d).map(|i| 0.8 * a[(i, k)] + 0.6 * a[(i, k + pairs)]).collect()
        };
        let directions: Vec<Vec<f64>> = (0..pairs).map(filter).collect();
        let model = Model::new(plain(d), directions, experts[..pairs].to_vec()).unwrap();
        let missing: Vec<usize> = (0..pairs).collect();
        for row in normals(3 * d, 13).chunks(d) {
            let found = present(&model, &without(row, &missing));
            let of_pair = |k: usize| {
                let a = plain(2).matrix().clone();
                let w = (0..2).map(|i| 0.8 * a[(i, 0)] + 0.6 * a[(i, 1)]).collect();
                let pair = Model::new(plain(2), vec![w], vec![experts[k].clone()]).unwrap();
                pair.conditional(&[f64::NAN, row[k + pairs]], 0).unwrap().ln_total()
            };
            let exact: f64 = (0..pairs).map(of_pair).sum();
            let Estimate { value, standard_error } = found;
            assert!(standard_error < 0.01, "{pairs} {standard_error}");
            assert!(
                (value - exact).abs() < 4.0 * standard_error,
                "{pairs} {value} {exact} {standard_error}"
            );
        }
    }
}

#[test]
fn what_is_not_missing_counts_as_it_is() {
    for model in models() {
        let rows = model.sample(3, 14);
        let values = [without(&rows[..5], &[0, 1, 2, 3, 4]), rows[5..].to_vec()].concat();
        let found = model.score_present(&Rows::new(&values, 5).unwrap()).unwrap();
        let plain = model.score(&Rows::new(&rows, 5).unwrap()).unwrap();
        assert_eq!(found[0], Estimate::exact(0.0));
        assert_eq!(found[1..].iter().map(|f| f.value).collect::<Vec<_>>(), plain[1..]);
    }
    // Of a Gaussian everything is known.
    let (model, gaussian) = (&models()[3], &models()[7]);
    for model in [model, gaussian] {
        assert!(model.experts().is_empty());
        let row = model.sample(1, 15);
        let cut = without(&row, &[0, 1, 2, 4]);
        let m = model.whitening();
        let variance = match m.rest() {
            upoe::Rest::Noise { variance } => variance,
            _ => 0.0,
        };
        let inverse = |k: usize| m.inverse()[(3, k)];
        let kept: f64 = (0..m.dims()).map(|k| inverse(k) * inverse(k)).sum();
        // Noise outside the kept dimensions: what an axis has outside them.
        let axis: f64 = 1.0 - (0..m.dims()).map(|k| inverse(k) * m.matrix()[(k, 3)]).sum::<f64>();
        let variance = kept + variance * axis;
        let exact = -0.5 * (row[3] - m.mean()[3]).powi(2) / variance
            - 0.5 * (std::f64::consts::TAU * variance).ln();
        let found = present(model, &cut);
        assert!((found.value - exact).abs() < 1e-9, "{} {exact}", found.value);
    }
    let infinite = [1.0, f64::INFINITY, f64::NAN, 0.0, 0.0];
    let refused = models()[0].score_present(&Rows::new(&infinite, 5).unwrap());
    assert!(matches!(refused, Err(Error::NonFinite { column: 1, .. })));
}

#[test]
fn expected_projections_are_means_over_the_missing_cell() {
    let model = &models()[1];
    let row = model.sample(1, 16);
    let cut = without(&row, &[1]);
    let z = model.transform_present(&Rows::new(&cut, 5).unwrap()).unwrap();
    let line = model.conditional(&cut, 1).unwrap();
    let place = (line.median(), 0.2 * (line.quantile(0.75) - line.quantile(0.25)));
    let masses = masses(place, &|t| line.ln_density(t));
    let mean: f64 = masses.iter().map(|m| m.0 * m.1).sum();
    let mut filled = row.clone();
    filled[1] = mean;
    let exact = model.transform(&Rows::new(&filled, 5).unwrap()).unwrap();
    for (z, exact) in z.iter().zip(&exact) {
        assert!((z - exact).abs() < 1e-6 * (1.0 + exact.abs()), "{z} {exact}");
    }
    // All missing: what the experts expect.
    let none = model.transform_present(&Rows::new(&[f64::NAN; 5], 5).unwrap()).unwrap();
    assert_eq!(none[0], model.experts()[0].shape().mean);
    // Several missing, by draws: a Gaussian knows the answer to a linear question exactly.
    let w = rotation(5, 3)[..3].to_vec();
    let gaussian = Model::new(model.whitening().clone(), w, vec![Expert::gaussian(); 3]).unwrap();
    let cut = without(&row, &[0, 2, 4]);
    let z = gaussian.transform_present(&Rows::new(&cut, 5).unwrap()).unwrap();
    let exact =
        gaussian.transform(&Rows::new(&conditional_mean(&gaussian, &cut), 5).unwrap()).unwrap();
    for (z, exact) in z.iter().zip(&exact) {
        assert!((z - exact).abs() < 0.03, "{z} {exact}");
    }
}

/// The conditional mean of a Gaussian, by Gauss–Seidel through the conditionals of single cells.
fn conditional_mean(model: &Model, cut: &[f64]) -> Vec<f64> {
    let missing: Vec<usize> = (0..cut.len()).filter(|&i| cut[i].is_nan()).collect();
    let mut row = cut.to_vec();
    missing.iter().for_each(|&i| row[i] = model.whitening().mean()[i]);
    for _ in 0..2000 {
        for &i in &missing {
            // The precision matrix AᵀA gives the conditional mean of one cell.
            let a = model.whitening().matrix();
            let product = |j: usize| (0..5).map(|k| a[(k, i)] * a[(k, j)]).sum::<f64>();
            let pull: f64 = (0..5)
                .filter(|j| *j != i)
                .map(|j| product(j) * (row[j] - model.whitening().mean()[j]))
                .sum();
            row[i] = model.whitening().mean()[i] - pull / product(i);
        }
    }
    row
}

#[test]
fn a_gaussian_expects_what_regression_does() {
    let values = apply(&rotation(3, 5), &normals(900, 17), 3);
    let values: Vec<f64> =
        values.chunks(3).flat_map(|r| [2.0 * r[0] + r[1], r[1], 5.0 + r[2] - r[1]]).collect();
    let whitening = Whitening::fit(&Rows::new(&values, 3).unwrap(), Dims::All).unwrap();
    let model = Model::new(whitening, vec![], vec![]).unwrap();
    let row = [1.0, 2.0, 9.0];
    let a = model.whitening().matrix();
    let precision = |i: usize, j: usize| (0..3).map(|k| a[(k, i)] * a[(k, j)]).sum::<f64>();
    let off: Vec<f64> = row.iter().zip(model.whitening().mean()).map(|(r, m)| r - m).collect();
    let found = expected::of(&model, &row).unwrap();
    for (i, found) in found.iter().enumerate() {
        let found = found.unwrap();
        let residual =
            dot(&(0..3).map(|j| precision(i, j)).collect::<Vec<_>>(), &off) / precision(i, i);
        let deviation = precision(i, i).powf(-0.5);
        assert_eq!(found.observed, row[i]);
        assert!((found.expected - (row[i] - residual)).abs() < 1e-9);
        assert!((found.high - found.expected - 1.644_853_626_951_472 * deviation).abs() < 1e-8);
        assert!((found.expected - found.low - 1.644_853_626_951_472 * deviation).abs() < 1e-8);
        let z = (residual / deviation).abs();
        let tail = 2.0 * Expert::gaussian().upper_tail(z);
        assert!((found.surprise() / tail - 1.0).abs() < 1e-6, "{} {tail}", found.surprise());
        // The peak is one of a panel's points.
        assert!(
            (found.blame - 0.5 * z * z).abs() < 0.02 + 0.01 * z * z,
            "{} {}",
            found.blame,
            0.5 * z * z
        );
    }
    // One cell missing: the marginal of the others.
    let holes = expected::of(&model, &[f64::NAN, 2.0, 9.0]).unwrap();
    let covariance = |i: usize, j: usize| {
        let b = model.whitening().inverse();
        (0..3).map(|k| b[(i, k)] * b[(j, k)]).sum::<f64>()
    };
    let second = model.whitening().mean()[1] + covariance(1, 2) / covariance(2, 2) * off[2];
    let deviation = (covariance(1, 1) - covariance(1, 2).powi(2) / covariance(2, 2)).sqrt();
    let found = holes[1].unwrap();
    assert!((found.expected - second).abs() < 0.1 * deviation, "{} {second}", found.expected);
    assert!((found.high - second - 1.645 * deviation).abs() < 0.2 * deviation);
    assert!(holes[0].unwrap().observed.is_nan() && holes[0].unwrap().blame == 0.0);
    assert!(expected::blamed(&expected::of(&model, &row).unwrap()).is_some());
}

#[test]
fn stacks_and_pools_have_marginals_within_their_error() {
    let values = mixed();
    let rows = Rows::new(&values, 5).unwrap();
    let settings = Settings::default().with(|s| s.depth = None);
    let stack = Fitter::new(settings).fit(&rows).unwrap().stack.unwrap();
    let pool = Pool::fit(&rows, &Settings::default(), |_, _| true).unwrap().unwrap();
    for (name, density) in [("stack", &stack as &dyn Density), ("pool", &pool)] {
        let row = rows.row(7);
        let one = present(density, &without(&row, &[2])).value;
        assert!((one - density.conditional(&row, 2).unwrap().ln_total()).abs() < 1e-9);
        let found = present(density, &without(&row, &[0, 2]));
        let inner = |t: f64| {
            let mut row = row.to_vec();
            row[0] = t;
            density.conditional(&row, 2).map_or(f64::NEG_INFINITY, |line| line.ln_total())
        };
        let step = 0.1;
        let (centre, scale) = density.places()[0];
        let term = |k: i32| {
            let s = step * f64::from(k);
            (inner(centre + scale * s.sinh()) + (scale * s.cosh() * step).ln()).exp()
        };
        let exact = (-60..=60).map(term).sum::<f64>().ln();
        let Estimate { value, standard_error } = found;
        assert!(standard_error < 0.01, "{name} {standard_error}");
        assert!(
            (value - exact).abs() < 4.0 * standard_error + 1e-4,
            "{name} {value} {exact} {standard_error}"
        );
        assert_eq!(present(density, &[f64::NAN; 5]), Estimate::exact(0.0));
    }
}

#[test]
fn constant_columns_may_be_missing_and_determined_ones_are_refused() {
    let values: Vec<f64> = normals(200, 3).chunks(2).flat_map(|r| [r[0], 4.0, r[1]]).collect();
    let whitening = Whitening::fit(&Rows::new(&values, 3).unwrap(), Dims::All).unwrap();
    let model = Model::new(whitening, vec![], vec![]).unwrap();
    let (whole, cut) = ([0.5, 4.0, 1.0], [0.5, f64::NAN, 1.0]);
    assert!((present(&model, &cut).value - model.ln_p(&whole).unwrap()).abs() < 1e-12);
    let line = model.conditional(&whole, 2).unwrap().ln_total();
    assert!((present(&model, &[0.5, f64::NAN, f64::NAN]).value - line).abs() < 1e-9);
    assert_eq!(present(&model, &[f64::NAN, 5.0, 1.0]).value, f64::NEG_INFINITY);
    assert_eq!(expected::of(&model, &whole).unwrap()[1], None);
    let sums: Vec<f64> =
        normals(200, 3).chunks(2).flat_map(|r| [r[0], r[1], r[0] + r[1]]).collect();
    let whitening = Whitening::fit(&Rows::new(&sums, 3).unwrap(), Dims::All).unwrap();
    let model = Model::new(whitening, vec![], vec![]).unwrap();
    let refused = model.score_present(&Rows::new(&[0.5, f64::NAN, 1.0], 3).unwrap());
    assert!(matches!(refused, Err(Error::NoLine { .. })));
}
