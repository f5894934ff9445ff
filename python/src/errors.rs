//! Rust errors as Python exceptions, with the columns' names.

use pyo3::exceptions::{
    PyFileNotFoundError, PyIsADirectoryError, PyMemoryError, PyOSError, PyRuntimeError,
    PyValueError,
};
use pyo3::{PyErr, PyResult};
use upoe::{Error, HOLDOUT_SHARE};
use upoe_file::FileError;

/// The columns' names, where they have any.
pub type Names<'a> = Option<&'a [String]>;

/// The exception of an error.
pub fn of(error: Error, names: Names) -> PyErr {
    let name = |column: usize| match names.and_then(|names| names.get(column)) {
        Some(name) => format!("column {name:?}"),
        None => format!("column {column}"),
    };
    PyValueError::new_err(match error {
        Error::NonFinite { row, column, value } => {
            let what = if value.is_nan() { "NaN" } else { "infinity" };
            format!(
                "Input X contains {what}: row {row}, {}. Drop the row or replace the value.",
                name(column)
            )
        }
        Error::Spread { column, variance } => {
            let how = if variance > 1.0 { "far" } else { "little" };
            format!("{} spreads too {how} (its variance is {variance:e}): rescale it", name(column))
        }
        Error::TooFewRows { rows, needed } => {
            format!(
                "Found {rows} sample(s) with a positive weight while at least {needed} are required."
            )
        }
        Error::ConstantInOne { column, table, value } => format!(
            "{} is {value} in every row of {}, and not in the other table: that is a change by itself; leave the \
             column out to compare the others",
            name(column),
            if table == "first" { "A" } else { "B" }
        ),
        Error::InvalidSetting { name, value, rule } => {
            format!("{} = {value}: {rule}", parameter(name))
        }
        Error::EmptyColumn { column } => {
            format!("{} has no value in any row: leave it out", name(column))
        }
        Error::OutsideSubspace { row, column } => format!(
            "row {row}: its values do not go together: {} would leave the subspace that the training rows \
             span, because some columns are constant or determine each other",
            name(column)
        ),
        Error::NeedsHoldout => format!("{error}; set holdout={HOLDOUT_SHARE}, for example"),
        error => error.to_string(),
    })
}

/// The exception of a condition's error.
pub fn of_given(error: Error, names: Names) -> PyErr {
    match error {
        Error::OutsideSubspace { column, .. } => {
            let name = names.and_then(|names| names.get(column)).map(|name| format!("{name:?}"));
            PyValueError::new_err(format!(
                "given: these values do not go together: column {} would leave the subspace that the \
                 training rows span, because some columns are constant or determine each other",
                name.unwrap_or_else(|| column.to_string())
            ))
        }
        Error::TooRare { .. } => PyValueError::new_err(format!("given: {error}")),
        error => of(error, names),
    }
}

/// The error of a block of rows, as one of all rows.
pub fn from_row(error: Error, start: usize) -> Error {
    match error {
        Error::NonFinite { row, column, value } => {
            Error::NonFinite { row: start + row, column, value }
        }
        Error::OutsideSubspace { row, column } => {
            Error::OutsideSubspace { row: start + row, column }
        }
        error => error,
    }
}

/// For masked values, which Rust would read as if they were not.
pub fn masked() -> PyErr {
    PyValueError::new_err("the array has masked values: replace them first, by .filled(number)")
}

/// The estimator's word for a setting.
fn parameter(setting: &str) -> &str {
    match setting {
        "experts" => "n_experts",
        "dims" => "n_dims",
        "starts" => "n_starts",
        "threads" => "n_jobs",
        "seed" => "random_state",
        other => other,
    }
}

/// The exception of a file's error.
pub fn of_file(error: upoe_file::Error) -> PyErr {
    let text = error.to_string();
    let upoe_file::Error::File(error) = error else { return PyValueError::new_err(text) };
    match error {
        FileError::NotFound { .. } | FileError::NoDirectory { .. } => {
            PyFileNotFoundError::new_err(text)
        }
        FileError::IsDirectory { .. } => PyIsADirectoryError::new_err(text),
        _ => PyOSError::new_err(text),
    }
}

/// For a lack of memory, or of threads.
pub fn memory(what: String) -> PyErr {
    PyMemoryError::new_err(format!("not enough memory: {what}"))
}

/// For what should not happen.
pub fn internal(what: &str) -> PyErr {
    PyRuntimeError::new_err(format!("{what}: this is an error in upoe, please report it"))
}

/// A value as JSON.
pub fn json(value: &impl serde::Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|_| internal("a part has no JSON form"))
}
