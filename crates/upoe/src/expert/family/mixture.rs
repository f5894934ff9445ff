//! Mixtures of Student-t components, equations (31)–(38).

mod device;

use super::student_t::{STATISTICS, StudentT};
use crate::error::{Result, invalid};
use crate::expert::{Curvature, Learnable, Marginal, Parameter, Shape, lanes, quadrature};
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};
use upoe_kernels::{Term, dispatch, exp, ln, ln_1p};

/// T(z) = Σₐ πₐ Tₐ(z; αₐ)   (31), the components in order of their μ.
///
/// ```
/// use upoe::expert::{Marginal, Mixture, StudentT};
/// let group = |mu| StudentT::new(mu, 0.5, 20.0);
/// let expert = Mixture::new(vec![0.5, 0.5], vec![group(-1.0)?, group(1.0)?])?;
/// assert!((expert.cdf(0.0) - 0.5).abs() < 1e-12);
/// # Ok::<(), upoe::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Stored")]
pub struct Mixture {
    weights: Vec<f64>,
    components: Vec<StudentT>,
}

/// A mixture as it is stored; checked when it is read, and not rescaled: bits stay.
#[derive(Deserialize)]
struct Stored {
    weights: Vec<f64>,
    components: Vec<StudentT>,
}

/// How many nodes the components share to find the entropy.
const ENTROPY_NODES: usize = 100_000;

impl TryFrom<Stored> for Mixture {
    type Error = crate::Error;

    fn try_from(stored: Stored) -> Result<Self> {
        Mixture::new(stored.weights.clone(), stored.components.clone())?;
        let total: f64 = stored.weights.iter().sum();
        if !((total - 1.0).abs() < 1e-6) {
            return invalid("weights", total, "stored mixing coefficients must sum to 1");
        }
        Ok(Mixture { weights: stored.weights, components: stored.components })
    }
}

impl Mixture {
    /// How many components a mixture may have. The entropy takes the square of their number.
    pub const MOST_COMPONENTS: usize = 100;

    /// From mixing coefficients πₐ, which are scaled to sum to 1, and components.
    pub fn new(weights: Vec<f64>, components: Vec<StudentT>) -> Result<Self> {
        if components.len() > Self::MOST_COMPONENTS {
            return invalid("components", components.len(), "a mixture has at most 100");
        }
        if components.is_empty() || weights.len() != components.len() {
            return invalid(
                "weights",
                weights.len(),
                "one mixing coefficient per component is needed",
            );
        }
        if let Some(bad) = weights.iter().find(|w| !(**w > 0.0 && w.is_finite())) {
            return invalid("weights", bad, "mixing coefficients must be positive");
        }
        let total: f64 = weights.iter().sum();
        if !total.is_finite() {
            return invalid("weights", total, "the sum of mixing coefficients must be finite");
        }
        let weights = weights.iter().map(|w| w / total).collect();
        Ok(Mixture { weights, components }.sorted())
    }

    /// πₐ.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// The components, in order of μ.
    pub fn components(&self) -> &[StudentT] {
        &self.components
    }

    /// rₐ(z), the responsibility of each component for z (32).
    pub fn responsibilities(&self, z: f64) -> Vec<f64> {
        let terms: Vec<f64> = self.ln_terms(z).collect();
        let top = terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let total: f64 = terms.iter().map(|t| (t - top).exp()).sum();
        terms.iter().map(|t| (t - top).exp() / total).collect()
    }

    /// Nearly the same density with `n` components, if it has fewer: the heaviest is divided into a
    /// narrower and a wider one, as often as needed. Learning could not part two equal components:
    /// their gradients are equal too.
    pub(crate) fn divided(mut self, n: usize) -> Self {
        while self.components.len() < n {
            let (heaviest, _) = (self.weights.iter().enumerate())
                .fold((0, 0.0), |best, (a, w)| if *w > best.1 { (a, *w) } else { best });
            let whole = self.components[heaviest].clone();
            let scaled =
                |by: f64| whole.changed(whole.mu(), by * whole.scale(), whole.degrees_of_freedom());
            self.weights[heaviest] *= 0.5;
            self.weights.push(self.weights[heaviest]);
            self.components[heaviest] = scaled(0.7);
            self.components.push(scaled(1.3));
        }
        self.sorted()
    }

