//! The model file: a JSON header and named arrays, in the safetensors layout.
//!
//! ```text
//! 8 bytes   length of the JSON text, little-endian
//! JSON      {"__metadata__": {"checksum", "format", "file_bytes", "format_version",
//!            "writer", "header"}, NAME: {"dtype": "F64", "shape", "data_offsets"}, …},
//!            padded with spaces to a multiple of 8
//! arrays    f64, little-endian, in the order of their names
//! ```
//!
//! Any reader of safetensors reads it. `header` is a JSON document as text. `checksum` is
//! the SHA-256, in hexadecimal, of the whole file with the checksum's own 64 characters
//! replaced by zeros (the character). It and `file_bytes` lie at fixed offsets, so that
//! damage can be told from a foreign file.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use upoe_table::{FileError, write_file};

use crate::error::{Error, Result};

/// The newest version of the format, which is the one written.
pub const FORMAT_VERSION: u64 = 3;

const WRITER: &str = concat!("upoe ", env!("CARGO_PKG_VERSION"));
const BEFORE_CHECKSUM: &[u8] = b"{\"__metadata__\":{\"checksum\":\"";
const BEFORE_LENGTH: &[u8] = b"\",\"format\":\"upoe\",\"file_bytes\":\"";
const CHECKSUM: std::ops::Range<usize> = {
    let start = 8 + BEFORE_CHECKSUM.len();
    start..start + 64
};
/// Where the file's length is, in 16 digits.
const LENGTH: std::ops::Range<usize> = {
    let start = CHECKSUM.end + BEFORE_LENGTH.len();
    start..start + 16
};

/// A named array.
#[derive(Debug, Clone, PartialEq)]
pub struct Array {
    /// Its name, unique in the file.
    pub name: String,
    /// Its size in each dimension.
    pub shape: Vec<usize>,
    /// Its numbers, the last dimension fastest.
    pub values: Vec<f64>,
}

/// What a model file holds: a JSON document, and arrays kept to the bit.
#[derive(Debug, Clone, PartialEq)]
pub struct Container {
    /// The JSON document.
    pub header: Value,
    /// The arrays; a file holds them in the order of their names.
    pub arrays: Vec<Array>,
}

impl Container {
    /// The array of that name.
    pub fn array(&self, name: &str) -> Option<&Array> {
        self.arrays.iter().find(|array| array.name == name)
    }

    /// Writes the file; it appears under its name whole or not at all.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<()> {
        Ok(write_file(path, &self.to_bytes()?)?)
    }

    /// Reads a file, after checking that it is whole and unaltered.
    pub fn read(path: impl AsRef<Path>) -> Result<Container> {
        let path = path.as_ref();
        if path.is_dir() {
            return Err(FileError::IsDirectory { file: path.to_owned() }.into());
        }
        let bytes = std::fs::read(path).map_err(|error| FileError::read(path, error))?;
        Container::from_bytes(&bytes, path)
    }

    /// The bytes of the file. The same container always gives the same bytes.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut entries = String::new();
        let mut names = std::collections::HashSet::new();
        let mut end = 0usize;
        let mut arrays: Vec<&Array> = self.arrays.iter().collect();
        arrays.sort_by(|a, b| a.name.cmp(&b.name));
        for Array { name, shape, values } in &arrays {
            if name == "__metadata__" || !names.insert(name) {
                return Err(Error::BadContainer { reason: "two arrays have the same name" });
            }
            if product(shape) != Some(values.len()) {
                return Err(Error::BadContainer { reason: "an array does not fill its shape" });
            }
            let start = end;
            end += values.len() * 8;
            let entry = json!({"dtype": "F64", "shape": shape, "data_offsets": [start, end]});
            let _ = write!(entries, ",{}:{entry}", Value::from(name.as_str()));
        }
        let mut text = Vec::from(BEFORE_CHECKSUM);
        text.resize(text.len() + 64, b'0');
        text.extend_from_slice(BEFORE_LENGTH);
        text.resize(text.len() + 16, b'0');
        let header = Value::from(self.header.to_string());
        let rest = format!(
            "\",\"format_version\":\"{FORMAT_VERSION}\",\"writer\":\"{WRITER}\",\
             \"header\":{header}}}{entries}}}"
        );
        text.extend_from_slice(rest.as_bytes());
        text.resize(text.len().next_multiple_of(8), b' ');

        let mut bytes = (text.len() as u64).to_le_bytes().to_vec();
        bytes.reserve_exact(text.len() + end);
        bytes.append(&mut text);
        for value in arrays.iter().flat_map(|array| &array.values) {
            bytes.extend_from_slice(&value.to_le_bytes());
        }
        let length = format!("{:016}", bytes.len());
        bytes[LENGTH].copy_from_slice(length.as_bytes());
        let checksum = checksum(&bytes);
        bytes[CHECKSUM].copy_from_slice(checksum.as_bytes());
        Ok(bytes)
    }

    /// Reads the bytes of a file, which messages call `file`.
    pub fn from_bytes(bytes: &[u8], file: &Path) -> Result<Container> {
        let altered = || Error::ModelAltered { file: file.to_owned() };
        check_whole(bytes, file)?;
        if bytes.get(CHECKSUM) != Some(checksum(bytes).as_bytes()) {
            return Err(altered());
        }
        let (json, data) = split(bytes).ok_or_else(altered)?;
        let json: Map<String, Value> = serde_json::from_slice(json).map_err(|_| altered())?;
        let metadata = |key: &str| json.get("__metadata__")?.get(key)?.as_str();
        let version = metadata("format_version").and_then(|version| version.parse().ok());
        let version: u64 = version.ok_or_else(altered)?;
        if version > FORMAT_VERSION {
            let writer = metadata("writer").unwrap_or("another upoe").to_owned();
            let (file, supported) = (file.to_owned(), FORMAT_VERSION);
            return Err(Error::ModelNewer { file, writer, version, supported });
        }
        let header = metadata("header").ok_or_else(altered)?;
        let header = serde_json::from_str(header).map_err(|_| altered())?;
        let arrays = arrays(&json, data).ok_or_else(altered)?;
        Ok(Container { header, arrays })
    }
}

