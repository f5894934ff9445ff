//! The generalised Student-t expert, equation (24).

use super::{Marginal, Parameter, Shape, bounds, normal};
use crate::error::{Result, invalid};
use rand::{Rng, RngExt};
use rand_distr::{Distribution, Gamma as GammaDistribution, StandardNormal};
use serde::{Deserialize, Serialize};
use special::{Beta as _, Gamma as _};
use upoe_kernels::{Term, ln_1p, map_sums, map_sums_ln};

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
    freedom: f64,
    /// Whether learning leaves μ as it is.
    pub hold_mu: bool,
    /// Whether learning leaves β as it is.
    pub hold_beta: bool,
}

/// A Student-t as it is stored; checked when it is read.
#[derive(Deserialize)]
struct Stored {
    location: f64,
    scale: f64,
    freedom: f64,
    hold_mu: bool,
    hold_beta: bool,
}

impl TryFrom<Stored> for StudentT {
    type Error = crate::Error;

    fn try_from(stored: Stored) -> Result<Self> {
        let Stored { location, scale, freedom, hold_mu, hold_beta } = stored;
        Ok(StudentT { hold_mu, hold_beta, ..StudentT::with_scale(location, scale, freedom)? })
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

/// The statistics of one component: Σ r, Σ r w, Σ r w u, Σ r w u², Σ r ln(1 + u²/ν), with
/// u = (z − μ)/s, w = 1/(1 + u²/ν) the IRLS weight (36) and r the responsibility (32).
pub(super) const STATISTICS: usize = 5;

impl StudentT {
    /// From the paper's parameters.
    pub fn new(mu: f64, theta: f64, beta: f64) -> Result<Self> {
        if !(theta > 0.0 && theta.is_finite()) {
            return invalid("theta", theta, "the inverse scale must be positive and finite");
        }
        if !(beta > 0.5) {
            return invalid("beta", beta, "beta must be above 1/2");
        }
        let freedom = 2.0 * beta - 1.0;
        Self::with_scale(mu, (2.0 / freedom).sqrt() / theta, freedom)
    }

    /// From a location, a scale and degrees of freedom ν = 2β − 1.
    pub fn with_scale(location: f64, scale: f64, freedom: f64) -> Result<Self> {
        if !location.is_finite() {
            return invalid("mu", location, "the location must be finite");
        }
        if !(scale > 0.0 && scale.is_finite()) {
            return invalid("scale", scale, "the scale must be positive and finite");
        }
        if !(freedom > 0.0) {
            return invalid("degrees of freedom", freedom, "must be positive");
        }
        let freedom = freedom.min(1e15);
        Ok(StudentT { location, scale, freedom, hold_mu: false, hold_beta: false })
    }

    /// The standard normal, to rounding.
    pub fn standard_normal() -> Self {
        StudentT { location: 0.0, scale: 1.0, freedom: 1e15, hold_mu: true, hold_beta: true }
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
        0.5 * (self.freedom + 1.0)
    }

    /// θ, the inverse scale of (24).
    pub fn theta(&self) -> f64 {
        (2.0 / self.freedom).sqrt() / self.scale
    }

    /// ν = 2β − 1.
    pub fn freedom(&self) -> f64 {
        self.freedom
    }

    /// The same with μ, scale or β changed; what is held is held as before.
    pub(super) fn changed(&self, location: f64, scale: f64, freedom: f64) -> Self {
        StudentT { location, scale, freedom, ..*self }
    }

    /// d ln T / d(θ, β, μ) at z: the summands of (25)–(27).
    pub fn paper_gradient(&self, z: f64) -> PaperGradient {
        let (theta, beta, d) = (self.theta(), self.beta(), z - self.location);
        let base = 1.0 + 0.5 * (theta * d).powi(2);
        PaperGradient {
            theta: 1.0 / theta - beta * theta * d * d / base,
            // Ψ(β) − Ψ(β − ½) = 2 c′(ν) + 1/ν, in the form that does not cancel.
            beta: 2.0 * ln_norm_slope(self.freedom) + 1.0 / self.freedom
                - (0.5 * (theta * d).powi(2)).ln_1p(),
            mu: beta * theta * theta * d / base,
        }
    }

    /// ln of the factor before the power.
    pub(super) fn ln_peak(&self) -> f64 {
        ln_norm(self.freedom) - self.scale.ln()
    }

    /// The free ones of the gradient of ⟨−ln T⟩ in (μ, coordinate of s, coordinate of ν),
    /// from statistics weighted by responsibilities.
    pub(super) fn push_gradient(&self, s: &[f64], weight: f64, out: &mut Vec<f64>) {
        let nu = self.freedom;
        let [r, _, wu, wuu, log] = [s[0], s[1], s[2], s[3], s[4]].map(|s| s / weight);
        if !self.hold_mu {
            out.push(-(nu + 1.0) / nu / self.scale * wu);
        }
        let by_ln_scale = r - (nu + 1.0) / nu * wuu;
        out.push(by_ln_scale * (1.0 - bounds::SCALE / self.scale).max(0.0));
        if !self.hold_beta {
            let by_nu = -ln_norm_slope(nu) * r + 0.5 * log - 0.5 * (nu + 1.0) * wuu / nu / nu;
            out.push(by_nu * (nu - bounds::FREEDOM).max(0.0));
        }
    }

    /// The diagonal of the Fisher information in the same coordinates, times the share of the
    /// rows this component answers for.
    pub(super) fn push_curvature(&self, share: f64, out: &mut Vec<f64>) {
        let nu = self.freedom;
        let share = share.max(1e-3);
        if !self.hold_mu {
            out.push(share * (nu + 1.0) / (nu + 3.0) / self.scale.powi(2));
        }
        let reach = (1.0 - bounds::SCALE / self.scale).max(0.1);
        out.push(share * 2.0 * nu / (nu + 3.0) * reach * reach);
        if !self.hold_beta {
            let half = 0.5 * nu;
            let by_nu = 0.25 * (half.trigamma() - (half + 0.5).trigamma())
                - (nu + 5.0) / (2.0 * nu * (nu + 1.0) * (nu + 3.0));
            let reach = (nu - bounds::FREEDOM).max(0.1 * nu);
            out.push(share * (by_nu * reach * reach).max(0.02));
        }
    }

    pub(super) fn push_coordinates(&self, out: &mut Vec<f64>) {
        if !self.hold_mu {
            out.push(self.location);
        }
        out.push(bounds::coordinate(self.scale, bounds::SCALE));
        if !self.hold_beta {
            out.push(bounds::coordinate(self.freedom, bounds::FREEDOM));
        }
    }

    pub(super) fn read_coordinates(&self, from: &mut impl Iterator<Item = f64>) -> Self {
        let next = |held: bool, value: f64| if held { Some(value) } else { None };
        let location =
            next(self.hold_mu, self.location).unwrap_or_else(|| from.next().unwrap_or(0.0));
        let scale = bounds::value(from.next().unwrap_or(0.0), bounds::SCALE);
        let freedom = next(self.hold_beta, self.freedom)
            .unwrap_or_else(|| bounds::value(from.next().unwrap_or(0.0), bounds::FREEDOM));
        self.changed(location, scale, freedom)
    }

    /// One M-step: IRLS for μ (37) and θ (38, with β for the printed α), a scaled gradient
    /// step for β (34).
    pub(super) fn irls(&self, s: &[f64], weight: f64) -> Self {
        let nu = self.freedom;
        let [r, w, wu, wuu] = [s[0], s[1], s[2], s[3]];
        if !(r > 1e-12 * weight) {
            return self.clone();
        }
        let shift = if self.hold_mu { 0.0 } else { wu / w };
        // Σ w (z − μ_new)² in units of s².
        let square = (wuu - 2.0 * shift * wu + shift * shift * w).max(0.0);
        let scale = (self.scale * ((nu + 1.0) / nu * square / r).sqrt()).max(bounds::SCALE);
        let moved = self.changed(self.location + self.scale * shift, scale, nu);
        if self.hold_beta {
            return moved;
        }
        let (mut gradient, mut curvature) = (Vec::new(), Vec::new());
        self.push_gradient(s, weight, &mut gradient);
        self.push_curvature(r / weight, &mut curvature);
        let step = gradient.last().zip(curvature.last()).map_or(0.0, |(g, c)| g / c);
        let t = bounds::coordinate(nu, bounds::FREEDOM) - step.clamp(-1.0, 1.0);
        moved.changed(moved.location, moved.scale, bounds::value(t, bounds::FREEDOM))
    }
}

/// The score at u = (z − μ)/σ, all statistics but the logarithm, and q = u²/ν.
#[inline(always)]
fn terms(u: f64, over_nu: f64, factor: f64) -> (f64, [f64; 5], f64) {
    let q = u * u * over_nu;
    let w = 1.0 / (1.0 + q);
    let score = factor * u * w;
    (score, [score * score, 1.0, w, w * u, w * u * u], q)
}

impl Term for StudentT {
    fn n_sums(&self) -> usize {
        1 + STATISTICS
    }

    fn block(&self, z: &[f64], weights: Option<&[f64]>, scores: &mut [f64], sums: &mut [f64]) {
        let (mu, inverse, over_nu) = (self.location, 1.0 / self.scale, 1.0 / self.freedom);
        let factor = (self.freedom + 1.0) / self.freedom / self.scale;
        // With many degrees of freedom the digits of q count.
        if weights.is_none() && self.freedom < 50.0 {
            return map_sums_ln(
                z,
                scores,
                sums,
                #[inline(always)]
                move |z| {
                    let (score, statistics, q) = terms((z - mu) * inverse, over_nu, factor);
                    (score, statistics, 1.0 + q)
                },
            );
        }
        map_sums(
            z,
            weights,
            scores,
            sums,
            #[inline(always)]
            move |z| {
                let (score, [a, b, c, d, e], q) = terms((z - mu) * inverse, over_nu, factor);
                (score, [a, b, c, d, e, ln_1p(q)])
            },
        );
    }
}

impl Marginal for StudentT {
    fn ln_density(&self, z: f64) -> f64 {
        let u = (z - self.location) / self.scale;
        self.ln_peak() - self.beta() * (u * u / self.freedom).ln_1p()
    }

    fn score(&self, z: f64) -> f64 {
        let u = (z - self.location) / self.scale;
        // u / (1 + u²/ν), safe where u² overflows.
        (self.freedom + 1.0) / self.scale / (self.freedom / u + u)
    }

    fn cdf(&self, z: f64) -> f64 {
        let (u, nu) = ((z - self.location) / self.scale, self.freedom);
        let upper = if nu > 1e4 {
            // Peizer-like expansion of the t in 1/ν about the normal; the first dropped term is
            // below 1e-14 here.
            let (u2, n) = (u.abs().min(1e3).powi(2), nu);
            let x = u.abs().min(1e3);
            let g1 = (u2 + 1.0) / 4.0;
            let g2 = (((3.0 * u2 - 7.0) * u2 - 5.0) * u2 - 3.0) / 96.0;
            let g3 = (((((u2 - 11.0) * u2 + 14.0) * u2 + 6.0) * u2 - 3.0) * u2 - 15.0) / 384.0;
            (normal::upper(x) + normal::density(x) * x * (g1 + (g2 + g3 / n) / n) / n)
                .clamp(0.0, 0.5)
        } else {
            // P(|U| > u) = I_{ν/(ν+u²)}(ν/2, ½), from whichever end has the smaller argument.
            let (a, b) = (0.5 * nu, 0.5);
            let (q, ln_beta) = (u * u / nu, a.ln_beta(b));
            if q > 1.0 {
                0.5 * (1.0 / (1.0 + q)).inc_beta(a, b, ln_beta)
            } else {
                0.5 * (1.0 - (q / (1.0 + q)).inc_beta(b, a, ln_beta))
            }
        };
        if u < 0.0 { upper } else { 1.0 - upper }
    }

    fn quantile(&self, p: f64) -> f64 {
        let unit = self.changed(0.0, 1.0, self.freedom);
        // The upper half by symmetry: small tail probabilities keep their digits.
        let z = normal::invert(p.min(1.0 - p), |z| unit.cdf(z), |z| unit.ln_density(z).exp());
        self.location + self.scale * if p < 0.5 { z } else { -z }
    }

    fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> f64 {
        // A precision y ~ Gamma(β − ½), z ~ N(μ, 1/y); appendix B's sampler leaves μ out.
        let shape = 0.5 * self.freedom;
        let normal: f64 = rng.sample(StandardNormal);
        let precision = GammaDistribution::new(shape, 1.0 / shape)
            .map_or(1.0, |gamma| gamma.sample(rng))
            .max(f64::MIN_POSITIVE);
        self.location + self.scale * normal / precision.sqrt()
    }

    fn shape(&self) -> Shape {
        let nu = self.freedom;
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
        let mean_log = 2.0 * ln_norm_slope(self.freedom) + 1.0 / self.freedom;
        self.beta() * mean_log - self.ln_peak()
    }

    fn parameters(&self) -> Vec<Parameter> {
        vec![
            Parameter { name: "mu", values: vec![self.location], held: self.hold_mu },
            Parameter { name: "theta", values: vec![self.theta()], held: false },
            Parameter { name: "beta", values: vec![self.beta()], held: self.hold_beta },
        ]
    }

    fn coordinates(&self) -> Vec<f64> {
        let mut out = Vec::new();
        self.push_coordinates(&mut out);
        out
    }

    fn at(&self, coordinates: &[f64]) -> Self {
        self.read_coordinates(&mut coordinates.iter().copied())
    }

    fn loss(&self, sums: &[f64], weight: f64) -> f64 {
        self.beta() * sums[5] / weight - self.ln_peak()
    }

    fn gradient(&self, sums: &[f64], weight: f64) -> Vec<f64> {
        let mut out = Vec::new();
        self.push_gradient(&sums[1..], weight, &mut out);
        out
    }

    fn curvature(&self, _: &[f64], _: f64) -> Vec<f64> {
        let mut out = Vec::new();
        self.push_curvature(1.0, &mut out);
        out
    }

    fn mean_square_score(&self, sums: &[f64], weight: f64) -> f64 {
        sums[0] / weight
    }

    fn update(&self, sums: &[f64], weight: f64) -> Self {
        self.irls(&sums[1..], weight)
    }

    fn mirrored(&self) -> Option<Self> {
        let free = !self.hold_mu || self.location == 0.0;
        free.then(|| self.changed(-self.location, self.scale, self.freedom))
    }

    fn fixes_norm(&self) -> bool {
        !self.hold_mu || self.location == 0.0
    }

    fn at_bound(&self) -> Option<&'static str> {
        if bounds::hit(self.scale, bounds::SCALE) {
            Some("smallest scale")
        } else if !self.hold_beta && bounds::hit(self.freedom, bounds::FREEDOM) {
            Some("smallest beta")
        } else {
            None
        }
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
    series - normal::HALF_LN_TAU
}

/// c′(ν) = ½Ψ((ν+1)/2) − ½Ψ(ν/2) − 1/(2ν), which tends to 0 as 1/(4ν²).
fn ln_norm_slope(nu: f64) -> f64 {
    let x = 0.5 * nu;
    if x < 24.0 {
        return 0.5 * ((x + 0.5).digamma() - x.digamma()) - 0.5 / nu;
    }
    let y = 1.0 / (x * x);
    0.5 * y
        * (0.125
            - y * (3.0 / 192.0 - y * (5.0 / 640.0 - y * (119.0 / 14336.0 - y * (279.0 / 18432.0)))))
}
