//! A draw along a line from ln p alone: one step of slice sampling (Neal 2003), which leaves the density
//! along the line as it is.

use super::Density;
use crate::error::Result;
use crate::random::Stream;
use crate::rows::Rows;
use rand::RngExt;

/// The width of the first interval, in units of the direction.
const WIDTH: f64 = 3.0;
/// How often the interval grows at each end.
const MOST: usize = 8;

/// A draw of t along row + t·direction, from t = 0.
pub(crate) fn draw<D: Density + ?Sized>(
    density: &D,
    row: &[f64],
    direction: &[f64],
    rng: &mut Stream,
) -> Result<f64> {
    let ln_p = |t: f64| -> Result<f64> {
        let moved: Vec<f64> = row.iter().zip(direction).map(|(r, d)| r + t * d).collect();
        if !moved.iter().all(|x| x.is_finite()) {
            return Ok(f64::NEG_INFINITY);
        }
        Ok(density.score(&Rows::new(&moved, row.len())?)?[0])
    };
    let level = (ln_p(0.0)? + (1.0 - rng.random_range(0.0..1.0_f64)).ln()).max(f64::MIN);
    let mut low = -WIDTH * rng.random_range(0.0..1.0);
    let mut high = low + WIDTH;
    for _ in 0..MOST {
        if ln_p(low)? <= level {
            break;
        }
        low -= WIDTH;
    }
    for _ in 0..MOST {
        if ln_p(high)? <= level {
            break;
        }
        high += WIDTH;
    }
    loop {
        let t = low + (high - low) * rng.random_range(0.0..1.0);
        if ln_p(t)? > level {
            return Ok(t);
        }
        // The row itself lies above the level, so that the interval never loses it.
        if t < 0.0 {
            low = t
        } else {
            high = t
        }
        if !(high - low > 1e-12) {
            return Ok(0.0);
        }
    }
}
