//! On which scale groups are looked for: the columns as they are, or skewed ones on a power scale.
//!
//! Groups that differ by factors, such as small and large tumours, lie on a log scale: as they are,
//! a skewed column hides the valley between them. Both scales are searched, and that on which the
//! groups found explain the rows better is taken.

use super::axes::Axes;
use super::partition::{Partition, completed, partition};
use super::power::Power;
use crate::error::Result;
use crate::model::Model;
use crate::rows::Rows;
use rayon::prelude::*;

/// Groups among rows, on the axes where they were found.
pub struct Found {
    pub axes: Axes,
    /// The rows on the axes.
    pub x: Vec<f64>,
    pub partition: Partition,
}

/// Groups on the scale that explains the rows better.
pub fn search(model: &Model, rows: &Rows, values: &[f64]) -> Result<Found> {
    let axes = Axes::of(model);
    let x = axes.project(model, rows)?;
    let plain = partition(&x, axes.count(), &axes.starts(model))?;
    let plain = Found { axes, x, partition: plain };
    let columns = rows.columns();
    // ln likelihoods of other axes than those of all columns could not be compared.
    if plain.axes.count() != columns || model.whitening().dims() != columns {
        return Ok(plain);
    }
    let n = rows.len() as f64;
    let price = 0.5 * n.ln();
    let column = |c: usize| values.iter().skip(c).step_by(columns).copied().collect::<Vec<f64>>();
    let best: Option<Vec<(Power, f64)>> =
        (0..columns).into_par_iter().map(|c| Power::of(&column(c))).collect();
    let Some(best) = best else { return Ok(plain) };
    let bent = best.iter().filter(|b| b.1 > price).count() as f64;
    if bent == 0.0 {
        return Ok(plain);
    }
    let chosen = |(p, gain): &(Power, f64)| if *gain > price { *p } else { p.straight() };
    let scales = [best.iter().map(|b| b.0.straight()).collect(), best.iter().map(chosen).collect()];
    let [Ok(Some(straight)), Ok(Some(powers))] =
        scales.map(|powers: Vec<Power>| Axes::bent(powers, values))
    else {
        return Ok(plain);
    };
    if [&straight, &powers].iter().any(|s| s.axes.count() != columns) {
        return Ok(plain);
    }
    let x = powers.axes.project(model, rows)?;
    let other = partition(&x, columns, &[])?;
    let worth = |x: &[f64], found: &Partition, ln_volume: f64| -> Result<f64> {
        let groups = found.labels.iter().max().map_or(1, |l| l + 1) as f64;
        let parameters = groups * (columns as f64 + 1.0);
        Ok(completed(x, columns, &found.labels)? + ln_volume - price * parameters)
    };
    let as_is = worth(&straight.axes.project(model, rows)?, &plain.partition, straight.ln_volume)?;
    let on_powers = worth(&x, &other, powers.ln_volume)? - price * bent;
    let found = Found { axes: powers.axes, x, partition: other };
    Ok(if on_powers > as_is { found } else { plain })
}
