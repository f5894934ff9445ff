//! What is special about a group: columns, differences with intervals, a name.

use super::sphered::scatter;
use crate::expert::normal;
use serde::{Deserialize, Serialize};

/// All intervals of all groups hold together with this chance.
const LEVEL: f64 = 0.95;
/// A column is named with another one where that makes the difference this much clearer.
const CLEARER: f64 = 1.25;
/// Columns move together where their correlation within groups is larger.
const TOGETHER: f64 = 0.5;
/// With more columns only single ones are looked at.
const PAIRS: usize = 100;
/// A name has at most this many clauses.
const CLAUSES: usize = 3;

/// A group of rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Group {
    /// The weight of its training rows; how many there are, where rows have no weights.
    pub size: f64,
    /// Its share of the training rows.
    pub share: f64,
    /// What can name it, the clearest first.
    pub clauses: Vec<Clause>,
    /// The columns in which its mean differs from that of the other rows, the clearest first.
    pub profile: Vec<Difference>,
}

/// One part of a group's name: "CW high for its FL".
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Clause {
    /// The difference.
    pub difference: Difference,
    /// The column that it is given, where there is one.
    pub given: Option<usize>,
}

/// How far the mean of a group lies from that of the other rows, in the column's own units.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Difference {
    /// The column, from 0.
    pub column: usize,
    /// The mean of the group.
    pub mean: f64,
    /// That less the mean of the other rows; for a column given another, what the other one does
    /// not explain.
    pub difference: f64,
    /// Lower end of its interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Clause {
    /// What it says, whichever column it begins with: "a low for its b" is "b high for its a".
    fn meaning(&self) -> (usize, Option<usize>, bool) {
        let (column, high) = (self.difference.column, self.difference.difference > 0.0);
        match self.given {
            Some(given) if given < column => (given, Some(column), !high),
            given => (column, given, high),
        }
    }

    fn text(&self, columns: &[String]) -> String {
        let column =
            |c: usize| columns.get(c).cloned().unwrap_or_else(|| format!("column {}", c + 1));
        let side = if self.difference.difference > 0.0 { "high" } else { "low" };
        match self.given {
            Some(given) => {
                format!("{} {side} for its {}", column(self.difference.column), column(given))
            }
            None => format!("{} {side}", column(self.difference.column)),
        }
    }
}

/// Names that say different things: as many clauses as are needed, then numbers.
pub fn names(groups: &[Group], columns: &[String]) -> Vec<String> {
    if groups.len() == 1 {
        return vec!["all rows".into()];
    }
    let with = |group: &Group, clauses: usize| -> String {
        let texts: Vec<String> =
            group.clauses.iter().take(clauses).map(|c| c.text(columns)).collect();
        if texts.is_empty() { "no column differs".into() } else { texts.join(", ") }
    };
    let mut used = vec![1; groups.len()];
    for clauses in 2..=CLAUSES {
        let meaning = |k: usize| -> Vec<_> {
            groups[k].clauses.iter().take(used[k]).map(Clause::meaning).collect()
        };
        let all: Vec<_> = (0..groups.len()).map(meaning).collect();
        for k in 0..groups.len() {
            if all.iter().filter(|other| **other == all[k]).count() > 1 {
                used[k] = clauses;
            }
        }
    }
    let mut names: Vec<String> = groups.iter().zip(&used).map(|(g, n)| with(g, *n)).collect();
    for k in 0..names.len() {
        let same = names[..k].iter().filter(|n| **n == names[k]).count();
        if same > 0 {
            names[k] = format!("{} ({})", names[k], same + 1);
        }
    }
    names
}

