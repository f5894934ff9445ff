//! Laws of mixtures of Student-t components.

use crate::common::{dot, normals, rng, rotation};
use rand::RngExt;
use rand_distr::StandardNormal;
use upoe::Error;
use upoe::t_mixture::{ChosenComponents, Components, Fold, TMixture};

pub const DEGREES: [f64; 3] = [4.0, 10.0, f64::INFINITY];

/// Three components with correlated columns.
pub fn mixture(d: usize, degrees: f64) -> TMixture {
    let means: Vec<f64> = normals(3 * d, 1).iter().map(|x| 1.5 * x).collect();
    let covariances: Vec<f64> = (0..3)
        .flat_map(|k| {
            let axes = rotation(d, 10 + k);
            let entry = move |i: usize, j: usize| -> f64 {
                let scale = |a: usize| 0.3 + 0.4 * ((a as u64 + k) % 3) as f64;
                // The smaller index first: exactly symmetric.
                let (i, j) = (i.min(j), i.max(j));
                (0..d).map(|a| scale(a) * axes[a][i] * axes[a][j]).sum()
            };
            (0..d * d).map(move |at| entry(at / d, at % d))
        })
        .collect();
    TMixture::from_parts(d, degrees, vec![0.2, 0.3, 0.5], means, covariances).expect("sound parts")
}

/// `n` rows of three groups, far apart, and the group of each.
pub fn planted(n: usize, d: usize, seed: u64) -> (Vec<f64>, Vec<usize>) {
    let mut rng = rng(seed);
    let groups: Vec<usize> = (0..n).map(|i| i % 3).collect();
    let cell = |at: usize| {
        let z: f64 = rng.sample(StandardNormal);
        let centre = if at % d == groups[at / d] { 6.0 } else { 0.0 };
        centre + z * (0.5 + 0.5 * groups[at / d] as f64)
    };
    ((0..n * d).map(cell).collect(), groups.clone())
}

/// The mean of the columns' variances.
fn mean_variance(x: &[f64], d: usize) -> f64 {
    let n = (x.len() / d) as f64;
    let of_column = |j: usize| {
        let column = || x.iter().skip(j).step_by(d);
        let mean = column().sum::<f64>() / n;
        column().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n
    };
    (0..d).map(of_column).sum::<f64>() / d as f64
}

/// The smallest eigenvalue of all covariances.
fn smallest_variance(mixture: &TMixture) -> f64 {
    let d = mixture.dims();
    let of_component = |k: usize| {
        let matrix = faer::Mat::from_fn(d, d, |i, j| mixture.covariance(k)[i * d + j]);
        matrix.self_adjoint_eigenvalues(faer::Side::Lower).expect("eigenvalues")[0]
    };
    (0..mixture.count()).map(of_component).fold(f64::INFINITY, f64::min)
}

#[test]
fn integrates_to_1_in_two_dimensions() {
    // x = sinh s: equal steps in s reach far into the tails.
    let step = 0.02;
    let nodes: Vec<f64> = (-450..=450).map(|i| f64::from(i) * step).collect();
    for degrees in DEGREES {
        let mixture = mixture(2, degrees);
        let mut total = 0.0;
        for s in &nodes {
            let rows: Vec<f64> = nodes.iter().flat_map(|t| [s.sinh(), t.sinh()]).collect();
            let ln_p = mixture.ln_density(&rows).expect("finite rows");
            let line: f64 = nodes.iter().zip(ln_p).map(|(t, ln_p)| ln_p.exp() * t.cosh()).sum();
            total += line * s.cosh() * step * step;
        }
        assert!((total - 1.0).abs() < 1e-8, "ν = {degrees}: {total}");
    }
}

