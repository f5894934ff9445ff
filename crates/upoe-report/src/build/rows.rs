//! Which rows the page shows, and what of them.

use std::collections::HashMap;

use rand::RngExt;
use upoe::expert::Expert;
use upoe::random::{Use, stream};

use super::{Cells, Input, MOST_COLUMNS, MOST_ROWS};
use crate::{Clusters, Column, Floats, ShownRows, Values};

/// The rows to show, rising: all, or [`MOST_ROWS`] of them with `always` among them.
pub(super) fn choose(total: usize, always: &[usize], seed: u64) -> Vec<usize> {
    choose_of(total, MOST_ROWS, always, seed)
}

/// All rows, or `most` of them with `always` among them, rising.
pub(super) fn choose_of(total: usize, most: usize, always: &[usize], seed: u64) -> Vec<usize> {
    if total <= most {
        return (0..total).collect();
    }
    // A Fisher–Yates shuffle as far as it is needed, of the rows that are not shown anyway.
    let mut is_in = vec![false; total];
    always.iter().for_each(|&row| is_in[row] = true);
    let mut others: Vec<usize> = (0..total).filter(|&row| !is_in[row]).collect();
    let mut rng = stream(seed, Use::Rows, 0);
    let needed = most.saturating_sub(always.len()).min(others.len());
    for k in 0..needed {
        let from = rng.random_range(k..others.len());
        others.swap(k, from);
    }
    let mut shown = others[..needed].to_vec();
    shown.extend(always);
    shown.sort_unstable();
    shown
}

/// The shown rows, column by column.
pub(super) fn rows(
    input: &Input,
    shown: &[usize],
    log_density: &[f64],
    projections: &[Vec<f64>],
) -> ShownRows {
    let pick = |values: &[f64]| -> Floats { shown.iter().map(|&row| values[row]).collect() };
    let kept = input.kept.iter().map(|kept| Column {
        name: kept.name.clone(),
        modelled: None,
        values: match &kept.cells {
            Cells::Numbers(cells) => Values::Number { values: pick(cells) },
            Cells::Text(cells) => text(shown.iter().map(|&row| cells[row].as_str())),
        },
    });
    let modelled = axes(input).into_iter().map(|c| Column {
        name: input.names[c].clone(),
        modelled: Some(c),
        values: Values::Number {
            values: shown.iter().map(|&row| input.rows.row(row)[c]).collect(),
        },
    });
    ShownRows {
        total: input.rows.len(),
        number: shown.iter().map(|&row| number(input, row)).collect(),
        log_density: pick(log_density),
        projections: projections.iter().map(|z| pick(z)).collect(),
        clusters: clusters(input, shown, projections),
        columns: kept.chain(modelled).collect(),
    }
}

/// The number of a row in the data, from 1.
pub(super) fn number(input: &Input, row: usize) -> u32 {
    input.numbers.map_or(row as u32 + 1, |numbers| numbers[row])
}

/// The columns that can be axes: all, or those with the largest filter entry per standard
/// deviation.
fn axes(input: &Input) -> Vec<usize> {
    let count = input.names.len();
    let mut axes: Vec<usize> = (0..count).collect();
    if count > MOST_COLUMNS {
        let (filters, deviations) =
            (input.fitted.model.filters(), &input.fitted.model.whitening().deviations());
        let size =
            |c: usize| filters.iter().map(|w| (w[c] * deviations[c]).abs()).fold(0.0, f64::max);
        axes.sort_by(|a, b| size(*b).total_cmp(&size(*a)).then(a.cmp(b)));
        axes.truncate(MOST_COLUMNS);
        axes.sort_unstable();
    }
    axes
}

/// The likelier component of each row, for each mixture.
fn clusters(input: &Input, shown: &[usize], projections: &[Vec<f64>]) -> Vec<Clusters> {
    let of = |(j, expert): (usize, &Expert)| {
        let mixture = match expert {
            Expert::Mixture(mixture) => mixture,
            Expert::StudentT(_) | Expert::Tilt(_) => return None,
        };
        let likelier = |&row: &usize| {
            let shares = mixture.responsibilities(projections[j][row]);
            let better = |best: usize, (k, share): (usize, &f64)| {
                if *share > shares[best] { k } else { best }
            };
            shares.iter().enumerate().fold(0, better) as u32
        };
        let groups = mixture.components().len();
        let labels = shown.iter().map(likelier).collect();
        (groups > 1).then_some(Clusters { expert: j, groups, labels })
    };
    input.fitted.model.experts().iter().enumerate().filter_map(of).collect()
}

/// Texts as codes into their distinct values, in order of first sight.
fn text<'a>(cells: impl Iterator<Item = &'a str>) -> Values {
    let mut seen = HashMap::new();
    let mut levels: Vec<String> = vec![];
    let codes = cells
        .map(|cell| {
            *seen.entry(cell).or_insert_with(|| {
                levels.push(cell.to_owned());
                levels.len() as u32 - 1
            })
        })
        .collect();
    Values::Text { levels, codes }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_keeps_what_must_stay() {
        let always = [0, 77_777, 119_999];
        let shown = choose(120_000, &always, 1);
        assert_eq!(shown.len(), MOST_ROWS);
        assert!(shown.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(always.iter().all(|row| shown.binary_search(row).is_ok()));
        let first_half = shown.iter().filter(|row| **row < 60_000).count();
        assert!((first_half as f64 - 25_000.0).abs() < 600.0, "{first_half}");
        assert_ne!(shown, choose(120_000, &always, 2));
        assert_eq!(choose(3, &[1], 1), [0, 1, 2]);
    }
}
