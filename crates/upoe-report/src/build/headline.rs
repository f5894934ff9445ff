//! What was found, in a sentence or two.

use upoe::expert::Expert;

use super::Input;
use crate::words;

/// The headline: how many directions tell the rows from a Gaussian, and what the first shows.
pub(super) fn headline(input: &Input) -> String {
    let experts = input.model.experts();
    let Some(first) = experts.first() else {
        return "These rows look Gaussian: no direction stands out from chance.".to_owned();
    };
    let all_groups = experts
        .iter()
        .all(|e| matches!(e, Expert::Mixture(_)) && words(e).split(' ').nth(1) == Some("groups,"));
    let count = number(experts.len());
    match experts.len() {
        1 => format!("One direction tells these rows from a Gaussian: {}.", words(first)),
        2..=3 if all_groups => {
            let along =
                ["Along the first they fall into", "along the second into", "along the third into"];
            let split = along.iter().zip(experts).map(|(along, e)| format!("{along} {}", words(e)));
            format!(
                "{count} directions tell these rows from a Gaussian. {}.",
                split.collect::<Vec<_>>().join("; ")
            )
        }
        _ => format!(
            "{count} directions tell these rows from a Gaussian. The first: {}.",
            words(first)
        ),
    }
}

fn number(n: usize) -> String {
    let words = ["No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine"];
    words.get(n).map_or_else(|| n.to_string(), |word| (*word).to_owned())
}
