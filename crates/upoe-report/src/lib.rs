//! Pictures and the HTML page of upoe.
//!
//! [`html`] turns a [`Page`] (every number the page shows, computed in Rust) into
//! one HTML file that needs no network. The front end lives in `page/`
//! (TypeScript); its built bundle is committed under `assets/`, so that building
//! this crate needs no Node.

mod html;
mod packed;
mod page;
mod words;

pub use html::html;
pub use packed::{Codes, Floats};
pub use page::{
    Axis, Clusters, Column, Curve, Estimate, Expert, GainPath, Histogram, Image, Likelihood,
    Outlier, Page, Parameter, Quantiles, Rows, Samples, Setting, Summary, Values,
};
pub use words::words;
