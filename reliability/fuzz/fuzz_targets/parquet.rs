//! Any bytes as a Parquet file.
#![no_main]

use libfuzzer_sys::fuzz_target;

// A run of equal values may have 8192 cells per byte, each a number of eight bytes in a vector
// that doubles; pages may also be unpacked into 64 MB.
fuzz_target!(|data: &[u8]| {
    upoe_fuzz::quiet();
    upoe_fuzz::read_table("parquet", data, 128 << 20, 4 * 8 * 8192);
});
