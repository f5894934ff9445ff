//! Rows larger than memory, in a scratch file: partitions of a fit that are read one after another.
//!
//! The file has no name from the moment it is open, so nothing is left of it, however the program
//! ends. Rows come in as they are; sphering replaces them block by block. Blocks are the parts that rows
//! in memory are summed in, so that both give the same bits.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rayon::prelude::*;
use sha2::{Digest, Sha256};
use upoe::engine::{Cluster, Partition, part_rows};
use upoe::{Rows, look, sphere};
use upoe_kernels::Aligned;

use crate::checkpoint::hexadecimal;

/// Bytes that a sphered block may take beside its numbers and weights.
const SPARE: u64 = 4096;

/// Hears how far a pass over the file is: bytes done, and in all.
pub type Heard<'a> = Box<dyn Fn(u64, u64) + Send + Sync + 'a>;

/// Rows in a scratch file.
pub struct Scratch<'a> {
    file: File,
    /// The directory, for messages.
    directory: PathBuf,
    names: Vec<String>,
    weighted: bool,
    blocks: Vec<Block>,
    /// The sphered blocks, where rows have been sphered.
    spheres: Mutex<Vec<Range<u64>>>,
    /// Memory of blocks that are done, for those to come, one for each thread: rows as they are, and sphered ones.
    spare: (Mutex<Vec<Aligned<f64>>>, Mutex<Vec<Partition>>),
    /// Rows that do not fill a block yet.
    values: Vec<f64>,
    weights: Vec<f64>,
    hasher: Sha256,
    end: u64,
    passes: AtomicU64,
    heard: Heard<'a>,
}

/// Where the rows of a block lie, and how many there are.
#[derive(Clone, Copy)]
struct Block {
    at: u64,
    rows: usize,
}

impl<'a> Scratch<'a> {
    /// An empty file in a directory, for rows with these columns. `heard` hears how far passes are.
    pub fn create(
        directory: &Path,
        names: &[String],
        weighted: bool,
        heard: Heard<'a>,
    ) -> io::Result<Self> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = directory.join(format!(".upoe-scratch-{}-{count}", std::process::id()));
        let file = OpenOptions::new().read(true).write(true).create_new(true).open(&path)?;
        std::fs::remove_file(&path)?;
        let mut hasher = Sha256::new();
        for name in names {
            hasher.update((name.len() as u64).to_le_bytes());
            hasher.update(name);
        }
        Ok(Scratch {
            file,
            directory: directory.to_owned(),
            names: names.to_vec(),
            weighted,
            blocks: Vec::new(),
            spheres: Mutex::default(),
            spare: (Mutex::default(), Mutex::default()),
            values: Vec::new(),
            weights: Vec::new(),
            hasher,
            end: 0,
            passes: AtomicU64::new(0),
            heard,
        })
    }

    /// Bytes that so many rows of so many columns take.
    pub fn bytes(rows: u64, columns: usize) -> u64 {
        let per_block = part_rows(columns) as u64;
        rows * 8 * (columns as u64 + 1) + (rows / per_block + 1) * SPARE
    }

    /// Free bytes in a directory, where the system says it.
    pub fn free(directory: &Path) -> Option<u64> {
        #[cfg(unix)]
        {
            let found = rustix::fs::statvfs(directory).ok()?;
            Some(found.f_bavail.saturating_mul(found.f_frsize))
        }
        #[cfg(not(unix))]
        {
            let _ = directory;
            None
        }
    }

    /// Adds rows, row after row, and their weights where rows have weights.
    pub fn push(&mut self, values: &[f64], weights: Option<&[f64]>) -> io::Result<()> {
        self.values.extend_from_slice(values);
        self.weights.extend_from_slice(weights.unwrap_or_default());
        let size = part_rows(self.names.len());
        while self.values.len() >= size * self.names.len() {
            self.write_block(size)?;
        }
        Ok(())
    }

    /// Writes what does not fill a block. Call it after the last row.
    pub fn finish(&mut self) -> io::Result<()> {
        let rows = self.values.len() / self.names.len().max(1);
        if rows > 0 { self.write_block(rows) } else { Ok(()) }
    }

    fn write_block(&mut self, rows: usize) -> io::Result<()> {
        let cells = rows * self.names.len();
        let weights = if self.weighted { rows } else { 0 };
        let values = self.values.drain(..cells);
        let mut numbers = Aligned::new(cells + weights);
        numbers[..cells].copy_from_slice(values.as_slice());
        drop(values);
        numbers[cells..].copy_from_slice(self.weights.drain(..weights).as_slice());
        self.hasher.update(numbers.bytes());
        Place { file: &self.file, at: self.end }.write_all(numbers.bytes())?;
        self.blocks.push(Block { at: self.end, rows });
        // Sphered rows may have weights where these have none.
        self.end += 8 * (cells + rows) as u64 + SPARE;
        Ok(())
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.blocks.iter().map(|block| block.rows).sum()
    }

    /// The names of their columns.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// How many passes were made over all rows.
    pub fn passes(&self) -> u64 {
        self.passes.load(Ordering::Relaxed)
    }

    /// Bytes of one pass over the rows.
    pub fn pass(&self) -> u64 {
        self.end
    }

    /// A hash, in hexadecimal, of everything in the data that a fit depends on.
    pub fn fingerprint(&self) -> String {
        hexadecimal(self.hasher.clone())
    }

    fn failed(&self, index: usize, error: &io::Error) -> upoe::Error {
        upoe::Error::Engine {
            place: format!("the scratch file in {}, block {index}", self.directory.display()),
            reason: error.to_string(),
        }
    }

    /// Works on all parts of the file, in their order. The system reads ahead of the computation.
    fn each<T: Send>(
        &self,
        parts: &[Range<u64>],
        work: impl Fn(usize, &mut Place, usize) -> upoe::Result<T> + Sync,
    ) -> upoe::Result<Vec<T>> {
        let total: u64 = parts.iter().map(|part| part.end - part.start).sum();
        let done = AtomicU64::new(0);
        self.passes.fetch_add(1, Ordering::Relaxed);
        (self.heard)(0, total);
        let ahead = 2 * rayon::current_num_threads();
        parts.iter().take(ahead).for_each(|part| self.read_ahead(part));
        let answer = |index: usize| {
            if let Some(part) = parts.get(index + ahead) {
                self.read_ahead(part);
            }
            let Range { start, end } = parts[index].clone();
            let length = end - start;
            let answer = work(index, &mut Place { file: &self.file, at: start }, length as usize);
            (self.heard)(done.fetch_add(length, Ordering::Relaxed) + length, total);
            (index, answer)
        };
        // A bridge hands parts out one after another, so that the file is read in its order.
        let mut found: Vec<_> = (0..parts.len()).par_bridge().map(answer).collect();
        found.sort_by_key(|(index, _)| *index);
        found.into_iter().map(|(_, answer)| answer).collect()
    }

    /// Asks the system to read some bytes before they are needed.
    fn read_ahead(&self, part: &Range<u64>) {
        #[cfg(target_os = "linux")]
        {
            let length = std::num::NonZeroU64::new(part.end - part.start);
            // Advice: where it is refused, nothing is lost.
            let _ =
                rustix::fs::fadvise(&self.file, part.start, length, rustix::fs::Advice::WillNeed);
        }
        #[cfg(not(target_os = "linux"))]
        let _ = part;
    }

    fn raw(&self) -> Vec<Range<u64>> {
        let width = 8 * (self.names.len() + usize::from(self.weighted)) as u64;
        self.blocks.iter().map(|b| b.at..b.at + width * b.rows as u64).collect()
    }

    /// Works on all blocks of rows before they are sphered.
    fn on_rows<T: Send>(
        &self,
        work: impl Fn(usize, &Rows) -> upoe::Result<T> + Sync,
    ) -> upoe::Result<Vec<T>> {
        self.each(&self.raw(), |index, place, length| {
            let spare = lock(&self.spare.0).pop().unwrap_or_else(|| Aligned::new(0));
            let mut numbers = spare.resized(length / 8);
            place.read_exact(numbers.bytes_mut()).map_err(|error| self.failed(index, &error))?;
            let (values, weights) = numbers.split_at(self.blocks[index].rows * self.names.len());
            let rows = Rows::new(values, self.names.len())?;
            let answer = work(index, &if self.weighted { rows.weighted(weights)? } else { rows });
            lock(&self.spare.0).push(numbers);
            answer
        })
    }
}

