//! The scale on which a column is most nearly normal: a power of its robust units, after Yeo and
//! Johnson (2000), who let it bend both sides of 0.

use serde::{Deserialize, Serialize};

/// Powers that are tried; 1 leaves the column as it is.
const LEAST: f64 = -3.0;
const MOST: f64 = 5.0;
/// Steps of the search for the best power.
const STEPS: usize = 40;

/// A column on its power scale.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Power {
    centre: f64,
    spread: f64,
    power: f64,
}

impl Power {
    /// Of a column's values, with what it adds to the ln likelihood of a normal density; `None`
    /// where they have no spread.
    pub fn of(values: &[f64]) -> Option<(Self, f64)> {
        let mut sorted = values.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        let n = sorted.len() as f64;
        let mean = sorted.iter().sum::<f64>() / n;
        let spread = (sorted.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n).sqrt();
        let centre = *sorted.get(sorted.len() / 2)?;
        if !(spread > 0.0 && spread.is_finite()) {
            return None;
        }
        let scale = |power| Power { centre, spread, power };
        let (mut low, mut high) = (LEAST, MOST);
        for _ in 0..STEPS {
            // The golden section of what is left.
            let (a, b) = (low + 0.382 * (high - low), low + 0.618 * (high - low));
            if scale(a).ln_p(&sorted) < scale(b).ln_p(&sorted) { low = a } else { high = b }
        }
        let best = scale(0.5 * (low + high));
        let gain = best.ln_p(&sorted) - scale(1.0).ln_p(&sorted);
        gain.is_finite().then_some((best, gain))
    }

    /// The same units without the power.
    pub fn straight(self) -> Self {
        Power { power: 1.0, ..self }
    }

    /// Whether its parts are possible.
    pub fn sound(&self) -> bool {
        let Power { centre, spread, power } = *self;
        centre.is_finite() && power.is_finite() && spread > 0.0 && spread.is_finite()
    }

    /// The value on this scale.
    pub fn at(&self, x: f64) -> f64 {
        let z = (x - self.centre) / self.spread;
        let bent = |z: f64, power: f64| {
            if power.abs() < 1e-9 { z.ln_1p() } else { (power * z.ln_1p()).exp_m1() / power }
        };
        if z < 0.0 { -bent(-z, 2.0 - self.power) } else { bent(z, self.power) }
    }

    /// ln of the derivative there.
    pub fn ln_slope(&self, x: f64) -> f64 {
        let z = (x - self.centre) / self.spread;
        (self.power - 1.0) * z.signum() * z.abs().ln_1p() - self.spread.ln()
    }

    /// ln p of a normal density on this scale, up to a constant.
    fn ln_p(&self, values: &[f64]) -> f64 {
        let n = values.len() as f64;
        let (mut sum, mut square, mut slopes) = (0.0, 0.0, 0.0);
        for &x in values {
            let y = self.at(x);
            sum += y;
            square += y * y;
            slopes += self.ln_slope(x);
        }
        slopes - 0.5 * n * (square / n - (sum / n).powi(2)).ln()
    }
}

#[cfg(test)]
mod tests {
    use super::Power;
    use crate::expert::normal;

    #[test]
    fn the_slope_is_the_derivative_and_normal_values_stay() {
        let z: Vec<f64> = (1..400).map(|i| normal::quantile(f64::from(i) / 400.0)).collect();
        let (power, gain) = Power::of(&z).expect("a power");
        assert!((power.power - 1.0).abs() < 1e-6 && gain.abs() < 1e-9, "{power:?} {gain}");
        let skewed: Vec<f64> = z.iter().map(|z| z.exp()).collect();
        let (power, gain) = Power::of(&skewed).expect("a power");
        assert!(power.power < 0.5 && gain > 100.0, "{power:?} {gain}");
        for x in [-3.0, 0.2, 1.0, 7.0, 40.0] {
            let h = 1e-6 * f64::max(1.0, x);
            let slope = (power.at(x + h) - power.at(x - h)) / (2.0 * h);
            assert!((slope.ln() - power.ln_slope(x)).abs() < 1e-6, "{x}");
        }
        assert_eq!(Power::of(&[2.0; 9]), None);
    }
}
