//! Model files: round trips, and every way a file can be wrong.

use std::path::Path;

use proptest::prelude::*;
use serde_json::json;
use upoe_file::{Array, Container, Error, FileError};

fn container() -> Container {
    let array = |name: &str, shape: &[usize], values: &[f64]| Array {
        name: name.into(),
        shape: shape.to_vec(),
        values: values.to_vec(),
    };
    let odd = [f64::from_bits(0x7ff8_dead_beef_0001), -0.0, f64::INFINITY, 5e-324, 0.1, 1e300];
    Container {
        header: json!({"names": ["a", "b \"quoted\" ü"], "q": -0.35659, "tiny": 4.9e-324, "x": 0.1}),
        arrays: vec![
            array("a_empty", &[0, 3], &[]),
            array("also_empty", &[0], &[]),
            array("mean", &[6], &odd),
            array("scalar", &[], &[1.0]),
            array("sphering", &[2, 3], &odd),
        ],
    }
}

fn read(bytes: &[u8]) -> Result<Container, Error> {
    Container::from_bytes(bytes, Path::new("m.upoe"))
}

#[test]
fn a_round_trip_keeps_every_bit() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("m.upoe");
    container().write(&path).unwrap();
    let back = Container::read(&path).unwrap();
    assert_eq!(back.header, container().header);
    let bits = |container: &Container| -> Vec<(String, Vec<usize>, Vec<u64>)> {
        let bits = |array: &Array| array.values.iter().map(|value| value.to_bits()).collect();
        container.arrays.iter().map(|a| (a.name.clone(), a.shape.clone(), bits(a))).collect()
    };
    assert_eq!(bits(&back), bits(&container()));
    assert_eq!(back.to_bytes().unwrap(), std::fs::read(&path).unwrap());
    assert_eq!(back.array("scalar").unwrap().values, [1.0]);
    assert_eq!(std::fs::read_dir(&directory).unwrap().count(), 1);
}

#[test]
fn it_is_a_safetensors_file() {
    let bytes = container().to_bytes().unwrap();
    let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    assert_eq!(length % 8, 0);
    let json: serde_json::Value = serde_json::from_slice(&bytes[8..8 + length]).unwrap();
    assert_eq!(json["__metadata__"]["format"], "upoe");
    assert_eq!(json["__metadata__"]["format_version"], "3");
    assert_eq!(json["sphering"]["dtype"], "F64");
    assert_eq!(json["sphering"]["shape"], json!([2, 3]));
    let end = json["sphering"]["data_offsets"][1].as_u64().unwrap() as usize;
    assert_eq!(8 + length + end, bytes.len());
    assert!(json["__metadata__"].as_object().unwrap().values().all(|value| value.is_string()));
}

#[test]
fn any_flipped_byte_is_noticed_as_an_alteration() {
    let bytes = container().to_bytes().unwrap();
    for at in 0..bytes.len() {
        for flip in [1, 0x20, 0x80, 0xff] {
            let mut damaged = bytes.clone();
            damaged[at] ^= flip;
            let error = read(&damaged).unwrap_err();
            assert!(matches!(error, Error::ModelAltered { .. }), "byte {at}: {error}");
        }
    }
}

#[test]
fn any_cut_is_noticed_as_a_cut() {
    let bytes = container().to_bytes().unwrap();
    for length in 9..bytes.len() {
        let error = read(&bytes[..length]).unwrap_err();
        assert!(matches!(error, Error::ModelTruncated { .. }), "{length}: {error}");
    }
    let mut longer = bytes.clone();
    longer.push(0);
    assert!(matches!(read(&longer), Err(Error::ModelAltered { .. })));
}

#[test]
fn foreign_files_are_told() {
    for bytes in [&b""[..], b"a", b"a,b\n1,2\n", b"\x93NUMPY\x01\0", &[0; 500], b"PAR1...."] {
        assert!(matches!(read(bytes), Err(Error::NotModel { .. })), "{bytes:?}");
    }
    let json = br#"{"w":{"dtype":"F64","shape":[1],"data_offsets":[0,8]}}  "#;
    let mut other = (json.len() as u64).to_le_bytes().to_vec();
    other.extend(json);
    other.extend([0; 8]);
    let error = read(&other).unwrap_err();
    assert!(error.to_string().contains("safetensors file of another program"), "{error}");
    let directory = tempfile::tempdir().unwrap();
    assert!(matches!(
        Container::read(directory.path()),
        Err(Error::File(FileError::IsDirectory { .. }))
    ));
    let missing = Container::read(directory.path().join("m.upoe"));
    assert!(matches!(missing, Err(Error::File(FileError::NotFound { .. }))));
}

/// Replaces text of the same length and makes the checksum right again.
fn forge(bytes: &[u8], from: &str, to: &str) -> Vec<u8> {
    use sha2::{Digest, Sha256};
    let at = bytes.windows(from.len()).position(|part| part == from.as_bytes()).unwrap();
    let mut forged = bytes.to_vec();
    forged[at..at + to.len()].copy_from_slice(to.as_bytes());
    let mark = b"\"checksum\":\"";
    let start = 12 + forged.windows(12).position(|part| part == mark).unwrap();
    forged[start..start + 64].fill(b'0');
    let digest = Sha256::digest(&forged);
    let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    forged[start..start + 64].copy_from_slice(digest.as_bytes());
    forged
}

#[test]
fn a_newer_file_says_who_wrote_it() {
    let bytes = container().to_bytes().unwrap();
    let newer = forge(&bytes, "\"format_version\":\"3\"", "\"format_version\":\"7\"");
    let error = read(&newer).unwrap_err();
    assert!(matches!(error, Error::ModelNewer { version: 7, supported: 3, .. }), "{error}");
    let message = error.to_string();
    let writer = concat!("written by upoe ", env!("CARGO_PKG_VERSION"), " in format 7");
    assert!(message.contains(writer), "{message}");
    assert!(message.contains("upgrade"), "{message}");
}

#[test]
fn lies_under_a_right_checksum_are_refused() {
    let bytes = container().to_bytes().unwrap();
    for (from, to) in [("\"shape\":[2,3]", "\"shape\":[9,9]"), ("F64", "F32"), ("[0,3]", "[0.3]")] {
        assert!(matches!(read(&forge(&bytes, from, to)), Err(Error::ModelAltered { .. })), "{to}");
    }
}

#[test]
fn containers_that_cannot_be_read_back_are_not_written() {
    let mut twice = container();
    twice.arrays.push(twice.arrays[0].clone());
    assert!(matches!(twice.to_bytes(), Err(Error::BadContainer { .. })));
    let mut short = container();
    short.arrays[2].shape = vec![7];
    assert!(matches!(short.to_bytes(), Err(Error::BadContainer { .. })));
}

proptest! {
    #[test]
    fn random_bytes_do_not_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        prop_assert!(read(&bytes).is_err());
    }
}
