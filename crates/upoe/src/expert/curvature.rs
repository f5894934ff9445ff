//! How loss + penalty bends with an expert's coordinates, as far as an optimiser needs it.

use super::family::Factor;

/// A positive definite approximation of the curvature of loss + penalty.
#[derive(Clone, Debug)]
pub struct Curvature(Form);

#[derive(Clone, Debug)]
enum Form {
    Diagonal(Vec<f64>),
    /// In units of the scales, one per coordinate.
    Banded {
        scales: Vec<f64>,
        factor: Factor,
    },
}

impl Curvature {
    /// From a positive diagonal.
    pub fn diagonal(entries: Vec<f64>) -> Self {
        Curvature(Form::Diagonal(entries))
    }

    /// From a factor in units of the given scales.
    pub(super) fn banded(scales: &[f64], factor: Factor) -> Self {
        Curvature(Form::Banded { scales: scales.to_vec(), factor })
    }

    /// The inverse times a vector.
    pub fn solve(&self, v: &[f64]) -> Vec<f64> {
        let over = |v: &[f64], by: &[f64]| v.iter().zip(by).map(|(v, c)| v / c).collect();
        match &self.0 {
            Form::Diagonal(entries) => over(v, entries),
            Form::Banded { scales, factor } => over(&factor.solve(&over(v, scales)), scales),
        }
    }
}
