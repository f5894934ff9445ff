//! Groups as interfaces show them: columns by name, the same words and numbers everywhere.

use super::{Agreement, Clause, Difference, Group, Groups};
use crate::error::{counted, thousands};
use serde::Serialize;

/// What interfaces say where all rows are one group.
pub const NO_GROUPS: &str = "No groups: no direction of the training rows shows a valley that is deeper \
                             than rows with one mode would give.";

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

impl Told {
    /// "CW +1.20 (0.900 to 1.50)".
    pub fn words(&self) -> String {
        let [difference, low, high] = self.numbers();
        format!("{} {difference} ({low} to {high})", self.column)
    }

    /// The difference with its sign, and the two ends of its interval, in three digits.
    pub fn numbers(&self) -> [String; 3] {
        let [low, high] = self.interval.map(short);
        let sign = if self.difference > 0.0 { "+" } else { "" };
        [format!("{sign}{}", short(self.difference)), low, high]
    }
}

impl Agreement {
    /// "matches `sp` 100 % (50 % with one group; adjusted Rand index 1.00)".
    pub fn words(&self, column: &str) -> String {
        let Agreement { matches, chance, adjusted_rand } = self;
        // No −0.00.
        let adjusted_rand = (100.0 * adjusted_rand).round() / 100.0 + 0.0;
        format!(
            "matches `{column}` {:.0} % ({:.0} % with one group; adjusted Rand index {adjusted_rand:.2})",
            100.0 * matches,
            100.0 * chance
        )
    }
}

impl Groups {
    /// How many rows have each label.
    pub fn sizes(&self, labels: &[usize]) -> Vec<usize> {
        let mut sizes = vec![0; self.count()];
        labels.iter().for_each(|label| sizes[*label] += 1);
        sizes
    }

    /// That small groups were merged into others, where some were.
    pub fn merged_words(&self) -> Option<String> {
        let merged = self.merged();
        (merged > 0).then(|| {
            format!(
                "{} had fewer than 5 rows or 1 % of the rows and {} merged into others",
                counted(merged, "group"),
                if merged == 1 { "was" } else { "were" },
            )
        })
    }

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

/// Three digits.
fn short(x: f64) -> String {
    if x == 0.0 || !x.is_finite() {
        return x.to_string();
    }
    let digits = x.abs().log10().floor();
    if !(-4.0..6.0).contains(&digits) {
        return format!("{x:.2e}");
    }
    thousands(&format!("{x:.*}", (2.0 - digits).max(0.0) as usize), 5)
}
