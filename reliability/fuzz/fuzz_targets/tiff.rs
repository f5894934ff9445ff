//! Any bytes as a grey picture.
#![no_main]

use libfuzzer_sys::fuzz_target;
use upoe_table::GreyPicture;

// Packed bytes become at most 64 each; a list of bytes becomes one of values of 32.
fuzz_target!(|data: &[u8]| {
    let picture =
        upoe_fuzz::within((1 << 20) + 400 * data.len(), || GreyPicture::from_bytes("t.tiff", data));
    if let Ok(picture) = picture {
        assert_eq!(picture.pixels.len(), picture.width * picture.height);
    }
});
