//! Any bytes as a workbook, or as the parts of one: a sheet, its texts, its styles, with zeros between.
#![no_main]

use std::io::{Cursor, Write};

use libfuzzer_sys::fuzz_target;
use zip::CompressionMethod::Stored;
use zip::write::SimpleFileOptions;

const RELATIONS: &str = r#"<Relationships><Relationship Id="a" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet1.xml"/></Relationships>"#;
const WORKBOOK: &str = r#"<workbook><sheets><sheet name="S" sheetId="1" r:id="a"/></sheets></workbook>"#;

fn workbook(parts: &[u8]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let mut add = |name: &str, content: &[u8]| {
        let options = SimpleFileOptions::default().compression_method(Stored);
        zip.start_file(name, options).expect("a new part");
        zip.write_all(content).expect("memory");
    };
    add("xl/_rels/workbook.xml.rels", RELATIONS.as_bytes());
    add("xl/workbook.xml", WORKBOOK.as_bytes());
    let names = ["xl/worksheets/sheet1.xml", "xl/sharedStrings.xml", "xl/styles.xml"];
    for (name, part) in names.iter().zip(parts.split(|&byte| byte == 0)) {
        add(name, part);
    }
    zip.finish().expect("memory").into_inner()
}

fuzz_target!(|data: &[u8]| {
    upoe_fuzz::quiet();
    let Some((&how, bytes)) = data.split_first() else { return };
    let bytes = if how & 64 == 0 { bytes.to_vec() } else { workbook(bytes) };
    upoe_fuzz::read_table("xlsx", &[&[how], &bytes[..]].concat(), 512 << 20, 64 * 1032);
});
