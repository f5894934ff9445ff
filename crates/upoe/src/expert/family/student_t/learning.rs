//! Learning a Student-t: its sums over projections, their gradient, its M-step.

use super::{StudentT, ln_norm_slope};
use crate::expert::{Curvature, Learnable, bounds};
use special::Gamma as _;
use upoe_kernels::{Term, ln_1p, map_sums, map_sums_ln};

/// The statistics of one component: Σ r, Σ r w, Σ r w u, Σ r w u², Σ r ln(1 + u²/ν), with
/// u = (z − μ)/s, w = 1/(1 + u²/ν) the IRLS weight (36) and r the responsibility (32).
pub const STATISTICS: usize = 5;

impl StudentT {
    /// The free ones of the gradient of ⟨−ln T⟩ in (μ, coordinate of s, coordinate of ν),
    /// from statistics weighted by responsibilities.
    pub(in crate::expert::family) fn push_gradient(
        &self,
        s: &[f64],
        weight: f64,
        out: &mut Vec<f64>,
    ) {
        let nu = self.degrees_of_freedom;
        let [r, _, wu, wuu, log] = [s[0], s[1], s[2], s[3], s[4]].map(|s| s / weight);
        if !self.fix_mu {
            out.push(-(nu + 1.0) / nu / self.scale * wu);
        }
        let by_ln_scale = r - (nu + 1.0) / nu * wuu;
        out.push(by_ln_scale * (1.0 - bounds::SCALE / self.scale).max(0.0));
        if !self.fix_beta {
            let by_nu = -ln_norm_slope(nu) * r + 0.5 * log - 0.5 * (nu + 1.0) * wuu / nu / nu;
            out.push(by_nu * (nu - bounds::DEGREES_OF_FREEDOM).max(0.0));
        }
    }

    /// The diagonal of the Fisher information in the same coordinates, times the share of the
    /// rows this component answers for.
    pub(in crate::expert::family) fn push_curvature(&self, share: f64, out: &mut Vec<f64>) {
        let nu = self.degrees_of_freedom;
        let share = share.max(1e-3);
        if !self.fix_mu {
            out.push(share * (nu + 1.0) / (nu + 3.0) / self.scale.powi(2));
        }
        let reach = (1.0 - bounds::SCALE / self.scale).max(0.1);
        out.push(share * 2.0 * nu / (nu + 3.0) * reach * reach);
        if !self.fix_beta {
            let half = 0.5 * nu;
            let by_nu = 0.25 * (half.trigamma() - (half + 0.5).trigamma())
                - (nu + 5.0) / (2.0 * nu * (nu + 1.0) * (nu + 3.0));
            let reach = (nu - bounds::DEGREES_OF_FREEDOM).max(0.1 * nu);
            out.push(share * (by_nu * reach * reach).max(0.02));
        }
    }

    pub(in crate::expert::family) fn push_coordinates(&self, out: &mut Vec<f64>) {
        if !self.fix_mu {
            out.push(self.location);
        }
        out.push(bounds::coordinate(self.scale, bounds::SCALE));
        if !self.fix_beta {
            out.push(bounds::coordinate(self.degrees_of_freedom, bounds::DEGREES_OF_FREEDOM));
        }
    }

    pub(in crate::expert::family) fn read_coordinates(
        &self,
        from: &mut impl Iterator<Item = f64>,
    ) -> Self {
        let next = |fixed: bool, value: f64| if fixed { Some(value) } else { None };
        let location =
            next(self.fix_mu, self.location).unwrap_or_else(|| from.next().unwrap_or(0.0));
        let scale = bounds::value(from.next().unwrap_or(0.0), bounds::SCALE);
        let degrees_of_freedom =
            next(self.fix_beta, self.degrees_of_freedom).unwrap_or_else(|| {
                bounds::value(from.next().unwrap_or(0.0), bounds::DEGREES_OF_FREEDOM)
            });
        self.changed(location, scale, degrees_of_freedom)
    }

