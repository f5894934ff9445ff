//! The laws of the density along a line: normalised, the ratio of ln p, drawn from by its own CDF.

use crate::common::{apply, dot, kolmogorov, mixed, normals, plain, rng, rotation};
use crate::experts::everyone;
use upoe::expert::{Expert, Learnable, Marginal, Mixture, StudentT, Tilt};
use upoe::{Density, Dims, Error, Fitter, Line, Model, Pool, Rows, Settings, Whitening};

fn t(mu: f64, scale: f64, nu: f64) -> StudentT {
    StudentT::with_scale(mu, scale, nu).unwrap()
}

/// One expert of each family.
fn families() -> Vec<Expert> {
    let tilted: Vec<f64> = normals(41, 1).iter().map(|c| 0.2 * c).collect();
    vec![
        t(0.2, 0.7, 3.0).into(),
        Mixture::new(vec![0.4, 0.6], vec![t(-1.0, 0.2, 39.0), t(0.8, 0.5, 2.0)]).unwrap().into(),
        Expert::from(Tilt::gaussian(100.0)).at(&tilted),
    ]
}

fn oblique(j: usize, d: usize, seed: u64) -> Vec<Vec<f64>> {
    normals(j * d, seed).chunks(d).map(<[f64]>::to_vec).collect()
}

/// Correlated rows of five columns on different scales.
fn whitening(dims: Dims) -> Whitening {
    let scaled: Vec<f64> = normals(2000, 2)
        .chunks(5)
        .flat_map(|r| [3.0 * r[0], 2.0 * r[1], 1.5 * r[2], 0.3 * r[3], 0.2 * r[4]])
        .collect();
    let values: Vec<f64> = apply(&rotation(5, 3), &scaled, 5)
        .chunks(5)
        .flat_map(|r| [r[0] + 50.0, 100.0 * r[1], r[2], 0.01 * r[3] - 7.0, r[4]])
        .collect();
    Whitening::fit(&Rows::new(&values, 5).unwrap(), dims).unwrap()
}

/// Models of all families: orthonormal and oblique directions, all dimensions and fewer.
pub fn models() -> Vec<Model> {
    let mut all = Vec::new();
    for dims in [Dims::All, Dims::Count(3)] {
        let d = if dims == Dims::All { 5 } else { 3 };
        for directions in [rotation(d, 7)[..3].to_vec(), oblique(3, d, 8), oblique(1, d, 9), vec![]]
        {
            let experts = families()[3 - directions.len()..].to_vec();
            all.push(Model::new(whitening(dims), directions, experts).unwrap());
        }
    }
    // Experts in all directions: nothing Gaussian is left, and tails are heavy.
    let experts = [families(), families()[..2].to_vec()].concat();
    all.push(Model::new(whitening(Dims::All), oblique(5, 5, 10), experts).unwrap());
    all
}

/// Points t and the masses there by the trapezoidal rule in t = middle + scale · sinh s, where
/// everything is smooth.
pub fn masses((middle, scale): (f64, f64), ln_f: &dyn Fn(f64) -> f64) -> Vec<(f64, f64)> {
    let (n, reach) = (24_000, 45.0);
    let step = 2.0 * reach / f64::from(n);
    let point = |k: i32| {
        let s: f64 = -reach + step * f64::from(k);
        let t = middle + scale * s.sinh();
        (t, (ln_f(t) + s.cosh().ln() + scale.ln() + step.ln()).exp())
    };
    (0..=n).map(point).collect()
}

/// Everything a line says about itself, against ln p by brute force.
fn keeps_its_laws(line: &Line, ln_p: &dyn Fn(f64) -> f64, exact: f64, name: &str) {
    let (low, high) = line.interval(0.5);
    let place = (line.median(), 0.25 * (high - low));
    let masses = masses(place, ln_p);
    let total: f64 = masses.iter().map(|m| m.1).sum();
    assert!((total.ln() - line.ln_total()).abs() < exact, "{name} {total} {}", line.ln_total());
    for p in [1e-7, 0.001, 0.2, 0.5, 0.7, 0.99, 1.0 - 1e-6] {
        let value = line.quantile(p);
        let density = ln_p(value) - line.ln_total();
        assert!((line.ln_density(value) - density).abs() < 1e-7, "{name} {p}");
        let below: f64 = masses.iter().filter(|m| m.0 <= value).map(|m| m.1).sum();
        // The step of the brute force cuts a cell.
        let cell = place.1.hypot(value - place.0) * density.exp() * 0.004;
        assert!((below / total - p).abs() < cell + 1e-8, "{name} {p} {below}");
        assert!((line.cdf(value) - p).abs() < 0.1 * exact, "{name} {p}");
        assert!((line.cdf(value) + line.upper_tail(value) - 1.0).abs() < 0.1 * exact, "{name} {p}");
    }
    let mean = masses.iter().filter(|m| m.1 > 0.0).map(|m| m.0 * m.1).sum::<f64>() / total;
    // The tails of a pool may be too heavy for a mean.
    let off = (line.mean() - mean).abs();
    assert!(off < 1e-6 * (1.0 + mean.abs()) || (name == "pool" && off.is_nan()), "{name} {mean}");
    let mut rng = rng(60);
    let mut sample: Vec<f64> = (0..2000).map(|_| line.sample(&mut rng)).collect();
    assert!(kolmogorov(&mut sample, |value| line.cdf(value)) < 1.95, "{name}");
}

