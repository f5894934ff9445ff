//! Odd rows: a score with a robust core, and thresholds that keep their promise.
//!
//! As an outlier score, −ln p is too forgiving: a heavy-tailed expert explains outliers away, and
//! outliers among the training rows move the model towards themselves. A [`Detector`] is made of
//! four parts instead:
//!
//! - a **robust core**: mean and shrunk covariance of the central 70 % of the rows, found by
//!   concentration steps, in which far rows have no say;
//! - **heavy directions**, along which all rows spread more than the core; distance along them counts
//!   as evidence, it is not forgiven;
//! - **column experts**: how rare each value is in its own column;
//! - **cells**: a value that the rest of its row makes very improbable.
//!
//! They are added up to one number, the oddness of a row, which splits exactly over directions and
//! over columns ([`Detector::explain`]). Whether a row is *too* odd is judged by the training rows,
//! each by a detector that was fitted without it. Rows with missing cells (NaN) are learned from and judged by the
//! cells that they have.

mod calibration;
mod cells;
mod columns;
mod core;
mod expected;
mod fit;
mod frame;
mod gaps;
mod heavy;
mod oddness;
mod parts;
mod reason;
mod table;
mod tail;

use crate::error::{Error, Result, invalid};
use crate::rows::Rows;
use calibration::Calibration;
pub use calibration::exceeded_by;
use expected::Expected;
use frame::Frame;
use oddness::Scorer;
pub use parts::DetectorParts;
pub use reason::{Reason, surprises};
use serde::{Deserialize, Serialize};

/// What a detector is asked to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DetectorSettings {
    /// The number of heavy directions.
    pub directions: usize,
    /// The seed that decides which rows are in one fold.
    pub seed: u64,
}

impl Default for DetectorSettings {
    fn default() -> Self {
        DetectorSettings { directions: 2, seed: 0 }
    }
}

/// A fitted detector, and how odd its training rows are.
#[derive(Clone, Debug)]
pub struct DetectorFit {
    /// The detector, for new rows.
    pub detector: Detector,
    /// The oddness of each training row, judged without it.
    pub oddness: Vec<f64>,
    /// How probable it is that an ordinary row is at least so odd.
    pub p_values: Vec<f64>,
}

/// Tells how odd rows are, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Detector {
    frame: Frame,
    scorer: Scorer,
    expected: Expected,
    calibration: Calibration,
}

/// Why a row is odd. The parts add up exactly:
///
/// oddness = base + Σ directions + rest + Σ alone = base + Σ columns
#[derive(Clone, Debug, PartialEq)]
pub struct Oddity {
    /// The oddness of the row.
    pub oddness: f64,
    /// The oddness of the most ordinary row there could be.
    pub base: f64,
    /// What the distance along each heavy direction adds.
    pub directions: Vec<f64>,
    /// What the distance along all other directions adds.
    pub rest: f64,
    /// What the rarity of each value in its own column adds, and the rarest given the others.
    pub alone: Vec<f64>,
    /// What each column adds, through distance and rarity.
    pub columns: Vec<f64>,
    /// What each column should be, given the others; `None` for a column that is not looked at.
    pub expected: Vec<Option<Conditional>>,
}

/// A column's value as the other columns predict it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Conditional {
    /// The predicted value.
    pub value: f64,
    /// 5 % of the training rows lie below the interval.
    pub low: f64,
    /// 5 % of the training rows lie above the interval.
    pub high: f64,
}

impl Detector {
    /// Fits a detector to rows. Weights that are whole numbers count rows; others count as what they
    /// are worth in rows of equal weight. Rows of one block are judged without the whole block.
    pub fn fit(rows: &Rows, settings: &DetectorSettings) -> Result<DetectorFit> {
        let fit = fit::fit(rows, settings, &|_, _| true)?;
        fit.ok_or(Error::NoConvergence { what: "fit of a detector" })
    }

    /// The same, saying how far it is: `watch` gets the steps done and all steps. Where it answers
    /// false, the result is `None`.
    pub fn fit_with(
        rows: &Rows,
        settings: &DetectorSettings,
        watch: &(dyn Fn(usize, usize) -> bool + Sync),
    ) -> Result<Option<DetectorFit>> {
        fit::fit(rows, settings, watch)
    }

    /// How many columns a row has.
    pub fn columns(&self) -> usize {
        self.frame.columns
    }

    /// The columns that were constant in the training rows: they are not looked at.
    pub fn constant(&self) -> Vec<usize> {
        (0..self.columns()).filter(|c| self.frame.used.binary_search(c).is_err()).collect()
    }