#[test]
fn integrates_to_1_in_five_dimensions() {
    // Importance sampling from multivariate Cauchy variables of scale 1 about the three means.
    let (n, d) = (200_000, 5);
    let centres = mixture(d, 4.0);
    let mut rng = rng(4);
    let x: Vec<f64> = (0..n)
        .flat_map(|i| {
            let g: f64 = rng.sample(StandardNormal);
            let centre = centres.mean(i % 3);
            centre.iter().map(|m| m + rng.sample::<f64, _>(StandardNormal) / g).collect::<Vec<_>>()
        })
        .collect();
    let proposal = |row: &[f64]| {
        let of = |k: usize| {
            let r2: f64 = row.iter().zip(centres.mean(k)).map(|(x, m)| (x - m) * (x - m)).sum();
            2.0 / std::f64::consts::PI.powi(3) / (1.0 + r2).powi(3)
        };
        (0..3).map(of).sum::<f64>() / 3.0
    };
    for degrees in DEGREES {
        let ln_p = mixture(d, degrees).ln_density(&x).expect("finite rows");
        let ratio = |(row, ln_p): (&[f64], f64)| ln_p.exp() / proposal(row);
        let ratios: Vec<f64> = x.chunks_exact(d).zip(ln_p).map(ratio).collect();
        let mean = ratios.iter().sum::<f64>() / n as f64;
        let variance = ratios.iter().map(|r| (r - mean).powi(2)).sum::<f64>() / n as f64;
        let error = (variance / n as f64).sqrt();
        assert!(error < 0.01, "ν = {degrees}: a standard error of {error}");
        assert!((mean - 1.0).abs() < 4.0 * error, "ν = {degrees}: {mean} ± {error}");
    }
}

#[test]
fn samples_follow_the_density() {
    let (n, d) = (20_000, 4);
    for degrees in DEGREES {
        let mixture = mixture(d, degrees);
        let mut rng = rng(5);
        let x: Vec<f64> = (0..n).flat_map(|_| mixture.draw(&mut rng)).collect();
        for direction in rotation(d, 6) {
            // Along a direction the mixture is one of a single column.
            let of = |k: usize| {
                let rows = mixture.covariance(k).chunks_exact(d);
                let across: Vec<f64> = rows.map(|row| dot(row, &direction)).collect();
                (dot(mixture.mean(k), &direction), dot(&across, &direction))
            };
            let (means, variances): (Vec<f64>, Vec<f64>) = (0..3).map(of).unzip();
            let weights = mixture.weights().to_vec();
            let line =
                TMixture::from_parts(1, degrees, weights, means, variances).expect("sound parts");
            let mut z: Vec<f64> = x.chunks_exact(d).map(|row| dot(row, &direction)).collect();
            z.sort_by(f64::total_cmp);
            // The distribution function by the trapezoid rule in s, x = sinh s.
            let (step, from) = (1e-3, -12.0);
            let nodes: Vec<f64> = (0..24_000).map(|i| from + f64::from(i) * step).collect();
            let rows: Vec<f64> = nodes.iter().map(|s| s.sinh()).collect();
            let ln_p = line.ln_density(&rows).expect("finite rows");
            let (mut below, mut i, mut largest) = (0.0, 0, 0.0_f64);
            for ((s, row), ln_p) in nodes.iter().zip(&rows).zip(ln_p) {
                below += ln_p.exp() * s.cosh() * step;
                while i < n && z[i] <= *row {
                    i += 1;
                }
                largest = largest.max((below - i as f64 / n as f64).abs());
            }
            // The 99.9 % point of Kolmogorov's distribution.
            assert!(largest * (n as f64).sqrt() < 1.95, "ν = {degrees}: {largest}");
        }
        if degrees > 4.0 {
            let spread = if degrees.is_finite() { degrees / (degrees - 2.0) } else { 1.0 };
            for j in 0..d {
                let moments = |k: usize| {
                    let m = mixture.mean(k)[j];
                    (m, spread * mixture.covariance(k)[j * d + j] + m * m)
                };
                let parts = mixture.weights().iter().enumerate().map(|(k, w)| (w, moments(k)));
                let (mut mean, mut square) = (0.0, 0.0);
                parts.for_each(|(w, (m, s))| (mean, square) = (mean + w * m, square + w * s));
                let column = || x.iter().skip(j).step_by(d);
                let got = column().sum::<f64>() / n as f64;
                let got_square = column().map(|x| x * x).sum::<f64>() / n as f64;
                let error = ((square - mean * mean) / n as f64).sqrt();
                assert!((got - mean).abs() < 4.0 * error, "mean of column {j}: {got}, {mean}");
                assert!((got_square / square - 1.0).abs() < 0.06, "{got_square}, {square}");
            }
        }
    }
}

