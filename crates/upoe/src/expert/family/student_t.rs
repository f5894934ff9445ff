//! The generalised Student-t expert, equation (24).

mod device;
mod learning;
mod tail;

pub(super) use learning::STATISTICS;

use crate::error::{Result, invalid};
use crate::expert::{Marginal, Parameter, Shape, normal};
use crate::linalg::HALF_LN_TAU;
use rand::{Rng, RngExt};
use rand_distr::{Distribution, Gamma as GammaDistribution, StandardNormal};
use serde::{Deserialize, Serialize};
use special::Gamma as _;

/// T(z) = Γ(β) θ / (Γ(β − ½) √2π) · (1 + ½ θ² (z − μ)²)^(−β)   (24)
///
/// Kept as a location μ, a scale s and ν = 2β − 1 degrees of freedom, with θ² = 2 / (ν s²):
/// as β → ∞ this tends to the Gaussian of mean μ and deviation s without losing a digit,
/// where θ underflows and lnΓ(β) − lnΓ(β − ½) cancels.
///
/// ```
/// use upoe::expert::{Marginal, StudentT};
/// let expert = StudentT::new(0.0, 1.0, 2.0)?; // μ, θ, β
/// assert!((expert.ln_density(0.0).exp() - 0.45015815807855303).abs() < 1e-12);
/// # Ok::<(), upoe::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Stored")]
pub struct StudentT {
    location: f64,
    scale: f64,
    degrees_of_freedom: f64,
    /// ln of the factor before the power.
    #[serde(skip_serializing)]
    ln_peak: f64,
    /// Whether μ is fixed: learning does not change it.
    pub fix_mu: bool,
    /// Whether β is fixed.
    pub fix_beta: bool,
}

/// A Student-t as it is stored; checked when it is read. The aliases are the names of format 1.
#[derive(Deserialize)]
struct Stored {
    location: f64,
    scale: f64,
    #[serde(alias = "freedom")]
    degrees_of_freedom: f64,
    #[serde(alias = "hold_mu")]
    fix_mu: bool,
    #[serde(alias = "hold_beta")]
    fix_beta: bool,
}

/// With fewer degrees of freedom than this, one draw in a thousand lies beyond 1e300.
const FEWEST_DEGREES_OF_FREEDOM: f64 = 0.01;

/// Draws lie within ± this, so that sums of them are finite.
const FARTHEST_DRAW: f64 = 1e300;

impl TryFrom<Stored> for StudentT {
    type Error = crate::Error;

    fn try_from(stored: Stored) -> Result<Self> {
        let Stored { location, scale, degrees_of_freedom, fix_mu, fix_beta } = stored;
        Ok(StudentT {
            fix_mu,
            fix_beta,
            ..StudentT::with_scale(location, scale, degrees_of_freedom)?
        })
    }
}

/// d ln T / d(θ, β, μ) at one z: the summands of (25), (26) and (27), with z − μ for z and the
/// sign of (27) put right.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PaperGradient {
    /// (25).
    pub theta: f64,
    /// (26).
    pub beta: f64,
    /// (27).
    pub mu: f64,
}

impl StudentT {
    /// From the paper's parameters.
    pub fn new(mu: f64, theta: f64, beta: f64) -> Result<Self> {
        if !(theta > 0.0 && theta.is_finite()) {
            return invalid("theta", theta, "the inverse scale must be positive and finite");
        }
        if !(beta > 0.5) {
            return invalid("beta", beta, "beta must be above 1/2");
        }
        let degrees_of_freedom = 2.0 * beta - 1.0;
        Self::with_scale(mu, (2.0 / degrees_of_freedom).sqrt() / theta, degrees_of_freedom)
    }

