//! Samples of many rows: for screening starts and for striking directions, not for finishing.

use crate::engine::{Engine, Picked, draw};
use crate::error::Result;
use crate::linalg::dot;

/// Cells of the larger sample.
const CELLS: usize = 4_000_000;

/// Rows that screen starts; `None` where there are not many.
pub fn screening(engine: &dyn Engine, seed: u64) -> Result<Option<Box<dyn Engine>>> {
    let size = (32 * engine.dims()).max(3072);
    if engine.rows() <= 3 * size {
        return Ok(None);
    }
    let Some(chosen) = draw(engine.rows(), seed, size) else { return Ok(None) };
    pulled_in(engine, &chosen)
}

/// Rows that show where fourth moments are extreme. Their noise is that of D/√N: screening rows are too
/// few in many dimensions.
pub fn larger(engine: &dyn Engine) -> Result<Option<Box<dyn Engine>>> {
    let (rows, d) = (engine.rows(), engine.dims());
    let few = rows.min(CELLS / d);
    let chosen: Vec<usize> =
        (0..few).map(|i| (i as u128 * rows as u128 / few as u128) as usize).collect();
    pulled_in(engine, &chosen)
}

/// Some rows, those far out pulled in: one of them would decide the variance of few rows and with it
/// what is found. `None` where they have no weight.
fn pulled_in(engine: &dyn Engine, chosen: &[usize]) -> Result<Option<Box<dyn Engine>>> {
    let d = engine.dims();
    let Picked { mut rows, weights } = engine.pick(chosen)?;
    if weights.as_ref().is_some_and(|w| !(w.iter().sum::<f64>() > 0.0)) {
        return Ok(None);
    }
    let farthest = (8.0 * d as f64).max(100.0);
    for row in rows.chunks_exact_mut(d) {
        let square = dot(row, row);
        if square > farthest {
            row.iter_mut().for_each(|x| *x *= (farthest / square).sqrt());
        }
    }
    Ok(Some(engine.over(Picked { rows, weights })?))
}
