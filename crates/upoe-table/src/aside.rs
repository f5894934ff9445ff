//! Columns that are no measurements: numbers of rows, dates, flags, categories. A fit leaves them
//! aside, unless they are asked for.

use std::fmt;

use crate::notice::TableNotice;
use crate::table::Table;

/// Fewer rows do not tell what a column of numbers is.
pub(crate) const FEWEST: usize = 20;

/// What a column of numbers is, if it is no measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Aside {
    /// It numbers the rows: evenly, by whole numbers one after the other in any order, from the start
    /// again in each part of the table, or by different whole numbers under a name such as `id`.
    Identifier,
    /// It has two values.
    Flag,
    /// It has dates, as 20240131.
    Date,
}

impl fmt::Display for Aside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Aside::Identifier => "numbers the rows",
            Aside::Flag => "has only two values, like a flag,",
            Aside::Date => "holds dates",
        })
    }
}

impl Table {
    /// Leaves aside the columns that are no measurements, unless nothing else is there.
    pub(crate) fn leave_aside(&mut self) {
        let columns = self.names.len();
        let cells = |k: usize| self.data.iter().skip(k).step_by(columns).copied();
        let named = |k: usize| is_called_number(&self.names[k]) && is_distinct(cells(k));
        let what = |k| aside(|| cells(k)).or_else(|| named(k).then_some(Aside::Identifier));
        let found: Vec<Option<Aside>> = (0..columns).map(what).collect();
        if self.rows < FEWEST || found.iter().all(Option::is_some) {
            return;
        }
        for (name, aside) in self.names.iter().zip(&found) {
            if let Some(what) = *aside {
                self.notices.push(TableNotice::LeftAside { column: name.clone(), what });
            }
        }
        let mut column = 0;
        self.data.retain(|_| {
            column = (column + 1) % columns;
            found[(column + columns - 1) % columns].is_none()
        });
        let mut found = found.iter();
        self.names.retain(|_| found.next().is_some_and(Option::is_none));
    }
}

/// What a column is, if it is no measurement; missing cells say nothing.
fn aside<I: Iterator<Item = f64> + Clone>(cells: impl Fn() -> I) -> Option<Aside> {
    let known = || cells().filter(|cell| !cell.is_nan());
    let first = known().next()?;
    if is_even(known()) || is_numbering(known()) || starts_again(known()) {
        return Some(Aside::Identifier);
    }
    if known().all(is_calendar_day) {
        return Some(Aside::Date);
    }
    let second = known().find(|cell| *cell != first)?;
    known().all(|cell| cell == first || cell == second).then_some(Aside::Flag)
}

/// Whether a column is called a number of something: `id`, `PatientID`, `Visit No`.
fn is_called_number(name: &str) -> bool {
    const WORDS: [&str; 8] = ["id", "no", "nr", "number", "key", "index", "idx", "uid"];
    let last = name.split(|c: char| !c.is_alphanumeric()).rfind(|word| !word.is_empty());
    let Some(last) = last else { return false };
    let in_capitals = last.strip_suffix("ID").or(last.strip_suffix("Id"));
    WORDS.iter().any(|word| last.eq_ignore_ascii_case(word))
        || in_capitals.is_some_and(|before| before.ends_with(|c: char| c.is_lowercase()))
}

/// Whether all numbers are whole and no two of them the same.
fn is_distinct(numbers: impl Iterator<Item = f64>) -> bool {
    let mut seen = std::collections::HashSet::new();
    let mut known = numbers.filter(|x| !x.is_nan());
    known.all(|x| x.fract() == 0.0 && seen.insert(x.to_bits()))
}

/// Whether every number follows the one before it by the same step.
fn is_even(mut numbers: impl Iterator<Item = f64>) -> bool {
    let (Some(first), Some(second)) = (numbers.next(), numbers.next()) else { return false };
    let (step, mut last) = (second - first, second);
    step != 0.0
        && numbers.all(|number| {
            let even = (number - last - step).abs() <= 1e-9 * (number.abs() + step.abs());
            last = number;
            even
        })
}

