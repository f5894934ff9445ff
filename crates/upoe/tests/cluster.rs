//! Rows in several places give the model that rows in memory give.

use crate::common::normals;
use std::ops::Range;
use std::sync::Mutex;
use upoe::engine::{Cluster, Partition, part_rows};
use upoe::expert::Family;
use upoe::{Error, Fitter, Moments, Precision, Result, Rows, Settings, look, sphere};

/// Places with rows, of which some are empty, worked on in turn by `workers` threads.
struct Places {
    values: Vec<f64>,
    weights: Option<Vec<f64>>,
    columns: usize,
    parts: Vec<Range<usize>>,
    workers: usize,
    kept: Mutex<Vec<Vec<u8>>>,
    asked: Mutex<usize>,
}

impl Places {
    fn new(values: Vec<f64>, columns: usize, cuts: &[usize], workers: usize) -> Self {
        let parts = cuts.windows(2).map(|pair| pair[0]..pair[1]).collect();
        let (weights, kept, asked) = (None, Mutex::default(), Mutex::default());
        Places { values, weights, columns, parts, workers, kept, asked }
    }

    fn rows(&self, part: &Range<usize>) -> Result<Rows<'_>> {
        let cells = part.start * self.columns..part.end * self.columns;
        let rows = Rows::new(&self.values[cells], self.columns)?;
        self.weights.as_ref().map_or(Ok(rows), |w| rows.weighted(&w[part.clone()]))
    }

    /// Every worker takes some partitions; answers come in the order of the partitions.
    fn each(&self, work: impl Fn(usize) -> Result<Vec<u8>> + Sync) -> Result<Vec<Vec<u8>>> {
        let worker = |w: usize| {
            let own = (w..self.parts.len()).step_by(self.workers);
            own.map(|k| (k, work(k))).collect::<Vec<_>>()
        };
        let worker = &worker;
        let mut answers: Vec<(usize, Result<Vec<u8>>)> = std::thread::scope(|scope| {
            let running: Vec<_> =
                (0..self.workers).map(|w| scope.spawn(move || worker(w))).collect();
            running.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
        });
        answers.sort_by_key(|(k, _)| *k);
        answers.into_iter().map(|(_, answer)| answer).collect()
    }
}

impl Cluster for Places {
    fn look(&self, question: &[u8]) -> Result<Vec<Vec<u8>>> {
        let names: Vec<String> = (0..self.columns).map(|i| format!("x{i}")).collect();
        self.each(|k| look(k, &self.rows(&self.parts[k])?, &names, question))
    }

    fn sphere(&self, plan: &[u8]) -> Result<()> {
        let kept = self.each(|k| Ok(sphere(k, &self.rows(&self.parts[k])?, plan)?.to_bytes()))?;
        *self.kept.lock().unwrap() = kept;
        Ok(())
    }

    fn ask(&self, question: &[u8]) -> Result<Vec<Vec<u8>>> {
        *self.asked.lock().unwrap() += 1;
        let kept = self.kept.lock().unwrap();
        self.each(|k| Partition::from_bytes(&kept[k])?.answer(question))
    }
}

const ROWS: usize = 24_000;

/// Two groups along one direction and heavy tails along another, in four columns.
fn table() -> Vec<f64> {
    let mut values = normals(ROWS * 4, 7);
    let heavy = normals(ROWS, 8);
    for (i, row) in values.chunks_exact_mut(4).enumerate() {
        row[0] += if i % 3 == 0 { 3.0 } else { -1.5 };
        row[1] /= heavy[i].abs().max(0.2);
        (row[2], row[3]) = (row[2] + 0.7 * row[0], row[3] - 0.4 * row[1]);
    }
    values
}

/// Parts of very different sizes: an empty one, one row, most rows.
const CUTS: [usize; 7] = [0, 1, 1, 700, 17_000, 17_001, ROWS];

fn settings() -> Settings {
    Settings::default().with(|s| {
        s.experts = Some(2);
        s.sample = Some(10_000);
    })
}

