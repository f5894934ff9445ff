//! Excel workbooks, JSON lines and Arrow files: the same rules as for CSV.

use std::io::{Cursor, Read, Write};
use std::path::PathBuf;

use upoe_table::{Error, MissingCells, ReadOptions, Table, TableNotice, TextKind};
use zip::write::SimpleFileOptions;

fn strings(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| name.to_string()).collect()
}

fn data(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

fn read(name: &str, options: &ReadOptions) -> Result<Table, Error> {
    Table::read(data(name), options)
}

fn bytes(name: &str, bytes: impl AsRef<[u8]>) -> Result<Table, Error> {
    Table::from_bytes(name, bytes.as_ref().to_vec(), &keep_missing())
}

fn keep_missing() -> ReadOptions {
    ReadOptions::default().with(|o| o.missing = MissingCells::Keep)
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

/// A copy of the workbook with a part replaced.
fn workbook(part: &str, content: &str) -> Vec<u8> {
    replaced(std::fs::read(data("book.xlsx")).unwrap(), part, content)
}

fn replaced(book: Vec<u8>, part: &str, content: &str) -> Vec<u8> {
    let mut book = zip::ZipArchive::new(Cursor::new(book)).unwrap();
    let mut copy = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for index in 0..book.len() {
        let mut old = book.by_index(index).unwrap();
        let name = old.name().unwrap().into_owned();
        copy.start_file(&name, SimpleFileOptions::default()).unwrap();
        let mut bytes = Vec::new();
        old.read_to_end(&mut bytes).unwrap();
        if name.contains("sheet3") {
            bytes = b"<worksheet><sheetData></sheetData></worksheet>".to_vec();
        }
        copy.write_all(if name == part { content.as_bytes() } else { &bytes }).unwrap();
    }
    if book.index_for_name(part).is_none() {
        copy.start_file(part, SimpleFileOptions::default()).unwrap();
        copy.write_all(content.as_bytes()).unwrap();
    }
    copy.finish().unwrap().into_inner()
}

/// The workbook with these rows of XML in its second sheet, the first with numbers.
fn sheet(rows: &str) -> Result<Table, Error> {
    let xml = format!("<worksheet><sheetData>{rows}</sheetData></worksheet>");
    bytes("t.xlsx", workbook("xl/worksheets/sheet2.xml", &xml))
}

#[test]
fn the_first_sheet_with_numbers_is_read_by_the_rules_for_csv() {
    let options = keep_missing().with(|o| o.keep = strings(&["id"]));
    let table = read("book.xlsx", &options).unwrap();
    assert_eq!(table.names, ["FL", "CL", "ok"]);
    assert_eq!(table.rows, 3);
    assert_eq!(table.data[..3], [1.5, 2.25, 1.0]);
    assert!(table.data[4].is_nan() && table.data[7].is_nan());
    assert_eq!((table.data[3], table.data[5], table.data[6]), (2.0, 0.0, -1e-3));
    assert_eq!(table.kept[0].iter().collect::<Vec<_>>(), ["a", "b", "c"]);
    let text = |column: &str, example: &str, kind| TableNotice::TextColumn {
        column: column.into(),
        example: example.into(),
        kind,
    };
    let expected = [
        TableNotice::Titles { rows: 1 },
        TableNotice::Sheet { sheet: "Measured".into(), sheets: 4 },
        text("day", "2024-01-31", TextKind::Dates),
        text("sp", "B", TextKind::Text),
        TableNotice::EmptyColumn { column: "c7".into() },
    ];
    for notice in &expected {
        assert!(table.notices.contains(notice), "{notice:?} is not in {:?}", table.notices);
    }
    // texts may be in a part of their own
    let shared =
        "<sst uniqueCount=\"2\"><si><t>x</t></si><si><r><t>1.</t></r><r><t>5</t></r></si></sst>";
    let rows = r#"<row><c t="s"><v>0</v></c></row><row><c t="s"><v>1</v></c></row>"#;
    let mut both = workbook("xl/sharedStrings.xml", shared);
    let xml =
        format!("<worksheet><sheetData>{rows}<row><c><v>2</v></c></row></sheetData></worksheet>");
    both = replaced(both, "xl/worksheets/sheet2.xml", &xml);
    let table = bytes("t.xlsx", both).unwrap();
    assert_eq!((&table.names[..], &table.data[..]), (&strings(&["x"])[..], &[1.5, 2.0][..]));
    // the row is that of the sheet, which has a blank one
    let error = read("book.xlsx", &ReadOptions::default().with(|o| o.columns = strings(&["CL"])));
    fails!(error, Error::MissingCell { .. }, "row 2 (line 6)", "`CL`");
    let kept = ReadOptions::default().with(|o| {
        o.columns = strings(&["FL"]);
        o.keep = strings(&["day", "ok"]);
    });
    let kept = read("book.xlsx", &kept).unwrap().kept;
    assert_eq!(
        kept[0].iter().collect::<Vec<_>>(),
        ["2024-01-31", "2024-02-01 12:30:00", "2024-02-02"]
    );
    assert_eq!(kept[1].get(1), Some("0"));
}

#[test]
fn a_sheet_is_chosen_by_its_name() {
    let table = read("book.xlsx:Other", &ReadOptions::default()).unwrap();
    assert_eq!((&table.names[..], table.rows), (&strings(&["c1", "c2"])[..], 2));
    assert_eq!(table.data, [1.0, 2.0, 3.0, 4.0]);
    assert_eq!(read("book.xlsx:Away", &ReadOptions::default()).unwrap().data, [9.0, 9.0]);
    let error = read("book.xlsx:Mesured", &ReadOptions::default());
    fails!(error, Error::NoSheet { .. }, "called `Mesured` (did you mean `Measured`?)", "Other");
    let error = read("book.xlsx:Read me", &ReadOptions::default());
    fails!(error, Error::HeaderOnly { .. }, "book.xlsx");
}

#[test]
fn blocks_of_every_format_are_the_whole() {
    for name in ["book.xlsx:Other", "none.feather", "stream.arrows"] {
        let options = keep_missing();
        let whole = read(name, &options).unwrap();
        let (mut rows, mut cells, mut blocks) = (0, Vec::new(), 0);
        let go_on = &mut |_, _, _| std::ops::ControlFlow::Continue(());
        Table::read_blocks(data(name), &options, 1, go_on, &mut |block| {
            (rows, blocks) = (rows + block.rows, blocks + 1);
            cells.extend(block.data);
            Ok(())
        })
        .unwrap();
        assert_eq!((rows, blocks > 1), (whole.rows, true), "{name}");
        assert_eq!(format!("{cells:?}"), format!("{:?}", whole.data), "{name}");
    }
}

#[test]
fn bad_workbooks_say_what_is_wrong() {
    fails!(bytes("t.xlsx", "a,b\n1,2\n"), Error::BadXlsx { .. }, "t.xlsx", "call it .csv");
    fails!(bytes("t.xlsx", ""), Error::Empty { .. }, "is empty");
    fails!(bytes("t.xlsx", b"\xd0\xcf\x11\xe0\xa1\xb1"), Error::BadXlsx { .. }, "password");
    fails!(bytes("t.xls", b"\xd0\xcf\x11\xe0\xa1\xb1"), Error::Archive { .. }, "Excel");
    let book = std::fs::read(data("book.xlsx")).unwrap();
    fails!(bytes("t.csv", &book), Error::Archive { .. }, "save the table");
    fails!(bytes("t.xlsx", &book[..book.len() / 2]), Error::BadXlsx { .. }, "t.xlsx");
    fails!(sheet(""), Error::NoSheet { .. }, "no sheet with numbers", "Measured", "Away");
    let header = r#"<row r="1"><c r="A1" t="str"><v>x</v></c><c r="B1" t="str"><v>y</v></c></row>"#;
    let beside =
        format!(r#"{header}<row r="2"><c r="A2"><v>1</v></c><c r="D2"><v>2</v></c></row>"#);
    fails!(sheet(&beside), Error::OutsideTable { .. }, "cell D2", "`Measured`", "clear the cell");
    let mixed = format!(
        r##"{header}<row r="2"><c r="A2"><v>1</v></c></row>
        <row r="9"><c r="A9" t="e"><v>#DIV/0!</v></c></row>"##
    );
    fails!(sheet(&mixed), Error::MixedColumn { .. }, "row 2 (line 9)", "`x`", "#DIV/0!");
    let back = format!(
        r#"{header}<row r="9"><c r="A9"><v>1</v></c></row><row r="2"><c r="A2"><v>1</v></c></row>"#
    );
    fails!(sheet(&back), Error::BadXlsx { .. }, "not in order");
    let far = format!(r#"{header}<row r="2"><c r="ZZZ2"><v>1</v></c></row>"#);
    fails!(sheet(&far), Error::BadXlsx { .. }, "no sheet has");
}

#[test]
fn a_small_workbook_does_not_become_a_large_table() {
    // one cell far to the right in each of many rows
    let rows: String = (1..40_000)
        .map(|row| format!(r#"<row r="{row}"><c r="A{row}"><v>1</v></c></row>"#))
        .collect();
    let wide = format!(
        r#"<row r="1"><c r="A1" t="str"><v>x</v></c><c r="XFD1" t="str"><v>y</v></c></row>{}"#,
        &rows[35..]
    );
    fails!(sheet(&wide), Error::MostlyEmpty { .. }, "16384 columns", "empty");
    // more texts claimed than there are: the reader would set memory aside for them
    let sst = r#"<sst uniqueCount="99999999999999"><si><t>a</t></si></sst>"#;
    let error = bytes("t.xlsx", workbook("xl/sharedStrings.xml", sst));
    fails!(error, Error::BadXlsx { .. }, "claims more texts");
    let zeros = " ".repeat(40 << 20);
    let error = bytes("t.xlsx", workbook("xl/sharedStrings.xml", &zeros));
    fails!(error, Error::BadXlsx { .. }, "unpacks to more");
    let endless = format!(r#"<row r="1"><c r="A1" t="str"><v>{}</v></c></row>"#, &zeros[..2 << 20]);
    fails!(sheet(&endless), Error::BadXlsx { .. }, "never ends");
    let comments = format!("<!-- {} -->", "<a>".repeat(20 << 20));
    fails!(sheet(&comments), Error::BadXlsx { .. }, "comments");
}

#[test]
fn json_lines_are_read_by_key() {
    let text = concat!(
        "\u{feff}{\"id\": \"a\", \"x\": 1, \"y\": 2.5e0, \"ok\": true, \"tags\": [1, 2]}\n\n",
        "{\"y\": \"3\", \"x\": null, \"id\": \"b\\n\", \"ok\": false, \"tags\": {}}\r\n",
        "{\"id\": null, \"x\": -7, \"y\": \"NA\", \"z\": 1}",
    );
    let options = keep_missing().with(|o| o.keep = strings(&["id"]));
    let table = Table::from_bytes("t.jsonl", text.as_bytes().to_vec(), &options).unwrap();
    assert_eq!((&table.names[..], table.rows), (&strings(&["x", "y", "ok", "z"])[..], 3));
    assert_eq!(table.data[..3], [1.0, 2.5, 1.0]);
    assert_eq!((table.data[5], table.data[6], table.data[8]), (3.0, 0.0, -7.0));
    assert_eq!(table.data.iter().filter(|cell| cell.is_nan()).count(), 5);
    assert_eq!(table.kept[0].iter().collect::<Vec<_>>(), ["a", "b\n", ""]);
    let left = TableNotice::TextColumn {
        column: "tags".into(),
        example: "[1, 2]".into(),
        kind: TextKind::Text,
    };
    assert_eq!(table.notices, [left]);
    // also packed, under another ending, or without one
    let plain = "{\"a\": 9007199254740993, \"b\": 1}\n{\"a\": 2, \"b\": 3}\n";
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), Default::default());
    packed.write_all(plain.as_bytes()).unwrap();
    for (name, bytes) in
        [("t.ndjson.gz", packed.finish().unwrap()), ("t", plain.into()), ("t.json", plain.into())]
    {
        let table = self::bytes(name, bytes).unwrap();
        assert_eq!(table.data, [9007199254740992.0, 1.0, 2.0, 3.0], "{name}");
        let notice = table.notices.first().expect("a whole number is rounded").to_string();
        assert!(notice.contains("row 1 (line 1): 9007199254740993"), "{notice}");
    }
}

#[test]
fn keys_that_come_late_are_named() {
    let mut text: String = (0..1200).map(|row| format!("{{\"x\": {}}}\n", row * row % 7)).collect();
    text += "{\"x\": 1, \"late\": 2}\n";
    let table = bytes("t.jsonl", &text).unwrap();
    assert_eq!((table.rows, table.data[1200]), (1201, 1.0));
    let notice = TableNotice::LateColumns { columns: strings(&["late"]) };
    assert!(table.notices.contains(&notice), "{:?}", table.notices);
}

#[test]
fn bad_json_names_the_line() {
    let bad = |text: &str| bytes("t.jsonl", text);
    fails!(bad("{\"x\": 1}\n{\"x\": 1,}\n"), Error::BadJson { .. }, "row 2 (line 2)", "character");
    fails!(bad("{\"x\": NaN}\n"), Error::BadJson { .. }, "write null");
    fails!(bad("[{\"x\": 1}, {\"x\": 2}]"), Error::BadJson { .. }, "an object per line");
    fails!(bad("{\n\"x\": 1\n}\n"), Error::BadJson { .. }, "several lines");
    fails!(bad("7\n"), Error::BadJson { .. }, "line 1", "an object such as");
    fails!(bad("\n \n"), Error::Empty { .. }, "is empty");
    fails!(bad("{}\n"), Error::NoNumericColumns { .. }, "t.jsonl");
    fails!(
        bad("{\"x\": 1}\n{\"x\": \"one\"}\n"),
        Error::MixedColumn { .. },
        "row 2 (line 2)",
        "`one`"
    );
    let wide: String = (0..5000).map(|row| format!("{{\"k{row}\": 1}}\n")).collect();
    fails!(bad(&wide.repeat(2)), Error::MostlyEmpty { .. }, "columns");
}

#[test]
fn arrow_files_and_streams_are_the_parquet_file() {
    let options = keep_missing().with(|o| o.keep = strings(&["id"]));
    let parquet = read("none.parquet", &options).unwrap();
    for name in ["none.feather", "lz4.feather", "zstd.arrow", "stream.arrows"] {
        let table = read(name, &options).unwrap();
        assert_eq!((&table.names, table.rows), (&parquet.names, parquet.rows), "{name}");
        assert_eq!(format!("{:?}", table.data), format!("{:?}", parquet.data), "{name}");
        assert_eq!(table.kept, parquet.kept, "{name}");
        let rounded = |n: &&TableNotice| matches!(n, TableNotice::Rounded { .. });
        assert_eq!(
            table.notices.iter().find(rounded),
            parquet.notices.iter().find(rounded),
            "{name}"
        );
        let kept = ReadOptions::default().with(|o| {
            o.columns = strings(&["i8"]);
            o.keep = strings(&["day", "kind", "dec"]);
        });
        let kept = read(name, &kept).unwrap().kept;
        assert_eq!(kept[0].get(1), Some("1970-01-02"), "{name}");
        assert_eq!(kept[1].iter().collect::<Vec<_>>(), ["x", "y", "x", "", "x"], "{name}");
        assert_eq!((kept[2].get(0), kept[2].get(4)), (Some("1.25"), Some("")), "{name}");
    }
    let error =
        read("lz4.feather", &ReadOptions::default().with(|o| o.columns = strings(&["null"])));
    fails!(error, Error::MissingCell { .. }, "row 2", "`null`");
    let error =
        read("lz4.feather", &ReadOptions::default().with(|o| o.columns = strings(&["kind"])));
    fails!(error, Error::TextColumn { .. }, "`kind`", "`x`");
}

#[test]
fn bad_arrow_files_say_what_is_wrong() {
    let whole = std::fs::read(data("none.feather")).unwrap();
    assert_eq!(bytes("no-ending", &whole).unwrap().rows, 5);
    fails!(bytes("t.feather", b"FEA1 and more"), Error::BadArrow { .. }, "first version");
    fails!(bytes("t.arrow", "a,b\n1,2\n3,4\n"), Error::Truncated { .. }, "t.arrow");
    fails!(bytes("t.arrow", &whole[..whole.len() / 2]), Error::Truncated { .. }, "cut short");
    fails!(
        bytes("t.arrow", b"ARROW1\0\0\xff\xff\xff\xff\0\0\0\0"),
        Error::BadArrow { .. },
        "schema"
    );
}
