//! What the page shows: one serialisable struct, computed in Rust.
//!
//! The page draws these numbers and does no statistics of its own beyond counting
//! rows into given bins. NaN becomes `null` in JSON and is shown as "not known"; ln p may be
//! −∞, which JSON lacks: it is written as the text `"-inf"`. Arrays ([`Floats`]) keep both.

mod groups;
mod layers;
mod missing;
mod outliers;

pub use groups::{ShownAgreement, ShownDifference, ShownGroup, ShownGroups};
pub use layers::{ShownLayer, ShownLayers, ShownMember, ShownRadial};
pub use missing::{ShownCell, ShownMissing, ShownMissingColumn, ShownRow};
pub use outliers::{Judgement, Outlier, Outliers};

use serde::{Serialize, Serializer};
use upoe::evaluate::Mean;

use crate::{Codes, Floats};

/// Everything on the page.
#[derive(Clone, Debug, Serialize)]
pub struct Page {
    /// The page's heading and window title, for example the data's file name.
    pub title: String,
    /// Facts about the data and the fit.
    pub summary: Summary,
    /// Likelihood along the nested path of 0, 1, … experts.
    pub path: GainPath,
    /// The experts in the order they were found; empty when J = 0.
    pub experts: Vec<ShownExpert>,
    /// The rows the page can show.
    pub rows: ShownRows,
    /// Rows drawn from the model.
    pub samples: Option<Samples>,
    /// The odd rows, and the least usual ones.
    pub outliers: Outliers,
    /// The missing cells; none where every cell has a value.
    pub missing: Option<ShownMissing>,
    /// Set when the modelled columns are the pixels of an image.
    pub image: Option<Image>,
    /// The layers of a stack; none where the model has one layer.
    pub layers: Option<ShownLayers>,
    /// The groups of rows; none where the model file keeps none.
    pub groups: Option<ShownGroups>,
}

/// Facts about the data and the fit.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// What was found, in up to four sentences that name columns and sizes.
    pub findings: Vec<String>,
    /// Rows the model was fitted to.
    pub rows: usize,
    /// Rows held out of the fit.
    pub holdout_rows: usize,
    /// Modelled columns, in the model's order. Filters refer to these.
    pub columns: Vec<Axis>,
    /// Dimensions kept by sphering.
    pub dims: usize,
    /// How the fit ended, in words.
    pub stop_reason: String,
    /// Wall-clock seconds of the fit.
    pub seconds: f64,
    /// Mean ln p in sphered space, in nats per row.
    pub log_likelihood: AgainstGaussian,
    /// Mean ln p over the data's own columns, in nats per row.
    pub log_density: AgainstGaussian,
    /// Learner, family, seed and whatever else was chosen.
    pub settings: Vec<Setting>,
    /// Version of upoe that wrote the page.
    pub version: String,
    /// Warnings: dropped columns, bounds that were hit, sampled rows.
    pub notices: Vec<String>,
}

/// A modelled column.
#[derive(Clone, Debug, Serialize)]
pub struct Axis {
    /// The column's name.
    pub name: String,
    /// Mean over the training rows.
    pub mean: f64,
    /// Standard deviation over the training rows; bars of filters are drawn per
    /// standard deviation, so that columns in different units can be compared.
    pub standard_deviation: f64,
}

/// Mean ln p per row under the model and under the Gaussian with the same
/// covariance.
#[derive(Clone, Debug, Serialize)]
pub struct AgainstGaussian {
    /// The model, training rows.
    #[serde(serialize_with = "real")]
    pub train: f64,
    /// The Gaussian, training rows.
    #[serde(serialize_with = "real")]
    pub gaussian_train: f64,
    /// The model, held-out rows.
    #[serde(serialize_with = "mean")]
    pub holdout: Option<Mean>,
    /// The Gaussian, held-out rows.
    #[serde(serialize_with = "optional")]
    pub gaussian_holdout: Option<f64>,
}

/// A setting as the user would write it.
#[derive(Clone, Debug, Serialize)]
pub struct Setting {
    /// For example `family`.
    pub name: String,
    /// For example `auto`.
    pub value: String,
}

/// Mean ln p per row (sphered space) with 0, 1, … experts.
#[derive(Clone, Debug, Serialize)]
pub struct GainPath {
    /// Training rows; entry j is the model of the first j experts. It may go on
    /// past the experts kept, when more were tried.
    pub train: Vec<f64>,
    /// Held-out rows, the same length.
    pub holdout: Option<Vec<f64>>,
    /// Training likelihood less the penalty of the stop rule, the same length.
    pub penalised: Option<Vec<f64>>,
    /// Number of experts at the penalised optimum.
    pub optimum: usize,
    /// What "optimum" means here: the stop rule as a sentence.
    pub rule: String,
    /// What the gains of the experts add up to, and why the model's gain is another where it is.
    pub sum: Option<String>,
}

/// One direction and its one-dimensional density.
#[derive(Clone, Debug, Serialize)]
pub struct ShownExpert {
    /// The family: `student-t`, `mixture`, `tilt`.
    pub family: String,
    /// What it found, in words: "two groups, 52 % and 48 %".
    pub words: String,
    /// Fitted parameters.
    pub parameters: Vec<ShownParameter>,
    /// What it added to mean ln p when it joined, in nats per row.
    pub gain: f64,
    /// Chance of a gain as large on Gaussian rows.
    pub p_value: Option<f64>,
    /// All rows' projections, counted.
    pub histogram: Histogram,
    /// The fitted density on a grid.
    pub curve: Curve,
    /// Goodness of fit.
    pub quantiles: Quantiles,
    /// The correlation of each column with z.
    pub correlation: Floats,
    /// What a unit change of each column does to z (w A).
    pub filter: Floats,
    /// How each column moves when z moves by one (the column of A⁺W#).
    pub pattern: Floats,
}

