//! The files that DATA names, how large they are, and whether they fit in memory.

use std::cell::Cell;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use upoe_table::{ReadOptions, Table, TextColumn};

use crate::failure::Failure;
use crate::interrupt;
use crate::progress::{Progress, grouped};

/// Bytes per number of a fit in memory, and bytes beside.
const IN_MEMORY: (u64, u64) = (19, 100 << 20);
/// Numbers that are read to estimate how many there are.
const LOOK: usize = 1 << 19;
/// Files of fewer bytes, all together, are read into memory without a look.
const SMALL: u64 = 1 << 20;

/// One or several files of one table.
pub struct Data {
    pub files: Vec<PathBuf>,
    /// How large the table is, where it may be large.
    size: Option<Size>,
}

/// About how large a table is.
#[derive(Clone, Copy)]
pub struct Size {
    pub rows: u64,
    pub columns: usize,
    /// Of all files.
    pub bytes: u64,
}

impl Size {
    /// Bytes that a fit in memory takes.
    pub fn in_memory(&self) -> u64 {
        let cells = self.rows.saturating_mul(self.columns as u64);
        cells.saturating_mul(IN_MEMORY.0).saturating_add(IN_MEMORY.1)
    }
}

impl Data {
    /// The files of a path: itself, the tables in a folder, or those that a pattern names.
    pub fn open(path: &Path, options: &ReadOptions) -> Result<Self, Failure> {
        let files = files(path)?;
        let length = |file: &PathBuf| std::fs::metadata(file).ok().filter(|m| m.is_file());
        let lengths: Option<Vec<u64>> =
            files.iter().map(|file| length(file).map(|m| m.len())).collect();
        let lengths = lengths.unwrap_or_default();
        let bytes = lengths.iter().sum();
        if bytes < SMALL || (files.len() == 1 && is_matlab(&files[0])) {
            return Ok(Data { files, size: None });
        }
        // Of the largest file: one with few rows has more bytes for each. What is wrong with a table is said
        // where it is read.
        let largest = (0..lengths.len()).max_by_key(|&k| lengths[k]).unwrap_or(0);
        let Some((rows, columns)) = look(&files[largest], options) else {
            return Ok(Data { files, size: None });
        };
        let rows = (rows * bytes as f64 / lengths[largest] as f64) as u64;
        Ok(Data { files, size: Some(Size { rows, columns, bytes }) })
    }

    /// How large the table is, where it takes more than this memory; `None` where it fits.
    pub fn larger_than(&self, memory: u64) -> Option<Size> {
        self.size.filter(|size| size.in_memory() > memory)
    }

    /// Reads all of it into memory.
    pub fn read(&self, options: &ReadOptions, progress: &Progress) -> Result<Table, Failure> {
        let mut table = progress.read(&self.files[0], options)?;
        for file in &self.files[1..] {
            let more = progress.read(file, &self.options_after(options, &table.names));
            let more = more.map_err(|failure| self.unlike_first(options, failure))?;
            append(&mut table, more);
        }
        Ok(table)
    }

    /// How files after the first are read: the same columns, by name.
    fn options_after(&self, options: &ReadOptions, names: &[String]) -> ReadOptions {
        options.clone().with(|o| {
            o.model_columns.get_or_insert_with(|| names.to_vec());
        })
    }

    /// Later files are read like rows for a model; what they lack are columns of the first one.
    fn unlike_first(&self, options: &ReadOptions, failure: Failure) -> Failure {
        match failure {
            Failure::Message(text) if options.model_columns.is_none() => {
                let first = format!("columns that {} has", self.files[0].display());
                let text = text.replace("columns the model needs", &first);
                let text = text.replace("the model needs", "those before it have");
                Failure::Message(text.replace("; select them in the model's order", ""))
            }
            failure => failure,
        }
    }

