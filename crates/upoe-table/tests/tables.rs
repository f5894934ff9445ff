//! What every kind of table file gives, and what every kind of bad file says.

use std::ops::ControlFlow;
use std::path::PathBuf;

use upoe_table::{
    Error, FileError, Header, MissingCells, ReadOptions, Table, TableNotice, TextKind,
};

fn csv(text: &str) -> Result<Table, Error> {
    csv_with(text, &ReadOptions::default())
}

fn csv_with(text: &str, options: &ReadOptions) -> Result<Table, Error> {
    Table::from_bytes("t.csv", text.as_bytes().to_vec(), options)
}

fn strings(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| name.to_string()).collect()
}

fn data(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

fn read(name: &str) -> Result<Table, Error> {
    Table::read(data(name), &ReadOptions::default())
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

#[test]
fn a_header_is_a_first_row_without_numbers() {
    let table = csv("a,b\n1,2\n3,4.5e0\n").unwrap();
    assert_eq!((table.names, table.named, table.rows), (strings(&["a", "b"]), true, 2));
    assert_eq!(table.data, [1.0, 2.0, 3.0, 4.5]);
    let table = csv("1,x\n2,y").unwrap();
    assert_eq!((table.names, table.named), (strings(&["c1"]), false));
    let years = ReadOptions::default().with(|o| o.header = Header::Yes);
    assert_eq!(csv_with("2019,2020\n1,2", &years).unwrap().names, ["2019", "2020"]);
    let none = ReadOptions::default().with(|o| o.header = Header::No);
    fails!(csv_with("a\n1", &none), Error::MixedColumn { .. }, "row 1 (line 1)", "`a`");
}

#[test]
fn numbers_are_read_to_the_last_bit() {
    let cells =
        ["0.1", "-0", "+2", "1e-320", " 7 ", "\"3.5\"", "1.7976931348623157e308", ".5", "5."];
    let table = csv(&format!("x\n{}\n", cells.join("\n"))).unwrap();
    for (text, value) in cells.iter().zip(&table.data) {
        let expected: f64 = text.trim_matches(['"', ' ']).parse().unwrap();
        assert_eq!(expected.to_bits(), value.to_bits(), "{text}");
    }
}

#[test]
fn separators_quotes_bom_and_line_ends() {
    let table = csv("\u{feff}\"a, b\",\"c\"\"d\"\r\n1,2\r\n\r\n3,4\r\n").unwrap();
    assert_eq!((table.names, table.data), (strings(&["a, b", "c\"d"]), vec![1.0, 2.0, 3.0, 4.0]));
    let options = ReadOptions::default();
    let table = Table::from_bytes("t.tsv", b"a\tb,c\n1\t2\n".to_vec(), &options).unwrap();
    assert_eq!(table.names, ["a", "b,c"]);
    assert_eq!(csv("a;b\n1;2\n").unwrap().data, [1.0, 2.0]);
    assert_eq!(csv("a\tb\n1\t2\n").unwrap().data, [1.0, 2.0]);
}

#[test]
fn text_columns_are_left_out_unless_asked_for() {
    let text = "id,x\nB,1\nM,2\n";
    let table = csv(text).unwrap();
    assert_eq!((table.names, table.data), (strings(&["x"]), vec![1.0, 2.0]));
    let notice =
        TableNotice::TextColumn { column: "id".into(), example: "B".into(), kind: TextKind::Text };
    assert_eq!(table.notices, [notice]);
    // text that shows late is left out too
    let table = csv("id,x\n,1\n,2\nM,4\n").unwrap();
    assert_eq!((table.names, table.data), (strings(&["x"]), vec![1.0, 2.0, 4.0]));
    let options = ReadOptions::default().with(|o| o.columns = strings(&["id", "x"]));
    fails!(csv_with(text, &options), Error::TextColumn { .. }, "t.csv", "`id`", "carry it along");
    let table = csv("e,x\nNA,1\n,2\n").unwrap();
    assert_eq!(table.notices, [TableNotice::EmptyColumn { column: "e".into() }]);
    fails!(csv("a,b\nx,y\n"), Error::NoNumericColumns { .. }, "no column holds numbers", "a, b");
}

#[test]
fn a_column_of_numbers_and_text_names_its_first_bad_cell() {
    let parts = ["t.csv", "row 2 (line 3)", "`x`", "`1O`", "NA", "leave the column out"];
    fails!(
        csv("x,y\n1,2\n1O,3\n"),
        Error::MixedColumn { .. },
        parts[0],
        parts[1],
        parts[2],
        parts[3],
        parts[4],
        parts[5]
    );
    // text first, number later: the text is at fault
    fails!(csv("x,y\nten,2\n3,3\n"), Error::MixedColumn { .. }, "row 1 (line 2)", "`ten`");
    // the line is that of the file, past blank lines and quoted line ends
    fails!(csv("x,y\n\n\"1\",2\n\n3,z\n"), Error::MixedColumn { .. }, "row 2 (line 5)", "`z`");
}

#[test]
fn missing_cells_stop_or_drop() {
    let text = "id,x,y,w\na,1,2,1\nb,,3,1\nc,4,N/A,1\nd,5,6,null\ne,7,8,2\n";
    fails!(csv(text), Error::MissingCell { .. }, "row 2 (line 3)", "`x`", "leave out such rows");
    for word in ["", "NA", "n/a", "NULL", "NaN", "-nan", "\"\"", " "] {
        fails!(csv(&format!("x,y\n1,2\n{word},3\n")), Error::MissingCell { .. }, "row 2");
        fails!(csv(&format!("x,y\n{word},2\n1,3\n")), Error::MissingCell { .. }, "row 1");
    }
    let options = ReadOptions::default().with(|o| {
        o.keep = strings(&["id"]);
        o.weights = Some("w".into());
        o.groups = Some("id".into());
        o.missing = MissingCells::Drop;
    });
    let table = csv_with(text, &options).unwrap();
    assert_eq!((table.rows, table.data), (2, vec![1.0, 2.0, 7.0, 8.0]));
    assert_eq!(table.kept[0].iter().collect::<Vec<_>>(), ["a", "e"]);
    assert_eq!(table.groups.unwrap().iter().collect::<Vec<_>>(), ["a", "e"]);
    assert_eq!((table.weights.unwrap(), table.dropped), (vec![1.0, 2.0], vec![2, 3, 4]));
    assert_eq!(table.notices, [TableNotice::DroppedRows { dropped: 3, rows: 5 }]);
    fails!(
        csv_with("id,w,x,y\n,1,,1\n,1,2,\n", &options),
        Error::AllRowsDropped { .. },
        "every row"
    );
}

#[test]
fn an_empty_line_is_a_missing_cell_of_a_single_column() {
    fails!(csv("x\n1\n\n2\n"), Error::MissingCell { .. }, "row 2 (line 3)");
    assert_eq!(csv("x\n1\n2\n\n\n").unwrap().rows, 2);
    assert_eq!(csv("\n\nx\n\n1\n2\n").unwrap().rows, 2);
}

#[test]
fn infinite_cells_are_errors() {
    for word in ["inf", "-Infinity", "1e400", "-1e999"] {
        let text = format!("x,y\n1,2\n3,{word}\n");
        fails!(csv(&text), Error::NonFinite { .. }, "row 2 (line 3)", "`y`", word, "NA");
        fails!(csv(&format!("x\n{word}\n")), Error::NonFinite { .. }, "row 1");
    }
}

#[test]
fn weights_must_be_numbers_that_are_not_negative() {
    let options = ReadOptions::default().with(|o| o.weights = Some("w".into()));
    fails!(csv_with("x,w\n1,-2\n", &options), Error::NegativeWeight { .. }, "row 1", "-2");
    fails!(csv_with("x,w\n1,a\n", &options), Error::TextColumn { .. }, "`w`", "`a`");
    fails!(csv_with("x,w\n1,\n", &options), Error::MissingCell { .. }, "`w`");
    fails!(csv_with("x,w\n1,inf\n", &options), Error::NonFinite { .. }, "`w`");
}

#[test]
fn bad_text_files_each_have_their_error() {
    fails!(csv(""), Error::Empty { .. }, "t.csv", "empty");
    fails!(csv("\n\n"), Error::Empty { .. }, "empty");
    fails!(csv("a,b\n"), Error::HeaderOnly { .. }, "no rows");
    fails!(csv("a,b\n1,2\n3\n"), Error::Ragged { .. }, "row 2 (line 3)", "1 cell where", "has 2");
    fails!(csv("a,b\n1,\"2\n3,4\n5,6\n"), Error::UnclosedQuote { .. }, "row 1 (line 2)", "quote");
    fails!(csv("Logger 3\n\na,b\n1,2\n"), Error::Ragged { .. }, "2 cells", "skip the lines above");
    let options = ReadOptions::default().with(|o| o.columns = strings(&["heigth"]));
    let error = csv_with("height,b\n1,2\n", &options);
    fails!(error, Error::UnknownColumn { .. }, "did you mean `height`?");
    let options = ReadOptions::default();
    let latin = Table::from_bytes("t.csv", b"a,b\n1,2\n3,caf\xe9\n".to_vec(), &options);
    fails!(latin, Error::NotUtf8 { .. }, "row 2 (line 3)", "column 2", "iconv");
}

#[test]
fn missing_files_and_directories() {
    let directory = tempfile::tempdir().unwrap();
    let options = ReadOptions::default();
    fails!(
        Table::read(directory.path().join("no.csv"), &options),
        Error::File(FileError::NotFound { .. }),
        "no.csv"
    );
    fails!(
        Table::read(directory.path(), &options),
        Error::File(FileError::IsDirectory { .. }),
        "directory"
    );
}

#[test]
fn every_dtype_of_numpy_gives_the_same_numbers() {
    let all = "i1 u1 le_i2 be_i2 le_u2 le_i4 be_u4 le_i8 be_i8 le_u8 le_f2 be_f2 le_f4 be_f4 le_f8 be_f8 fortran";
    for name in all.split(' ') {
        let table = read(&format!("{name}.npy")).unwrap();
        assert_eq!(table.data, [0.0, 1.0, 2.0, 3.0, 4.0, 100.0], "{name}");
        assert_eq!((table.rows, table.names), (2, strings(&["c1", "c2", "c3"])), "{name}");
    }
    assert_eq!(read("bool.npy").unwrap().data, [0.0, 1.0, 1.0, 1.0, 1.0, 1.0]);
    assert_eq!(read("one_dimension.npy").unwrap().data, [1.5, 2.5, -1.0]);
    fails!(read("three_dimensions.npy"), Error::NotTwoDimensional { dimensions: 3, .. }, "reshape");
    fails!(read("complex.npy"), Error::UnsupportedDtype { .. }, "<c16", "astype");
    fails!(read("structured.npy"), Error::UnsupportedDtype { .. }, "astype");
}

#[test]
fn roles_work_without_names() {
    let columns = |names: &[&str]| ReadOptions::default().with(|o| o.columns = strings(names));
    let kept = columns(&["3", "c1"]).with(|o| o.keep = strings(&["2"]));
    let weighted = columns(&["3"]).with(|o| o.weights = Some("1".into()));
    for name in ["fortran.npy", "le_f8.npy", "plain.mat"] {
        let table = Table::read(data(name), &kept).unwrap();
        assert_eq!(table.data, [2.0, 0.0, 100.0, 3.0], "{name}");
        assert_eq!(table.kept[0].iter().collect::<Vec<_>>(), ["1", "4"], "{name}");
        let table = Table::read(data(name), &weighted).unwrap();
        assert_eq!(
            (table.data, table.weights.unwrap()),
            (vec![2.0, 100.0], vec![0.0, 3.0]),
            "{name}"
        );
        let both = weighted.clone().with(|o| o.columns.push("c1".into()));
        fails!(Table::read(data(name), &both), Error::TwoRoles { .. }, "c1");
    }
}

/// An NPY file with any header.
fn npy(header: &str, body: &[u8]) -> Result<Table, Error> {
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(body);
    Table::from_bytes("t.npy", bytes, &ReadOptions::default())
}

#[test]
fn wrong_npy_headers_are_errors_and_allocate_nothing() {
    let header = |descr: &str, shape: &str| {
        format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}")
    };
    assert_eq!(npy(&header("'<f8'", "(1, 1)"), &[0; 8]).unwrap().rows, 1);
    for shape in ["(1000000000000, 3)", "(18446744073709551615, 18446744073709551615)", "(2, 1)"] {
        fails!(npy(&header("'<f8'", shape), &[0; 8]), Error::Truncated { .. }, "t.npy", "promises");
    }
    fails!(npy(&header("'<f8'", "(1, 1)"), &[0; 9]), Error::BadNpy { .. }, "more bytes");
    fails!(npy(&header("'<f8'", "(-1, 1)"), &[]), Error::BadNpy { .. }, "whole numbers");
    fails!(npy(&header("'|O'", "(1, 1)"), &[]), Error::UnsupportedDtype { .. }, "|O");
    fails!(npy(&header("'<f8'", "(0, 999999999999)"), &[]), Error::Empty { .. }, "t.npy");
    fails!(npy("{}", &[]), Error::BadNpy { .. }, "descr");
    fails!(npy("'descr': é", &[]), Error::UnsupportedDtype { .. }, "t.npy");
    let text = Table::from_bytes("t.npy", b"1,2\n3,4\n5,6\n".to_vec(), &ReadOptions::default());
    fails!(text, Error::BadNpy { .. }, "signature");
}

#[test]
fn parquet_gives_numbers_of_every_type() {
    let options = ReadOptions::default().with(|o| {
        o.keep = strings(&["id", "day", "i64"]);
        o.exclude = strings(&["null", "dec"]);
    });
    let table = Table::read(data("none.parquet"), &options).unwrap();
    assert_eq!(table.names, ["bool", "i8", "u32", "u64", "f16", "f32", "f64"]);
    assert_eq!(table.data[..7], [1.0, 1.0, 4294967295.0, 18446744073709551615.0, 0.5, 0.25, 0.1]);
    assert_eq!(table.data[28..], [0.0, 5.0, 3.0, 3.0, 0.0, 5.0, 5.0]);
    assert_eq!(table.kept[0].iter().collect::<Vec<_>>(), ["a", "b", "", "d", "é"]);
    assert_eq!(table.kept[2].iter().collect::<Vec<_>>(), ["-5", "4", "3", "2", "1"]);

    let drop = ReadOptions::default().with(|o| o.missing = MissingCells::Drop);
    let drop = drop.with(|o| o.columns = strings(&["dec", "null"]));
    let table = Table::read(data("none.parquet"), &drop).unwrap();
    assert_eq!(table.data, [1.25, 1.0, 1.25, 3.0, -0.5, 4.5]);
    assert_eq!(table.dropped, [2, 5]);
    fails!(read("none.parquet"), Error::MissingCell { .. }, "row 2", "`null`");
    let named = ReadOptions::default().with(|o| o.columns = strings(&["day"]));
    fails!(Table::read(data("none.parquet"), &named), Error::TextColumn { .. }, "`day`", "date");
}

#[test]
fn parquet_is_read_through_every_codec() {
    let options = ReadOptions::default().with(|o| o.exclude = strings(&["null"]));
    for codec in ["snappy", "gzip", "zstd", "lz4"] {
        let table = Table::read(data(&format!("{codec}.parquet")), &options).unwrap();
        assert_eq!(table.names, ["i8", "f64"], "{codec}");
        let expected = [1.0, 0.1, -2.0, 1e300, 3.0, -2.0, -4.0, 3.0, 5.0, 5.0];
        assert_eq!(table.data, expected, "{codec}");
        let notice = TableNotice::TextColumn {
            column: "id".into(),
            example: "text".into(),
            kind: TextKind::Text,
        };
        assert_eq!(table.notices, [notice]);
    }
}

#[test]
fn matlab_files_of_either_kind() {
    for name in ["plain.mat", "deflated.mat"] {
        assert_eq!(read(name).unwrap().data, [0.0, 1.0, 2.0, 3.0, 4.0, 100.0], "{name}");
    }
    assert_eq!(read("single.mat").unwrap().data, [1.5, -2.0]);
    fails!(read("several.mat"), Error::SeveralMatrices { .. }, "a, small", "several.mat:a");
    assert_eq!(read("several.mat:small").unwrap().data, [7.0]);
    fails!(read("several.mat:smal"), Error::NoMatrix { .. }, "did you mean `small`?");
    fails!(read("several.mat:z"), Error::NoMatrix { .. }, "real");
    let version = |bytes: &[u8]| {
        let mut header = bytes.to_vec();
        header.resize(200, 0);
        Table::from_bytes("t.mat", header, &ReadOptions::default())
    };
    fails!(version(b"MATLAB 7.3 MAT-file"), Error::BadMat { .. }, "7.3", "-v7");
    fails!(version(b"something"), Error::BadMat { .. }, "t.mat");
}

/// Big-endian: the same file with every word turned round, as a big machine writes it.
#[test]
fn matlab_files_of_big_machines() {
    let mut bytes = vec![b' '; 124];
    bytes.extend([1, 0]);
    bytes.extend(b"MI");
    let mut words = |words: &[u32]| words.iter().for_each(|word| bytes.extend(word.to_be_bytes()));
    words(&[14, 64, 6, 8, 6, 0, 5, 8, 1, 2]); // matrix, class double, 1 × 2
    words(&[(1 << 16) | 1, u32::from_be_bytes(*b"x\0\0\0")]); // small element: the name
    words(&[9, 16, 0x3ff80000, 0, 0xc0000000, 0]);
    let table = Table::from_bytes("t.mat", bytes, &ReadOptions::default()).unwrap();
    assert_eq!(table.data, [1.5, -2.0]);
}

#[test]
fn files_cut_anywhere_are_errors() {
    for name in ["none.parquet", "zstd.parquet", "le_f8.npy", "plain.mat", "deflated.mat"] {
        let bytes = std::fs::read(data(name)).unwrap();
        let options = ReadOptions::default().with(|o| o.columns = strings(&["1"]));
        for length in (0..bytes.len()).step_by(7) {
            let cut = Table::from_bytes(name, bytes[..length].to_vec(), &options);
            assert!(cut.is_err(), "{name} at {length}");
        }
        let half = Table::from_bytes(name, bytes[..bytes.len() / 2].to_vec(), &options);
        let message = half.unwrap_err().to_string();
        assert!(message.starts_with(name), "{message}");
    }
}

#[test]
fn a_model_finds_its_columns() {
    let model = strings(&["y", "x"]);
    let table = csv("x,z,y\n1,2,3\n4,5,6\n").unwrap().align(&model).unwrap();
    assert_eq!((table.data, table.names), (vec![3.0, 1.0, 6.0, 4.0], model.clone()));
    assert_eq!(table.notices, [TableNotice::ExtraColumns { columns: strings(&["z"]) }]);
    let options = ReadOptions::default().with(|o| o.model_columns = Some(model.clone()));
    assert_eq!(csv_with("x,z,y\n1,2,3\n4,5,6\n", &options).unwrap().data, [3.0, 1.0, 6.0, 4.0]);
    // a column the model does not need may hold anything
    assert_eq!(csv_with("x,z,y\n1,2,3\n4,?,6\n", &options).unwrap().rows, 2);
    fails!(
        csv("x,Y\n1,2\n").unwrap().align(&model),
        Error::MissingColumns { .. },
        "did you mean `Y`?"
    );
    fails!(
        csv_with("1,2,3\n", &options),
        Error::ColumnCount { found: 3, expected: 2, .. },
        "3 columns"
    );
    let unnamed = csv_with("1,2\n", &options).unwrap();
    assert_eq!(unnamed.data, [1.0, 2.0]);
    assert!(unnamed.notices.contains(&TableNotice::ByPosition { columns: model.clone() }));
    assert_eq!(csv("1,2\n").unwrap().align(&model).unwrap().data, [1.0, 2.0]);
}

#[test]
fn progress_is_told_and_can_interrupt() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("t.csv");
    let text: String = (0..200_000).map(|row| format!("{row},{}\n", row % 7)).collect();
    std::fs::write(&path, &text).unwrap();
    let options = ReadOptions::default();
    let mut seen = Vec::new();
    let table = Table::read_with(&path, &options, &mut |done, total, rows| {
        seen.push((done, total, rows));
        ControlFlow::Continue(())
    });
    let length = text.len() as u64;
    assert_eq!(
        (table.unwrap().rows, seen.last()),
        (200_000, Some(&(length, Some(length), 200_000)))
    );
    assert!(seen.len() > 3 && seen.is_sorted());
    let stopped = Table::read_with(&path, &options, &mut |_, _, _| ControlFlow::Break(()));
    fails!(stopped, Error::Interrupted, "interrupted");
    // a file that shrinks meanwhile
    let shrunk = Table::read_with(&path, &options, &mut |_, _, _| {
        std::fs::File::options().write(true).open(&path).unwrap().set_len(300_000).unwrap();
        ControlFlow::Continue(())
    });
    fails!(shrunk, Error::Shrank { .. }, "t.csv", "changed");
}
