//! Arrays in without a copy, and out as Rust allocated them.

use numpy::ndarray::{Array2, Array3};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArray3, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use upoe::Rows;

use crate::errors::{self, Names};

/// The rows of an array, which must be C-contiguous, after a check that all are finite.
pub fn rows<'a>(array: &'a PyReadonlyArray2<'_, f64>, names: Names) -> PyResult<Rows<'a>> {
    let rows = Rows::new(c_slice(array)?, array.shape()[1]).map_err(|e| errors::of(e, names))?;
    rows.check().map_err(|e| errors::of(e, names))?;
    Ok(rows)
}

/// An array of rows of `columns` numbers.
pub fn matrix(py: Python<'_>, values: Vec<f64>, columns: usize) -> Bound<'_, PyArray2<f64>> {
    let rows = values.len().checked_div(columns).unwrap_or(0);
    shaped(py, values, rows, columns)
}

/// An array of this shape, which may be without columns.
pub fn shaped(
    py: Python<'_>,
    values: Vec<f64>,
    rows: usize,
    columns: usize,
) -> Bound<'_, PyArray2<f64>> {
    let array = Array2::from_shape_vec((rows, columns), values);
    array.unwrap_or_else(|_| Array2::zeros((rows, columns))).into_pyarray(py)
}

/// An array of three dimensions.
pub fn cube(
    py: Python<'_>,
    values: Vec<f64>,
    (n, j, columns): (usize, usize, usize),
) -> Bound<'_, PyArray3<f64>> {
    let array = Array3::from_shape_vec((n, j, columns), values);
    array.unwrap_or_else(|_| Array3::zeros((n, j, columns))).into_pyarray(py)
}

/// An array of one dimension.
pub fn vector(py: Python<'_>, values: Vec<f64>) -> Bound<'_, PyArray1<f64>> {
    values.into_pyarray(py)
}

/// The numbers of a C-contiguous array.
fn c_slice<'a>(array: &'a PyReadonlyArray2<'_, f64>) -> PyResult<&'a [f64]> {
    if !array.is_c_contiguous() {
        return Err(errors::internal("an array is not C-contiguous"));
    }
    Ok(array.as_slice()?)
}
