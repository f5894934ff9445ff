//! Pictures and the HTML page of upoe.
//!
//! [`build`] computes a [`Page`] (every number the page shows) from a fitted model and
//! rows; [`html`] turns it into one HTML file that needs no network. The front end lives in `page/`
//! (TypeScript); its built bundle is committed under `assets/`, so that building
//! this crate needs no Node. [`figure`] draws the figures of the experiments.

mod build;
pub mod figure;
mod finding;
mod html;
mod packed;
mod page;

pub use build::{Cells, FitRecord, Input, Kept, MOST_ROWS, Step, build, build_with};
pub use finding::{Finding, Overlap};
pub use html::html;
pub use packed::{Codes, Floats};
pub use page::{
    AgainstGaussian, Axis, Clusters, Column, Curve, GainPath, Histogram, Image, Outlier, Page,
    Quantiles, Samples, Setting, ShownExpert, ShownParameter, ShownRows, Summary, Values,
};
