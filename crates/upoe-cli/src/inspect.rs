//! `upoe inspect`: what a model says.

use std::path::PathBuf;

use clap::Args;
use upoe_file::ModelFile;

use crate::args::Common;
use crate::describe;
use crate::failure::Failure;
use crate::output::{print, print_json};
use crate::visible::short;

/// Show what a model has learned
#[derive(Args)]
#[command(after_help = "Examples:
  upoe inspect data.upoe
  upoe inspect data.upoe --json | jq '.experts[0].filter'")]
pub struct Inspect {
    /// The model file
    pub model: PathBuf,
    #[command(flatten)]
    pub common: Common,
}

impl Inspect {
    /// Reads and prints.
    pub fn run(&self) -> Result<(), Failure> {
        let file = ModelFile::read(&self.model)?;
        if self.common.json {
            return print_json(&format!("{:#}\n", describe::json(&file)));
        }
        let name = short(&self.model.display().to_string(), 60);
        let (version, seed) = (short(&file.training.version, 20), file.training.seed);
        let about = format!("{name}: fitted by upoe {version} with seed {seed}\n");
        print(&(about + &describe::text(&file, usize::MAX)))
    }
}