#[test]
fn slopes_are_finite_differences() {
    let d = 5;
    for degrees in DEGREES {
        let mixture = mixture(d, degrees);
        for row in normals(20 * d, 7).chunks_exact(d) {
            let slope = mixture.slope(row).expect("a row");
            for j in 0..d {
                let at = |h: f64| {
                    let mut row = row.to_vec();
                    row[j] += h;
                    mixture.ln_density(&row).expect("a row")[0]
                };
                let difference = (at(1e-4) - at(-1e-4)) / 2e-4;
                assert!((slope[j] - difference).abs() < 1e-5 * (1.0 + difference.abs()));
            }
        }
        assert!(mixture.slope(&[1e200; 5]).expect("a row").iter().all(|s| !s.is_nan()));
    }
}

#[test]
fn a_single_gaussian_is_the_maximum_likelihood_fit() {
    let (n, d) = (500, 3);
    let x: Vec<f64> =
        normals(n * d, 8).iter().enumerate().map(|(i, x)| x * (1 + i % 3) as f64 + 0.7).collect();
    let weights: Vec<f64> = (0..n).map(|i| (i % 4) as f64).collect();
    let settings = Components { count: 1, shrinkage: 0.0, degrees: f64::INFINITY };
    let fitted = TMixture::fit(&x, d, Some(&weights), &settings).expect("a fit").mixture;
    let total: f64 = weights.iter().sum();
    let rows = || x.chunks_exact(d).zip(&weights);
    let mean = |j: usize| rows().map(|(x, w)| w * x[j]).sum::<f64>() / total;
    for i in 0..d {
        assert!((fitted.mean(0)[i] - mean(i)).abs() < 1e-12);
        for j in 0..d {
            let product = |(x, w): (&[f64], &f64)| w * (x[i] - mean(i)) * (x[j] - mean(j));
            let expected = rows().map(product).sum::<f64>() / total;
            assert!((fitted.covariance(0)[i * d + j] - expected).abs() < 1e-11);
        }
    }
    assert_eq!(fitted.weights(), [1.0]);
}

#[test]
fn a_weight_counts_as_repeated_rows() {
    let d = 3;
    let (x, _) = planted(90, d, 9);
    let weights: Vec<f64> = (0..90).map(|i| (i % 3) as f64).collect();
    let repeated: Vec<f64> =
        (x.chunks_exact(d).zip(&weights)).flat_map(|(row, w)| row.repeat(*w as usize)).collect();
    let settings = Components { count: 3, shrinkage: 3.0, degrees: 10.0 };
    let start = mixture(d, 10.0);
    let one = start.continued(&x, Some(&weights), &settings).expect("a fit").mixture;
    let two = start.continued(&repeated, None, &settings).expect("a fit").mixture;
    let (one, two) = (one.ln_density(&x).expect("rows"), two.ln_density(&x).expect("rows"));
    assert!(one.iter().zip(&two).all(|(a, b)| (a - b).abs() < 1e-9));
}

#[test]
fn planted_groups_are_chosen_and_found() {
    let d = 4;
    let (x, groups) = planted(600, d, 11);
    let folds: Vec<Fold> = (0..5)
        .map(|f| {
            let held: Vec<usize> = (0..600).filter(|i| i / 3 % 5 == f).collect();
            Fold::new(&x, d, None, &held).expect("a fold")
        })
        .collect();
    let chosen = ChosenComponents::new(&folds, d).expect("a choice");
    assert_eq!(chosen.components.count, 3);
    assert_eq!(chosen.components.degrees, f64::INFINITY);
    assert_eq!(chosen.ln_p.iter().map(Vec::len).sum::<usize>(), 600);
    let best = chosen.tried.iter().map(|t| t.1).fold(f64::NEG_INFINITY, f64::max);
    assert!((chosen.mean_ln_p - best).abs() < 0.01);
    let mean = chosen.ln_p.iter().flatten().sum::<f64>() / 600.0;
    assert!((mean - chosen.mean_ln_p).abs() < 1e-12);
    let fitted = chosen.fit(&x, None).expect("a fit").mixture;
    let shares = fitted.responsibilities(&x).expect("rows");
    let nearest = |k: usize| {
        let mean = fitted.mean(k);
        (0..3).max_by(|&a, &b| mean[a].total_cmp(&mean[b])).expect("a group")
    };
    let mut right = 0;
    for (shares, group) in shares.chunks_exact(3).zip(groups) {
        assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        let k = (0..3).max_by(|&a, &b| shares[a].total_cmp(&shares[b])).expect("a component");
        right += usize::from(nearest(k) == group);
    }
    assert!(right >= 594, "{right} of 600");
}

