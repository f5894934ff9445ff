//! The scale on which a column is most nearly normal: a power of its robust units, after Yeo and
//! Johnson (2000), who let it bend both sides of 0.

use serde::{Deserialize, Serialize};
use upoe_kernels::{dispatch, exp};

/// Powers that are tried; 1 leaves the column as it is.
const LEAST: f64 = -3.0;
const MOST: f64 = 5.0;
/// Steps of the search for the best power, each to this share of what was left.
const STEPS: usize = 32;
const GOLDEN: f64 = 0.618_033_988_749_894_9;

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
        let unit = Power { centre, spread, power: 1.0 };
        let values = Logs::of(&sorted, unit);
        let (mut low, mut high) = (LEAST, MOST);
        let inner =
            |low: f64, high: f64| [high - GOLDEN * (high - low), low + GOLDEN * (high - low)];
        let [mut a, mut b] = inner(low, high);
        let (mut at_a, mut at_b) = (values.ln_p(a), values.ln_p(b));
        for _ in 0..STEPS {
            if at_a < at_b {
                (low, a, at_a) = (a, b, at_b);
                b = inner(low, high)[1];
                at_b = values.ln_p(b);
            } else {
                (high, b, at_b) = (b, a, at_a);
                a = inner(low, high)[0];
                at_a = values.ln_p(a);
            }
        }
        let power = 0.5 * (low + high);
        let gain = values.ln_p(power) - values.ln_p(1.0);
        gain.is_finite().then_some((Power { power, ..unit }, gain))
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
        let log = z.abs().ln_1p();
        if z < 0.0 { -bent(log, 2.0 - self.power) } else { bent(log, self.power) }
    }

    /// ln of the derivative there.
    pub fn ln_slope(&self, x: f64) -> f64 {
        let z = (x - self.centre) / self.spread;
        (self.power - 1.0) * z.signum() * z.abs().ln_1p() - self.spread.ln()
    }
}

/// ln(1 + |z|) of every value z in robust units, those below 0 first.
struct Logs {
    below: Vec<f64>,
    above: Vec<f64>,
}

impl Logs {
    fn of(sorted: &[f64], unit: Power) -> Self {
        let z: Vec<f64> = sorted.iter().map(|x| (x - unit.centre) / unit.spread).collect();
        let (below, above) = z.split_at(z.partition_point(|z| *z < 0.0));
        let logs = |z: &[f64]| z.iter().map(|z| z.abs().ln_1p()).collect();
        Logs { below: logs(below), above: logs(above) }
    }

    /// ln p of a normal density on the scale of a power, up to a constant.
    fn ln_p(&self, power: f64) -> f64 {
        let (mut sum, mut square) = (0.0, 0.0);
        for (logs, power, sign) in [(&self.below, 2.0 - power, -1.0), (&self.above, power, 1.0)] {
            let (one, two) = sums(logs, power);
            sum += sign * one;
            square += two;
        }
        let n = (self.below.len() + self.above.len()) as f64;
        let slopes = self.above.iter().sum::<f64>() - self.below.iter().sum::<f64>();
        (power - 1.0) * slopes - 0.5 * n * (square / n - (sum / n).powi(2)).ln()
    }
}

/// Sum, and sum of squares, of the bent values of these ln(1 + z).
fn sums(logs: &[f64], power: f64) -> (f64, f64) {
    const TOGETHER: usize = 8;
    let near = power.abs() < 1e-5;
    dispatch(
        #[inline(always)]
        || {
            let (mut sum, mut square) = ([0.0; TOGETHER], [0.0; TOGETHER]);
            let mut add = |logs: &[f64]| {
                for ((log, sum), square) in logs.iter().zip(&mut sum).zip(&mut square) {
                    // A digit that is lost here does not move the best power.
                    let y = if near { *log } else { (exp(power * log) - 1.0) / power };
                    *sum += y;
                    *square += y * y;
                }
            };
            let (some, rest) = logs.as_chunks::<TOGETHER>();
            some.iter().for_each(|logs| add(logs));
            add(rest);
            (sum.iter().sum(), square.iter().sum())
        },
    )
}

/// ((1 + z)^power − 1)/power, from ln(1 + z).
fn bent(log: f64, power: f64) -> f64 {
    if power.abs() < 1e-9 { log } else { (power * log).exp_m1() / power }
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
