//! The command line of `upoe fit`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::PossibleValuesParser;
use upoe::expert::Family;
use upoe::{
    Choice, Depth, Dims, Families, Learner, ParallelStart, Precision, Quality, Recipe, Settings,
    Stop,
};
use upoe_cuda::DeviceChoice;

use crate::args::{Auto, Common, TableArgs, auto_or, one_of};
use crate::data::parse_size;

/// Learn a model from a table
#[derive(Args)]
#[command(after_help = "Examples:
  upoe fit data.csv -o data.upoe
  upoe fit data.csv -o data.upoe --exclude id --weights w --holdout 0.2
  upoe fit data.csv -o data.upoe --quality best
  upoe fit faces.npy -o faces.upoe --dims 50 --experts 20 --family student-t --fix-mu 0
  upoe fit patches.parquet -o patches.upoe --holdout-by image --checkpoint patches.ckpt
  zcat big.csv.gz | upoe fit - --json > fit.json
  upoe fit 'logs/*.parquet' -o logs.upoe --memory 4G --scratch /scratch

Memory: 100 MB plus at most 19 bytes per number in the table (14 with --precision f32) when
there are many more rows than columns; otherwise up to 50 bytes per number. A table that takes
more than --memory stays in a file: see docs/scale.md.

Exit status: 0 when it worked, 1 when the data or the request is wrong, 2 for a wrong command
line, 130 after Ctrl-C or SIGTERM, which writes a model of the experts learned so far.")]
pub struct FitArgs {
    #[command(flatten)]
    pub table: TableArgs,
    /// The model file to write; without it, the fit says what it found and keeps nothing
    #[arg(long, short, value_name = "MODEL")]
    pub output: Option<PathBuf>,
    /// The column that holds the weight of each row
    #[arg(long, value_name = "COLUMN", help_heading = "Columns")]
    pub weights: Option<String>,
    /// Weights, and how often a row is repeated, are numbers of independent rows. Otherwise p-values
    /// count repeated rows once, and weights as what they are worth in equal rows
    #[arg(long, help_heading = "Columns")]
    pub counts: bool,
    /// Rows that have the same value in this column belong together and may resemble each other:
    /// p-values take blocks, not rows, as independent, and --holdout holds out whole blocks
    #[arg(long, value_name = "COLUMN", conflicts_with = "holdout_by", help_heading = "Columns")]
    pub blocks: Option<String>,
    /// Rows follow one another in time: p-values count as many rows as could be independent
    #[arg(long, help_heading = "Columns")]
    pub ordered: bool,

    /// How much to take on: fast (one layer: Gaussian except along directions), good (a stack of
    /// layers, until what is left is Gaussian noise), best (a pool of stacks and mixtures)
    /// [default: fast]
    #[arg(long, value_parser = one_of::<Quality>(), value_name = "QUALITY",
          hide_possible_values = true, help_heading = "Model")]
    pub quality: Option<Quality>,
    /// Layers at most; auto: until what is left is Gaussian noise [default: 1 for --quality fast, auto
    /// for the others]
    #[arg(long, value_name = "1|N|auto", value_parser = depth, help_heading = "Model")]
    pub depth: Option<Depth>,
    /// Learn at most this many experts; auto: as many as the stop rule keeps
    #[arg(long, default_value = "auto", value_name = "J|auto", value_parser = experts,
          allow_negative_numbers = true, help_heading = "Model")]
    pub experts: Auto<usize>,
    /// Stop when the next expert gains no more than it would on Gaussian noise (null), nothing on
    /// the training rows (train, the paper's rule), nothing on the held-out rows (holdout), or
    /// less than its parameters cost (bic) [default: null, or train if --experts is a number]
    #[arg(long, value_name = "RULE", value_parser = one_of::<Stop>(),
          hide_possible_values = true, help_heading = "Model")]
    pub stop: Option<Stop>,
    /// Dimensions to keep: auto (all that have variance), a number, or a share of the variance
    #[arg(long, default_value = "auto", value_name = "D|auto|0.99", value_parser = dims,
          help_heading = "Model")]
    pub dims: Dims,
    /// Family of the experts; auto chooses the best one for each direction
    #[arg(long, default_value = "auto",
          value_parser = auto_or::<Family>(),
          help_heading = "Model")]
    pub family: Auto<Family>,
    /// Number of components of a mixture
    #[arg(long, default_value_t = Settings::default().mixture_size, value_name = "K", help_heading = "Model")]
    pub mixture_size: usize,
    /// Fix the locations μ: one value for student-t, one per component for mixture
    #[arg(
        long,
        value_name = "A[,B]",
        value_delimiter = ',',
        allow_hyphen_values = true,
        help_heading = "Model"
    )]
    pub fix_mu: Option<Vec<f64>>,
    /// Fix β in student-t experts and mixtures
    #[arg(long, value_name = "BETA", allow_negative_numbers = true, help_heading = "Model")]
    pub fix_beta: Option<f64>,

    /// Hold out this share of the rows, and report how probable the model makes them
    #[arg(long, value_name = "F", value_parser = share, help_heading = "Held-out rows")]
    pub holdout: Option<f64>,
    /// Hold out whole blocks: the same as --blocks COLUMN --holdout 0.2 [share: --holdout, or 0.2]
    #[arg(long, value_name = "COLUMN", help_heading = "Held-out rows")]
    pub holdout_by: Option<String>,

    /// How to learn directions: pursuit (one at a time, orthonormal), sequential (one at a time,
    /// not orthogonal), parallel (all together)
    #[arg(long, default_value = Settings::default().learner.name(), hide_possible_values = true,
          value_parser = PossibleValuesParser::new(Learner::NAMES),
          help_heading = "Learning")]
    pub learner: String,
    /// What the parallel learner starts from [default: sequential]
    #[arg(long, value_parser = one_of::<ParallelStart>(), help_heading = "Learning")]
    pub start: Option<ParallelStart>,
    /// Number of starts for each direction [default: depends on the size of the data]
    #[arg(long, value_name = "K", help_heading = "Learning")]
    pub starts: Option<usize>,
    /// Maximum number of steps of each descent
    #[arg(long, default_value_t = Settings::default().max_iter, value_name = "N", help_heading = "Learning")]
    pub max_iter: usize,
    /// A descent has converged when no entry of the gradient is larger than this; over many rows also
    /// where what is left to gain is noise
    #[arg(
        long,
        default_value_t = Settings::default().tol,
        value_name = "EPS",
        allow_negative_numbers = true,
        help_heading = "Learning"
    )]
    pub tol: f64,
    /// How to take steps: best, or paper (gradient steps on batches of 100 rows)
    #[arg(long, default_value = Settings::default().recipe.name(), value_parser = one_of::<Recipe>(),
          help_heading = "Learning")]
    pub recipe: Recipe,
    /// Number format of the rows while learning
    #[arg(long, default_value = Settings::default().precision.name(), value_parser = one_of::<Precision>(),
          help_heading = "Learning")]
    pub precision: Precision,
    /// Seed of all random numbers
    #[arg(long, default_value_t = Settings::default().seed, value_name = "SEED", help_heading = "Learning")]
    pub seed: u64,

    /// Where the work is done: cpu, cuda (an NVIDIA GPU; cuda:1 is the second one), or auto, which takes
    /// a GPU for large tables where there is one
    #[arg(long, default_value = "cpu", value_name = "DEVICE", help_heading = "Running")]
    pub device: DeviceChoice,
    /// Memory that the fit may take, such as 4G: a larger table is fitted in passes over a scratch
    /// file [default: half of what is free]
    #[arg(long, value_name = "SIZE", value_parser = parse_size, help_heading = "Running")]
    pub memory: Option<u64>,
    /// The directory of that file [default: that of temporary files]
    #[arg(long, value_name = "DIR", help_heading = "Running")]
    pub scratch: Option<PathBuf>,
    /// Make starts and most steps on a sample of N rows; all rows decide at the end [default: all, and
    /// for a table larger than memory 16.8 million numbers]
    #[arg(long, value_name = "N|all", value_parser = sample, help_heading = "Running")]
    pub sample: Option<Auto<usize>>,
    /// Save the state of the fit in this file after every expert
    #[arg(long, value_name = "FILE", help_heading = "Running")]
    pub checkpoint: Option<PathBuf>,
    /// Continue from the checkpoint if there is one
    #[arg(long, requires = "checkpoint", help_heading = "Running")]
    pub resume: bool,
    #[command(flatten)]
    pub common: Common,
}

