//! Who judges rows: a detector fitted to them, one from a file, or a model's density.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};
use upoe::evaluate::Tail;
use upoe::{Detector, DetectorFit, DetectorSettings, Rows};
use upoe_file::{Container, DetectorFile, ModelFile, Verdict};
use upoe_table::Table;

use crate::args::TableArgs;
use crate::failure::{Failure, from_core};
use crate::output::number;
use crate::progress::Progress;
use crate::work::Pace;

/// Rows drawn from a model, with which others are compared.
const DRAWN: usize = 100_000;

/// What is said while a detector is fitted.
const FITTING: &str = "fitting the detector";

/// Who judges rows.
pub enum Judge {
    /// A detector fitted to the very rows that it judges.
    Fitted(DetectorFit, Vec<String>, DetectorSettings),
    /// A detector, for new rows.
    Detector(DetectorFile),
    /// A model, by ln p.
    Density(Box<ModelFile>),
}

/// The oddness and the p-value of each row.
pub struct Judged {
    pub oddness: Vec<f64>,
    pub p_values: Vec<f64>,
}

impl Judge {
    /// Reads a detector or a model; says so when it was swapped with the table.
    pub fn read(path: &Path, table: &TableArgs) -> Result<Self, Failure> {
        let container = match Container::read(path) {
            Err(upoe_file::Error::NotModel { .. }) if Container::read(&table.data).is_ok() => {
                return Err(Failure::Message(format!(
                    "{}: not a upoe detector or model, but {} is: name it first, then the data",
                    path.display(),
                    table.data.display()
                )));
            }
            container => container?,
        };
        match container.header.get("kind").and_then(Value::as_str) {
            Some("detector") => {
                Ok(Judge::Detector(DetectorFile::from_container(&container, path)?))
            }
            _ => Ok(Judge::Density(Box::new(ModelFile::from_container(&container, path)?))),
        }
    }

    /// Fits a detector to a table.
    pub fn fit(table: &Table, seed: u64, progress: &Progress) -> Result<Self, Failure> {
        let failed = |error| from_core(error, table);
        let rows = Rows::new(&table.data, table.names.len()).map_err(failed)?;
        let settings = DetectorSettings { seed, ..DetectorSettings::default() };
        let pace = Mutex::new(Pace::new(progress, FITTING));
        let watch = |done, all| {
            let mut pace = pace.lock().unwrap_or_else(PoisonError::into_inner);
            pace.tell(FITTING, done, all, "steps").is_ok()
        };
        let fit = Detector::fit_with(&rows, &settings, &watch).map_err(failed)?;
        let Some(fit) = fit else {
            return Err(
                progress.interrupted("interrupted while fitting the detector: nothing is written")
            );
        };
        for column in fit.detector.constant() {
            progress.note(&format!(
                "column `{}` is constant: it is not looked at",
                table.names[column]
            ));
        }
        Ok(Judge::Fitted(fit, table.names.clone(), settings))
    }

    /// The columns that it needs.
    pub fn names(&self) -> &[String] {
        match self {
            Judge::Fitted(_, names, _) => names,
            Judge::Detector(file) => &file.names,
            Judge::Density(file) => &file.names,
        }
    }

    /// The level that it was made for.
    pub fn alpha(&self) -> Option<f64> {
        match self {
            Judge::Detector(file) => Some(file.verdict.alpha),
            Judge::Fitted(..) | Judge::Density(_) => None,
        }
    }

    /// The smallest p-value that it can give.
    pub fn smallest(&self) -> f64 {
        match self {
            Judge::Fitted(..) => 0.0,
            Judge::Detector(file) => 1.0 / (1.0 + file.detector.training_rows()),
            Judge::Density(_) => 1.0 / (1 + DRAWN) as f64,
        }
    }

    /// Writes the detector, which calls rows odd at level `alpha`.
    pub fn save(&self, path: &Path, alpha: f64) -> Result<(), Failure> {
        let Judge::Fitted(fit, names, settings) = self else { return Ok(()) };
        let threshold = fit.detector.threshold(alpha);
        let threshold = threshold.map_err(|error| Failure::Message(error.to_string()))?;
        let verdict = Verdict { alpha, contamination: None, threshold };
        let file = DetectorFile::new(fit.detector.clone(), names.clone(), *settings, verdict);
        Ok(file.write(path)?)
    }

