//! Arrays in without a copy, and out as Rust allocated them.

use numpy::ndarray::{Array2, Array3};
use numpy::{
    Element, IntoPyArray, PyArray1, PyArray2, PyArray3, PyReadonlyArray2, PyUntypedArrayMethods,
};
use pyo3::prelude::*;
use upoe::Rows;

use crate::errors::{self, Names};

/// An array of rows, in double or single precision.
#[derive(FromPyObject)]
pub enum Array<'py> {
    /// float64.
    Double(PyReadonlyArray2<'py, f64>),
    /// float32.
    Single(PyReadonlyArray2<'py, f32>),
}

impl Array<'_> {
    /// Its rows where they lie, after a check that all are finite; they must be C-contiguous.
    pub fn rows(&self, names: Names) -> PyResult<Rows<'_>> {
        let rows = match self {
            Array::Double(array) => Rows::new(c_slice(array)?, array.shape()[1]),
            Array::Single(array) => Rows::single(c_slice(array)?, array.shape()[1]),
        };
        let checked = rows.and_then(|rows| rows.check().map(|()| rows));
        checked.map_err(|e| errors::of(e, names))
    }
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
fn c_slice<'a, T: Element>(array: &'a PyReadonlyArray2<'_, T>) -> PyResult<&'a [T]> {
    if !array.is_c_contiguous() {
        return Err(errors::internal("an array is not C-contiguous"));
    }
    Ok(array.as_slice()?)
}
