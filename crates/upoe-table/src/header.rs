//! Whether a first line of numbers may be a header.

use crate::notice::TableNotice;

/// A notice where the numbers of a first line, read as data, may be names.
pub(crate) fn numeric(first: &[f64]) -> Option<TableNotice> {
    are_labels(first)
        .then(|| TableNotice::NumericHeader { first: first[0], last: first[first.len() - 1] })
}

/// Whether the numbers of a first line may be names: whole, rising, and evenly so or years.
fn are_labels(first: &[f64]) -> bool {
    let steps: Vec<f64> = first.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let even = steps.iter().all(|step| *step == steps[0]);
    let years = first.iter().all(|label| (1700.0..2200.0).contains(label));
    first.iter().all(|label| label.fract() == 0.0)
        && steps.iter().all(|step| *step > 0.0)
        && match steps[..] {
            [] => false,
            [step] => step == 1.0 || years,
            _ => even || years,
        }
}
