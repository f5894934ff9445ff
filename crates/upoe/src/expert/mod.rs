//! Experts: normalised one-dimensional densities T(z; α), one file per family.
//!
//! [`Marginal`] is what every density can do, [`Learnable`] what learning asks of a family. A new
//! family is one new file in `family/` and one line in the list below.

mod bounds;
mod curvature;
mod curve;
pub mod device;
mod family;
mod lanes;
mod marginal;
pub(crate) mod normal;
mod quadrature;

pub use curvature::Curvature;
pub use family::{Mixture, PaperGradient, StudentT, Tilt};
pub use marginal::{Learnable, Marginal, Parameter, Shape};

pub(crate) use curve::Curve;

use family::TiltSampler;
use marginal::sealed::Sealed;
use rand::Rng;
use serde::{Deserialize, Serialize};
use upoe_kernels::Term;

macro_rules! families {
    ($($(#[$doc:meta])* $family:ident = $name:literal),+ $(,)?) => {
        /// The families of experts. Matches over them are exhaustive: the compiler names every place
        /// that a new family concerns.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum Family { $($(#[$doc])* #[serde(rename = $name)] $family),+ }

        impl Family {
            /// Every family.
            pub const ALL: &'static [Family] = &[$(Family::$family),+];

            /// The name users know it by.
            pub fn name(self) -> &'static str {
                match self { $(Family::$family => $name),+ }
            }
        }

        /// An expert of any family.
        // Experts are few; a box would only add a step to every use.
        #[allow(clippy::large_enum_variant)]
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "kind")]
        pub enum Expert { $($(#[$doc])* #[serde(rename = $name)] $family($family)),+ }

        impl Expert {
            /// Its family.
            pub fn family(&self) -> Family {
                match self { $(Expert::$family(_) => Family::$family),+ }
            }
        }

        $(impl Sealed for $family {}

        impl From<$family> for Expert {
            fn from(expert: $family) -> Self { Expert::$family(expert) }
        })+

        macro_rules! each {
            ($expert:expr, $e:ident => $body:expr) => {
                match $expert { $(Expert::$family($e) => $body),+ }
            };
        }
    };
}

families! {
    /// The generalised Student-t (24): heavy tails, down to the Gaussian.
    StudentT = "student-t",
    /// A mixture of Student-t components (31): groups.
    Mixture = "mixture",
    /// A smooth density whose tails follow the data: skewness, several modes, light or heavy tails.
    Tilt = "tilt",
}

impl Expert {
    /// The standard normal, as a Student-t with (nearly) infinite degrees of freedom.
    pub fn gaussian() -> Self {
        StudentT::standard_normal().into()
    }

    /// Prepares many draws. They are those of [`Marginal::sample`].
    pub(crate) fn sampler(&self) -> Sampler<'_> {
        match self {
            Expert::StudentT(_) | Expert::Mixture(_) => Sampler::Direct(self),
            Expert::Tilt(tilt) => Sampler::Tilt(tilt.sampler()),
        }
    }
}

/// An expert with what drawing from it needs.
pub(crate) enum Sampler<'a> {
    /// Nothing.
    Direct(&'a Expert),
    /// A table.
    Tilt(TiltSampler),
}

impl Sampler<'_> {
    /// One draw.
    pub(crate) fn draw<R: Rng + ?Sized>(&self, rng: &mut R) -> f64 {
        match self {
            Sampler::Direct(expert) => expert.sample(rng),
            Sampler::Tilt(tilt) => tilt.draw(rng),
        }
    }
}

impl Term for Expert {
    fn n_sums(&self) -> usize {
        each!(self, e => e.n_sums())
    }
    fn block(&self, z: &[f64], weights: Option<&[f64]>, slopes: &mut [f64], sums: &mut [f64]) {
        each!(self, e => e.block(z, weights, slopes, sums))
    }
}

impl Sealed for Expert {}

impl Marginal for Expert {
    fn ln_density(&self, z: f64) -> f64 {
        each!(self, e => e.ln_density(z))
    }
    fn energy_slope(&self, z: f64) -> f64 {
        each!(self, e => e.energy_slope(z))
    }
    fn cdf(&self, z: f64) -> f64 {
        each!(self, e => e.cdf(z))
    }
    fn upper_tail(&self, z: f64) -> f64 {
        each!(self, e => e.upper_tail(z))
    }
    fn quantile(&self, p: f64) -> f64 {
        each!(self, e => e.quantile(p))
    }
    fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> f64 {
        each!(self, e => e.sample(rng))
    }
    fn shape(&self) -> Shape {
        each!(self, e => e.shape())
    }
    fn entropy(&self) -> f64 {
        each!(self, e => e.entropy())
    }
    fn parameters(&self) -> Vec<Parameter> {
        each!(self, e => e.parameters())
    }
}

impl Learnable for Expert {
    fn coordinates(&self) -> Vec<f64> {
        each!(self, e => e.coordinates())
    }
    fn at(&self, coordinates: &[f64]) -> Self {
        each!(self, e => e.at(coordinates).into())
    }
    fn free_parameters(&self) -> f64 {
        each!(self, e => e.free_parameters())
    }
    fn loss(&self, sums: &[f64], weight: f64) -> f64 {
        each!(self, e => e.loss(sums, weight))
    }
    fn penalty(&self) -> f64 {
        each!(self, e => e.penalty())
    }
    fn gradient(&self, sums: &[f64], weight: f64) -> Vec<f64> {
        each!(self, e => e.gradient(sums, weight))
    }
    fn curvature(&self, sums: &[f64], weight: f64) -> Curvature {
        each!(self, e => e.curvature(sums, weight))
    }
    fn mean_square_slope(&self, sums: &[f64], weight: f64) -> f64 {
        each!(self, e => e.mean_square_slope(sums, weight))
    }
    fn update(&self, sums: &[f64], weight: f64) -> Self {
        each!(self, e => e.update(sums, weight).into())
    }
    fn mirrored(&self) -> Option<Self> {
        each!(self, e => e.mirrored().map(Into::into))
    }
    fn absorbs_norm(&self) -> bool {
        each!(self, e => e.absorbs_norm())
    }
    fn at_bound(&self) -> Option<&'static str> {
        each!(self, e => e.at_bound())
    }
}
