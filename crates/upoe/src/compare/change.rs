//! A change: what moved, by how much, and which rows show it.

use super::modes::{above, cuts};
use super::scores::{quantile, sorted};
use super::words;
use serde::Serialize;

/// What kind of change it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Kind {
    /// Of the mean: `before` and `after` are means.
    Shift,
    /// Of the standard deviation: `size` is the ratio.
    Spread,
    /// Of the skewness.
    Skewness,
    /// Of the share of rows outside the middle 95 % of A.
    Tails,
    /// Of the number of groups.
    Groups,
    /// Of the share of rows in a group.
    Share,
    /// Of the correlation of two columns.
    Correlation,
    /// Of how far out rows lie in all columns at once: `size` is the ratio.
    Distance,
}

/// Where a change is.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "where")]
#[non_exhaustive]
pub enum Place {
    /// In a column.
    Column {
        /// Its name.
        column: String,
    },
    /// In what the other columns do not say of a column.
    Given {
        /// Its name.
        column: String,
        /// The columns that say most of it.
        given: Vec<String>,
    },
    /// Along a direction.
    Along {
        /// The columns of its largest weights.
        columns: Vec<String>,
        /// These weights, for columns in units of their deviations.
        weights: Vec<f64>,
        /// How far these columns move, in their own units, where rows move by one deviation of A.
        moves: Vec<f64>,
    },
    /// Between two columns.
    Pair {
        /// Their names.
        columns: [String; 2],
    },
    /// In a group of rows.
    Group {
        /// What it is called.
        name: String,
        /// The columns that name it.
        columns: Vec<String>,
    },
    /// In all columns at once.
    Everywhere,
}

/// One change from A to B.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Change {
    /// What kind of change it is.
    pub kind: Kind,
    /// Where it is.
    #[serde(flatten)]
    pub place: Place,
    /// The change in one sentence.
    pub sentence: String,
    /// The value in A: of a mean, in the units of its column, or in deviations of A along a direction.
    pub before: f64,
    /// The value in B.
    pub after: f64,
    /// How large the change is: `after` less `before`, or their ratio.
    pub size: f64,
    /// The 95 % interval of `size`.
    pub interval: [f64; 2],
    /// The chance of as large a change anywhere between tables of the same distribution.
    pub p_value: f64,
    /// Whether changes listed earlier were taken out of B first.
    pub beyond: bool,
    /// The rows of B that drive it, from 0, those that add most first.
    pub rows: Vec<usize>,
    /// The values of A that changed, for pictures.
    #[serde(skip)]
    pub a: Vec<f64>,
    /// The values of B.
    #[serde(skip)]
    pub b: Vec<f64>,
}

/// A change before it has words.
pub(super) struct Found<'v> {
    pub place: Place,
    pub p_value: f64,
    pub beyond: bool,
    pub rows: Vec<usize>,
    pub a: &'v [f64],
    pub b: &'v [f64],
}

/// Mean, standard deviation, skewness and kurtosis.
fn moments(values: &[f64]) -> [f64; 4] {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let central = |k: i32| values.iter().map(|x| (x - mean).powi(k)).sum::<f64>() / n;
    let deviation = central(2).sqrt();
    [mean, deviation, central(3) / deviation.powi(3), central(4) / deviation.powi(4)]
}

/// Half the width of a 95 % interval, in standard errors.
const HALF: f64 = 1.96;

