//! No bytes make a reader panic, or ask for much more memory than there are bytes.

use proptest::prelude::*;
use upoe_table::{MissingCells, ReadOptions, Table};

fn fixtures() -> Vec<(String, Vec<u8>)> {
    let data = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data");
    let mut all: Vec<_> = std::fs::read_dir(data)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension != "py"))
        .map(|path| {
            (path.file_name().unwrap().to_str().unwrap().to_owned(), std::fs::read(path).unwrap())
        })
        .collect();
    all.push(("t.csv".into(), b"id,x,\"y\"\na,1,2\n\"b\n\",3,NA\n".to_vec()));
    all.sort();
    all
}

fn read(name: &str, bytes: Vec<u8>) {
    let options = ReadOptions::default().with(|o| o.missing = MissingCells::Drop);
    if let Ok(table) = Table::from_bytes(name, bytes, &options) {
        assert_eq!(table.data.len(), table.rows * table.names.len());
        assert!(table.data.iter().all(|value| value.is_finite()));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn random_bytes(
        bytes in proptest::collection::vec(any::<u8>(), 0..300),
        name in "t\\.(csv|tsv|npy|mat|parquet|txt|xlsx|jsonl|arrow)",
    ) {
        read(&name, bytes);
    }

    #[test]
    fn random_text(text in "[0-9a,.;\"\n\r\t eENn/A+-]{0,60}") {
        read("t.csv", text.into_bytes());
    }

    #[test]
    fn damaged_files(
        file in any::<prop::sample::Index>(),
        damage in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let all = fixtures();
        let (name, mut bytes) = all[file.index(all.len())].clone();
        for (at, byte) in damage {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        read(&name, bytes);
    }
}