    /// The mean of a probability over the components.
    fn mean(&self, of: impl Fn(&StudentT) -> f64) -> f64 {
        let sum: f64 = self.weights.iter().zip(&self.components).map(|(w, c)| w * of(c)).sum();
        sum.clamp(0.0, 1.0)
    }

    fn ln_terms(&self, z: f64) -> impl Iterator<Item = f64> {
        self.weights.iter().zip(&self.components).map(move |(w, c)| w.ln() + c.ln_density(z))
    }

    /// One way to write a mixture: components by μ, then by scale.
    fn sorted(self) -> Self {
        let mut pairs: Vec<_> = self.weights.into_iter().zip(self.components).collect();
        pairs.sort_by(|(_, a), (_, b)| {
            a.mu().total_cmp(&b.mu()).then(a.scale().total_cmp(&b.scale()))
        });
        let (weights, components) = pairs.into_iter().unzip();
        Mixture { weights, components }
    }

    fn statistics(sums: &[f64]) -> impl Iterator<Item = &[f64]> {
        sums[2..].chunks_exact(STATISTICS)
    }
}

impl Term for Mixture {
    fn n_sums(&self) -> usize {
        2 + STATISTICS * self.components.len()
    }

    fn block(&self, z: &[f64], weights: Option<&[f64]>, slopes: &mut [f64], sums: &mut [f64]) {
        const C: usize = lanes::CHUNK;
        #[derive(Clone, Copy)]
        struct Work {
            u: [f64; C],
            w: [f64; C],
            log: [f64; C],
            r: [f64; C],
        }
        let k = self.components.len();
        let mut work = vec![Work { u: [0.0; C], w: [0.0; C], log: [0.0; C], r: [0.0; C] }; k];
        let mut lanes = vec![[0.0; 8]; self.n_sums()];
        let constants: Vec<[f64; 5]> = (self.weights.iter().zip(&self.components))
            .map(|(p, c)| {
                let peak = p.ln() + c.ln_peak();
                [c.mu(), 1.0 / c.scale(), 1.0 / c.degrees_of_freedom(), c.beta(), peak]
            })
            .collect();
        dispatch(
            #[inline(always)]
            || {
                for (i, (z, slopes)) in z.chunks(C).zip(slopes.chunks_mut(C)).enumerate() {
                    let n = z.len();
                    let z = lanes::load(z);
                    let mut top = [f64::NEG_INFINITY; C];
                    for (work, [mu, inverse, over_nu, beta, peak]) in
                        work.iter_mut().zip(&constants)
                    {
                        for i in 0..C {
                            let u = (z[i] - mu) * inverse;
                            let q = u * u * over_nu;
                            let log = ln_1p(q);
                            let term = peak - beta * log;
                            work.u[i] = u;
                            work.w[i] = 1.0 / (1.0 + q);
                            work.log[i] = log;
                            work.r[i] = term;
                            top[i] = if term > top[i] { term } else { top[i] };
                        }
                    }
                    let mut total = [0.0; C];
                    for work in &mut *work {
                        for i in 0..C {
                            work.r[i] = exp(work.r[i] - top[i]);
                            total[i] += work.r[i];
                        }
                    }
                    let (mut slope, mut loss, mut share) = ([0.0; C], [0.0; C], [0.0; C]);
                    for i in 0..C {
                        loss[i] = -top[i] - ln(total[i]);
                        share[i] = 1.0 / total[i];
                    }
                    for (work, [_, inverse, over_nu, beta, _]) in work.iter_mut().zip(&constants) {
                        let factor = 2.0 * beta * over_nu * inverse;
                        for i in 0..C {
                            work.r[i] *= share[i];
                            slope[i] += work.r[i] * factor * work.u[i] * work.w[i];
                        }
                    }
                    lanes::store(&slope, slopes);
                    let weights = lanes::weights(weights, i, n);
                    let (both, own) = lanes.split_at_mut(2);
                    lanes::add(&weights, both, |i| [loss[i], slope[i] * slope[i]]);
                    for (work, lanes) in work.iter().zip(own.chunks_exact_mut(STATISTICS)) {
                        lanes::add(&weights, lanes, |i| {
                            let (r, w, u) = (work.r[i], work.w[i], work.u[i]);
                            [r, r * w, r * w * u, r * w * u * u, r * work.log[i]]
                        });
                    }
                }
            },
        );
        lanes::collect(&lanes, sums);
    }
}

