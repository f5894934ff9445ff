//! Some of a table's rows.

use crate::error::Result;
use crate::rows::{Rows, view};
use std::collections::{HashMap, HashSet};

/// Copies of some rows.
pub struct Chosen {
    values: Vec<f64>,
    weights: Option<Vec<f64>>,
    blocks: Option<Vec<usize>>,
}

impl Chosen {
    pub fn of(rows: &Rows, chosen: &[usize]) -> Self {
        let (values, weights) = rows.pick(chosen);
        // Numbered anew, because there may be fewer of them.
        let mut known = HashMap::new();
        let mut number = |block: usize| {
            let next = known.len();
            *known.entry(block).or_insert(next)
        };
        let blocks = rows.blocks().map(|all| chosen.iter().map(|&i| number(all[i])).collect());
        Chosen { values, weights, blocks }
    }

    pub fn view(&self, columns: usize) -> Result<Rows<'_>> {
        let rows = view(&self.values, columns, self.weights.as_deref())?;
        self.blocks.as_ref().map_or(Ok(rows), |blocks| rows.in_blocks(blocks))
    }
}

/// All rows but those left out.
pub fn others(rows: usize, left_out: &[usize]) -> Vec<usize> {
    let left_out: HashSet<usize> = left_out.iter().copied().collect();
    (0..rows).filter(|i| !left_out.contains(i)).collect()
}

/// The rows that equal one of some rows of another table.
pub fn equal_to(rows: &Rows, chosen: &[usize], of: &Rows) -> Vec<usize> {
    if chosen.is_empty() {
        return Vec::new();
    }
    let bits = |row: &[f64]| row.iter().map(|x| (x + 0.0).to_bits()).collect::<Vec<u64>>();
    let known: HashSet<Vec<u64>> = chosen.iter().map(|&i| bits(&of.row(i))).collect();
    let equal = |i: &usize| rows.weight(*i) > 0.0 && known.contains(&bits(&rows.row(*i)));
    (0..rows.len()).filter(equal).collect()
}