    /// Reads it in blocks of about `rows` rows, in order; says how far it is.
    pub fn blocks(
        &self,
        what: &str,
        given: &ReadOptions,
        rows: usize,
        progress: &Progress,
        mut work: impl FnMut(Table) -> Result<(), Failure>,
    ) -> Result<u64, Failure> {
        let mut meter = Meter::new(progress, what, self.size.map_or(0, |size| size.bytes));
        let mut names: Option<Vec<String>> = None;
        let (total, mut failure) = (Cell::new(0), None);
        let mut dropped = 0;
        let mut before = 0;
        for file in &self.files {
            let options = match &names {
                Some(names) => self.options_after(given, names),
                None => given.clone(),
            };
            let mut told = 0;
            let read = Table::read_blocks(
                file,
                &options,
                rows,
                &mut |done, _, _| {
                    told = done;
                    meter.tell(before + done, total.get());
                    match interrupt::asked() {
                        true => ControlFlow::Break(()),
                        false => ControlFlow::Continue(()),
                    }
                },
                &mut |block| {
                    names.get_or_insert_with(|| block.names.clone());
                    for notice in &block.notices {
                        match notice {
                            upoe_table::TableNotice::DroppedRows { dropped: some, .. } => {
                                dropped += some;
                            }
                            notice => progress.pass_on(notice),
                        }
                    }
                    total.set(total.get() + block.rows as u64);
                    work(block).map_err(|error| {
                        failure = Some(error);
                        upoe_table::Error::Interrupted
                    })
                },
            );
            if let Some(failure) = failure.take() {
                return Err(failure);
            }
            let first = std::ptr::eq(file, &self.files[0]);
            read.map_err(Failure::from).map_err(|failure| match first {
                true => failure,
                false => self.unlike_first(given, failure),
            })?;
            before += told;
        }
        if dropped > 0 {
            // Blocks without such rows say nothing.
            let rows = dropped + total.get() as usize;
            progress.pass_on(&upoe_table::TableNotice::DroppedRows { dropped, rows });
        }
        Ok(total.get())
    }
}

/// Adds the rows of another table with the same columns.
fn append(table: &mut Table, more: Table) {
    table.data.extend(more.data);
    let before = table.rows as u64 + table.dropped.len() as u64;
    table.dropped.extend(more.dropped.iter().map(|row| before + row));
    table.rows += more.rows;
    if let (Some(weights), Some(more)) = (&mut table.weights, more.weights) {
        weights.extend(more);
    }
    let add = |to: &mut TextColumn, from: &TextColumn| from.iter().for_each(|cell| to.push(cell));
    table.kept.iter_mut().zip(&more.kept).for_each(|(to, from)| add(to, from));
    if let (Some(to), Some(from)) = (&mut table.groups, &more.groups) {
        add(to, from);
    }
}

/// About how many rows a file has, and how many columns: from its beginning.
fn look(file: &Path, options: &ReadOptions) -> Option<(f64, usize)> {
    let (mut rows, mut columns, mut share) = (0, 0, 1.0);
    let looked = Table::read_blocks(
        file,
        options,
        1024,
        &mut |done, total, _| {
            share = total.map_or(1.0, |total| done as f64 / total.max(1) as f64);
            ControlFlow::Continue(())
        },
        &mut |block| {
            (rows, columns) = (rows + block.rows, block.names.len());
            match rows * columns < LOOK {
                true => Ok(()),
                false => Err(upoe_table::Error::Interrupted),
            }
        },
    );
    match looked {
        Ok(()) => Some((rows as f64, columns)),
        Err(upoe_table::Error::Interrupted) => Some((rows as f64 / share.max(1e-9), columns)),
        Err(_) => None,
    }
}

fn is_matlab(file: &Path) -> bool {
    let text = file.to_string_lossy().to_ascii_lowercase();
    text.ends_with(".mat") || text.contains(".mat:")
}

/// The files of a path.
fn files(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    let pattern = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let is_pattern = pattern.contains(['*', '?']) && !path.exists();
    if path.as_os_str() == "-" || !(path.is_dir() || is_pattern) {
        return Ok(vec![path.to_owned()]);
    }
    let folder = match (is_pattern, path.parent()) {
        (false, _) => path,
        (true, Some(parent)) if !parent.as_os_str().is_empty() => parent,
        (true, _) => Path::new("."),
    };
    let cannot = |error: std::io::Error| {
        Failure::Message(format!("{}: the folder cannot be read ({error})", folder.display()))
    };
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(cannot)? {
        let file = entry.map_err(cannot)?.path();
        let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let wanted = match is_pattern {
            true => matches(pattern.as_bytes(), name.as_bytes()),
            // Spark and Dask write files of their own beside those of the table.
            false => !name.starts_with(['.', '_']) && is_table(name),
        };
        if wanted && file.is_file() {
            found.push(file);
        }
    }
    found.sort();
    match found.is_empty() {
        false => Ok(found),
        true => Err(Failure::Message(format!(
            "{}: no table is there; name files of type .csv, .tsv, .jsonl (also .gz), .parquet, .arrow, .npy or .xlsx",
            path.display()
        ))),
    }
}

/// The endings of tables.
const TABLES: [&str; 13] = [
    "csv", "tsv", "tab", "npy", "parquet", "pq", "xlsx", "xlsm", "jsonl", "ndjson", "arrow",
    "arrows", "feather",
];

fn is_table(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    TABLES.iter().any(|kind| name.strip_suffix(kind).is_some_and(|stem| stem.ends_with('.')))
}