#[test]
fn the_same_bits_for_any_number_of_workers_and_the_same_model_as_in_memory() {
    let values = table();
    let rows = Rows::new(&values, 4).unwrap();
    let memory = Fitter::new(settings()).fit(&rows).unwrap();
    let expected = memory.evaluate(&rows, None).unwrap().log_density.train.unwrap();
    let mut first = None;
    for workers in [1, 2, 3] {
        let places = Places::new(values.clone(), 4, &CUTS, workers);
        let (fit, evaluation) = Fitter::new(settings()).fit_cluster(&places, None).unwrap();
        assert_eq!((evaluation.rows, fit.state.experts.len()), (ROWS, 2));
        assert!((evaluation.log_density.train.unwrap() - expected).abs() < 1e-9);
        let scores = fit.model.score(&rows).unwrap();
        let others = memory.model.score(&rows).unwrap();
        let apart = scores.iter().zip(&others).fold(0.0_f64, |a, (x, y)| a.max((x - y).abs()));
        assert!(apart < 1e-9, "{apart:e}");
        // A sample, two searches on it, and few passes for each expert.
        assert!(*places.asked.lock().unwrap() <= 2 + 2 * 8, "{:?}", places.asked);
        let first = first.get_or_insert_with(|| fit.state.clone());
        assert_eq!(*first, fit.state, "{workers} workers");
    }
}

/// Partitions of as many rows as are summed together in memory: the model has the same bits, with all rows for
/// all steps, with a sample, in single precision, and where sphering is refined and drops dimensions.
#[test]
fn partitions_of_whole_parts_give_the_bits_of_memory() {
    const COLUMNS: usize = 240;
    let (rows, part) = (20_300, part_rows(COLUMNS));
    let mut values = normals(rows * COLUMNS, 9);
    let heavy = normals(rows, 10);
    for (row, heavy) in values.chunks_exact_mut(COLUMNS).zip(&heavy) {
        row[0] /= heavy.abs().max(0.2);
        row[1] += 0.5 * row[0];
        row[2] = row[1] + 1e-5 * row[2];
    }
    let cuts: Vec<usize> = (0..rows).step_by(part).chain([rows]).collect();
    // Three parts and a rest: neither one sum nor a chain gives the bits of a tree.
    assert_eq!(cuts.len(), 4);
    let table = Rows::new(&values, COLUMNS).unwrap();
    let base = Settings::default().with(|s| {
        (s.experts, s.families, s.starts) = (Some(1), Family::StudentT.into(), Some(4));
        s.max_iter = 12;
    });
    let all = [
        base.clone(),
        base.clone().with(|s| s.sample = Some(10_000)),
        base.clone().with(|s| (s.sample, s.precision) = (Some(10_000), Precision::F32)),
        base.with(|s| (s.sample, s.dims) = (Some(10_000), upoe::Dims::Count(3))),
    ];
    for settings in all {
        let memory = Fitter::new(settings.clone()).fit(&table).unwrap();
        let places = Places::new(values.clone(), COLUMNS, &cuts, 2);
        let (fit, evaluation) = Fitter::new(settings.clone()).fit_cluster(&places, None).unwrap();
        assert!(memory.left_out.is_empty() && memory.state.experts.len() == 1);
        let sphering = |fit: &upoe::Fit| {
            let whitening = fit.model.whitening();
            let numbers = whitening.matrix().col_iter().flat_map(|c| c.iter().copied());
            let numbers =
                numbers.chain(whitening.mean().iter().copied()).chain([whitening.ln_det()]);
            numbers.map(f64::to_bits).collect::<Vec<u64>>()
        };
        assert!(sphering(&fit) == sphering(&memory), "{settings:?}");
        assert_eq!(fit.state, memory.state, "{settings:?}");
        let expected = memory.evaluate(&table, None).unwrap().log_density.train.unwrap();
        let apart = (evaluation.log_density.train.unwrap() - expected).abs();
        assert!(
            apart < 1e-11 * expected.abs() || settings.precision == Precision::F32,
            "{apart:e}"
        );
    }
}

