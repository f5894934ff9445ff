//! The paths of models that the three learners grow.

use serde_json::{Value, json};
use upoe::{Event, Fitter, Learned, Learner, Model, ParallelStart, Rows, Settings};

use super::super::outlet::failed;
use crate::failure::Failure;
use crate::interrupt;

/// Each test row's ln p is kept whenever this many projections were added.
pub const STRIDE: usize = 5;
/// The learners by the paper's names.
pub const LEARNERS: [(&str, Learner); 3] = [
    ("PAR", Learner::Parallel { start: ParallelStart::Grow }),
    ("PP", Learner::Pursuit),
    ("SEQ", Learner::Sequential),
];

/// The models of 0, 1, … projections that a learner went through.
pub struct Path {
    /// Mean ln p of the training rows in sphered space.
    pub train: Vec<f64>,
    /// Mean ln p of the test rows.
    pub test: Vec<f64>,
    /// ln p of every test row with 5, 10, … projections.
    pub rows: Vec<Vec<f64>>,
    /// Projections it took before Q ≥ 0 stopped it.
    pub experts: usize,
    /// Wall-clock seconds.
    pub seconds: f64,
}

/// All learners on one split, in the order of [`LEARNERS`].
pub struct Curves {
    pub paths: Vec<Path>,
    /// Test rows over training rows.
    pub test_over_train: f64,
}

impl Curves {
    /// Projections of the largest model.
    pub fn most(&self) -> usize {
        self.paths[0].train.len() - 1
    }

    /// Every number.
    pub fn json(&self) -> Value {
        let one = |(path, (name, _)): (&Path, &(&str, Learner))| {
            json!({
                "learner": name,
                "train": path.train,
                "test": path.test,
                "projections": path.experts,
                "seconds": path.seconds,
            })
        };
        self.paths.iter().zip(&LEARNERS).map(one).collect()
    }
}

/// Learns all projections, one fit for the whole path: parallel learning goes on from the
/// projections before, as the paper's does.
pub fn learn(train: &Rows, test: &Rows, settings: Settings) -> Result<Path, Failure> {
    let start = std::time::Instant::now();
    let mut models: Vec<Vec<Learned>> = Vec::new();
    let most = settings.experts;
    let fitter = Fitter::new(settings).holdout(*test).observe(|event| {
        if let Event::Learned(state) = event
            && state.experts.len().is_multiple_of(STRIDE)
        {
            models.push(state.experts.clone());
        }
        !interrupt::asked()
    });
    let fit = fitter.fit(train).map_err(failed)?;
    let seconds = start.elapsed().as_secs_f64();
    let experts = fit.state.experts.len();
    let whitening = fit.model.whitening();
    let score = |experts: &Vec<Learned>| {
        let (directions, experts) =
            experts.iter().map(|e| (e.direction().to_vec(), e.expert().clone())).unzip();
        Model::new(whitening.clone(), directions, experts)?.score_sphered(test)
    };
    let most = most.unwrap_or(experts);
    models.resize(most / STRIDE, fit.state.experts.clone());
    let rows: upoe::Result<Vec<Vec<f64>>> = models.iter().map(score).collect();
    // Where learning stopped early, more projections would add nothing.
    let full = |values: Vec<f64>| {
        let last = values.last().copied().unwrap_or(f64::NAN);
        let mut values = values;
        values.resize(most + 1, last);
        values
    };
    let path = &fit.state.path;
    Ok(Path {
        train: full(path.iter().map(|p| p.train).collect()),
        test: full(path.iter().map(|p| p.holdout.unwrap_or(f64::NAN)).collect()),
        rows: rows.map_err(failed)?,
        experts,
        seconds,
    })
}