/// Whether a name fits a pattern, in which * is any text and ? any character.
fn matches(pattern: &[u8], name: &[u8]) -> bool {
    match (pattern.split_first(), name.split_first()) {
        (None, None) => true,
        (Some((b'*', rest)), _) => {
            matches(rest, name) || (!name.is_empty() && matches(pattern, &name[1..]))
        }
        (Some((p, pattern)), Some((n, name))) if *p == b'?' || p == n => matches(pattern, name),
        _ => false,
    }
}

/// Says how far work on many bytes is: rows, bytes per second, time left.
pub struct Meter<'a> {
    progress: &'a Progress,
    what: String,
    bytes: u64,
    start: std::time::Instant,
    said: std::time::Instant,
}

impl<'a> Meter<'a> {
    pub fn new(progress: &'a Progress, what: &str, bytes: u64) -> Self {
        let now = std::time::Instant::now();
        Meter { progress, what: what.to_owned(), bytes, start: now, said: now }
    }

    /// So many bytes and rows are done.
    pub fn tell(&mut self, done: u64, rows: u64) {
        let every = if self.progress.is_live() { 200 } else { 10_000 };
        if self.said.elapsed().as_millis() < every {
            return;
        }
        self.said = std::time::Instant::now();
        let rows = match rows {
            0 => String::new(),
            rows => format!("{} rows, ", grouped(rows as usize)),
        };
        self.progress.stage(&format!("{}: {rows}{}", self.what, self.rate(done)));
    }

    fn rate(&self, done: u64) -> String {
        let seconds = self.start.elapsed().as_secs_f64();
        let rate = done as f64 / seconds.max(1e-9);
        let left = self.bytes.saturating_sub(done) as f64 / rate.max(1.0);
        let left = crate::progress::duration(left);
        format!(
            "{:.0} % of {}, {:.0} MB/s, {left} left",
            self.share(done),
            size(self.bytes),
            rate / 1e6
        )
    }

    fn share(&self, done: u64) -> f64 {
        100.0 * done as f64 / self.bytes.max(1) as f64
    }
}

/// A number of bytes, in words.
pub fn size(bytes: u64) -> String {
    match bytes as f64 {
        bytes if bytes >= 1e9 => format!("{:.1} GB", bytes / 1e9),
        bytes => format!("{:.0} MB", (bytes / 1e6).ceil()),
    }
}

/// A size such as 4G, 500M or 1.5T.
pub fn parse_size(text: &str) -> Result<u64, String> {
    let wrong = || "give a size such as 500M, 4G or 1.5T".to_owned();
    let text = text.trim().trim_end_matches(['B', 'b']).trim_end_matches('i');
    let (number, unit) = match text.chars().last().filter(char::is_ascii_alphabetic) {
        Some(unit) => (&text[..text.len() - 1], unit.to_ascii_uppercase()),
        None => (text, ' '),
    };
    let power = " KMGT".find(unit).ok_or_else(wrong)? as i32;
    let number: f64 = number.trim().parse().map_err(|_| wrong())?;
    let bytes = number * 1024_f64.powi(power);
    if (1.0..1e18).contains(&bytes) { Ok(bytes as u64) } else { Err(wrong()) }
}

/// The memory that a fit may take where none is given: half of what is free, or of what this process is
/// allowed.
pub fn free_memory() -> u64 {
    let read = |file: &str| std::fs::read_to_string(file).unwrap_or_default();
    let number = |text: &str, key: &str, at: usize| {
        let line = text.lines().find(|line| line.starts_with(key))?.strip_prefix(key)?.to_owned();
        line.split_whitespace().nth(at)?.parse::<u64>().ok()
    };
    let free = number(&read("/proc/meminfo"), "MemAvailable:", 0).map(|kb| kb << 10);
    let limit = number(&read("/proc/self/limits"), "Max address space", 0);
    let group = read("/sys/fs/cgroup/memory.max").trim().parse::<u64>().ok();
    let group = group
        .or_else(|| read("/sys/fs/cgroup/memory/memory.limit_in_bytes").trim().parse::<u64>().ok());
    [free, limit, group].into_iter().flatten().min().map_or(u64::MAX, |free| free / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_patterns() {
        assert_eq!(
            ["4G", "1.5k", "7", "2 MiB"].map(parse_size),
            [Ok(4 << 30), Ok(1536), Ok(7), Ok(2 << 20)]
        );
        assert!(["", "G", "-1G", "4X", "nan"].iter().all(|text| parse_size(text).is_err()));
        let fits = |pattern: &str, name: &str| matches(pattern.as_bytes(), name.as_bytes());
        assert!(fits("part-*.csv", "part-00.csv") && fits("*", "a") && fits("a?c*", "abc"));
        assert!(!fits("part-*.csv", "part-00.tsv") && !fits("a?c", "ac") && !fits("a", "ab"));
        assert!(
            is_table("a.csv.gz") && is_table("b.PARQUET") && !is_table("csv") && !is_table("x.txt")
        );
    }
}
