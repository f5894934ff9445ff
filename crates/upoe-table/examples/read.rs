//! Reads a table, says how long it took, and writes it again where a second file is named:
//! `cargo run --release --example read -- FILE [COPY]`.

use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

use upoe_table::{ReadOptions, Table, TableWriter};

fn main() -> Result<(), upoe_table::Error> {
    let mut arguments = std::env::args().skip(1);
    let Some(path) = arguments.next() else {
        eprintln!("usage: read FILE [COPY]");
        return Ok(());
    };
    let start = Instant::now();
    let mut bytes = 0;
    let table = Table::read_with(&path, &ReadOptions::default(), &mut |done, _, _| {
        bytes = done;
        ControlFlow::Continue(())
    })?;
    let seconds = start.elapsed().as_secs_f64();
    for notice in &table.notices {
        println!("{notice}");
    }
    let rate = bytes as f64 / 1e6 / seconds;
    println!("{} × {}, {seconds:.3} s, {rate:.0} MB/s", table.rows, table.names.len());
    if let Some(copy) = arguments.next() {
        let mut writer = TableWriter::create(Some(Path::new(&copy)), &[], &table.names)?;
        writer.write_rows(&table.kept, 0..table.rows, &table.data)?;
        writer.finish()?;
    }
    Ok(())
}
