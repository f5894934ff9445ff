//! `upoe report`: the page.

use std::path::PathBuf;

use clap::Args;
use upoe_io::{ModelFile, Table};

use crate::args::{Common, TableArgs};
use crate::failure::Failure;
use crate::progress::Progress;

/// The page: one HTML file to look at the model and its data
#[derive(Args)]
#[command(after_help = "Examples:
  upoe report data.upoe data.csv -o report.html
  upoe report faces.upoe faces.npy --image 28x20 -o faces.html")]
pub struct Report {
    /// The model file
    pub model: PathBuf,
    #[command(flatten)]
    pub table: TableArgs,
    /// The page to write
    #[arg(long, short, value_name = "FILE", default_value = "report.html")]
    pub output: PathBuf,
    /// The columns are the pixels of an image of this height and width
    #[arg(long, value_name = "HxW", value_parser = image)]
    pub image: Option<(usize, usize)>,
    #[command(flatten)]
    pub common: Common,
}

impl Report {
    /// Reads, builds the page, writes.
    pub fn run(&self) -> Result<(), Failure> {
        self.common.start()?;
        let file = self.table.model(&self.model, Some(&self.output))?;
        upoe_io::check_writable(&self.output)?;
        let progress = Progress::new(self.common.quiet);
        let table = progress.read(&self.table.data, &self.table.options_for(&file.names))?;
        let page = page(&file, &table, self.image).ok_or_else(|| {
            Failure::Message("this build of upoe cannot write pages yet".to_owned())
        })?;
        upoe_io::write_file(&self.output, page.as_bytes())?;
        progress.say(&format!("wrote {}", self.output.display()));
        Ok(())
    }
}

/// The page of a model and a table aligned to its columns; `None` where it cannot be built.
pub fn page(_file: &ModelFile, _table: &Table, _image: Option<(usize, usize)>) -> Option<String> {
    None // upoe_report::build(…) when it lands
}

fn image(text: &str) -> Result<(usize, usize), String> {
    let sides = text.split_once(['x', 'X', '×']);
    let parsed = sides.and_then(|(h, w)| Some((h.trim().parse().ok()?, w.trim().parse().ok()?)));
    parsed.filter(|(h, w)| *h > 0 && *w > 0).ok_or_else(|| "give height x width, as 28x20".into())
}
