//! Tables whose missing cells stay.

use upoe_table::{Error, MissingCells, ReadOptions, Table, TableNotice};

fn strings(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn read(text: &str, options: &ReadOptions) -> Result<Table, Error> {
    Table::from_bytes("t.csv", text.as_bytes().to_vec(), options)
}

fn bits(data: &[f64]) -> Vec<u64> {
    data.iter().map(|x| x.to_bits()).collect()
}

#[test]
fn missing_cells_can_stay() {
    let keep = ReadOptions::default().with(|o| o.missing = MissingCells::Keep);
    let nan = f64::NAN;
    let table = read("x,y\n1,\nNA,4\n5,6\n", &keep).unwrap();
    assert_eq!(bits(&table.data), bits(&[1.0, nan, nan, 4.0, 5.0, 6.0]));
    assert!(table.rows == 3 && table.dropped.is_empty() && table.notices.is_empty());
    // A fit has nothing to learn a column without values from.
    let table = read("x,y\n1,\n2,\n", &keep).unwrap();
    assert_eq!(table.notices, [TableNotice::EmptyColumn { column: "y".into() }]);
    let asked = keep.clone().with(|o| o.columns = strings(&["x", "y"]));
    let error = read("x,y\n1,\n2,\n", &asked).unwrap_err();
    assert!(matches!(&error, Error::EmptyColumn { column, .. } if column == "y"), "{error}");
    let weighted = keep.clone().with(|o| o.weights = Some("w".into()));
    let error = read("x,w\n1,1\n2,\n", &weighted).unwrap_err();
    assert!(matches!(&error, Error::MissingCell { column, .. } if column == "w"), "{error}");
    // Of a model's columns, some may have no values, or not be there.
    let of_model = keep.with(|o| o.model_columns = Some(strings(&["z", "y", "x"])));
    let table = read("x,y\n1,\n2,\n", &of_model).unwrap();
    assert_eq!(table.names, ["z", "y", "x"]);
    assert_eq!(bits(&table.data), bits(&[nan, nan, 1.0, nan, nan, 2.0]));
    assert_eq!(table.notices, [TableNotice::AbsentColumns { columns: strings(&["z"]) }]);
    let error = read("a,b\n1,2\n", &of_model).unwrap_err();
    assert!(matches!(error, Error::MissingColumns { .. }), "{error}");
}