/// A parameter of an expert.
#[derive(Clone, Debug, Serialize)]
pub struct ShownParameter {
    /// In words: "degrees of freedom", "share".
    pub name: String,
    /// Of which component of a mixture, from 0.
    pub group: Option<usize>,
    /// Its value.
    #[serde(serialize_with = "real")]
    pub value: f64,
    /// Fixed by the user or at a bound: "fixed", "at its lower bound".
    pub note: Option<String>,
}

/// Counts in equal bins.
#[derive(Clone, Debug, Serialize)]
pub struct Histogram {
    /// Left edge of the first bin.
    pub from: f64,
    /// Width of a bin.
    pub width: f64,
    /// Rows in each bin, `[left, right)`; the first and the last bin take what lies beyond
    /// them too.
    pub counts: Vec<f64>,
    /// Rows left of the first bin.
    pub below: usize,
    /// Rows right of the last bin.
    pub above: usize,
}

/// Densities on an even grid.
#[derive(Clone, Debug, Serialize)]
pub struct Curve {
    /// First grid point.
    pub from: f64,
    /// Last grid point.
    pub to: f64,
    /// The expert's density.
    pub fitted: Floats,
    /// The Gaussian it replaces.
    pub gaussian: Floats,
    /// For a mixture: each component's density times its share.
    pub components: Vec<Floats>,
}

/// A quantile–quantile plot: at most a few hundred points.
#[derive(Clone, Debug, Serialize)]
pub struct Quantiles {
    /// Quantiles of the fitted density.
    pub model: Floats,
    /// Quantiles of the data at the same probabilities.
    pub data: Floats,
    /// 95 % band for the data's quantiles if the model is right: lower edge.
    /// Empty when not computed.
    pub low: Floats,
    /// Upper edge of that band.
    pub high: Floats,
}

/// The rows the page can show, column by column. All arrays have one length.
#[derive(Clone, Debug, Serialize)]
pub struct ShownRows {
    /// Rows in the data; more than are shown when they were sampled.
    pub total: usize,
    /// 1-based number of each row in the data.
    pub number: Codes,
    /// ln p of each row, over the data's own columns.
    pub log_density: Floats,
    /// For each expert, the projection z of each row.
    pub projections: Vec<Floats>,
    /// For each mixture expert, the likelier component of each row.
    pub clusters: Vec<Clusters>,
    /// Modelled and kept columns.
    pub columns: Vec<Column>,
}

/// Group labels from one mixture expert.
#[derive(Clone, Debug, Serialize)]
pub struct Clusters {
    /// Index of the expert, from 0.
    pub expert: usize,
    /// Number of components.
    pub groups: usize,
    /// Component of each row, from 0.
    pub labels: Codes,
}

/// A column of the data.
#[derive(Clone, Debug, Serialize)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// Its index in [`Summary::columns`]; none for a column kept but not modelled.
    pub modelled: Option<usize>,
    /// Its cells.
    pub values: Values,
}

/// The cells of a column.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum Values {
    /// Numbers, to the seven digits of `f32`. NaN is a missing cell.
    Number {
        /// One per row.
        values: Floats,
    },
    /// Text, or numbers that must be shown digit for digit (identifiers).
    Text {
        /// The distinct texts.
        levels: Vec<String>,
        /// Index into `levels`, one per row.
        codes: Codes,
    },
}

/// Rows drawn from the model.
#[derive(Clone, Debug, Serialize)]
pub struct Samples {
    /// Their ln p over the data's own columns.
    pub log_density: Floats,
    /// For each expert, their projections.
    pub projections: Vec<Floats>,
    /// For each modelled column, their values; empty when left out for size.
    pub columns: Vec<Floats>,
    /// How many were drawn to measure outliers by; the page shows the first of them.
    pub drawn: usize,
}

/// The shape of an image whose pixels, row by row, are the modelled columns.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Image {
    /// Pixels from top to bottom.
    pub height: usize,
    /// Pixels from left to right.
    pub width: usize,
}

/// A number, with the infinities as texts.
fn real<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    match *value {
        f64::INFINITY => serializer.serialize_str("inf"),
        f64::NEG_INFINITY => serializer.serialize_str("-inf"),
        finite => serializer.serialize_f64(finite),
    }
}

fn mean<S: Serializer>(value: &Option<Mean>, serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Shown {
        #[serde(serialize_with = "real")]
        mean: f64,
        standard_error: f64,
    }
    let shown = |m: &Mean| Shown { mean: m.mean, standard_error: m.standard_error };
    value.as_ref().map(shown).serialize(serializer)
}

fn optional<S: Serializer>(value: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
    real(&value.unwrap_or(f64::NAN), serializer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn infinities_are_texts_and_nan_is_null() {
        let json = |value| {
            let holdout = Some(Mean { mean: value, standard_error: 1.0 });
            let all = AgainstGaussian {
                train: value,
                gaussian_train: value,
                holdout,
                gaussian_holdout: Some(value),
            };
            serde_json::to_string(&all).unwrap()
        };
        let all = |v: &str| {
            format!(
                r#"{{"train":{v},"gaussian_train":{v},"holdout":{{"mean":{v},"standard_error":1.0}},"gaussian_holdout":{v}}}"#
            )
        };
        assert_eq!(json(f64::NEG_INFINITY), all(r#""-inf""#));
        assert_eq!(json(f64::NAN), all("null"));
        assert_eq!(json(-2.5), all("-2.5"));
    }
}