    /// From a location, a scale and degrees of freedom ν = 2β − 1.
    pub fn with_scale(location: f64, scale: f64, degrees_of_freedom: f64) -> Result<Self> {
        if !location.is_finite() {
            return invalid("mu", location, "the location must be finite");
        }
        if !(scale > 0.0 && scale.is_finite()) {
            return invalid("scale", scale, "the scale must be positive and finite");
        }
        if !(degrees_of_freedom >= FEWEST_DEGREES_OF_FREEDOM) {
            return invalid("degrees of freedom", degrees_of_freedom, "must be 0.01 or more");
        }
        Ok(Self::of(location, scale, degrees_of_freedom.min(1e15)))
    }

    fn of(location: f64, scale: f64, degrees_of_freedom: f64) -> Self {
        let ln_peak = ln_norm(degrees_of_freedom) - scale.ln();
        StudentT { location, scale, degrees_of_freedom, ln_peak, fix_mu: false, fix_beta: false }
    }

    /// The standard normal, to rounding.
    pub fn standard_normal() -> Self {
        StudentT { fix_mu: true, fix_beta: true, ..Self::of(0.0, 1.0, 1e15) }
    }

    /// The location μ.
    pub fn mu(&self) -> f64 {
        self.location
    }

    /// The scale s, which tends to the standard deviation as β → ∞.
    pub fn scale(&self) -> f64 {
        self.scale
    }

    /// β = (ν + 1) / 2, the inverse temperature.
    pub fn beta(&self) -> f64 {
        0.5 * (self.degrees_of_freedom + 1.0)
    }

    /// θ, the inverse scale of (24).
    pub fn theta(&self) -> f64 {
        (2.0 / self.degrees_of_freedom).sqrt() / self.scale
    }

    /// ν = 2β − 1.
    pub fn degrees_of_freedom(&self) -> f64 {
        self.degrees_of_freedom
    }

    /// The same with μ, scale or β changed; what is fixed is fixed as before.
    pub(super) fn changed(&self, location: f64, scale: f64, degrees_of_freedom: f64) -> Self {
        let Self { fix_mu, fix_beta, .. } = *self;
        StudentT { fix_mu, fix_beta, ..Self::of(location, scale, degrees_of_freedom) }
    }

    /// d ln T / d(θ, β, μ) at z: the summands of (25)–(27).
    pub fn paper_gradient(&self, z: f64) -> PaperGradient {
        let (theta, beta, d) = (self.theta(), self.beta(), z - self.location);
        let base = 1.0 + 0.5 * (theta * d).powi(2);
        PaperGradient {
            theta: 1.0 / theta - beta * theta * d * d / base,
            // Ψ(β) − Ψ(β − ½) = 2 c′(ν) + 1/ν, in the form that does not cancel.
            beta: 2.0 * ln_norm_slope(self.degrees_of_freedom) + 1.0 / self.degrees_of_freedom
                - (0.5 * (theta * d).powi(2)).ln_1p(),
            mu: beta * theta * theta * d / base,
        }
    }

    /// P(Z ≤ z) and P(Z > z), the smaller one to full relative precision.
    fn tails(&self, z: f64) -> (f64, f64) {
        let u = (z - self.location) / self.scale;
        let tail = tail::upper_tail(u.abs(), self.degrees_of_freedom);
        if u < 0.0 { (tail, 1.0 - tail) } else { (1.0 - tail, tail) }
    }

    /// ln of the factor before the power.
    pub(super) fn ln_peak(&self) -> f64 {
        self.ln_peak
    }
}

impl Marginal for StudentT {
    fn ln_density(&self, z: f64) -> f64 {
        let u = (z - self.location) / self.scale;
        self.ln_peak() - self.beta() * (u * u / self.degrees_of_freedom).ln_1p()
    }

    fn energy_slope(&self, z: f64) -> f64 {
        let u = (z - self.location) / self.scale;
        // u / (1 + u²/ν), safe where u² overflows.
        (self.degrees_of_freedom + 1.0) / self.scale / (self.degrees_of_freedom / u + u)
    }

    fn cdf(&self, z: f64) -> f64 {
        self.tails(z).0
    }

    fn upper_tail(&self, z: f64) -> f64 {
        self.tails(z).1
    }

