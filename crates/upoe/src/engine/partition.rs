//! Rows in one of several places: what a worker does.
//!
//! Questions are bytes (JSON), answers are bytes (numbers, eight bytes each, the lowest first), so any
//! program that carries bytes between machines can carry them. [`Remote`](super::Remote) asks.

use super::{Candidate, Engine, Memory, Picked, Sums};
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::io::{self, Read, Write};
use upoe_kernels::{Aligned, Packed, Real};

/// What a partition is asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Question {
    /// The sums of every candidate.
    Sums(Vec<Candidate>),
    /// Copies of some rows: for each partition, which.
    Pick(Vec<Vec<usize>>),
    /// Σ w ‖x‖².
    Squares,
}

/// A question to the training rows, or to those held out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Asked {
    pub held: bool,
    pub question: Question,
}

/// The sphered rows of one of several places, to be kept there.
#[derive(Debug)]
pub struct Partition {
    index: usize,
    /// The training rows and those held out; `None` where there are none.
    rows: [Option<Held>; 2],
}

/// Rows in double or single precision.
#[derive(Debug)]
enum Held {
    Double(Memory<f64>),
    Single(Memory<f32>),
}

impl Held {
    fn engine(&self) -> &dyn Engine {
        match self {
            Held::Double(rows) => rows,
            Held::Single(rows) => rows,
        }
    }
}

/// An error of a partition, with its number.
pub(crate) fn at(index: usize, reason: impl ToString) -> Error {
    Error::Engine { place: format!("partition {index}"), reason: reason.to_string() }
}

impl Partition {
    /// Sphered rows of a place, row after row, with their weights: those to learn from, and those held
    /// out. Places are numbered from 0.
    pub(crate) fn new<T: Stored>(
        index: usize,
        dims: usize,
        [train, held]: [(Aligned<T>, Option<Vec<f64>>); 2],
    ) -> Self {
        let keep = |(rows, weights): (Aligned<T>, Option<Vec<f64>>), white| {
            let some = !rows.is_empty();
            some.then(|| T::held(Memory::from_parts(Packed::new(rows, dims), weights, white)))
        };
        Partition { index, rows: [keep(train, true), keep(held, false)] }
    }

    /// Which place it is, from 0.
    pub fn index(&self) -> usize {
        self.index
    }

    /// Answers a question of a [`Remote`](super::Remote) engine.
    pub fn answer(&self, question: &[u8]) -> Result<Vec<u8>> {
        let wrong = |e| at(self.index, format!("the question cannot be read ({e})"));
        let Asked { held, question } = serde_json::from_slice(question).map_err(wrong)?;
        let Some(rows) = &self.rows[usize::from(held)] else { return Ok(Vec::new()) };
        let engine = rows.engine();
        let answer = match question {
            Question::Sums(candidates) => engine.sums(&candidates).map(|sums| {
                let flat = |s: Sums| s.gradient.into_iter().chain(s.statistics);
                to_bytes(sums.into_iter().flat_map(flat))
            }),
            Question::Pick(rows) => {
                let own = rows.get(self.index).map_or(&[][..], Vec::as_slice);
                engine.pick(own).map(|Picked { rows, weights }| {
                    to_bytes(rows.into_iter().chain(weights.unwrap_or_default()))
                })
            }
            Question::Squares => {
                let d = engine.dims() as f64;
                // Of white rows, the mean over all partitions is known.
                let mean = if engine.is_white() { Ok(d) } else { engine.mean_square() };
                mean.map(|mean| to_bytes([mean * engine.weight()]))
            }
        };
        answer.map_err(|error| at(self.index, error))
    }

    /// All of it as bytes, for programs that move or store partitions.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        // Vectors take everything.
        let _ = self.write(&mut bytes);
        bytes
    }

    /// Writes all of it to a file.
    pub fn write(&self, to: &mut dyn Write) -> io::Result<()> {
        let size = |rows: &Option<Held>| rows.as_ref().map(|rows| rows.engine().rows());
        let dims = self.rows.iter().flatten().map(|rows| rows.engine().dims()).next();
        let single = matches!(self.rows.iter().flatten().next(), Some(Held::Single(_)));
        let weighted = self.rows.each_ref().map(|rows| {
            rows.as_ref().is_some_and(|rows| match rows {
                Held::Double(rows) => rows.weights().is_some(),
                Held::Single(rows) => rows.weights().is_some(),
            })
        });
        let header = Header {
            version: VERSION.into(),
            order: ORDER.into(),
            index: self.index,
            dims: dims.unwrap_or(1),
            single,
            rows: self.rows.each_ref().map(size),
            weighted,
        };
        let header = serde_json::to_vec(&header)?;
        to.write_all(&(header.len() as u64).to_le_bytes())?;
        to.write_all(&header)?;
        for rows in self.rows.iter().flatten() {
            match rows {
                Held::Double(rows) => write(rows, to)?,
                Held::Single(rows) => write(rows, to)?,
            }
        }
        Ok(())
    }

    /// The partition that [`Partition::to_bytes`] wrote.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        Self::read(&mut &*bytes, bytes.len(), None).map_err(|error| Error::Engine {
            place: "a partition".into(),
            reason: error.to_string(),
        })
    }

    /// The same from a file, of which it takes `length` bytes. Rows are read to where they stay: in the memory
    /// of a partition that is no longer needed, where one is given.
    pub fn read(from: &mut dyn Read, length: usize, spare: Option<Partition>) -> io::Result<Self> {
        let mut spare = spare.map_or([None, None], |spare| spare.rows);
        let mut from = Bytes { from, left: length };
        let length = u64::from_le_bytes(from.take(8)?.try_into().unwrap_or_default());
        let length = usize::try_from(length).map_err(|_| damaged())?;
        let header: Header = serde_json::from_slice(&from.take(length)?).map_err(|_| damaged())?;
        if header.version != VERSION || header.order != ORDER || header.dims == 0 {
            return Err(damaged());
        }
        let mut rows = [None, None];
        for (which, rows) in rows.iter_mut().enumerate() {
            let Some(count) = header.rows[which] else { continue };
            let shape = (count, header.dims, header.weighted[which], which == 0);
            let spare = spare[which].take();
            *rows = Some(match header.single {
                true => Held::Single(from.rows(shape, spare)?),
                false => Held::Double(from.rows(shape, spare)?),
            });
        }
        match from.left {
            0 => Ok(Partition { index: header.index, rows }),
            _ => Err(damaged()),
        }
    }
}

