//! Valid models with up to four fields or arrays replaced, under a right checksum, which then must
//! do what the target `model` asks, within the same bounds.
#![no_main]

use arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use upoe_fuzz::{changed, try_model};

fuzz_target!(|data: &[u8]| {
    let _ = run(&mut Unstructured::new(data));
});

fn run(u: &mut Unstructured) -> Result<()> {
    // two arrays of the same name, say, cannot be written
    if let Ok(bytes) = changed(u)?.to_bytes() {
        try_model(&bytes);
    }
    Ok(())
}
