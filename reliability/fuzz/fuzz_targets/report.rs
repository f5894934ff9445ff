//! The page that `report` writes: of any bytes as a model file with the checksum corrected, or of
//! a valid model with fields replaced, and of rows of any numbers. At most 64 MB and 20,000 bytes
//! per byte of the file, and 5 s of processor time and 5 ms per byte: a page has up to 9,999 drawn
//! rows of each column.
#![no_main]

use arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use upoe_fuzz::{changed, matrix, sealed, try_page};

fuzz_target!(|data: &[u8]| {
    let _ = run(&mut Unstructured::new(data));
});

fn run(u: &mut Unstructured) -> Result<()> {
    let plain = u.ratio(1, 4)?;
    let cells = matrix(u, false)?.values;
    if plain {
        if let Some(bytes) = sealed(u.bytes(u.len())?) {
            try_page(&bytes, &cells);
        }
    } else if let Ok(bytes) = changed(u)?.to_bytes() {
        try_page(&bytes, &cells);
    }
    Ok(())
}
