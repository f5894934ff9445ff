//! Small files that unpack to very many columns. Alone in its file: it counts all memory.

use std::io::Write;

use cap::Cap;
use upoe_table::{Error, MAX_COLUMNS, ReadOptions, Table};

#[global_allocator]
static MEMORY: Cap<std::alloc::System> = Cap::new(std::alloc::System, usize::MAX);

/// So many commas between a start and an end, packed.
fn gzip(start: &[u8], commas: usize, end: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(start).unwrap();
    let chunk = [b','; 1 << 10];
    for done in (0..commas).step_by(chunk.len()) {
        encoder.write_all(&chunk[..chunk.len().min(commas - done)]).unwrap();
    }
    encoder.write_all(end).unwrap();
    encoder.finish().unwrap()
}

/// Reads a table, and asserts that nothing so far took more megabytes than these.
fn read(name: &str, bytes: Vec<u8>, megabytes: usize) -> Result<Table, Error> {
    let before = MEMORY.allocated();
    let result = Table::from_bytes(name, bytes, &ReadOptions::default());
    let most = MEMORY.max_allocated() - before; // which never falls
    assert!(most <= megabytes << 20, "{} MB", most >> 20);
    result
}

#[test]
fn columns_are_limited_before_memory_is() {
    // 97 kB, which unpack to 100 MB of commas, in a first or a later row
    let commas = gzip(b"", 100_000_000, b"");
    assert!(commas.len() < 100_000);
    let error = read("t.csv.gz", commas, 32).unwrap_err();
    assert!(matches!(error, Error::TooManyColumns { .. }), "{error}");
    assert!(error.to_string().contains("a row has more than 1000000 cells"), "{error}");
    let error = read("t.csv.gz", gzip(b"a,b\n1,2\n", 100_000_000, b"\n3,4\n"), 32).unwrap_err();
    assert!(error.to_string().contains("row 2 (line 3) has more than 1000000 cells"), "{error}");

    // the same of other formats: a comma is a number like any other
    let header = "{'descr': '|u1', 'fortran_order': False, 'shape': (1, 100000000), }";
    let mut start = b"\x93NUMPY\x01\x00".to_vec();
    start.extend((header.len() as u16).to_le_bytes());
    start.extend(header.as_bytes());
    let error = read("t.npy.gz", gzip(&start, 100_000_000, b""), 32).unwrap_err();
    assert!(matches!(error, Error::TooManyColumns { .. }), "{error}");

    // as many as there may be: the names, and what is known of each column
    let row = gzip(b"", MAX_COLUMNS - 1, b"\n");
    let error = read("t.csv.gz", [row.clone(), row].concat(), 320).unwrap_err();
    assert!(matches!(error, Error::NoNumericColumns { .. }), "{error}");
    let wide = gzip(b"1", MAX_COLUMNS - 1, b"\n");
    let table = read("t.csv.gz", [wide.clone(), wide].concat(), 320).unwrap();
    assert_eq!((table.rows, table.data.len()), (2, 2));
}
