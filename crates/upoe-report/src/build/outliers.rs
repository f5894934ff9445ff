//! The least probable rows, and why they are.

use upoe::evaluate::Tail;
use upoe::expected::{self, Expected};
use upoe::{Explainer, Result};

use super::Input;
use super::summary::thousands;
use crate::{OddValue, Outlier, far_words};

/// Outliers the page lists.
const MOST: usize = 12;
/// Values of an outlier that are shown beside expected ones.
const MOST_ODD: usize = 4;
/// With more columns no expected values are computed; of stacks and pools with a fifth of them.
const MOST_COLUMNS: usize = 200;
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
    explainer: &Explainer,
    least: &[usize],
    shown: &[usize],
    log_density: &[f64],
    drawn: Vec<f64>,
) -> Result<Vec<Outlier>> {
    let drawn_rows = drawn.len();
    let tail = Tail::of_scores(drawn);
    least
        .iter()
        .map(|&row| {
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
            Ok(Outlier {
                position: shown.partition_point(|&s| s < row),
                log_density: ln_p,
                tail: Some(tail.at(ln_p)),
                by_chance: by_chance(tail.at(ln_p), drawn_rows, log_density.len()),
                note: (ln_p == f64::NEG_INFINITY).then(|| outside(input, &values)).transpose()?,
                far: far.map(far_words),
                odd: odd(input, &values)?,
                baseline: why.baseline,
                experts,
                rest,
                columns: columns.into_iter().collect(),
                split: split.into_iter().map(|by: Vec<f64>| by.into_iter().collect()).collect(),
                values: values.iter().copied().collect(),
            })
        })
        .collect()
}

/// How many rows with such a tail chance alone would give among so many; of `drawn` rows that the tail
/// is measured by, at least one counts.
fn by_chance(tail: f64, drawn: usize, rows: usize) -> String {
    let expected = tail * rows as f64;
    let about = if tail * (drawn as f64 + 1.0) < 1.5 { "less than" } else { "about" };
    let number = match expected {
        few if few < 0.1 => "less than 0.1".to_owned(),
        few if few < 9.95 => format!("{about} {few:.1}"),
        many => format!("{about} {}", thousands(many.round() as usize)),
    };
    format!("chance alone would give {number} such rows among {}", thousands(rows))
}

/// The values most to blame, unless columns are pixels or too many.
fn odd(input: &Input, row: &[f64]) -> Result<Vec<OddValue>> {
    let most = if input.fitted.is_one_layer() { MOST_COLUMNS } else { MOST_COLUMNS / 5 };
    if input.image.is_some() || row.len() > most {
        return Ok(Vec::new());
    }
    let found = expected::of(input.fitted.density(), row)?.into_iter().enumerate();
    let mut found: Vec<(usize, Expected)> = found.filter_map(|(i, e)| Some((i, e?))).collect();
    found.sort_by(|a, b| b.1.blame.total_cmp(&a.1.blame));
    let of_column = |(i, e): &(usize, Expected)| OddValue {
        words: e.words(&input.names[*i]),
        surprise: e.surprise(),
    };
    Ok(found.iter().take(MOST_ODD).map(of_column).collect())
}

/// Why a row has density 0.
fn outside(input: &Input, row: &[f64]) -> Result<String> {
    let rows = upoe::Rows::new(row, row.len())?;
    let outside = input.fitted.model.whitening().outside(&rows)?;
    let name = |column: usize| input.names[column].clone();
    Ok(match outside.map(|outside| outside.reason(name)) {
        Some(reason) => format!(
            "It leaves the subspace that the training rows span, so its density is 0: {reason}. The \
             bars below explain the part within the subspace."
        ),
        None => "It is so far from the mean that its density is 0 to rounding.".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::by_chance;

    #[test]
    fn what_chance_gives_has_few_digits_and_a_bound() {
        let told = |tail, rows| by_chance(tail, 9999, rows);
        let said = |number: &str, rows: &str| {
            format!("chance alone would give {number} such rows among {rows}")
        };
        assert_eq!(told(0.05, 200), said("about 10", "200"));
        assert_eq!(told(0.0117, 200), said("about 2.3", "200"));
        assert_eq!(told(1e-4, 200), said("less than 0.1", "200"));
        assert_eq!(told(1e-4, 50_000), said("less than 5.0", "50\u{202f}000"));
        assert_eq!(told(2e-4, 50_000), said("about 10", "50\u{202f}000"));
    }
}