/// Whether these are whole numbers one after the other, in any order.
fn is_numbering(numbers: impl Iterator<Item = f64> + Clone) -> bool {
    let ends = (f64::INFINITY, f64::NEG_INFINITY);
    let (least, most) = numbers.clone().fold(ends, |(a, b), x| (x.min(a), x.max(b)));
    let count = numbers.clone().count();
    if most - least != count as f64 - 1.0 || least.fract() != 0.0 {
        return false;
    }
    let mut seen = vec![false; count];
    numbers.into_iter().all(|x| {
        let place = (x - least) as usize;
        x.fract() == 0.0 && !std::mem::replace(&mut seen[place], true)
    })
}

/// Whether each number is one more than the one before it, or the first number again after others.
fn starts_again(mut numbers: impl Iterator<Item = f64>) -> bool {
    let Some(first) = numbers.next() else { return false };
    let (mut last, mut most) = (first, first);
    let counts = numbers.all(|number| {
        let follows = number == last + 1.0 || (number == first && last != first);
        last = number;
        most = most.max(number);
        follows
    });
    // Of two values it is a flag.
    counts && first.fract() == 0.0 && most >= first + 2.0
}

/// Whether a number is a day, written as 20240131.
fn is_calendar_day(number: f64) -> bool {
    let (month, day) = ((number / 100.0).trunc() % 100.0, number % 100.0);
    number.fract() == 0.0
        && (19_000_101.0..21_000_000.0).contains(&number)
        && (1.0..=12.0).contains(&month)
        && (1.0..=31.0).contains(&day)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(cells: &[f64]) -> Option<Aside> {
        aside(|| cells.iter().copied())
    }

    #[test]
    fn numbers_that_are_no_measurements_are_known() {
        let shuffled: Vec<f64> = (0..30).map(|i| f64::from(17 * i % 30 + 1000)).collect();
        assert_eq!(of(&shuffled), Some(Aside::Identifier));
        let times: Vec<f64> = (0..30).map(|i| 0.1 * f64::from(i)).collect();
        assert_eq!(of(&times), Some(Aside::Identifier));
        let within_parts: Vec<f64> = (0..30).map(|i| f64::from(i % 12 + 1)).collect();
        assert_eq!(of(&within_parts), Some(Aside::Identifier));
        let flags: Vec<f64> = (0..30).map(|i| f64::from(i * i % 3)).collect();
        assert_eq!(of(&flags), Some(Aside::Flag));
        assert_eq!(of(&[20240131.0, 20231224.0, 20231224.0, 19991231.0]), Some(Aside::Date));
    }

    #[test]
    fn a_name_tells_numbers_of_rows_from_measurements() {
        for name in ["id", "Patient ID", "patient_id", "PatientID", "Row number", "uid"] {
            assert!(is_called_number(name) || name == "{name}");
        }
        for name in ["humid", "FL", "ID of sensor, in mV", "", "GRID", "piano"] {
            assert!(!is_called_number(name), "{name}");
        }
        assert!(is_distinct([7.0, 900.0, f64::NAN, -3.0].into_iter()));
        assert!(!is_distinct([7.0, 7.0].into_iter()) && !is_distinct([0.5].into_iter()));
    }

    #[test]
    fn measurements_stay() {
        let twice: Vec<f64> = (0..30).map(|i| f64::from(i / 2 * 7 % 15)).collect();
        assert_eq!(of(&twice), None, "a number comes twice");
        assert_eq!(of(&[1.0, 2.0, 4.0, 3.0, 7.0]), None);
        assert_eq!(of(&[1.0, 2.0, 3.0, 1.0, 3.0, 4.0]), None, "a number is left out");
        let since = [0.0, 0.0, 1.0, 2.0, 0.0, 0.0, 1.0, 0.0, 1.0, 2.0, 3.0];
        assert_eq!(of(&since), None, "days since an event that comes on successive days");
        assert_eq!(of(&[5.0; 30]), None, "constant");
        assert_eq!(of(&[0.5, 0.5, 1.5, 2.5]), None);
        assert_eq!(of(&[20241331.0, 20240101.0, 20240102.0]), None, "there is no month 13");
        assert_eq!(of(&[f64::NAN; 5]), None);
    }
}