/// The profiles of groups of rows; `size` has the weight of each.
pub fn profiles(values: &[f64], columns: usize, labels: &[usize], size: &[f64]) -> Vec<Group> {
    let (count, total) = (size.len(), size.iter().sum::<f64>());
    let means = super::partition::means(values, columns, labels, count);
    let within = scatter(values, columns, &vec![1.0; labels.len()], |i| &means[labels[i]]);
    let n = labels.len() as f64;
    let variance = |a: usize, b: usize| within[a * columns + b] / n;
    let tests = (count * columns) as f64;
    let quantile = normal::quantile(1.0 - 0.5 * (1.0 - LEVEL) / tests);
    let group = |k: usize| -> Group {
        let rows = labels.iter().filter(|l| **l == k).count() as f64;
        let others = n - rows;
        let share = size[k] / total;
        if count == 1 || rows < 2.0 || others < 2.0 {
            return Group { size: size[k], share, clauses: vec![], profile: vec![] };
        }
        // Mean, and sum of squares about it, of the group and of the other rows.
        let part = |inside: bool, c: usize| -> (f64, f64) {
            let cells = || {
                let rows = values.iter().skip(c).step_by(columns).zip(labels);
                rows.filter(move |(_, l)| (**l == k) == inside).map(|(x, _)| *x)
            };
            let count = if inside { rows } else { others };
            let mean = cells().sum::<f64>() / count;
            (mean, cells().map(|x| (x - mean) * (x - mean)).sum::<f64>())
        };
        let parts: Vec<[(f64, f64); 2]> =
            (0..columns).map(|c| [part(true, c), part(false, c)]).collect();
        let gap = |c: usize| parts[c][0].0 - parts[c][1].0;
        let about = |c: usize, difference: f64, error: f64| Difference {
            column: c,
            mean: parts[c][0].0,
            difference,
            low: difference - quantile * error,
            high: difference + quantile * error,
        };
        let single = |c: usize| {
            let [(_, own), (_, rest)] = parts[c];
            let error = (own / (rows - 1.0) / rows + rest / (others - 1.0) / others).sqrt();
            about(c, gap(c), error)
        };
        let clear = |d: &Difference| d.low > 0.0 || d.high < 0.0;
        let size_of = |c: usize, d: f64| d.abs() / variance(c, c).sqrt();
        let mut profile: Vec<Difference> = (0..columns).map(single).filter(clear).collect();
        profile.sort_by(|a, b| {
            size_of(b.column, b.difference).total_cmp(&size_of(a.column, a.difference))
        });
        let mut clauses: Vec<(f64, Clause)> = profile
            .iter()
            .map(|d| (size_of(d.column, d.difference), Clause { difference: *d, given: None }))
            .collect();
        let plain = clauses.first().map_or(0.0, |c| c.0);
        for c in 0..if columns > PAIRS { 0 } else { columns } {
            for j in (0..columns).filter(|j| *j != c && variance(*j, *j) > 0.0) {
                let slope = variance(c, j) / variance(j, j);
                let left = variance(c, c) - slope * variance(c, j);
                let alike = (slope * variance(c, j) / variance(c, c)).sqrt();
                let difference = gap(c) - slope * gap(j);
                let clearness = difference.abs() / left.sqrt();
                let error = (left * (1.0 / rows + 1.0 / others)).sqrt();
                let found = about(c, difference, error);
                if left > 1e-9 * variance(c, c)
                    && alike > TOGETHER
                    && clearness > CLEARER * plain
                    && clear(&found)
                {
                    clauses.push((clearness, Clause { difference: found, given: Some(j) }));
                }
            }
        }
        clauses.sort_by(|a, b| b.0.total_cmp(&a.0));
        // Each column names a group once.
        let mut named: Vec<usize> = Vec::new();
        clauses.retain(|(_, clause)| {
            let used = [Some(clause.difference.column), clause.given];
            let new = used.into_iter().flatten().all(|c| !named.contains(&c));
            named.extend(used.into_iter().flatten().filter(|_| new));
            new
        });
        let clauses = clauses.into_iter().take(CLAUSES).map(|c| c.1).collect();
        Group { size: size[k], share, clauses, profile }
    };
    (0..count).map(group).collect()
}

#[cfg(test)]
mod tests {
    use super::{Clause, Difference, Group, names};

    fn clause(column: usize, difference: f64, given: Option<usize>) -> Clause {
        let difference = Difference { column, mean: 0.0, difference, low: 0.0, high: 0.0 };
        Clause { difference, given }
    }

    #[test]
    fn names_say_different_things() {
        let group = |clauses| Group { size: 1.0, share: 0.5, clauses, profile: vec![] };
        // The first clauses of the first two say the same.
        let groups = [
            group(vec![clause(0, -1.0, Some(1)), clause(2, -1.0, None)]),
            group(vec![clause(1, 1.0, Some(0)), clause(2, 1.0, None)]),
            group(vec![clause(0, 1.0, Some(1))]),
        ];
        let columns = ["a", "b", "c"].map(str::to_owned);
        let expected = ["a low for its b, c low", "b high for its a, c high", "a high for its b"];
        assert_eq!(names(&groups, &columns), expected);
    }
}
