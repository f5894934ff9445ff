//! Changes in words.

use super::change::{Change, Kind, Place};
use super::{Comparison, ROWS_PER_DIMENSION};

/// The answer of a comparison in one sentence.
pub(super) fn answer(compared: &Comparison) -> String {
    let Comparison { rows_a, rows_b, dims, .. } = compared;
    match compared.p_value {
        None => {
            let a = if *rows_a > 0 { format!("A has {rows_a} rows and ") } else { String::new() };
            format!(
                "cannot tell whether anything changed: {a}B has {rows_b}; at least {ROWS_PER_DIMENSION} rows per \
                 column, {} in each table, are needed",
                ROWS_PER_DIMENSION * dims
            )
        }
        Some(p) if p <= compared.level => format!("B differs from A (p = {})", number(p)),
        Some(p) => format!(
            "no change found: B may be drawn from the distribution of A (p = {})",
            number(p)
        ),
    }
}

/// A column whose units differ.
pub(super) fn other_units(name: &str, factor: f64) -> String {
    let (factor, how) =
        if factor >= 1.0 { (factor, "as large") } else { (factor.recip(), "as small") };
    // A power of ten where it is close to one.
    let power = 10f64.powf(factor.log10().round());
    let about = if (factor / power).ln().abs() < 1.6f64.ln() { power } else { factor };
    format!("{name} seems to be in other units: its values are about {} times {how}", number(about))
}

/// A column that has one value only, and had more.
pub(super) fn constant(name: &str, value: f64) -> String {
    format!("{name} is {} in every row; it varied where the model was learned", number(value))
}

/// A number of three digits.
pub(super) fn number(x: f64) -> String {
    if x == 0.0 || !x.is_finite() {
        return format!("{x}");
    }
    let digits = (2 - x.abs().log10().floor() as i32).clamp(0, 6) as usize;
    let text = format!("{x:.digits$}");
    let text =
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    text.replace('-', "−")
}

fn percent(share: f64) -> String {
    format!("{} %", number((1000.0 * share).round() / 10.0))
}

fn count(n: f64) -> String {
    match n as usize {
        1 => "one".into(),
        2 => "two".into(),
        3 => "three".into(),
        n => n.to_string(),
    }
}

/// The sentence of a change.
pub(super) fn sentence(change: &Change) -> String {
    let Change { before, after, size, interval, .. } = change;
    let (subject, given) = subject(&change.place);
    let along = matches!(change.place, Place::Along { .. });
    let higher = if *size > 0.0 { "higher" } else { "lower" };
    let [low, high] = if *size > 0.0 { *interval } else { [-interval[1], -interval[0]] };
    let range = format!("95 % interval {} to {}", number(low), number(high));
    let from_to = format!("{} → {}", number(*before), number(*after));
    let text = match change.kind {
        Kind::Shift if along => {
            let moved = moved(&change.place, *size);
            format!(
                "rows lie {} deviations {higher} along {subject} ({moved}{range})",
                number(size.abs())
            )
        }
        Kind::Shift if !given.is_empty() => {
            format!("{subject} is {} {higher}{given} ({range})", number(size.abs()))
        }
        Kind::Shift => format!("{subject} is {} {higher} ({from_to}; {range})", number(size.abs())),
        Kind::Spread => {
            let range = format!("95 % interval {} to {}", number(interval[0]), number(interval[1]));
            match along {
                true => {
                    format!("rows vary {} times as much along {subject} ({range})", number(*size))
                }
                false => {
                    format!("{subject} varies {} times as much{given} ({range})", number(*size))
                }
            }
        }
        Kind::Skewness => {
            let side = if *size > 0.0 { "high" } else { "low" };
            let about = if along {
                format!("rows are more skewed to {side} values along {subject}")
            } else {
                format!("{subject} is more skewed to {side} values{given}")
            };
            format!("{about} (skewness {from_to})")
        }
        Kind::Tails => {
            let how = if *size > 0.0 { "heavier" } else { "lighter" };
            let about = if along {
                format!("rows have {how} tails along {subject}")
            } else {
                format!("{subject} has {how} tails{given}")
            };
            format!("{about}: {} of the rows lie outside the middle 95 % of A", percent(*after))
        }
        Kind::Groups if before > after => {
            format!(
                "the {} groups along {subject}{given} have become {}",
                count(*before),
                count(*after)
            )
        }
        Kind::Groups if *before == 1.0 => {
            format!("one group along {subject}{given} has become {}", count(*after))
        }
        Kind::Groups => {
            format!(
                "the {} groups along {subject}{given} have become {}",
                count(*before),
                count(*after)
            )
        }
        Kind::Share if matches!(change.place, Place::Group { .. }) => {
            let (a, b) = (percent(*before), percent(*after));
            format!("the group {subject} has {b} of the rows instead of {a}")
        }
        Kind::Share => {
            let (a, b) = (percent(*before), percent(*after));
            let how = if *size > 0.0 { "grown" } else { "shrunk" };
            format!("the upper group along {subject}{given} has {how}: {a} → {b} of the rows")
        }
        Kind::Correlation => {
            let how = if after.abs() > before.abs() { "more" } else { "less" };
            format!("{subject} are {how} correlated: {from_to}")
        }
        Kind::Distance => {
            format!(
                "rows lie {} times as far from the centre in all columns together",
                number(*size)
            )
        }
    };
    if change.beyond { text + ", beyond the changes above" } else { text }
}

/// How far the columns of a direction move, in their own units.
fn moved(place: &Place, size: f64) -> String {
    let Place::Along { columns, moves, .. } = place else { return String::new() };
    let signed = |x: f64| if x < 0.0 { number(x) } else { format!("+{}", number(x)) };
    columns
        .iter()
        .zip(moves)
        .map(|(column, by)| format!("{column} {}, ", signed(size * by)))
        .collect()
}

/// What a sentence is about, and " for its …".
fn subject(place: &Place) -> (String, String) {
    match place {
        Place::Column { column } => (column.clone(), String::new()),
        Place::Given { column, given } => {
            (column.clone(), format!(" for its {}", given.join(" and ")))
        }
        Place::Along { columns, weights, .. } => {
            let mut text = String::new();
            for (i, (column, weight)) in columns.iter().zip(weights).enumerate() {
                let sign = if *weight < 0.0 { "−" } else { "+" };
                text += &match (i, sign) {
                    (0, "+") => column.clone(),
                    (0, _) => format!("−{column}"),
                    _ => format!(" {sign} {column}"),
                };
            }
            (text, String::new())
        }
        Place::Pair { columns: [a, b] } => (format!("{a} and {b}"), String::new()),
        Place::Group { name, .. } => (format!("“{name}”"), String::new()),
        Place::Everywhere => ("all columns".into(), String::new()),
    }
}
