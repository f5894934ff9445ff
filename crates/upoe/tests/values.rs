//! Values an independent implementation reached.

use crate::common::{PARALLEL, apply, crabs, dot, rotation};
use upoe::expert::{Expert, Family, Mixture};
use upoe::{Dims, Families, Fit, Fitter, Learner, Precision, Rows, Settings, Stop, fit};

fn as_the_paper(seed: u64) -> Settings {
    Settings::default().with(|s| {
        s.experts = Some(2);
        s.families = Family::Mixture.into();
        s.fix_mu = Some(vec![-1.0, 1.0]);
        s.fix_beta = Some(20.0);
        s.seed = seed;
    })
}

fn assert_q(fitted: &Fit, expected: &[f64]) {
    let q: Vec<f64> = fitted.state.experts.iter().map(|e| -e.gain).collect();
    assert_eq!(q.len(), expected.len(), "{q:?}");
    assert!(q.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-4), "{q:?}");
}

#[test]
fn crabs_reach_the_same_optimum_from_every_seed() {
    let (values, groups) = crabs();
    let rows = Rows::new(&values, 5).unwrap();
    for seed in 0..50 {
        let fitted = fit(&rows, &as_the_paper(seed)).unwrap();
        assert_q(&fitted, &[-0.35659, -0.11067]);
    }
    // The likelier component in each projection gives four groups.
    let fitted = fit(&rows, &as_the_paper(0)).unwrap();
    let z = fitted.model.transform(&rows).unwrap();
    let mixtures: Vec<&Mixture> = fitted
        .model
        .experts()
        .iter()
        .map(|e| match e {
            Expert::Mixture(m) => m,
            _ => panic!("a mixture"),
        })
        .collect();
    let found: Vec<usize> = z
        .chunks(2)
        .map(|z| {
            let side = |k: usize| usize::from(mixtures[k].responsibilities(z[k])[1] > 0.5);
            2 * side(0) + side(1)
        })
        .collect();
    let index = adjusted_rand(&found, &groups);
    assert!((index - 0.82).abs() < 0.005, "{index}");
}

#[test]
fn crabs_turn_with_the_data() {
    let (values, _) = crabs();
    let rows = Rows::new(&values, 5).unwrap();
    let straight = fit(&rows, &as_the_paper(0)).unwrap();
    let whitening = straight.model.whitening();
    let x = whitening.sphere(&rows).unwrap();
    for seed in 0..10 {
        // A rotation of the sphered rows turns the directions.
        let turn = rotation(5, 100 + seed);
        let turned = apply(&turn, &x, 5);
        let fitted = fit(&Rows::new(&turned, 5).unwrap(), &as_the_paper(seed)).unwrap();
        assert_q(&fitted, &[-0.35659, -0.11067]);
        // Columns and rows in another order.
        let order = [3, 0, 4, 1, 2];
        let permuted: Vec<f64> = (0..200)
            .map(|i| (i * 77 + 13 * seed as usize) % 200)
            .flat_map(|i| order.map(|c| values[i * 5 + c]))
            .collect();
        let other = fit(&Rows::new(&permuted, 5).unwrap(), &as_the_paper(seed)).unwrap();
        assert_q(&other, &[-0.35659, -0.11067]);
        for j in 0..2 {
            let loadings = fitted.model.filters();
            let there: Vec<f64> =
                turn.iter().map(|t| dot(t, &straight.model.directions()[j])).collect();
            let cosine = dot(&loadings[j], &there) / dot(&loadings[j], &loadings[j]).sqrt();
            assert!(cosine.abs() > 1.0 - 1e-4, "{cosine}");
            let (a, b) = (&straight.model.filters()[j], &other.model.filters()[j]);
            let back: Vec<f64> = order.iter().map(|&c| a[c]).collect();
            assert!(
                b.iter().zip(&back).all(|(x, y)| (x - y).abs() < 5e-3 * dot(a, a).sqrt()),
                "{b:?} {back:?}"
            );
        }
    }
}

#[test]
fn crabs_with_single_student_t_experts() {
    let (values, _) = crabs();
    let rows = Rows::new(&values, 5).unwrap();
    for seed in 0..5 {
        let free = Settings::default().with(|s| {
            s.stop = Some(Stop::Train);
            s.families = Family::StudentT.into();
            s.seed = seed;
        });
        let centred = free.clone().with(|s| s.fix_mu = Some(vec![0.0]));
        assert_q(&fit(&rows, &centred).unwrap(), &[-0.02198, -0.01157, -0.00955, -0.00166]);
        let fitted = fit(&rows, &free.with(|s| s.experts = Some(2))).unwrap();
        assert_q(&fitted, &[-0.02872, -0.01637]);
    }
    // The null rule rightly keeps none of them.
    let null = Settings::default().with(|s| {
        s.families = Family::StudentT.into();
        s.fix_mu = Some(vec![0.0]);
    });
    assert!(fit(&rows, &null).unwrap().state.experts.is_empty());
}

