//! Laws that every learner obeys.

use crate::common::{PARALLEL, crabs, dot, mixed, normals};
use upoe::engine::{Candidate, Engine, Memory};
use upoe::expert::{Expert, Family, Learnable, Marginal};
use upoe::{
    Event, Families, Fit, Fitter, Learner, Model, ParallelStart, Precision, Recipe, Rows, Settings,
    State, Stop, StopReason, fit,
};

fn settings(learner: Learner, family: Option<Family>) -> Settings {
    Settings::default().with(|s| {
        s.experts = Some(3);
        s.learner = learner;
        s.families = family.map_or_else(Families::default, Into::into);
        s.starts = Some(24);
    })
}

/// The largest entry of the gradient at a fit's answer: of each direction on its sphere (in
/// the complement of the others for pursuit, by (6) otherwise) and of each expert's coordinates.
fn steepness(fitted: &Fit, rows: &Rows, pursuit: bool, from: usize) -> f64 {
    let model = &fitted.model;
    let x = model.whitening().sphere(rows).unwrap();
    let engine = Memory::<f64>::new(x, model.whitening().dims(), None).unwrap();
    let candidates: Vec<Candidate> = model
        .directions()
        .iter()
        .zip(model.experts())
        .map(|(w, e)| Candidate::new(w.clone(), e.clone()))
        .collect();
    let n = engine.weight();
    let mut worst = 0.0_f64;
    let sums = engine.sums(&candidates).unwrap();
    for (j, (c, s)) in candidates.iter().zip(sums).enumerate().skip(from) {
        let inverse = model.pseudo_inverse();
        let mut g: Vec<f64> = s
            .gradient
            .iter()
            .enumerate()
            .map(|(i, s)| s / n - if pursuit { 0.0 } else { inverse[(i, j)] })
            .collect();
        let span: Vec<&Vec<f64>> = if pursuit {
            candidates[..=j].iter().map(|c| &c.direction).collect()
        } else {
            vec![&c.direction]
        };
        for w in span {
            let along = dot(&g, w) / dot(w, w);
            g.iter_mut().zip(w).for_each(|(g, w)| *g -= along * w);
        }
        let all = g.iter().copied().chain(c.expert.gradient(&s.statistics, n));
        worst = all.fold(worst, |a, g| a.max(g.abs()));
    }
    worst
}

#[test]
fn at_every_answer_the_gradient_is_zero() {
    let values = mixed();
    let rows = Rows::new(&values, 5).unwrap();
    for family in [None, Some(Family::StudentT), Some(Family::Mixture), Some(Family::Tilt)] {
        for learner in [Learner::Pursuit, Learner::Sequential, PARALLEL] {
            let fitted = fit(&rows, &settings(learner, family)).unwrap();
            assert!(fitted.state.experts.iter().all(|e| e.converged), "{family:?} {learner:?}");
            // Earlier experts of a sequential fit are frozen; the last one's is the gradient of (6).
            let from =
                if learner == Learner::Sequential { fitted.model.experts().len() - 1 } else { 0 };
            let steepest = steepness(&fitted, &rows, learner == Learner::Pursuit, from);
            assert!(steepest <= 1.05e-5, "{steepest} {family:?} {learner:?}");
        }
    }
}

#[test]
fn directions_of_pursuit_are_orthonormal() {
    let values = mixed();
    let fitted = fit(
        &Rows::new(&values, 5).unwrap(),
        &settings(Learner::Pursuit, Some(Family::Tilt)).with(|s| s.experts = Some(5)),
    )
    .unwrap();
    let w = fitted.model.directions();
    for (i, a) in w.iter().enumerate() {
        for (k, b) in w.iter().enumerate() {
            assert!((dot(a, b) - f64::from(u8::from(i == k))).abs() < 1e-12, "{i} {k}");
        }
    }
}

#[test]
fn the_path_holds_the_mean_scores_of_the_nested_models_and_gains_are_its_steps() {
    let values = mixed();
    let rows = Rows::new(&values, 5).unwrap();
    let held = normals(500, 7);
    let held = Rows::new(&held, 5).unwrap();
    for learner in [Learner::Pursuit, Learner::Sequential, PARALLEL] {
        let fitted = Fitter::new(settings(learner, None)).holdout(held).fit(&rows).unwrap();
        let mean = |j: usize, rows: &Rows| {
            let scores = fitted.model.truncated(j).unwrap().score_sphered(rows).unwrap();
            scores.iter().sum::<f64>() / scores.len() as f64
        };
        for (j, point) in fitted.state.path.iter().enumerate() {
            assert!((point.train - mean(j, &rows)).abs() < 1e-9, "{learner:?} {j}");
            assert!((point.holdout.unwrap() - mean(j, &held)).abs() < 1e-9, "{learner:?} {j}");
        }
        for (j, learned) in fitted.state.experts.iter().enumerate() {
            let rise = fitted.state.path[j + 1].train - fitted.state.path[j].train;
            assert!((learned.gain - rise).abs() < 1e-9, "{learner:?} {j} {} {rise}", learned.gain);
        }
    }
}

