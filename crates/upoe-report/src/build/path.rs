//! The gain curve and its penalised optimum.

use upoe::evaluate::expert_price;

use super::FitRecord;
use crate::GainPath;

/// Likelihood along the nested path. The penalty is BIC's: ½ ln N nats, over N rows, for each
/// parameter: D − j of the j-th direction and its expert's own.
pub(super) fn path(training: &FitRecord, dims: usize) -> GainPath {
    let state = &training.state;
    let train: Vec<f64> = state.path.iter().map(|p| p.train).collect();
    let weight = training.evaluation.weight.max(1.0);
    let mut price = 0.0;
    let mut penalised = train.clone();
    for (j, point) in penalised.iter_mut().enumerate().skip(1) {
        if let Some(learned) = state.experts.get(j - 1) {
            price += expert_price(learned.expert(), dims + 1 - j.min(dims), weight);
        }
        *point -= price;
    }
    let better = |best: usize, j: usize| if penalised[j] > penalised[best] { j } else { best };
    let optimum = (0..penalised.len()).fold(0, better);
    let kept = state.experts.len();
    let mut rule = "The penalised curve takes ½ ln N nats for every parameter, spread over the N \
                    training rows (BIC); its top is the optimum."
        .to_owned();
    if train.len() < 2 {
        rule = "No expert joined, so the curve ends where it begins.".to_owned();
    } else if optimum != kept {
        rule.push_str(&format!(" The model keeps {kept}, by the stop rule of the fit."));
    }
    GainPath {
        holdout: state.path.iter().map(|p| p.holdout).collect(),
        penalised: (train.len() > 1).then_some(penalised),
        train,
        optimum,
        rule,
        sum: sum(training),
    }
}

/// What the gains add up to, and why the model's gain is another where it is.
fn sum(training: &FitRecord) -> Option<String> {
    let experts = &training.state.experts;
    let sum: f64 = experts.iter().map(|learned| learned.gain).sum();
    let of_path = training.state.gain().map(|gain| gain.train);
    let total = training.evaluation.gain.and_then(|gain| gain.train).or(of_path)?;
    if experts.is_empty() || !(sum + total).is_finite() {
        return None;
    }
    let start = format!("The gains of the experts add up to {sum:.3} nats per row");
    Some(if (sum - total).abs() < 5e-4 + 1e-3 * total.abs() {
        format!("{start}: that is what the model gains over the Gaussian on the training rows.")
    } else if !training.layers.is_empty() {
        format!("{start}; with all layers, the model gains {total:.3}.")
    } else {
        format!(
            "{start}, each measured when the expert joined; with all parameters as they are now, the \
             model gains {total:.3} on the training rows."
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use upoe::engine::Candidate;
    use upoe::expert::StudentT;
    use upoe::{Learned, PathPoint, State};

    #[test]
    fn the_optimum_weighs_gain_against_parameters() {
        let learned = |gain| {
            let expert = StudentT::with_scale(0.0, 1.0, 4.0).unwrap();
            Learned::new(Candidate::new(vec![], expert.into()), gain)
        };
        let point = |train| PathPoint { train, holdout: None };
        let state = State {
            experts: vec![learned(0.3), learned(0.01)],
            path: vec![point(-5.0), point(-4.7), point(-4.69)],
            ..State::default()
        };
        let evaluation =
            upoe::evaluate::Evaluation { rows: 200, weight: 200.0, ..Default::default() };
        let found = path(&FitRecord { state, evaluation, ..FitRecord::default() }, 5);
        assert_eq!(found.optimum, 1);
        // Four for the direction, three for the expert.
        let price = 0.5 * 200.0_f64.ln() / 200.0 * 7.0;
        assert!((found.penalised.unwrap()[1] - (-4.7 - price)).abs() < 1e-12);
        assert!(found.holdout.is_none() && found.rule.contains("keeps 2"));
    }
}
