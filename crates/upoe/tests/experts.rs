//! The laws of every family, over its whole range.

use crate::common::{kolmogorov, normals, plain, rng};
use upoe::Model;
use upoe::engine::Candidate;
use upoe::expert::{Expert, Family, Learnable, Marginal, Mixture, StudentT, Tilt};

/// Experts from all over each family's range.
pub fn everyone() -> Vec<Expert> {
    let mut all: Vec<Expert> = Vec::new();
    for beta in [0.55, 0.75, 1.0, 1.35, 2.0, 5.0, 20.0, 60.0, 1e3, 1e4, 1e6, 1e9, 1e12] {
        for (mu, scale) in [(0.0, 1.0), (0.7, 0.05), (-2.0, 3.0)] {
            all.push(StudentT::with_scale(mu, scale, 2.0 * beta - 1.0).unwrap().into());
        }
    }
    let t = |mu, scale, nu| StudentT::with_scale(mu, scale, nu).unwrap();
    all.push(
        Mixture::new(vec![0.3, 0.7], vec![t(-1.0, 0.4, 39.0), t(1.0, 0.6, 39.0)]).unwrap().into(),
    );
    all.push(
        Mixture::new(vec![0.05, 0.95], vec![t(3.0, 0.1, 1.0), t(0.0, 1.0, 1e9)]).unwrap().into(),
    );
    all.push(
        Mixture::new(
            vec![1.0, 2.0, 3.0],
            vec![t(0.0, 0.02, 0.3), t(0.0, 1.0, 5.0), t(-2.0, 0.5, 1e12)],
        )
        .unwrap()
        .into(),
    );
    let base: Expert = Tilt::gaussian(500.0).into();
    all.push(base.clone());
    for (seed, size) in [(1, 0.1), (2, 0.3), (3, 0.6), (4, 1.2)] {
        let coordinates: Vec<f64> = normals(41, seed).iter().map(|c| size * c).collect();
        all.push(base.at(&coordinates));
    }
    // Close to Student-t densities, a tail of each kind, and one lighter than a Gaussian.
    for (left, right) in [(1.0, 1.0), (0.5, 40.0), (3.0, 4.5), (2.1, 9.0)] {
        all.push(bent(|z| {
            let nu: f64 = if z < 0.0 { left } else { right };
            0.5 * z * z.abs().min(5.06) - 0.5 * (nu + 1.0) * (z * z / nu).ln_1p()
        }));
    }
    all.push(bent(|z| -0.5 * z.abs().powi(3).min(100.0)));
    assert!(Family::ALL.iter().all(|f| all.iter().any(|e| e.family() == *f)));
    all
}

/// A tilt whose f has about the given values at the knots.
fn bent(f: impl Fn(f64) -> f64) -> Expert {
    let base: Expert = Tilt::gaussian(500.0).into();
    let scale = |z: f64| 1.0 + 2.5 * (z / 2.5).asinh().abs();
    let coordinates: Vec<f64> = knots(&base).iter().map(|z| f(*z) / scale(*z)).collect();
    base.at(&coordinates)
}

fn knots(tilt: &Expert) -> Vec<f64> {
    tilt.parameters().into_iter().find(|p| p.name == "knots").unwrap().values
}

/// ∫ g·T by Simpson's rule in the CDF's own scale: z = m + s·sinh(t), where everything is smooth.
fn integral(expert: &Expert, g: impl Fn(f64) -> f64) -> f64 {
    let (low, middle, high) = (expert.quantile(0.25), expert.quantile(0.5), expert.quantile(0.75));
    integral_around(expert, middle, (high - low).max(1e-3) / 40.0, g)
}

fn integral_around(expert: &Expert, middle: f64, scale: f64, g: impl Fn(f64) -> f64) -> f64 {
    // As far as the heaviest tail reaches in double precision.
    let reach = 330.0;
    let n = 400_000;
    let step = 2.0 * reach / f64::from(n);
    let term = |k: i32| {
        let t = -reach + step * f64::from(k);
        let z = middle + scale * t.sinh();
        let p = (expert.ln_density(z) + t.cosh().ln() + scale.ln()).exp();
        if p > 0.0 { g(z) * p } else { 0.0 }
    };
    (0..=n).map(term).sum::<f64>() * step
}

