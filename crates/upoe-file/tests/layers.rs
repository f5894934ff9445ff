//! Stacks and pools in files: exact to the bit.

use std::path::Path;

use upoe::{Quality, Rows, Settings, fit};
use upoe_file::{Container, ModelFile, Training};

/// Rows with a common scale, a bend and a skewed column.
fn values(n: usize) -> Vec<f64> {
    let noise = |k: usize| (12.9898 * (k + 1) as f64).sin() + (78.233 * (k + 1) as f64).cos();
    let row = |i: usize| {
        let (a, b, c) = (noise(3 * i), noise(3 * i + 1), noise(3 * i + 2));
        let scale = noise(5 * i + 7).exp();
        [scale * a, scale * (b + a * a), c.exp()]
    };
    (0..n).flat_map(row).collect()
}

#[test]
fn every_kind_scores_and_draws_the_same_after_loading() {
    let values = values(300);
    let rows = Rows::new(&values, 3).unwrap();
    for quality in [Quality::Fast, Quality::Good, Quality::Best] {
        let settings = Settings::default().asked(Some(quality), None).unwrap();
        let fitted = fit(&rows, &settings).unwrap();
        let training = Training::new(fitted.evaluate(&rows, None).unwrap(), 1.0, &settings);
        let names = ["a", "b", "c"].map(String::from).to_vec();
        let file = ModelFile::new(fitted, names, settings, training);
        assert_eq!(file.stack.is_some(), quality != Quality::Fast);
        assert_eq!(file.pool.is_some(), quality == Quality::Best);
        let bytes = file.to_container().unwrap().to_bytes().unwrap();
        let path = Path::new("m.upoe");
        let container = Container::from_bytes(&bytes, path).unwrap();
        let again = ModelFile::from_container(&container, path).unwrap();
        assert_eq!(again.to_container().unwrap().to_bytes().unwrap(), bytes);
        let scores = |f: &ModelFile| f.density().score(&rows).unwrap();
        assert_eq!(scores(&again), scores(&file), "{quality:?}");
        assert_eq!(again.density().sample(50, 3), file.density().sample(50, 3));
        assert_eq!(
            again.fitted().transform(&rows).unwrap(),
            file.fitted().transform(&rows).unwrap()
        );
        assert_eq!((again.layers, again.settings), (file.layers, file.settings));
        assert_eq!(again.training, file.training);
    }
}
