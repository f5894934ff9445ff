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

/// Concentration steps of the first fit.
const STEPS: usize = 5;
/// Without a fold, only the last step is done again, from the rows that the first fit chose. More steps would lead to
/// another core, to which rows of the fold are not what new rows are to the first. But where there are fewer rows than
/// this, each row influences which ones are chosen, and two steps are done.
const FEW: usize = 200;
/// The core is estimated from at most so many rows, or so many per column.
const CORE_ROWS: usize = 20_000;
const CORE_ROWS_PER_COLUMN: usize = 20;

/// How many rows the core of d columns is estimated from, at most.
fn core_rows(d: usize) -> usize {
    CORE_ROWS.max(CORE_ROWS_PER_COLUMN * d)
}

/// Without a fold, a core has fewer rows than the first one, and the rows of the fold seem odder than new rows will; also
/// a value that occurs again and again may be missing from half of the rows. Very large tables have two folds.
fn folds(rows: usize, d: usize) -> usize {
    if rows > 2 * core_rows(d) {
        return 2;
    }
    match rows {
        10_001.. => 5,
        5_000.. if rows / d < 400 => 5,
        ..FEW if rows / d < 10 => 16,
        FEW.. if rows / d < 5 => 20,
        _ => 10,
    }
}

/// Rows in robust units, and how often each counts.
struct Sample {
    z: Vec<f64>,
    weights: Vec<f64>,
    d: usize,
}

impl Sample {
    fn pick(&self, rows: &[usize], weight: impl Fn(usize) -> f64) -> Sample {
        let d = self.d;
        let z = rows.iter().flat_map(|&i| &self.z[i * d..][..d]).copied().collect();
        Sample { z, weights: rows.iter().map(|&i| weight(i)).collect(), d }
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
        let some = self.pick(chosen, |i| self.weights[i]);
        let mut of_some: Vec<bool> = chosen.iter().map(|&i| central[i]).collect();
        if !of_some.contains(&true) {
            of_some.fill(true);
        }
        let found = concentrate(&some.z, &some.weights, d, of_some, steps, step)?;
        Ok(found.map(|found| found.over(&self.z, central)))
    }
}

/// A fit to all rows, to be done again without some.
struct Whole<'a> {
    sample: &'a Sample,
    central: &'a [bool],
    settings: &'a DetectorSettings,
    steps: usize,
    units: Units,
}

impl Whole<'_> {
    /// The oddness of the rows of a fold by a detector fitted without them. A fold has rows in rising order, and how
    /// often each is in it.
    fn without(
        &self,
        fold: &[(usize, f64)],
        step: &(dyn Fn() -> bool + Sync),
    ) -> Result<Option<Vec<f64>>> {
        let mut weights = self.sample.weights.clone();
        fold.iter().for_each(|&(i, weight)| weights[i] -= weight);
        let others: Vec<usize> = (0..weights.len()).filter(|&i| weights[i] > 0.0).collect();
        let rows = self.sample.pick(&others, |i| weights[i]);
        let mut central: Vec<bool> = others.iter().map(|&i| self.central[i]).collect();
        if !central.contains(&true) {
            central.fill(true);
        }
        let Some(found) = rows.core(&central, self.steps, self.settings.seed, step)? else {
            return Ok(None);
        };
        let directions = self.settings.directions;
        let scorer = Scorer::of(&rows.z, &rows.weights, found, directions, Some(self.units))?;
        let out: Vec<usize> = fold.iter().map(|(i, _)| *i).collect();
        Ok(Some(scorer.oddness(&self.sample.pick(&out, |_| 1.0).z)))
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
    let count = table.count();
    let folds = table.folds(folds(count, d), settings.seed);
    let steps = if count < FEW { 2 } else { 1 };
    let (done, all) = (AtomicUsize::new(0), STEPS + folds.len() * steps);
    let step = || watch(done.fetch_add(1, Ordering::Relaxed) + 1, all);
    let Some(found) = sample.core(&vec![true; n], STEPS, settings.seed, &step)? else {
        return Ok(None);
    };
    let expected = Expected::of(&sample.z, &sample.weights, &found)?;
    let central = found.central.clone();
    let scorer = Scorer::of(&sample.z, &sample.weights, found, settings.directions, None)?;
    let units = scorer.units;
    let whole = Whole { sample: &sample, central: &central, settings, steps, units };
    let judged: Vec<Option<Vec<f64>>> =
        folds.par_iter().map(|fold| whole.without(fold, &step)).collect::<Result<_>>()?;
    // Copies of a row may be in several folds: in the end its oddness is their mean.
    let mut oddness = vec![0.0; n];
    let (mut each, mut weights) = (Vec::new(), Vec::new());
    for (fold, judged) in folds.iter().zip(judged) {
        let Some(judged) = judged else { return Ok(None) };
        for (&(i, weight), o) in fold.iter().zip(judged) {
            oddness[i] += o * (weight / sample.weights[i]);
            each.push(o);
            weights.push(weight);
        }
    }
    let calibration = Calibration::of(&each, &counts(&weights), units.distance.1);
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
