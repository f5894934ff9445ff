//! Fits of every kind: what is asked for, exact explanations, slopes, and which rows are held out together.

use crate::common::{normals, rng};
use rand::RngExt;
use rand::seq::SliceRandom;
use rand_distr::StandardNormal;
use upoe::expert::Family;
use upoe::{
    Density, Depth, Dims, Explainer, Fit, Fitter, Learner, Pool, Quality, Recipe, Rows, Settings,
};

fn asked(quality: Quality) -> Settings {
    Settings::default().asked(Some(quality), None).expect("settings")
}

fn fitted(values: &[f64], d: usize, settings: Settings) -> Fit {
    Fitter::new(settings).fit(&Rows::new(values, d).expect("rows")).expect("a fit")
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Three bent clusters, with a common scale in the other columns.
fn clusters(n: usize, d: usize, seed: u64) -> Vec<f64> {
    let mut rng = rng(seed);
    let mut row = |i: usize| -> Vec<f64> {
        let x: f64 = rng.sample(StandardNormal);
        let centre = [(-4.0, 0.0), (4.0, 0.0), (0.0, 6.0)][i % 3];
        let scale = rng.sample::<f64, _>(StandardNormal).exp();
        let mut row = vec![centre.0 + x, centre.1 + 0.5 * x * x];
        row[1] += 0.4 * rng.sample::<f64, _>(StandardNormal);
        row.extend((2..d).map(|_| scale * rng.sample::<f64, _>(StandardNormal)));
        row
    };
    (0..n).flat_map(&mut row).collect()
}

/// Rows of one scale each: the first layer is radial.
fn scaled(n: usize, d: usize, seed: u64) -> Vec<f64> {
    let mut rng = rng(seed);
    let mut row = || -> Vec<f64> {
        let scale = (1.5 * rng.sample::<f64, _>(StandardNormal)).exp();
        let group = if rng.random::<bool>() { 1.5 } else { -1.5 };
        let mut row: Vec<f64> =
            (0..d).map(|_| scale * rng.sample::<f64, _>(StandardNormal)).collect();
        row[0] += scale * group;
        row
    };
    (0..n).flat_map(|_| row()).collect()
}

#[test]
fn settings_of_the_paper_ask_for_one_layer_unless_more_is_asked_for() {
    let of = |change: &dyn Fn(&mut Settings), quality, depth| {
        let settings = Settings::default().with(|s| change(s));
        settings.asked(quality, depth).map(|s| (s.quality(), s.depth))
    };
    let plain = |_: &mut Settings| {};
    let paper: [&dyn Fn(&mut Settings); 5] = [
        &|s| s.experts = Some(3),
        &|s| s.learner = Learner::Sequential,
        &|s| s.recipe = Recipe::Paper,
        &|s| (s.families, s.fix_mu) = (Family::StudentT.into(), Some(vec![0.0])),
        &|s| s.fix_beta = Some(5.0),
    ];
    for change in paper {
        assert_eq!(of(change, None, None), Ok((Quality::Fast, Some(1))));
        assert_eq!(of(change, Some(Quality::Good), None), Ok((Quality::Good, None)));
        assert_eq!(of(change, None, Some(Depth::Layers(3))), Ok((Quality::Good, Some(3))));
    }
    assert_eq!(of(&plain, None, None).map(|s| s.0), Ok(Settings::DEFAULT_QUALITY));
    assert_eq!(of(&plain, None, Some(Depth::Layers(1))), Ok((Quality::Fast, Some(1))));
    assert_eq!(
        of(&plain, Some(Quality::Fast), Some(Depth::Layers(1))),
        Ok((Quality::Fast, Some(1)))
    );
    assert_eq!(of(&plain, Some(Quality::Best), Some(Depth::Auto)), Ok((Quality::Best, None)));
    assert!(of(&plain, Some(Quality::Fast), Some(Depth::Auto)).is_err());
    // Layers need orthonormal directions.
    let sequential = asked(Quality::Good).with(|s| s.learner = Learner::Sequential);
    assert!(sequential.check().is_err());
    assert!("0".parse::<Depth>().is_err() && "auto".parse() == Ok(Depth::Auto));
}

#[test]
fn the_parts_of_every_kind_add_up() {
    let (d, clusters, scaled) = (4, clusters(500, 4, 1), scaled(500, 4, 2));
    let reduced = asked(Quality::Good).with(|s| s.dims = Dims::Count(3));
    for (values, settings) in [
        (&clusters, asked(Quality::Fast)),
        (&clusters, asked(Quality::Good)),
        (&scaled, asked(Quality::Good)),
        (&scaled, reduced),
        (&clusters, asked(Quality::Best)),
    ] {
        let fit = fitted(values, d, settings);
        let explainer = Explainer::new(fit.fitted(), 3).expect("an explainer");
        let names = explainer.names();
        assert_eq!(names.iter().any(|n| n == "pool"), fit.pool.is_some());
        assert_eq!(names[explainer.rest()], "rest");
        let rows = Rows::new(values, d).expect("rows");
        let ln_p = fit.density().score(&rows).expect("scores");
        for i in (0..500).step_by(50) {
            let why = explainer.explain(fit.fitted(), &rows.row(i)).expect("parts");
            assert_eq!(why.parts.len(), names.len());
            assert_eq!(why.times_as_far.len(), explainer.radial_layers().len());
            let sum = why.baseline + why.parts.iter().sum::<f64>();
            assert!((sum - ln_p[i]).abs() < 1e-9 * (1.0 + ln_p[i].abs()), "{sum} {}", ln_p[i]);
            assert!((why.ln_p - ln_p[i]).abs() < 1e-9 * (1.0 + ln_p[i].abs()));
            let columns = explainer.columns(fit.fitted(), &rows.row(i)).expect("columns");
            let sum = why.baseline + columns.iter().sum::<f64>();
            assert!((sum - ln_p[i]).abs() < 1e-9 * (1.0 + ln_p[i].abs()), "{sum} {}", ln_p[i]);
        }
        // Far rows: no part is NaN.
        let far = explainer.explain(fit.fitted(), &[1e200, 0.0, 0.0, 0.0]).expect("parts");
        assert!(far.parts.iter().all(|p| !p.is_nan()), "{far:?}");
    }
}

/// A row that is far out in all columns alike is so by the radial expert, and the column that is odd is blamed.
#[test]
fn reasons_name_what_is_odd() {
    let d = 5;
    let fit = fitted(&scaled(1500, d, 4), d, asked(Quality::Good));
    let explainer = Explainer::new(fit.fitted(), 3).expect("an explainer");
    assert_eq!(explainer.radial_layers().first(), Some(&1), "{:?}", fit.layers);
    let deviations = fit.model.whitening().deviations();
    let mean = fit.model.whitening().mean();
    let away: Vec<f64> = mean.iter().zip(deviations).map(|(m, s)| m + 8.0 * s).collect();
    let why = explainer.explain(fit.fitted(), &away).expect("parts");
    assert!(why.times_as_far[0] > 5.0, "{:?}", why.times_as_far);
    let mut odd = mean.to_vec();
    odd[3] += 20.0 * deviations[3];
    let columns = explainer.columns(fit.fitted(), &odd).expect("columns");
    let blamed = (0..d).min_by(|a, b| columns[*a].total_cmp(&columns[*b]));
    assert_eq!(blamed, Some(3), "{columns:?}");
}

#[test]
fn slopes_of_pools_and_of_reduced_rows_are_those_of_ln_p() {
    let (d, values) = (4, clusters(400, 4, 5));
    let reduced = asked(Quality::Good).with(|s| s.dims = Dims::Count(3));
    let kinds = [fitted(&values, d, asked(Quality::Best)), fitted(&values, d, reduced)];
    for fit in kinds {
        for row in values.chunks_exact(d).step_by(37) {
            let slope = match (&fit.pool, &fit.stack) {
                (Some(pool), _) => pool.slope(row),
                (None, stack) => stack.as_ref().expect("a stack").slope(row),
            };
            for (i, slope) in slope.expect("a slope").iter().enumerate() {
                let ln_p = |h: f64| {
                    let mut moved = row.to_vec();
                    moved[i] += h;
                    fit.density().score(&Rows::new(&moved, d).expect("rows")).expect("scores")[0]
                };
                let difference = (ln_p(1e-5) - ln_p(-1e-5)) / 2e-5;
                let close = (slope - difference).abs() < 1e-3 * (1.0 + slope.abs());
                assert!(close, "{slope} {difference}");
            }
        }
    }
}

#[test]
fn figures_of_layers_on_held_out_rows_add_up() {
    let d = 4;
    let (train, held) = (scaled(800, d, 6), scaled(400, d, 7));
    let (train, held) = (Rows::new(&train, d).expect("rows"), Rows::new(&held, d).expect("rows"));
    let settings = asked(Quality::Good);
    let fit = Fitter::new(settings).holdout(held).fit(&train).expect("a fit");
    assert!(fit.stack.as_ref().is_some_and(|s| s.column_experts().is_empty()));
    let gain = fit.evaluate(&train, Some(&held)).expect("figures").gain.expect("a gain");
    let layers: f64 = fit.layers.iter().map(|l| l.holdout.expect("held-out rows")).sum();
    assert!((gain.holdout.expect("a mean") - layers).abs() < 1e-9, "{gain:?} {layers}");
    // Projections are what the experts describe: after the radial expert they gain what was said.
    assert!(!fit.model.experts().is_empty());
    let z = fit.fitted().transform(&train).expect("projections");
    let j = fit.model.experts().len();
    for (k, learned) in fit.state.experts.iter().enumerate() {
        let gains: Vec<f64> = z
            .iter()
            .skip(k)
            .step_by(j)
            .map(|z| {
                use upoe::expert::Marginal;
                learned.expert().ln_density(*z) + 0.5 * (z * z + std::f64::consts::TAU.ln())
            })
            .collect();
        assert!((mean(&gains) - learned.gain).abs() < 1e-9, "{} {}", mean(&gains), learned.gain);
    }
}

#[test]
fn pools_do_not_depend_on_the_order_of_rows() {
    let (d, values) = (3, clusters(240, 3, 8));
    let mut rows: Vec<&[f64]> = values.chunks_exact(d).collect();
    rows.shuffle(&mut rng(9));
    let score = |values: &[f64]| {
        let fit = fitted(values, d, asked(Quality::Best));
        fit.density().score(&Rows::new(&normals(60, 1), d).expect("rows")).expect("scores")
    };
    assert_eq!(score(&values), score(&rows.concat()));
}

/// Near copies of rows tell about each other: only blocks keep a pool from learning them by heart.
#[test]
fn rows_of_one_block_are_held_out_together() {
    let (d, copies) = (3, 5);
    let blocks = normals(40 * d, 10);
    let mut values = Vec::new();
    for (b, noise) in normals(40 * copies * d, 11).chunks_exact(copies * d).enumerate() {
        let centre = &blocks[b * d..][..d];
        values.extend(noise.iter().enumerate().map(|(i, e)| centre[i % d] + 0.01 * e));
    }
    let numbers: Vec<usize> = (0..40 * copies).map(|i| i / copies).collect();
    let rows = Rows::new(&values, d).expect("rows");
    let fit = |rows: &Rows, settings: Settings| Fitter::new(settings).fit(rows).expect("a fit");
    let fresh = normals(600 * d, 12);
    let fresh = Rows::new(&fresh, d).expect("rows");
    let of = |fit: &Fit| mean(&fit.density().score(&fresh).expect("scores"));
    let ordered = asked(Quality::Best).with(|s| s.ordered = true);
    let apart = fit(&rows, asked(Quality::Best));
    let together = fit(&rows.in_blocks(&numbers).expect("blocks"), asked(Quality::Best));
    let in_time = fit(&rows, ordered);
    assert!(of(&together) > of(&apart) + 1.0, "{} {}", of(&together), of(&apart));
    assert!(of(&in_time) > of(&apart) + 1.0, "{} {}", of(&in_time), of(&apart));
    // Equal rows count as one block.
    let equal: Vec<f64> = blocks.chunks_exact(d).flat_map(|row| row.repeat(copies)).collect();
    let equal = fitted(&equal, d, asked(Quality::Best));
    assert!(of(&equal) > of(&apart) + 1.0, "{} {}", of(&equal), of(&apart));
}

#[test]
fn a_stop_keeps_the_stack() {
    let (d, values) = (3, clusters(300, 3, 13));
    let rows = Rows::new(&values, d).expect("rows");
    let mut parts = 0;
    let fit = Fitter::new(asked(Quality::Best))
        .observe(|event| {
            parts += usize::from(matches!(event, upoe::Event::Pool { .. }));
            parts < 3
        })
        .fit(&rows)
        .expect("a fit");
    assert_eq!(fit.stop, upoe::StopReason::Interrupted);
    // It is asked again where parts run side by side.
    assert!(fit.pool.is_none() && fit.stack.is_some() && parts < 20, "{parts}");
}

#[test]
fn weights_count_as_repeated_rows_where_they_are_counts() {
    let (d, values) = (3, clusters(200, 3, 14));
    let twice: Vec<f64> = values.chunks_exact(d).flat_map(|row| row.repeat(2)).collect();
    let counts = asked(Quality::Good).with(|s| s.counts = true);
    let weights = vec![2.0; 200];
    let rows = Rows::new(&values, d).expect("rows").weighted(&weights).expect("weights");
    let weighted = Fitter::new(counts.clone()).fit(&rows).expect("a fit");
    let repeated = fitted(&twice, d, counts);
    let rows = Rows::new(&values, d).expect("rows");
    let scores = |fit: &Fit| fit.density().score(&rows).expect("scores");
    assert_eq!(scores(&weighted), scores(&repeated));
}

/// The long form of a law of `stack.rs`.
#[test]
fn gaussian_rows_have_no_layer_in_a_hundred_draws() {
    let found = (0..100)
        .filter(|seed| {
            let fit = fitted(&normals(500 * 5, 1000 + seed), 5, asked(Quality::Good));
            let stack = fit.stack.expect("a stack");
            !stack.layers().is_empty() || !stack.column_experts().is_empty()
        })
        .count();
    assert!(found <= 5, "{found} of 100");
}

/// A pool is a density: so are the values of its trait.
#[test]
fn a_pool_is_a_density() {
    let values = clusters(200, 2, 15);
    let rows = Rows::new(&values, 2).expect("rows");
    let settings = asked(Quality::Best);
    let pool = Pool::fit(&rows, &settings, |_, _| true).expect("a fit").expect("a pool");
    let density: &dyn Density = &pool;
    assert_eq!(density.columns(), 2);
    assert_eq!(density.score(&rows).expect("scores"), pool.score(&rows).expect("scores"));
}
