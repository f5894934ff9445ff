//! The training rows in an order of their own, equal rows merged, and cut into folds.

use crate::error::{Error, Result};
use crate::random::{self, Use};
use crate::rows::{Rows, view};
use rand::seq::SliceRandom;

/// Tables of at most this many rows are sorted, so that the order of rows does not matter.
const SORTED: usize = 10_000;
/// Weights from here on do not count rows.
const MANY: f64 = 1e9;

/// Rows to learn from.
pub(super) struct Table {
    values: Vec<f64>,
    columns: usize,
    /// How often each row counts: positive.
    pub weights: Vec<f64>,
    /// Which of these rows each row of the given table is; `None` where its weight is 0, or it has no value.
    pub place: Vec<Option<usize>>,
    /// The number of each row's block, where there are blocks.
    blocks: Option<Vec<usize>>,
}

impl Table {
    pub fn of(rows: &Rows) -> Result<Self> {
        rows.check_present()?;
        let known = |i: usize| rows.row(i).iter().any(|x| !x.is_nan());
        let counts = |i: &usize| rows.weight(*i) > 0.0 && known(*i);
        let mut order: Vec<usize> = (0..rows.len()).filter(counts).collect();
        if order.len() < 2 {
            return Err(Error::TooFewRows { rows: order.len(), needed: 2 });
        }
        let merged = order.len() <= SORTED && rows.blocks().is_none();
        if merged {
            order.sort_unstable_by(|&a, &b| {
                let (x, y) = (rows.row(a), rows.row(b));
                let mut cells = x.iter().zip(&*y).map(|(x, y)| x.total_cmp(y));
                let weights = || rows.weight(a).total_cmp(&rows.weight(b));
                cells.find(|o| o.is_ne()).unwrap_or_else(weights)
            });
        }
        let mut table = Table {
            values: Vec::with_capacity(order.len() * rows.columns()),
            columns: rows.columns(),
            weights: Vec::with_capacity(order.len()),
            place: vec![None; rows.len()],
            blocks: rows.blocks().map(|blocks| order.iter().map(|&i| blocks[i]).collect()),
        };
        let mut last: Option<usize> = None;
        for i in order {
            match table.weights.last_mut() {
                Some(weight) if merged && last.is_some_and(|l| rows.row(l) == rows.row(i)) => {
                    *weight += rows.weight(i);
                }
                _ => {
                    table.values.extend_from_slice(&rows.row(i));
                    table.weights.push(rows.weight(i));
                    last = Some(i);
                }
            }
            table.place[i] = Some(table.weights.len() - 1);
        }
        Ok(table)
    }

    pub fn rows(&self) -> Result<Rows<'_>> {
        view(&self.values, self.columns, None)
    }

    pub fn len(&self) -> usize {
        self.weights.len()
    }

    /// How many rows the weights stand for, where they are whole numbers; otherwise the number of rows.
    pub fn count(&self) -> usize {
        if self.repeated() { self.weights.iter().sum::<f64>() as usize } else { self.len() }
    }

    /// Whether weights count copies of rows, which are as likely as others to be in any fold: new rows may be copies, too.
    fn repeated(&self) -> bool {
        self.blocks.is_none() && self.weights.iter().all(|w| w.fract() == 0.0 && *w < MANY)
    }

    /// Folds of the rows, no more than there are rows: which rows are in each, in rising order, and how often. Rows of one
    /// block are in one fold.
    pub fn folds(&self, count: usize, seed: u64) -> Vec<Vec<(usize, f64)>> {
        let repeated = self.repeated();
        let units = match &self.blocks {
            Some(blocks) => blocks.iter().max().map_or(0, |last| last + 1),
            None => self.len(),
        };
        // Every fold has as many copies of a row, but for those left over.
        let over = |i: usize| if repeated { (self.weights[i] % count as f64) as usize } else { 1 };
        let copies: usize = if repeated { (0..units).map(over).sum() } else { units };
        let mut fold: Vec<usize> = (0..copies).map(|i| i % count).collect();
        fold.shuffle(&mut random::stream(seed, Use::Holdout, 1));
        let mut folds = vec![Vec::new(); count];
        let mut next = fold.iter();
        for (i, &weight) in self.weights.iter().enumerate() {
            if !repeated {
                let unit = self.blocks.as_ref().map_or(i, |blocks| blocks[i]);
                folds[fold[unit]].push((i, weight));
                continue;
            }
            let of_each = (weight / count as f64).floor();
            let mut of_fold = vec![of_each; count];
            next.by_ref().take(over(i)).for_each(|&k| of_fold[k] += 1.0);
            for (fold, copies) in folds.iter_mut().zip(of_fold) {
                if copies > 0.0 {
                    fold.push((i, copies));
                }
            }
        }
        folds.retain(|fold| !fold.is_empty());
        folds
    }
}
