//! Which rows are held out: the same as the `upoe` command holds out.

use numpy::IntoPyArray;
use pyo3::prelude::*;

use crate::arrays::Flags;
use crate::errors;

/// Marks rows to hold out: a share of them at random, or whole groups until the share is
/// reached. Which ones depends on the seed, the number of rows and the groups alone.
#[pyfunction]
#[pyo3(signature = (rows, groups, share, seed))]
pub fn held_out(
    py: Python<'_>,
    rows: usize,
    groups: Option<Vec<String>>,
    share: Option<f64>,
    seed: u64,
) -> PyResult<Flags<'_>> {
    let out = upoe::held_out(rows, share, groups.as_deref(), seed);
    Ok(Flags::new(out.map_err(|e| errors::of(e, None))?.into_pyarray(py)))
}
