//! What a user should know about a fit.

use super::choices::Stop;
use super::equal::{grain, ties};
use super::null;
use super::outcome::State;
use super::power::Detectable;
use super::settings::Settings;
use super::units;
use crate::effective::{Cause, Effective, is_strong};
use crate::engine::Engine;
use crate::error::{counted, thousands};
use crate::expert::Learnable;
use crate::missing::Missing;
use crate::whitening::{Rest, Whitening};
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// Something a user should know about a fit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "notice")]
#[non_exhaustive]
pub enum Notice {
    /// The data have variance in fewer dimensions than columns; the density is over these.
    Degenerate {
        /// Dimensions with variance.
        rank: usize,
        /// Columns of the data.
        columns: usize,
        /// Columns that do not vary at all.
        constant: Vec<usize>,
    },
    /// A share of the variance was kept, and a few columns have that share by themselves.
    Dominated {
        /// Their numbers, from 0.
        columns: Vec<usize>,
        /// Dimensions that were kept.
        dims: usize,
        /// Columns of the data.
        of: usize,
        /// The share that was asked for.
        share: f64,
    },
    /// Experts ended at a bound that keeps the likelihood finite.
    Bound {
        /// Which experts, from 0.
        #[serde(alias = "expert", deserialize_with = "one_or_several")]
        experts: Vec<usize>,
        /// Which bound.
        bound: String,
    },
    /// The descents of some experts ran out of iterations.
    Iterations {
        /// Which experts, from 0.
        #[serde(alias = "expert", deserialize_with = "one_or_several")]
        experts: Vec<usize>,
    },
    /// P-values count fewer rows than there are.
    Effective {
        /// How many rows there are.
        rows: usize,
        /// How many of them count.
        effective: f64,
        /// What lowers it most.
        cause: Cause,
    },
    /// Rows resemble those before them, and the order was not said to matter.
    Neighbours {
        /// The largest correlation of a column with itself one row before.
        correlation: f64,
    },
    /// Nothing was found: what these rows would have shown.
    Nothing {
        /// How many rows count.
        rows: f64,
        /// Dimensions that were searched.
        dimensions: usize,
        /// The smallest gain of a direction that is found in 80 % of samples, in nats per row.
        gain: f64,
        /// The distance of two equal groups with that gain, in standard deviations of one.
        groups: Option<f64>,
        /// The degrees of freedom of a Student-t with that gain.
        degrees_of_freedom: Option<f64>,
    },
    /// Columns that take few values, or one value often.
    Ties {
        /// Their numbers, from 0.
        columns: Vec<usize>,
    },
    /// Columns with many equal values, along which the mixtures of a pool have a smallest scale.
    Grain {
        /// Their numbers, from 0.
        columns: Vec<usize>,
        /// The smallest scale along each, in its units.
        scales: Vec<f64>,
    },
    /// The null rule was applied outside its simulated table.
    Extrapolated {
        /// Rows over free dimensions.
        rows_per_dimension: f64,
        /// Free dimensions.
        dimensions: usize,
    },
    /// Cells were missing, and were drawn while learning.
    Missing {
        /// What was missing.
        missing: Missing,
        /// How often each missing cell was drawn.
        draws: usize,
        /// Rounds of drawing and learning.
        rounds: usize,
        /// By how much the density was widened, so that cells that were hidden are as probable as can be.
        #[serde(default)]
        widened: Option<f64>,
    },
    /// Rows too far away from all others, which were not learned from.
    Outliers {
        /// How many.
        rows: usize,
        /// Training rows.
        of: usize,
        /// The first of them, each with the cell that is farthest away.
        named: Vec<OutlierCell>,
    },
}

