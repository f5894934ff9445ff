//! `upoe report`: the page.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;
use upoe_file::ModelFile;
use upoe_report::{Cells, FitRecord, Image, Input, Kept, Step, build_with, html};
use upoe_table::{MissingCells, Table, TextColumn};

use crate::args::{Common, TableArgs};
use crate::data::parse_size;
use crate::failure::{Failure, from_core};
use crate::interrupt;
use crate::large;
use crate::output::print_json;
use crate::progress::Progress;
use crate::work::Pace;

/// Write the page: one HTML file that shows the model and its data
#[derive(Args)]
#[command(after_help = "Examples:
  upoe report data.upoe data.csv -o report.html
  upoe report faces.upoe faces.npy --image 28x20 -o faces.html

The page says what was found, lists the odd rows as `upoe outliers` does for the same columns,
and shows groups, directions, layers and missing cells with what the model expects there. It is
one file, which needs no network.")]
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
    /// Memory that the table may take, such as 4G: a larger one is read in blocks [default: half of
    /// what is free]
    #[arg(long, value_name = "SIZE", value_parser = parse_size, help_heading = "Running")]
    pub memory: Option<u64>,
    #[command(flatten)]
    pub common: Common,
}

impl Report {
    /// Reads, builds the page, writes.
    pub fn run(&self) -> Result<(), Failure> {
        self.common.start()?;
        let file = self.table.model(&self.model, Some(&self.output))?;
        upoe_table::check_writable(&self.output)?;
        if let Some((height, width)) = self.image
            && height.checked_mul(width) != Some(file.names.len())
        {
            return Err(Failure::Message(format!(
                "--image {height}x{width}: the model has {} columns; give a height and a width with that \
                 product",
                file.names.len()
            )));
        }
        interrupt::listen();
        let progress = Progress::new(self.common.quiet);
        let options = self.table.options_for(&file.names)?;
        let options = match self.table.missing {
            None => options.with(|o| o.missing = MissingCells::Keep),
            Some(_) => options,
        };
        let table = match large::Input::open(&self.table.data, options, self.memory, &progress)? {
            large::Input::Whole(table) => table,
            large::Input::Large(data, options) => large::sample(&data, &options, &progress)?,
        };
        let page = page(&file, &table, self.image, &progress)?;
        let failed = |error| from_core(error, &table);
        let complete: Vec<f64> = (table.data.chunks_exact(file.names.len()))
            .filter(|row| !row.iter().any(|cell| cell.is_nan()))
            .flatten()
            .copied()
            .collect();
        let rows = upoe::Rows::new(&complete, file.names.len()).map_err(failed)?;
        progress.warn_outside(&file, &rows).map_err(failed)?;
        upoe_table::write_file(&self.output, page.as_bytes())?;
        if self.common.json {
            let page = self.output.display().to_string();
            return print_json(&format!("{}\n", json!({ "page": page, "rows": table.rows })));
        }
        progress.say(&format!("wrote {}", self.output.display()));
        Ok(())
    }
}

/// The page of a model and a table aligned to its columns.
pub fn page(
    file: &ModelFile,
    table: &Table,
    image: Option<(usize, usize)>,
    progress: &Progress,
) -> Result<String, Failure> {
    let kept: Vec<Kept> = table.kept.iter().map(kept).collect();
    let is_there = |number: &u64| table.dropped.binary_search(number).is_err();
    let numbers: Vec<u32> =
        (1..).filter(is_there).take(table.rows).map(|number| number as u32).collect();
    let title = table.source.file_name().unwrap_or_default().to_string_lossy();
    let input = Input {
        title: &title,
        fitted: file.fitted(),
        training: &training(file),
        names: &file.names,
        rows: upoe::Rows::new(&table.data, file.names.len()).map_err(|e| from_core(e, table))?,
        numbers: Some(&numbers),
        groups: file.groups.as_ref(),
        kept: &kept,
        image: image.map(|(height, width)| Image { height, width }),
        seed: file.training.seed,
    };
    let mut pace = Pace::new(progress, "scoring");
    let page = build_with(&input, &mut |Step { what, done, total, unit }| {
        pace.tell(what, done, total, unit).map_err(Ended::Asked)
    });
    match page {
        Ok(page) => Ok(html(&page)),
        Err(Ended::Asked(failure)) => Err(failure),
        Err(Ended::Failed(error)) => Err(from_core(error, table)),
    }
}

/// Why there is no page.
enum Ended {
    Asked(Failure),
    Failed(upoe::Error),
}

impl From<upoe::Error> for Ended {
    fn from(error: upoe::Error) -> Self {
        Ended::Failed(error)
    }
}

fn kept(column: &TextColumn) -> Kept {
    let cells = column.iter().map(str::to_owned).collect();
    Kept { name: column.name.clone(), cells: Cells::Text(cells) }
}

/// What the page says of the training.
fn training(file: &ModelFile) -> FitRecord {
    FitRecord {
        state: file.state.clone(),
        layers: file.layers.clone(),
        evaluation: file.training.evaluation,
        seconds: file.training.seconds,
        stop_reason: file.stop.to_string(),
        settings: file.settings_in_words(),
        version: file.training.version.clone(),
        notices: file.notices.iter().map(|n| n.message(|c| file.names[c].clone())).collect(),
    }
}

fn image(text: &str) -> Result<(usize, usize), String> {
    let sides = text.split_once(['x', 'X', '×']);
    let parsed = sides.and_then(|(h, w)| Some((h.trim().parse().ok()?, w.trim().parse().ok()?)));
    parsed.filter(|(h, w)| *h > 0 && *w > 0).ok_or_else(|| "give height x width, as 28x20".into())
}
