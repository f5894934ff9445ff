//! `upoe reproduce`: the paper's experiments.

mod crabs;
mod frey;
mod images;
mod marginals;
mod outlet;
mod peers;
mod statistics;

use clap::{Args, Subcommand};

use crate::failure::Failure;

/// Run the paper's experiments, and say where the results differ from the paper's
#[derive(Args)]
#[command(after_help = "Examples:
  upoe reproduce crabs                              figures 2 and 3; its data come with upoe
  upoe reproduce frey --data frey_rawface.mat       figure 1
  upoe reproduce images --data images               figure 4

Each writes its figures (SVG and PNG), results.json with every number in them, and results.md, a
page that says what the paper shows, what we see, and where they differ.")]
pub struct Reproduce {
    #[command(subcommand)]
    experiment: Experiment,
}

#[derive(Subcommand)]
enum Experiment {
    Crabs(crabs::Crabs),
    Frey(frey::Frey),
    Images(Box<images::Images>),
}

impl Reproduce {
    /// Runs the experiment asked for.
    pub fn run(&self) -> Result<(), Failure> {
        match &self.experiment {
            Experiment::Crabs(crabs) => crabs.run(),
            Experiment::Frey(frey) => frey.run(),
            Experiment::Images(images) => images.run(),
        }
    }
}
