//! Pictures and the HTML page of upoe.
//!
//! [`build`] computes a [`Page`] (every number the page shows) from a fitted model and
//! rows; [`html`] turns it into one HTML file that needs no network. The front end lives in `page/`
//! (TypeScript); its built bundle is committed under `assets/`, so that building
//! this crate needs no Node. [`figure`] draws the figures of the experiments.

mod build;
pub mod figure;
mod html;
mod packed;
mod page;
mod words;

pub use build::{Cells, Input, Kept, MOST_ROWS, Scores, Step, Training, build, build_with};
pub use html::html;
pub use packed::{Codes, Floats};
pub use page::{
    Axis, Clusters, Column, Curve, Estimate, Expert, GainPath, Histogram, Image, Likelihood,
    Outlier, Page, Parameter, Quantiles, Rows, Samples, Setting, Summary, Values,
};
pub use words::words;
