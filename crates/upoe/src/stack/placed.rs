//! A tilt anywhere on the line, for columns in their own units and for logarithms of radii.

use super::gaussianise::{Gaussianiser, Mapped};
use crate::error::{Result, invalid};
use crate::expert::{Expert, Learnable, Marginal, Tilt};
use serde::{Deserialize, Serialize};
use upoe_kernels::Term as _;

/// A tilt on (v − centre) / scale.
#[derive(Clone, Debug)]
pub struct Placed {
    centre: f64,
    scale: f64,
    map: Gaussianiser,
}

/// A [`Placed`] as it is stored.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PlacedParts {
    /// Where its middle lies.
    pub centre: f64,
    /// How wide it is.
    pub scale: f64,
    /// What lies on (v − centre) / scale.
    pub expert: Expert,
}

impl Placed {
    /// The tilt that fits some values best. `rows` is how many independent ones they are worth.
    pub fn fit(values: &[f64], weights: Option<&[f64]>, rows: f64) -> Self {
        let weight = |i: usize| weights.map_or(1.0, |w| w[i]);
        let total: f64 = (0..values.len()).map(weight).sum();
        let mean = values.iter().enumerate().map(|(i, v)| weight(i) * v).sum::<f64>() / total;
        let square = |(i, v): (usize, &f64)| weight(i) * (v - mean).powi(2);
        let deviation = (values.iter().enumerate().map(square).sum::<f64>() / total).sqrt();
        let [low, middle, high] = quartiles(values, weights);
        // The deviation suits light tails, the quartiles suit heavy ones: what fits better is kept.
        let places = [(mean, deviation), (middle, (high - low) / 1.349)];
        // Values that differ by rounding alone are one value.
        let least = 1e-9 * (1.0 + mean.abs());
        let sound = |s: f64| s > 1e-6 * deviation && s > least && s.is_finite();
        let fits = places.into_iter().filter(|(_, s)| sound(*s));
        let fitted = fits.map(|(centre, scale)| {
            let z: Vec<f64> = values.iter().map(|v| (v - centre) / scale).collect();
            let flat = Tilt::gaussian(rows);
            let mut sums = vec![0.0; flat.n_sums()];
            flat.block(&z, weights, &mut vec![0.0; z.len()], &mut sums);
            let tilt = flat.fitted(&sums, total, 1e-9);
            let value = tilt.loss(&sums, total) + tilt.penalty() + scale.ln();
            (value, centre, scale, tilt)
        });
        let best = fitted.min_by(|a, b| a.0.total_cmp(&b.0));
        let (_, centre, scale, tilt) =
            best.unwrap_or((0.0, mean, deviation.max(least), Tilt::gaussian(rows)));
        Placed { centre, scale, map: Gaussianiser::new(tilt.into()) }
    }

    /// From what a file stores.
    pub fn from_parts(parts: PlacedParts) -> Result<Self> {
        let PlacedParts { centre, scale, expert } = parts;
        if !(centre.is_finite() && scale > 0.0 && scale.is_finite()) {
            return invalid("expert", "its place", "must be finite, and its scale positive");
        }
        Ok(Placed { centre, scale, map: Gaussianiser::new(expert) })
    }

    /// What a file stores.
    pub fn parts(&self) -> PlacedParts {
        PlacedParts { centre: self.centre, scale: self.scale, expert: self.expert().clone() }
    }

    /// What lies on (v − centre) / scale.
    pub fn expert(&self) -> &Expert {
        self.map.expert()
    }

    /// ln of the density at v.
    pub fn ln_density(&self, v: f64) -> f64 {
        self.expert().ln_density((v - self.centre) / self.scale) - self.scale.ln()
    }

    /// The slope of ln of the density at v.
    pub fn slope(&self, v: f64) -> f64 {
        -self.expert().energy_slope((v - self.centre) / self.scale) / self.scale
    }

    /// v as a standard normal value, with the logarithm of the slope of that map.
    pub fn map(&self, v: f64) -> Mapped {
        let Mapped { g, ln_slope } = self.map.map((v - self.centre) / self.scale);
        Mapped { g, ln_slope: ln_slope - self.scale.ln() }
    }

    /// The value that is mapped to g.
    pub fn inverse(&self, g: f64) -> f64 {
        self.centre + self.scale * self.map.inverse(g)
    }

    /// How many parameters it took: its own and those of its place.
    pub fn parameters(&self) -> f64 {
        self.expert().free_parameters() + 2.0
    }
}

/// The quartiles of some values.
pub(super) fn quartiles(values: &[f64], weights: Option<&[f64]>) -> [f64; 3] {
    let weight = |i: usize| weights.map_or(1.0, |w| w[i]);
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_unstable_by(|&a, &b| values[a].total_cmp(&values[b]));
    let total: f64 = (0..values.len()).map(weight).sum();
    let mut shares = [0.25, 0.5, 0.75].into_iter().peekable();
    let (mut below, mut found) = (0.0, [f64::NAN; 3]);
    let mut k = 0;
    for i in order {
        below += weight(i);
        while k < 3 && shares.peek().is_some_and(|share| below >= share * total) {
            found[k] = values[i];
            shares.next();
            k += 1;
        }
    }
    found
}
