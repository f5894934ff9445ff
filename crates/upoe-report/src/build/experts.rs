//! Each expert with its pictures and parameters.

use upoe::expert::{self, Marginal, StudentT};

use super::{Input, Step, curve, histogram, quantiles};
use crate::{Expert, Parameter, words};

/// The experts, given the projections of all rows on each direction.
pub(super) fn experts<E>(
    input: &Input,
    projections: &[Vec<f64>],
    watch: &mut dyn FnMut(Step) -> Result<(), E>,
) -> Result<Vec<Expert>, E> {
    let model = input.model;
    let (loadings, patterns) = (model.loadings(), model.patterns());
    let total = model.experts().len();
    (0..total)
        .map(|j| {
            watch(Step { what: "counting projections", done: j, total, unit: "experts" })?;
            let expert = &model.experts()[j];
            let learned = input.training.state.experts.get(j);
            let norm = model.directions()[j].iter().map(|w| w * w).sum::<f64>().sqrt();
            let sorted = histogram::sorted(&projections[j]);
            let histogram = histogram::histogram(&sorted);
            let negentropy = expert.negentropy();
            Ok(Expert {
                kind: expert.family().name().to_owned(),
                words: words(expert),
                parameters: parameters(expert),
                q: learned.map_or(f64::NAN, |l| l.q),
                p_value: learned.and_then(|l| l.p_value),
                negentropy: negentropy.is_finite().then_some(negentropy),
                curve: curve::curve(expert, norm, &histogram),
                quantiles: quantiles::quantiles(expert, &sorted, &histogram),
                histogram,
                loadings: loadings[j].iter().copied().collect(),
                pattern: patterns[j].iter().copied().collect(),
            })
        })
        .collect()
}

/// The parameters in words.
fn parameters(expert: &expert::Expert) -> Vec<Parameter> {
    let plain =
        |name: &str, group, value| Parameter { name: name.into(), group, value, note: None };
    match expert {
        expert::Expert::StudentT(t) => component(t, None),
        expert::Expert::Mixture(mixture) => (mixture.weights().iter().zip(mixture.components()))
            .enumerate()
            .flat_map(|(k, (share, part))| {
                let mut parameters = vec![plain("share", Some(k), *share)];
                parameters.extend(component(part, Some(k)));
                parameters
            })
            .collect(),
        expert::Expert::Tilt(_) => {
            let shape = expert.shape();
            vec![
                plain("excess kurtosis", None, shape.kurtosis),
                plain("effective parameters", None, expert.degrees_of_freedom()),
            ]
        }
    }
}

fn component(t: &StudentT, group: Option<usize>) -> Vec<Parameter> {
    let bound = t.at_bound();
    let note = |held: bool, hit: bool| match (held, hit) {
        (true, _) => Some("fixed".to_owned()),
        (_, true) => Some("the least allowed".to_owned()),
        _ => None,
    };
    let parameter =
        |name: &str, value, note| Parameter { name: name.to_owned(), group, value, note };
    vec![
        parameter("centre", t.mu(), note(t.hold_mu, false)),
        parameter("scale", t.scale(), note(false, bound == Some("smallest scale"))),
        parameter(
            "degrees of freedom",
            if t.freedom() > 1e6 { f64::INFINITY } else { t.freedom() },
            note(t.hold_beta, bound == Some("smallest beta")),
        ),
    ]
}