#[test]
fn weights_single_precision_and_rows_held_out() {
    let values = table();
    let mut places = Places::new(values.clone(), 4, &CUTS, 2);
    let weights: Vec<f64> = (0..ROWS).map(|i| (i % 4) as f64).collect();
    places.weights = Some(weights.clone());
    let (fit, evaluation) = Fitter::new(settings()).fit_cluster(&places, None).unwrap();
    let rows = Rows::new(&values, 4).unwrap().weighted(&weights).unwrap();
    let memory = Fitter::new(settings()).fit(&rows).unwrap();
    let expected = memory.evaluate(&rows, None).unwrap().log_density.train.unwrap();
    assert!((evaluation.log_density.train.unwrap() - expected).abs() < 1e-9);
    assert_eq!(evaluation.rows, ROWS / 4 * 3);
    let said = |notices: &[upoe::Notice]| notices.iter().map(ToString::to_string).collect();
    let (found, expected): (Vec<String>, Vec<String>) = (said(&fit.notices), said(&memory.notices));
    assert!(found == expected && found.len() == 1, "{found:?} {expected:?}");

    places.weights = None;
    let single = settings().with(|s| s.precision = Precision::F32);
    let (_, single) = Fitter::new(single).fit_cluster(&places, None).unwrap();
    let (_, double) = Fitter::new(settings()).fit_cluster(&places, None).unwrap();
    let [single, double] = [single, double].map(|e| e.log_density.train.unwrap());
    assert!(single != double && (single - double).abs() < 1e-5, "{single} {double}");

    let (fit, evaluation) = Fitter::new(settings()).fit_cluster(&places, Some(0.25)).unwrap();
    let held = evaluation.holdout_rows;
    assert_eq!(evaluation.rows + held, ROWS);
    assert!((held as f64 - 0.25 * ROWS as f64).abs() < 300.0, "{held}");
    let likelihood = evaluation.log_density;
    let apart = likelihood.holdout.unwrap() - likelihood.train.unwrap();
    assert!(apart.abs() < 0.1 && apart != 0.0, "{apart}");
    assert!(fit.state.path.iter().all(|point| point.holdout.is_some()));
}

#[test]
fn errors_name_partition_row_and_column() {
    let mut values = table();
    values[4 * 900 + 2] = f64::NAN;
    let places = Places::new(values, 4, &CUTS, 2);
    match Fitter::new(settings()).fit_cluster(&places, None) {
        Err(Error::Engine { place, reason }) => {
            assert_eq!(place, "partition 3");
            assert!(reason.starts_with("row 200, column `x2` is NaN"), "{reason}");
        }
        other => panic!("{:?}", other.map(|(fit, _)| fit.stop)),
    }
    let deep = settings().with(|s| s.depth = None);
    let places = Places::new(table(), 4, &CUTS, 1);
    let refused = Fitter::new(deep).fit_cluster(&places, None);
    assert!(matches!(refused, Err(Error::InvalidSetting { name: "depth", .. })));
    let other = br#"{"version":"0.0.1","holdout":null,"under":null}"#;
    let refused = places.look(other).unwrap_err().to_string();
    assert!(refused.contains("partition 0") && refused.contains("same version"), "{refused}");
    assert!(Partition::from_bytes(b"12345678").is_err() && Partition::from_bytes(b"").is_err());
}

/// Columns that are nearly the same: sphering is refined by a second look, so that rows are white.
#[test]
fn nearly_dependent_columns_are_sphered_exactly() {
    let mut values = normals(ROWS * 3, 3);
    values.chunks_exact_mut(3).for_each(|row| row[2] = row[0] + 1e-5 * row[2]);
    let settings = settings().with(|s| {
        s.experts = Some(1);
        s.families = Family::StudentT.into();
    });
    let places = Places::new(values.clone(), 3, &CUTS, 2);
    let (fit, _) = Fitter::new(settings).fit_cluster(&places, None).unwrap();
    let x = fit.model.whitening().sphere(&Rows::new(&values, 3).unwrap()).unwrap();
    let white = Moments::of(&Rows::new(&x, 3).unwrap()).unwrap().covariance();
    let one = |i: usize, j: usize| if i == j { 1.0 } else { 0.0 };
    let cells = (0..9).map(|k| (k / 3, k % 3));
    let apart = cells.fold(0.0_f64, |m, (i, j)| m.max((white[(i, j)] - one(i, j)).abs()));
    assert!(apart < 1e-9, "{apart:e}");
}
