//! How large the best gain on Gaussian rows is.

use crate::expert::Expert;

/// The chance that the best direction of Gaussian rows gains as much.
pub fn p_value(_expert: &Expert, _weight: f64, _dims: usize, _gain: f64) -> f64 {
    0.0
}

/// Whether the table covers rows of total weight `weight` in `dims` free dimensions.
pub fn covers(_weight: f64, _dims: usize) -> bool {
    true
}
