//! Verbs over tables larger than memory: block by block, in constant memory and in the order of the rows.

use std::path::{Path, PathBuf};

use upoe::Rows;
use upoe_file::ModelFile;
use upoe_table::{ReadOptions, Table, TextColumn};

use crate::data::{Data, free_memory};
use crate::failure::{Failure, from_core};
use crate::output::Output;
use crate::progress::{Progress, grouped};
use crate::visible;

/// Numbers in a block.
const CELLS: usize = 1 << 21;
/// Most rows on a page of a table larger than memory.
const SHOWN: u64 = 100_000;

/// A table for a verb.
pub enum Input {
    /// In memory.
    Whole(Table),
    /// In files larger than memory.
    Large(Data, ReadOptions),
}

impl Input {
    /// The table in memory, where it fits.
    pub fn open(
        data: &Path,
        options: ReadOptions,
        memory: Option<u64>,
        progress: &Progress,
    ) -> Result<Self, Failure> {
        let data = Data::open(data, &options)?;
        match data.larger_than(memory.unwrap_or_else(free_memory)) {
            None => Ok(Input::Whole(data.read(&options, progress)?)),
            Some(_) => Ok(Input::Large(data, options)),
        }
    }
}

/// What a verb writes for rows: some numbers for each.
pub struct Written<'a> {
    pub names: Vec<String>,
    pub output: Option<&'a PathBuf>,
    pub json: bool,
    /// What is being done, for messages.
    pub what: &'static str,
}

impl Written<'_> {
    /// Reads, works and writes, block by block.
    pub fn stream(
        &self,
        file: &ModelFile,
        (data, options): (&Data, &ReadOptions),
        progress: &Progress,
        mut work: impl FnMut(&Rows) -> upoe::Result<Vec<f64>>,
    ) -> Result<(), Failure> {
        let (mut out, mut outside) = (None::<Output>, None::<upoe::Outside>);
        let rows = CELLS / file.names.len().max(self.names.len()).max(1);
        let done = data.blocks(self.what, options, rows.max(1), progress, |table| {
            let failed = |error| from_core(error, &table);
            let rows = Rows::new(&table.data, table.names.len()).map_err(failed)?;
            let numbers = work(&rows).map_err(failed)?;
            match (&mut outside, file.model.whitening().outside(&rows).map_err(failed)?) {
                (Some(known), Some(more)) => known.merge(more),
                (known, more) => *known = known.take().or(more),
            }
            if out.is_none() {
                let path = self.output.map(PathBuf::as_path);
                let made = Output::create(path, self.json, &table.kept, &self.names, progress)?;
                out = Some(made.with_text());
            }
            let Some(out) = &mut out else { return Ok(()) };
            out.write(&table.kept, 0..table.rows, &numbers)
        })?;
        progress.clear();
        if let Some(mut outside) = outside {
            outside.of = done as usize;
            progress.warn(&outside.message(|column| visible::short(&file.names[column], 30)));
        }
        out.map_or(Ok(()), Output::finish)
    }
}

/// Every k-th row of a table larger than memory, and a note that says so.
pub fn sample(data: &Data, options: &ReadOptions, progress: &Progress) -> Result<Table, Failure> {
    let rows = data.larger_than(0).map_or(0, |size| size.rows);
    let step = rows.div_ceil(SHOWN).max(1) as usize;
    let mut shown: Option<Table> = None;
    let mut at = 0;
    let all = data.blocks("reading", options, 1 << 14, progress, |table| {
        let first = (step - at % step) % step;
        at += table.rows;
        let columns = table.names.len();
        let chosen: Vec<usize> = (first..table.rows).step_by(step).collect();
        let cells = chosen.iter().flat_map(|&i| &table.data[i * columns..][..columns]);
        let to = shown.get_or_insert_with(|| {
            let mut to = table.clone();
            (to.rows, to.weights, to.groups) = (0, None, None);
            to.data.clear();
            to.kept = table.kept.iter().map(|c| TextColumn::new(c.name.clone())).collect();
            to
        });
        to.data.extend(cells);
        to.rows += chosen.len();
        for (to, from) in to.kept.iter_mut().zip(&table.kept) {
            chosen.iter().for_each(|&i| to.push(from.get(i).unwrap_or("")));
        }
        Ok(())
    })?;
    let table = shown.ok_or_else(|| Failure::Message("the table has no rows".into()))?;
    progress.note(&format!(
        "the table is larger than memory: the page shows one row in {step}, {} of {}",
        grouped(table.rows),
        grouped(all as usize)
    ));
    Ok(table)
}