impl Marginal for Mixture {
    fn ln_density(&self, z: f64) -> f64 {
        // No memory is taken for few components.
        let (mut few, mut many) = ([0.0; 4], Vec::new());
        let terms = match few.get_mut(..self.components.len()) {
            Some(few) => few,
            None => {
                many.resize(self.components.len(), 0.0);
                &mut many[..]
            }
        };
        terms.iter_mut().zip(self.ln_terms(z)).for_each(|(term, of)| *term = of);
        let top = terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if top == f64::NEG_INFINITY {
            return top;
        }
        top + terms.iter().map(|t| (t - top).exp()).sum::<f64>().ln()
    }

    fn energy_slope(&self, z: f64) -> f64 {
        self.responsibilities(z)
            .iter()
            .zip(&self.components)
            .map(|(r, c)| r * c.energy_slope(z))
            .sum()
    }

    fn cdf(&self, z: f64) -> f64 {
        self.mean(|c| c.cdf(z))
    }

    fn upper_tail(&self, z: f64) -> f64 {
        self.mean(|c| c.upper_tail(z))
    }

    fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> f64 {
        let mut u: f64 = rng.random();
        let last = self.components.len() - 1;
        let chosen = self.weights[..last].iter().position(|w| {
            u -= w;
            u < 0.0
        });
        self.components[chosen.unwrap_or(last)].sample(rng)
    }

    fn shape(&self) -> Shape {
        let parts: Vec<(f64, Shape)> =
            self.weights.iter().copied().zip(self.components.iter().map(Marginal::shape)).collect();
        let mean: f64 = parts.iter().map(|(w, s)| w * s.mean).sum();
        if parts.iter().any(|(_, s)| s.variance.is_infinite()) {
            return Shape { mean, variance: f64::INFINITY, kurtosis: f64::INFINITY };
        }
        let variance = parts.iter().map(|(w, s)| w * (s.variance + (s.mean - mean).powi(2))).sum();
        let fourth: f64 = parts
            .iter()
            .map(|(w, s)| {
                let d = s.mean - mean;
                let own = (s.kurtosis + 3.0) * s.variance * s.variance;
                w * (own + 6.0 * d * d * s.variance + d.powi(4))
            })
            .sum();
        Shape { mean, variance, kurtosis: fourth / (variance * variance) - 3.0 }
    }

    fn entropy(&self) -> f64 {
        // Σₐ πₐ ∫ Tₐ (−ln T): each component has nodes of its own, on its own scale.
        let nodes = ENTROPY_NODES / self.components.len();
        let mean_loss = |component: &StudentT, z: &[f64], weights: &[f64]| {
            let own = z.iter().zip(weights).map(|(z, w)| w * component.ln_density(*z).exp());
            let (z, weights): (Vec<f64>, Vec<f64>) =
                z.iter().copied().zip(own).filter(|(_, w)| *w > 0.0 && w.is_finite()).unzip();
            let mut sums = vec![0.0; self.n_sums()];
            self.block(&z, Some(&weights), &mut vec![0.0; z.len()], &mut sums);
            sums[0]
        };
        let parts = self.weights.iter().zip(&self.components).map(|(w, c)| {
            w * quadrature::line(c.mu(), c.scale(), nodes, |z, weights| mean_loss(c, z, weights))
        });
        parts.sum()
    }

