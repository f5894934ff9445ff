//! Reads Arrow IPC files (Feather) and streams, a record batch at a time.
//!
//! Reference: Apache Arrow, "Columnar format", serialization. A file is a stream between two magic
//! words, with an index after it that is not needed here.

use std::io::{BufReader, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use arrow_array::RecordBatch;
use arrow_buffer::Buffer;
use arrow_ipc::reader::StreamDecoder;
use arrow_schema::ArrowError;

use crate::arrow_cells::{Kind, cells};
use crate::arrow_message::{check, framed};
use crate::builder::{Blocks, Builder};
use crate::cell::{places, take_column};
use crate::error::{Error, Place, Result, Role};
use crate::input::{Input, Progress, Source, report};
use crate::select::{Plan, ReadOptions};
use crate::table::Table;

/// Rows taken at a time.
const BATCH: usize = 4096;
/// What a file begins with; a stream begins with a message.
const MAGIC: &[u8; 8] = b"ARROW1\0\0";
/// What ends a stream.
const END: [u8; 8] = [0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0];

/// Reads a table.
pub(crate) fn read(
    input: Input,
    options: &ReadOptions,
    mut progress: Progress<'_>,
    mut blocks: Option<Blocks<'_>>,
) -> Result<Table> {
    let file = input.file.clone();
    let source = BufReader::with_capacity(1 << 16, input.into_reader());
    // The decoder checks what it reads; where it panics on damaged bytes nevertheless, the file is at
    // fault.
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        read_messages(source, &file, options, &mut progress, &mut blocks)
    }));
    outcome.unwrap_or_else(|_| Err(bad(&file, "its parts contradict each other")))
}

fn bad(file: &Path, reason: impl Into<String>) -> Error {
    Error::BadArrow { file: file.to_owned(), reason: reason.into() }
}

fn read_messages(
    mut source: BufReader<Source>,
    file: &Path,
    options: &ReadOptions,
    progress: &mut Progress<'_>,
    blocks: &mut Option<Blocks<'_>>,
) -> Result<Table> {
    let io = |error| Error::read(file, error);
    let wrong = |error: ArrowError| bad(file, error.to_string());
    let mut start = [0; 8];
    source.read_exact(&mut start).map_err(io)?;
    if start.starts_with(b"FEA1") {
        return Err(bad(file, "it is of Feather's first version, of before 2020"));
    }
    let start = if start == *MAGIC { &[][..] } else { &start[..] };
    let mut source = start.chain(source);

    let mut decoder = StreamDecoder::new();
    let mut taking: Option<Taking<'_>> = None;
    let mut rows = 0;
    loop {
        let message = framed(&mut source).map_err(io)?;
        if let Some(message) = &message {
            check(message).map_err(|reason| bad(file, reason))?;
        }
        let last = message.is_none();
        let mut bytes = Buffer::from_vec(message.unwrap_or(END.to_vec()));
        while !bytes.is_empty() {
            let batch = decoder.decode(&mut bytes).map_err(wrong)?;
            if let (None, Some(schema)) = (&taking, decoder.schema()) {
                taking = Some(Taking::new(file, &schema, options)?);
            }
            let (Some(batch), Some(taking)) = (batch, &mut taking) else { continue };
            if taking.builder.stored.is_empty() {
                continue;
            }
            let source = source.get_ref().1.get_ref();
            report(progress, source.done(), source.length, rows as u64)?;
            rows = taking.take(&batch, rows, blocks)?;
        }
        if last {
            break;
        }
    }
    match taking {
        None => Err(bad(file, "it has no schema")),
        Some(taking) if rows == 0 && !taking.builder.stored.is_empty() => {
            Err(Error::HeaderOnly { file: file.to_owned() })
        }
        Some(taking) => taking.builder.finish(rows),
    }
}

/// Takes record batches into a builder.
struct Taking<'a> {
    builder: Builder<'a>,
    kinds: Vec<Kind>,
}

impl<'a> Taking<'a> {
    fn new(file: &'a Path, schema: &arrow_schema::Schema, options: &ReadOptions) -> Result<Self> {
        if schema.fields().is_empty() {
            return Err(Error::Empty { file: file.to_owned() });
        }
        let names = schema.fields().iter().map(|field| field.name().clone()).collect();
        let kinds: Vec<Kind> =
            schema.fields().iter().map(|field| Kind::of(field.data_type())).collect();
        let plan = Plan::named(file, names, options)?;
        let mut builder = Builder::new(file, plan, options);
        for slot in 0..builder.plan.modelled.len() {
            if let Kind::Other(what) = kinds[builder.plan.modelled[slot]] {
                builder.text(slot, Place::row(1), what)?;
            }
        }
        builder.unstore_text();
        Ok(Taking { builder, kinds })
    }

    /// Takes a batch after so many rows, and says how many there are now.
    fn take(
        &mut self,
        batch: &RecordBatch,
        mut rows: usize,
        blocks: &mut Option<Blocks<'_>>,
    ) -> Result<usize> {
        for start in (0..batch.num_rows()).step_by(BATCH) {
            let range = start..batch.num_rows().min(start + BATCH);
            let builder = &mut self.builder;
            let places = places(builder);
            for (index, kind) in self.kinds.iter().enumerate() {
                let plan = &builder.plan;
                let modelled = plan.modelled.iter().enumerate();
                let slots: Vec<usize> = match kind {
                    Kind::Other(_) => vec![],
                    Kind::Numbers | Kind::Text => {
                        modelled.filter(|(_, column)| **column == index).map(|(s, _)| s).collect()
                    }
                };
                let carried = plan.kept.contains(&index)
                    || plan.weights == Some(index)
                    || plan.groups == Some(index);
                if slots.is_empty() && !carried {
                    continue;
                }
                if *kind == Kind::Other("nested") {
                    let (file, column) = (builder.file.to_owned(), plan.names[index].clone());
                    let (place, text, role) = (Place::row(1), "nested".into(), Role::Modelled);
                    return Err(Error::TextColumn { file, column, place, text, role });
                }
                let cells = cells(batch.column(index).as_ref(), range.clone());
                take_column(builder, index, &slots, &places, rows, &cells)?;
            }
            rows += range.len();
            builder.block(rows, blocks)?;
            builder.unstore_text();
        }
        Ok(rows)
    }
}
