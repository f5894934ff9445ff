//! Any bytes as a MATLAB file.
#![no_main]

use libfuzzer_sys::fuzz_target;

// Variables may be deflated.
fuzz_target!(|data: &[u8]| upoe_fuzz::read_table("mat", data, 1 << 20, 100 * 1032));
