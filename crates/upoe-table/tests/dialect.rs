//! How text tables are written: separators, decimals, comments, words for missing cells.

use std::path::Path;

use upoe_table::{Error, MissingCells, ReadOptions, Table, TableNotice};

fn csv(text: &str) -> Result<Table, Error> {
    written(text, |_| {})
}

fn strings(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| name.to_string()).collect()
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

/// How the text is written, given by a change of the dialect.
fn written(text: &str, change: impl FnOnce(&mut ReadOptions)) -> Result<Table, Error> {
    Table::from_bytes("t.csv", text.as_bytes().to_vec(), &ReadOptions::default().with(change))
}

#[test]
fn decimal_commas_are_found_out_or_given() {
    let table = csv("a;b\n1,5;-0,25\n\"2\";1e3\n").unwrap();
    assert_eq!(table.data, [1.5, -0.25, 2.0, 1000.0]);
    assert_eq!(table.notices, [TableNotice::DecimalComma]);
    let tabs = Table::from_bytes("t.tsv", b"a\tb\n0,500\t3\n".to_vec(), &ReadOptions::default());
    assert_eq!(tabs.unwrap().data, [0.5, 3.0]);
    // thousands, or decimals? Only the user knows.
    let text = "a;b\n1,500;2,250\n3,125;4,000\n";
    fails!(csv(text), Error::DecimalComma { .. }, "row 1 (line 2)", "`1,500`");
    let table = written(text, |o| o.dialect.decimal = Some(b',')).unwrap();
    assert_eq!((table.data[0], table.notices.len()), (1.5, 0));
    let points = |o: &mut ReadOptions| o.dialect.decimal = Some(b'.');
    fails!(written("a;b\n1,5;2\n", points), Error::DecimalComma { .. }, "`1,5`");
    // a point among commas is neither
    fails!(csv("a;b\n1,5;2\n1.5;3\n1,7;4\n"), Error::DecimalComma { .. }, "`1,5`");
    let commas = |o: &mut ReadOptions| o.dialect.decimal = Some(b',');
    fails!(written("a;b\n1,5;2\n1.5;3\n", commas), Error::MixedColumn { .. }, "row 2", "`1.5`");
}

#[test]
fn separators_are_given_and_blanks_are_found_out() {
    let table = written("a|b\n1|2\n", |o| o.dialect.separator = Some(b'|')).unwrap();
    assert_eq!((table.names, table.data), (strings(&["a", "b"]), vec![1.0, 2.0]));
    let table = csv("  x   y\n 1.5  2\n-3\t4  \n").unwrap();
    assert_eq!((table.names, table.data), (strings(&["x", "y"]), vec![1.5, 2.0, -3.0, 4.0]));
    assert_eq!(csv("1 2 3\n4 5 6\n").unwrap().data, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    // a name with a blank over one column of numbers
    let table = csv("body length\n1\n2\n").unwrap();
    assert_eq!((table.names, table.data), (strings(&["body length"]), vec![1.0, 2.0]));
}

#[test]
fn lines_are_skipped_and_comments_passed_over() {
    let text = "made by, a machine\n\n# units: mm\na,b\n1,2\n#3,4\n5,x\n";
    let skip = |o: &mut ReadOptions| {
        o.dialect.skip = 2;
        o.dialect.comment = Some(b'#');
    };
    fails!(written(text, skip), Error::MixedColumn { .. }, "row 2 (line 7)", "`b`", "`x`");
    let table = written(&text.replace('x', "6"), skip).unwrap();
    assert_eq!((table.names, table.data), (strings(&["a", "b"]), vec![1.0, 2.0, 5.0, 6.0]));
    let beyond = |o: &mut ReadOptions| o.dialect.skip = 9;
    fails!(written("a,b\n1,2\n", beyond), Error::Empty { .. }, "t.csv");
}

#[test]
fn words_and_numbers_can_mean_missing() {
    let drop = |o: &mut ReadOptions| {
        o.missing = MissingCells::Drop;
        o.missing_words = strings(&["-999", "?"]);
    };
    let table = written("a,b\n1,2\n-999,3\n4,?\n5,-999.0\n6,7\n", drop).unwrap();
    assert_eq!((table.data, table.dropped), (vec![1.0, 2.0, 6.0, 7.0], vec![2, 3, 4]));
    // numbers of binary files, too
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/le_i4.npy");
    let whole = Table::read(&file, &ReadOptions::default()).unwrap();
    let first = whole.data[0].to_string();
    let options = ReadOptions::default().with(|o| {
        o.missing = MissingCells::Drop;
        o.missing_words = vec![first];
    });
    let table = Table::read(&file, &options).unwrap();
    assert!(table.dropped.contains(&1) && table.rows == whole.rows - table.dropped.len());
}
