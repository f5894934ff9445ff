//! The GPU engine against rows in memory.

use crate::common::{dot, mixed, normals, plain};
use crate::device;
use crate::experts::everyone;
use upoe::engine::{Candidate, Engine, Memory, Sums};
use upoe::expert::{Expert, Family, Learnable, Mixture, StudentT, Tilt};
use upoe::{Dims, Fitter, Model, Moments, Precision, Rows, Settings, Whitening, fit};
use upoe_cuda::{Cuda, Element};

/// Heavy-tailed rows of a given shape, and weights.
fn rows(n: usize, d: usize) -> (Vec<f64>, Vec<f64>) {
    let x = normals(n * d, 77).iter().map(|x| x * (0.5 + 0.5 * x.abs())).collect();
    let weights = normals(n, 78).iter().map(|w| w.abs()).collect();
    (x, weights)
}

fn candidates(k: usize, d: usize, experts: &[Expert]) -> Vec<Candidate> {
    let directions = normals(k * d, 79);
    let one = |i: usize| {
        let w = &directions[i * d..][..d];
        let norm = dot(w, w).sqrt();
        Candidate::new(w.iter().map(|x| x / norm).collect(), experts[i % experts.len()].clone())
    };
    (0..k).map(one).collect()
}

/// The largest difference of two passes, over the size of what is summed up. A tilt counts rows in
/// cells: rounding moves single-precision rows from one to the next, so that only its gradient and loss
/// are compared.
fn apart_by_loss(asked: &[Candidate], a: &[Sums], b: &[Sums], rows: usize) -> f64 {
    let summed = |sums: &[Sums]| -> Vec<Sums> {
        let one = |(c, s): (&Candidate, &Sums)| match &c.expert {
            Expert::Tilt(tilt) => {
                let loss = rows as f64 * tilt.loss(&s.statistics, rows as f64);
                Sums { statistics: vec![loss], gradient: s.gradient.clone() }
            }
            _ => s.clone(),
        };
        asked.iter().zip(sums).map(one).collect()
    };
    apart(&summed(a), &summed(b), rows)
}

/// The largest difference of two passes, over the size of what is summed up.
fn apart(a: &[Sums], b: &[Sums], rows: usize) -> f64 {
    assert_eq!(a.len(), b.len());
    let mut worst: f64 = 0.0;
    for (a, b) in a.iter().zip(b) {
        for (a, b) in [(&a.gradient, &b.gradient), (&a.statistics, &b.statistics)] {
            assert_eq!(a.len(), b.len());
            let size = b.iter().fold(rows as f64, |m, x| m.max(x.abs()));
            let differences = a.iter().zip(b).map(|(a, b)| (a - b).abs() / size);
            worst = differences.fold(worst, |m, x| if x > m || x.is_nan() { x } else { m });
        }
    }
    worst
}

fn agrees<T: Element>(tolerance: f64) {
    let experts: Vec<Expert> = vec![
        StudentT::with_scale(0.1, 0.9, 3.0).unwrap().into(),
        StudentT::with_scale(-0.2, 1.1, 400.0).unwrap().into(),
        Mixture::new(
            vec![0.4, 0.6],
            vec![
                StudentT::with_scale(-1.0, 0.5, 6.0).unwrap(),
                StudentT::with_scale(0.8, 0.7, 30.0).unwrap(),
            ],
        )
        .unwrap()
        .into(),
        Mixture::new(
            vec![1.0; 6],
            (0..6).map(|i| StudentT::with_scale(i as f64 - 2.5, 0.4, 8.0).unwrap()).collect(),
        )
        .unwrap()
        .into(),
        Tilt::gaussian(1000.0).into(),
    ];
    for (n, d) in [(1, 1), (37, 3), (1000, 5), (3001, 64), (2500, 101), (5000, 400), (700, 1030)] {
        let (x, weights) = rows(n, d);
        let stored: Vec<T> = x.iter().map(|x| T::from_f64(*x)).collect();
        for weights in [None, Some(weights)] {
            let memory = Memory::<T>::new(stored.clone(), d, weights.clone()).unwrap();
            let cuda = Cuda::<T>::new(device(), &stored, d, weights).unwrap();
            for k in [1, 2, 3, 5, 8, 13, 40, 300] {
                let asked = candidates(k, d, &experts);
                let found = cuda.sums(&asked).unwrap();
                let exact = memory.sums(&asked).unwrap();
                let apart = apart_by_loss(&asked, &found, &exact, n);
                assert!(apart < tolerance, "{apart:e}: {n} × {d}, {k} candidates");
                assert_eq!(found, cuda.sums(&asked).unwrap(), "two passes, the same bits");
            }
        }
    }
}

#[test]
fn sums_in_double_precision_are_those_of_memory() {
    agrees::<f64>(1e-12);
}

#[test]
fn sums_in_single_precision_are_those_of_memory() {
    agrees::<f32>(3e-6);
}

