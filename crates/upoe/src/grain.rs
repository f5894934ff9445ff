//! The grain of columns: the smallest scale at which their values tell anything.
//!
//! Where many values of a column are equal, a density could rise at these values without bound, and that would
//! not be gain: the values are rounded, or there is a lump of equal ones. Nothing is learned there at a scale
//! smaller than the grain.

use crate::learn::{FEW, Notice};
use crate::rows::Rows;
use crate::stack::Stack;
use rayon::prelude::*;

/// A column has a grain where there are no more different values than this share of the different rows.
const MANY_EQUAL: f64 = 0.5;
/// A value with this share of the rows is a lump.
const LUMP: f64 = 0.1;
/// The grain of a lump, in standard deviations of its column.
const LUMP_SCALE: f64 = 0.01;

/// The columns that vary but take few values, each of them often, or one value often.
pub fn ties(rows: &Rows) -> Vec<usize> {
    let few = |column: &usize| {
        // Values and how often they are there, of the first rows until there are too many values.
        let mut known: Vec<(f64, usize)> = Vec::new();
        for i in 0..rows.len() {
            let x = rows.row(i)[*column];
            match known.iter().position(|(value, _)| *value == x) {
                Some(at) => known[at].1 += 1,
                None if known.len() == FEW => return lump(rows, *column, &known),
                None => known.push((x, 1)),
            }
        }
        known.len() > 1 && rows.len() >= 10 * known.len()
    };
    (0..rows.columns()).filter(few).collect()
}

/// Whether one of some values, which the first rows of a column have, is there in a tenth of all rows.
fn lump(rows: &Rows, column: usize, known: &[(f64, usize)]) -> bool {
    let Some((value, times)) = known.iter().max_by_key(|(_, times)| times) else { return false };
    let all = || (0..rows.len()).filter(|&i| rows.row(i)[column] == *value).count() as f64;
    *times > 1 && all() >= LUMP * rows.len() as f64
}

/// The grain of every column, as a standard deviation; 0 where values are not tied.
///
/// A value that is rounded to a unit stands for all values within half a unit: the deviation of a uniform
/// density that wide. The unit is the middle one of the distances between neighbouring values.
pub fn of(rows: &Rows) -> Vec<f64> {
    let mut order: Vec<usize> = (0..rows.len()).collect();
    let compare = |a: &usize, b: &usize| {
        let (x, y) = (rows.row(*a), rows.row(*b));
        x.iter().zip(&*y).map(|(x, y)| x.total_cmp(y)).find(|o| o.is_ne())
    };
    order.par_sort_unstable_by(|a, b| compare(a, b).unwrap_or(a.cmp(b)));
    order.dedup_by(|a, b| compare(a, b).is_none());
    (0..rows.columns()).into_par_iter().map(|column| of_column(rows, &order, column)).collect()
}

/// What is said about the grain; nothing where no column has one.
pub fn notice(rows: &Rows) -> Option<Notice> {
    let has = of(rows).into_iter().enumerate().filter(|(_, scale)| *scale > 0.0);
    let (columns, scales): (Vec<usize>, Vec<f64>) = has.unzip();
    (!columns.is_empty()).then_some(Notice::Grain { columns, scales })
}

fn of_column(rows: &Rows, distinct: &[usize], column: usize) -> f64 {
    let mut values: Vec<f64> = distinct.iter().map(|&i| rows.row(i)[column]).collect();
    values.retain(|x| !x.is_nan());
    values.sort_unstable_by(f64::total_cmp);
    let n = values.len() as f64;
    let most = values.chunk_by(|a, b| a == b).map(<[f64]>::len).max().unwrap_or(0) as f64;
    let mean = values.iter().sum::<f64>() / n;
    let deviation = (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n).sqrt();
    values.dedup();
    let lump = if most >= LUMP * n && most > 1.0 { LUMP_SCALE * deviation } else { 0.0 };
    let rounded = values.len() as f64 <= MANY_EQUAL * n;
    let mut steps: Vec<f64> = values.windows(2).map(|pair| pair[1] - pair[0]).collect();
    if !rounded || steps.is_empty() {
        return lump;
    }
    let middle = steps.len() / 2;
    let unit = *steps.select_nth_unstable_by(middle, f64::total_cmp).1;
    lump.max(unit / 12f64.sqrt())
}

