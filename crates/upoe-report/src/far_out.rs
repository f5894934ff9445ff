//! What a radial expert found, in words.

use upoe::Radial;

/// Where nine rows of ten lie, as standard normal values.
const NINE_OF_TEN: f64 = 1.645;

/// What a radial expert found: "nine rows of ten lie 0.3 to 2.4 times as far out as the middle row (Gaussian
/// rows: 0.9 to 1.1)".
pub fn radial_words(radial: &Radial) -> String {
    let [[low, plain_low], [high, plain_high]] =
        [-NINE_OF_TEN, NINE_OF_TEN].map(|y| radial.spread(y));
    format!(
        "nine rows of ten lie {} to {} times as far out as the middle row (Gaussian rows: {} to {})",
        times(low),
        times(high),
        times(plain_low),
        times(plain_high)
    )
}

/// How far out a row lies that is so many times as far out as the middle row: "3.1 times as far out as usual, in
/// every direction".
pub fn far_words(factor: f64) -> String {
    format!("{} times as far out as usual, in every direction", times(factor))
}

/// A factor in few digits.
fn times(factor: f64) -> String {
    match factor {
        f if !(f < 1e4) => format!("{f:.0e}"),
        f if f >= 9.95 => format!("{f:.0}"),
        f if f >= 0.095 => format!("{f:.1}"),
        f => format!("{f:.0e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::times;

    #[test]
    fn factors_have_few_digits() {
        let factors = [3.13, 0.42, 12.6, 0.004, 2e7, f64::INFINITY];
        assert_eq!(factors.map(times), ["3.1", "0.4", "13", "4e-3", "2e7", "inf"]);
    }
}
