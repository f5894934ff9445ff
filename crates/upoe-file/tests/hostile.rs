//! Model files from strangers: a valid checksum over contents that contradict each other.

use std::path::Path;
use std::time::{Duration, Instant};

use cap::Cap;
use serde_json::{Value, json};
use upoe_file::{Array, Container, Error, ModelFile};

#[global_allocator]
static MEMORY: Cap<std::alloc::System> = Cap::new(std::alloc::System, usize::MAX);

/// A model of five columns with two experts.
fn model() -> Container {
    let data = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/format-1-mixture.upoe");
    ModelFile::read(data).unwrap().to_container().unwrap()
}

/// What reading the bytes of such a file says.
fn refusal(container: &Container) -> Error {
    let (bytes, file) = (container.to_bytes().unwrap(), Path::new("m.upoe"));
    let read = Container::from_bytes(&bytes, file).unwrap();
    ModelFile::from_container(&read, file).expect_err("it should be refused")
}

/// A model in one dimension with so many directions.
fn directions(count: usize) -> Container {
    let Container { mut header, .. } = model();
    header["columns"] = json!(["a"]);
    header["whitening"]["rank"] = json!(1);
    let expert: Value = header["state"]["experts"][0].clone();
    header["state"]["experts"] = vec![expert; count].into();
    let array = |name: &str, shape: Vec<usize>| {
        let values = vec![1.0; shape.iter().product()];
        Array { name: name.into(), shape, values }
    };
    let arrays = vec![
        array("mean", vec![1]),
        array("deviations", vec![1]),
        array("sphering", vec![1, 1]),
        array("unsphering", vec![1, 1]),
        array("directions", vec![count, 1]),
        array("pseudo_inverse", vec![1, count]),
    ];
    Container { header, arrays }
}

/// 4000 directions in one dimension took 78 s and 494 MB to refuse.
#[test]
fn more_directions_than_dimensions_are_refused_at_once() {
    let (file, bytes) = (Path::new("m.upoe"), directions(4000).to_bytes().unwrap());
    let (start, before) = (Instant::now(), MEMORY.allocated());
    let container = Container::from_bytes(&bytes, file).unwrap();
    let error = ModelFile::from_container(&container, file).expect_err("it should be refused");
    let (took, most) = (start.elapsed(), MEMORY.max_allocated() - before);
    assert!(error.to_string().contains("more directions than dimensions"), "{error}");
    assert!(took < Duration::from_secs(1), "{took:?}");
    // what SECURITY promises is 600 bytes for each byte of the file
    assert!(most < 60 * bytes.len(), "{most} for {} bytes", bytes.len());
    // one direction in one dimension is a model
    let container = directions(1);
    assert!(ModelFile::from_container(&container, file).is_ok());
}

#[test]
fn what_lies_outside_the_dimensions_must_fit_them() {
    let file = Path::new("m.upoe");
    let with = |rest: Value| {
        let mut container = model();
        container.header["whitening"]["rest"] = rest;
        container
    };
    assert!(ModelFile::from_container(&with(json!("nothing")), file).is_ok());
    // as many dimensions as columns leave no room for noise or a flat side
    for variance in [1e308, 1.0, 0.0, -1.0] {
        let error = refusal(&with(json!({"noise": {"variance": variance}})));
        assert!(matches!(error, Error::NotModel { .. }), "{error}");
    }
    assert!(matches!(refusal(&with(json!("degenerate"))), Error::NotModel { .. }));
}

/// Four dimensions of the five columns, the last one left to noise.
#[test]
fn noise_has_a_variance_that_is_finite_and_positive() {
    let with = |variance: f64| {
        let mut container = model();
        container.header["whitening"]["rank"] = json!(5);
        container.header["whitening"]["rest"] = json!({"noise": {"variance": variance}});
        for array in &mut container.arrays {
            let (values, shape) = (&array.values, array.shape.clone());
            let kept: Vec<usize> = match array.name.as_str() {
                "sphering" | "pseudo_inverse" => (0..4 * shape[1]).collect(),
                "unsphering" | "directions" => (0..values.len()).filter(|i| i % 5 < 4).collect(),
                _ => continue,
            };
            array.values = kept.iter().map(|&i| values[i]).collect();
            array.shape = match array.name.as_str() {
                "sphering" | "pseudo_inverse" => vec![4, shape[1]],
                _ => vec![shape[0], 4],
            };
        }
        container
    };
    assert!(ModelFile::from_container(&with(0.5), Path::new("m.upoe")).is_ok());
    for variance in [0.0, -1.0, -1e-300] {
        assert!(matches!(refusal(&with(variance)), Error::NotModel { .. }), "{variance}");
    }
}

#[test]
fn columns_of_the_same_name_are_neither_read_nor_written() {
    let mut container = model();
    let good = ModelFile::from_container(&container, Path::new("m.upoe")).unwrap();
    container.header["columns"] = json!(["a", "b", "c", "b", "e"]);
    let error = refusal(&container);
    let said = "m.upoe: two columns of the model are called `b`";
    assert!(error.to_string().contains(said), "{error}");

    let names = ["a", "b", "c", "b", "e"].map(String::from).to_vec();
    let twice = ModelFile { names, ..good };
    assert!(matches!(twice.to_container(), Err(Error::DuplicateColumn { .. })));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("twice.upoe");
    let error = twice.write(&path).unwrap_err();
    assert!(error.to_string().contains("twice.upoe: two columns"), "{error}");
    assert!(!path.exists());
}

/// Experts are counted from 1 for people: the last number there is must not overflow.
#[test]
fn a_notice_may_name_any_expert() {
    let mut container = model();
    container.header["notices"] = json!([
        {"notice": "iterations", "expert": u64::MAX},
        {"notice": "bound", "expert": u64::MAX, "bound": "smallest scale"},
    ]);
    let file = ModelFile::from_container(&container, Path::new("m.upoe")).unwrap();
    for notice in file.notices {
        assert!(notice.to_string().starts_with("expert 18446744073709551615 "), "{notice}");
    }
}
