//! The Rust half of the `upoe` Python package: thin wrappers, no mathematics.

mod arrays;
mod choices;
mod cluster;
mod compare;
mod detector;
mod errors;
mod expert;
mod explanation;
mod fit;
mod holdout;
mod memory;
mod missing;
mod model;
mod report;
mod settings;
mod threads;
mod work;

use pyo3::prelude::*;

/// Compiled parts of upoe.
#[pymodule]
mod _upoe {
    #[pymodule_export]
    use super::choices::{choices, defaults, detectable};
    #[pymodule_export]
    use super::cluster::{PyPartition, fit_cluster, look, sample_rows, sphere};
    #[pymodule_export]
    use super::compare::compare;
    #[pymodule_export]
    use super::detector::{PyDetector, exceeded_by, fit_detector};
    #[pymodule_export]
    use super::expert::PyExpert;
    #[pymodule_export]
    use super::fit::fit;
    #[pymodule_export]
    use super::holdout::held_out;
    #[pymodule_export]
    use super::missing::{
        draw_given, draw_missing, expect, impute, missing, quantiles_given, score_given,
    };
    #[pymodule_export]
    use super::model::PyModel;
    #[pymodule_export]
    use super::report::report;
    #[pymodule_export]
    use super::settings::dials;

    // An init function would leave the generated stubs incomplete, with a catch-all.
    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