/// The covariance of the grain after the maps of a stack, row after row; empty where no column has a grain.
pub fn mapped(grain: &[f64], stack: &Stack, rows: &Rows) -> Vec<f64> {
    if grain.iter().all(|scale| *scale == 0.0) {
        return Vec::new();
    }
    let scale = |(column, scale): (usize, &f64)| match stack.column_experts().get(column) {
        Some(Some(expert)) if *scale > 0.0 => {
            let slope = |i: usize| expert.map(rows.row(i)[column]).ln_slope;
            let total: f64 = (0..rows.len()).map(slope).sum();
            scale * (total / rows.len() as f64).exp()
        }
        _ => *scale,
    };
    let scales: Vec<f64> = grain.iter().enumerate().map(scale).collect();
    let (matrix, d) = (stack.whitening().matrix(), stack.whitening().dims());
    let entry = |i: usize, j: usize| -> f64 {
        let of_column = |(c, s): (usize, &f64)| matrix[(i, c)] * matrix[(j, c)] * s * s;
        scales.iter().enumerate().map(of_column).sum()
    };
    let half: Vec<Vec<f64>> = (0..d).map(|i| (0..=i).map(|j| entry(i, j)).collect()).collect();
    (0..d * d).map(|k| half[(k / d).max(k % d)][(k / d).min(k % d)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Use, stream};
    use crate::t_mixture::{Components, TMixture};
    use rand::RngExt;
    use rand_distr::StandardNormal;

    /// Normal columns: one as it is, one rounded to halves, one with a third of zeros.
    fn table(n: usize) -> Vec<f64> {
        let mut rng = stream(5, Use::Data, 0);
        let mut normal = || rng.sample::<f64, _>(StandardNormal);
        let row = |i: usize| {
            let lump = if i.is_multiple_of(3) { 0.0 } else { 1.0 };
            [normal(), (2.0 * normal()).round() / 2.0, lump * normal()]
        };
        (0..n).flat_map(row).collect()
    }

    #[test]
    fn rounded_columns_and_lumps_have_a_grain() {
        let values = table(900);
        let rows = Rows::new(&values, 3).expect("rows");
        let grain = of(&rows);
        assert_eq!(grain[0], 0.0);
        assert!((grain[1] - 0.5 / 12f64.sqrt()).abs() < 1e-12, "{grain:?}");
        let deviation = (2.0_f64 / 3.0).sqrt();
        assert!((grain[2] / (LUMP_SCALE * deviation) - 1.0).abs() < 0.1, "{grain:?}");
        // Rows that are there five times are no ties.
        let five = values[..300].repeat(5);
        assert_eq!(of(&Rows::new(&five, 3).expect("rows"))[0], 0.0);
        assert_eq!(ties(&rows), [1, 2]);
    }

    /// A group of rows with the same value in a column: a component could shrink onto it.
    #[test]
    fn no_component_is_narrower_than_the_grain() {
        let normal = table(900);
        let row = |(i, row): (usize, &[f64])| match i % 3 {
            0 => [10.0 + row[0], 0.0],
            _ => [row[0], 1.0 + row[2]],
        };
        let values: Vec<f64> = normal.chunks_exact(3).enumerate().flat_map(row).collect();
        let grain = of(&Rows::new(&values, 2).expect("rows"));
        assert!(grain[0] == 0.0 && grain[1] > 0.0, "{grain:?}");
        let least = grain[1] * grain[1];
        let components = Components { count: 2, shrinkage: 0.0, degrees: 10.0 };
        let narrowest = |grain: &[f64]| {
            let fit = TMixture::pooled(&values, 2, None, &components, grain, None);
            let mixture = fit.expect("a fit").mixture;
            mixture.covariance(0)[3].min(mixture.covariance(1)[3])
        };
        assert!(narrowest(&[0.0, 0.0, 0.0, least]) >= 0.999 * least);
        assert!(narrowest(&[]) < 0.5 * least, "it shrinks without the grain");
    }
}
