//! What was found, in up to four sentences.

use upoe::{Layer, Stack};

use super::Input;
use super::judge::Counted;
use super::summary::thousands;
use crate::finding::{capitalised, number};
use crate::{Finding, Outlier, Outliers, ShownAgreement, ShownGroups, ShownMissing, radial_words};

/// Groups whose sizes are told one by one.
const TOLD: usize = 4;
/// Columns, or pairs of them, that a sentence names.
const NAMED: usize = 3;
/// The smallest correlation with a direction for which a column is named.
const LEAST_CORRELATION: f64 = 0.3;

/// The groups, the directions, the odd rows and the missing cells.
pub(super) fn findings(
    input: &Input,
    groups: Option<&ShownGroups>,
    counted: Counted,
    outliers: &Outliers,
    missing: Option<&ShownMissing>,
) -> Vec<String> {
    let groups = groups.filter(|groups| groups.none.is_none()).map(grouped);
    let directions = directions(input, groups.is_some());
    let odd = (outliers.rows.iter().any(|row| row.judgement.is_some()))
        .then(|| odd_rows(counted, outliers));
    [groups, directions, odd, missing.map(|missing| missing_cells(missing, input.rows.len()))]
        .into_iter()
        .flatten()
        .collect()
}

/// The groups by size, the columns in which they differ, and the labels that they match.
fn grouped(shown: &ShownGroups) -> String {
    let ShownGroups { groups, agreement, .. } = shown;
    let count = capitalised(&number(groups.len()));
    let sizes: Vec<usize> = groups.iter().map(|group| group.rows).collect();
    let (least, most) =
        (sizes.iter().copied().min().unwrap_or(0), sizes.iter().copied().max().unwrap_or(0));
    let sizes = match sizes.len() {
        _ if least == most => format!("{} rows each", thousands(most)),
        ..=TOLD => {
            format!("{} rows", and(sizes.iter().map(|n| thousands(*n)).collect()))
        }
        _ => format!("{} to {} rows", thousands(least), thousands(most)),
    };
    // What names each group; a column given another and that one given the first are one difference.
    let mut pairs: Vec<[&str; 2]> = Vec::new();
    for told in groups.iter().filter_map(|group| group.differences.first()) {
        let pair = [told.column.as_str(), told.given.as_deref().unwrap_or("")];
        if !pairs.contains(&pair) && !pairs.contains(&[pair[1], pair[0]]) {
            pairs.push(pair);
        }
    }
    pairs.truncate(NAMED);
    let pair = |[column, given]: &[&str; 2]| match *given {
        "" => (*column).to_owned(),
        given => format!("{column} relative to {given}"),
    };
    let differ = match pairs.is_empty() {
        true => String::new(),
        false => format!(" They differ in {}", and(pairs.iter().map(pair).collect())),
    };
    // At least half of the rows that one group would get wrong are right.
    let is_close = |a: &&ShownAgreement| 1.0 - a.matches <= 0.5 * (1.0 - a.chance);
    let matches: Vec<String> = (agreement.iter().filter(is_close))
        .take(NAMED)
        .map(|a| format!("`{}` {:.0} %", a.column, 100.0 * a.matches))
        .collect();
    let end = match (differ.is_empty(), matches.is_empty()) {
        (_, true) => differ,
        (true, false) => format!(" They match {}", and(matches)),
        (false, false) => format!("{differ}, and match {}", and(matches)),
    };
    let end = if end.is_empty() { end } else { format!("{end}.") };
    format!("{count} groups of {sizes}.{end}")
}

/// How many directions make the rows differ from a Gaussian, and what the first shows.
fn directions(input: &Input, grouped: bool) -> Option<String> {
    let found: Vec<Finding> = input.fitted.model.experts().iter().map(Finding::of).collect();
    let layers = input.fitted.stack.map_or(&[][..], Stack::layers);
    let radial = layers.iter().find_map(|layer| match layer {
        Layer::Radial(radial) => Some(radial_words(radial)),
        _ => None,
    });
    let Some(first) = found.first() else {
        return match radial {
            Some(radial) => Some(format!("No direction stands out, but distances do: {radial}.")),
            None if grouped => None,
            None => Some("These rows look Gaussian: no direction stands out from chance.".into()),
        };
    };
    let count = capitalised(&number(found.len()));
    let moves = moves_with(&input.fitted.model.correlations()[0], input.names);
    let moves = moves.unwrap_or_else(|| "no single column".to_owned());
    let start = match found.len() {
        1 => format!(
            "One direction ({first}) makes these rows differ from a Gaussian. It moves with {moves}"
        ),
        _ => format!(
            "{count} directions make these rows differ from a Gaussian. The first ({first}) moves with \
             {moves}"
        ),
    };
    Some(match radial {
        Some(radial) => format!("{start}. {}.", capitalised(&radial)),
        None => format!("{start}."),
    })
}