#[test]
fn in_one_dimension_the_line_is_the_expert() {
    for expert in everyone() {
        let model = Model::new(plain(1), vec![vec![1.0]], vec![expert.clone()]).unwrap();
        let line = model.along(&[0.3], &[-2.0]).unwrap();
        assert!((line.ln_total() + 2.0_f64.ln()).abs() < 1e-10, "{} {expert:?}", line.ln_total());
        for p in [1e-30, 1e-6, 0.01, 0.3, 0.5, 0.8, 0.999] {
            let z = expert.quantile(p);
            if z.abs() > 1e200 {
                continue;
            }
            let t = (0.3 - z) / 2.0;
            // z itself is rounded where the peak is sharp, and a tilt's tail loses digits.
            let error = if p < 1e-12 { 1e-2 } else { 1e-8 };
            let error = error + 1e-15 * (z.abs() + 1.0) / (p / expert.ln_density(z).exp()).abs();
            assert!(
                (line.upper_tail(t) / p - 1.0).abs() < error,
                "{p} {} {expert:?}",
                line.upper_tail(t)
            );
            let back = 0.3 - 2.0 * line.quantile(1.0 - p);
            let again = expert.cdf(back);
            assert!(
                (again - p).abs() < 1e-9 + 1e-15 * expert.ln_density(z).exp(),
                "{p} {again} {expert:?}"
            );
        }
        let mean = expert.shape().mean;
        let heavy = expert.upper_tail(1e60) > 0.0 || expert.cdf(-1e60) > 0.0;
        if !heavy {
            assert!(
                (0.3 - 2.0 * line.mean() - mean).abs() < 1e-8,
                "{mean} {} {expert:?}",
                line.mean()
            );
        }
    }
}

#[test]
fn one_layer_is_exact_along_any_line() {
    for (k, model) in models().iter().enumerate() {
        let rows = model.sample(1, 5);
        for (i, row) in rows.chunks(5).enumerate() {
            let direction = normals(5, 20 + i as u64);
            let scales = model.whitening().deviations();
            let direction: Vec<f64> = direction.iter().zip(scales).map(|(d, s)| d * s).collect();
            let moved = |t: f64| -> Vec<f64> {
                row.iter().zip(&direction).map(|(r, d)| r + t * d).collect()
            };
            let ln_p = |t: f64| model.ln_p(&moved(t)).unwrap_or(f64::NEG_INFINITY);
            let line = model.along(row, &direction).unwrap();
            keeps_its_laws(&line, &ln_p, 1e-8, &format!("model {k}"));
            for column in [0, 3] {
                let ln_p = |t: f64| {
                    let mut row = row.to_vec();
                    row[column] = t;
                    model.ln_p(&row).unwrap_or(f64::NEG_INFINITY)
                };
                let mut missing = row.to_vec();
                missing[column] = f64::NAN;
                let line = model.conditional(&missing, column).unwrap();
                keeps_its_laws(&line, &ln_p, 1e-8, &format!("model {k}, column {column}"));
            }
        }
    }
}