#[test]
fn every_density_integrates_to_one() {
    for expert in everyone() {
        let total = integral(&expert, |_| 1.0);
        assert!((total - 1.0).abs() < 1e-10, "{total} for {expert:?}");
    }
}

#[test]
fn a_tilt_of_steep_ends_or_tied_rows_integrates_to_one() {
    // All of its mass lies beyond the knots, with the heaviest tail that has an integral.
    let shifted = bent(|z| 20.0 * z);
    let edge = knots(&shifted)[40];
    let total = integral_around(&shifted, edge, 0.01, |_| 1.0);
    assert!((total - 1.0).abs() < 1e-10, "{total}");
    assert!(shifted.quantile(0.5) > edge);

    let (z, weights) = ([-1.0 / 3.0, 3.0], [9e5, 1e5]);
    let mut tied = Expert::from(Tilt::gaussian(1e6));
    for _ in 0..100 {
        let (sums, weight) = statistics(&z, Some(weights.to_vec()), &tied);
        tied = tied.update(&sums, weight);
    }
    // Simpson's rule between the knots, where nothing has a corner.
    let knots = knots(&tied);
    let between = |pair: &[f64]| {
        let (n, width) = (2000, pair[1] - pair[0]);
        let at = |k: i32| tied.ln_density(pair[0] + width * f64::from(k) / f64::from(n)).exp();
        let weight = |k: i32| if k == 0 || k == n { 1.0 } else { f64::from(2 + 2 * (k % 2)) };
        (0..=n).map(|k| weight(k) * at(k)).sum::<f64>() * width / f64::from(3 * n)
    };
    let outside = tied.cdf(knots[0]) + tied.upper_tail(knots[40]);
    let total = outside + knots.windows(2).map(between).sum::<f64>();
    assert!((total - 1.0).abs() < 1e-10, "{total} for {tied:?}");
}

#[test]
fn cdf_and_quantile_are_inverses_and_the_cdf_has_the_density_as_slope() {
    for expert in everyone() {
        for p in [1e-6, 1e-3, 0.1, 0.3, 0.5, 0.8, 0.99, 0.999_999] {
            let z = expert.quantile(p);
            let back = expert.cdf(z);
            // Near a steep CDF z itself is rounded.
            let rounding = 4.0 * f64::EPSILON * z.abs() * expert.ln_density(z).exp();
            assert!((back - p).abs() < 1e-11 + rounding, "{p} {back} {expert:?}");
            let h = 1e-4 * (expert.quantile(0.75) - expert.quantile(0.25)).clamp(1e-3, 1.0);
            let slope = (expert.cdf(z + h) - expert.cdf(z - h)) / (2.0 * h);
            let density = expert.ln_density(z).exp();
            assert!(
                (slope - density).abs() < 1e-5 * density.max(0.1) + 1e-11 / h,
                "{p} {slope} {density} {expert:?}"
            );
        }
    }
}

#[test]
fn the_energy_slope_is_the_derivative_of_the_energy() {
    for expert in everyone() {
        for p in [0.01, 0.2, 0.45, 0.7, 0.97] {
            let z = expert.quantile(p);
            let h = 1e-5 * (expert.quantile(0.75) - expert.quantile(0.25)).max(1e-2);
            let slope = -(expert.ln_density(z + h) - expert.ln_density(z - h)) / (2.0 * h);
            let told = expert.energy_slope(z);
            assert!((slope - told).abs() < 1e-5 * told.abs().max(1.0), "{slope} {told} {expert:?}");
        }
    }
}

/// Statistics of the projections z under an expert.
fn statistics(z: &[f64], weights: Option<Vec<f64>>, expert: &Expert) -> (Vec<f64>, f64) {
    let engine = crate::engine_of(z.to_vec(), weights);
    let sums = engine.sums(&[Candidate::new(vec![1.0], expert.clone())]).unwrap();
    (sums.into_iter().next().unwrap().statistics, engine.weight())
}

