//! How the bytes of a file become text and numbers: encodings, line ends, gzip, large numbers.

use std::io::Write;
use std::path::PathBuf;

use upoe_table::{Error, Place, ReadOptions, Table, TableNotice};

fn csv(text: &str) -> Result<Table, Error> {
    bytes("t.csv", text.as_bytes().to_vec())
}

fn strings(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| name.to_string()).collect()
}

fn data(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

/// Asserts the kind of an error and what its message must contain.
macro_rules! fails {
    ($result:expr, $pattern:pat, $($part:expr),*) => {{
        let error = $result.expect_err("should fail");
        assert!(matches!(error, $pattern), "{error:?}");
        let message = error.to_string();
        $(assert!(message.contains($part), "`{}` lacks `{}`", message, $part);)*
    }};
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), Default::default());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

fn bytes(name: &str, bytes: Vec<u8>) -> Result<Table, Error> {
    Table::from_bytes(name, bytes, &ReadOptions::default())
}

#[test]
fn gzip_is_unpacked_and_a_cut_is_noticed() {
    let text: String = (0..5000).map(|row| format!("{},{}\n", row * 7 % 13, row)).collect();
    let bytes = gzip(text.as_bytes());
    let options = ReadOptions::default();
    assert_eq!(Table::from_bytes("t.csv.gz", bytes.clone(), &options).unwrap().rows, 5000);
    let cut = Table::from_bytes("t.csv.gz", bytes[..bytes.len() / 2].to_vec(), &options);
    fails!(cut, Error::Truncated { .. }, "t.csv.gz", "cut short");
}

#[test]
fn utf_16_is_read_in_either_order_with_and_without_a_mark() {
    let text = "größe,b\n1,2.5\n3,4\n";
    let little = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    let big = |text: &str| text.encode_utf16().flat_map(u16::to_be_bytes).collect::<Vec<u8>>();
    let marked = format!("\u{feff}{text}");
    let all = [little(text), big(text), little(&marked), big(&marked), gzip(&little(&marked))];
    for encoded in all {
        let table = bytes("t.csv", encoded).unwrap();
        assert_eq!((&table.names[..], table.rows), (&strings(&["größe", "b"])[..], 2));
        assert_eq!(table.data, [1.0, 2.5, 3.0, 4.0]);
    }
    // half a character at the end is not a digit less
    let mut cut = little(text);
    cut.truncate(cut.len() - 3);
    fails!(bytes("t.csv", cut), Error::MixedColumn { .. }, "row 2 (line 3)", "`b`");
}

#[test]
fn lines_may_end_in_cr_alone() {
    for text in ["a,b\r1,2\r3,4\r", "a,b\r1,2\r3,4", "\"a\",b\r1,2\r\r3,4\r"] {
        let table = csv(text).unwrap();
        assert_eq!((table.names, table.data), (strings(&["a", "b"]), vec![1.0, 2.0, 3.0, 4.0]));
    }
    let table = csv("\"a\nb\",c\r1,2\r3,4\r").unwrap();
    assert_eq!((table.names, table.rows), (strings(&["a\nb", "c"]), 2));
    fails!(csv("a,b\r1,2\r3,x\r"), Error::MixedColumn { .. }, "row 2 (line 3)", "`x`");
    // a header longer than the buffer
    let names: Vec<String> = (0..60_000).map(|i| format!("column{i}")).collect();
    let cells = vec!["7"; 60_000].join(",");
    let table = csv(&format!("{}\r{cells}\r{cells}\r", names.join(","))).unwrap();
    assert_eq!((table.names.len(), table.rows), (60_000, 2));
}

#[test]
fn gzip_members_and_zeros_follow_one_another_and_nothing_else_does() {
    let (first, second) = (gzip(b"a,b\n1,2\n"), gzip(b"3,4\n"));
    let read = |parts: &[&[u8]]| bytes("t.csv.gz", parts.concat());
    for parts in
        [&[&first[..], &second][..], &[&first, &second, &[0; 700]], &[&first, &[0; 512], &second]]
    {
        assert_eq!(read(parts).unwrap().data, [1.0, 2.0, 3.0, 4.0]);
    }
    for rest in [&b"more"[..], b"\0\0more", b"\n"] {
        let error = read(&[&first, rest]);
        fails!(error, Error::TrailingBytes { .. }, "t.csv.gz", "follow the end of its gzip data");
    }
    let cut = read(&[&first, &second[..second.len() - 3]]);
    fails!(cut, Error::Truncated { .. }, "cut short");
    let npy = std::fs::read(data("le_f8.npy")).unwrap();
    assert_eq!(bytes("t.npy.gz", gzip(&npy)).unwrap().rows, 2);
    let longer = bytes("t.npy.gz", gzip(&[&npy[..], b"1"].concat()));
    fails!(longer, Error::BadNpy { .. }, "more bytes");
    let error = bytes("t.npy.gz", [&gzip(&npy)[..], b"more"].concat());
    fails!(error, Error::TrailingBytes { .. }, "t.npy.gz");
    let mut altered = gzip(&npy);
    let checksum = altered.len() - 8;
    altered[checksum] ^= 1;
    fails!(bytes("t.npy.gz", altered), Error::Damaged { .. }, "t.npy.gz");
    let mut altered = first.clone();
    altered[12] ^= 0xff;
    fails!(read(&[&altered]), Error::Damaged { .. }, "damaged", "download");
}