#[test]
fn threads_do_not_change_bits() {
    let d = 5;
    let (x, _) = planted(9_000, d, 12);
    let held: Vec<usize> = (0..9_000).step_by(5).collect();
    let fold = Fold::new(&x, d, None, &held).expect("a fold");
    let settings = Components { count: 6, shrinkage: 5.0, degrees: 4.0 };
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        pool.install(|| {
            let chosen = ChosenComponents::new(std::slice::from_ref(&fold), d).expect("a choice");
            let fitted = TMixture::fit(&x, d, None, &settings).expect("a fit").mixture;
            let ln_p = fitted.ln_density(&x).expect("rows");
            (chosen.components, chosen.ln_p, chosen.tried, fitted, ln_p)
        })
    };
    assert!(run(1) == run(2));
}

/// What is done to weights, means, covariances and degrees of freedom.
type Change = dyn Fn(&mut Vec<f64>, &mut Vec<f64>, &mut Vec<f64>, &mut f64);

#[test]
fn a_stored_mixture_keeps_its_bits_and_a_broken_one_is_refused() {
    for degrees in DEGREES {
        let mixture = mixture(3, degrees);
        let text = serde_json::to_string(&mixture).expect("JSON");
        let back: TMixture = serde_json::from_str(&text).expect("the same");
        assert_eq!(back, mixture);
    }
    let parts = |change: &Change| {
        let (mut weights, mut means) = (vec![0.25, 0.75], vec![0.0, 1.0, 2.0, 3.0]);
        let mut covariances = vec![1.0, 0.5, 0.5, 1.0, 2.0, 0.0, 0.0, 2.0];
        let mut degrees = 4.0;
        change(&mut weights, &mut means, &mut covariances, &mut degrees);
        TMixture::from_parts(2, degrees, weights, means, covariances)
    };
    assert!(parts(&|_, _, _, _| {}).is_ok());
    assert!(parts(&|w, _, _, _| w[0] = 0.3).is_err());
    assert!(parts(&|w, _, _, _| (w[0], w[1]) = (-0.5, 1.5)).is_err());
    assert!(parts(&|w, _, _, _| w[0] = f64::NAN).is_err());
    assert!(parts(&|w, _, _, _| w.clear()).is_err());
    assert!(parts(&|_, m, _, _| m[1] = f64::INFINITY).is_err());
    assert!(parts(&|_, m, _, _| m.truncate(3)).is_err());
    assert!(parts(&|_, _, c, _| c[1] = 0.4).is_err());
    assert!(parts(&|_, _, c, _| (c[1], c[2]) = (1.5, 1.5)).is_err());
    assert!(parts(&|_, _, c, _| c[4] = f64::NAN).is_err());
    assert!(parts(&|_, _, c, _| c[4] = 0.0).is_err());
    assert!(parts(&|_, _, _, nu| *nu = f64::NAN).is_err());
    assert!(parts(&|_, _, _, nu| *nu = 0.0).is_err());
}

