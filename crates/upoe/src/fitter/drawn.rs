//! Rows whose missing cells are filled in, several times each.

use crate::chosen::Chosen;
use crate::effective::{Effective, Repeats};
use crate::error::Result;
use crate::fitted::Fit;
use crate::learn::{Notice, OutlierCell, Settings};
use crate::missing::holes;
use crate::rows::{Rows, view};

/// Rows whose missing cells are filled in, several times each.
pub struct Drawn {
    values: Vec<f64>,
    weights: Vec<f64>,
    /// Which row each of them is a draw of.
    pub origins: Vec<usize>,
    /// The blocks of the rows, or the origins: draws of one row belong together.
    blocks: Vec<usize>,
}

impl Drawn {
    /// Takes `some` of the `draws` draws of every row; rows without missing cells count once.
    pub fn new(rows: &Rows, drawn: &[f64], draws: usize, some: usize) -> Self {
        let columns = rows.columns();
        let mut all = Drawn {
            values: Vec::with_capacity(drawn.len() * some / draws),
            weights: Vec::new(),
            origins: Vec::new(),
            blocks: Vec::new(),
        };
        for (i, of_row) in drawn.chunks_exact(draws * columns).enumerate() {
            let times = if holes(&rows.row(i)).is_empty() { 1 } else { some };
            all.values.extend_from_slice(&of_row[..times * columns]);
            for _ in 0..times {
                all.weights.push(rows.weight(i) / times as f64);
                all.origins.push(i);
                all.blocks.push(rows.blocks().map_or(i, |blocks| blocks[i]));
            }
        }
        all
    }

    pub fn rows(&self, columns: usize) -> Result<Rows<'_>> {
        view(&self.values, columns, Some(&self.weights))?.in_blocks(&self.blocks)
    }
}

/// Counts rows as they were before they were drawn several times.
pub fn to_origins(fit: &mut Fit, origins: &[usize], rows: &Rows) {
    let whitening = fit.model.whitening();
    let far =
        |row: &[f64], c: usize| ((row[c] - whitening.mean()[c]) / whitening.deviations()[c]).abs();
    // A drawn value is not to blame: of those that are there, the one farthest out.
    let blamed = |cell: &OutlierCell| {
        let (at, row) = (origins[cell.row], rows.row(origins[cell.row]));
        let there = (0..row.len()).filter(|&c| !row[c].is_nan());
        let farthest = || there.max_by(|&a, &b| far(&row, a).total_cmp(&far(&row, b)));
        let is_there = !row[cell.column].is_nan();
        let column = if is_there { cell.column } else { farthest().unwrap_or(cell.column) };
        OutlierCell { row: at, column, value: row[column] }
    };
    fit.left_out.iter_mut().for_each(|i| *i = origins[*i]);
    fit.left_out.dedup();
    for notice in &mut fit.notices {
        if let Notice::Outliers { rows: count, of, named } = notice {
            (*count, *of) = (fit.left_out.len(), rows.len());
            named.iter_mut().for_each(|cell| *cell = blamed(cell));
            named.dedup_by_key(|cell| cell.row);
        }
    }
}

/// What rows are worth that are drawn several times, and weights with which each distinct one counts once:
/// draws of one row count as that row.
pub fn worth_of_drawn(
    rows: &Rows,
    origins: &[usize],
    settings: &Settings,
) -> Result<(Effective, Option<Vec<f64>>)> {
    let firsts: Vec<usize> =
        (0..rows.len()).filter(|&i| i == 0 || origins[i] != origins[i - 1]).collect();
    let mut totals = vec![0.0; firsts.len()];
    let mut number = vec![0; rows.len()];
    for i in 0..rows.len() {
        number[i] = firsts.partition_point(|&first| first <= i) - 1;
        totals[number[i]] += rows.weight(i);
    }
    let picked = Chosen::of(rows, &firsts);
    let mut first = picked.view(rows.columns())?.weighted(&totals)?;
    let (values, _) = rows.pick(&firsts);
    if rows.blocks() == Some(origins) {
        first = view(&values, rows.columns(), Some(&totals))?; // rows without blocks of their own
    }
    let repeats = (!settings.counts).then(|| Repeats::of(&first));
    let effective = Effective::of(&first, repeats.as_ref(), settings.ordered)?;
    let share = |i: usize| rows.weight(i) / totals[number[i]];
    let once = repeats.and_then(|repeats| repeats.once());
    let once = once.map(|once| (0..rows.len()).map(|i| once[number[i]] * share(i)).collect());
    Ok((effective, once))
}
