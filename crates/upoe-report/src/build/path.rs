//! The gain curve and its penalised optimum.

use upoe::evaluate::bic_price;
use upoe::expert::Learnable;

use super::FitRecord;
use crate::GainPath;

/// Likelihood along the nested path. The penalty is BIC's: ½ ln N nats, over N rows, for each
/// parameter: D − j of the j-th direction and its expert's parameters.
pub(super) fn path(training: &FitRecord, dims: usize) -> GainPath {
    let state = &training.state;
    let train: Vec<f64> = state.path.iter().map(|p| p.train).collect();
    let weight = if training.weight > 0.0 { training.weight } else { training.rows.max(1) as f64 };
    let mut price = 0.0;
    let mut penalised = train.clone();
    for (j, point) in penalised.iter_mut().enumerate().skip(1) {
        if let Some(learned) = state.experts.get(j - 1) {
            let parameters = dims.saturating_sub(j) as f64 + learned.expert().free_parameters();
            price += bic_price(parameters, weight);
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
    }
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
        let found = path(&FitRecord { state, rows: 200, ..FitRecord::default() }, 5);
        assert_eq!(found.optimum, 1);
        // Four for the direction, three for the expert.
        let price = 0.5 * 200.0_f64.ln() / 200.0 * 7.0;
        assert!((found.penalised.unwrap()[1] - (-4.7 - price)).abs() < 1e-12);
        assert!(found.holdout.is_none() && found.rule.contains("keeps 2"));
    }
}