/// The columns that are most correlated with a direction; none where no correlation is worth a word.
fn moves_with(correlations: &[f64], names: &[String]) -> Option<String> {
    let mut order: Vec<usize> = (0..names.len()).collect();
    order.sort_by(|a, b| correlations[*b].abs().total_cmp(&correlations[*a].abs()));
    let most = correlations[*order.first()?].abs();
    let is_told = |i: &&usize| correlations[**i].abs() >= LEAST_CORRELATION.max(0.5 * most);
    let told: Vec<String> = (order.iter().filter(is_told)).map(|i| names[*i].clone()).collect();
    match told.len() {
        0 => None,
        many if many > NAMED + 1 => {
            let rest = format!("{} other columns", number(many - NAMED));
            Some(and([&told[..NAMED], &[rest]].concat()))
        }
        _ => Some(and(told)),
    }
}

/// How many rows are odd, against what chance alone would give, and why the oddest is.
fn odd_rows(counted: Counted, outliers: &Outliers) -> String {
    let Counted { odd, certain, chance, judged } = counted;
    let (of, about) = (thousands(judged), thousands(chance.round().max(1.0) as usize));
    let is_judged_odd = |row: &&Outlier| row.judgement.as_ref().is_some_and(|told| told.odd);
    let oddness = |row: &Outlier| row.judgement.as_ref().map_or(0.0, |told| told.oddness);
    let by_oddness = |a: &&Outlier, b: &&Outlier| oddness(a).total_cmp(&oddness(b));
    let reason = outliers.rows.iter().filter(is_judged_odd).max_by(by_oddness).and_then(|first| {
        let reason = first.judgement.as_ref()?.reasons.first()?;
        Some(format!(" The oddest is row {}: {reason}.", first.number))
    });
    let reason = reason.unwrap_or_default();
    let are = if odd == 1 { "is" } else { "are" };
    if odd == 0 {
        format!("None of the {of} rows is odd.")
    } else if odd as f64 > chance + 2.0 * chance.sqrt() {
        format!(
            "{} of {of} rows {are} odd; chance alone would give about {about}.{reason}",
            thousands(odd)
        )
    } else if certain > 0 {
        let are = if certain == 1 { "is" } else { "are" };
        format!("{} of {of} rows {are} odder than chance explains.{reason}", thousands(certain))
    } else {
        format!(
            "{} of {of} rows {are} odd, no more than chance alone gives (about {about}).",
            thousands(odd)
        )
    }
}

/// How much is missing, in how many rows, and where most.
fn missing_cells(missing: &ShownMissing, rows: usize) -> String {
    let most: Vec<String> = (missing.columns.iter().take(NAMED))
        .map(|column| format!("{} {}", column.name, percent(column.share)))
        .collect();
    format!(
        "{} of {} rows have missing cells: {}{}.",
        thousands(missing.rows),
        thousands(rows),
        and(most),
        if missing.columns.len() > NAMED { ", and less in other columns" } else { "" }
    )
}

fn percent(share: f64) -> String {
    match 100.0 * share {
        small if small < 0.1 => "less than 0.1 %".to_owned(),
        few if few < 9.95 => format!("{few:.1} %"),
        many => format!("{many:.0} %"),
    }
}

