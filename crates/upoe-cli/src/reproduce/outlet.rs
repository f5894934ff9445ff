//! Where an experiment's figures, numbers and page go.

use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::{Value, json};
use upoe_report::figure::Figure;

use crate::args::Common;
use crate::failure::Failure;
use crate::interrupt;
use crate::output::{make_directory, print, print_json};
use crate::overwriting::refuse_overwriting;
use crate::progress::Progress;
use crate::stdout;
use crate::visible;

/// The directory an experiment writes to.
pub struct Outlet {
    directory: PathBuf,
    json: bool,
    quiet: bool,
    start: Instant,
    figures: Vec<Value>,
    /// Says what is being done.
    pub progress: Progress,
}

impl Outlet {
    /// Makes the directory, and refuses one that cannot be written to, or whose results are read.
    pub fn open(
        directory: &Path,
        common: &Common,
        inputs: &[Option<&Path>],
    ) -> Result<Self, Failure> {
        common.start()?;
        if common.json || !common.quiet {
            stdout::check()?;
        }
        let inputs: Vec<&Path> = inputs.iter().flatten().copied().collect();
        for result in ["results.json", "results.md"] {
            refuse_overwriting(&inputs, Some(&directory.join(result)))?;
        }
        interrupt::listen();
        make_directory(directory)?;
        upoe_table::check_writable(directory.join("results.json"))?;
        Ok(Outlet {
            directory: directory.to_owned(),
            json: common.json,
            quiet: common.quiet,
            start: Instant::now(),
            figures: Vec::new(),
            progress: Progress::new(common.quiet),
        })
    }

    /// Writes a figure as SVG and PNG; gives the Markdown that shows it.
    pub fn draw(&mut self, name: &str, caption: &str, figure: &Figure) -> Result<String, Failure> {
        let (svg, png) = (format!("{name}.svg"), format!("{name}.png"));
        self.write(&svg, figure.svg().as_bytes())?;
        self.write(&png, &figure.png(2.0))?;
        self.figures.push(json!({ "files": [svg, png], "caption": caption }));
        Ok(format!("![{caption}]({png})\n"))
    }

    /// Writes another file.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<(), Failure> {
        Ok(upoe_table::write_file(self.directory.join(name), bytes)?)
    }

    /// An error where Ctrl-C was pressed.
    pub fn go_on(&self) -> Result<(), Failure> {
        if !interrupt::asked() {
            return Ok(());
        }
        let text = "interrupted: the results are not written";
        Err(Failure::Interrupted((!self.quiet).then(|| text.into())))
    }

    /// Writes the numbers and the page, and shows them.
    pub fn finish(self, mut results: Value, page: &str) -> Result<(), Failure> {
        results["figures"] = self.figures.clone().into();
        results["seconds"] = self.start.elapsed().as_secs_f64().into();
        results["version"] = env!("CARGO_PKG_VERSION").into();
        let text = format!("{results:#}\n");
        self.write("results.json", text.as_bytes())?;
        self.write("results.md", page.as_bytes())?;
        self.progress.clear();
        if self.json {
            print_json(&text)?;
        } else if !self.quiet {
            let lines = page.lines().filter(|line| !line.starts_with("!["));
            let shown: Vec<_> = lines.map(visible::line).collect();
            print(&(shown.join("\n") + "\n"))?;
        }
        self.progress.say(&format!(
            "wrote {} figures, results.json and results.md in {}",
            self.figures.len(),
            self.directory.display()
        ));
        Ok(())
    }
}

/// A failure of the mathematics.
pub fn failed(error: upoe::Error) -> Failure {
    Failure::Message(error.to_string())
}

/// A number with a real minus sign.
pub fn signed(value: f64, places: usize) -> String {
    format!("{value:.places$}").replace('-', "−")
}
