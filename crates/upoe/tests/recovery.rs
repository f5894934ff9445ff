//! Sources of a linear mixture are found.

use crate::common::{PARALLEL, amari, apply, laplace, normals, rng};
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};
use upoe::expert::Family;
use upoe::{Families, Learner, ParallelStart, Rows, Settings, Stop, fit};

#[test]
fn four_laplace_and_four_student_t_sources_are_recovered() {
    let mut rng = rng(60);
    let t = rand_distr::StudentT::new(5.0).unwrap();
    let sources: Vec<f64> = (0..10_000)
        .flat_map(|_| {
            let mut row = [0.0; 8];
            row[..4].iter_mut().for_each(|s| *s = laplace(&mut rng));
            row[4..].iter_mut().for_each(|s| *s = t.sample(&mut rng) / (5.0_f64 / 3.0).sqrt());
            row
        })
        .collect();
    let mixing: Vec<Vec<f64>> = normals(64, 61).chunks(8).map(<[f64]>::to_vec).collect();
    let values = apply(&mixing, &sources, 8);
    let rows = Rows::new(&values, 8).unwrap();
    for (learner, limit) in [(Learner::Pursuit, 0.05), (PARALLEL, 0.03)] {
        let settings = Settings::default().with(|s| {
            s.experts = Some(8);
            s.learner = learner;
            s.families = Family::StudentT.into();
        });
        let error = amari(&fit(&rows, &settings).unwrap().model, &mixing);
        eprintln!("{learner:?}: Amari error {error:.4}");
        assert!(error < limit, "{learner:?} {error}");
    }
}

/// Sources of `kinds` shapes in turn, mixed.
fn mixed_shapes(n: usize, kinds: &[&str]) -> (Vec<f64>, Vec<Vec<f64>>) {
    let mut rng = rng(62);
    let d = kinds.len();
    let sources: Vec<f64> = (0..n * d)
        .map(|i| match kinds[i % d] {
            "uniform" => rng.random_range(-3.0_f64.sqrt()..3.0_f64.sqrt()),
            "bimodal" => {
                let sign = if rng.random::<bool>() { 1.0 } else { -1.0 };
                (sign + 0.5 * rng.sample::<f64, _>(StandardNormal)) / 1.25_f64.sqrt()
            }
            _ => laplace(&mut rng),
        })
        .collect();
    let mixing: Vec<Vec<f64>> = normals(d * d, 63).chunks(d).map(<[f64]>::to_vec).collect();
    (apply(&mixing, &sources, d), mixing)
}

/// Light-tailed and bimodal sources, alone and next to heavy-tailed ones, on few rows and on so
/// many that samples of them are used first.
#[test]
fn random_starts_find_sources_of_any_shape() {
    let sets = [
        vec!["uniform"; 6],
        vec!["bimodal"; 6],
        vec!["uniform", "bimodal", "laplace", "uniform", "bimodal", "laplace"],
    ];
    let cases = [
        (2000, Families::default()),
        (20_000, Families::default()),
        (2000, Family::Mixture.into()),
    ];
    for (n, families) in &cases {
        for kinds in &sets {
            let (values, mixing) = mixed_shapes(*n, kinds);
            let settings = Settings::default().with(|s| {
                s.stop = Some(Stop::Train);
                s.learner = Learner::Parallel { start: ParallelStart::Random };
                s.families = families.clone();
                s.tol = 1e-3;
            });
            let rows = Rows::new(&values, kinds.len()).unwrap();
            let error = amari(&fit(&rows, &settings).unwrap().model, &mixing);
            eprintln!("{n} rows, {families:?}, {kinds:?}: Amari error {error:.4}");
            assert!(error < 0.05, "{n} rows, {families:?}, {kinds:?}: {error}");
        }
    }
}

/// With all families, learning together ends no more than 1 % below what the best of them reaches
/// alone.
#[test]
fn all_families_together_gain_as_much_as_the_best_one() {
    let (values, _) =
        mixed_shapes(10_000, &["uniform", "laplace", "bimodal", "laplace", "laplace"]);
    let rows = Rows::new(&values, 5).unwrap();
    let gain = |families: Families| {
        let settings = Settings::default().with(|s| {
            s.experts = Some(5);
            s.learner = Learner::Parallel { start: ParallelStart::Random };
            s.families = families;
            s.mixture_size = 3;
            s.tol = 1e-3;
        });
        let path = fit(&rows, &settings).unwrap().state.path;
        path[5].train - path[0].train
    };
    let single = Family::ALL.iter().map(|family| gain((*family).into()));
    let best = single.inspect(|gain| eprintln!("{gain:.4}")).fold(0.0, f64::max);
    let auto = gain(Families::default());
    assert!(auto >= 0.99 * best, "{auto} of {best}");
}
