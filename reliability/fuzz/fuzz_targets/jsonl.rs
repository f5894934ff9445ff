//! Any bytes as JSON lines.
#![no_main]

use libfuzzer_sys::fuzz_target;

// The shortest line is a cell of eight bytes in a vector that doubles, and 256 empty ones beside it.
fuzz_target!(|data: &[u8]| upoe_fuzz::read_table("jsonl", data, 128 << 20, 300 * 16 * 1032));
