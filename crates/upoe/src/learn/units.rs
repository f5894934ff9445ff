//! Whether a share of the variance is that of a few columns with large numbers.

use crate::learn::Notice;
use crate::whitening::{Dims, Whitening};

/// A notice where dimensions were kept by their share of the variance, and a quarter of the columns or
/// fewer have that share by themselves: the others were hardly looked at.
pub(super) fn dominated(whitening: &Whitening, dims: Dims) -> Option<Notice> {
    let Dims::Share(share) = dims else { return None };
    let deviations = whitening.deviations();
    let mut columns: Vec<usize> = (0..deviations.len()).collect();
    columns.sort_by(|&a, &b| deviations[b].total_cmp(&deviations[a]));
    let total: f64 = deviations.iter().map(|s| s * s).sum();
    let mut sum = 0.0;
    let enough = columns.iter().position(|&i| {
        sum += deviations[i] * deviations[i];
        sum >= share * total
    })?;
    columns.truncate(enough + 1);
    let few = 4 * columns.len() <= deviations.len() && whitening.dims() < whitening.rank();
    few.then(|| Notice::Dominated { columns, dims: whitening.dims(), of: deviations.len(), share })
}

/// The notice in words.
pub(super) fn words(
    f: &mut dyn std::fmt::Write,
    (columns, dims, of, share): (&[usize], usize, usize, f64),
    name: impl Fn(usize) -> String,
) -> std::fmt::Result {
    let names: Vec<String> = columns.iter().take(3).map(|&c| name(c)).collect();
    let more = if columns.len() > 3 { ", …" } else { "" };
    let (are, numbers) = match columns.len() {
        1 => ("has", "its numbers are"),
        _ => ("have", "their numbers are"),
    };
    write!(
        f,
        "{dims} of {of} dimensions were kept, because {}{more} {are} {:.0} % of the variance of all \
         columns: {numbers} the largest, which depends on the units. Keep a number of dimensions or all \
         of them, or divide each column by its standard deviation first",
        names.join(", "),
        100.0 * share
    )
}
