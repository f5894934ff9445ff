//! Any bytes as a model file: as they are, and with the checksum corrected. A model that loads
//! must score, explain, draw rows and describe its experts without a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::path::Path;
use upoe::expert::Marginal;
use upoe_file::{Checkpoint, Container, ModelFile};

/// Where a file has its checksum, as the description of the format says.
const CHECKSUM: std::ops::Range<usize> = 37..101;

fuzz_target!(|data: &[u8]| {
    try_model(data);
    let mut sealed = data.to_vec();
    if let Some(checksum) = sealed.get_mut(CHECKSUM) {
        checksum.fill(b'0');
        let mut text = String::new();
        Sha256::digest(&sealed).iter().for_each(|byte| write!(text, "{byte:02x}").unwrap());
        sealed[CHECKSUM].copy_from_slice(text.as_bytes());
        try_model(&sealed);
    }
});

// A JSON array of ones has two bytes per number, each a value of 32 bytes that is held twice. Matrix products have a
// buffer of a few megabytes.
fn try_model(bytes: &[u8]) {
    let file = Path::new("t.upoe");
    upoe_fuzz::within((8 << 20) + 600 * bytes.len(), || {
        let Ok(container) = Container::from_bytes(bytes, file) else { return };
        let _ = Checkpoint::from_container(&container, file);
        let Ok(file) = ModelFile::from_container(&container, file) else { return };
        let mean = file.model.whitening().mean();
        let ln_p = file.model.ln_p(mean).expect("a row of the right length");
        assert!(!ln_p.is_nan());
        let rows = upoe::Rows::new(mean, mean.len()).expect("one row");
        if let Ok(scores) = file.model.score(&rows) {
            assert!(!scores[0].is_nan());
        }
        let _ = file.model.explain(mean);
        let _ = file.model.transform(&rows);
        assert_eq!(file.model.sample(3, 1).len(), 3 * mean.len());
        let _ = (file.model.filters(), file.model.patterns());
        for expert in file.model.experts() {
            let median = expert.quantile(0.5);
            assert!((0.0..=1.0).contains(&expert.cdf(median)), "{expert:?}");
            let _ = (expert.entropy(), expert.shape(), expert.parameters());
        }
        assert!(file.to_container().is_ok());
    });
}
