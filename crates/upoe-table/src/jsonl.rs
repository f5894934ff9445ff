//! Reads JSON lines: an object per line, whose keys are the columns.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::builder::Blocks;
use crate::error::{Error, Place, Result};
use crate::input::{Input, Progress, Source, report};
use crate::notice::TableNotice;
use crate::rows::{Rows, Value};
use crate::select::{MAX_COLUMNS, Plan, ReadOptions};
use crate::table::Table;

/// Lines that decide on the columns, and how many bytes of them at most.
const SAMPLE: (usize, usize) = (1000, 4 << 20);
/// The longest line, in bytes.
const LONGEST: u64 = 64 << 20;
/// Keys that came too late to be columns, as far as they are named.
const NAMED: usize = 10;

/// Reads a table. Its columns are the keys of the first lines.
pub(crate) fn read(
    input: Input,
    options: &ReadOptions,
    mut progress: Progress<'_>,
    mut blocks: Option<Blocks<'_>>,
) -> Result<Table> {
    let file = input.file.clone();
    let source = input.into_reader().into_utf8().map_err(|error| Error::read(&file, error))?;
    let mut lines = Lines { reader: BufReader::with_capacity(1 << 16, source), number: 0 };
    for _ in 0..options.dialect.skip {
        lines.next(&file)?;
    }

    let (mut sample, mut bytes, mut columns) = (Vec::new(), 0, Columns::default());
    while sample.len() < SAMPLE.0 && bytes < SAMPLE.1 {
        let Some(line) = lines.next(&file)? else { break };
        for (key, _) in object(&file, lines.number, sample.len() as u64 + 1, &line)?.0 {
            columns.add(&file, key)?;
        }
        bytes += line.len();
        sample.push((lines.number, line));
    }
    if sample.is_empty() {
        return Err(Error::Empty { file });
    }
    if columns.names.is_empty() {
        return Err(Error::NoNumericColumns { file, columns: vec![] });
    }
    let plan = Plan::named(&file, columns.names.clone(), options)?;
    let mut rows = Rows::new(&file, plan, options);
    let mut late: Vec<String> = Vec::new();
    let mut take = |rows: &mut Rows<'_>, number: u64, line: &[u8]| {
        let mut cells = vec![Value::Missing; columns.names.len()];
        for (key, value) in object(&file, number, rows.count as u64 + 1, line)?.0 {
            match columns.places.get(key.as_ref()) {
                Some(&place) => cells[place] = cell(value),
                None if late.len() < NAMED && !late.iter().any(|known| *known == key) => {
                    late.push(key.into_owned());
                }
                None => {}
            }
        }
        rows.take(number, &cells, &mut blocks)
    };
    for (number, line) in sample {
        take(&mut rows, number, &line)?;
    }
    while let Some(line) = lines.next(&file)? {
        if rows.count.is_multiple_of(256) {
            let source = lines.reader.get_ref();
            report(&mut progress, source.done(), source.length, rows.count as u64)?;
        }
        take(&mut rows, lines.number, &line)?;
    }
    lines.reader.get_ref().check_end(&file)?;
    if !late.is_empty() {
        rows.notices().push(TableNotice::LateColumns { columns: late });
    }
    rows.finish()
}

/// The names of the columns and where each is.
#[derive(Default)]
struct Columns {
    names: Vec<String>,
    places: HashMap<String, usize>,
}

impl Columns {
    fn add(&mut self, file: &Path, key: Cow<'_, str>) -> Result<()> {
        if self.places.contains_key(key.as_ref()) {
            return Ok(());
        }
        if self.names.len() == MAX_COLUMNS {
            return Err(Error::TooManyColumns { file: file.to_owned() });
        }
        self.places.insert(key.clone().into_owned(), self.names.len());
        self.names.push(key.into_owned());
        Ok(())
    }
}

/// The lines of a file that are not blank.
struct Lines {
    reader: BufReader<Source>,
    /// The number of the line that was read last.
    number: u64,
}

