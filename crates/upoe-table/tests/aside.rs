//! What a fit leaves aside because it is no measurement.

use upoe_table::{Aside, ReadOptions, Table, TableNotice, TextKind};

/// Thirty rows with a number of the row, a flag, categories, dates, names and a measurement.
fn messy() -> String {
    let row = |i: usize| {
        let (id, flag, kind) = (17 * i % 30 + 100, i % 3 / 2, ["a", "b", "c"][i % 3]);
        format!("{id},{flag},{kind},2024-01-{:02},name {i},{}\n", i + 1, (i * i) as f64 / 7.0)
    };
    let rows: String = (0..30).map(row).collect();
    format!("id,sold,kind,day,name,price\n{rows}")
}

fn read(options: &ReadOptions) -> Table {
    Table::from_bytes("t.csv", messy().into_bytes(), options).unwrap()
}

#[test]
fn what_is_no_measurement_is_left_aside_and_said() {
    let table = read(&ReadOptions::default());
    assert_eq!(table.names, ["price"]);
    assert_eq!((table.rows, table.data.len(), table.data[2]), (30, 30, 4.0 / 7.0));
    let text = |column: &str, example: &str, kind| TableNotice::TextColumn {
        column: column.into(),
        example: example.into(),
        kind,
    };
    let aside = |column: &str, what| TableNotice::LeftAside { column: column.into(), what };
    assert_eq!(
        table.notices,
        [
            text("kind", "a", TextKind::Categories(3)),
            text("day", "2024-01-01", TextKind::Dates),
            text("name", "name 0", TextKind::Identifiers),
            aside("id", Aside::Identifier),
            aside("sold", Aside::Flag),
        ]
    );
}

#[test]
fn what_is_asked_for_is_modelled() {
    let columns = vec!["price".to_string(), "sold".into(), "id".into()];
    let table = read(&ReadOptions::default().with(|o| o.columns = columns.clone()));
    assert_eq!((table.names, table.notices), (columns, vec![]));
}

#[test]
fn a_table_of_flags_alone_is_modelled() {
    let rows: String = (0..40).map(|i| format!("{},{}\n", i % 2, i % 3 / 2)).collect();
    let bytes = format!("a,b\n{rows}").into_bytes();
    let table = Table::from_bytes("t.csv", bytes, &ReadOptions::default()).unwrap();
    assert_eq!((table.names.len(), table.notices.len()), (2, 0));
}

/// Few rows do not tell.
#[test]
fn a_column_that_counts_is_warned_of() {
    let notices = Table::from_bytes(
        "t.csv",
        b"i,j,x\n1,0,1\n2,1,2\n3,2,4\n".to_vec(),
        &ReadOptions::default(),
    )
    .unwrap()
    .notices;
    let index = |column: &str| TableNotice::IndexColumn { column: column.into() };
    assert_eq!(notices, [index("i"), index("j")]);
    assert!(notices[0].is_warning());
}
