//! Sources of a linear mixture are found.

use crate::common::{PARALLEL, amari, apply, laplace, normals, rng};
use rand_distr::Distribution;
use upoe::expert::Family;
use upoe::{Learner, Rows, Settings, fit};

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