fn adjusted_rand(a: &[usize], b: &[usize]) -> f64 {
    let pairs = |n: f64| n * (n - 1.0) / 2.0;
    let count = |f: &dyn Fn(usize) -> bool| pairs((0..a.len()).filter(|&i| f(i)).count() as f64);
    let (mut both, mut first, mut second) = (0.0, 0.0, 0.0);
    for g in 0..4 {
        first += count(&|i| a[i] == g);
        second += count(&|i| b[i] == g);
        both += (0..4).map(|h| count(&|i| a[i] == g && b[i] == h)).sum::<f64>();
    }
    let expected = first * second / pairs(a.len() as f64);
    (both - expected) / (0.5 * (first + second) - expected)
}

/// The Frey faces, where `UPOE_DATA` names a folder that has them: training and test rows.
fn frey() -> Option<(Vec<f64>, Vec<f64>)> {
    let folder = std::path::PathBuf::from(std::env::var_os("UPOE_DATA")?).join("frey");
    let file = std::fs::read(folder.join("frey_rawface.npy")).ok()?;
    let rows = std::fs::read_to_string(folder.join("train_rows.txt")).ok()?;
    let train: std::collections::BTreeSet<usize> =
        rows.split_whitespace().filter_map(|w| w.parse().ok()).collect();
    let faces = &file[file.len() - 1965 * 560..];
    let pick = |of: bool| {
        (0..1965)
            .filter(|i| train.contains(i) == of)
            .flat_map(|i| &faces[i * 560..(i + 1) * 560])
            .map(|b| f64::from(*b) / 255.0)
            .collect()
    };
    Some((pick(true), pick(false)))
}

#[test]
fn frey_faces_follow_figure_one() {
    let Some((train, test)) = frey() else {
        eprintln!("UPOE_DATA names no folder with frey/frey_rawface.npy: skipped");
        return;
    };
    let (train, test) = (Rows::new(&train, 560).unwrap(), Rows::new(&test, 560).unwrap());
    let path = |learner: Learner, experts: usize| {
        let settings = Settings::default().with(|s| {
            s.experts = Some(experts);
            s.dims = Dims::Count(50);
            s.families = Family::StudentT.into();
            s.fix_mu = Some(vec![0.0]);
            s.learner = learner;
            s.tol = 1e-4;
        });
        let fitted = Fitter::new(settings).holdout(test).fit(&train).unwrap();
        let points: Vec<(f64, f64)> =
            fitted.state.path.iter().map(|p| (p.train, p.holdout.unwrap())).collect();
        points
    };
    let reaches = |path: &[(f64, f64)], j: usize, train: f64, test: f64, tolerance: f64| {
        let (a, b) = path[j.min(path.len() - 1)];
        eprintln!("J = {j}: {a:.3} / {b:.3} (expected {train} / {test})");
        assert!(a > train - tolerance && b > test - tolerance, "J = {j}: {a} / {b}");
    };
    let (pursuit, sequential) = (path(Learner::Pursuit, 50), path(Learner::Sequential, 50));
    for p in [&pursuit, &sequential] {
        assert!((p[0].0 + 70.947).abs() < 1e-3 && (p[0].1 + 68.686).abs() < 1e-3, "{:?}", p[0]);
        assert!((p[1].0 + 69.883).abs() < 1e-3 && (p[1].1 + 67.669).abs() < 1e-3, "{:?}", p[1]);
    }
    for (j, train, test) in
        [(5, -66.34, -64.6), (10, -63.5, -62.1), (20, -60.2, -59.6), (50, -57.9, -58.1)]
    {
        reaches(&pursuit, j, train, test, 0.2);
    }
    for (j, train, test) in
        [(5, -66.3, -64.5), (10, -63.3, -62.0), (20, -59.6, -59.3), (50, -56.5, -57.9)]
    {
        reaches(&sequential, j, train, test, 0.2);
    }
    for (j, train, test) in [(10, -63.07, -61.8), (20, -58.87, -58.8), (50, -55.0, -56.7)] {
        reaches(&path(PARALLEL, j), j, train, test, 0.2);
    }
}

/// Rows kept in single precision change ⟨ln p⟩ of the paper's data by less than 1e-4 nats. (The
/// image patches are compared by `bench/images.py`: they take half a minute.)
#[test]
fn single_precision_gives_the_same_likelihood_on_the_papers_data() {
    let both = |rows: &Rows, settings: Settings| {
        let mean = |precision| {
            let model =
                fit(rows, &settings.clone().with(|s| s.precision = precision)).unwrap().model;
            model.score(rows).unwrap().iter().sum::<f64>() / rows.len() as f64
        };
        let (double, single) = (mean(Precision::F64), mean(Precision::F32));
        assert!((double - single).abs() < 1e-4, "{double} {single}");
    };
    let (crabs, _) = crabs();
    both(&Rows::new(&crabs, 5).unwrap(), as_the_paper(0));
    if let Some((faces, _)) = frey() {
        let family = Some(Family::StudentT);
        let pursuit = Settings::default().with(|s| {
            s.experts = Some(10);
            s.dims = Dims::Count(50);
            s.families = family.map_or_else(Families::default, Into::into);
        });
        both(&Rows::new(&faces, 560).unwrap(), pursuit);
    }
}
