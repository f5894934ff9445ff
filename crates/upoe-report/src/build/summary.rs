//! Facts about the data and the fit.

use upoe::PathPoint;
use upoe::evaluate::{Likelihood, Mean};

pub(super) use crate::finding::thousands;

use super::{FitRecord, Input, MOST_COLUMNS};
use crate::{AgainstGaussian, Axis, Setting, Summary};

/// The summary of a page that shows `shown` rows, given the projections of all rows.
pub(super) fn summary(
    input: &Input,
    shown: usize,
    projections: &[Vec<f64>],
    findings: Vec<String>,
) -> Summary {
    let Input { training, fitted, names, rows, .. } = *input;
    let whitening = fitted.model.whitening();
    let mut notices = training.notices.clone();
    if shown < rows.len() {
        notices.push(format!(
            "clouds and the table show {} of {} rows, drawn at random with all outliers among \
             them; histograms of projections count every row",
            thousands(shown),
            thousands(rows.len())
        ));
    }
    let lost = (0..rows.len()).filter(|&row| projections.iter().any(|z| z[row].is_nan())).count();
    if lost > 0 {
        notices.push(format!(
            "{} so far from the mean that {} no projection: histograms leave {} out",
            if lost == 1 { "1 row is".to_owned() } else { format!("{} rows are", thousands(lost)) },
            if lost == 1 { "it has" } else { "they have" },
            if lost == 1 { "it" } else { "them" },
        ));
    }
    if names.len() > MOST_COLUMNS {
        notices.push(format!(
            "the scatter plot offers {MOST_COLUMNS} of {} columns: those that weigh most in the experts",
            names.len()
        ));
    }
    let axis = |(c, name): (usize, &String)| Axis {
        name: name.clone(),
        mean: whitening.mean()[c],
        standard_deviation: whitening.deviations()[c],
    };
    let setting =
        |(name, value): &(String, String)| Setting { name: name.clone(), value: value.clone() };
    Summary {
        findings,
        rows: training.evaluation.rows,
        holdout_rows: training.evaluation.holdout_rows,
        columns: names.iter().enumerate().map(axis).collect(),
        dims: whitening.dims(),
        stop_reason: training.stop_reason.clone(),
        seconds: training.seconds,
        log_likelihood: likelihood(training, &training.evaluation.log_likelihood),
        log_density: likelihood(training, &training.evaluation.log_density),
        settings: training.settings.iter().map(setting).collect(),
        version: training.version.clone(),
        notices,
    }
}

/// The Gaussian's ln p is the model's minus its gain: the way from sphered space
/// to the columns adds the same to both.
fn likelihood(training: &FitRecord, of: &Likelihood) -> AgainstGaussian {
    let unknown = f64::NAN;
    let all = training
        .evaluation
        .gain
        .map(|gain| PathPoint { train: gain.train.unwrap_or(unknown), holdout: gain.holdout });
    let gain = all.or_else(|| training.state.gain());
    let train = of.train.unwrap_or(unknown);
    let holdout = of.holdout.map(|mean| {
        let standard_error = of.holdout_standard_error.unwrap_or(unknown);
        Mean { mean, standard_error }
    });
    let held = gain.and_then(|gain| gain.holdout);
    AgainstGaussian {
        train,
        gaussian_train: train - gain.map_or(unknown, |gain| gain.train),
        holdout,
        gaussian_holdout: held.zip(of.holdout).map(|(gain, mean)| mean - gain),
    }
}
