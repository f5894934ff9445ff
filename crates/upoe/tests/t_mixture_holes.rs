//! Mixtures of Student-t components and rows with missing cells.

use crate::common::{normals, rng};
use crate::t_mixture::{DEGREES, mixture, planted};
use rand::RngExt;
use upoe::t_mixture::{ChosenComponents, Components, Fold, TMixture};

#[test]
fn missing_cells_are_integrated_over() {
    // What is there has a mixture of the same weights, of the parts of means and covariances that belong to it.
    let d = 4;
    let x = normals(60 * d, 8);
    for degrees in DEGREES {
        let whole = mixture(d, degrees);
        for missing in [vec![1], vec![0, 3], vec![0, 1, 2]] {
            let there: Vec<usize> = (0..d).filter(|c| !missing.contains(c)).collect();
            let means = (0..3).flat_map(|k| there.iter().map(move |&c| (k, c)));
            let means = means.map(|(k, c)| whole.mean(k)[c]).collect();
            let mut covariances = Vec::new();
            for k in 0..3 {
                let entry = |i: &usize, j: &usize| whole.covariance(k)[i * d + j];
                covariances
                    .extend(there.iter().flat_map(|i| there.iter().map(move |j| entry(i, j))));
            }
            let weights = whole.weights().to_vec();
            let part = TMixture::from_parts(there.len(), degrees, weights, means, covariances);
            let kept: Vec<f64> =
                x.chunks(d).flat_map(|row| there.iter().map(|&c| row[c])).collect();
            let expected = part.expect("sound parts").ln_density(&kept).expect("scores");
            let hole =
                |(k, x): (usize, &f64)| if missing.contains(&(k % d)) { f64::NAN } else { *x };
            let holed: Vec<f64> = x.iter().enumerate().map(hole).collect();
            let found = whole.ln_present(&holed).expect("scores");
            for (found, expected) in found.iter().zip(&expected) {
                assert!((found - expected).abs() < 1e-11, "{degrees}: {found} {expected}");
            }
        }
    }
}

#[test]
fn components_are_learned_from_the_cells_that_are_there() {
    let (n, d) = (900, 5);
    let (mut x, _) = planted(n, d, 4);
    let (fresh, _) = planted(600, d, 5);
    let complete = TMixture::fit(
        &x,
        d,
        None,
        &Components { count: 3, shrinkage: 5.0, degrees: f64::INFINITY },
    );
    let best = complete.expect("a fit").mixture.ln_density(&fresh).expect("scores");
    let mut rng = rng(9);
    let gone: Vec<bool> = (0..n * d).map(|_| rng.random_range(0.0..1.0) < 0.3).collect();
    // To begin with, all that is missing is 1, about the middle of a column.
    x.iter_mut().zip(&gone).filter(|(_, gone)| **gone).for_each(|(x, _)| *x = 1.0);
    let holes = |of: &[bool]| (0..d).filter(|&c| of[c]).collect::<Vec<usize>>();
    let missing: Vec<Vec<usize>> = gone.chunks(d).map(holes).collect();
    // Groups follow one another in threes.
    let held: Vec<usize> = (0..n).filter(|i| i / 3 % 3 == 0).collect();
    let mut fold = Fold::new(&x, d, None, &held).expect("a fold");
    let learned = missing.iter().enumerate().filter(|(i, _)| i / 3 % 3 != 0);
    fold.missing = learned.map(|(_, missing)| missing.clone()).collect();
    for (k, &i) in held.iter().enumerate() {
        missing[i].iter().for_each(|&c| fold.held[k * d + c] = f64::NAN);
    }
    let plain = Fold { missing: Vec::new(), ..fold.clone() };
    let mean = |x: &[f64]| x.iter().sum::<f64>() / x.len() as f64;
    let score = |fold: Fold| {
        let chosen = ChosenComponents::new(&[fold], d).expect("a choice");
        let ln_p = chosen.mixtures[0].ln_density(&fresh).expect("scores");
        (chosen.components.count, mean(&ln_p))
    };
    let (count, found) = score(fold);
    assert!((3..=6).contains(&count), "{count}");
    // 400 rows of which 30 % is missing, against 900 whole ones.
    assert!(found > mean(&best) - 0.25, "{found} {}", mean(&best));
    let guessed = score(plain).1;
    assert!(guessed < found - 0.3, "guesses taken for values do as well: {guessed} {found}");
}