#[test]
fn the_likelihood_never_falls() {
    let values = mixed();
    let rows = Rows::new(&values, 5).unwrap();
    for learner in [Learner::Pursuit, Learner::Sequential, PARALLEL] {
        let mut last: Option<(usize, f64)> = None;
        let mut single = settings(learner, Some(Family::StudentT));
        // One start, so that passes belong to one descent.
        single.starts = Some(1);
        let fitted = Fitter::new(single.clone())
            .observe(|event| {
                if let Event::Pass { expert, gain, state } = event {
                    assert!(state.experts.len() <= 3);
                    if let Some((e, v)) = last
                        && e == *expert
                    {
                        // A new descent of the same expert starts no lower.
                        assert!(*gain >= v - 1e-12, "{gain} after {v}");
                    }
                    last = Some((*expert, *gain));
                }
                true
            })
            .fit(&rows)
            .unwrap();
        let train: Vec<f64> = fitted.state.path.iter().map(|p| p.train).collect();
        assert!(train.windows(2).all(|w| w[1] >= w[0]), "{train:?}");
    }
}

#[test]
fn parallel_ends_no_lower_than_it_starts_and_sequential_no_lower_than_pursuit() {
    let values = mixed();
    let rows = Rows::new(&values, 5).unwrap();
    let end = |s: &Settings| fit(&rows, s).unwrap().state.path.last().unwrap().train;
    for family in [Family::StudentT, Family::Mixture] {
        let pursuit = fit(&rows, &settings(Learner::Pursuit, Some(family))).unwrap();
        let of = |start| settings(Learner::Parallel { start }, Some(family));
        assert!(
            end(&of(ParallelStart::Pursuit)) >= pursuit.state.path.last().unwrap().train - 1e-9
        );
        let sequential = settings(Learner::Sequential, Some(family));
        assert!(end(&of(ParallelStart::Sequential)) >= end(&sequential) - 1e-9);
        assert!(end(&of(ParallelStart::Grow)) >= end(&sequential) - 5e-3);
        assert!(end(&of(ParallelStart::Random)) >= end(&sequential) - 5e-2);
        // From the same first experts, a free step gains at least as much as an orthogonal one.
        for j in 1..3 {
            let state = State {
                experts: pursuit.state.experts[..j].to_vec(),
                path: pursuit.state.path[..=j].to_vec(),
                ..State::default()
            };
            let step = |learner| {
                let s = settings(learner, Some(family)).with(|s| s.experts = Some(j + 1));
                Fitter::new(s.clone()).resume(state.clone()).fit(&rows).unwrap().state.experts[j]
                    .gain
            };
            assert!(step(Learner::Sequential) >= step(Learner::Pursuit) - 1e-9);
        }
    }
}

#[test]
fn sampling_and_fitting_again_recovers_the_model() {
    let values = mixed();
    let rows = Rows::new(&values, 5).unwrap();
    // β is fixed, so that every expert has a variance and both spheres agree.
    let s = settings(Learner::Pursuit, Some(Family::Mixture)).with(|s| {
        s.experts = Some(2);
        s.fix_beta = Some(10.0);
    });
    let first = fit(&rows, &s).unwrap();
    let drawn = first.model.sample(20_000, 5);
    let again = fit(&Rows::new(&drawn, 5).unwrap(), &s).unwrap();
    for j in 0..2 {
        let (a, b) = (&first.model.filters()[j], &again.model.filters()[j]);
        let cosine = dot(a, b) / (dot(a, a) * dot(b, b)).sqrt();
        assert!(cosine.abs() > 0.995, "{j} {cosine}");
        let (a, b) = (&first.model.experts()[j], &again.model.experts()[j]);
        // Where the two largest entries of a filter have one size, either may be the positive one.
        let b = &if cosine < 0.0 { b.mirrored().unwrap() } else { b.clone() };
        // The experts agree as distributions.
        for p in [0.05, 0.25, 0.5, 0.75, 0.95] {
            let z = a.quantile(p);
            assert!((b.cdf(z) - p).abs() < 0.02, "{j} {p} {}", b.cdf(z));
        }
    }
}

fn bits(fitted: &Fit) -> Vec<u64> {
    let of = |e: &upoe::Learned| {
        let numbers = e.direction().iter().copied().chain(e.expert().coordinates());
        numbers.chain([e.gain]).collect::<Vec<f64>>()
    };
    fitted.state.experts.iter().flat_map(of).map(f64::to_bits).collect()
}

#[test]
fn the_same_bits_for_any_number_of_threads() {
    // More than one chunk of rows, so that sums are really merged.
    let values: Vec<f64> = mixed()
        .iter()
        .cycle()
        .take(600 * 5 * 7)
        .enumerate()
        .map(|(i, x)| x + 1e-3 * (i as f64).sin())
        .collect();
    let rows = Rows::new(&values, 5).unwrap();
    for learner in [Learner::Pursuit, PARALLEL] {
        for precision in [Precision::F64, Precision::F32] {
            let of = |threads| {
                let s = settings(learner, None).with(|s| {
                    s.experts = Some(2);
                    s.threads = Some(threads);
                    s.precision = precision;
                    s.starts = Some(8);
                });
                bits(&fit(&rows, &s).unwrap())
            };
            let one = of(1);
            assert_eq!(one, of(2));
            assert_eq!(one, of(8));
        }
    }
}