impl Cluster for Scratch<'_> {
    fn look(&self, question: &[u8]) -> upoe::Result<Vec<Vec<u8>>> {
        self.on_rows(|index, rows| look(index, rows, &self.names, question))
    }

    fn sphere(&self, plan: &[u8]) -> upoe::Result<()> {
        let parts = self.on_rows(|index, rows| {
            let at = self.blocks[index].at;
            let mut place = Place { file: &self.file, at };
            let written = sphere(index, rows, plan)?.write(&mut place);
            written.map_err(|error| self.failed(index, &error))?;
            Ok(at..place.at)
        })?;
        lock(&self.spare.0).clear();
        *lock(&self.spheres) = parts;
        Ok(())
    }

    fn ask(&self, question: &[u8]) -> upoe::Result<Vec<Vec<u8>>> {
        let parts = lock(&self.spheres).clone();
        self.each(&parts, |index, place, length| {
            let spare = lock(&self.spare.1).pop();
            let partition = Partition::read(place, length, spare);
            let partition = partition.map_err(|error| self.failed(index, &error))?;
            let answer = partition.answer(question);
            lock(&self.spare.1).push(partition);
            answer
        })
    }
}

/// What is behind a lock, also after a panic elsewhere: nothing is ever left half changed.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A place in the file, to be read or written from there on.
struct Place<'a> {
    file: &'a File,
    at: u64,
}

impl Read for Place<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = read_at(self.file, bytes, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

impl Write for Place<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = write_at(self.file, bytes, self.at)?;
        self.at += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(unix)]
fn read_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, bytes, at)
}

#[cfg(unix)]
fn write_at(file: &File, bytes: &[u8], at: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::write_at(file, bytes, at)
}

#[cfg(windows)]
fn read_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, bytes, at)
}

#[cfg(windows)]
fn write_at(file: &File, bytes: &[u8], at: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_write(file, bytes, at)
}