#[test]
fn loss_and_gradient_from_statistics_agree_with_the_density() {
    let z: Vec<f64> = normals(300, 9).iter().map(|z| 1.3 * z + 0.2).collect();
    for expert in everyone() {
        let objective = |e: &Expert| {
            let (s, n) = statistics(&z, None, e);
            e.loss(&s, n) + e.penalty()
        };
        let (s, n) = statistics(&z, None, &expert);
        let direct = -z.iter().map(|z| expert.ln_density(*z)).sum::<f64>() / n;
        assert!((expert.loss(&s, n) - direct).abs() < 1e-9 * direct.abs().max(1.0), "{expert:?}");
        let at = expert.coordinates();
        // Coordinates of experts below learning's bounds are not their own.
        if (expert.at(&at).ln_density(0.3) - expert.ln_density(0.3)).abs() > 1e-6 {
            continue;
        }
        for (k, g) in expert.gradient(&s, n).into_iter().enumerate() {
            let moved = |h: f64| {
                let mut at = at.clone();
                at[k] += h;
                objective(&expert.at(&at))
            };
            let h = 1e-5;
            let slope = (moved(h) - moved(-h)) / (2.0 * h);
            assert!(
                (slope - g).abs() < 2e-6 * g.abs().max(1.0) + 1e-8 * direct.abs(),
                "{k} {slope} {g} {expert:?}"
            );
        }
    }
}

#[test]
fn statistics_merge_and_weights_count_rows() {
    let z = normals(500, 10);
    for expert in everyone() {
        let (whole, _) = statistics(&z, None, &expert);
        let (a, _) = statistics(&z[..200], None, &expert);
        let (b, _) = statistics(&z[200..], None, &expert);
        let doubled: Vec<f64> = z.iter().flat_map(|z| [*z, *z]).collect();
        let (twice, _) = statistics(&doubled, None, &expert);
        let (weighted, n) = statistics(&z, Some(vec![2.0; 500]), &expert);
        assert_eq!(n, 1000.0);
        for k in 0..whole.len() {
            let size = whole[k].abs().max(1.0);
            assert!((whole[k] - a[k] - b[k]).abs() < 1e-10 * size);
            assert!((twice[k] - weighted[k]).abs() < 1e-10 * size);
        }
    }
}

#[test]
fn samples_follow_the_cdf() {
    let heaviest = [0.01, 0.03, 0.099].map(|nu| StudentT::with_scale(0.5, 2.0, nu).unwrap().into());
    for (i, expert) in everyone().into_iter().chain(heaviest).enumerate() {
        let mut rng = rng(100 + i as u64);
        let mut sample: Vec<f64> = (0..4000).map(|_| expert.sample(&mut rng)).collect();
        let distance = kolmogorov(&mut sample, |z| expert.cdf(z));
        assert!(distance < 2.2, "{distance} {expert:?}");
    }
}

#[test]
fn a_million_draws_of_any_tilt_follow_its_quantiles() {
    let (n, parts) = (1_000_000, 2000);
    let base: Expert = Tilt::gaussian(500.0).into();
    let with = |coordinates: &[(usize, f64)]| {
        let mut at = [0.0; 41];
        coordinates.iter().for_each(|(k, c)| at[*k] = *c);
        base.at(&at)
    };
    // Beyond the knots, on both sides of them, and peaks of next to no width.
    let hard = [
        bent(|z| 20.0 * z),
        bent(|z| -3.0 * z),
        bent(|z| z * z),
        with(&[(20, 30.0), (12, 10.0)]),
        with(&[(19, -200.0), (24, 200.0), (3, 200.0)]),
        with(&[(7, 20.0), (18, -3.0)]),
    ];
    let tilts = everyone().into_iter().filter(|e| e.family() == Family::Tilt).chain(hard);
    for (i, expert) in tilts.enumerate() {
        let model = Model::new(plain(1), vec![vec![1.0]], vec![expert.clone()]).unwrap();
        let seed = 40 + i as u64;
        let mut z = model.sample_sphered(n, seed);
        let mut stream = upoe::random::stream(seed, upoe::random::Use::Sample, 0);
        assert_eq!(z[0], expert.sample(&mut stream), "tilt {i}: one by one or many at once");
        z.sort_by(f64::total_cmp);
        let distance = (1..parts).map(|k| {
            let p = f64::from(k) / f64::from(parts);
            let q = expert.quantile(p);
            (z.partition_point(|z| *z <= q) as f64 / n as f64 - p).abs()
        });
        let distance = distance.fold(0.0, f64::max) * (n as f64).sqrt();
        assert!(distance < 2.2, "tilt {i}: {distance}");
    }
}

