//! Rows in one of several places: what a worker does.
//!
//! Questions are bytes (JSON), answers are bytes (numbers, eight bytes each, the lowest first), so any
//! program that carries bytes between machines can carry them. [`Remote`](super::Remote) asks.

use super::{Candidate, Engine, Memory, Picked, Sums};
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use upoe_kernels::{Packed, Real};

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
        [train, held]: [(Vec<T>, Option<Vec<f64>>); 2],
    ) -> Self {
        let keep = |(rows, weights): (Vec<T>, Option<Vec<f64>>), white| {
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
            index: self.index,
            dims: dims.unwrap_or(1),
            single,
            rows: self.rows.each_ref().map(size),
            weighted,
        };
        let header = serde_json::to_vec(&header).unwrap_or_default();
        let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
        bytes.extend(header);
        for rows in self.rows.iter().flatten() {
            match rows {
                Held::Double(rows) => write(rows, &mut bytes),
                Held::Single(rows) => write(rows, &mut bytes),
            }
        }
        bytes
    }

    /// The partition that [`Partition::to_bytes`] wrote.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        Self::read(bytes).ok_or_else(|| Error::Engine {
            place: "a partition".into(),
            reason: format!("its bytes are damaged, or not of upoe {VERSION}"),
        })
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let (length, bytes) = bytes.split_first_chunk::<8>()?;
        let (header, mut bytes) = bytes.split_at_checked(u64::from_le_bytes(*length) as usize)?;
        let header: Header = serde_json::from_slice(header).ok()?;
        if header.version != VERSION || header.dims == 0 {
            return None;
        }
        let mut rows = [None, None];
        for (which, rows) in rows.iter_mut().enumerate() {
            let Some(count) = header.rows[which] else { continue };
            let shape = (count, header.dims, header.weighted[which], which == 0);
            *rows = Some(match header.single {
                true => Held::Single(read(&mut bytes, shape)?),
                false => Held::Double(read(&mut bytes, shape)?),
            });
        }
        bytes.is_empty().then_some(Partition { index: header.index, rows })
    }
}

/// The version of this crate. Workers must have the same.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What bytes of a partition begin with.
#[derive(Serialize, Deserialize)]
struct Header {
    version: String,
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
    fn bytes(self) -> Vec<u8>;
    fn number(bytes: &[u8]) -> Self;
}

macro_rules! stored {
    ($type:ty, $kind:ident) => {
        impl Stored for $type {
            #[allow(private_interfaces)]
            fn held(rows: Memory<Self>) -> Held {
                Held::$kind(rows)
            }
            fn bytes(self) -> Vec<u8> {
                self.to_le_bytes().to_vec()
            }
            fn number(bytes: &[u8]) -> Self {
                bytes.try_into().map_or(0.0, <$type>::from_le_bytes)
            }
        }
    };
}
stored!(f64, Double);
stored!(f32, Single);

fn write<T: Stored>(rows: &Memory<T>, bytes: &mut Vec<u8>) {
    bytes.extend(rows.weights().unwrap_or_default().iter().flat_map(|w| w.to_le_bytes()));
    bytes.extend(rows.packed().values().iter().flat_map(|x| x.bytes()));
}

fn read<T: Stored>(
    bytes: &mut &[u8],
    (rows, dims, weighted, white): (usize, usize, bool, bool),
) -> Option<Memory<T>> {
    let mut take = |n: usize| {
        let (taken, rest) = bytes.split_at_checked(n)?;
        *bytes = rest;
        Some(taken)
    };
    let weights = if weighted { Some(from_bytes(take(rows.checked_mul(8)?)?)) } else { None };
    let size = size_of::<T>();
    let values = take(rows.checked_mul(dims)?.checked_mul(size)?)?;
    let values: Vec<T> = values.chunks_exact(size).map(T::number).collect();
    Some(Memory::from_parts(Packed::from_packed(values, dims), weights, white))
}

/// Numbers as bytes.
pub(crate) fn to_bytes(numbers: impl IntoIterator<Item = f64>) -> Vec<u8> {
    numbers.into_iter().flat_map(f64::to_le_bytes).collect()
}

/// Bytes as numbers; what is left over at the end does not count.
pub(crate) fn from_bytes(bytes: &[u8]) -> Vec<f64> {
    bytes.chunks_exact(8).map(f64::number).collect()
}