    /// Judges all rows of a table.
    pub fn all(&self, table: &Table, seed: u64, progress: &Progress) -> Result<Judged, Failure> {
        let failed = |error| from_core(error, table);
        let rows = Rows::new(&table.data, table.names.len()).map_err(failed)?;
        let by_block = |of: &dyn Fn(&Rows) -> upoe::Result<Vec<f64>>| {
            let mut values = Vec::with_capacity(table.rows);
            progress.in_blocks("judging", table.rows, (1024, rows.columns()), |part| {
                values.extend(of(&rows.slice(part)).map_err(failed)?);
                Ok(())
            })?;
            Ok::<_, Failure>(values)
        };
        match self {
            Judge::Fitted(fit, _, _) => {
                Ok(Judged { oddness: fit.oddness.clone(), p_values: fit.p_values.clone() })
            }
            Judge::Detector(file) => {
                progress.warn_unlike(&file.detector.places(), &rows, &file.names);
                let oddness = by_block(&|rows| file.detector.oddness(rows))?;
                let p_values = oddness.iter().map(|o| file.detector.p_value(*o)).collect();
                Ok(Judged { oddness, p_values })
            }
            Judge::Density(_) if !rows.is_complete() => Err(Failure::Message(
                "cells are missing, and a model compares ln p of complete rows; leave rows with missing \
                 cells out (`--missing drop`), or judge them by a detector, which takes them"
                    .into(),
            )),
            Judge::Density(file) => {
                let ln_p = by_block(&|rows| file.density().score(rows))?;
                progress.warn_outside(file, &rows).map_err(failed)?;
                progress.warn_unlike(&file.density().places(), &rows, &file.names);
                let what = "drawing samples";
                let mut pace = Pace::new(progress, what);
                let mut going = pace.tell(what, 0, DRAWN, "rows");
                let tail = Tail::draw(file.density(), DRAWN, seed, &mut |done| {
                    going = pace.tell(what, done, DRAWN, "rows");
                    going.is_ok()
                });
                let Some(tail) = tail.map_err(failed)? else {
                    going?;
                    return Err(progress.interrupted("interrupted while drawing samples"));
                };
                let p_values = ln_p.iter().map(|ln_p| tail.at(*ln_p)).collect();
                Ok(Judged { oddness: ln_p.iter().map(|ln_p| -ln_p).collect(), p_values })
            }
        }
    }

    fn detector(&self) -> Option<&Detector> {
        match self {
            Judge::Fitted(fit, _, _) => Some(&fit.detector),
            Judge::Detector(file) => Some(&file.detector),
            Judge::Density(_) => None,
        }
    }

    /// Why a row is odd, in words, the most important reason first.
    pub fn reasons(&self, table: &Table, row: usize) -> Result<Vec<String>, Failure> {
        let failed = |error| from_core(error, table);
        let width = table.names.len();
        let values = &table.data[row * width..][..width];
        let reasons = match self {
            Judge::Fitted(fit, ..) => fit.detector.explain(values).map(|o| o.reasons(values)),
            Judge::Detector(file) => file.detector.explain(values).map(|o| o.reasons(values)),
            Judge::Density(file) => upoe::surprises(file.density(), values),
        };
        let reasons = reasons.map_err(failed)?;
        if reasons.is_empty() {
            return Ok(vec!["so far from all training rows that no value can be expected".into()]);
        }
        Ok(reasons.iter().map(|r| r.text(&table.names[r.column])).collect())
    }

    /// What each column adds to the oddness of a row, exactly.
    pub fn parts(&self, table: &Table, row: usize) -> Result<Value, Failure> {
        let failed = |error| from_core(error, table);
        let width = table.names.len();
        let values = &table.data[row * width..][..width];
        let expected = match self.detector() {
            Some(detector) => detector.explain(values).map_err(failed)?.expected,
            None => vec![None; width],
        };
        let parts = self.columns(values).map_err(failed)?;
        let column = |(c, part): (usize, f64)| {
            json!({
                "column": table.names[c],
                "observed": number(values[c]),
                "expected": expected[c].map(|e| number(e.value)),
                "low": expected[c].map(|e| number(e.low)),
                "high": expected[c].map(|e| number(e.high)),
                "part": number(part),
            })
        };
        Ok(Value::Array(parts.into_iter().map(column).collect()))
    }

    fn columns(&self, values: &[f64]) -> upoe::Result<Vec<(usize, f64)>> {
        let parts = match (self.detector(), self) {
            (Some(detector), _) => detector.explain(values)?.columns,
            (None, Judge::Density(file)) => {
                let parts = file.model.explain(values)?;
                let experts =
                    |c: usize| parts.experts_by_column.iter().map(|by| by[c]).sum::<f64>();
                (0..values.len()).map(|c| -(experts(c) + parts.rest_by_column[c])).collect()
            }
            (None, _) => Vec::new(),
        };
        Ok(parts.into_iter().enumerate().collect())
    }
}