/// Tells a foreign file, and one cut short, from one of ours.
fn check_whole(bytes: &[u8], file: &Path) -> Result<()> {
    let not_model = |reason| Error::NotModel { file: file.to_owned(), reason };
    if bytes.is_empty() {
        return Err(not_model("the file is empty"));
    }
    let found = bytes.len() as u64;
    let cut = |expected| Error::ModelTruncated { file: file.to_owned(), found, expected };
    let body = bytes.get(8..).unwrap_or(&[]);
    // a damaged byte spoils one of these marks, not both
    let first = body.get(..BEFORE_CHECKSUM.len()) == Some(BEFORE_CHECKSUM);
    let second = bytes.get(CHECKSUM.end..LENGTH.start) == Some(BEFORE_LENGTH);
    if bytes.len() < LENGTH.end
        && BEFORE_CHECKSUM.starts_with(&body[..body.len().min(BEFORE_CHECKSUM.len())])
        && !body.is_empty()
    {
        return Err(cut(LENGTH.end as u64));
    }
    if !first && !second {
        let json = body.first() == Some(&b'{');
        return Err(not_model(if json {
            "it is a safetensors file of another program"
        } else {
            "it does not begin as one"
        }));
    }
    let claimed = bytes.get(LENGTH).and_then(|digits| std::str::from_utf8(digits).ok());
    match claimed.and_then(|digits| digits.parse::<u64>().ok()) {
        Some(expected) if expected > found && !fills_exactly(bytes) => Err(cut(expected)),
        _ => Ok(()),
    }
}

/// Whether the arrays end where the file does: then it was altered, not cut.
fn fills_exactly(bytes: &[u8]) -> bool {
    let parsed = || {
        let (json, data) = split(bytes)?;
        arrays(&serde_json::from_slice(json).ok()?, data)
    };
    parsed().is_some()
}

/// The SHA-256 of the bytes with zeros for the checksum itself.
fn checksum(bytes: &[u8]) -> String {
    let mut hasher = Sha256::new();
    hasher.update(&bytes[..CHECKSUM.start.min(bytes.len())]);
    hasher.update([b'0'; 64]);
    hasher.update(bytes.get(CHECKSUM.end..).unwrap_or(&[]));
    let mut hexadecimal = String::with_capacity(64);
    for byte in hasher.finalize() {
        let _ = write!(hexadecimal, "{byte:02x}");
    }
    hexadecimal
}

/// The JSON text and the bytes of the arrays.
fn split(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let length = u64::from_le_bytes(*bytes.first_chunk::<8>()?);
    bytes[8..].split_at_checked(usize::try_from(length).ok()?)
}

/// The arrays, in the order of their bytes; `None` unless they tile `data`.
fn arrays(json: &Map<String, Value>, data: &[u8]) -> Option<Vec<Array>> {
    let mut entries = Vec::new();
    for (name, entry) in json.iter().filter(|(name, _)| *name != "__metadata__") {
        let size = |value: &Value| value.as_u64().and_then(|size| usize::try_from(size).ok());
        let sizes = |key| entry.get(key)?.as_array()?.iter().map(size).collect::<Option<Vec<_>>>();
        let (shape, offsets) = (sizes("shape")?, sizes("data_offsets")?);
        let [start, end] = offsets[..] else { return None };
        if entry.get("dtype")?.as_str()? != "F64"
            || product(&shape)?.checked_mul(8)? != end.checked_sub(start)?
        {
            return None;
        }
        entries.push((start, end, name, shape));
    }
    entries.sort();
    let mut at = 0;
    let mut arrays = Vec::new();
    for (start, end, name, shape) in entries {
        if start != at {
            return None;
        }
        let (numbers, _) = data.get(start..end)?.as_chunks::<8>();
        let values = numbers.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect();
        arrays.push(Array { name: name.clone(), shape, values });
        at = end;
    }
    (at == data.len()).then_some(arrays)
}

fn product(shape: &[usize]) -> Option<usize> {
    shape.iter().try_fold(1usize, |product, &size| product.checked_mul(size))
}
