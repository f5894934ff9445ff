//! Pictures and the HTML page of upoe.
//!
//! [`build`] computes a [`Page`] (every number the page shows) from a fitted model and
//! rows; [`html`] turns it into one HTML file that needs no network. The front end lives in `page/`
//! (TypeScript); its built bundle is committed under `assets/`, so that building
//! this crate needs no Node. [`figure`] draws the figures of the experiments.

mod build;
mod comparison;
mod far_out;
pub mod figure;
mod finding;
mod html;
mod layer_words;
mod packed;
mod page;

pub use build::{Cells, FitRecord, Input, Kept, MOST_ROWS, Step, build, build_with};
pub use comparison::comparison_html;
pub use far_out::{far_words, radial_words};
pub use finding::{Finding, Overlap};
pub use html::html;
pub use layer_words::{layer_kind, layer_words, member_words, says};
pub use packed::{Codes, Floats};
pub use page::{
    AgainstGaussian, Axis, Clusters, Column, Curve, GainPath, Histogram, Image, Judgement, Outlier,
    Outliers, Page, Quantiles, Samples, Setting, ShownAgreement, ShownCell, ShownDifference,
    ShownExpert, ShownGroup, ShownGroups, ShownLayer, ShownLayers, ShownMember, ShownMissing,
    ShownMissingColumn, ShownParameter, ShownRadial, ShownRow, ShownRows, Summary, Values,
};
