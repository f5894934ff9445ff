//! Any bytes as CSV or TSV, plain or gzipped.
#![no_main]

use libfuzzer_sys::fuzz_target;

// A cell of two bytes is a number of eight, held once more while it is sorted out; a name has a
// string of its own. Gzip makes up to 1032 bytes of one.
fuzz_target!(|data: &[u8]| {
    let gzip = data.get(1..3) == Some(&[0x1f, 0x8b]);
    let extension = if data.first().is_some_and(|how| how & 64 != 0) { "tsv" } else { "csv" };
    upoe_fuzz::read_table(extension, data, 1 << 20, if gzip { 200 * 1032 } else { 200 });
});