#[test]
fn entropy_is_the_mean_energy_and_negentropy_is_never_negative() {
    for expert in everyone() {
        let direct = integral(&expert, |z| -expert.ln_density(z));
        assert!(
            (expert.entropy() - direct).abs() < 1e-7 * direct.abs().max(1.0),
            "{} {direct} {expert:?}",
            expert.entropy()
        );
        assert!(expert.negentropy() > -1e-9, "{expert:?}");
    }
}

#[test]
fn moments_agree_with_quadrature_where_they_exist() {
    for expert in everyone() {
        let shape = expert.shape();
        if !shape.kurtosis.is_finite() {
            continue;
        }
        let mean = integral(&expert, |z| z);
        let variance = integral(&expert, |z| (z - mean).powi(2));
        let fourth = integral(&expert, |z| (z - mean).powi(4));
        assert!((shape.mean - mean).abs() < 1e-8 * mean.abs().max(1.0), "{expert:?}");
        assert!((shape.variance / variance - 1.0).abs() < 1e-8, "{expert:?}");
        assert!(
            (shape.kurtosis + 3.0 - fourth / variance.powi(2)).abs()
                < 1e-6 * fourth / variance.powi(2),
            "{expert:?}"
        );
    }
}

#[test]
fn a_mirrored_expert_is_the_density_of_minus_z() {
    for expert in everyone() {
        let mirrored = expert.mirrored().unwrap();
        for z in [-3.0, -0.4, 0.0, 1.7] {
            assert!((mirrored.ln_density(-z) - expert.ln_density(z)).abs() < 1e-9, "{expert:?}");
        }
    }
}

#[test]
fn fixed_parameters_stay() {
    let mut t = StudentT::new(0.5, 1.0, 20.0).unwrap();
    (t.fix_mu, t.fix_beta) = (true, true);
    let expert: Expert = Mixture::new(vec![1.0, 1.0], vec![t.clone(), t]).unwrap().into();
    assert_eq!(expert.coordinates().len(), 3);
    let z = normals(200, 3);
    let (s, n) = statistics(&z, None, &expert);
    for moved in [expert.at(&[0.3, -0.5, 0.2]), expert.update(&s, n)] {
        let Expert::Mixture(m) = moved else { panic!("a mixture") };
        assert!(m.components().iter().all(|c| c.mu() == 0.5 && c.beta() == 20.0));
    }
}

#[test]
fn em_never_lowers_the_likelihood_and_newton_solves_the_tilt() {
    let z: Vec<f64> = normals(2000, 5)
        .iter()
        .enumerate()
        .map(|(i, z)| if i % 3 == 0 { 0.4 * z + 1.5 } else { 0.6 * z - 0.75 })
        .collect();
    let t = |mu: f64| StudentT::with_scale(mu, 0.7, 8.0).unwrap();
    let starts: Vec<Expert> = vec![
        t(0.0).into(),
        Mixture::new(vec![0.5, 0.5], vec![t(-0.5), t(0.5)]).unwrap().into(),
        Tilt::gaussian(2000.0).into(),
    ];
    for mut expert in starts {
        let mut last = f64::INFINITY;
        for _ in 0..300 {
            let (s, n) = statistics(&z, None, &expert);
            let value = expert.loss(&s, n) + expert.penalty();
            assert!(value <= last + 1e-10, "{value} {last} {expert:?}");
            last = value;
            expert = expert.update(&s, n);
        }
        let (s, n) = statistics(&z, None, &expert);
        let steepest = expert.gradient(&s, n).iter().fold(0.0_f64, |a, g| a.max(g.abs()));
        assert!(steepest < 1e-3, "{steepest} {expert:?}");
    }
}
