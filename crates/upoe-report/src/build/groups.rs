//! The groups that the fit found, among the rows of the page.

use upoe::Result;
use upoe::groups::{Agreement, Described, Groups, NO_GROUPS, Told};

use super::{Cells, Input};
use crate::{ShownAgreement, ShownDifference, ShownGroup, ShownGroups};

/// The groups with their sizes among all rows; `labels` has the group of each row, `shown` the rows on
/// the page.
pub(super) fn groups(
    input: &Input,
    groups: &Groups,
    labels: &[usize],
    shown: &[usize],
) -> ShownGroups {
    let sizes = groups.sizes(labels);
    let group = |(described, rows): (Described, usize)| ShownGroup {
        name: described.name,
        rows,
        share: rows as f64 / labels.len().max(1) as f64,
        // A column given another one is not in the profile.
        differences: (described.named_by.iter().filter(|told| told.given.is_some()))
            .chain(&described.profile)
            .map(difference)
            .collect(),
    };
    let agreement = input.kept.iter().filter_map(|kept| match &kept.cells {
        Cells::Text(cells) => {
            let agreement = Agreement::of_labels(labels, cells)?;
            let words = agreement.words(&kept.name);
            let Agreement { matches, chance, .. } = agreement;
            Some(ShownAgreement { column: kept.name.clone(), matches, chance, words })
        }
        Cells::Numbers(_) => None,
    });
    let one = groups.count() == 1;
    ShownGroups {
        none: one.then(|| NO_GROUPS.to_owned()),
        groups: groups.described(input.names).into_iter().zip(sizes).map(group).collect(),
        labels: shown.iter().map(|&row| labels[row] as u32).collect(),
        agreement: if one { Vec::new() } else { agreement.collect() },
        merged: groups.merged_words(),
    }
}

/// The group of each of some rows.
pub(super) fn labels(input: &Input, rows: &upoe::Rows) -> Result<Vec<usize>> {
    input.groups.map_or(Ok(Vec::new()), |groups| groups.labels(input.fitted.model, rows))
}

fn difference(told: &Told) -> ShownDifference {
    let [difference, low, high] = told.numbers();
    let Told { column, given, mean, .. } = told.clone();
    ShownDifference { column, given, mean, difference, low, high }
}
