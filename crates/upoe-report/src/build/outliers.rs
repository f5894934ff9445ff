//! The odd rows and the least usual ones, and why they are.

use upoe::evaluate::Tail;
use upoe::{Explainer, Result};

use super::judge::Verdict;
use super::{Input, cells, rows};
use crate::{Outlier, Outliers, far_words};

/// Rows the page lists at most.
const MOST: usize = 12;
/// Rows that it lists even if fewer are odd.
const LEAST: usize = 3;
/// Values of a row whose densities are shown.
const MOST_CELLS: usize = 12;
/// Numbers in the full split of a row at most; beyond them it is left out.
const MOST_SPLIT: usize = 20_000;

/// The rows to list: those of density 0 and the oddest, or the least probable complete ones where none was judged.
pub(super) fn listed(input: &Input, verdict: &Verdict, log_density: &[f64]) -> Vec<usize> {
    let is_complete = |row: &usize| !input.rows.row(*row).iter().any(|cell| cell.is_nan());
    if let Some(judged) = &verdict.judged {
        let is_impossible = |row: &usize| log_density[*row] == f64::NEG_INFINITY;
        let mut listed: Vec<usize> = (0..log_density.len())
            .filter(is_impossible)
            .filter(is_complete)
            .take(MOST / 2)
            .collect();
        let oddest = judged.oddest(LEAST, MOST - listed.len());
        let new = oddest.into_iter().filter(|row| !listed.contains(row)).collect::<Vec<_>>();
        listed.extend(new);
        return listed;
    }
    let mut order: Vec<usize> = (0..log_density.len()).filter(is_complete).collect();
    let by = |a: &usize, b: &usize| log_density[*a].total_cmp(&log_density[*b]).then(a.cmp(b));
    if order.len() > MOST {
        order.select_nth_unstable_by(MOST, by);
        order.truncate(MOST);
    }
    order.sort_by(by);
    order
}

/// Each of the rows `listed` with its explanation. `drawn` is the ln p of rows drawn from the
/// model, `shown` the rows on the page.
pub(super) fn outliers(
    input: &Input,
    verdict: &Verdict,
    listed: &[usize],
    shown: &[usize],
    log_density: &[f64],
    drawn: Vec<f64>,
) -> Result<Outliers> {
    let explainer = Explainer::new(input.fitted, input.seed)?;
    let mut parts = Vec::new();
    if !input.fitted.is_one_layer() {
        parts = explainer.names().to_vec();
        parts.remove(explainer.rest());
    }
    let tail = Tail::of_scores(drawn);
    let outlier = |&row: &usize| {
        let values = input.rows.row(row);
        let ln_p = log_density[row];
        let why = explainer.explain(input.fitted, &values)?;
        let columns = explainer.columns(input.fitted, &values)?;
        let mut experts = why.parts;
        let rest = experts.remove(explainer.rest());
        let small = (experts.len() + 1) * values.len() <= MOST_SPLIT;
        let split = match input.fitted.is_one_layer() && small {
            true => {
                let parts = input.fitted.model.explain(&values)?;
                parts.experts_by_column.into_iter().chain([parts.rest_by_column]).collect()
            }
            false => Vec::new(),
        };
        let far = why.times_as_far.iter().copied().find(|times| times.is_finite());
        let judgement = verdict.judged.as_ref().map(|judged| judged.of(input, row));
        Ok(Outlier {
            position: shown.partition_point(|&s| s < row),
            number: rows::number(input, row),
            judgement: judgement.transpose()?.flatten(),
            log_density: ln_p,
            tail: Some(tail.at(ln_p)),
            note: (ln_p == f64::NEG_INFINITY).then(|| outside(input, &values)).transpose()?,
            far: far.map(far_words),
            cells: cells::observed(input, &values, MOST_CELLS)?,
            baseline: why.baseline,
            experts,
            rest,
            columns: columns.into_iter().collect(),
            split: split.into_iter().map(|by: Vec<f64>| by.into_iter().collect()).collect(),
            values: values.iter().copied().collect(),
        })
    };
    let rows = listed.iter().map(outlier).collect::<Result<_>>()?;
    Ok(Outliers { words: verdict.words.clone(), note: verdict.note.clone(), rows, parts })
}

/// Why a row has density 0.
fn outside(input: &Input, row: &[f64]) -> Result<String> {
    let rows = upoe::Rows::new(row, row.len())?;
    let outside = input.fitted.model.whitening().outside(&rows)?;
    let name = |column: usize| input.names[column].clone();
    Ok(match outside.map(|outside| outside.reason(name)) {
        Some(reason) => format!(
            "It leaves the subspace that the training rows span, so its density is 0: {reason}."
        ),
        None => "It is so far from the mean that its density is 0 to rounding.".to_owned(),
    })
}