/// "a, b and c".
fn and(mut texts: Vec<String>) -> String {
    match texts.pop() {
        Some(last) if texts.is_empty() => last,
        Some(last) => format!("{} and {last}", texts.join(", ")),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Codes, Judgement, ShownDifference, ShownGroup, ShownMissingColumn};

    fn group(rows: usize, column: &str, given: Option<&str>) -> ShownGroup {
        let difference = ShownDifference {
            column: column.into(),
            given: given.map(str::to_owned),
            mean: 0.0,
            difference: "+1".into(),
            low: "0".into(),
            high: "2".into(),
        };
        ShownGroup { name: String::new(), rows, share: 0.5, differences: vec![difference] }
    }

    fn shown(groups: Vec<ShownGroup>, matches: f64) -> ShownGroups {
        let agreement =
            ShownAgreement { column: "sp".into(), matches, chance: 0.5, words: String::new() };
        ShownGroups {
            none: None,
            groups,
            labels: Codes::default(),
            agreement: vec![agreement],
            merged: None,
        }
    }

    #[test]
    fn groups_have_sizes_columns_and_labels() {
        let pair = || vec![group(100, "CW", Some("FL")), group(100, "FL", Some("CW"))];
        assert_eq!(
            grouped(&shown(pair(), 1.0)),
            "Two groups of 100 rows each. They differ in CW relative to FL, and match `sp` 100 %."
        );
        let three = vec![group(20_000, "a", None), group(7, "b", None), group(3, "a", None)];
        assert_eq!(
            grouped(&shown(three, 0.6)),
            "Three groups of 20,000, 7 and 3 rows. They differ in a and b."
        );
        let many = (1..=6).map(|n| group(10 * n, "a", None)).collect();
        assert_eq!(grouped(&shown(many, 0.0)), "Six groups of 10 to 60 rows. They differ in a.");
    }

    #[test]
    fn columns_are_named_by_correlation() {
        let names = ["a", "b", "c", "d", "e", "f"].map(str::to_owned);
        let told = |correlations: [f64; 6]| moves_with(&correlations, &names);
        assert_eq!(told([0.1, -0.9, 0.5, 0.44, 0.0, 0.0]).unwrap(), "b and c");
        assert_eq!(told([0.2, 0.1, 0.0, 0.0, 0.0, 0.29]), None);
        assert_eq!(told([0.5, 0.6, 0.7, 0.8, 0.9, 0.4]).unwrap(), "e, d, c and two other columns");
        assert_eq!(told([0.5, 0.6, 0.7, 0.8, 0.2, 0.1]).unwrap(), "d, c, b and a");
    }

    #[test]
    fn odd_rows_are_told_beside_what_chance_gives() {
        let row = |q_value| Outlier {
            position: 0,
            number: 35,
            judgement: Some(Judgement {
                odd: true,
                oddness: 9.0,
                p_value: 1e-9,
                q_value,
                by_chance: String::new(),
                reasons: vec!["BD 14.9, expected 16.2 (15.6–16.8) given the others".into()],
            }),
            log_density: 0.0,
            tail: None,
            note: None,
            far: None,
            cells: Vec::new(),
            baseline: 0.0,
            experts: Vec::new(),
            rest: 0.0,
            columns: crate::Floats::default(),
            split: Vec::new(),
            values: crate::Floats::default(),
        };
        let told = |odd, certain| {
            let words = String::new();
            let rows = vec![row(0.5)];
            let counted = Counted { odd, certain, chance: 5.0, judged: 500 };
            odd_rows(counted, &Outliers { words, note: None, rows, parts: Vec::new() })
        };
        let reason = "The oddest is row 35: BD 14.9, expected 16.2 (15.6–16.8) given the others.";
        let start = "12 of 500 rows are odd; chance alone would give about 5.";
        assert_eq!(told(12, 0), format!("{start} {reason}"));
        assert_eq!(told(3, 1), format!("1 of 500 rows is odder than chance explains. {reason}"));
        assert_eq!(told(3, 0), "3 of 500 rows are odd, no more than chance alone gives (about 5).");
        assert_eq!(told(0, 0), "None of the 500 rows is odd.");
    }

    #[test]
    fn missing_cells_are_counted() {
        let column = |name: &str, cells| ShownMissingColumn {
            name: name.into(),
            cells,
            share: 0.01 * cells as f64,
        };
        let columns = vec![column("RW", 12), column("BD", 4)];
        let missing = ShownMissing { rows: 15, cells: 16, columns, filled: Vec::new() };
        assert_eq!(
            missing_cells(&missing, 100),
            "15 of 100 rows have missing cells: RW 12 % and BD 4.0 %."
        );
    }
}