    fn parameters(&self) -> Vec<Parameter> {
        let of = |name, fixed, f: fn(&StudentT) -> f64| Parameter {
            name,
            values: self.components.iter().map(f).collect(),
            fixed,
        };
        let fixed_mu = self.components.iter().all(|c| c.fix_mu);
        let fixed_beta = self.components.iter().all(|c| c.fix_beta);
        vec![
            Parameter { name: "pi", values: self.weights.clone(), fixed: false },
            of("mu", fixed_mu, StudentT::mu),
            of("theta", false, StudentT::theta),
            of("beta", fixed_beta, StudentT::beta),
        ]
    }
}

impl Learnable for Mixture {
    fn coordinates(&self) -> Vec<f64> {
        // ln(πₐ/π₁) for all but the first component, then the components' own.
        let mut out: Vec<f64> =
            self.weights[1..].iter().map(|w| (w / self.weights[0]).ln()).collect();
        self.components.iter().for_each(|c| c.push_coordinates(&mut out));
        out
    }

    fn at(&self, coordinates: &[f64]) -> Self {
        let (logits, rest) = coordinates.split_at(self.weights.len() - 1);
        let top = logits.iter().copied().fold(0.0, f64::max);
        let raw: Vec<f64> =
            std::iter::once(&0.0).chain(logits).map(|l| (l - top).exp().max(1e-12)).collect();
        let total: f64 = raw.iter().sum();
        let mut rest = rest.iter().copied();
        Mixture {
            weights: raw.iter().map(|w| w / total).collect(),
            components: self.components.iter().map(|c| c.read_coordinates(&mut rest)).collect(),
        }
    }

    fn loss(&self, sums: &[f64], weight: f64) -> f64 {
        sums[0] / weight
    }

    fn gradient(&self, sums: &[f64], weight: f64) -> Vec<f64> {
        let mut out: Vec<f64> = Self::statistics(sums)
            .zip(&self.weights)
            .skip(1)
            .map(|(s, w)| w - s[0] / weight)
            .collect();
        for (c, s) in self.components.iter().zip(Self::statistics(sums)) {
            c.push_gradient(s, weight, &mut out);
        }
        out
    }

    fn curvature(&self, sums: &[f64], weight: f64) -> Curvature {
        // Of the complete data, where each component's share is known: never too small.
        let mut out: Vec<f64> =
            self.weights[1..].iter().map(|w| (w * (1.0 - w)).max(1e-3)).collect();
        for (c, s) in self.components.iter().zip(Self::statistics(sums)) {
            c.push_curvature(s[0] / weight, &mut out);
        }
        Curvature::diagonal(out)
    }

    fn mean_square_slope(&self, sums: &[f64], weight: f64) -> f64 {
        sums[1] / weight
    }

    fn update(&self, sums: &[f64], weight: f64) -> Self {
        // (33), then the M-step of each component.
        let weights = Self::statistics(sums).map(|s| (s[0] / weight).max(1e-12)).collect();
        let components =
            self.components.iter().zip(Self::statistics(sums)).map(|(c, s)| c.irls(s, weight));
        Mixture { weights, components: components.collect() }.sorted()
    }

    fn mirrored(&self) -> Option<Self> {
        // Held locations may change places when the set of them is symmetric.
        let fixed: Vec<f64> =
            self.components.iter().filter(|c| c.fix_mu).map(StudentT::mu).collect();
        let mut there: Vec<f64> = fixed.iter().map(|m| -m).collect();
        there.sort_by(f64::total_cmp);
        // Components are in order of μ, so the fixed ones are too; −0 equals 0.
        let symmetric = fixed.iter().zip(&there).all(|(a, b)| a == b);
        let mirror = |c: &StudentT| c.changed(-c.mu(), c.scale(), c.degrees_of_freedom());
        symmetric.then(|| {
            let components = self.components.iter().map(mirror).collect();
            Mixture { weights: self.weights.clone(), components }.sorted()
        })
    }

    fn absorbs_norm(&self) -> bool {
        self.components.iter().all(Learnable::absorbs_norm)
    }

    fn at_bound(&self) -> Option<&'static str> {
        self.components.iter().find_map(Learnable::at_bound)
    }
}
