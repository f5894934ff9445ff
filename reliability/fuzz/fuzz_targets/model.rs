//! Any bytes as a model file: as they are, and with the checksum corrected. A model that loads
//! must describe itself, score, explain, transform and draw rows, and evaluate its experts' cdf and
//! quantiles, without a panic or NaN. All of it takes at most 8 MB and 600 bytes per byte of the
//! file, and 2 s of processor time and 1 ms per byte.
#![no_main]

use libfuzzer_sys::fuzz_target;
use upoe_fuzz::{sealed, try_model};

fuzz_target!(|data: &[u8]| {
    try_model(data);
    if let Some(sealed) = sealed(data) {
        try_model(&sealed);
    }
});