impl Found<'_> {
    /// A change of one of the four orders of a line.
    pub fn of_order(self, order: usize) -> Change {
        let ([mean_a, sd_a, skew_a, kurtosis_a], [mean_b, sd_b, skew_b, kurtosis_b]) =
            (moments(self.a), moments(self.b));
        let (n_a, n_b) = (self.a.len() as f64, self.b.len() as f64);
        match order {
            1 => {
                let error = HALF * (sd_a * sd_a / n_a + sd_b * sd_b / n_b).sqrt();
                self.difference(Kind::Shift, mean_a, mean_b, error)
            }
            2 => {
                let relative = |kurtosis: f64, n: f64| (kurtosis - 1.0).max(0.0) / (4.0 * n);
                let error =
                    (HALF * (relative(kurtosis_a, n_a) + relative(kurtosis_b, n_b)).sqrt()).exp();
                self.ratio(Kind::Spread, sd_a, sd_b, error)
            }
            3 => {
                let error = HALF * (6.0 / n_a + 6.0 / n_b).sqrt();
                self.difference(Kind::Skewness, skew_a, skew_b, error)
            }
            _ => {
                let sorted = sorted(self.a);
                let (low, high) = (quantile(&sorted, 0.025), quantile(&sorted, 0.975));
                let outside = |values: &[f64]| {
                    let out = values.iter().filter(|x| **x < low || **x > high).count();
                    out as f64 / values.len() as f64
                };
                let (a, b) = (outside(self.a), outside(self.b));
                let error = HALF * (a * (1.0 - a) / n_a + b * (1.0 - b) / n_b).sqrt();
                self.difference(Kind::Tails, a, b, error)
            }
        }
    }

    /// A change of groups along the line, where there is one.
    pub fn of_groups(self) -> std::result::Result<Change, Box<Self>> {
        // Clear valleys, and any that might be one.
        const CLEAR: f64 = 0.6;
        const FAINT: f64 = 0.9;
        let clear = [self.a, self.b].map(|values| cuts(values, CLEAR));
        let faint = [self.a, self.b].map(|values| cuts(values, FAINT).len());
        let [in_a, in_b] = [0, 1].map(|i| clear[i].len());
        if in_a > faint[1] || in_b > faint[0] {
            return Ok(self.difference(Kind::Groups, (in_a + 1) as f64, (in_b + 1) as f64, 0.0));
        }
        let cut = clear[0].iter().map(|cut| {
            let (a, b) = (above(self.a, *cut), above(self.b, *cut));
            let (n_a, n_b) = (self.a.len() as f64, self.b.len() as f64);
            (a, b, (a * (1.0 - a) / n_a + b * (1.0 - b) / n_b).sqrt())
        });
        let largest = cut.max_by(|(a, b, _), (c, d, _)| (a - b).abs().total_cmp(&(c - d).abs()));
        match largest {
            Some((a, b, error)) if (a - b).abs() > 3.0 * error && in_b > 0 => {
                Ok(self.difference(Kind::Share, a, b, HALF * error))
            }
            _ => Err(self.into()),
        }
    }

    /// A change of the share of a group, by the chance of each row to be in it.
    pub fn of_share(self, in_a: &[f64], in_b: &[f64]) -> Change {
        let ([a, sd_a, ..], [b, sd_b, ..]) = (moments(in_a), moments(in_b));
        let error = sd_a * sd_a / in_a.len() as f64 + sd_b * sd_b / in_b.len() as f64;
        self.difference(Kind::Share, a, b, HALF * error.sqrt())
    }

    /// A change of a correlation.
    pub fn of_correlation(self, before: f64, after: f64) -> Change {
        let variance = |r: f64, n: usize| (1.0 - r * r).powi(2) / n as f64;
        let error = HALF * (variance(before, self.a.len()) + variance(after, self.b.len())).sqrt();
        self.difference(Kind::Correlation, before, after, error)
    }

    /// A change of how far out rows lie.
    pub fn of_distance(self) -> Change {
        let ([mean_a, sd_a, ..], [mean_b, sd_b, ..]) = (moments(self.a), moments(self.b));
        let relative = |sd: f64, mean: f64, n: usize| (sd / mean).powi(2) / n as f64;
        let error = relative(sd_a, mean_a, self.a.len()) + relative(sd_b, mean_b, self.b.len());
        self.ratio(Kind::Distance, mean_a, mean_b, (HALF * error.sqrt()).exp())
    }

    fn difference(self, kind: Kind, before: f64, after: f64, error: f64) -> Change {
        let size = after - before;
        self.change(kind, [before, after], size, [size - error, size + error])
    }

    fn ratio(self, kind: Kind, before: f64, after: f64, factor: f64) -> Change {
        let size = after / before;
        self.change(kind, [before, after], size, [size / factor, size * factor])
    }

    fn change(
        self,
        kind: Kind,
        [before, after]: [f64; 2],
        size: f64,
        interval: [f64; 2],
    ) -> Change {
        let Found { place, p_value, beyond, rows, a, b } = self;
        let (a, b, sentence) = (a.to_vec(), b.to_vec(), String::new());
        let mut change = Change {
            kind,
            place,
            sentence,
            before,
            after,
            size,
            interval,
            p_value,
            beyond,
            rows,
            a,
            b,
        };
        change.sentence = words::sentence(&change);
        change
    }
}
