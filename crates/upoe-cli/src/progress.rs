//! What is being done, on the standard error: a line that changes where it is a terminal, a
//! line for each stage otherwise.

use std::io::{IsTerminal, Write};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use upoe::Rows;
use upoe_file::ModelFile;
use upoe_table::{ReadOptions, Table, TableNotice};

use crate::failure::Failure;
use crate::interrupt;
use crate::remedy;
use crate::visible;

/// Tells people what is being done.
pub struct Progress {
    quiet: bool,
    bar: Option<ProgressBar>,
    /// The changing line is removed permanently.
    cleared: AtomicBool,
}

impl Progress {
    /// Silent where `quiet`.
    pub fn new(quiet: bool) -> Self {
        let bar = (!quiet && std::io::stderr().is_terminal()).then(|| {
            let bar = ProgressBar::new_spinner();
            if let Ok(style) = ProgressStyle::with_template("{spinner} {wide_msg}") {
                bar.set_style(style);
            }
            bar.enable_steady_tick(Duration::from_millis(100));
            bar
        });
        Progress { quiet, bar, cleared: AtomicBool::new(false) }
    }

    /// Whether the standard error is a terminal that shows the changing line.
    pub fn is_live(&self) -> bool {
        self.bar.is_some()
    }

    /// What is being done now: replaces the changing line.
    pub fn live(&self, text: String) {
        if let Some(bar) = self.bar.as_ref().filter(|_| !self.cleared.load(Ordering::SeqCst)) {
            bar.set_message(visible::line(&text).into_owned());
        }
    }

    /// A stage begins: a line of its own where nothing changes in place.
    pub fn stage(&self, text: &str) {
        match &self.bar {
            Some(_) => self.live(text.to_owned()),
            None => self.say(text),
        }
    }

    /// Says something that stays.
    pub fn say(&self, text: &str) {
        self.print("", text);
    }

    fn print(&self, label: &str, text: &str) {
        if self.quiet {
            return;
        }
        let print = || {
            // Nothing can be done where messages cannot be written.
            let _ = writeln!(anstream::stderr(), "{label}{}", visible::line(text));
        };
        match &self.bar {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
    }

    /// What ends interrupted work.
    pub fn interrupted(&self, text: &str) -> Failure {
        Failure::Interrupted((!self.quiet).then(|| text.to_owned()))
    }

    /// Something the user should know.
    pub fn note(&self, text: &str) {
        let style = anstyle::AnsiColor::Cyan.on_default();
        self.print(&format!("{style}note:{style:#} "), text);
    }

    /// Something that may make the result other than what was meant.
    pub fn warn(&self, text: &str) {
        let style = anstyle::AnsiColor::Yellow.on_default().bold();
        self.print(&format!("{style}warning:{style:#} "), text);
    }

    /// Says which rows have density 0 because they leave the subspace of the training rows.
    pub fn warn_outside(&self, file: &ModelFile, rows: &Rows) -> upoe::Result<()> {
        if let Some(outside) = file.model.whitening().outside(rows)? {
            let name = |column: usize| visible::short(&file.names[column], 30);
            self.warn(&outside.message(name));
        }
        Ok(())
    }

    /// Says which columns of a table seem to be in other units than those that were learned from, or are constant.
    pub fn warn_unlike(&self, places: &[(f64, f64)], rows: &Rows, names: &[String]) {
        let short: Vec<String> =
            names.iter().map(|name| visible::short(name, 30).to_string()).collect();
        upoe::compare::unlike(places, rows, &short).iter().for_each(|note| self.warn(note));
    }

    /// The changing line is removed permanently; messages can still be said.
    pub fn clear(&self) {
        self.cleared.store(true, Ordering::SeqCst);
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    /// Reads a table, saying how far it is, and passes on its notices.
    pub fn read(&self, path: &Path, options: &ReadOptions) -> Result<Table, Failure> {
        let name = match path.to_str() {
            Some("-") => "standard input".to_owned(),
            _ => path.display().to_string(),
        };
        let (start, mut said, mut bytes) = (Instant::now(), Instant::now(), 0);
        self.live(format!("reading {name}"));
        let waiting = Waiting::begin(self.bar.clone());
        let table = Table::read_with(path, options, &mut |done, total, rows| {
            bytes = done;
            let every = Duration::from_millis(if self.is_live() { 100 } else { 5000 });
            if said.elapsed() >= every {
                said = Instant::now();
                let share = match total {
                    Some(total) => format!("{:.0} %, ", 100.0 * done as f64 / total.max(1) as f64),
                    None => String::new(),
                };
                self.stage(&format!("reading {name}: {share}{} rows", grouped(rows as usize)));
            }
            if interrupt::asked() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        drop(waiting);
        let seconds = start.elapsed().as_secs_f64();
        let rate = if bytes > 20_000_000 {
            format!(", {:.0} MB/s", bytes as f64 / 1e6 / seconds)
        } else {
            String::new()
        };
        self.say(&format!(
            "read {name}: {} rows × {} columns ({}{rate})",
            grouped(table.rows),
            table.names.len(),
            duration(seconds)
        ));
        table.notices.iter().for_each(|notice| self.pass_on(notice));
        Ok(table)
    }

    /// Passes on what a table's reader noticed.
    pub fn pass_on(&self, notice: &TableNotice) {
        match notice.is_warning() {
            true => self.warn(&remedy::of_notice(notice)),
            false => self.note(&remedy::of_notice(notice)),
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.clear();
    }
}

/// Reading that may wait for a pipe: where nothing comes, nobody sees that it is asked to end,
/// so a thread of its own ends the program. Nothing is written by then.
struct Waiting(Arc<AtomicBool>);

impl Waiting {
    fn begin(bar: Option<ProgressBar>) -> Self {
        let done = Arc::new(AtomicBool::new(false));
        let is_done = done.clone();
        std::thread::spawn(move || {
            let mut asked = 0;
            while !is_done.load(Ordering::SeqCst) {
                std::thread::sleep(Duration::from_millis(100));
                asked += u32::from(interrupt::asked());
                if asked > 3 && !is_done.swap(true, Ordering::SeqCst) {
                    bar.inspect(ProgressBar::finish_and_clear);
                    let _ = Failure::from(upoe_table::Error::Interrupted).report();
                    std::process::exit(interrupt::STATUS.into());
                }
            }
        });
        Waiting(done)
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// A span of time for people.
pub fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 0.0995 => format!("{:.0} ms", 1000.0 * s),
        s if s < 9.95 => format!("{s:.1} s"),
        s if s < 99.5 => format!("{s:.0} s"),
        s if s < 5970.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}

/// A count with its noun: "1 row", "1,500 rows".
pub fn counted(n: usize, noun: &str) -> String {
    format!("{} {noun}{}", grouped(n), if n == 1 { "" } else { "s" })
}

/// A whole number with commas between thousands.
pub fn grouped(n: usize) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_for_people() {
        assert_eq!([0, 999, 1000, 1234567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!(
            [0.0123, 0.5, 12.3, 100.0, 7200.0].map(duration),
            ["12 ms", "0.5 s", "12 s", "2 min", "2.0 h"]
        );
    }
}
