//! Reads a table and says how long it took: `cargo run --release --example read -- FILE`.

use std::time::Instant;

fn main() -> Result<(), upoe_io::Error> {
    let Some(path) = std::env::args().nth(1) else {
        eprintln!("usage: read FILE");
        return Ok(());
    };
    let start = Instant::now();
    let mut bytes = 0;
    let table = upoe_io::Table::read_with(&path, &Default::default(), &mut |done, _, _| {
        bytes = done;
        std::ops::ControlFlow::Continue(())
    })?;
    let seconds = start.elapsed().as_secs_f64();
    for notice in &table.notices {
        println!("{notice}");
    }
    let rate = bytes as f64 / 1e6 / seconds;
    println!("{} × {}, {seconds:.3} s, {rate:.0} MB/s", table.rows, table.names.len());
    Ok(())
}
