//! Any bytes as an Arrow file.
#![no_main]

use libfuzzer_sys::fuzz_target;

// A message may unpack to 32,768 bytes for each of its own and a megabyte, as cells of 32 bytes.
fuzz_target!(|data: &[u8]| {
    upoe_fuzz::quiet();
    upoe_fuzz::read_table("arrow", data, 128 << 20, 4 * 8 * 32768);
});
