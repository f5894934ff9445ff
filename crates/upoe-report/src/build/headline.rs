//! What was found, in a sentence or two.

use upoe::{Layer, Stack};

use super::Input;
use super::summary::thousands;
use crate::finding::number;
use crate::{Finding, ShownAgreement, ShownGroup, ShownGroups, radial_words};

/// Groups that the headline names at most.
const NAMED: usize = 4;

/// The headline: the groups, where there are some; how many directions make the rows differ from a Gaussian, and what the first
/// shows; all of them, where they are few and each shows groups.
pub(super) fn headline(input: &Input, groups: Option<&ShownGroups>) -> String {
    let found: Vec<Finding> = input.fitted.model.experts().iter().map(Finding::of).collect();
    let layers = input.fitted.stack.map_or(&[][..], Stack::layers);
    let radial = layers.iter().find_map(|layer| match layer {
        Layer::Radial(radial) => Some(capitalised(&radial_words(radial))),
        _ => None,
    });
    let groups = groups.filter(|groups| groups.none.is_none()).map(grouped);
    let rest = match (radial, found.is_empty()) {
        (Some(radial), true) => format!("No direction stands out, but distances do. {radial}."),
        (Some(radial), false) => format!("{} {radial}.", sentence(&found)),
        (None, true) if groups.is_some() => "The model has no experts.".to_owned(),
        (None, _) => sentence(&found),
    };
    groups.map_or_else(|| rest.clone(), |groups| format!("{groups} {rest}"))
}

/// The groups by name and size, and the labels that they match.
fn grouped(shown: &ShownGroups) -> String {
    let ShownGroups { groups, agreement, .. } = shown;
    let rows = |n: usize| format!("{} row{}", thousands(n), if n == 1 { "" } else { "s" });
    let told = if groups.len() <= NAMED {
        let one = |group: &ShownGroup| format!("{} ({})", group.name, rows(group.rows));
        format!(": {}", groups.iter().map(one).collect::<Vec<_>>().join("; "))
    } else {
        let sizes = || groups.iter().map(|group| group.rows);
        let (least, most) = (sizes().min().unwrap_or(0), sizes().max().unwrap_or(0));
        format!(" of {} to {}", thousands(least), rows(most))
    };
    // At least half of the rows that one group would get wrong are right.
    let is_close = |a: &&ShownAgreement| 1.0 - a.matches <= 0.5 * (1.0 - a.chance);
    let matches: Vec<String> = (agreement.iter().filter(is_close))
        .map(|a| format!("`{}` {:.0} %", a.column, 100.0 * a.matches))
        .collect();
    let count = capitalised(&number(groups.len()));
    match matches.is_empty() {
        true => format!("{count} groups{told}."),
        false => format!("{count} groups{told}. They match {}.", matches.join(" and ")),
    }
}

fn sentence(found: &[Finding]) -> String {
    let is_grouped = |finding: &Finding| matches!(finding, Finding::Groups { .. });
    let [first, ..] = found else {
        return "These rows look Gaussian: no direction stands out from chance.".to_owned();
    };
    let count = capitalised(&number(found.len()));
    match found.len() {
        1 => format!("One direction makes these rows differ from a Gaussian: {first}."),
        2..=3 if found.iter().all(is_grouped) => {
            let along =
                ["Along the first they fall into", "along the second into", "along the third into"];
            let split = along.iter().zip(found).map(|(along, found)| format!("{along} {found}"));
            format!(
                "{count} directions make these rows differ from a Gaussian. {}.",
                split.collect::<Vec<_>>().join("; ")
            )
        }
        _ => format!(
            "{count} directions make these rows differ from a Gaussian. The first: {first}."
        ),
    }
}

fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().collect::<String>() + letters.as_str()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use upoe::expert::{Expert, Mixture, StudentT};

    #[test]
    fn groups_are_told_by_what_was_found_not_by_its_words() {
        let t = |mu, scale| StudentT::with_scale(mu, scale, 30.0).unwrap();
        let mixture = |parts: [StudentT; 2]| -> Expert {
            Mixture::new(vec![0.5, 0.5], parts.to_vec()).unwrap().into()
        };
        let (apart, over) =
            (mixture([t(-1.0, 0.3), t(1.0, 0.3)]), mixture([t(0.0, 0.7), t(1.2, 0.7)]));
        let all = |experts: &[&Expert]| {
            sentence(&experts.iter().map(|e| Finding::of(e)).collect::<Vec<_>>())
        };
        assert_eq!(
            all(&[&apart, &apart]),
            "Two directions make these rows differ from a Gaussian. Along the first they fall into \
             two groups, 50 % and 50 %; along the second into two groups, 50 % and 50 %."
        );
        assert!(
            all(&[&over, &apart])
                .ends_with("The first: one hump with a shoulder: two parts, 50 % and 50 %.")
        );
        assert_eq!(
            all(&[&apart]),
            "One direction makes these rows differ from a Gaussian: two groups, 50 % and 50 %."
        );
        assert!(all(&[]).starts_with("These rows look Gaussian"));
        assert!(all(&[&apart; 12]).starts_with("12 directions make"));
    }
}
