//! Any bytes as a NPY file.
#![no_main]

use libfuzzer_sys::fuzz_target;

// A number of one byte becomes one of eight.
fuzz_target!(|data: &[u8]| {
    let gzip = data.get(1..3) == Some(&[0x1f, 0x8b]);
    upoe_fuzz::read_table("npy", data, 1 << 20, if gzip { 200 * 1032 } else { 200 });
});
