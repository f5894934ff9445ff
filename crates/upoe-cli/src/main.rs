//! The `upoe` command: parse, call, print.

mod args;
mod beside;
mod charts;
mod compare;
mod data;
mod demo;
mod describe;
mod device;
mod expect;
mod explain;
mod failure;
mod fit;
mod fit_args;
mod fit_large;
mod given;
mod groups;
mod holdout;
mod impute;
mod inspect;
mod interrupt;
mod keeper;
mod large;
mod layers;
mod manual;
mod outliers;
mod output;
mod overwriting;
mod progress;
mod remedy;
mod report;
mod reproduce;
mod sample;
mod score;
mod stdout;
mod table;
mod transform;
mod visible;
mod watch;
mod work;

use std::panic::{self, AssertUnwindSafe};
use std::process::ExitCode;
use std::sync::Mutex;

use clap::{Parser, Subcommand};
use failure::Failure;

/// Fit, evaluate, sample and explain densities that are Gaussian except along a few learned
/// directions.
#[derive(Parser)]
#[command(name = "upoe", version, arg_required_else_help = true, max_term_width = 100)]
#[command(after_help = "Examples:
  upoe demo                                   see it work on data that come with it
  upoe fit data.csv -o data.upoe              learn a model
  upoe score data.upoe data.csv | head        how probable is each row?
  upoe compare data.csv new.csv               what changed?
  upoe sample data.upoe -n 1000 -o more.csv   more rows like these
  upoe outliers data.csv                      which rows are odd, and why?")]
pub(crate) struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    Demo(demo::Demo),
    Fit(Box<fit_args::FitArgs>),
    Score(score::Score),
    Sample(sample::Sample),
    Transform(transform::Transform),
    Explain(explain::Explain),
    Compare(compare::Compare),
    Outliers(outliers::Outliers),
    Groups(groups::GroupsVerb),
    Impute(impute::Impute),
    Expect(expect::Expect),
    Inspect(inspect::Inspect),
    Report(report::Report),
    Reproduce(reproduce::Reproduce),
    Completions(manual::Completions),
    Man(manual::Man),
}

impl Verb {
    fn run(self) -> Result<(), Failure> {
        match self {
            Verb::Demo(verb) => verb.run(),
            Verb::Fit(verb) => fit::run(&verb),
            Verb::Score(verb) => verb.run(),
            Verb::Sample(verb) => verb.run(),
            Verb::Transform(verb) => verb.run(),
            Verb::Explain(verb) => verb.run(),
            Verb::Compare(verb) => verb.run(),
            Verb::Outliers(verb) => verb.run(),
            Verb::Groups(verb) => verb.run(),
            Verb::Impute(verb) => verb.run(),
            Verb::Expect(verb) => verb.run(),
            Verb::Inspect(verb) => verb.run(),
            Verb::Report(verb) => verb.run(),
            Verb::Reproduce(verb) => verb.run(),
            Verb::Completions(verb) => verb.run(),
            Verb::Man(verb) => verb.run(),
        }
    }
}

/// What the last panic said. A reader of foreign files may panic and be caught by its caller,
/// so nothing is printed until a panic gets as far as here.
static PANIC: Mutex<String> = Mutex::new(String::new());

fn run() -> Result<(), Failure> {
    match Cli::try_parse() {
        Ok(cli) => cli.verb.run(),
        // Help and version are results too; anything else is a wrong command line.
        Err(error) if !error.use_stderr() => output::print(&error.render().ansi().to_string()),
        Err(error) => error.exit(),
    }
}

fn main() -> ExitCode {
    panic::set_hook(Box::new(|panic| {
        if let Ok(mut said) = PANIC.lock() {
            *said = panic.to_string();
        }
    }));
    let result = panic::catch_unwind(AssertUnwindSafe(run));
    let failure = match result {
        Ok(Ok(())) => return ExitCode::SUCCESS,
        Ok(Err(failure)) => failure,
        Err(_) => {
            let said = PANIC.lock().map(|said| said.replace('\n', " ")).unwrap_or_default();
            Failure::Message(format!(
                "a fault in upoe itself, not in your data ({said}); please report it with the \
                 command you ran"
            ))
        }
    };
    failure.report()
}
