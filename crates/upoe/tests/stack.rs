//! The laws of stacks: normalised, invertible, drawn from exactly, and as deep as the rows ask for.

use crate::common::{apply, dot, normals, rng, rotation};
use rand::RngExt;
use rand_distr::{ChiSquared, Distribution, StandardNormal, StudentT};
use upoe::{Fit, Fitter, Layer, Rows, Settings, Stack};

fn grown(values: &[f64], d: usize) -> Fit {
    let settings = Settings::default().with(|s| s.depth = None);
    Fitter::new(settings).fit(&Rows::new(values, d).expect("rows")).expect("a fit")
}

/// A bent, heavy-tailed cloud: one layer cannot follow it.
fn bent(n: usize, d: usize, seed: u64) -> Vec<f64> {
    let mut rng = rng(seed);
    let heavy = StudentT::new(3.0).expect("a density");
    let mut row = || -> Vec<f64> {
        let x: f64 = rng.sample(StandardNormal);
        let mut row = vec![x, x * x + 0.3 * rng.sample::<f64, _>(StandardNormal)];
        row.extend((2..d).map(|_| heavy.sample(&mut rng)));
        row
    };
    (0..n).flat_map(|_| row()).collect()
}

/// Correlated columns, each skewed: their experts leave a Gaussian, so that columns come first.
fn skewed(n: usize, d: usize, seed: u64) -> Vec<f64> {
    let x: Vec<f64> =
        normals(n * d, seed).iter().enumerate().map(|(i, x)| x * (1.0 + (i % d) as f64)).collect();
    apply(&rotation(d, seed), &x, d).iter().map(|x| (0.5 * x).exp()).collect()
}