/// An NPY file of two rows of 64-bit integers.
fn npy(descr: &str, order: &str, numbers: [[u8; 8]; 4]) -> Vec<u8> {
    let header = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': (2, 2), }}");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(numbers.concat());
    bytes
}

#[test]
fn whole_numbers_that_are_rounded_are_noticed() {
    const EXACT: i64 = 1 << 53;
    let noticed = |table: Result<Table, Error>| table.unwrap().notices;
    let rounded = |column: &str, place, text: &str, value| {
        vec![TableNotice::Rounded { column: column.into(), place, text: text.into(), value }]
    };
    let (line, row) = (Place { row: 2, line: Some(3) }, Place { row: 2, line: None });
    let text = "9007199254740993";
    let expected = rounded("id", line, text, EXACT as f64);
    assert_eq!(noticed(csv(&format!("id,x\n1,2\n{text},4\n{text},7\n"))), expected);
    assert!(expected[0].is_warning());
    let said = expected[0].to_string();
    assert!(said.contains("`id`") && said.contains("row 2 (line 3): 9007199254740993"), "{said}");
    assert!(said.contains("9007199254740992"), "{said}");
    for exact in ["9007199254740992", "-18446744073709551616", "9007199254740993.5", "1e300", "1.5"]
    {
        assert_eq!(noticed(csv(&format!("id,x\n7,2\n{exact},4\n"))), [], "{exact}");
    }
    // the first row is judged as well, and so is a number without an end
    let first = Place { row: 1, line: Some(2) };
    let long = "-123456789012345678901234567890";
    let value: f64 = long.parse().unwrap();
    assert_eq!(noticed(csv(&format!("a,b\n{long},1\n2,3\n"))), rounded("a", first, long, value));

    let odd = EXACT + 1;
    let signed = [1, EXACT, -odd, 5].map(i64::to_le_bytes);
    let expected = rounded("c1", row, "-9007199254740993", -EXACT as f64);
    assert_eq!(noticed(bytes("t.npy", npy("<i8", "False", signed))), expected);
    let signed = [1, -odd, EXACT, 5].map(i64::to_be_bytes);
    assert_eq!(noticed(bytes("t.npy", npy(">i8", "True", signed))), expected);
    let unsigned = [1, 2, 3, u64::MAX].map(u64::to_le_bytes);
    let expected = rounded("c2", row, "18446744073709551615", u64::MAX as f64);
    assert_eq!(noticed(bytes("t.npy", npy("<u8", "False", unsigned))), expected);

    let options = ReadOptions::default().with(|o| o.columns = strings(&["u64"]));
    let table = Table::read(data("none.parquet"), &options);
    let place = Place { row: 1, line: None };
    let expected = rounded("u64", place, "18446744073709551615", u64::MAX as f64);
    assert_eq!(noticed(table), expected);
    let options = options.with(|o| {
        o.keep = strings(&["u64"]);
        o.exclude = strings(&["null"]);
    });
    let options = options.with(|o| o.columns = strings(&["f64"]));
    let table = Table::read(data("none.parquet"), &options).unwrap();
    assert_eq!(table.kept[0].get(0), Some("18446744073709551615"));
}

#[test]
fn matlab_integers_that_are_rounded_are_noticed() {
    let mut bytes = vec![b' '; 124];
    bytes.extend([0, 1]);
    bytes.extend(b"IM");
    let mut words = |words: &[u32]| words.iter().for_each(|word| bytes.extend(word.to_le_bytes()));
    words(&[14, 64, 6, 8, 14, 0, 5, 8, 1, 2]); // matrix, class int64, 1 × 2
    words(&[(1 << 16) | 1, u32::from_le_bytes(*b"x\0\0\0")]); // small element: the name
    words(&[12, 16, 7, 0, 1, 1 << 21]); // 7 and 2^53 + 1
    let table = Table::from_bytes("t.mat", bytes, &ReadOptions::default()).unwrap();
    let (column, place) = ("c2".into(), Place { row: 1, line: None });
    let (text, value) = ("9007199254740993".into(), 9007199254740992.0);
    assert_eq!(table.notices, [TableNotice::Rounded { column, place, text, value }]);
}

#[test]
fn a_last_number_without_a_line_end_is_noticed() {
    let noticed = |text: &str| csv(text).unwrap().notices;
    let notice = |row, line, text: &str| {
        let place = Place { row, line: Some(line) };
        vec![TableNotice::NoFinalNewline { column: "b".into(), place, text: text.into() }]
    };
    assert_eq!(noticed("a,b\n1,2\n3,4.5"), notice(2, 3, "4.5"));
    assert_eq!(noticed("a,b\n1,2\n3,\"4\""), notice(2, 3, "4"));
    assert_eq!(noticed("a,b\r1,2\r3,4 "), notice(2, 3, "4"));
    assert!(!notice(2, 3, "4")[0].is_warning());
    // ended, of one line, or with nothing modelled at the end
    for text in ["a,b\n1,2\n3,4\n", "a,b\r\n1,2\r\n3,4\r\n", "a,b\n1,2\n3,\"4\"\n", "1,7"] {
        assert_eq!(noticed(text), [], "{text}");
    }
    let notices = noticed("a,b\n1,x\n3,y");
    assert!(matches!(notices[..], [TableNotice::TextColumn { .. }]), "{notices:?}");
}