    /// One M-step: IRLS for μ (37) and θ (38, with β for the printed α), a scaled gradient
    /// step for β (34).
    pub(in crate::expert::family) fn irls(&self, s: &[f64], weight: f64) -> Self {
        let nu = self.degrees_of_freedom;
        let [r, w, wu, wuu] = [s[0], s[1], s[2], s[3]];
        if !(r > 1e-12 * weight) {
            return self.clone();
        }
        let shift = if self.fix_mu { 0.0 } else { wu / w };
        // Σ w (z − μ_new)² in units of s².
        let square = (wuu - 2.0 * shift * wu + shift * shift * w).max(0.0);
        let scale = (self.scale * ((nu + 1.0) / nu * square / r).sqrt()).max(bounds::SCALE);
        let moved = self.changed(self.location + self.scale * shift, scale, nu);
        if self.fix_beta {
            return moved;
        }
        let (mut gradient, mut curvature) = (Vec::new(), Vec::new());
        self.push_gradient(s, weight, &mut gradient);
        self.push_curvature(r / weight, &mut curvature);
        let step = gradient.last().zip(curvature.last()).map_or(0.0, |(g, c)| g / c);
        let t = bounds::coordinate(nu, bounds::DEGREES_OF_FREEDOM) - step.clamp(-1.0, 1.0);
        moved.changed(moved.location, moved.scale, bounds::value(t, bounds::DEGREES_OF_FREEDOM))
    }
}

/// The slope at u = (z − μ)/σ, all statistics but the logarithm, and q = u²/ν.
#[inline(always)]
fn terms(u: f64, over_nu: f64, factor: f64) -> (f64, [f64; 5], f64) {
    let q = u * u * over_nu;
    let w = 1.0 / (1.0 + q);
    let slope = factor * u * w;
    (slope, [slope * slope, 1.0, w, w * u, w * u * u], q)
}

impl Term for StudentT {
    fn n_sums(&self) -> usize {
        1 + STATISTICS
    }

    fn block(&self, z: &[f64], weights: Option<&[f64]>, slopes: &mut [f64], sums: &mut [f64]) {
        let (mu, inverse, over_nu) =
            (self.location, 1.0 / self.scale, 1.0 / self.degrees_of_freedom);
        let factor = (self.degrees_of_freedom + 1.0) / self.degrees_of_freedom / self.scale;
        // With many degrees of freedom the digits of q count.
        if weights.is_none() && self.degrees_of_freedom < 50.0 {
            return map_sums_ln(
                z,
                slopes,
                sums,
                #[inline(always)]
                move |z| {
                    let (slope, statistics, q) = terms((z - mu) * inverse, over_nu, factor);
                    (slope, statistics, 1.0 + q)
                },
            );
        }
        map_sums(
            z,
            weights,
            slopes,
            sums,
            #[inline(always)]
            move |z| {
                let (slope, [a, b, c, d, e], q) = terms((z - mu) * inverse, over_nu, factor);
                (slope, [a, b, c, d, e, ln_1p(q)])
            },
        );
    }
}

impl Learnable for StudentT {
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

    fn curvature(&self, _: &[f64], _: f64) -> Curvature {
        let mut out = Vec::new();
        self.push_curvature(1.0, &mut out);
        Curvature::diagonal(out)
    }

    fn mean_square_slope(&self, sums: &[f64], weight: f64) -> f64 {
        sums[0] / weight
    }

    fn update(&self, sums: &[f64], weight: f64) -> Self {
        self.irls(&sums[1..], weight)
    }

    fn mirrored(&self) -> Option<Self> {
        let free = !self.fix_mu || self.location == 0.0;
        free.then(|| self.changed(-self.location, self.scale, self.degrees_of_freedom))
    }

    fn absorbs_norm(&self) -> bool {
        !self.fix_mu || self.location == 0.0
    }

    fn at_bound(&self) -> Option<&'static str> {
        if bounds::hit(self.scale, bounds::SCALE) {
            Some("smallest scale")
        } else if !self.fix_beta && bounds::hit(self.degrees_of_freedom, bounds::DEGREES_OF_FREEDOM)
        {
            Some("smallest beta")
        } else {
            None
        }
    }
}