#[test]
fn single_precision_rows_give_the_same_answer() {
    let values = mixed();
    let rows = Rows::new(&values, 5).unwrap();
    for family in [Family::StudentT, Family::Tilt] {
        let of =
            |precision| settings(Learner::Pursuit, Some(family)).with(|s| s.precision = precision);
        let double = fit(&rows, &of(Precision::F64)).unwrap();
        let single = fit(&rows, &of(Precision::F32)).unwrap();
        for (a, b) in double.state.experts.iter().zip(&single.state.experts) {
            assert!((a.gain - b.gain).abs() < 1e-4, "{} {}", a.gain, b.gain);
        }
    }
}

#[test]
fn an_observer_can_stop_a_fit_and_a_state_goes_on_with_the_same_bits() {
    let few = mixed();
    // Enough rows and directions for starts to be kept in reserve.
    let jitter = |(i, x): (usize, &f64)| x + 1e-3 * (i as f64).sin();
    let row = |i: usize| [&few[i % 600 * 5..][..5], &few[7 * i % 599 * 5..][..5]].concat();
    let many: Vec<f64> = (0..10_000).flat_map(row).collect();
    let many: Vec<f64> = many.iter().enumerate().map(jitter).collect();
    let cases = [
        (&few, 5, Learner::Pursuit, None),
        (&few, 5, Learner::Sequential, None),
        (&many, 10, Learner::Pursuit, Some(Family::StudentT)),
    ];
    for (values, columns, learner, family) in cases {
        let rows = Rows::new(values, columns).unwrap();
        let s = settings(learner, family);
        let whole = fit(&rows, &s).unwrap();
        let mut kept = None;
        let stopped = Fitter::new(s.clone())
            .observe(|event| {
                if let Event::Learned(state) = event {
                    kept = Some(State::clone(state));
                }
                kept.is_none()
            })
            .fit(&rows)
            .unwrap();
        assert_eq!(stopped.stop, StopReason::Interrupted);
        assert_eq!(stopped.model.experts().len(), 1);
        let kept = kept.unwrap();
        assert!(!kept.reserve.is_empty());
        let resumed = Fitter::new(s.clone()).resume(kept).fit(&rows).unwrap();
        assert_eq!(bits(&whole), bits(&resumed));
        assert_eq!(whole.state.path, resumed.state.path);
    }
}

#[test]
fn the_papers_recipe_comes_near_the_best_one() {
    let (values, _) = crabs();
    let rows = Rows::new(&values, 5).unwrap();
    let paper = Settings::default().with(|s| {
        s.experts = Some(1);
        s.families = Family::Mixture.into();
        s.fix_mu = Some(vec![-1.0, 1.0]);
        s.fix_beta = Some(20.0);
        s.recipe = Recipe::Paper;
        s.starts = Some(20);
    });
    let fitted = fit(&rows, &paper).unwrap();
    assert!(fitted.state.experts[0].gain > 0.35, "{}", fitted.state.experts[0].gain);
}

#[test]
fn every_direction_gets_the_family_that_suits_it() {
    let values = mixed();
    let fitted = fit(&Rows::new(&values, 5).unwrap(), &Settings::default()).unwrap();
    let families: Vec<Family> = fitted.model.experts().iter().map(Expert::family).collect();
    // Groups for a mixture, a flat direction for a tilt; heavy tails suit more than one family.
    assert!(
        families.contains(&Family::Mixture) && families.contains(&Family::Tilt),
        "{families:?}"
    );
    assert_eq!(families.len(), 3, "{families:?} {}", fitted.stop);
    assert!(fitted.state.experts.iter().all(|e| e.p_value.unwrap() < 0.05));
}

#[test]
fn every_stop_rule_says_why() {
    let values = mixed();
    let rows = Rows::new(&values, 5).unwrap();
    let held = normals(500, 7);
    let held = Rows::new(&held, 5).unwrap();
    let of = |stop| {
        Settings::default().with(|s| {
            s.stop = Some(stop);
            s.families = Family::StudentT.into();
            s.starts = Some(16);
        })
    };
    let reason = |stop| Fitter::new(of(stop).clone()).holdout(held).fit(&rows).unwrap().stop;
    assert!(matches!(reason(Stop::Null), StopReason::NotSignificant { .. }));
    assert!(matches!(reason(Stop::Bic), StopReason::Bic { .. }));
    assert!(matches!(reason(Stop::Holdout), StopReason::Holdout { .. }));
    assert!(matches!(reason(Stop::Train), StopReason::NoGain { .. } | StopReason::Dimensions));
    let all = Settings::default().with(|s| {
        s.experts = Some(99);
        s.stop = Some(Stop::Train);
        s.families = Family::Tilt.into();
        s.starts = Some(4);
    });
    let fitted = fit(&rows, &all).unwrap();
    assert_eq!(fitted.stop, StopReason::Dimensions);
    let model: &Model = &fitted.model;
    assert_eq!(model.experts().len(), 5);
}
