//! The choices a fit can be given, each under one name that all interfaces use.

use crate::engine::rounding;
use crate::error::{Result, invalid};
use crate::expert::Family;
use serde::{Deserialize, Serialize};

/// One of several named values.
pub trait Choice: Copy + 'static {
    /// Every value.
    const ALL: &'static [Self];

    /// The name users know it by.
    fn name(self) -> &'static str;
}

impl Choice for Family {
    const ALL: &'static [Self] = Family::ALL;

    fn name(self) -> &'static str {
        Family::name(self)
    }
}

macro_rules! choices {
    ($(#[$doc:meta])* $choice:ident { $($(#[$about:meta])* $variant:ident = $name:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[non_exhaustive]
        pub enum $choice { $($(#[$about])* #[serde(rename = $name)] $variant),+ }

        impl Choice for $choice {
            const ALL: &'static [Self] = &[$($choice::$variant),+];

            fn name(self) -> &'static str {
                match self { $($choice::$variant => $name),+ }
            }
        }
    };
}

choices! {
    /// Where parallel learning starts.
    #[derive(Default)]
    ParallelStart {
        /// At the sequential answer.
        #[default]
        Sequential = "sequential",
        /// At the pursuit answer.
        Pursuit = "pursuit",
        /// At random orthonormal directions; needs a number of experts, or [`Stop::Train`] for one
        /// per dimension.
        Random = "random",
        /// One expert at a time, learning all of them together after each, as figure 1 does.
        Grow = "grow",
    }
}

choices! {
    /// When to stop adding experts.
    Stop {
        /// An expert must gain more than the best direction of Gaussian rows does in 95 % of
        /// samples.
        Null = "null",
        /// An expert must have a positive gain on the training rows: the paper's rule, Q < 0.
        Train = "train",
        /// An expert must raise the likelihood of held-out rows.
        Holdout = "holdout",
        /// An expert must gain more than its parameters cost: ½ ln N nats each.
        Bic = "bic",
    }
}

choices! {
    /// Which steps are taken.
    #[derive(Default)]
    Recipe {
        /// L-BFGS over directions and experts from many starts.
        #[default]
        Best = "best",
        /// The paper's: gradient steps on batches of 100 rows with an adaptive step size,
        /// Gram–Schmidt after each.
        Paper = "paper",
    }
}

choices! {
    /// How rows are stored.
    #[derive(Default)]
    Precision {
        /// In double precision.
        #[default]
        F64 = "f64",
        /// In single precision: half the memory. Sums stay in double precision.
        F32 = "f32",
    }
}

choices! {
    /// How much a fit takes on.
    Quality {
        /// One layer: the model of the paper.
        Fast = "fast",
        /// A stack of layers, until what is left is Gaussian noise.
        Good = "good",
        /// A pool of stacks and mixtures.
        Best = "best",
    }
}

/// How many layers are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// Until what is left is Gaussian noise.
    Auto,
    /// At most so many; 1 is the model of the paper.
    Layers(usize),
}

impl std::str::FromStr for Depth {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        match (text, text.parse()) {
            ("auto", _) => Ok(Depth::Auto),
            (_, Ok(layers)) if layers > 0 => Ok(Depth::Layers(layers)),
            _ => Err("give a number of layers from 1, or auto".into()),
        }
    }
}

impl Precision {
    /// The error that rounding leaves in a mean loss.
    pub(crate) fn rounding(self) -> f64 {
        match self {
            Precision::F64 => rounding::<f64>(),
            Precision::F32 => rounding::<f32>(),
        }
    }
}

/// How directions are learned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Learner {
    /// One direction at a time, orthonormal to the earlier ones (section 4, "PP").
    #[default]
    Pursuit,
    /// One direction at a time, free, the earlier ones frozen ("SEQ").
    Sequential,
    /// All directions together (section 3, "PAR").
    Parallel {
        /// Where it starts.
        start: ParallelStart,
    },
}

impl Learner {
    /// The name of every learner.
    pub const NAMES: &'static [&'static str] = &["pursuit", "sequential", "parallel"];

    /// The name users know it by.
    pub fn name(self) -> &'static str {
        match self {
            Learner::Pursuit => Self::NAMES[0],
            Learner::Sequential => Self::NAMES[1],
            Learner::Parallel { .. } => Self::NAMES[2],
        }
    }

    /// The learner of a name; `start` is where the parallel one starts.
    pub fn named(name: &str, start: ParallelStart) -> Result<Self> {
        [Learner::Pursuit, Learner::Sequential, Learner::Parallel { start }]
            .into_iter()
            .find(|learner| learner.name() == name)
            .map_or_else(
                || invalid("learner", name, format!("must be one of {}", Self::NAMES.join(", "))),
                Ok,
            )
    }
}

/// The families of experts that every direction tries: at least one, each once, in the order of
/// [`Family::ALL`]. The default is all of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Option<Listed>", into = "Option<Listed>")]
pub struct Families(Vec<Family>);

/// Families in JSON: nothing for all of them, a name, or a list of names.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Listed {
    One(Family),
    Several(Vec<Family>),
}

impl Families {
    /// Some families, at least one.
    pub fn new(families: impl IntoIterator<Item = Family>) -> Result<Self> {
        let mut families: Vec<Family> = families.into_iter().collect();
        families.sort_unstable();
        families.dedup();
        if families.is_empty() {
            return invalid("family", "none", "at least one family is needed");
        }
        Ok(Families(families))
    }

    /// The families, in a fixed order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Family> + '_ {
        self.0.iter().copied()
    }

    /// The only family, if there is exactly one.
    pub fn only(&self) -> Option<Family> {
        match self.0[..] {
            [family] => Some(family),
            _ => None,
        }
    }
}

impl Default for Families {
    fn default() -> Self {
        Families(Family::ALL.to_vec())
    }
}

impl From<Family> for Families {
    fn from(family: Family) -> Self {
        Families(vec![family])
    }
}

impl From<Families> for Option<Listed> {
    fn from(families: Families) -> Self {
        match families.only() {
            _ if families == Families::default() => None,
            Some(family) => Some(Listed::One(family)),
            None => Some(Listed::Several(families.0)),
        }
    }
}

impl TryFrom<Option<Listed>> for Families {
    type Error = crate::Error;

    fn try_from(listed: Option<Listed>) -> Result<Self> {
        match listed {
            None => Ok(Families::default()),
            Some(Listed::One(family)) => Ok(family.into()),
            Some(Listed::Several(families)) => Families::new(families),
        }
    }
}
