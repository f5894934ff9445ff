//! What a one-dimensional density can do, and what learning asks of it.

use super::{Curvature, normal};
use rand::{Rng, RngExt};
use serde::Serialize;
use upoe_kernels::Term;

/// Mean, variance and excess kurtosis; NaN or infinite where they do not exist.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Shape {
    /// The mean.
    pub mean: f64,
    /// The variance.
    pub variance: f64,
    /// Fourth central moment over the squared variance, less 3.
    pub kurtosis: f64,
}

/// A named parameter, with one value per component where the family has components.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// Its value or values.
    pub values: Vec<f64>,
    /// Whether it is fixed: learning does not change it.
    pub fixed: bool,
}

/// A normalised density T(z) on the line.
///
/// Programs can implement it for densities of their own, to compare them with learned experts.
/// `examples/own_expert.rs` does so.
pub trait Marginal {
    /// ln T(z).
    fn ln_density(&self, z: f64) -> f64;

    /// E′(z) = −d ln T / dz, the slope of the energy.
    fn energy_slope(&self, z: f64) -> f64;

    /// P(Z ≤ z).
    fn cdf(&self, z: f64) -> f64;

    /// P(Z > z), which keeps its digits where 1 − P(Z ≤ z) has lost them.
    fn upper_tail(&self, z: f64) -> f64 {
        1.0 - self.cdf(z)
    }

    /// The z with P(Z ≤ z) = p.
    fn quantile(&self, p: f64) -> f64 {
        let mass = |z, upper| if upper { self.upper_tail(z) } else { self.cdf(z) };
        normal::invert(p, mass, |z| self.ln_density(z).exp())
    }

    /// One draw.
    fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> f64 {
        self.quantile(rng.random_range(f64::EPSILON..1.0))
    }

    /// Mean, variance, kurtosis.
    fn shape(&self) -> Shape;

    /// −∫ T ln T in nats.
    fn entropy(&self) -> f64;

    /// Negentropy in nats: the entropy of a Gaussian of the same variance less this one's;
    /// infinite where the variance is.
    fn negentropy(&self) -> f64 {
        0.5 * (std::f64::consts::TAU * std::f64::consts::E * self.shape().variance).ln()
            - self.entropy()
    }

    /// The parameters by name.
    fn parameters(&self) -> Vec<Parameter>;
}

/// What learning asks of a family of experts. Only the families of this crate implement it.
///
/// Learning sees an expert through [`Term`]: sums over projections z of statistics that
/// determine the loss, its gradient and the family's own update. The *coordinates* are the
/// free parameters on unlimited scales, so that any real vector is a valid expert.
pub trait Learnable: Marginal + Term + Clone + sealed::Sealed {
    /// The free parameters as unlimited coordinates.
    fn coordinates(&self) -> Vec<f64>;

    /// The expert at other coordinates. Fixed parameters stay as they are.
    fn at(&self, coordinates: &[f64]) -> Self;

    /// How many parameters the data determine: the free ones, or their effective number
    /// under a penalty.
    fn free_parameters(&self) -> f64 {
        self.coordinates().len() as f64
    }

    /// ⟨−ln T(z)⟩ from the sums over projections of total weight `weight`.
    fn loss(&self, sums: &[f64], weight: f64) -> f64;

    /// What learning adds to the loss to keep the expert smooth.
    fn penalty(&self) -> f64 {
        0.0
    }

    /// The gradient of loss + penalty in the coordinates: (7), (20), with the errata.
    fn gradient(&self, sums: &[f64], weight: f64) -> Vec<f64>;

    /// The curvature of loss + penalty, roughly.
    fn curvature(&self, sums: &[f64], weight: f64) -> Curvature;

    /// ⟨E′(z)²⟩, an estimate of the curvature of the loss along the direction.
    fn mean_square_slope(&self, sums: &[f64], weight: f64) -> f64;

    /// The family's own update at a fixed direction: EM with IRLS, or a Newton step.
    fn update(&self, sums: &[f64], weight: f64) -> Self;

    /// The density of −Z, where the fixed parameters allow it.
    fn mirrored(&self) -> Option<Self>;

    /// Whether the norm of a direction can stay at 1: the expert absorbs any scale of z, or is
    /// defined for z of unit variance. Otherwise (fixed locations) the norm is learned too.
    fn absorbs_norm(&self) -> bool {
        true
    }

    /// Which lower bound of learning this expert has reached.
    fn at_bound(&self) -> Option<&'static str> {
        None
    }
}

pub(crate) mod sealed {
    /// Implemented by the families of this crate alone.
    pub trait Sealed {}
}