impl FitArgs {
    /// What the fit is asked to do.
    pub fn settings(&self) -> upoe::Result<Settings> {
        let learner = Learner::named(&self.learner, self.start.unwrap_or_default())?;
        if let (Some(start), false) = (self.start, matches!(learner, Learner::Parallel { .. })) {
            return Err(upoe::Error::InvalidSetting {
                name: "parallel_start",
                value: start.name().to_owned(),
                rule: "only the parallel learner starts from something; add `--learner parallel`"
                    .into(),
            });
        }
        let settings = Settings::default().with(|s| {
            s.experts = self.experts.0;
            s.dims = self.dims;
            s.counts = self.counts;
            s.ordered = self.ordered;
            s.families = self.family.0.map_or_else(Families::default, Into::into);
            s.mixture_size = self.mixture_size;
            s.fix_mu = self.fix_mu.clone();
            s.fix_beta = self.fix_beta;
            s.learner = learner;
            s.stop = self.stop;
            s.starts = self.starts;
            s.max_iter = self.max_iter;
            s.tol = self.tol;
            s.sample = self.sample.and_then(|sample| sample.0);
            s.seed = self.seed;
            s.recipe = self.recipe;
            s.precision = self.precision;
        });
        settings.asked(self.quality, self.depth)
    }
}

fn depth(text: &str) -> Result<Depth, String> {
    text.parse()
}

fn sample(text: &str) -> Result<Auto<usize>, String> {
    match text {
        "all" => Ok(Auto(None)),
        _ => {
            text.parse().map(|n| Auto(Some(n))).map_err(|_| "give a number of rows, or all".into())
        }
    }
}

fn experts(text: &str) -> Result<Auto<usize>, String> {
    match text {
        "auto" => Ok(Auto(None)),
        _ => text.parse().map(|j| Auto(Some(j))).map_err(|_| "give a number, or auto".into()),
    }
}

fn dims(text: &str) -> Result<Dims, String> {
    if text == "auto" {
        return Ok(Dims::All);
    }
    if let Ok(count) = text.parse() {
        return if count == 0 {
            Err("at least one dimension must be kept".into())
        } else {
            Ok(Dims::Count(count))
        };
    }
    match text.parse() {
        Ok(share) if share > 0.0 && share <= 1.0 => Ok(Dims::Share(share)),
        _ => Err("give a number, a share of the variance between 0 and 1, or auto".into()),
    }
}

fn share(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(share) if share > 0.0 && share < 1.0 => Ok(share),
        _ => Err("give a share of the rows between 0 and 1".into()),
    }
}
