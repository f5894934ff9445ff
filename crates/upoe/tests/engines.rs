//! What learners and engines agree on.

use crate::common::{PARALLEL, normals};
use std::sync::atomic::{AtomicUsize, Ordering};
use upoe::engine::{Candidate, Engine, Memory, Picked, Sums};
use upoe::expert::Family;
use upoe::{
    Dims, Error, Fitter, Learner, Moments, ParallelStart, Recipe, Result, Rows, Settings, Stop,
    Whitening,
};

/// An engine in memory whose calls fail from one on.
struct Failing {
    rows: Memory<f64>,
    calls: AtomicUsize,
    good: usize,
}

impl Failing {
    fn call(&self) -> Result<()> {
        if self.calls.fetch_add(1, Ordering::Relaxed) < self.good {
            return Ok(());
        }
        Err(Error::Engine { place: "worker 3".into(), reason: "lost; start it again".into() })
    }
}

impl Engine for Failing {
    fn dims(&self) -> usize {
        self.rows.dims()
    }
    fn rows(&self) -> usize {
        self.rows.rows()
    }
    fn weight(&self) -> f64 {
        self.rows.weight()
    }
    fn is_white(&self) -> bool {
        self.rows.is_white()
    }
    fn mean_square(&self) -> Result<f64> {
        self.call()?;
        self.rows.mean_square()
    }
    fn sums(&self, candidates: &[Candidate]) -> Result<Vec<Sums>> {
        self.call()?;
        self.rows.sums(candidates)
    }
    fn pick(&self, rows: &[usize]) -> Result<Picked> {
        self.call()?;
        self.rows.pick(rows)
    }
}

/// 400 × 3 with two groups along the first column.
fn groups() -> Vec<f64> {
    let mut values = normals(1200, 90);
    values.chunks_mut(3).enumerate().for_each(|(i, row)| {
        row[0] += if i % 2 == 0 { 3.0 } else { -3.0 };
    });
    values
}

#[test]
fn a_failure_in_any_call_ends_every_learner_with_an_error_that_says_where() {
    let values = groups();
    let rows = Rows::new(&values, 3).unwrap();
    let whitening = Whitening::fit(&rows, Dims::All).unwrap();
    let engine = |good: usize| {
        let rows = Memory::new(whitening.sphere(&rows).unwrap(), 3, None).unwrap();
        Failing { rows, calls: AtomicUsize::new(0), good }
    };
    let base = Settings::default().with(|s| {
        s.experts = Some(2);
        s.families = Family::StudentT.into();
        s.starts = Some(2);
        s.max_iter = 5;
    });
    let random = Learner::Parallel { start: ParallelStart::Random };
    let grow = Learner::Parallel { start: ParallelStart::Grow };
    let learners = [Learner::Pursuit, Learner::Sequential, PARALLEL, random, grow];
    let mut cases: Vec<Settings> =
        learners.map(|learner| base.clone().with(|s| s.learner = learner)).into();
    cases.push(base.clone().with(|s| s.recipe = Recipe::Paper));
    cases.push(base.with(|s| s.stop = Some(Stop::Holdout)));
    for settings in cases {
        let held = engine(usize::MAX);
        let fit = |train: &Failing| {
            Fitter::new(settings.clone()).fit_engine(whitening.clone(), train, Some(&held))
        };
        let whole = engine(usize::MAX);
        assert!(fit(&whole).is_ok());
        let calls = whole.calls.into_inner();
        assert!(calls > 5, "{calls}");
        // Every call of a short fit; of a long one the first, the last and some between.
        for good in (0..calls).filter(|k| calls < 60 || k % (calls / 30) == 0 || k + 1 == calls) {
            match fit(&engine(good)) {
                Err(Error::Engine { place, reason }) => {
                    assert_eq!((&*place, &*reason), ("worker 3", "lost; start it again"));
                }
                other => panic!("{:?}, call {good}: {:?}", settings.learner, other.map(|f| f.stop)),
            }
        }
    }
}

#[test]
fn an_engine_from_outside_draws_the_same_samples_as_memory() {
    let values = normals(9300 * 3, 91);
    let memory = Memory::<f64>::new(values.clone(), 3, None).unwrap();
    let own = Failing {
        rows: Memory::new(values, 3, None).unwrap(),
        calls: AtomicUsize::new(0),
        good: usize::MAX,
    };
    let candidate = Candidate::new(vec![0.6, 0.0, 0.8], upoe::expert::Expert::gaussian());
    for n in [1, 100, 3072] {
        let (a, b) = (memory.subset(5, n).unwrap().unwrap(), own.subset(5, n).unwrap().unwrap());
        assert_eq!((a.rows(), a.is_white()), (n, false));
        let sums = |engine: &dyn Engine| engine.sums(std::slice::from_ref(&candidate)).unwrap();
        assert_eq!(sums(&*a), sums(&*b));
    }
    assert!(memory.subset(5, 9300).unwrap().is_none() && own.subset(5, 9300).unwrap().is_none());
}

#[test]
fn held_out_rows_come_as_an_engine_where_training_rows_do() {
    let values = groups();
    let rows = Rows::new(&values, 3).unwrap();
    let whitening = Whitening::fit(&rows, Dims::All).unwrap();
    let train = Memory::<f64>::new(whitening.sphere(&rows).unwrap(), 3, None).unwrap();
    let fitter = || Fitter::new(Settings::default());
    let refused = fitter().holdout(rows).fit_engine(whitening.clone(), &train, None);
    assert!(matches!(refused, Err(Error::InvalidSetting { name: "holdout", .. })));
    let narrow = Memory::<f64>::new(vec![1.0; 8], 2, None).unwrap();
    let refused = fitter().fit_engine(whitening.clone(), &narrow, None);
    assert!(matches!(refused, Err(Error::Shape { expected: 3, got: 2, .. })));
    let fit = fitter().fit_engine(whitening, &train, Some(&train)).unwrap();
    let point = fit.state.path.last().unwrap();
    assert!((point.holdout.unwrap() - point.train).abs() < 1e-9);
}

/// Rows of a candidate asked of the wrong engine, or rows that are not there.
#[test]
fn questions_of_the_wrong_shape_are_refused() {
    let memory = Memory::<f64>::new(vec![1.0; 9], 3, None).unwrap();
    let short = Candidate::new(vec![1.0], upoe::expert::Expert::gaussian());
    assert!(matches!(memory.sums(&[short]), Err(Error::Shape { .. })));
    assert!(matches!(memory.pick(&[0, 3]), Err(Error::Shape { .. })));
    assert_eq!(memory.pick(&[2, 0]).unwrap().rows, [1.0; 6]);
}

#[test]
fn sums_and_moments_survive_bytes_to_the_bit() {
    let values = groups();
    let moments = Moments::of(&Rows::new(&values, 3).unwrap()).unwrap();
    let json = serde_json::to_string(&moments).unwrap();
    assert_eq!(serde_json::from_str::<Moments>(&json).unwrap(), moments);
    let broken = json.replacen("\"mean\":[", "\"mean\":[0.5,", 1);
    assert!(serde_json::from_str::<Moments>(&broken).is_err());

    let engine = Memory::<f64>::new(values, 3, None).unwrap();
    let expert = upoe::expert::StudentT::new(0.1, 1.0, 2.0).unwrap();
    let sums = engine.sums(&[Candidate::new(vec![0.6, 0.0, 0.8], expert.into())]).unwrap();
    let json = serde_json::to_string(&sums).unwrap();
    assert_eq!(serde_json::from_str::<Vec<Sums>>(&json).unwrap(), sums);
}
