//! The training rows in an order of their own, equal rows merged, and cut into folds.

use crate::error::{Error, Result};
use crate::random::{self, Use};
use crate::rows::{Rows, view};
use rand::seq::SliceRandom;

/// Tables of at most this many rows are sorted, so that the order of rows does not matter and equal
/// rows are in the same fold.
const SORTED: usize = 10_000;

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

    /// The fold of each row. Rows of one block are in one fold.
    pub fn folds(&self, count: usize, seed: u64) -> Vec<usize> {
        let units = match &self.blocks {
            Some(blocks) => blocks.iter().max().map_or(0, |last| last + 1),
            None => self.len(),
        };
        let mut fold: Vec<usize> = (0..units).map(|i| i % count).collect();
        fold.shuffle(&mut random::stream(seed, Use::Holdout, 1));
        match &self.blocks {
            Some(blocks) => blocks.iter().map(|block| fold[*block]).collect(),
            None => fold,
        }
    }
}
