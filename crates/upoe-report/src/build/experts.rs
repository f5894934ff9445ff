//! Each expert with its pictures and parameters.

use upoe::expert::{Expert, Learnable, Marginal, StudentT};

use super::{Input, Step, curve, histogram, quantiles};
use crate::{Finding, ShownExpert, ShownParameter};

/// The experts, given the projections of all rows on each direction.
pub(super) fn experts<E>(
    input: &Input,
    projections: &[Vec<f64>],
    watch: &mut dyn FnMut(Step) -> Result<(), E>,
) -> Result<Vec<ShownExpert>, E> {
    let model = input.fitted.model;
    let (filters, patterns) = (model.filters(), model.patterns());
    let correlations = model.correlations();
    let total = model.experts().len();
    (0..total)
        .map(|j| {
            watch(Step { what: "counting projections", done: j, total, unit: "experts" })?;
            let expert = &model.experts()[j];
            let learned = input.training.state.experts.get(j);
            let norm = model.directions()[j].iter().map(|w| w * w).sum::<f64>().sqrt();
            let sorted = histogram::sorted(&projections[j]);
            let histogram = histogram::histogram(&sorted);
            Ok(ShownExpert {
                family: expert.family().name().to_owned(),
                words: Finding::of(expert).to_string(),
                parameters: parameters(expert),
                gain: learned.map_or(f64::NAN, |l| l.gain),
                p_value: learned.and_then(|l| l.p_value),
                curve: curve::curve(expert, norm, &histogram),
                quantiles: quantiles::quantiles(expert, &sorted, &histogram),
                histogram,
                correlation: correlations[j].iter().copied().collect(),
                filter: filters[j].iter().copied().collect(),
                pattern: patterns[j].iter().copied().collect(),
            })
        })
        .collect()
}

/// The parameters in words.
fn parameters(expert: &Expert) -> Vec<ShownParameter> {
    let plain =
        |name: &str, group, value| ShownParameter { name: name.into(), group, value, note: None };
    match expert {
        Expert::StudentT(t) => component(t, None),
        Expert::Mixture(mixture) => (mixture.weights().iter().zip(mixture.components()))
            .enumerate()
            .flat_map(|(k, (share, part))| {
                let mut parameters = vec![plain("share", Some(k), *share)];
                parameters.extend(component(part, Some(k)));
                parameters
            })
            .collect(),
        Expert::Tilt(_) => {
            // Heavy tails have no fourth moment.
            let kurtosis = Some(expert.shape().kurtosis).filter(|k| k.is_finite());
            let shown = kurtosis.map(|k| plain("excess kurtosis", None, k)).into_iter();
            shown.chain([plain("effective parameters", None, expert.free_parameters())]).collect()
        }
    }
}

fn component(t: &StudentT, group: Option<usize>) -> Vec<ShownParameter> {
    let bound = t.at_bound();
    let note = |fixed: bool, hit: bool| match (fixed, hit) {
        (true, _) => Some("fixed".to_owned()),
        (_, true) => Some("at its lower bound".to_owned()),
        _ => None,
    };
    let parameter =
        |name: &str, value, note| ShownParameter { name: name.to_owned(), group, value, note };
    vec![
        parameter("centre", t.mu(), note(t.fix_mu, false)),
        parameter("scale", t.scale(), note(false, bound == Some("smallest scale"))),
        parameter(
            "degrees of freedom",
            if t.degrees_of_freedom() > 1e6 { f64::INFINITY } else { t.degrees_of_freedom() },
            note(t.fix_beta, bound == Some("smallest beta")),
        ),
    ]
}
