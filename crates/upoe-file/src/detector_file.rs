//! A fitted detector as a file: `docs/model-file.md` describes what is in it.

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use upoe::{Detector, DetectorParts, DetectorSettings};

use crate::container::{Array, Container};
use crate::error::{Error, Result};
use crate::model_file::{check_names, get, value};

/// A fitted detector and how it came about, as a file holds it. Writing and reading again is exact
/// to the bit.
#[derive(Clone, Debug)]
pub struct DetectorFile {
    /// The detector.
    pub detector: Detector,
    /// The names of its columns.
    pub names: Vec<String>,
    /// What the fit was asked to do.
    pub settings: DetectorSettings,
    /// Which rows are called odd.
    pub verdict: Verdict,
    /// The version of upoe that fitted it.
    pub version: String,
}

/// Which rows a detector calls odd, where nothing else is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// The share of ordinary new rows that may be called odd.
    pub alpha: f64,
    /// The share of the training rows that is called odd instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contamination: Option<f64>,
    /// Rows odder than this are called odd.
    pub threshold: f64,
}

impl DetectorFile {
    /// From a detector of columns of these names, fitted by this version.
    pub fn new(
        detector: Detector,
        names: Vec<String>,
        settings: DetectorSettings,
        verdict: Verdict,
    ) -> Self {
        let version = env!("CARGO_PKG_VERSION").into();
        DetectorFile { detector, names, settings, verdict, version }
    }

    /// Writes the file; it appears under its name whole or not at all.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<()> {
        check_names(&self.names, path.as_ref())?;
        self.to_container()?.write(path)
    }

    /// Reads a file, after checking that it is whole, unaltered and a detector.
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        Self::from_container(&Container::read(path)?, path)
    }

    /// The header and arrays of the file.
    pub fn to_container(&self) -> Result<Container> {
        check_names(&self.names, Path::new("the detector"))?;
        let p = self.detector.to_parts();
        let (d, j) = (p.used.len(), p.directions.len());
        let array = |name: &str, shape: &[usize], values: Vec<f64>| Array {
            name: name.to_owned(),
            shape: shape.to_vec(),
            values,
        };
        let kept = p.oddness.len();
        let points = p.rarity.len() / d;
        let arrays = vec![
            array("location", &[d], p.location),
            array("spread", &[d], p.spread),
            array("centre", &[d], p.centre),
            array("core_spread", &[d], p.core_spread),
            array("sphering", &[d, d], p.sphering),
            array("directions", &[j, d], p.directions.concat()),
            array("factors", &[j + 1], p.factors),
            array("rarity", &[d, points], p.rarity),
            array("cells", &[3, d], p.cells.concat()),
            array("level", &[1], vec![p.level]),
            array("units", &[4], p.units.to_vec()),
            array("residuals", &[d, d], p.residuals),
            array("low", &[d], p.low),
            array("high", &[d], p.high),
            array("oddness", &[kept], p.oddness),
            array("ranks", &[kept], p.ranks),
            array("tail", &[3], p.tail.to_vec()),
        ];
        let header = json!({
            "kind": "detector",
            "columns": self.names,
            "used": p.used,
            "settings": value(&self.settings)?,
            "verdict": value(&self.verdict)?,
            "version": self.version,
        });
        Ok(Container { header, arrays })
    }

    /// A detector from the header and arrays of a file, which messages call `file`.
    pub fn from_container(container: &Container, file: &Path) -> Result<Self> {
        let not_detector = |reason| Error::NotDetector { file: file.to_owned(), reason };
        match container.header.get("kind").and_then(Value::as_str) {
            Some("detector") => {}
            Some("checkpoint") => return Err(Error::IsCheckpoint { file: file.to_owned() }),
            Some("model") => return Err(not_detector("it is a model")),
            _ => return Err(not_detector("its header names no detector")),
        }
        let found =
            parse(container).ok_or_else(|| not_detector("its parts do not fit together"))?;
        check_names(&found.names, file)?;
        Ok(found)
    }
}

fn parse(container: &Container) -> Option<DetectorFile> {
    let header = &container.header;
    let values = |name: &str| container.array(name).map(|array| array.values.clone());
    let names: Vec<String> = get(header, "columns")?;
    let used: Vec<usize> = get(header, "used")?;
    let [_, d] = container.array("directions")?.shape[..] else { return None };
    if d == 0 || d != used.len() {
        return None;
    }
    let cells: Vec<Vec<f64>> = values("cells")?.chunks(d).map(<[f64]>::to_vec).collect();
    let [level] = values("level")?[..] else { return None };
    let parts = DetectorParts {
        columns: names.len(),
        used,
        location: values("location")?,
        spread: values("spread")?,
        centre: values("centre")?,
        core_spread: values("core_spread")?,
        sphering: values("sphering")?,
        directions: values("directions")?.chunks_exact(d).map(<[f64]>::to_vec).collect(),
        factors: values("factors")?,
        rarity: values("rarity")?,
        cells: cells.try_into().ok()?,
        level,
        units: values("units")?.try_into().ok()?,
        residuals: values("residuals")?,
        low: values("low")?,
        high: values("high")?,
        oddness: values("oddness")?,
        ranks: values("ranks")?,
        tail: values("tail")?.try_into().ok()?,
    };
    let verdict: Verdict = get(header, "verdict")?;
    let probability = |p: f64| p > 0.0 && p < 1.0;
    let sound = probability(verdict.alpha) && verdict.contamination.is_none_or(probability);
    Some(DetectorFile {
        detector: Detector::from_parts(parts).ok().filter(|_| sound)?,
        names,
        settings: get(header, "settings")?,
        verdict,
        version: get(header, "version")?,
    })
}
