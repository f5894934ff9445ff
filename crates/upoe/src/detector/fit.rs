//! Fitting a detector, and once more without each fold of the rows, which are then judged.

use super::calibration::Calibration;
use super::core::{Concentrated, concentrate};
use super::expected::Expected;
use super::frame::Frame;
use super::oddness::{Scorer, Units};
use super::table::Table;
use super::{Detector, DetectorFit, DetectorSettings};
use crate::error::{Result, invalid};
use crate::random::{self, Use};
use crate::rows::Rows;
use rand::seq::SliceRandom;
use rayon::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Concentration steps of the first fit, and of those without a fold, which start from its core.
const STEPS: usize = 5;
const FOLD_STEPS: usize = 2;
/// The core is estimated from at most so many rows, or so many per column.
const CORE_ROWS: usize = 20_000;
const CORE_ROWS_PER_COLUMN: usize = 20;

/// How many rows the core of d columns is estimated from, at most.
fn core_rows(d: usize) -> usize {
    CORE_ROWS.max(CORE_ROWS_PER_COLUMN * d)
}

/// Without a fold, a core has fewer rows than the first one, and the rows of the fold seem odder
/// than new rows will: the fewer rows per column, the more folds there must be. Where half of the
/// rows are enough for a core, two do.
fn folds(rows: usize, d: usize) -> usize {
    if rows > 2 * core_rows(d) {
        return 2;
    }
    let folds = match rows / d {
        ..10 => 20,
        10..100 => 10,
        100..400 => 5,
        _ => 2,
    };
    match rows {
        ..1_000 => folds.max(10).min(rows),
        5_000.. => folds.min(5),
        _ => folds,
    }
}

/// Rows in robust units, and how often each counts.
struct Sample {
    z: Vec<f64>,
    weights: Vec<f64>,
    d: usize,
}

impl Sample {
    fn pick(&self, rows: &[usize]) -> Sample {
        let d = self.d;
        let z = rows.iter().flat_map(|&i| &self.z[i * d..][..d]).copied().collect();
        Sample { z, weights: rows.iter().map(|&i| self.weights[i]).collect(), d }
    }

    /// Finds the core from some of the rows, starting from those that are `central`, and how all
    /// rows lie to it.
    fn core(
        &self,
        central: &[bool],
        steps: usize,
        seed: u64,
        step: &(dyn Fn() -> bool + Sync),
    ) -> Result<Option<Concentrated>> {
        let (n, d) = (self.weights.len(), self.d);
        if n <= core_rows(d) {
            return concentrate(&self.z, &self.weights, d, central.to_vec(), steps, step);
        }
        let mut rows: Vec<usize> = (0..n).collect();
        let mut rng = random::stream(seed, Use::Rows, 1);
        let (chosen, _) = rows.partial_shuffle(&mut rng, core_rows(d));
        chosen.sort_unstable();
        let some = self.pick(chosen);
        let mut central: Vec<bool> = chosen.iter().map(|&i| central[i]).collect();
        if !central.contains(&true) {
            central.fill(true);
        }
        let found = concentrate(&some.z, &some.weights, d, central, steps, step)?;
        Ok(found.map(|found| found.over(&self.z, &self.weights)))
    }
}

/// A fit to all rows, to be done again without some.
struct Whole<'a> {
    sample: &'a Sample,
    central: &'a [bool],
    fold: &'a [usize],
    settings: &'a DetectorSettings,
    units: Units,
}

impl Whole<'_> {
    /// The rows of fold `k` and their oddness by a detector fitted without them.
    fn without(
        &self,
        k: usize,
        step: &(dyn Fn() -> bool + Sync),
    ) -> Result<Option<(Vec<usize>, Vec<f64>)>> {
        let (out, others): (Vec<usize>, Vec<usize>) =
            (0..self.fold.len()).partition(|&i| self.fold[i] == k);
        let rows = self.sample.pick(&others);
        let mut central: Vec<bool> = others.iter().map(|&i| self.central[i]).collect();
        if !central.contains(&true) {
            central.fill(true);
        }
        let Some(found) = rows.core(&central, FOLD_STEPS, self.settings.seed, step)? else {
            return Ok(None);
        };
        let directions = self.settings.directions;
        let scorer = Scorer::of(&rows.z, &rows.weights, found, directions, Some(self.units))?;
        let oddness = scorer.oddness(&self.sample.pick(&out).z);
        Ok(Some((out, oddness)))
    }
}

/// Fits a detector. `watch` is called with the steps done and all steps; if it answers false, the
/// result is `None`.
pub(super) fn fit(
    rows: &Rows,
    settings: &DetectorSettings,
    watch: &(dyn Fn(usize, usize) -> bool + Sync),
) -> Result<Option<DetectorFit>> {
    if settings.directions == 0 {
        return invalid("directions", 0, "at least one heavy direction is needed");
    }
    let table = Table::of(rows)?;
    let n = table.len();
    let frame = Frame::of(&table.rows()?, &table.weights)?;
    let (z, d) = (frame.apply(&table.rows()?), frame.dims());
    let sample = Sample { z, weights: table.weights.clone(), d };
    let folds = folds(n, d);
    let (done, all) = (AtomicUsize::new(0), STEPS + folds * FOLD_STEPS);
    let step = || watch(done.fetch_add(1, Ordering::Relaxed) + 1, all);
    let Some(found) = sample.core(&vec![true; n], STEPS, settings.seed, &step)? else {
        return Ok(None);
    };
    let expected = Expected::of(&sample.z, &sample.weights, &found)?;
    let central = found.central.clone();
    let scorer = Scorer::of(&sample.z, &sample.weights, found, settings.directions, None)?;
    let fold = table.folds(folds, settings.seed);
    let units = scorer.units;
    let whole = Whole { sample: &sample, central: &central, fold: &fold, settings, units };
    let judged: Vec<Option<(Vec<usize>, Vec<f64>)>> =
        (0..folds).into_par_iter().map(|k| whole.without(k, &step)).collect::<Result<_>>()?;
    let mut oddness = vec![0.0; n];
    for judged in judged {
        let Some((rows, of_rows)) = judged else { return Ok(None) };
        rows.into_iter().zip(of_rows).for_each(|(i, o)| oddness[i] = o);
    }
    let calibration = Calibration::of(&oddness, &counts(&sample.weights), units.distance.1);
    let detector = Detector { frame, scorer, expected, calibration };
    // Rows of weight 0 were not learned from: the detector itself judges them.
    let mut of_rows = Vec::with_capacity(rows.len());
    for (i, place) in table.place.iter().enumerate() {
        of_rows.push(match place {
            Some(place) => oddness[*place],
            None => detector.oddness(&rows.slice(i..i + 1))?[0],
        });
    }
    let p_values = of_rows.iter().map(|o| detector.calibration.tail.p_value(*o)).collect();
    Ok(Some(DetectorFit { detector, oddness: of_rows, p_values }))
}

/// Weights as numbers of rows: whole numbers are taken as such, others as what they are worth in
/// rows of equal weight.
fn counts(weights: &[f64]) -> Vec<f64> {
    if weights.iter().all(|w| w.fract() == 0.0) {
        return weights.to_vec();
    }
    let (total, squares) = weights.iter().fold((0.0, 0.0), |(t, s), w| (t + w, s + w * w));
    weights.iter().map(|w| w * total / squares).collect()
}