/// A cell far away from all others of its column.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct OutlierCell {
    /// Which training row, from 0.
    pub row: usize,
    /// Which column, from 0.
    pub column: usize,
    /// The value of the cell.
    pub value: f64,
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Notice::Degenerate { rank, columns, constant } => {
                write!(f, "the data vary in {rank} of {columns} dimensions")?;
                if !constant.is_empty() {
                    write!(f, " ({})", counted(constant.len(), "constant column"))?;
                }
                write!(
                    f,
                    ": the density is over that subspace, and rows outside it get ln p = −inf"
                )
            }
            Notice::Dominated { columns, dims, of, share } => {
                let column = |c: usize| format!("column {}", c.saturating_add(1));
                units::words(f, (columns, *dims, *of, *share), column)
            }
            Notice::Bound { experts, bound } => write!(
                f,
                "{} ended at the {bound} allowed: many equal values, a few rows in a line, or outliers so far away that they set the scale of their column; look at these rows before trusting {}",
                listed(experts),
                if experts.len() == 1 { "its gain" } else { "their gains" }
            ),
            Notice::Iterations { experts } => write!(
                f,
                "{} ran out of iterations before {} converged: raise the limit",
                listed(experts),
                if experts.len() == 1 { "it" } else { "they" }
            ),
            Notice::Missing { missing, .. } => {
                f.write_str(&missed(self, missing.message(|c| (c + 1).to_string())))
            }
            Notice::Effective { rows, effective, cause } => {
                let why = match cause {
                    Cause::Weights => {
                        "weights are unequal; if they are numbers of independent rows, say that they are counts"
                    }
                    Cause::Repeats => {
                        "rows are repeated, and count once; if each is an observation of its own, say that they are counts"
                    }
                    Cause::Blocks => "rows of a block resemble each other",
                    Cause::Order => "rows resemble those before them",
                };
                write!(
                    f,
                    "p-values count {effective:.0} independent rows instead of {rows}, because {why}"
                )
            }
            Notice::Neighbours { correlation } => write!(
                f,
                "rows resemble those before them (correlation {correlation:.2}): a table that is only sorted is no problem; if they follow one another in time, p-values are too small: say that rows are ordered"
            ),
            Notice::Nothing { rows, dimensions, gain, groups, degrees_of_freedom } => {
                write!(
                    f,
                    "no direction differs significantly from a Gaussian, which does not prove that all are Gaussian: with {} in {}, a direction is found in 80 % of samples if it gains {gain:.2} nats per row",
                    counted(rows.round() as usize, "row"),
                    counted(*dimensions, "dimension"),
                )?;
                let groups =
                    groups.map(|d| format!("two equal groups {d:.1} standard deviations apart"));
                let tails = degrees_of_freedom
                    .map(|nu| format!("tails of a Student-t with {nu:.1} degrees of freedom"));
                let such: Vec<String> = [groups, tails].into_iter().flatten().collect();
                if such.is_empty() { Ok(()) } else { write!(f, ", such as {}", such.join(" or ")) }
            }
            Notice::Ties { columns } => ties(f, columns, |c| c.saturating_add(1).to_string()),
            Notice::Grain { columns, scales } => {
                grain(f, columns, scales, |c| c.saturating_add(1).to_string())
            }
            Notice::Extrapolated { rows_per_dimension, dimensions }
                if *rows_per_dimension < null::FEWEST =>
            {
                write!(
                    f,
                    "{rows_per_dimension:.1} rows per dimension in {dimensions} dimensions are too few: structure and noise look the same, and the null rule keeps no expert; keep fewer dimensions"
                )
            }
            Notice::Extrapolated { rows_per_dimension, dimensions } => write!(
                f,
                "{rows_per_dimension:.1} rows per dimension in {dimensions} dimensions lie outside the simulated table of the null rule: p-values continue its trend"
            ),
            Notice::Outliers { rows, of, named } => outliers(f, *rows, *of, named, |column| {
                format!("column {}", column.saturating_add(1))
            }),
        }
    }
}

impl Notice {
    /// The notice, given what the columns are called.
    pub fn message(&self, name: impl Fn(usize) -> String) -> String {
        let mut said = String::new();
        let done = match self {
            Notice::Outliers { rows, of, named } => outliers(&mut said, *rows, *of, named, name),
            Notice::Ties { columns } => ties(&mut said, columns, name),
            Notice::Dominated { columns, dims, of, share } => {
                units::words(&mut said, (columns, *dims, *of, *share), |c| format!("`{}`", name(c)))
            }
            Notice::Grain { columns, scales } => grain(&mut said, columns, scales, name),
            Notice::Missing { missing, .. } => return missed(self, missing.message(name)),
            _ => Err(fmt::Error),
        };
        if done.is_ok() { said } else { self.to_string() }
    }
}

/// Some experts in words, numbered from 1; of many the first.
fn listed(experts: &[usize]) -> String {
    let numbers: Vec<String> =
        experts.iter().take(6).map(|e| e.saturating_add(1).to_string()).collect();
    let more = if experts.len() > numbers.len() {
        format!(", … ({} of them)", experts.len())
    } else {
        String::new()
    };
    let what = if experts.len() == 1 { "expert" } else { "experts" };
    format!("{what} {}{more}", numbers.join(", "))
}

/// Numbers of experts. Version 0.1 wrote one number per notice.
fn one_or_several<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<usize>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Numbers {
        One(usize),
        Several(Vec<usize>),
    }
    Ok(match Numbers::deserialize(from)? {
        Numbers::One(expert) => vec![expert],
        Numbers::Several(experts) => experts,
    })
}

/// What is said about missing cells.
fn missed(notice: &Notice, mut said: String) -> String {
    let Notice::Missing { draws, rounds, widened, .. } = notice else { return said };
    let rounds = counted(*rounds, "round");
    said += &format!("; {draws} draws of each were learned from, in {rounds}");
    if let Some(factor) = widened {
        let more = 100.0 * (factor - 1.0);
        said += &format!(
            ", and the density was then widened by {more:.0} %, by cells that were hidden from a second fit (gains are those before)"
        );
    }
    said + ". This is right where cells are missing at random: whether one is missing may depend on the values that its row has, but not on the missing value"
}