impl Lines {
    fn next(&mut self, file: &Path) -> Result<Option<Vec<u8>>> {
        loop {
            let mut line = Vec::new();
            let mut limited = (&mut self.reader).take(LONGEST + 1);
            let read = limited.read_until(b'\n', &mut line);
            if read.map_err(|error| Error::read(file, error))? == 0 {
                return Ok(None);
            }
            self.number += 1;
            if line.len() as u64 > LONGEST {
                let reason = "it is longer than 64 MB".into();
                return Err(bad(file, self.number, self.number, reason));
            }
            if self.number == 1 && line.starts_with(b"\xef\xbb\xbf") {
                line.drain(..3);
            }
            if !line.trim_ascii().is_empty() {
                return Ok(Some(line));
            }
        }
    }
}

fn bad(file: &Path, number: u64, row: u64, reason: String) -> Error {
    Error::BadJson { file: file.to_owned(), place: Place { row, line: Some(number) }, reason }
}

fn object<'l>(file: &Path, number: u64, row: u64, line: &'l [u8]) -> Result<Object<'l>> {
    serde_json::from_slice(line).map_err(|error| {
        let at = error.column().saturating_sub(1).min(line.len());
        let starts = |word: &[u8]| line[at..].starts_with(word);
        let reason = match () {
            () if line.trim_ascii().starts_with(b"[") => {
                "it starts an array; write an object per line (pandas: `to_json(file, orient=\"records\", lines=True)`)".into()
            }
            () if number == 1 && line.trim_ascii() == b"{" || line.trim_ascii() == b"}" => {
                "an object must not go over several lines".into()
            }
            () if [&b"NaN"[..], b"Infinity", b"-Infinity"].into_iter().any(starts) => {
                "NaN and Infinity are not JSON; write null where a value is missing".into()
            }
            () => {
                let text = error.to_string();
                let what = text.split(" at line").next().unwrap_or_default();
                format!("{what}, character {}", error.column())
            }
        };
        bad(file, number, row, reason)
    })
}

/// What a value is in a cell: text without its quotes, or as it is written.
fn cell(value: &RawValue) -> Value<'_> {
    let written = value.get();
    match written.as_bytes().first() {
        Some(b'n') => Value::Missing,
        Some(b't') => Value::Number(1.0),
        Some(b'f') => Value::Number(0.0),
        Some(b'"') => match serde_json::from_str::<Key<'_>>(written) {
            Ok(Key(text)) => Value::Text(text),
            Err(_) => Value::Text(written.into()),
        },
        _ => Value::Text(written.into()),
    }
}

/// The keys of an object and its values as they are written, in their order.
struct Object<'l>(Vec<(Cow<'l, str>, &'l RawValue)>);

impl<'l> Deserialize<'l> for Object<'l> {
    fn deserialize<D: Deserializer<'l>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Entries;
        impl<'l> Visitor<'l> for Entries {
            type Value = Object<'l>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object such as {\"x\": 1.5, \"y\": 2}")
            }

            fn visit_map<A: MapAccess<'l>>(
                self,
                mut map: A,
            ) -> std::result::Result<Object<'l>, A::Error> {
                let mut entries = Vec::new();
                while let Some((Key(key), value)) = map.next_entry()? {
                    entries.push((key, value));
                }
                Ok(Object(entries))
            }
        }
        deserializer.deserialize_map(Entries)
    }
}

/// Text, borrowed where it has no escapes.
struct Key<'l>(Cow<'l, str>);

impl<'l> Deserialize<'l> for Key<'l> {
    fn deserialize<D: Deserializer<'l>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Text;
        impl<'l> Visitor<'l> for Text {
            type Value = Key<'l>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("text")
            }

            fn visit_borrowed_str<E>(self, text: &'l str) -> std::result::Result<Key<'l>, E> {
                Ok(Key(text.into()))
            }

            fn visit_str<E>(self, text: &str) -> std::result::Result<Key<'l>, E> {
                Ok(Key(text.to_owned().into()))
            }
        }
        deserializer.deserialize_str(Text)
    }
}
