//! What an expert found.

use std::fmt;

use upoe::expert::{Expert, Marginal, Mixture, StudentT};

/// What an expert found along its direction. It displays as one line for people: "heavy tails:
/// about Student-t with 3.1 degrees of freedom", "two groups, 52 % and 48 %".
///
/// ```
/// use upoe::expert::{Mixture, StudentT};
/// use upoe_report::Finding;
/// let group = |mu| StudentT::new(mu, 0.5, 20.0);
/// let expert = Mixture::new(vec![0.52, 0.48], vec![group(-1.0)?, group(1.0)?])?;
/// let found = Finding::of(&expert.into());
/// assert_eq!(found.to_string(), "two groups, 52 % and 48 %");
/// assert_eq!(found, Finding::Groups { shares: vec![0.52, 0.48] });
/// # Ok::<(), upoe::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Finding {
    /// One hump with tails like those of a Student-t.
    Tails {
        /// Its degrees of freedom.
        degrees_of_freedom: f64,
    },
    /// Groups, each a hump of its own.
    Groups {
        /// The share of each.
        shares: Vec<f64>,
    },
    /// Components that overlap, so that they are not groups.
    Overlap {
        /// What they look like together.
        form: Overlap,
        /// The share of each.
        shares: Vec<f64>,
    },
    /// A smooth shape.
    Shape {
        /// Maxima of the density.
        humps: usize,
        /// How much farther the upper tenth lies from the median than the lower tenth, over the
        /// distance between the two: from −1 to 1.
        skewness: f64,
        /// Excess kurtosis.
        kurtosis: f64,
    },
}

/// What overlapping components look like together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overlap {
    /// A narrow one inside a wide one.
    CoreAndWings,
    /// One hump with a shoulder.
    Shoulder,
    /// Several humps, fewer than components.
    Humps,
}

impl Finding {
    /// What this expert found.
    pub fn of(expert: &Expert) -> Finding {
        match expert {
            Expert::StudentT(t) => Finding::Tails { degrees_of_freedom: t.degrees_of_freedom() },
            Expert::Mixture(mixture) => groups(mixture),
            Expert::Tilt(_) => {
                let [low, middle, high] = [0.1, 0.5, 0.9].map(|p| expert.quantile(p));
                Finding::Shape {
                    humps: modes(expert, 0.2),
                    skewness: (high + low - 2.0 * middle) / (high - low),
                    kurtosis: expert.shape().kurtosis,
                }
            }
        }
    }
}

fn groups(mixture: &Mixture) -> Finding {
    let shares = mixture.weights().to_vec();
    let humps = modes(mixture, 0.0);
    if humps == shares.len() {
        return Finding::Groups { shares };
    }
    let centres = mixture.components().iter().map(StudentT::mu);
    let (low, high) = centres
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), mu| (low.min(mu), high.max(mu)));
    let narrow = mixture.components().iter().map(StudentT::scale).fold(f64::INFINITY, f64::min);
    let form = match humps {
        1 if high - low < narrow => Overlap::CoreAndWings,
        1 => Overlap::Shoulder,
        _ => Overlap::Humps,
    };
    Finding::Overlap { form, shares }
}

/// Maxima of the density that stand out by 2 % of its peak, and by this share of themselves: a smooth fit to
/// a flat top has ripples.
fn modes(expert: &impl Marginal, share: f64) -> usize {
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
            if h < top - step && h < (1.0 - share) * top {
                (count, rising, bottom) = (count + 1, false, h);
            }
        } else {
            bottom = f64::min(bottom, h);
            if h > bottom + step && bottom < (1.0 - share) * h {
                (rising, top) = (true, h);
            }
        }
    }
    count.max(1)
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Finding::Tails { degrees_of_freedom } => tails(f, *degrees_of_freedom),
            Finding::Groups { shares } if shares.len() == 1 => write!(f, "one group"),
            Finding::Groups { shares } => {
                write!(f, "{} groups, {}", number(shares.len()), list(shares))
            }
            Finding::Overlap { form, shares } => {
                let form = match form {
                    Overlap::CoreAndWings => "a narrow core with wide wings",
                    Overlap::Shoulder => "one hump with a shoulder",
                    Overlap::Humps => "groups that overlap",
                };
                write!(f, "{form}: {} parts, {}", number(shares.len()), list(shares))
            }
            Finding::Shape { humps, skewness, kurtosis } => {
                write!(f, "{}", shape(*humps, *skewness, *kurtosis))
            }
        }
    }
}

fn tails(f: &mut fmt::Formatter<'_>, degrees_of_freedom: f64) -> fmt::Result {
    let weight = match degrees_of_freedom {
        _ if degrees_of_freedom > 100.0 => return write!(f, "nearly Gaussian"),
        _ if degrees_of_freedom < 2.0 => "very heavy tails",
        _ if degrees_of_freedom < 10.0 => "heavy tails",
        _ => "slightly heavy tails",
    };
    let places = if degrees_of_freedom < 10.0 { 1 } else { 0 };
    write!(f, "{weight}: about Student-t with {degrees_of_freedom:.places$} degrees of freedom")
}

fn shape(humps: usize, skewness: f64, kurtosis: f64) -> String {
    let mut said = Vec::new();
    if humps > 1 {
        said.push(format!("{} humps", number(humps)));
    }
    if skewness.abs() > 0.05 {
        said.push(format!("skewed to the {}", if skewness > 0.0 { "right" } else { "left" }));
    }
    if humps == 1 && kurtosis < -0.2 {
        said.push(if kurtosis < -0.8 { "flat, with light tails" } else { "light tails" }.into());
    } else if humps == 1 && kurtosis > 0.2 {
        said.push("more peaked than a Gaussian".into());
    }
    if said.is_empty() { "a smooth shape close to Gaussian".into() } else { said.join(", ") }
}

/// Shares in per cent: "50 %, 30 % and 20 %".
fn list(shares: &[f64]) -> String {
    let shares: Vec<String> = shares.iter().map(|w| format!("{:.0} %", 100.0 * w)).collect();
    match shares.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
        None => String::new(),
    }
}

/// A sentence begins with a capital.
pub(crate) fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().collect::<String>() + letters.as_str()
    })
}

/// A whole number with commas between thousands, as in the command.
pub(crate) fn thousands(n: usize) -> String {
    let digits = n.to_string();
    let lead = digits.len() % 3;
    let mut groups: Vec<&str> = if lead > 0 { vec![&digits[..lead]] } else { vec![] };
    groups.extend((lead..digits.len()).step_by(3).map(|at| &digits[at..at + 3]));
    groups.join(",")
}

/// A small number as a word.
pub(crate) fn number(n: usize) -> String {
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

    fn words(expert: &Expert) -> String {
        Finding::of(expert).to_string()
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
        assert_eq!(words(&Expert::gaussian()), "nearly Gaussian");
    }

    #[test]
    fn the_ripples_of_a_flat_top_are_no_humps() {
        // A smooth fit to evenly spaced values.
        let values: Vec<f64> = (0..3000).map(|i| (i * 1103 % 3000) as f64).collect();
        let rows = upoe::Rows::new(&values, 1).unwrap();
        let settings =
            upoe::Settings::default().with(|s| s.families = upoe::expert::Family::Tilt.into());
        let model = upoe::fit(&rows, &settings).unwrap().model;
        assert_eq!(words(&model.experts()[0]), "flat, with light tails");
        assert!(modes(&model.experts()[0], 0.0) > 1);
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