/// A value in six digits.
fn plain(value: f64) -> String {
    let digits = value.abs().log10().floor();
    if !(-4.0..9.0).contains(&digits) {
        return format!("{value:.3e}");
    }
    let text = format!("{value:.*}", (5.0 - digits).max(0.0) as usize);
    let short =
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    thousands(short, 5)
}

/// What is said about outliers.
fn outliers(
    f: &mut impl fmt::Write,
    rows: usize,
    of: usize,
    named: &[OutlierCell],
    name: impl Fn(usize) -> String,
) -> fmt::Result {
    let lie = if rows == 1 { "lies" } else { "lie" };
    let were = if rows == 1 { "was" } else { "were" };
    write!(
        f,
        "{rows} of {of} training rows {lie} too far away from all others and {were} not learned from, so that the density of the others is right:"
    )?;
    for (i, OutlierCell { row, column, value }) in named.iter().enumerate() {
        let comma = if i == 0 { "" } else { "," };
        write!(f, "{comma} row {} ({}: {})", row.saturating_add(1), name(*column), plain(*value))?;
    }
    let more = if rows > named.len() { ", …" } else { "" };
    write!(f, "{more}; correct or drop these rows if they are errors")
}

/// The notices of a fit that ended in this state.
pub(crate) fn notices(
    whitening: &Whitening,
    state: &State,
    train: &dyn Engine,
    settings: &Settings,
    effective: Option<Effective>,
    ties: Vec<usize>,
) -> Vec<Notice> {
    let mut notices = Vec::new();
    if !ties.is_empty() {
        notices.push(Notice::Ties { columns: ties });
    }
    if let Some(Effective { of, rows, cause, neighbours }) = effective {
        notices.extend(cause.map(|cause| Notice::Effective { rows: of, effective: rows, cause }));
        if is_strong(neighbours, of) {
            notices.push(Notice::Neighbours { correlation: neighbours });
        }
    }
    if whitening.rest() == Rest::Degenerate {
        let constant =
            (0..whitening.columns()).filter(|&i| whitening.deviations()[i] == 0.0).collect();
        let (rank, columns) = (whitening.rank(), whitening.columns());
        notices.push(Notice::Degenerate { rank, columns, constant });
    }
    notices.extend(units::dominated(whitening, settings.dims));
    let mut bounds: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (expert, learned) in state.experts.iter().enumerate() {
        if let Some(bound) = learned.expert().at_bound() {
            bounds.entry(bound).or_default().push(expert);
        }
    }
    let at = |(bound, experts): (&str, Vec<usize>)| Notice::Bound { experts, bound: bound.into() };
    notices.extend(bounds.into_iter().map(at));
    let experts: Vec<usize> =
        (0..state.experts.len()).filter(|&j| !state.experts[j].converged).collect();
    if !experts.is_empty() {
        notices.push(Notice::Iterations { experts });
    }
    // The first test faces the most dimensions; the one that ended the fit counts too.
    if settings.stop_rule() == Stop::Null {
        let weight = train.weight();
        let judged = (0..=state.experts.len()).map(|j| train.dims() - j).filter(|d| *d > 0);
        let beyond = |dims: &usize| {
            let families = settings.families.iter();
            let known = families.filter_map(|f| settings.templates(f, weight).ok()?.pop());
            known.into_iter().any(|expert| !null::covers(&expert, weight, *dims))
        };
        let (rows, dimensions) = (weight, train.dims());
        if state.experts.is_empty()
            && let Some(shown) = Detectable::of(settings, weight, dimensions)
        {
            let Detectable { gain, groups, degrees_of_freedom, .. } = shown;
            notices.push(Notice::Nothing { rows, dimensions, gain, groups, degrees_of_freedom });
        }
        if let Some(dimensions) = judged.into_iter().find(beyond) {
            let rows_per_dimension = weight / dimensions as f64;
            notices.push(Notice::Extrapolated { rows_per_dimension, dimensions });
        }
    }
    notices
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file of version 0.1 has one notice per expert, with one number.
    #[test]
    fn notices_of_one_expert_are_read() {
        let read = |text: &str| serde_json::from_str::<Notice>(text).expect("a notice");
        let old = read(r#"{"notice":"bound","expert":1,"bound":"smallest scale"}"#);
        let new = Notice::Bound { experts: vec![1], bound: "smallest scale".into() };
        assert_eq!(old, new);
        assert_eq!(read(&serde_json::to_string(&new).expect("text")), new);
        let many = Notice::Iterations { experts: (0..8).collect() };
        assert!(many.to_string().starts_with("experts 1, 2, 3, 4, 5, 6, … (8 of them) ran out"));
    }
}
