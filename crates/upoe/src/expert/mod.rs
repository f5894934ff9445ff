//! Experts: normalised one-dimensional densities T(z; α), one file a family.
//!
//! A new family is one new file that implements [`Marginal`], and one line in the list below.

mod bounds;
mod lanes;
mod mixture;
mod normal;
mod quadrature;
mod spline;
mod student_t;
mod tilt;

pub use mixture::Mixture;
pub use student_t::{PaperGradient, StudentT};
pub use tilt::Tilt;

use rand::Rng;
use serde::{Deserialize, Serialize};
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

/// A named parameter; one value a component where the family has components.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// Its value or values.
    pub values: Vec<f64>,
    /// Whether learning leaves it as it is.
    pub held: bool,
}

/// A normalised density on the line with parameters α: what every family of experts can do.
///
/// Learning sees an expert through [`Term`]: sums over projections z of statistics that are
/// enough for the loss, its gradient and the family's own update. The *coordinates* are the
/// free parameters on scales without limits, so that any real vector is a valid expert.
pub trait Marginal: Term + Clone {
    /// ln T(z).
    fn ln_density(&self, z: f64) -> f64;

    /// The score E′(z) = −d ln T / dz.
    fn score(&self, z: f64) -> f64;

    /// P(Z ≤ z).
    fn cdf(&self, z: f64) -> f64;

    /// The z with P(Z ≤ z) = p.
    fn quantile(&self, p: f64) -> f64 {
        normal::invert(p, |z| self.cdf(z), |z| self.ln_density(z).exp())
    }

    /// One draw.
    fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> f64;

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

    /// The free parameters as unlimited coordinates.
    fn coordinates(&self) -> Vec<f64>;

    /// The expert at other coordinates; what is held stays.
    fn at(&self, coordinates: &[f64]) -> Self;

    /// How many parameters the data determine: the free ones, or their effective number
    /// under a penalty.
    fn degrees_of_freedom(&self) -> f64 {
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

    /// A positive diagonal that approximates the curvature of loss + penalty.
    fn curvature(&self, sums: &[f64], weight: f64) -> Vec<f64>;

    /// ⟨E′(z)²⟩, an estimate of the curvature of the loss along the direction.
    fn mean_square_score(&self, sums: &[f64], weight: f64) -> f64;

    /// The family's own update at a fixed direction: EM with IRLS, or a Newton step.
    fn update(&self, sums: &[f64], weight: f64) -> Self;

    /// The density of −Z, where what is held allows it.
    fn mirrored(&self) -> Option<Self>;

    /// Whether the norm of a direction can stay at 1: the expert takes up any scale of z, or is
    /// defined for z of unit variance. Otherwise (held locations) the norm is learned too.
    fn fixes_norm(&self) -> bool {
        true
    }

    /// Which lower bound of learning this expert lies at.
    fn at_bound(&self) -> Option<&'static str> {
        None
    }
}

macro_rules! families {
    ($($(#[$doc:meta])* $family:ident = $name:literal),+ $(,)?) => {
        /// The families of experts.
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
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "kind")]
        pub enum Expert { $($(#[$doc])* #[serde(rename = $name)] $family($family)),+ }

        impl Expert {
            /// Its family.
            pub fn family(&self) -> Family {
                match self { $(Expert::$family(_) => Family::$family),+ }
            }
        }

        $(impl From<$family> for Expert {
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
    /// A Gaussian tilted by a smooth function: light tails, skewness, several modes.
    Tilt = "tilt",
}

impl Expert {
    /// The standard normal, as the Student-t without limit of degrees of freedom.
    pub fn gaussian() -> Self {
        StudentT::standard_normal().into()
    }
}

impl Term for Expert {
    fn n_sums(&self) -> usize {
        each!(self, e => e.n_sums())
    }
    fn block(&self, z: &[f64], weights: Option<&[f64]>, scores: &mut [f64], sums: &mut [f64]) {
        each!(self, e => e.block(z, weights, scores, sums))
    }
}

impl Marginal for Expert {
    fn ln_density(&self, z: f64) -> f64 {
        each!(self, e => e.ln_density(z))
    }
    fn score(&self, z: f64) -> f64 {
        each!(self, e => e.score(z))
    }
    fn cdf(&self, z: f64) -> f64 {
        each!(self, e => e.cdf(z))
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
    fn coordinates(&self) -> Vec<f64> {
        each!(self, e => e.coordinates())
    }
    fn at(&self, coordinates: &[f64]) -> Self {
        each!(self, e => e.at(coordinates).into())
    }
    fn degrees_of_freedom(&self) -> f64 {
        each!(self, e => e.degrees_of_freedom())
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
    fn curvature(&self, sums: &[f64], weight: f64) -> Vec<f64> {
        each!(self, e => e.curvature(sums, weight))
    }
    fn mean_square_score(&self, sums: &[f64], weight: f64) -> f64 {
        each!(self, e => e.mean_square_score(sums, weight))
    }
    fn update(&self, sums: &[f64], weight: f64) -> Self {
        each!(self, e => e.update(sums, weight).into())
    }
    fn mirrored(&self) -> Option<Self> {
        each!(self, e => e.mirrored().map(Into::into))
    }
    fn fixes_norm(&self) -> bool {
        each!(self, e => e.fixes_norm())
    }
    fn at_bound(&self) -> Option<&'static str> {
        each!(self, e => e.at_bound())
    }
}
