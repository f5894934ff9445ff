//! What a column of text holds: dates, names, categories, numbers with a unit.

use std::collections::HashSet;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::aside::FEWEST;

/// Cells of text that are looked at.
const LOOKED_AT: usize = 10_000;
/// More different texts are not called categories.
const CATEGORIES: usize = 50;

/// What a column of text is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum TextKind {
    /// Any text.
    #[default]
    Text,
    /// Dates or times.
    Dates,
    /// A different text in every row.
    Identifiers,
    /// Few different texts, this many.
    Categories(usize),
    /// Numbers with the same sign or unit in every row: `€1,200.50`, `12.5 %`.
    WithUnit,
}

impl fmt::Display for TextKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TextKind::Text => f.write_str("is text"),
            TextKind::Dates => f.write_str("holds dates or times"),
            TextKind::Identifiers => f.write_str("has a different text in every row"),
            TextKind::WithUnit => {
                f.write_str("has numbers with a sign, unit or thousands separator")
            }
            TextKind::Categories(1) => f.write_str("has the same text in every row"),
            TextKind::Categories(count) => write!(f, "has {count} categories"),
        }
    }
}

/// The text of a column, as far as it was looked at.
#[derive(Debug, Default, Clone)]
pub(crate) struct TextScan {
    cells: usize,
    different: HashSet<u64>,
    /// What stands around the number in the first cell, where it is one.
    around: Option<(String, String)>,
    /// Cells in which the same stands around a number.
    with_unit: usize,
}

impl TextScan {
    pub fn add(&mut self, text: &str) {
        if self.cells < LOOKED_AT {
            let mut hasher = DefaultHasher::new();
            text.hash(&mut hasher);
            self.different.insert(hasher.finish());
            let around = around_number(text);
            if self.cells == 0 {
                self.around = around.clone();
            }
            self.with_unit += usize::from(around.is_some() && around == self.around);
            self.cells += 1;
        }
    }

    pub fn kind(&self, example: &str) -> TextKind {
        let count = self.different.len();
        match () {
            () if is_date(example) => TextKind::Dates,
            () if self.with_unit == self.cells => TextKind::WithUnit,
            () if count == self.cells && count >= FEWEST => TextKind::Identifiers,
            () if count <= CATEGORIES && self.cells >= 2 * count => TextKind::Categories(count),
            () => TextKind::Text,
        }
    }
}

/// What stands before and after a number: a sign of currency, a unit. A number has thousands separators
/// or something around it; a plain one is no text.
fn around_number(text: &str) -> Option<(String, String)> {
    let text = text.trim();
    let digit = |c: char| c.is_ascii_digit();
    let (start, end) = (text.find(digit)?, text.rfind(digit)? + 1);
    let before = text[..start].trim_matches(|c: char| c.is_whitespace() || "-+.(".contains(c));
    let after = text[end..].trim_matches(|c: char| c.is_whitespace() || ".)".contains(c));
    let number = &text[start..end];
    let is_number = number.chars().all(|c| digit(c) || ",.'\u{2019}\u{a0}\u{202f} ".contains(c));
    let currency = |s: &str| {
        s.is_empty()
            || s.chars().all(|c| "$€£¥₹".contains(c))
            || s.len() == 3 && s.bytes().all(|b| b.is_ascii_uppercase())
    };
    let unit =
        after.chars().count() <= 6 && !after.contains(|c: char| digit(c) || "-:".contains(c));
    (is_number && currency(before) && unit).then(|| (before.to_owned(), after.to_owned()))
}

/// Whether text is a date with the name of its month: 31 Jan 2024, January 31, 2024, 31-Jan-24.
fn names_month(text: &str) -> bool {
    const MONTHS: [&str; 12] =
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    let words: Vec<&str> =
        text.split([' ', ',', '-', '.', '/']).filter(|w| !w.is_empty()).take(4).collect();
    let month = |w: &str| {
        let start = w.get(..3).map(str::to_ascii_lowercase).unwrap_or_default();
        w.chars().all(char::is_alphabetic) && MONTHS.contains(&start.as_str())
    };
    let number = |w: &str| matches!(w.len(), 1 | 2 | 4) && w.bytes().all(|b| b.is_ascii_digit());
    matches!(words[..], [a, b, c, ..] if number(c) && (month(a) && number(b) || number(a) && month(b)))
}

/// Whether text looks like a date (2024-01-31, 31.1.2024, 1/31/24) or a time (12:30).
fn is_date(text: &str) -> bool {
    let text = text.trim();
    let first = text.split(['T', ' ']).next().unwrap_or_default();
    let numbers = |separator: char| -> Vec<usize> {
        let parts = first.split(separator);
        parts.map(|p| if p.bytes().all(|b| b.is_ascii_digit()) { p.len() } else { 0 }).collect()
    };
    let date = ['-', '/', '.'].into_iter().any(|separator| {
        matches!(numbers(separator)[..], [4, 1..=2, 1..=2] | [1..=2, 1..=2, 2 | 4])
    });
    date || names_month(text) || matches!(numbers(':')[..], [1..=2, 2] | [1..=2, 2, 2])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_times_are_known_by_their_form() {
        for text in [
            "2024-01-31",
            "2024-01-31T12:00:00Z",
            "31.1.2024",
            "1/31/24 9:00",
            "12:30",
            "Aug 16 2023",
            "3 March 2024",
        ] {
            assert!(is_date(text), "{text}");
        }
        for text in
            ["", "a-b-c", "1.2.3.4", "10:1", "2024", "v1.2.3", "1-2", "may 3", "Mark 3 2024x"]
        {
            assert!(!is_date(text), "{text}");
        }
    }

    #[test]
    fn numbers_with_units_are_known() {
        for text in
            ["€1,234.50", "12.5 %", "-3 kg", "USD 5", "1 234,5 €", "1,000", "($5.00)", "20 °C"]
        {
            assert!(around_number(text).is_some(), "{text}");
        }
        for text in ["P-1000", "a", "", "A 12", "10-20", "12:30", "1.2.3 and more words"] {
            assert!(around_number(text).is_none(), "{text}");
        }
    }
}
