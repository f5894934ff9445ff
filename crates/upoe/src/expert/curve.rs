//! ln T at many points of a line at once, z = a + b t: what does not depend on z is computed before.

use super::family::{Mixture, StudentT, Tilt};
use super::{Expert, Marginal};
use upoe_kernels::{dispatch, exp, ln, ln_1p};

/// An expert, ready to be evaluated often.
#[derive(Clone)]
pub(crate) enum Curve<'a> {
    /// A Student-t.
    Bell(Bell),
    /// A mixture of them.
    Bells(Vec<Bell>),
    /// A tilt.
    Tilt(&'a Tilt),
}

/// peak − power · ln(1 + ((z − location) · rate)²).
#[derive(Clone)]
pub(crate) struct Bell {
    peak: f64,
    location: f64,
    rate: f64,
    power: f64,
}

impl Bell {
    fn new(of: &StudentT, weight: f64) -> Self {
        let rate = 1.0 / (of.scale() * of.degrees_of_freedom().sqrt());
        let peak = weight.ln() + of.ln_density(of.mu());
        Bell { peak, location: of.mu(), rate, power: of.beta() }
    }

    fn scale(&self) -> f64 {
        1.0 / (self.rate * (2.0 * self.power - 1.0).sqrt())
    }

    #[inline(always)]
    fn at(&self, z: f64) -> f64 {
        let u = (z - self.location) * self.rate;
        self.peak - self.power * ln_1p(u * u)
    }
}

impl<'a> Curve<'a> {
    pub(crate) fn new(expert: &'a Expert) -> Self {
        let bells = |m: &Mixture| {
            m.components().iter().zip(m.weights()).map(|(c, w)| Bell::new(c, *w)).collect()
        };
        match expert {
            Expert::StudentT(t) => Curve::Bell(Bell::new(t, 1.0)),
            Expert::Mixture(mixture) => Curve::Bells(bells(mixture)),
            Expert::Tilt(tilt) => Curve::Tilt(tilt),
        }
    }

    /// Adds ln T(a + b t) for each t.
    pub(crate) fn add(&self, a: f64, b: f64, t: &[f64], sums: &mut [f64]) {
        let pairs = || t.iter().map(|t| a + b * t);
        match self {
            Curve::Bell(bell) => dispatch(
                #[inline(always)]
                || sums.iter_mut().zip(pairs()).for_each(|(sum, z)| *sum += bell.at(z)),
            ),
            Curve::Bells(bells) => {
                let mut totals = vec![0.0; t.len()];
                dispatch(
                    #[inline(always)]
                    || {
                        for bell in bells {
                            for (total, z) in totals.iter_mut().zip(pairs()) {
                                *total += exp(bell.at(z));
                            }
                        }
                        totals.iter_mut().for_each(|total| *total = ln(*total));
                    },
                );
                for ((sum, ln_total), z) in sums.iter_mut().zip(&totals).zip(pairs()) {
                    // So far out that exp underflows.
                    *sum += if *ln_total > -600.0 { *ln_total } else { far_out(bells, z) };
                }
            }
            Curve::Tilt(tilt) => tilt.add_ln_density(pairs(), sums),
        }
    }

    /// Whether its third derivative jumps.
    pub(crate) fn has_corners(&self) -> bool {
        matches!(self, Curve::Tilt(_))
    }

    /// The scale of its narrowest feature.
    pub(crate) fn narrowest(&self) -> f64 {
        match self {
            Curve::Bell(bell) => bell.scale(),
            Curve::Bells(bells) => bells.iter().map(Bell::scale).fold(f64::INFINITY, f64::min),
            Curve::Tilt(tilt) => tilt.spacing(),
        }
    }

    /// Its peaks and their scales, where these are known.
    pub(crate) fn bells(&self) -> impl Iterator<Item = (f64, f64)> {
        let bells = match self {
            Curve::Bell(bell) => std::slice::from_ref(bell),
            Curve::Bells(bells) => &bells[..],
            Curve::Tilt(_) => &[],
        };
        bells.iter().map(|bell| (bell.location, bell.scale()))
    }

    /// The z at which T may have a peak or a corner, or near which it changes fast.
    pub(crate) fn points(&self) -> Vec<f64> {
        let of_bell = |bell: &Bell| [-4.0, 0.0, 4.0].map(|k| bell.location + k * bell.scale());
        match self {
            Curve::Bell(bell) => of_bell(bell).to_vec(),
            Curve::Bells(bells) => bells.iter().flat_map(of_bell).collect(),
            Curve::Tilt(tilt) => tilt.knots().collect(),
        }
    }
}

/// ln of the sum of some bells, where all of them are tiny.
fn far_out(bells: &[Bell], z: f64) -> f64 {
    let top = bells.iter().map(|bell| bell.at(z)).fold(f64::NEG_INFINITY, f64::max);
    top + bells.iter().map(|bell| (bell.at(z) - top).exp()).sum::<f64>().ln()
}
