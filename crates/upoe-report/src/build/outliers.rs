//! The least probable rows, and why they are.

use upoe::evaluate::Tail;
use upoe::{Explanation, Result};

use super::Input;
use crate::Outlier;

/// Outliers the page lists.
const MOST: usize = 12;
/// Numbers in the full split of a row at most; beyond them it is left out.
const MOST_SPLIT: usize = 20_000;

/// The least probable rows, the least probable first.
pub(super) fn least(log_density: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..log_density.len()).collect();
    let by = |a: &usize, b: &usize| log_density[*a].total_cmp(&log_density[*b]).then(a.cmp(b));
    if order.len() > MOST {
        order.select_nth_unstable_by(MOST, by);
        order.truncate(MOST);
    }
    order.sort_by(by);
    order
}

/// Each of the rows `least` with its explanation. `drawn` is the ln p of rows drawn from the
/// model, `shown` the rows on the page.
pub(super) fn outliers(
    input: &Input,
    least: &[usize],
    shown: &[usize],
    log_density: &[f64],
    drawn: Vec<f64>,
) -> Result<Vec<Outlier>> {
    let tail = Tail::of_scores(drawn);
    least
        .iter()
        .map(|&row| {
            let values = input.rows.row(row);
            let ln_p = log_density[row];
            let Explanation { baseline, experts, rest, experts_by_column, rest_by_column, .. } =
                input.model.explain(&values)?;
            let column = |c: usize| {
                experts_by_column.iter().map(|by| by[c]).sum::<f64>() + rest_by_column[c]
            };
            let small = (experts.len() + 1) * values.len() <= MOST_SPLIT;
            let split = experts_by_column.iter().chain([&rest_by_column]).filter(|_| small);
            Ok(Outlier {
                position: shown.partition_point(|&s| s < row),
                log_density: ln_p,
                tail: Some(tail.at(ln_p)),
                note: (ln_p == f64::NEG_INFINITY).then(|| outside(input, &values)).transpose()?,
                baseline,
                experts,
                rest,
                columns: (0..values.len()).map(column).collect(),
                split: split.map(|by| by.iter().copied().collect()).collect(),
                values: values.iter().copied().collect(),
            })
        })
        .collect()
}

/// Why a row has density 0.
fn outside(input: &Input, row: &[f64]) -> Result<String> {
    let rows = upoe::Rows::new(row, row.len())?;
    let outside = input.model.whitening().outside(&rows)?;
    let name = |column: usize| input.names[column].clone();
    Ok(match outside.map(|outside| outside.reason(name)) {
        Some(reason) => format!(
            "It leaves the subspace that the training rows span, so its density is 0: {reason}. The \
             bars below explain the part within the subspace."
        ),
        None => "It is so far from the mean that its density is 0 to rounding.".to_owned(),
    })
}
