//! `upoe completions` and `upoe man`.

use std::path::PathBuf;

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::Cli;
use crate::failure::Failure;
use crate::output::print;

/// Print completions for a shell
#[derive(Args)]
#[command(after_help = "Examples:
  upoe completions bash > ~/.local/share/bash-completion/completions/upoe
  upoe completions zsh > ~/.zfunc/_upoe
  upoe completions fish > ~/.config/fish/completions/upoe.fish")]
pub struct Completions {
    /// The shell
    pub shell: Shell,
}

impl Completions {
    /// Prints the script.
    pub fn run(&self) -> Result<(), Failure> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "upoe", &mut script);
        print(&String::from_utf8_lossy(&script))
    }
}

/// Print manual pages
#[derive(Args)]
#[command(after_help = "Examples:
  upoe man | man -l -                 the page of the command
  upoe man fit | man -l -             the page of a verb
  upoe man -o ~/.local/share/man/man1  all of them, as files")]
pub struct Man {
    /// The verb [default: the command itself]
    pub verb: Option<String>,
    /// Write all pages into this directory
    #[arg(long, short, value_name = "DIR")]
    pub output: Option<PathBuf>,
}

impl Man {
    /// Prints a page, or writes all of them.
    pub fn run(&self) -> Result<(), Failure> {
        let mut command = Cli::command();
        command.build();
        let mut pages = Vec::new();
        collect(&command, "", &mut pages);
        if let Some(directory) = &self.output {
            for (name, page) in std::iter::once(("", command)).chain(borrowed(&pages)) {
                let name = if name.is_empty() { "upoe".into() } else { format!("upoe-{name}") };
                upoe_table::write_file(directory.join(format!("{name}.1")), &render(page)?)?;
            }
            return Ok(());
        }
        let page = match &self.verb {
            None => command,
            Some(wanted) => match borrowed(&pages).find(|(name, _)| name == wanted) {
                Some((_, verb)) => verb,
                None => {
                    let known: Vec<&str> = pages.iter().map(|(name, _)| name.as_str()).collect();
                    return Err(Failure::Usage(format!(
                        "no verb `{wanted}`; the verbs are {}",
                        known.join(", ")
                    )));
                }
            },
        };
        print(&String::from_utf8_lossy(&render(page)?))
    }
}

/// The verbs of a command and the verbs of those, by names such as `reproduce-frey`.
fn collect(command: &clap::Command, before: &str, pages: &mut Vec<(String, clap::Command)>) {
    for verb in command.get_subcommands().filter(|verb| verb.get_name() != "help") {
        let name = format!("{before}{}", verb.get_name());
        pages.push((name.clone(), verb.clone()));
        collect(verb, &format!("{name}-"), pages);
    }
}

fn borrowed(pages: &[(String, clap::Command)]) -> impl Iterator<Item = (&str, clap::Command)> {
    pages.iter().map(|(name, page)| (name.as_str(), page.clone()))
}

fn render(command: clap::Command) -> Result<Vec<u8>, Failure> {
    let mut page = Vec::new();
    let source = concat!("upoe ", env!("CARGO_PKG_VERSION"));
    clap_mangen::Man::new(command).source(source).manual("upoe").render(&mut page)?;
    Ok(page)
}
