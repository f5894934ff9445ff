//! Which rows are held out.

use std::collections::BTreeMap;

use upoe_table::Table;

use crate::failure::Failure;

/// A table whose held-out rows are taken out.
pub struct Split {
    /// What is held out, where anything is.
    pub held: Option<HeldOut>,
    /// The number of the block of each row that is left, where there are blocks.
    pub blocks: Option<Vec<usize>>,
}

/// Rows taken out of a table.
pub struct HeldOut {
    /// Row-major values.
    pub data: Vec<f64>,
    /// Their weights, where there are any.
    pub weights: Option<Vec<f64>>,
    /// The number of each row's block, where there are blocks.
    pub blocks: Option<Vec<usize>>,
}

/// Moves rows out of the table: a share of them at random, or whole groups until the share
/// is reached. Which ones depends on the seed, the number of rows and the groups alone.
pub fn split(table: &mut Table, share: Option<f64>, seed: u64) -> Result<Split, Failure> {
    let groups: Option<Vec<&str>> = table.groups.as_ref().map(|g| g.iter().collect());
    match upoe::held_out(table.rows, share, groups.as_deref(), seed) {
        Ok(out) => {
            let numbers = |marked: bool| {
                groups.as_ref().map(|groups| numbers(groups, out.iter().map(|o| *o == marked)))
            };
            let (blocks, left) = (numbers(true), numbers(false));
            let (data, weights) = take(table, &out);
            Ok(Split { held: Some(HeldOut { data, weights, blocks }), blocks: left })
        }
        Err(error) => {
            let remedy = match (&error, &table.groups) {
                (upoe::Error::OneGroup, Some(column)) => format!(
                    ": column `{}` has one value; choose another column (`--holdout-by`, `--blocks`)",
                    column.name
                ),
                _ => String::new(),
            };
            Err(Failure::Message(format!("{}: {error}{remedy}", table.source.display())))
        }
    }
}

/// What to say where whole groups are many more rows than were asked for, `all` being the
/// rows before the split.
pub fn excess(table: &Table, all: usize, share: Option<f64>) -> Option<String> {
    let column = &table.groups.as_ref()?.name;
    let (asked, held) = (share.unwrap_or(upoe::HOLDOUT_SHARE), all - table.rows);
    (held as f64 > 1.5 * asked * all as f64).then(|| {
        format!(
            "{held} of {all} rows ({:.0} %) are held out where {:.0} % would do, because the groups \
             of column `{column}` stay whole; a column with smaller groups holds out fewer",
            100.0 * held as f64 / all as f64,
            100.0 * asked
        )
    })
}

/// All of the table, with nothing held out.
pub fn whole(table: &Table) -> Split {
    let groups = table.groups.as_ref().map(|groups| groups.iter().collect::<Vec<&str>>());
    let blocks = groups.map(|groups| numbers(&groups, groups.iter().map(|_| true)));
    Split { held: None, blocks }
}

/// Numbers the groups of the rows marked.
fn numbers(groups: &[&str], marked: impl Iterator<Item = bool>) -> Vec<usize> {
    let mut known = BTreeMap::new();
    let marked = groups.iter().zip(marked).filter(|(_, marked)| *marked);
    let number = |(group, _)| {
        let next = known.len();
        *known.entry(group).or_insert(next)
    };
    marked.map(number).collect()
}

/// Takes the rows marked out of the table, in order and in place, with their weights.
fn take(table: &mut Table, out: &[bool]) -> (Vec<f64>, Option<Vec<f64>>) {
    let columns = table.names.len();
    let (mut held, mut kept) = (Vec::new(), 0);
    for (row, &out) in out.iter().enumerate() {
        let cells = row * columns..(row + 1) * columns;
        if out {
            held.extend_from_slice(&table.data[cells]);
        } else {
            table.data.copy_within(cells, kept * columns);
            kept += 1;
        }
    }
    table.data.truncate(kept * columns);
    table.rows = kept;
    let weights = table.weights.as_mut().map(|weights| {
        let marked = || weights.iter().copied().zip(out);
        let held = marked().filter(|(_, out)| **out).map(|(weight, _)| weight).collect();
        let left = marked().filter(|(_, out)| !**out).map(|(weight, _)| weight).collect();
        *weights = left;
        held
    });
    (held, weights)
}

#[cfg(test)]
mod tests {
    use super::*;
    use upoe_table::ReadOptions;

    fn table(groups: bool) -> Table {
        let mut text = String::from("x,g\n");
        (0..100).for_each(|i| text += &format!("{}.5,g{}\n", i, i % 10));
        let role = Some("g".to_owned());
        let options = ReadOptions::default().with(|o| o.groups = role.filter(|_| groups));
        Table::from_bytes("t.csv", text.into_bytes(), &options).unwrap()
    }

    #[test]
    fn a_share_of_the_rows_is_held_out_and_none_is_lost() {
        let mut left = table(false);
        let held = split(&mut left, Some(0.25), 3).ok().and_then(|s| s.held).unwrap();
        assert_eq!((held.data.len(), left.rows, left.data.len()), (25, 75, 75));
        let mut all: Vec<f64> = held.data.iter().chain(&left.data).copied().collect();
        all.sort_by(f64::total_cmp);
        assert!(all.iter().enumerate().all(|(i, &x)| x == i as f64 + 0.5));
        let other = split(&mut table(false), Some(0.25), 4).ok().and_then(|s| s.held).unwrap();
        assert_ne!(other.data, held.data);
    }

    #[test]
    fn groups_stay_whole() {
        let mut left = table(true);
        let held = split(&mut left, None, 0).ok().and_then(|s| s.held).unwrap();
        assert_eq!(held.data.len(), 20);
        let groups = |data: &[f64]| -> Vec<i64> {
            let mut g: Vec<i64> = data.iter().map(|x| (x - 0.5) as i64 % 10).collect();
            g.sort_unstable();
            g.dedup();
            g
        };
        assert_eq!((groups(&held.data).len(), groups(&left.data).len()), (2, 8));
    }

    #[test]
    fn blocks_are_numbered_on_both_sides() {
        let mut left = table(true);
        let split = split(&mut left, None, 0).ok().unwrap();
        let count = |blocks: &[usize]| blocks.iter().max().map_or(0, |most| most + 1);
        assert_eq!(count(&split.blocks.unwrap()), 8);
        assert_eq!(count(&split.held.unwrap().blocks.unwrap()), 2);
        assert_eq!(count(&whole(&table(true)).blocks.unwrap()), 10);
    }

    #[test]
    fn something_is_left_to_learn_from() {
        assert!(split(&mut table(false), Some(0.999), 0).is_err());
    }
}
