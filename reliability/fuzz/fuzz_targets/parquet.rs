//! Any bytes as a Parquet file.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| upoe_fuzz::read_table("parquet", data, 64 << 10));
