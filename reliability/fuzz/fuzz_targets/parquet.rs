//! Any bytes as a Parquet file.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::collections::BTreeSet;
use std::sync::{Mutex, Once};

static QUIET: Once = Once::new();
static SEEN: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

// A run of equal values may have 8192 cells per byte, each a number of eight bytes in a vector
// that doubles; pages may also be unpacked into 64 MB.
fuzz_target!(|data: &[u8]| {
    // Our reader catches panics of the library's decoder; each place is reported once.
    QUIET.call_once(|| {
        std::panic::set_hook(Box::new(|panic| {
            let place = panic.location().map(ToString::to_string).unwrap_or_default();
            if SEEN.lock().is_ok_and(|mut seen| seen.insert(place.clone())) {
                eprintln!("PANIC at {place}");
            }
        }));
    });
    upoe_fuzz::read_table("parquet", data, 128 << 20, 4 * 8 * 8192);
});
