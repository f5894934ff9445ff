//! The command line of `upoe fit`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::PossibleValuesParser;
use upoe::expert::Family;
use upoe::{Dims, Families, Learner, ParallelStart, Precision, Recipe, Settings, Stop};

use crate::args::{Auto, Common, TableArgs, auto_or, one_of};

/// Learn a model from a table
#[derive(Args)]
#[command(after_help = "Examples:
  upoe fit data.csv -o data.upoe
  upoe fit data.csv -o data.upoe --exclude id --weights w --holdout 0.2
  upoe fit faces.npy -o faces.upoe --dims 50 --experts 20 --family student-t --fix-mu 0
  upoe fit patches.parquet -o patches.upoe --holdout-by image --checkpoint patches.ckpt
  zcat big.csv.gz | upoe fit - --json > fit.json

Memory: at most 19 bytes a number of the table (14 with --precision f32), and 60 MB, where rows
are many more than columns; up to 50 bytes where they are not.

Exit status: 0 when it worked, 1 when the data or the request is at fault, 2 for a wrong
command line, 130 after Ctrl-C, which keeps and writes the experts learned so far.")]
pub struct FitArgs {
    #[command(flatten)]
    pub table: TableArgs,
    /// The model file to write
    #[arg(long, short, value_name = "MODEL", required_unless_present = "json")]
    pub output: Option<PathBuf>,
    /// The column of row weights
    #[arg(long, value_name = "COLUMN", help_heading = "Columns")]
    pub weights: Option<String>,

    /// At most this many experts; auto leaves it to the stop rule
    #[arg(long, default_value = "auto", value_name = "J|auto", value_parser = experts,
          allow_negative_numbers = true, help_heading = "Model")]
    pub experts: Auto<usize>,
    /// When to stop: null (an expert must gain more than Gaussian noise would give), train (the
    /// paper's Q < 0), holdout, bic [default: null, or train where --experts is a number]
    #[arg(long, value_name = "RULE", value_parser = one_of::<Stop>(),
          hide_possible_values = true, help_heading = "Model")]
    pub stop: Option<Stop>,
    /// Dimensions kept: all with variance (auto), a number, or a share of the variance
    #[arg(long, default_value = "auto", value_name = "D|auto|0.99", value_parser = dims,
          help_heading = "Model")]
    pub dims: Dims,
    /// Family of the experts; auto takes for each direction what suits it best
    #[arg(long, default_value = "auto",
          value_parser = auto_or::<Family>(),
          help_heading = "Model")]
    pub family: Auto<Family>,
    /// Components of a mixture
    #[arg(long, default_value_t = 2, value_name = "K", help_heading = "Model")]
    pub mixture_size: usize,
    /// Hold the locations μ: one for student-t, one a component for mixture
    #[arg(
        long,
        value_name = "A[,B]",
        value_delimiter = ',',
        allow_hyphen_values = true,
        help_heading = "Model"
    )]
    pub fix_mu: Option<Vec<f64>>,
    /// Hold β, in student-t experts and mixtures
    #[arg(long, value_name = "BETA", allow_negative_numbers = true, help_heading = "Model")]
    pub fix_beta: Option<f64>,

    /// Hold out this share of the rows and report on them
    #[arg(long, value_name = "F", value_parser = share, help_heading = "Held-out rows")]
    pub holdout: Option<f64>,
    /// Hold out whole groups of rows: those with the same value in this column
    /// [share: --holdout, or 0.2]
    #[arg(long, value_name = "COLUMN", help_heading = "Held-out rows")]
    pub holdout_by: Option<String>,

    /// How directions are learned: pursuit (one at a time, orthonormal), sequential (one at a
    /// time, free), parallel (all together)
    #[arg(long, default_value = "pursuit", hide_possible_values = true,
          value_parser = PossibleValuesParser::new(Learner::NAMES),
          help_heading = "Learning")]
    pub learner: String,
    /// Where the parallel learner starts
    #[arg(long, default_value = "sequential",
          value_parser = one_of::<ParallelStart>(),
          help_heading = "Learning")]
    pub start: ParallelStart,
    /// Starts for each direction [default: by the size of the data]
    #[arg(long, value_name = "K", help_heading = "Learning")]
    pub starts: Option<usize>,
    /// Most steps of a descent
    #[arg(long, default_value_t = 500, value_name = "N", help_heading = "Learning")]
    pub max_iter: usize,
    /// Largest entry of the gradient at an answer
    #[arg(
        long,
        default_value_t = 1e-5,
        value_name = "EPS",
        allow_negative_numbers = true,
        help_heading = "Learning"
    )]
    pub tol: f64,
    /// Steps: best, or the paper's (gradient steps on batches of 100)
    #[arg(long, default_value = "best", value_parser = one_of::<Recipe>(),
          help_heading = "Learning")]
    pub recipe: Recipe,
    /// How rows are stored while learning
    #[arg(long, default_value = "f64", value_parser = one_of::<Precision>(),
          help_heading = "Learning")]
    pub precision: Precision,
    /// Seed of all random numbers
    #[arg(long, default_value_t = 0, value_name = "SEED", help_heading = "Learning")]
    pub seed: u64,

    /// Keep the state of the fit here after every expert
    #[arg(long, value_name = "FILE", help_heading = "Running")]
    pub checkpoint: Option<PathBuf>,
    /// Go on from the checkpoint, where there is one
    #[arg(long, requires = "checkpoint", help_heading = "Running")]
    pub resume: bool,
    #[command(flatten)]
    pub common: Common,
}

impl FitArgs {
    /// What the fit is asked to do.
    pub fn settings(&self) -> upoe::Result<Settings> {
        let learner = Learner::named(&self.learner, self.start)?;
        Ok(Settings::default().with(|s| {
            s.experts = self.experts.0;
            s.dims = self.dims;
            s.families = self.family.0.map_or_else(Families::default, Into::into);
            s.mixture_size = self.mixture_size;
            s.fix_mu = self.fix_mu.clone();
            s.fix_beta = self.fix_beta;
            s.learner = learner;
            s.stop = self.stop;
            s.starts = self.starts;
            s.max_iter = self.max_iter;
            s.tol = self.tol;
            s.seed = self.seed;
            s.recipe = self.recipe;
            s.precision = self.precision;
        }))
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