/// Bytes of a partition that are still to be read.
struct Bytes<'a> {
    from: &'a mut dyn Read,
    left: usize,
}

impl Bytes<'_> {
    /// Takes so many; where fewer are left, nothing is allocated for them.
    fn claim(&mut self, count: usize) -> io::Result<()> {
        self.left = self.left.checked_sub(count).ok_or_else(damaged)?;
        Ok(())
    }

    fn take(&mut self, count: usize) -> io::Result<Vec<u8>> {
        self.claim(count)?;
        let mut bytes = vec![0; count];
        self.from.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    fn numbers<T: Real>(&mut self, count: usize, spare: Aligned<T>) -> io::Result<Aligned<T>> {
        self.claim(count.checked_mul(size_of::<T>()).ok_or_else(damaged)?)?;
        let mut numbers = spare.resized(count);
        self.from.read_exact(numbers.bytes_mut())?;
        Ok(numbers)
    }

    fn rows<T: Stored>(
        &mut self,
        (rows, dims, weighted, white): (usize, usize, bool, bool),
        spare: Option<Held>,
    ) -> io::Result<Memory<T>> {
        let weights = if weighted {
            Some(self.numbers::<f64>(rows, Aligned::new(0))?.to_vec())
        } else {
            None
        };
        let spare = spare.and_then(T::freed).unwrap_or_else(|| Aligned::new(0));
        let values = self.numbers(rows.checked_mul(dims).ok_or_else(damaged)?, spare)?;
        Ok(Memory::from_parts(Packed::from_packed(values, dims), weights, white))
    }
}

fn damaged() -> io::Error {
    let reason = format!("its bytes are damaged, or not of upoe {VERSION}");
    io::Error::new(io::ErrorKind::InvalidData, reason)
}

/// The version of this crate. Workers must have the same.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The order of bytes in a number.
const ORDER: &str = if cfg!(target_endian = "big") { "big" } else { "little" };

/// What bytes of a partition begin with.
#[derive(Serialize, Deserialize)]
struct Header {
    version: String,
    order: String,
    index: usize,
    dims: usize,
    single: bool,
    rows: [Option<usize>; 2],
    weighted: [bool; 2],
}

/// A number format that rows are kept in.
pub(crate) trait Stored: Real {
    #[allow(private_interfaces)]
    fn held(rows: Memory<Self>) -> Held;

    /// The memory of rows that are no longer needed, where they are of this format.
    #[allow(private_interfaces)]
    fn freed(rows: Held) -> Option<Aligned<Self>>;
}

macro_rules! stored {
    ($type:ty, $kind:ident) => {
        impl Stored for $type {
            #[allow(private_interfaces)]
            fn held(rows: Memory<Self>) -> Held {
                Held::$kind(rows)
            }

            #[allow(private_interfaces)]
            fn freed(rows: Held) -> Option<Aligned<Self>> {
                if let Held::$kind(rows) = rows { Some(rows.into_values()) } else { None }
            }
        }
    };
}
stored!(f64, Double);
stored!(f32, Single);

fn write<T: Stored>(rows: &Memory<T>, to: &mut dyn Write) -> io::Result<()> {
    if let Some(weights) = rows.weights() {
        to.write_all(Aligned::from(weights).bytes())?;
    }
    to.write_all(rows.packed().values().bytes())
}

/// Numbers as bytes.
pub(crate) fn to_bytes(numbers: impl IntoIterator<Item = f64>) -> Vec<u8> {
    numbers.into_iter().flat_map(f64::to_le_bytes).collect()
}

/// Bytes as numbers; what is left over at the end does not count.
pub(crate) fn from_bytes(bytes: &[u8]) -> Vec<f64> {
    bytes.chunks_exact(8).map(|b| b.try_into().map_or(0.0, f64::from_le_bytes)).collect()
}