#[test]
fn degenerate_rows_give_errors_or_sound_mixtures() {
    let (x, _) = planted(60, 3, 13);
    let constant: Vec<f64> = x.chunks_exact(3).flat_map(|r| [r[0], 5.0, r[2]]).collect();
    let dependent: Vec<f64> = x.chunks_exact(3).flat_map(|r| [r[0], r[1], r[0] + r[1]]).collect();
    let rounded: Vec<f64> = x.iter().map(|x| (x / 4.0).round()).collect();
    let two_points: Vec<f64> = (0..60).flat_map(|i| [f64::from(i % 2); 3]).collect();
    let wide = normals(5 * 12, 14);
    let far: Vec<f64> = x.iter().enumerate().map(|(i, x)| if i == 0 { 1e6 } else { *x }).collect();
    let tables = [
        (&x[..6], 3),
        (&constant, 3),
        (&dependent, 3),
        (&rounded, 3),
        (&two_points, 3),
        (&wide[..], 12),
        (&far, 3),
    ];
    for (case, (x, d)) in tables.into_iter().enumerate() {
        for count in [1, 2, 5, 30] {
            for shrinkage in [0.0, 3.0] {
                for degrees in DEGREES {
                    let settings = Components { count, shrinkage, degrees };
                    match TMixture::fit(x, d, None, &settings) {
                        Err(error) => {
                            let too_few = matches!(error, Error::TooFewRows { .. });
                            assert!(too_few && count > x.len() / d, "{case}: {error}");
                        }
                        Ok(fitted) => {
                            let ln_p = fitted.mixture.ln_density(x).expect("rows");
                            assert!(ln_p.iter().all(|l| l.is_finite()), "{case}: {settings:?}");
                            let smallest = smallest_variance(&fitted.mixture);
                            let floor = 0.999e-6 * mean_variance(x, d);
                            assert!(smallest > floor, "{case}: {settings:?}, {smallest}");
                            let again = serde_json::to_string(&fitted.mixture).expect("JSON");
                            assert!(serde_json::from_str::<TMixture>(&again).is_ok());
                        }
                    }
                }
            }
        }
        let held: Vec<usize> = (0..x.len() / d).step_by(3).collect();
        let fold = Fold::new(x, d, None, &held).expect("a fold");
        if let Ok(chosen) = ChosenComponents::new(&[fold], d) {
            assert!(chosen.ln_p[0].iter().all(|l| l.is_finite()), "table {case}");
            chosen.fit(x, None).expect("a fit");
        }
    }
    let settings = Components { count: 2, shrinkage: 1.0, degrees: 4.0 };
    let fit = |x: &[f64], d, w: Option<&[f64]>| TMixture::fit(x, d, w, &settings).map(|_| ());
    assert!(matches!(fit(&[], 3, None), Err(Error::TooFewRows { .. })));
    assert!(matches!(fit(&[1.0; 12], 3, None), Err(Error::NoVariance { .. })));
    assert!(matches!(fit(&[1.0, f64::NAN], 1, None), Err(Error::NonFinite { .. })));
    assert!(matches!(fit(&x, 7, None), Err(Error::Shape { .. })));
    assert!(matches!(fit(&x, 3, Some(&[0.0; 60])), Err(Error::TooFewRows { .. })));
    assert!(matches!(fit(&x, 3, Some(&[-1.0; 60])), Err(Error::Weight { .. })));
    assert!(matches!(fit(&[1e200, -1e200, 0.0], 1, None), Err(Error::Spread { .. })));
    for settings in [
        Components { count: 0, ..settings },
        Components { shrinkage: f64::NAN, ..settings },
        Components { shrinkage: -1.0, ..settings },
        Components { degrees: 0.0, ..settings },
    ] {
        assert!(matches!(TMixture::fit(&x, 3, None, &settings), Err(Error::InvalidSetting { .. })));
    }
    assert!(matches!(ChosenComponents::new(&[], 3), Err(Error::NeedsHoldout)));
    assert!(Fold::new(&x, 3, None, &[60]).is_err());
    let none = Fold::new(&x, 3, None, &[]).expect("a fold");
    assert!(matches!(ChosenComponents::new(&[none], 3), Err(Error::NeedsHoldout)));
    // A row too far away to square has no density, and no NaN.
    let sound = mixture(3, 4.0);
    let ln_p = sound.ln_density(&[1e200, -1e300, 1e308]).expect("finite numbers");
    assert_eq!(ln_p, [f64::NEG_INFINITY]);
    let shares = sound.responsibilities(&[1e200, -1e300, 1e308]).expect("finite numbers");
    assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-12);
}
