//! Groups as interfaces show them: columns by name, the same words and numbers everywhere.

use super::{Clause, Difference, Group, Groups};
use serde::Serialize;

/// A group, with its columns by name.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Described {
    /// "CW high for its FL".
    pub name: String,
    /// The weight of its training rows.
    pub training_rows: f64,
    /// Its share of the training rows.
    pub share: f64,
    /// What can name it, the clearest first.
    pub named_by: Vec<Told>,
    /// The columns in which its mean differs from that of the other rows, the clearest first.
    pub profile: Vec<Told>,
}

/// How far the mean of a group lies from that of the other rows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Told {
    /// The column.
    pub column: String,
    /// The column that it is given, where there is one.
    pub given: Option<String>,
    /// The mean of the group.
    pub mean: f64,
    /// That less the mean of the other rows.
    pub difference: f64,
    /// The interval of the difference.
    pub interval: [f64; 2],
}

impl Groups {
    /// The groups with their columns by name.
    pub fn described(&self, columns: &[String]) -> Vec<Described> {
        let name = |c: usize| columns.get(c).cloned().unwrap_or_default();
        let told = |d: &Difference, given: Option<usize>| Told {
            column: name(d.column),
            given: given.map(name),
            mean: d.mean,
            difference: d.difference,
            interval: [d.low, d.high],
        };
        let described = |(name, group): (String, &Group)| Described {
            name,
            training_rows: group.size,
            share: group.share,
            named_by: group.clauses.iter().map(|c: &Clause| told(&c.difference, c.given)).collect(),
            profile: group.profile.iter().map(|d| told(d, None)).collect(),
        };
        self.names(columns).into_iter().zip(self.groups()).map(described).collect()
    }
}
