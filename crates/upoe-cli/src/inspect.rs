//! `upoe inspect`: what a model says.

use std::path::PathBuf;

use clap::Args;
use upoe_file::ModelFile;

use crate::args::Common;
use crate::describe;
use crate::failure::Failure;
use crate::output::print;
use crate::table::shown;

/// What a model says
#[derive(Args)]
#[command(after_help = "Examples:
  upoe inspect data.upoe
  upoe inspect data.upoe --json | jq '.experts[0].loadings'")]
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
            return print(&format!("{:#}\n", describe::json(&file)));
        }
        let name = shown(&self.model.display().to_string(), 60);
        let (version, seed) = (shown(&file.training.version, 20), file.training.seed);
        let about = format!("{name}: fitted by upoe {version} with seed {seed}\n");
        print(&(about + &describe::text(&file, usize::MAX)))
    }
}
