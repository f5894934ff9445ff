//! Tables written and read back, and outputs that cannot be written.

use std::io::{self, Write};
use std::path::Path;

use upoe_table::{Error, FileError, ReadOptions, Table, TableWriter, TextColumn};

fn strings(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| name.to_string()).collect()
}

fn labels(cells: &[&str]) -> Vec<TextColumn> {
    let mut column = TextColumn::new("id");
    cells.iter().for_each(|cell| column.push(cell));
    vec![column]
}

#[test]
fn every_format_reads_back_to_the_same_bits() {
    let directory = tempfile::tempdir().unwrap();
    let numbers = [0.1, -0.0, 1e300, 5e-324, 1.0 / 3.0, -7.0];
    let cells = ["a,b", "say \"hi\"", "line\nend"];
    let kept = labels(&cells);
    for name in ["t.csv", "t.tsv", "t.csv.gz", "t.parquet", "t"] {
        let path = directory.path().join(name);
        let mut writer =
            TableWriter::create(Some(&path), &strings(&["id"]), &strings(&["x", "y z"])).unwrap();
        writer.write_rows(&kept, 0..1, &numbers[..2]).unwrap();
        writer.write_rows(&kept, 1..3, &numbers[2..]).unwrap();
        assert!(!path.exists());
        writer.finish().unwrap();
        let options = ReadOptions::default().with(|o| o.keep = strings(&["id"]));
        let table = Table::read(&path, &options).unwrap();
        let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&table.data), bits(&numbers), "{name}");
        assert_eq!((table.names, table.rows), (strings(&["x", "y z"]), 3), "{name}");
        assert_eq!(table.kept[0].iter().collect::<Vec<_>>(), cells, "{name}");
    }
    let path = directory.path().join("t.npy");
    let mut writer = TableWriter::create(Some(&path), &[], &strings(&["x", "y"])).unwrap();
    writer.write_rows(&[], 0..1, &numbers[..2]).unwrap();
    writer.write_rows(&[], 1..3, &numbers[2..]).unwrap();
    writer.finish().unwrap();
    let table = Table::read(&path, &ReadOptions::default()).unwrap();
    assert_eq!((table.rows, &table.data[..]), (3, &numbers[..]));
    assert_eq!(std::fs::read_dir(&directory).unwrap().count(), 6);
}

#[test]
fn csv_text_is_as_other_programs_expect_it() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("t.csv");
    let mut writer = TableWriter::create(Some(&path), &strings(&["id"]), &strings(&["p"])).unwrap();
    let values = [f64::NEG_INFINITY, f64::NAN, 1.0];
    writer.write_rows(&labels(&["a", "b,", ""]), 0..3, &values).unwrap();
    writer.finish().unwrap();
    assert_eq!(std::fs::read_to_string(path).unwrap(), "id,p\na,-inf\n\"b,\",NaN\n,1.0\n");
}

#[test]
fn an_unfinished_table_leaves_nothing() {
    let directory = tempfile::tempdir().unwrap();
    for name in ["t.csv", "t.npy", "t.parquet", "t.csv.gz"] {
        let path = directory.path().join(name);
        let mut writer = TableWriter::create(Some(&path), &[], &strings(&["x"])).unwrap();
        writer.write_rows(&[], 0..1, &[1.0]).unwrap();
        let wrong = writer.write_rows(&[], 0..2, &[1.0]);
        assert!(matches!(wrong, Err(Error::RowShape { .. })));
        drop(writer);
        assert_eq!(std::fs::read_dir(&directory).unwrap().count(), 0, "{name}");
    }
    let path = directory.path().join("t.npy");
    let error = TableWriter::create(Some(&path), &strings(&["id"]), &strings(&["x"])).err();
    assert!(matches!(error, Some(Error::TextInNpy { .. })));
    assert_eq!(std::fs::read_dir(&directory).unwrap().count(), 0);
}

#[test]
fn a_missing_directory_is_named() {
    for name in ["no/t.csv", "no/t.npy", "no/t.parquet"] {
        let error =
            TableWriter::create(Some(Path::new(name)), &[], &strings(&["x"])).err().unwrap();
        assert!(matches!(error, Error::File(FileError::NoDirectory { .. })), "{error:?}");
        assert!(error.to_string().contains("directory no does not exist"), "{error}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_device_is_told_and_stays_a_device() {
    let write = || {
        let path = Path::new("/dev/full");
        let mut writer = TableWriter::create(Some(path), &[], &strings(&["x"]))?;
        writer.write_rows(&[], 0..20_000, &vec![0.1; 20_000])?;
        writer.finish()
    };
    let error = write().unwrap_err();
    assert!(matches!(error, Error::File(FileError::DiskFull { .. })), "{error:?}");
    assert!(!std::fs::metadata("/dev/full").unwrap().is_file());
}

struct Closed;

impl Write for Closed {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::BrokenPipe.into())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_broken_pipe_is_an_error_of_its_own() {
    let mut writer = TableWriter::csv(Box::new(Closed), "pipe", &[], &strings(&["x"])).unwrap();
    writer.write_rows(&[], 0..1, &[1.0]).unwrap();
    assert!(matches!(writer.finish(), Err(Error::File(FileError::BrokenPipe))));
}