#[test]
fn distant_modes_are_found_and_tails_keep_their_digits() {
    // Two sharp heavy-tailed experts that disagree by 2000 of their scales, and little else.
    let experts = vec![t(-1000.0, 0.5, 2.0).into(), t(1000.0, 0.5, 2.0).into()];
    let model = Model::new(plain(2), vec![vec![1.0, 0.2], vec![1.0, -0.2]], experts).unwrap();
    let axis = model.whitening().restore(&[1.0, 0.0]);
    let line = model.along(&[0.0, 0.0], &axis).unwrap();
    assert!((line.cdf(0.0) - 0.5).abs() < 1e-10, "{}", line.cdf(0.0));
    assert!((line.quantile(0.25) + 1000.0).abs() < 1e-3, "{line:?}");
    // A Gaussian: 40 deviations out, and 1000.
    let model = Model::new(plain(2), vec![], vec![]).unwrap();
    let line = model.conditional(&[3.0, f64::NAN], 1).unwrap();
    let exact = -0.5 * 1600.0 - 0.5 * std::f64::consts::TAU.ln() - 40.0_f64.ln();
    assert!((line.ln_tail(40.0, true) - exact).abs() < 1e-3, "{}", line.ln_tail(40.0, true));
    let exact = -0.5 * 1e6 - 0.5 * std::f64::consts::TAU.ln() - 1000.0_f64.ln();
    assert!((line.ln_tail(-1000.0, false) - exact).abs() < 1e-5);
    assert!(line.ln_tail(-1000.0, true).abs() < 1e-12);
    assert_eq!((line.quantile(0.0), line.quantile(1.0)), (f64::NEG_INFINITY, f64::INFINITY));
    assert!(line.quantile(f64::NAN).is_nan() && line.quantile(2.0).is_nan());
    // Squares overflow, or nothing is left of the density.
    for far in [1e160, 1e300, -1e300] {
        let line = model.conditional(&[far, 0.0], 1);
        assert!(line.is_err_and(|e| matches!(e, Error::NoLine { .. })), "{far}");
    }
}

#[test]
fn stacks_and_pools_have_lines_too() {
    let values = mixed();
    let rows = Rows::new(&values, 5).unwrap();
    let settings = Settings::default().with(|s| s.depth = None);
    let stack = Fitter::new(settings).fit(&rows).unwrap().stack.unwrap();
    let pool = Pool::fit(&rows, &Settings::default(), |_, _| true).unwrap().unwrap();
    for (name, density) in [("stack", &stack as &dyn Density), ("pool", &pool)] {
        for (i, column) in [(3, 0), (10, 2)] {
            let row = rows.row(i);
            let ln_p = |t: f64| {
                let mut row = row.to_vec();
                row[column] = t;
                if !t.is_finite() {
                    return f64::NEG_INFINITY;
                }
                density.score(&Rows::new(&row, 5).unwrap()).unwrap()[0]
            };
            let line = density.conditional(&row, column).unwrap();
            keeps_its_laws(&line, &ln_p, 1e-6, name);
        }
        let (row, direction) = (rows.row(20), [1.0, -0.5, 0.2, 0.0, 0.3]);
        let line = density.along(&row, &direction).unwrap();
        let ln_p = density.score(&Rows::new(&row, 5).unwrap()).unwrap()[0];
        assert!((line.ln_density(0.0) + line.ln_total() - ln_p).abs() < 1e-9, "{name}");
    }
}

#[test]
fn lines_without_a_density_are_refused() {
    let model = &models()[0];
    let row = [50.0, 0.0, 0.0, -7.0, 0.0];
    assert!(matches!(model.along(&row, &[0.0; 5]), Err(Error::NoLine { .. })));
    assert!(matches!(model.along(&row, &[1.0; 4]), Err(Error::Shape { .. })));
    assert!(matches!(model.conditional(&row, 5), Err(Error::InvalidSetting { .. })));
    let hole = [50.0, f64::NAN, 0.0, -7.0, 0.0];
    assert!(matches!(model.conditional(&hole, 0), Err(Error::NonFinite { column: 1, .. })));
    // The third column is the sum of the others, the fourth constant.
    let values: Vec<f64> =
        normals(200, 3).chunks(2).flat_map(|r| [r[0], r[1], r[0] + r[1], 4.0]).collect();
    let whitening = Whitening::fit(&Rows::new(&values, 4).unwrap(), Dims::All).unwrap();
    let model = Model::new(whitening, vec![], vec![]).unwrap();
    let row = [0.5, 0.5, 1.0, 4.0];
    for column in 0..4 {
        assert!(matches!(model.conditional(&row, column), Err(Error::NoLine { .. })), "{column}");
    }
    let inside = model.along(&row, &[1.0, 0.0, 1.0, 0.0]).unwrap();
    let ln_p = model.ln_p(&row).unwrap();
    assert!((inside.ln_density(0.0) + inside.ln_total() - ln_p).abs() < 1e-9);
    let outside = [0.5, 0.5, 3.0, 4.0];
    assert!(matches!(model.along(&outside, &[1.0, 0.0, 1.0, 0.0]), Err(Error::NoLine { .. })));
    assert_eq!(dot(&row, &[1.0, 1.0, -1.0, 0.0]), 0.0);
}