#[test]
fn a_million_single_precision_rows_keep_the_accuracy_of_memory() {
    // A sum of a million numbers in single precision alone would be wrong in its fourth digit.
    let (n, d) = (1_000_000, 8);
    let x: Vec<f32> = normals(n * d, 80).iter().map(|x| *x as f32 + 0.1).collect();
    let exact = Memory::<f64>::new(x.iter().map(|x| f64::from(*x)).collect::<Vec<_>>(), d, None);
    let (exact, cuda) = (exact.unwrap(), Cuda::<f32>::new(device(), &x, d, None).unwrap());
    for k in [1, 50] {
        let expert = StudentT::with_scale(0.0, 1.0, 5.0).unwrap().into();
        let asked = candidates(k, d, &[expert]);
        let (exact, cuda) = (exact.sums(&asked).unwrap(), cuda.sums(&asked).unwrap());
        assert!(apart(&cuda, &exact, n) < 1e-7, "{:e}", apart(&cuda, &exact, n));
    }
}

#[test]
fn every_expert_has_the_same_sums_on_the_device() {
    let z: Vec<f64> = normals(3000, 9).iter().map(|z| 1.7 * z + 0.2).collect();
    let memory = Memory::<f64>::new(z.clone(), 1, None).unwrap();
    let cuda = Cuda::<f64>::new(device(), &z, 1, None).unwrap();
    for expert in everyone() {
        let asked = [Candidate::new(vec![1.0], expert.clone())];
        let apart = apart(&cuda.sums(&asked).unwrap(), &memory.sums(&asked).unwrap(), z.len());
        assert!(apart < 1e-11, "{apart:e} for {expert:?}");
    }
}