    fn quantile(&self, p: f64) -> f64 {
        let unit = self.changed(0.0, 1.0, self.degrees_of_freedom);
        let mass = |z, upper| if upper { unit.upper_tail(z) } else { unit.cdf(z) };
        self.location + self.scale * normal::invert(p, mass, |z| unit.ln_density(z).exp())
    }

    fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> f64 {
        // A precision y ~ Gamma(β − ½), z ~ N(μ, 1/y); appendix B's sampler leaves μ out.
        let shape = 0.5 * self.degrees_of_freedom;
        let normal: f64 = rng.sample(StandardNormal);
        let mut gamma = |shape: f64, scale: f64| {
            GammaDistribution::new(shape, scale).map_or(1.0, |gamma| gamma.sample(rng))
        };
        let root = if shape < 0.05 {
            // y itself underflows: ln Gamma(a) = ln Gamma(a + 1) − Exp(1) / a.
            let ln_precision = gamma(shape + 1.0, 1.0 / shape).ln() - gamma(1.0, 1.0) / shape;
            (0.5 * ln_precision).exp().max(f64::MIN_POSITIVE)
        } else {
            gamma(shape, 1.0 / shape).max(f64::MIN_POSITIVE).sqrt()
        };
        (self.location + self.scale * normal / root).clamp(-FARTHEST_DRAW, FARTHEST_DRAW)
    }

    fn shape(&self) -> Shape {
        let nu = self.degrees_of_freedom;
        Shape {
            mean: if nu > 1.0 { self.location } else { f64::NAN },
            // (28): 1 / (θ² (β − 3/2)).
            variance: if nu > 2.0 { self.scale.powi(2) * nu / (nu - 2.0) } else { f64::INFINITY },
            // (29), with the fourth moment over ⟨z²⟩²: 3 / (β − 5/2).
            kurtosis: if nu > 4.0 { 6.0 / (nu - 4.0) } else { f64::INFINITY },
        }
    }

    fn entropy(&self) -> f64 {
        // ⟨ln(1 + u²/ν)⟩ = Ψ(β) − Ψ(β − ½).
        let mean_log = 2.0 * ln_norm_slope(self.degrees_of_freedom) + 1.0 / self.degrees_of_freedom;
        self.beta() * mean_log - self.ln_peak()
    }

    fn parameters(&self) -> Vec<Parameter> {
        vec![
            Parameter { name: "mu", values: vec![self.location], fixed: self.fix_mu },
            Parameter { name: "theta", values: vec![self.theta()], fixed: false },
            Parameter { name: "beta", values: vec![self.beta()], fixed: self.fix_beta },
        ]
    }
}

/// c(ν) = lnΓ((ν+1)/2) − lnΓ(ν/2) − ½ ln πν, which tends to −½ ln 2π.
fn ln_norm(nu: f64) -> f64 {
    let x = 0.5 * nu;
    if x < 24.0 {
        return special::Gamma::ln_gamma(x + 0.5).0
            - special::Gamma::ln_gamma(x).0
            - 0.5 * (std::f64::consts::PI * nu).ln();
    }
    // lnΓ(x+½) − lnΓ(x) − ½ ln x as a series in 1/x.
    let y = 1.0 / (x * x);
    let series = (-0.125
        + y * (1.0 / 192.0 + y * (-1.0 / 640.0 + y * (17.0 / 14336.0 - y * (31.0 / 18432.0)))))
        / x;
    series - HALF_LN_TAU
}

/// c′(ν) = ½Ψ((ν+1)/2) − ½Ψ(ν/2) − 1/(2ν), which tends to 0 as 1/(4ν²).
pub(super) fn ln_norm_slope(nu: f64) -> f64 {
    let x = 0.5 * nu;
    if x < 24.0 {
        return 0.5 * ((x + 0.5).digamma() - x.digamma()) - 0.5 / nu;
    }
    let y = 1.0 / (x * x);
    0.5 * y
        * (0.125
            - y * (3.0 / 192.0 - y * (5.0 / 640.0 - y * (119.0 / 14336.0 - y * (279.0 / 18432.0)))))
}
