//! What an expert says, in words.

use upoe::expert::{Expert, Marginal, Mixture, StudentT};

/// One line about an expert for people: "heavy tails: about Student-t with 3.1 degrees of
/// freedom", "two groups, 52 % and 48 %".
///
/// ```
/// use upoe::expert::{Mixture, StudentT};
/// let group = |mu| StudentT::new(mu, 0.5, 20.0);
/// let expert = Mixture::new(vec![0.52, 0.48], vec![group(-1.0)?, group(1.0)?])?;
/// assert_eq!(upoe_report::words(&expert.into()), "two groups, 52 % and 48 %");
/// # Ok::<(), upoe::Error>(())
/// ```
pub fn words(expert: &Expert) -> String {
    match expert {
        Expert::StudentT(t) => tails(t),
        Expert::Mixture(mixture) => groups(mixture),
        Expert::Tilt(_) => shape(expert),
    }
}

fn tails(t: &StudentT) -> String {
    let nu = t.degrees_of_freedom();
    if nu > 100.0 {
        return "as good as Gaussian".into();
    }
    let weight = match nu {
        _ if nu < 2.0 => "very heavy tails",
        _ if nu < 10.0 => "heavy tails",
        _ => "slightly heavy tails",
    };
    format!("{weight}: about Student-t with {} degrees of freedom", figures(nu))
}

fn groups(mixture: &Mixture) -> String {
    let shares: Vec<String> =
        mixture.weights().iter().map(|w| format!("{:.0} %", 100.0 * w)).collect();
    let shares = match shares.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
        None => String::new(),
    };
    let (k, humps) = (mixture.components().len(), modes(mixture));
    if k == 1 {
        return "one group".into();
    }
    if humps == k {
        return format!("{} groups, {shares}", number(k));
    }
    // Components that overlap: a core with wings, or a shoulder.
    let centres = mixture.components().iter().map(StudentT::mu);
    let (low, high) = centres
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), mu| (low.min(mu), high.max(mu)));
    let narrow = mixture.components().iter().map(StudentT::scale).fold(f64::INFINITY, f64::min);
    let joined = match humps {
        1 if high - low < narrow => "a narrow core with wide wings",
        1 => "one hump with a shoulder",
        _ => "groups that overlap",
    };
    format!("{joined}: {} parts, {shares}", number(k))
}

fn shape(expert: &Expert) -> String {
    let humps = modes(expert);
    let [low, middle, high] = [0.1, 0.5, 0.9].map(|p| expert.quantile(p));
    let skew = (high + low - 2.0 * middle) / (high - low);
    let kurtosis = expert.shape().kurtosis;
    let mut said = Vec::new();
    if humps > 1 {
        said.push(format!("{} humps", number(humps)));
    }
    if skew.abs() > 0.05 {
        said.push(format!("skewed to the {}", if skew > 0.0 { "right" } else { "left" }));
    }
    if humps == 1 && kurtosis < -0.2 {
        said.push(if kurtosis < -0.8 { "flat, with light tails" } else { "light tails" }.into());
    } else if humps == 1 && kurtosis > 0.2 {
        said.push("more peaked than a Gaussian".into());
    }
    if said.is_empty() { "a smooth shape close to Gaussian".into() } else { said.join(", ") }
}

/// Maxima of the density that stand out by 2 % of its peak.
fn modes(expert: &impl Marginal) -> usize {
    const STEPS: usize = 2000;
    let (low, high) = (expert.quantile(1e-3), expert.quantile(1.0 - 1e-3));
    let at = |k: usize| expert.ln_density(low + (high - low) * k as f64 / STEPS as f64).exp();
    let heights: Vec<f64> = (0..=STEPS).map(at).collect();
    let step = 0.02 * heights.iter().copied().fold(0.0, f64::max);
    // Climbs and falls of more than a step each: hysteresis.
    let (mut count, mut rising, mut top, mut bottom) = (0, true, 0.0, 0.0);
    for h in heights {
        if rising {
            top = f64::max(top, h);
            if h < top - step {
                (count, rising, bottom) = (count + 1, false, h);
            }
        } else {
            bottom = f64::min(bottom, h);
            if h > bottom + step {
                (rising, top) = (true, h);
            }
        }
    }
    count.max(1)
}

fn figures(x: f64) -> String {
    if x < 10.0 { format!("{x:.1}") } else { format!("{x:.0}") }
}

fn number(n: usize) -> String {
    let words = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"];
    words.get(n).map_or_else(|| n.to_string(), |word| (*word).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use upoe::expert::Tilt;

    fn t(mu: f64, scale: f64, nu: f64) -> StudentT {
        StudentT::with_scale(mu, scale, nu).unwrap()
    }

    fn mixture(parts: &[(f64, StudentT)]) -> String {
        let (weights, components) = parts.iter().cloned().unzip();
        words(&Mixture::new(weights, components).unwrap().into())
    }

    #[test]
    fn tails_are_named_by_their_weight() {
        let said = words(&t(0.0, 0.5, 3.12).into());
        assert_eq!(said, "heavy tails: about Student-t with 3.1 degrees of freedom");
        assert!(words(&t(0.0, 0.5, 1.5).into()).starts_with("very heavy tails"));
        assert!(words(&t(0.0, 0.5, 20.4).into()).ends_with("with 20 degrees of freedom"));
        assert_eq!(words(&Expert::gaussian()), "as good as Gaussian");
    }

    #[test]
    fn groups_are_counted_by_their_humps() {
        assert_eq!(
            mixture(&[
                (0.5, t(-1.0, 0.3, 30.0)),
                (0.3, t(1.0, 0.3, 30.0)),
                (0.2, t(3.0, 0.3, 9.0))
            ]),
            "three groups, 50 %, 30 % and 20 %"
        );
        assert_eq!(
            mixture(&[(0.7, t(0.0, 0.3, 30.0)), (0.3, t(0.1, 2.0, 30.0))]),
            "a narrow core with wide wings: two parts, 70 % and 30 %"
        );
        assert_eq!(
            mixture(&[(0.7, t(0.0, 0.7, 30.0)), (0.3, t(1.2, 0.7, 30.0))]),
            "one hump with a shoulder: two parts, 70 % and 30 %"
        );
    }

    #[test]
    fn a_tilt_is_described_by_its_shape() {
        assert_eq!(words(&Tilt::gaussian(100.0).into()), "a smooth shape close to Gaussian");
    }
}