#[test]
fn an_expert_without_a_device_form_is_applied_by_the_cpu() {
    let text = std::iter::repeat_n("0.1", 21).collect::<Vec<_>>().join(",");
    let old =
        format!(r#"{{"kind":"tilt","gaussian_tails":true,"coefficients":[{text}],"rows":100.0}}"#);
    let old: Expert = serde_json::from_str(&old).expect("a tilt of version 0.1");
    assert!(old.device_form().is_none());
    let (x, weights) = rows(5000, 7);
    let memory = Memory::<f64>::new(x.clone(), 7, Some(weights.clone())).unwrap();
    let cuda = Cuda::<f64>::new(device(), &x, 7, Some(weights)).unwrap();
    let asked = candidates(5, 7, &[old, Expert::gaussian()]);
    let apart = apart(&cuda.sums(&asked).unwrap(), &memory.sums(&asked).unwrap(), 5000);
    assert!(apart < 1e-12 && device().was_helped(), "{apart:e}");
}

#[test]
fn rows_come_back_and_subsets_and_moments_are_those_of_memory() {
    let (x, weights) = rows(4000, 6);
    let memory = Memory::<f64>::held_out(x.clone(), 6, Some(weights.clone())).unwrap();
    let cuda = Cuda::<f64>::new(device(), &x, 6, Some(weights.clone())).unwrap().with_white(false);
    let chosen = [3999, 0, 17, 17];
    assert_eq!(cuda.pick(&chosen).unwrap(), memory.pick(&chosen).unwrap());
    assert!(cuda.pick(&[4000]).is_err());
    let square = memory.mean_square().unwrap();
    assert!((cuda.mean_square().unwrap() / square - 1.0).abs() < 1e-13);
    let [a, b] = [&cuda as &dyn Engine, &memory].map(|e| e.subset(3, 500).unwrap().unwrap());
    assert_eq!((a.rows(), a.weight()), (b.rows(), b.weight()));
    let all: Vec<usize> = (0..500).collect();
    assert_eq!(a.pick(&all).unwrap(), b.pick(&all).unwrap());
    let span = vec![vec![0.6, 0.8, 0.0, 0.0, 0.0, 0.0], vec![0.0, 0.0, 1.0, 0.0, 0.0, 0.0]];
    for span in [&span[..], &[]] {
        let (a, b) = (cuda.fourth_moments(span).unwrap(), memory.fourth_moments(span).unwrap());
        let size = b.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        let apart = a.iter().zip(&b).fold(0.0_f64, |m, (a, b)| m.max((a - b).abs()));
        assert!(apart < 1e-12 * size, "{apart:e} of {size}");
    }
    let shifted: Vec<f64> = x.iter().map(|x| 1e6 + x).collect();
    for weights in [None, Some(&weights[..])] {
        let mut rows = Rows::new(&shifted, 6).unwrap();
        if let Some(weights) = weights {
            rows = rows.weighted(weights).unwrap();
        }
        let (a, b) = (device().moments(&rows).unwrap(), Moments::of(&rows).unwrap());
        assert_eq!(a.rows(), b.rows());
        assert!((a.weight() / b.weight() - 1.0).abs() < 1e-13);
        for i in 0..6 {
            assert!((a.mean()[i] / b.mean()[i] - 1.0).abs() < 1e-15);
            for j in 0..6 {
                let size = (b.scatter()[(i, i)] * b.scatter()[(j, j)]).sqrt();
                assert!((a.scatter()[(i, j)] - b.scatter()[(i, j)]).abs() < 1e-10 * size);
            }
        }
    }
}

#[test]
fn ln_p_is_that_of_the_cpu() {
    let values = mixed();
    let rows = Rows::new(&values, 5).unwrap();
    let with = |dims: Dims| fit(&rows, &Settings::default().with(|s| s.dims = dims)).unwrap().model;
    let everyone: Vec<Expert> = everyone().into_iter().step_by(6).collect();
    let d = everyone.len();
    let directions = (0..d).map(|i| (0..d).map(|k| f64::from(u8::from(i == k))).collect());
    let many = Model::new(plain(d), directions.collect(), everyone).unwrap();
    let wide = normals(300 * d, 81);
    let cases = [
        (with(Dims::All), rows),
        (with(Dims::Count(3)), rows),
        (many, Rows::new(&wide, d).unwrap()),
    ];
    for (model, rows) in &cases {
        let exact = model.score(rows).unwrap();
        let sphered = model.score_sphered(rows).unwrap();
        let found = device().score(model, rows).unwrap();
        let others = device().score_sphered(model, rows).unwrap();
        for (a, b) in found.iter().zip(&exact).chain(others.iter().zip(&sphered)) {
            assert!((a - b).abs() < 1e-9 * b.abs().max(1.0), "{a} {b}");
        }
    }
}

#[test]
fn mean_ln_p_of_single_precision_rows_is_that_of_the_cpu() {
    let (x, _) = rows(20_000, 400);
    let single: Vec<f32> = x.iter().map(|x| *x as f32).collect();
    let memory = Memory::<f64>::new(x, 400, None).unwrap();
    let cuda = Cuda::<f32>::new(device(), &single, 400, None).unwrap();
    for k in [1, 8, 100] {
        let asked = candidates(k, 400, &everyone()[12..]);
        let (a, b) = (cuda.sums(&asked).unwrap(), memory.sums(&asked).unwrap());
        let losses = |sums: &[Sums]| -> f64 {
            let one = |(c, s): (&Candidate, &Sums)| c.expert.loss(&s.statistics, 20_000.0);
            asked.iter().zip(sums).map(one).sum()
        };
        let apart = (losses(&a) - losses(&b)).abs();
        assert!(apart < 1e-4, "{apart:e} nats per row, {k} experts");
    }
}

#[test]
fn fits_on_the_device_find_what_fits_in_memory_find() {
    let values = mixed();
    let rows = Rows::new(&values, 5).unwrap();
    let settings = Settings::default();
    let there = || Fitter::new(settings.clone()).place(device()).fit(&rows).unwrap();
    let (a, b) = (there(), fit(&rows, &settings).unwrap());
    assert_eq!(a.state, there().state, "two fits, the same bits");
    assert_eq!(a.state.experts.len(), b.state.experts.len());
    for (a, b) in a.state.experts.iter().zip(&b.state.experts) {
        assert!((a.gain - b.gain).abs() < 1e-4, "{} {}", a.gain, b.gain);
    }
    // Many rows: samples screen starts, on the device too.
    let (n, d) = (20_000, 10);
    let values: Vec<f64> = normals(n * d, 82)
        .chunks(d)
        .flat_map(|x| (0..d).map(|k| if k < 4 { x[k] * x[k].abs() } else { x[k] + x[k - 4] }))
        .collect();
    let rows = Rows::new(&values, d).unwrap();
    for family in [Family::StudentT, Family::Tilt] {
        for precision in [Precision::F64, Precision::F32] {
            let settings = Settings::default().with(|s| {
                s.experts = Some(4);
                s.families = family.into();
                s.precision = precision;
            });
            let gain = |fitter: Fitter| -> f64 {
                fitter.fit(&rows).unwrap().state.experts.iter().map(|e| e.gain).sum()
            };
            let (a, b) =
                (gain(Fitter::new(settings.clone()).place(device())), gain(Fitter::new(settings)));
            assert!((a / b - 1.0).abs() < 0.01, "{a} {b}");
        }
    }
    let whitening = Whitening::fit(&rows, Dims::All).unwrap();
    let x = whitening.sphere(&rows).unwrap();
    let sphered = Cuda::<f64>::of(device(), &whitening, &rows, true).unwrap();
    let picked = sphered.pick(&(0..n).collect::<Vec<_>>()).unwrap().rows;
    let apart = picked.iter().zip(&x).fold(0.0_f64, |m, (a, b)| m.max((a - b).abs()));
    assert!(apart < 1e-12, "{apart:e}");
}
