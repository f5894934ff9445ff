//! Finding a column by what a user calls it: a name, a position, a range.

use std::ops::RangeInclusive;
use std::path::Path;

use crate::error::{Error, Result, WantedColumn};

pub(crate) fn single(index: usize) -> RangeInclusive<usize> {
    index..=index
}

/// The columns of a range such as `x1-x20` or `3-7`, unless a column has that very name.
pub(crate) fn range(names: &[String], text: &str) -> Option<RangeInclusive<usize>> {
    if names.iter().any(|name| name == text) {
        return None;
    }
    let place = |end: &str| place(names, end.trim());
    let ends = text
        .match_indices('-')
        .filter_map(|(at, _)| Some((place(&text[..at])?, place(&text[at + 1..])?)));
    ends.map(|(first, last)| first..=last).find(|range| !range.is_empty())
}

/// The index of a column given by its name or its position from 1.
fn place(names: &[String], column: &str) -> Option<usize> {
    let position = || column.parse::<usize>().ok().filter(|p| (1..=names.len()).contains(p));
    names.iter().position(|name| name == column).or_else(|| position().map(|p| p - 1))
}

pub(crate) fn find(file: &Path, names: &[String], named: bool, column: &str) -> Result<usize> {
    place(names, column).ok_or_else(|| Error::UnknownColumn {
        file: file.to_owned(),
        column: wanted(column, names),
        columns: names.to_vec(),
        named,
    })
}

/// A name that is not there, with the most similar one that is.
pub(crate) fn wanted(name: &str, names: &[String]) -> WantedColumn {
    const LONGEST: usize = 64; // longer names are not compared: the distance is quadratic
    let short = |text: &str| text.len() <= LONGEST;
    let wanted: Vec<char> = name.to_lowercase().chars().collect();
    let nearest = names
        .iter()
        .filter(|other| short(name) && short(other))
        .map(|other| (distance(&wanted, &other.to_lowercase().chars().collect::<Vec<_>>()), other))
        .min_by_key(|(distance, _)| *distance)
        .filter(|(distance, _)| *distance <= (wanted.len() / 3).max(1) && *distance < wanted.len())
        .map(|(_, other)| other.clone());
    WantedColumn { name: name.to_owned(), nearest }
}

/// Levenshtein distance.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_similar_gives_no_suggestion() {
        assert_eq!(wanted("q", &["x".into(), "y".into()]).nearest, None);
        assert_eq!(wanted("FLL", &["RW".into(), "fl".into()]).nearest, Some("fl".into()));
    }
}
