//! What can be asked of a model file: `inspect`, `score`, `explain`, `transform`, `sample`, `cdf`,
//! `quantile`, the tail, and the page of `report`.

use std::fmt::Write;
use std::path::Path;

use sha2::{Digest, Sha256};
use upoe::Rows;
use upoe::evaluate::Tail;
use upoe::expert::Marginal;
use upoe_file::{Checkpoint, Container, ModelFile};
use upoe_report::{Finding, FitRecord, Input, build, html};

use crate::{in_time, within};

/// Where a file has its checksum, as the description of the format says.
const CHECKSUM: std::ops::Range<usize> = 37..101;

/// The bytes with the checksum corrected, where they are long enough to have one.
pub fn sealed(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut sealed = bytes.to_vec();
    sealed.get_mut(CHECKSUM)?.fill(b'0');
    let mut text = String::new();
    Sha256::digest(&sealed).iter().for_each(|byte| write!(text, "{byte:02x}").expect("a string"));
    sealed[CHECKSUM].copy_from_slice(text.as_bytes());
    Some(sealed)
}

/// Reads bytes as a model file and does everything with it but the page.
///
/// A JSON array of ones has two bytes per number, each a value of 32 bytes that is held twice, and
/// matrix products have a buffer of a few megabytes.
pub fn try_model(bytes: &[u8]) {
    let file = Path::new("t.upoe");
    in_time(2.0 + 1e-3 * bytes.len() as f64, || {
        within((8 << 20) + 600 * bytes.len(), || {
            let Ok(container) = Container::from_bytes(bytes, file) else { return };
            let _ = Checkpoint::from_container(&container, file);
            if let Ok(file) = ModelFile::from_container(&container, file) {
                describe(&file);
                score(&file);
                draw(&file);
                assert!(file.to_container().is_ok());
            }
        });
    });
}

/// As `inspect` does, with the functions of each expert.
fn describe(file: &ModelFile) {
    let model = &file.model;
    let (columns, experts) = (file.names.len(), model.experts().len());
    let (filters, patterns) = (model.filters(), model.patterns());
    assert!([filters.len(), patterns.len()] == [experts; 2]);
    assert!(filters.iter().chain(&patterns).all(|of| of.len() == columns));
    assert!(file.notices.iter().all(|notice| !notice.to_string().is_empty()));
    assert!(!file.stop.to_string().is_empty());
    for expert in model.experts() {
        assert!(!Finding::of(expert).to_string().is_empty());
        for z in [0.0, -1.0, 40.0, -1e160, f64::MAX, f64::INFINITY, f64::NEG_INFINITY] {
            assert!((0.0..=1.0).contains(&expert.cdf(z)), "cdf({z}) of {expert:?}");
            assert!(!expert.ln_density(z).is_nan(), "ln T({z}) of {expert:?}");
        }
        let quantiles = [0.0, 1e-300, 1e-3, 0.5, 1.0 - 1e-3, 1.0].map(|p| expert.quantile(p));
        // a quantile z is found to 2ε |t| in t, where z = sinh t and |t| ≤ 710
        let rises = |a: &f64, b: &f64| a <= b || (a - b).abs() <= 1e-12 * b.abs();
        assert!(quantiles.is_sorted_by(rises), "{quantiles:?} of {expert:?}");
        let _ = (expert.entropy(), expert.negentropy(), expert.shape(), expert.parameters());
    }
}

/// The mean and rows ever farther from it.
fn score(file: &ModelFile) {
    let model = &file.model;
    let mean = model.whitening().mean();
    let far = |size: f64| mean.iter().map(move |m| (m + size).clamp(-f64::MAX, f64::MAX));
    let flat: Vec<f64> = [0.0, 1.0, -1e9, 1e160, -f64::MAX].into_iter().flat_map(far).collect();
    let rows = Rows::new(&flat, mean.len()).expect("whole rows");
    let scores = model.score(&rows).expect("finite rows");
    let z = model.transform(&rows).expect("as score");
    assert_eq!(z.len(), rows.len() * model.experts().len());
    for (i, score) in scores.into_iter().enumerate() {
        let row = rows.row(i);
        let alone = model.ln_p(&row).expect("as score");
        let why = model.explain(&row).expect("as score");
        assert!(![score, alone, why.ln_p].iter().any(|p| p.is_nan()), "{score} {alone} {model:?}");
        let parts = why.experts_by_column.iter().flatten().chain(&why.rest_by_column);
        assert!(parts.chain(&why.experts).all(|part| !part.is_nan()), "{why:?} of {model:?}");
    }
    if let Some(outside) = model.whitening().outside(&rows).expect("as score") {
        assert!(!outside.message(|i| file.names[i].clone()).is_empty());
    }
}

fn draw(file: &ModelFile) {
    let model = &file.model;
    let drawn = model.sample(3, file.training.seed);
    assert_eq!(drawn.len(), 3 * file.names.len());
    // a model whose numbers are huge may draw rows that overflow, which are refused
    let rows = Rows::new(&drawn, file.names.len()).expect("whole rows");
    if let Ok(scores) = model.score(&rows) {
        let p = Tail::of_scores(scores).at(-1.0);
        assert!((0.0..=1.0).contains(&p), "{p}");
    }
}

/// The page that `report` writes of a model file and rows of as many columns.
///
/// The page has up to 9,999 drawn rows of each column, which takes memory and time that depend on
/// the number of columns; a column takes at least 28 bytes of the file.
pub fn try_page(bytes: &[u8], cells: &[f64]) {
    let path = Path::new("t.upoe");
    in_time(5.0 + 5e-3 * bytes.len() as f64, || {
        within((64 << 20) + 20_000 * bytes.len(), || {
            let file = Container::from_bytes(bytes, path)
                .and_then(|container| ModelFile::from_container(&container, path));
            let Ok(file) = file else { return };
            let columns = file.names.len();
            let cells = &cells[..cells.len() / columns * columns];
            let Ok(rows) = Rows::new(cells, columns) else { return };
            let input = Input {
                title: "</script>",
                fitted: file.fitted(),
                training: &training(&file),
                names: &file.names,
                rows,
                numbers: None,
                groups: file.groups.as_ref(),
                kept: &[],
                image: None,
                seed: file.training.seed,
            };
            match build(&input) {
                Ok(page) => {
                    let page = html(&page);
                    assert!(page.ends_with("</html>\n"));
                    // the page's two, and none that a text brings
                    assert_eq!(page.matches("</script").count(), 2);
                }
                Err(error) => assert!(!error.to_string().is_empty()),
            }
        });
    });
}

/// As the command gives it.
fn training(file: &ModelFile) -> FitRecord {
    FitRecord {
        state: file.state.clone(),
        evaluation: file.training.evaluation,
        seconds: file.training.seconds,
        stop_reason: file.stop.to_string(),
        settings: Vec::new(),
        version: file.training.version.clone(),
        notices: file.notices.iter().map(ToString::to_string).collect(),
        layers: file.layers.clone(),
    }
}
