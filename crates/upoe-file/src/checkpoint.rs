//! The state of a fit after its last expert, to go on from after a break.

use std::path::Path;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use upoe::{Rows, Settings, State};

use crate::container::{Array, Container};
use crate::error::{Error, Result};
use crate::model_file::{get, state_from_json, state_to_json, value};

/// The state of a fit, with what must be the same when it goes on.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    /// What is learned so far.
    pub state: State,
    /// What the fit was asked to do.
    pub settings: Settings,
    /// The [`fingerprint`] of the data.
    pub data: String,
}

impl Checkpoint {
    /// Writes the file; it appears under its name whole or not at all.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<()> {
        let experts = &self.state.experts;
        let dims = experts.first().map_or(0, |e| e.direction().len());
        let values = experts.iter().flat_map(|e| e.direction().iter().copied()).collect();
        let shape = vec![experts.len(), dims];
        let header = json!({
            "kind": "checkpoint",
            "state": state_to_json(&self.state)?,
            "settings": value(&self.settings)?,
            "data": self.data,
        });
        let directions = Array { name: "directions".into(), shape, values };
        Container { header, arrays: vec![directions] }.write(path)
    }

    /// Reads a file, after checking that it is whole, unaltered and a checkpoint.
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        Self::from_container(&Container::read(path)?, path)
    }

    /// A checkpoint from the header and arrays of a file, which messages call `file`.
    pub fn from_container(container: &Container, file: &Path) -> Result<Self> {
        let not_checkpoint = |reason| Error::NotCheckpoint { file: file.to_owned(), reason };
        if container.header.get("kind").and_then(Value::as_str) != Some("checkpoint") {
            return Err(not_checkpoint("it is not the checkpoint of a fit"));
        }
        parse(container).ok_or_else(|| not_checkpoint("its parts do not fit together"))
    }

    /// Refuses to go on with other data or settings; the number of threads may change.
    pub fn check(&self, path: &Path, settings: &Settings, data: &str) -> Result<()> {
        let file = path.to_owned();
        if self.data != data {
            return Err(Error::OtherData { file });
        }
        let (was, is) = (value(&self.settings)?, value(settings)?);
        let differs = |key: &&String| *key != "threads" && was.get(*key) != is.get(*key);
        let keys: Vec<String> = match (&was, &is) {
            (Value::Object(was), Value::Object(is)) => {
                was.keys().chain(is.keys().filter(|key| !was.contains_key(*key))).cloned().collect()
            }
            _ => Vec::new(),
        };
        match keys.iter().find(differs) {
            None => Ok(()),
            Some(setting) => {
                let text = |of: &Value| of.get(setting).map_or("unset".into(), Value::to_string);
                let (setting, was, is) = (setting.clone(), text(&was), text(&is));
                Err(Error::OtherSettings { file, setting, was, is })
            }
        }
    }
}

fn parse(container: &Container) -> Option<Checkpoint> {
    let directions = container.array("directions")?;
    let [count, dims] = directions.shape[..] else { return None };
    let rows = directions.values.chunks_exact(dims.max(1)).map(<[f64]>::to_vec);
    let directions: Vec<Vec<f64>> = rows.collect();
    if directions.len() != count {
        return None;
    }
    Some(Checkpoint {
        state: state_from_json(container.header.get("state")?, &directions)?,
        settings: get(&container.header, "settings")?,
        data: get(&container.header, "data")?,
    })
}

/// A hash, in hexadecimal, of everything in the data a fit depends on: names, rows, weights, blocks,
/// rows held out.
pub fn fingerprint(names: &[String], rows: &Rows, holdout: Option<&Rows>) -> String {
    let mut hasher = Sha256::new();
    for name in names {
        hasher.update((name.len() as u64).to_le_bytes());
        hasher.update(name);
    }
    for rows in std::iter::once(rows).chain(holdout) {
        hasher.update(((rows.len() * rows.columns()) as u64).to_le_bytes());
        (0..rows.len()).for_each(|i| hasher.update(bytes(&rows.row(i))));
        let weights = rows.weights().unwrap_or(&[]);
        hasher.update((weights.len() as u64).to_le_bytes());
        weights.chunks(1 << 12).for_each(|block| hasher.update(bytes(block)));
        if let Some(blocks) = rows.blocks() {
            let numbers = blocks.iter().map(|block| (*block as u64).to_le_bytes());
            numbers.for_each(|number| hasher.update(number));
        }
    }
    hexadecimal(hasher)
}

/// A hash in hexadecimal.
pub(crate) fn hexadecimal(hasher: Sha256) -> String {
    hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn bytes(numbers: &[f64]) -> Vec<u8> {
    numbers.iter().flat_map(|x| x.to_le_bytes()).collect()
}
