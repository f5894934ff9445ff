//! What is said about columns with equal values.

use std::fmt;

/// A column of no more different values than this has ties.
pub(crate) const FEW: usize = 20;

/// What is said about columns with many equal values.
pub fn grain(
    f: &mut impl fmt::Write,
    columns: &[usize],
    scales: &[f64],
    name: impl Fn(usize) -> String,
) -> fmt::Result {
    let first = columns.iter().zip(scales).take(5);
    let shown = |scale: f64| {
        // Two significant digits.
        let digits = (1.0 - scale.log10().floor()).clamp(0.0, 300.0) as usize;
        format!("{scale:.digits$}")
    };
    let first: Vec<String> = first.map(|(c, s)| format!("{} ({})", name(*c), shown(*s))).collect();
    let (what, has) = if columns.len() == 1 { ("column", "has") } else { ("columns", "have") };
    let more = if columns.len() > first.len() { ", …" } else { "" };
    write!(
        f,
        "{what} {}{more} {has} many equal values: along them no mixture is narrower than the scale in brackets, because density on equal values is not gain",
        first.join(", ")
    )
}

/// What is said about columns of few values.
pub fn ties(
    f: &mut impl fmt::Write,
    columns: &[usize],
    name: impl Fn(usize) -> String,
) -> fmt::Result {
    let first: Vec<String> = columns.iter().take(5).map(|c| name(*c)).collect();
    let (what, more, has) = match columns.len() {
        1 => ("column", "", "has"),
        2..=5 => ("columns", "", "have"),
        _ => ("columns", ", …", "have"),
    };
    let listed = first.join(", ");
    write!(
        f,
        "{what} {listed}{more} {has} at most {FEW} different values, or one value in a tenth of the rows: much of what experts gain there is that values repeat, although bounds and penalties keep them from being arbitrarily narrow, and such a density must not be compared with one of continuous values"
    )
}
