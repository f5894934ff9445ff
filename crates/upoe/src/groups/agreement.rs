//! How well groups agree with labels that are known otherwise.

use serde::Serialize;
use std::collections::{HashMap, HashSet};

/// Agreement of groups with the levels of a column.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Agreement {
    /// The share of rows that have the most frequent level of their group.
    pub matches: f64,
    /// The same if all rows were one group.
    pub chance: f64,
    /// The adjusted Rand index: 1 for the same groups, about 0 for unrelated ones.
    pub adjusted_rand: f64,
}

impl Agreement {
    /// Of the groups of rows with their levels; `None` where most rows have a level of their own, such as an identifier.
    pub fn of_labels<L: std::hash::Hash + Eq>(groups: &[usize], levels: &[L]) -> Option<Self> {
        let different = levels.iter().collect::<HashSet<_>>().len();
        (2 * different <= levels.len()).then(|| Self::of(groups, levels))
    }

    /// Of the groups of rows with their levels.
    pub fn of<L: std::hash::Hash + Eq>(groups: &[usize], levels: &[L]) -> Self {
        let mut known = HashMap::new();
        let codes: Vec<usize> = levels
            .iter()
            .map(|level| {
                let next = known.len();
                *known.entry(level).or_insert(next)
            })
            .collect();
        let table = counts(groups, &codes);
        let rows = groups.len().max(1) as f64;
        let matches: f64 = table.iter().map(|row| row.iter().copied().fold(0.0, f64::max)).sum();
        let level = |j: usize| table.iter().map(|row| row[j]).sum::<f64>();
        let chance = (0..known.len()).map(level).fold(0.0, f64::max);
        Agreement {
            matches: matches / rows,
            chance: chance / rows,
            adjusted_rand: adjusted_rand(groups, &codes),
        }
    }
}

fn counts(a: &[usize], b: &[usize]) -> Vec<Vec<f64>> {
    let size = |x: &[usize]| x.iter().max().map_or(0, |l| l + 1);
    let mut table = vec![vec![0.0; size(b)]; size(a)];
    a.iter().zip(b).for_each(|(a, b)| table[*a][*b] += 1.0);
    table
}

/// The adjusted Rand index of two groupings: pairs of rows that both put together or apart, less
/// what chance gives, over what it could be at most.
pub fn adjusted_rand(a: &[usize], b: &[usize]) -> f64 {
    let table = counts(a, b);
    let pairs = |n: f64| 0.5 * n * (n - 1.0);
    let both: f64 = table.iter().flatten().map(|n| pairs(*n)).sum();
    let first: f64 = table.iter().map(|row| pairs(row.iter().sum())).sum();
    let columns = table.first().map_or(0, Vec::len);
    let second: f64 = (0..columns).map(|j| pairs(table.iter().map(|row| row[j]).sum())).sum();
    let all = pairs(a.len() as f64);
    let expected = if all > 0.0 { first * second / all } else { 0.0 };
    let most = 0.5 * (first + second);
    if most == expected { 1.0 } else { (both - expected) / (most - expected) }
}

#[cfg(test)]
mod tests {
    use super::Agreement;

    #[test]
    fn identifiers_agree_with_nothing() {
        let groups = [0, 0, 0, 1, 1, 1];
        assert!(Agreement::of_labels(&groups, &["a", "b", "c", "d", "e", "f"]).is_none());
        assert!(Agreement::of_labels(&groups, &["a", "a", "b", "c", "d", "d"]).is_none());
        let agreement = Agreement::of_labels(&groups, &["a", "a", "a", "b", "b", "b"]);
        assert_eq!(agreement.map(|a| (a.matches, a.adjusted_rand)), Some((1.0, 1.0)));
    }
}
