//! What a tilt makes of known densities: its tails follow the data, and noise stays noise.

use crate::common::{normals, rng};
use rand::RngExt;
use upoe::engine::{Candidate, Engine, Memory};
use upoe::expert::{Expert, Family, Learnable, Marginal, StudentT, Tilt};
use upoe::{Families, Rows, Settings, Stop, fit};

const N: usize = 10_000;

/// Values at the middles of N parts of equal probability: a sample without its noise.
fn ideal(quantile: impl Fn(f64) -> f64) -> Vec<f64> {
    standardised((0..N).map(|i| quantile((i as f64 + 0.5) / N as f64)).collect())
}

fn standardised(z: Vec<f64>) -> Vec<f64> {
    let n = z.len() as f64;
    let mean = z.iter().sum::<f64>() / n;
    let deviation = (z.iter().map(|z| (z - mean).powi(2)).sum::<f64>() / n).sqrt();
    z.iter().map(|z| (z - mean) / deviation).collect()
}

/// The best of a family's templates after their own updates, and its gain over the Gaussian.
fn fitted(z: &[f64], family: Family) -> (Expert, f64) {
    let engine = Memory::<f64>::new(z.to_vec(), 1, None).unwrap();
    let sums = |expert: &Expert| {
        let asked = [Candidate::new(vec![1.0], expert.clone())];
        engine.sums(&asked).unwrap().swap_remove(0).statistics
    };
    let passes = if family == Family::Tilt { 1 } else { 300 };
    let learn = |mut expert: Expert| {
        for _ in 0..passes {
            expert = expert.update(&sums(&expert), engine.weight());
        }
        let entropy = 0.5 * (std::f64::consts::TAU * std::f64::consts::E).ln();
        let gain = entropy - expert.loss(&sums(&expert), engine.weight());
        (expert, gain)
    };
    let templates = Settings::default().templates(family, engine.weight()).unwrap();
    templates.into_iter().map(learn).max_by(|a, b| a.1.total_cmp(&b.1)).unwrap()
}

fn normal(p: f64) -> f64 {
    StudentT::standard_normal().quantile(p)
}

#[test]
fn the_tail_of_exponential_rows_is_exponential() {
    let mut rng = rng(1);
    let mut draw = || standardised((0..N).map(|_| -(1.0 - rng.random::<f64>()).ln()).collect());
    let columns: Vec<Vec<f64>> = (0..5).map(|_| draw()).collect();
    let values: Vec<f64> = (0..N).flat_map(|i| columns.iter().map(move |c| c[i])).collect();
    for families in [Families::default(), Family::Tilt.into()] {
        let settings = Settings::default().with(|s| {
            (s.families, s.experts, s.stop) = (families.clone(), Some(1), Some(Stop::Train));
        });
        let model = fit(&Rows::new(&values, 5).unwrap(), &settings).unwrap().model;
        let expert = &model.experts()[0];
        // The largest entry of a direction is positive, so large values lie on the right.
        let fall = expert.ln_density(0.0) - expert.ln_density(10.0);
        assert!((fall - 10.0).abs() < 1.0, "{fall} {families:?}");
        let beyond = (-(expert.quantile(1.0 - 1e-4) + 1.0)).exp();
        assert!((1e-4 / 3.0..3e-4).contains(&beyond), "{beyond} {families:?}");
    }
}

#[test]
fn a_uniform_density_is_met_within_four_hundredths_of_a_nat() {
    let (tilt, gain) = fitted(&ideal(|p| p), Family::Tilt);
    let truth = 0.5 * (std::f64::consts::TAU * std::f64::consts::E / 12.0).ln();
    assert!(truth - gain < 0.04, "{gain} of {truth}");
    assert!(tilt.upper_tail(3.0) < 1e-6 && tilt.cdf(-3.0) < 1e-6);
}

#[test]
fn three_groups_are_told_apart() {
    let third = |p: f64| {
        let k = (3.0 * p).floor();
        1.2 * (k - 1.0) + 0.2 * normal(3.0 * p - k)
    };
    // The truth is ln 5 − ln 3 = 0.511.
    let (_, gain) = fitted(&ideal(third), Family::Tilt);
    assert!((0.495..0.515).contains(&gain), "{gain}");
}

#[test]
fn no_shape_is_left_to_the_other_families() {
    let t = |nu: f64| StudentT::with_scale(0.0, 1.0, nu).unwrap();
    let laplace = |p: f64| if p < 0.5 { (2.0 * p).ln() } else { -(2.0 - 2.0 * p).ln() };
    let mut rng = rng(2);
    let mut uniform = || 1.0 - rng.random::<f64>();
    let gamma = standardised((0..N).map(|_| -(uniform() * uniform()).ln()).collect());
    let shapes = [
        ("Laplace", ideal(laplace)),
        ("t4", ideal(|p| t(4.0).quantile(p))),
        ("t3", ideal(|p| t(3.0).quantile(p))),
        ("gamma", gamma),
    ];
    for (name, z) in shapes {
        let [ours, student, mixture] =
            [Family::Tilt, Family::StudentT, Family::Mixture].map(|family| fitted(&z, family).1);
        assert!(ours > student.max(mixture) - 0.002, "{name}: {ours} {student} {mixture}");
    }
}

#[test]
fn gaussian_rows_are_next_to_no_gain() {
    for n in [300, 1000, N] {
        for seed in 0..4 {
            let (tilt, gain) = fitted(&standardised(normals(n, seed)), Family::Tilt);
            assert!(gain < 5.0 / n as f64, "{gain} from {n} rows");
            assert!(tilt.free_parameters() < 3.5, "{}", tilt.free_parameters());
        }
    }
}

#[test]
fn the_two_tails_are_learned_apart() {
    // A Student-t on the right, a half normal on the left.
    let t = StudentT::with_scale(0.0, 1.0, 3.0).unwrap();
    let (tilt, _) =
        fitted(&ideal(|p| if p < 0.5 { normal(p) } else { t.quantile(p) }), Family::Tilt);
    let nu = tilt.parameters().into_iter().find(|p| p.name == "degrees_of_freedom").unwrap();
    assert!((2.0..5.0).contains(&nu.values[1]) && nu.values[0] > 10.0, "{:?}", nu.values);
}

#[test]
fn a_flat_tilt_is_the_gaussian_where_rows_lie() {
    let flat = Tilt::gaussian(1000.0);
    let exact = StudentT::standard_normal();
    for k in -50_i32..=50 {
        let z = 0.1 * f64::from(k);
        let most = if k.abs() <= 30 { 1e-4 } else { 0.02 };
        assert!((flat.ln_density(z) - exact.ln_density(z)).abs() < most, "{z}");
        assert!((flat.cdf(z) - exact.cdf(z)).abs() < 1e-5, "{z}");
    }
    assert!(flat.negentropy().abs() < 1e-3);
}

#[test]
fn one_update_solves_a_tilt_at_fixed_projections() {
    let z = ideal(|p| -(1.0 - p).ln());
    let (tilt, _) = fitted(&z, Family::Tilt);
    let engine = Memory::<f64>::new(z, 1, None).unwrap();
    let asked = [Candidate::new(vec![1.0], tilt.clone())];
    let sums = engine.sums(&asked).unwrap().swap_remove(0).statistics;
    let steepest =
        tilt.gradient(&sums, engine.weight()).iter().fold(0.0_f64, |a, g| a.max(g.abs()));
    assert!(steepest < 1e-6, "{steepest}");
}