fn stack(fit: &Fit) -> &Stack {
    fit.stack.as_ref().expect("a stack")
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[test]
fn a_stack_in_two_dimensions_integrates_to_one() {
    let fit = grown(&bent(1500, 2, 1), 2);
    assert!(stack(&fit).layers().len() > 1, "one layer is not enough here");
    // The trapezoidal rule over |t| ≤ 12 in row = sinh t, so that heavy tails end.
    let (n, edge) = (1600, 12.0);
    let step = 2.0 * edge / f64::from(n);
    let t: Vec<f64> = (0..=n).map(|i| -edge + step * f64::from(i)).collect();
    let total: f64 = t
        .iter()
        .map(|a| {
            let line: Vec<f64> = t.iter().flat_map(|b| [a.sinh(), b.sinh()]).collect();
            let ln_p = stack(&fit).score(&Rows::new(&line, 2).expect("rows")).expect("scores");
            let line = ln_p.iter().zip(&t).map(|(p, b)| p.exp() * b.cosh()).sum::<f64>();
            line * a.cosh() * step * step
        })
        .sum();
    assert!((total - 1.0).abs() < 1e-6, "{total}");
}

#[test]
fn a_stack_in_five_dimensions_integrates_to_one() {
    let fit = grown(&bent(1500, 5, 2), 5);
    assert!(stack(&fit).layers().len() > 1);
    // Rows of another stack's law would do as well; a Student-t with two degrees of freedom covers all.
    let (n, d) = (200_000, 5);
    let mut rng = rng(3);
    let chi = ChiSquared::new(2.0).expect("a density");
    let centre = [0.0, 1.0, 0.0, 0.0, 0.0];
    let mut values = Vec::new();
    let mut ln_q = Vec::new();
    for _ in 0..n {
        let x: Vec<f64> = (0..d).map(|_| rng.sample(StandardNormal)).collect();
        let scale = (2.0_f64 / chi.sample(&mut rng)).sqrt();
        let square = dot(&x, &x) * scale * scale;
        // Γ(3.5) / (Γ(1) (2π)^2.5) (1 + q/2)^−3.5
        ln_q.push(
            3.323_350_970_447_843_f64.ln()
                - 2.5 * std::f64::consts::TAU.ln()
                - 3.5 * (0.5 * square).ln_1p(),
        );
        values.extend(x.iter().zip(centre).map(|(x, c)| c + scale * x));
    }
    let ln_p = stack(&fit).score(&Rows::new(&values, d).expect("rows")).expect("scores");
    let ratios: Vec<f64> = ln_p.iter().zip(&ln_q).map(|(p, q)| (p - q).exp()).collect();
    let total = mean(&ratios);
    let error =
        (mean(&ratios.iter().map(|r| (r - total).powi(2)).collect::<Vec<_>>()) / n as f64).sqrt();
    assert!((total - 1.0).abs() < 4.0 * error && error < 0.02, "{total} ± {error}");
}

#[test]
fn the_inverse_undoes_the_map_and_slopes_are_those_of_ln_p() {
    let skewed = skewed(1000, 4, 4);
    let fit = grown(&skewed, 4);
    assert_eq!(stack(&fit).column_experts().iter().flatten().count(), 4, "columns are skewed here");
    undone_with_slopes(stack(&fit), &skewed);
    let bent = bent(1000, 4, 4);
    undone_with_slopes(stack(&grown(&bent, 4)), &bent);
}

fn undone_with_slopes(stack: &Stack, values: &[f64]) {
    let rows = Rows::new(&values[..400], 4).expect("rows");
    let normal = stack.normal(&rows).expect("rows");
    for (row, normal) in values[..400].chunks_exact(4).zip(normal.chunks_exact(4)) {
        let back = stack.inverse(normal).expect("a row");
        let off =
            back.iter().zip(row).map(|(a, b)| (a - b).abs() / (1.0 + b.abs())).fold(0.0, f64::max);
        assert!(off < 1e-9, "{row:?} {back:?}");
        let slope = stack.slope(row).expect("a slope");
        for (i, slope) in slope.iter().enumerate() {
            let ln_p = |h: f64| {
                let mut moved = row.to_vec();
                moved[i] += h;
                stack.score(&Rows::new(&moved, 4).expect("rows")).expect("scores")[0]
            };
            let h = 1e-5;
            let difference = (ln_p(h) - ln_p(-h)) / (2.0 * h);
            assert!(
                (slope - difference).abs() < 1e-4 * (1.0 + slope.abs()),
                "{slope} {difference}"
            );
        }
        let terms = stack.terms(row).expect("terms").concat().iter().sum::<f64>();
        let ln_p = stack.score(&Rows::new(row, 4).expect("rows")).expect("scores")[0];
        assert!((terms - ln_p).abs() < 1e-9 * (1.0 + ln_p.abs()), "{terms} {ln_p}");
    }
}

/// A fit to drawn rows gives fresh ones nearly the density they were drawn from, and drawn rows, mapped, are
/// standard normal along any direction.
#[test]
fn drawn_rows_follow_the_density() {
    let values = bent(1000, 3, 5);
    let fit = grown(&values, 3);
    let stack = stack(&fit);
    let drawn = stack.sample(4000, 9);
    assert_eq!(drawn[..300], stack.sample(100, 9)[..], "row i depends on the seed and i alone");
    let again = grown(&drawn, 3);
    let rows = Rows::new(&drawn, 3).expect("rows");
    // A fit to drawn rows cannot beat the law they were drawn from by more than its parameters explain.
    let other = again.stack.as_ref().expect("a stack");
    let fresh = stack.sample(4000, 10);
    let fresh = Rows::new(&fresh, 3).expect("rows");
    let (own, theirs) =
        (mean(&stack.score(&fresh).expect("scores")), mean(&other.score(&fresh).expect("scores")));
    assert!(theirs < own + 0.01 && theirs > own - 0.2, "{own} {theirs}");
    for (k, w) in rotation(3, 6).into_iter().enumerate() {
        let normal = stack.normal(&rows).expect("rows");
        let mut z: Vec<f64> = normal.chunks_exact(3).map(|x| dot(x, &w)).collect();
        z.sort_by(f64::total_cmp);
        let gaussian = upoe::expert::Expert::gaussian();
        let n = z.len() as f64;
        let off = z.iter().enumerate().map(|(i, z)| {
            use upoe::expert::Marginal;
            (gaussian.cdf(*z) - (i as f64 + 0.5) / n).abs()
        });
        let off = off.fold(0.0, f64::max) * n.sqrt();
        assert!(off < 1.9, "direction {k}: {off}"); // exceeded once in 700
    }
}

#[test]
fn every_layer_adds_what_it_says() {
    let values = bent(800, 4, 7);
    let fit = grown(&values, 4);
    let rows = Rows::new(&values, 4).expect("rows");
    assert!(fit.layers.len() > 1 && fit.layers.len() == stack(&fit).layers().len());
    let at = |k: usize| mean(&stack(&fit).truncated(k).score(&rows).expect("scores"));
    for (k, record) in fit.layers.iter().enumerate() {
        let rise = at(k + 1) - at(k);
        assert!(
            (rise - record.gain()).abs() < 1e-9 && rise > record.parameters / 800.0,
            "layer {k}: {rise}"
        );
    }
}

#[test]
fn elliptical_rows_need_one_radial_expert_and_no_direction() {
    let mut alone = 0;
    for seed in 0..100 {
        let (n, d) = (1000, 10);
        let (x, mut rng) = (normals(n * d, 100 + seed), rng(200 + seed));
        let chi = ChiSquared::new(5.0).expect("a density");
        let mut scaled = |row: &[f64]| {
            let scale = (5.0_f64 / chi.sample(&mut rng)).sqrt();
            row.iter().map(|x| scale * x).collect::<Vec<f64>>()
        };
        let values: Vec<f64> = x.chunks_exact(d).flat_map(&mut scaled).collect();
        let fit = grown(&apply(&rotation(d, seed), &values, d), d);
        let stack = stack(&fit);
        let radial = matches!(stack.layers(), [Layer::Radial(r)] if r.dims() == d);
        alone += usize::from(radial && stack.column_experts().is_empty());
    }
    assert!(alone >= 90, "{alone} of 100");
}

/// Rows x = s·g with g Gaussian and s log-normal: far more of them lie near the centre than of Gaussian rows. Their
/// ln p is an integral over ln s, which quadrature gives.
#[test]
fn a_radial_expert_follows_rows_near_the_centre() {
    let (n, d, spread) = (4000, 10, 0.7);
    let scaled = |seed: u64| -> Vec<f64> {
        let (x, scales) = (normals(n * d, seed), normals(n, seed + 1));
        let row = |(x, s): (&[f64], &f64)| x.iter().map(|x| (spread * s).exp() * x).collect();
        x.chunks_exact(d).zip(&scales).flat_map::<Vec<f64>, _>(row).collect()
    };
    let fit = grown(&scaled(40), d);
    let first = stack(&fit).layers().first();
    assert!(matches!(first, Some(Layer::Radial(r)) if r.dims() == d), "{:?}", fit.layers);
    let fresh = scaled(50);
    let truth = |x: &[f64]| {
        let (square, step) = (dot(x, x), 0.01);
        let term = |i: i32| {
            let t = step * f64::from(i);
            let ln_s = spread * t;
            let ln_row = -0.5 * square * (-2.0 * ln_s).exp() - d as f64 * ln_s;
            (ln_row - 0.5 * t * t - 0.5 * (d + 1) as f64 * std::f64::consts::TAU.ln()).exp()
        };
        (step * (-800..=800).map(term).sum::<f64>()).ln()
    };
    let truth: Vec<f64> = fresh.chunks_exact(d).map(truth).collect();
    // The first layer alone: sphering costs about (d²/2) / N nats, more where tails are heavy.
    let one = stack(&fit).truncated(1).score(&Rows::new(&fresh, d).expect("rows")).expect("ln p");
    let short = mean(&truth) - mean(&one);
    assert!(short > -0.02 && short < 0.06, "{short} nats below the truth");
}

#[test]
fn gaussian_rows_need_no_layer() {
    let mut found = 0;
    for (n, d, first) in [(100, 3, 1000), (500, 5, 300), (1000, 10, 2000)] {
        for seed in first..first + 20 {
            let fit = grown(&normals(n * d, seed), d);
            let stack = stack(&fit);
            found += usize::from(!stack.layers().is_empty() || !stack.column_experts().is_empty());
        }
    }
    assert!(found <= 6, "{found} of 60"); // more in one of thirty runs at a level of 5 %
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    let values = bent(600, 4, 8);
    let scores = |threads: usize| {
        let settings = Settings::default().with(|s| (s.depth, s.threads) = (None, Some(threads)));
        let rows = Rows::new(&values, 4).expect("rows");
        let fit = Fitter::new(settings).fit(&rows).expect("a fit");
        stack(&fit).score(&rows).expect("scores").iter().map(|s| s.to_bits()).collect::<Vec<u64>>()
    };
    assert_eq!(scores(1), scores(3));
}

#[test]
fn a_stack_survives_storage() {
    let values = bent(800, 4, 11);
    let fit = grown(&values, 4);
    let stack = stack(&fit);
    let layer = |layer: &Layer| {
        let text = serde_json::to_string(&layer.parts()).expect("text");
        let parts = serde_json::from_str(&text).expect("parts");
        Layer::from_parts(parts, 4).expect("a layer")
    };
    assert!(stack.layers().len() > 1);
    let layers = stack.layers().iter().map(layer).collect();
    let column = |c: &Option<upoe::Placed>| {
        c.as_ref().map(|c| upoe::Placed::from_parts(c.parts()).expect("an expert"))
    };
    let columns = stack.column_experts().iter().map(column).collect();
    let again = Stack::new(columns, stack.whitening().clone(), layers).expect("a stack");
    let rows = Rows::new(&values, 4).expect("rows");
    assert_eq!(again.score(&rows).expect("scores"), stack.score(&rows).expect("scores"));
}

/// Whatever is far from smooth: nothing is gained from ties, and nothing fails.
#[test]
fn ties_copies_and_rows_at_the_centre_are_no_gain() {
    // All radii equal: every row of a full factorial, five times.
    let factorial: Vec<f64> =
        (0..80).flat_map(|i| (0..4).map(move |k| f64::from(i >> k & 1))).collect();
    let radial = |fit: &Fit| stack(fit).layers().iter().any(|l| matches!(l, Layer::Radial(_)));
    let fit = grown(&factorial, 4);
    assert!(!radial(&fit), "{:?}", fit.layers);
    // Gaussian rows, their negatives, and a row at the centre.
    let mut centred = normals(500 * 10, 12);
    centred.extend(centred.clone().iter().map(|x| -x));
    centred.extend([0.0; 10]);
    let fit = grown(&centred, 10);
    assert!(!radial(&fit), "{:?}", fit.layers);
    // A column twice: experts of columns would count their slopes twice.
    let twice: Vec<f64> =
        normals(600, 13).chunks_exact(2).flat_map(|r| [r[0].exp(), r[0].exp(), r[1]]).collect();
    let fit = grown(&twice, 3);
    assert!(stack(&fit).column_experts().is_empty());
    let rows = Rows::new(&twice, 3).expect("rows");
    assert!(stack(&fit).score(&rows).expect("scores").iter().all(|s| s.is_finite()));
    // Few rows, one column, far rows.
    for (n, d) in [(12, 3), (40, 1), (30, 20)] {
        let mut values = normals(n * d, 14);
        let fit = grown(&values, d);
        values[0] = 1e308;
        let scores = stack(&fit).score(&Rows::new(&values, d).expect("rows")).expect("scores");
        assert!(scores[0] == f64::NEG_INFINITY || scores[0] < -100.0, "{}", scores[0]);
    }
}

/// Runs of rows that resemble each other: later layers learn where the runs lie, and rows of other runs lie
/// elsewhere.
#[test]
fn rows_that_follow_one_another_get_the_layers_that_pay_on_rows_held_out() {
    let (d, runs, long) = (6, 30, 20);
    let make = |seed: u64| -> Vec<f64> {
        let (places, noise) = (normals(runs * d, seed), normals(runs * long * d, seed + 1));
        let cell = |(i, e): (usize, &f64)| places[i / (long * d) * d + i % d] + 0.1 * e;
        noise.iter().enumerate().map(cell).collect()
    };
    let (values, fresh) = (make(60), make(70));
    let mixed: Vec<f64> =
        (0..runs * long).flat_map(|i| values[i * 7 % (runs * long) * d..][..d].to_vec()).collect();
    let fresh = Rows::new(&fresh, d).expect("rows");
    let [in_order, mixed] = [&values, &mixed].map(|values| {
        let fit = grown(values, d);
        (fit.layers.len(), mean(&stack(&fit).score(&fresh).expect("ln p")))
    });
    assert!(in_order.0 < mixed.0 && in_order.1 > mixed.1 + 0.1, "{in_order:?} {mixed:?}");
}
