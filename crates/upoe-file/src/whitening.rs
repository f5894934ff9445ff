//! A whitening in a file: arrays, and numbers in the header.

use faer::Mat;
use serde_json::{Value, json};
use upoe::{Whitening, WhiteningParts};

use crate::container::{Array, Container};
use crate::error::Result;
use crate::model_file::{get, value};

/// Adds its arrays, each under a name with this prefix; returns what the header has of it.
pub fn write(whitening: &Whitening, prefix: &str, arrays: &mut Vec<Array>) -> Result<Value> {
    let (columns, dims) = (whitening.columns(), whitening.dims());
    let mut add = |name: &str, shape: &[usize], values: Vec<f64>| {
        arrays.push(Array { name: format!("{prefix}{name}"), shape: shape.to_vec(), values });
    };
    add("mean", &[columns], whitening.mean().to_vec());
    add("deviations", &[columns], whitening.deviations().to_vec());
    add("sphering", &[dims, columns], flat(whitening.matrix()));
    add("unsphering", &[columns, dims], flat(whitening.inverse()));
    Ok(json!({
        "ln_det": whitening.ln_det(),
        "rank": whitening.rank(),
        "kept_variance": whitening.kept_variance(),
        "rest": value(&whitening.rest())?,
    }))
}

/// The whitening of a prefix, of rows of so many columns.
pub fn read(
    container: &Container,
    about: &Value,
    prefix: &str,
    columns: usize,
) -> Option<Whitening> {
    let name = |name: &str| format!("{prefix}{name}");
    let dims = *container.array(&name("sphering"))?.shape.first()?;
    let parts = WhiteningParts {
        mean: finite(container, &name("mean"), &[columns])?,
        matrix: matrix(container, &name("sphering"), dims, columns)?,
        inverse: matrix(container, &name("unsphering"), columns, dims)?,
        ln_det: get(about, "ln_det")?,
        rank: get(about, "rank")?,
        kept_variance: get(about, "kept_variance")?,
        rest: get(about, "rest")?,
        deviations: finite(container, &name("deviations"), &[columns])?,
    };
    Whitening::from_parts(parts).ok()
}

/// The numbers of an array of this shape, if all are finite.
pub fn finite(container: &Container, name: &str, shape: &[usize]) -> Option<Vec<f64>> {
    let array = container.array(name)?;
    (array.shape == shape && array.values.iter().all(|x| x.is_finite()))
        .then(|| array.values.clone())
}

/// A matrix of finite numbers.
pub fn matrix(container: &Container, name: &str, rows: usize, columns: usize) -> Option<Mat<f64>> {
    let values = finite(container, name, &[rows, columns])?;
    Some(Mat::from_fn(rows, columns, |i, j| values[i * columns + j]))
}

/// The numbers of a matrix, row after row.
pub fn flat(matrix: &Mat<f64>) -> Vec<f64> {
    (0..matrix.nrows()).flat_map(|i| (0..matrix.ncols()).map(move |j| matrix[(i, j)])).collect()
}