    /// The middle and the scale of each column's training rows; NaN for one that was constant.
    pub fn places(&self) -> Vec<(f64, f64)> {
        let mut places = vec![(f64::NAN, f64::NAN); self.columns()];
        for (k, &c) in self.frame.used.iter().enumerate() {
            places[c] = (self.frame.location[k], self.frame.spread[k]);
        }
        places
    }

    /// The oddness of the most ordinary row there could be.
    pub fn base(&self) -> f64 {
        self.scorer.base()
    }

    /// The heavy directions as filters: how far a row lies along each, in deviations of the core, is
    /// the product of the filter and its columns, up to a constant. One per direction, an entry per
    /// column.
    pub fn directions(&self) -> Vec<Vec<f64>> {
        let (core, d) = (&self.scorer.core, self.frame.dims());
        let filter = |w: &Vec<f64>| {
            let mut filter = vec![0.0; self.columns()];
            for (k, &c) in self.frame.used.iter().enumerate() {
                let through: f64 = (k..d).map(|i| core.sphering[i * d + k] * w[i]).sum();
                filter[c] = through / self.frame.spread[k];
            }
            filter
        };
        self.scorer.heavy.directions.iter().map(filter).collect()
    }

    /// How many training rows there were.
    pub fn training_rows(&self) -> f64 {
        self.calibration.rows()
    }

    /// How odd each row is; larger is odder.
    pub fn oddness(&self, rows: &Rows) -> Result<Vec<f64>> {
        self.check(rows)?;
        Ok(self.scorer.oddness(&self.frame.apply(rows)))
    }

    /// Why one row is odd.
    pub fn explain(&self, row: &[f64]) -> Result<Oddity> {
        self.check(&Rows::new(row, self.columns().max(1))?)?;
        if row.len() != self.columns() {
            let expected = self.columns();
            return Err(Error::Shape { what: "values of a row", expected, got: row.len() });
        }
        let z: Vec<f64> =
            self.frame.used.iter().enumerate().map(|(k, &c)| self.frame.unit(k, row[c])).collect();
        let split = self.scorer.split(&z);
        let (mut alone, mut columns) = (vec![0.0; row.len()], vec![0.0; row.len()]);
        let mut expected = vec![None; row.len()];
        let means = self.expected.at(&self.scorer.core.filled(&z), &self.scorer.core.centre);
        for (k, &c) in self.frame.used.iter().enumerate() {
            (alone[c], columns[c]) = (split.alone[k], split.columns[k]);
            let at = |unit: f64| self.frame.value(k, unit);
            let (low, high) = (self.expected.low[k], self.expected.high[k]);
            let (low, high) = (at(means[k] + low), at(means[k] + high));
            expected[c] = Some(Conditional { value: at(means[k]), low, high });
        }
        let oddness = split.base + split.columns.iter().sum::<f64>();
        let (base, directions, rest) = (split.base, split.directions, split.rest);
        Ok(Oddity { oddness, base, directions, rest, alone, columns, expected })
    }

    /// The p-value of a new row, by its oddness: (1 + k)/(1 + N), where k of N training rows, each
    /// judged by a detector that was fitted without it, are at least as odd. If new rows are drawn as
    /// the training rows were, about a share `alpha` of them has a p-value of at most `alpha`.
    pub fn p_value(&self, oddness: f64) -> f64 {
        self.calibration.p_value(oddness)
    }

    /// New rows that are odder than this have a p-value of at most `alpha`. With fewer than
    /// 1/`alpha` − 1 training rows the fitted tail is continued instead.
    pub fn threshold(&self, alpha: f64) -> Result<f64> {
        if !(alpha > 0.0 && alpha < 1.0) {
            return invalid("alpha", alpha, "must be a probability in (0, 1)");
        }
        Ok(self.calibration.threshold(alpha))
    }

    /// The oddness that the share `contamination` of some rows exceeds: those are then called odd,
    /// whatever they are.
    pub fn threshold_of_share(&self, rows: &Rows, contamination: f64) -> Result<f64> {
        if !(contamination > 0.0 && contamination <= 0.5) {
            return invalid("contamination", contamination, "must be in (0, 0.5]");
        }
        let oddness = self.oddness(rows)?;
        Ok(exceeded_by(&oddness, |i| rows.weight(i), contamination))
    }

    /// The probability that an ordinary row is at least so odd, by a tail fitted to the bulk of the
    /// training rows.
    pub fn tail(&self, oddness: f64) -> f64 {
        self.calibration.tail.p_value(oddness)
    }

    fn check(&self, rows: &Rows) -> Result<()> {
        if rows.columns() != self.columns() {
            let (expected, got) = (self.columns(), rows.columns());
            return Err(Error::Shape { what: "columns of a row", expected, got });
        }
        rows.check_present()
    }
}
