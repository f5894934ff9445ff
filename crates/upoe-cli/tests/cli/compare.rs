//! `upoe compare`: answers, statuses, pages, refusals.

use crate::Place;

const COLUMNS: [&str; 2] = ["--columns", "FL,RW,CL,CW,BD"];

/// The Crabs, each second one in a file of its own, and changed copies.
fn place() -> Place {
    let place = Place::new();
    let crabs = place.read("crabs.csv");
    let (header, rows) = crabs.split_once('\n').unwrap();
    let half = |which: usize| -> Vec<&str> { rows.lines().skip(which).step_by(2).collect() };
    let write = |name: &str, rows: &[String]| {
        place.write(name, format!("{header}\n{}\n", rows.join("\n")));
    };
    let owned = |rows: Vec<&str>| rows.into_iter().map(str::to_owned).collect::<Vec<String>>();
    write("a.csv", &owned(half(0)));
    write("b.csv", &owned(half(1)));
    let changed = |column: usize, change: &dyn Fn(f64) -> String| -> Vec<String> {
        let row = |line: &&str| {
            let mut cells: Vec<String> = line.split(',').map(str::to_owned).collect();
            cells[column] = change(cells[column].parse().unwrap());
            cells.join(",")
        };
        half(1).iter().map(row).collect()
    };
    write("longer.csv", &changed(4, &|x| format!("{}", x + 0.8)));
    write("units.csv", &changed(7, &|x| format!("{}", 1000.0 * x)));
    write("constant.csv", &changed(7, &|_| "4".into()));
    write("one.csv", &owned(half(1)[..1].to_vec()));
    write("few.csv", &owned(half(1)[..11].to_vec()));
    place
}

fn args<'a>(rest: &[&'a str]) -> Vec<&'a str> {
    [&["compare"], rest, &COLUMNS].concat()
}

#[test]
fn the_answer_is_in_words_json_status_and_a_page() {
    let place = place();
    let same = place.run(&args(&["a.csv", "b.csv", "--fail-on", "0.01"])).ok();
    assert!(same.out.starts_with("no change found"), "{same:?}");
    let run = place.run(&args(&["a.csv", "longer.csv", "--fail-on", "0.01", "-o", "page.html"]));
    assert_eq!(run.code, Some(3), "{run:#?}");
    assert!(run.out.contains("1. FL is 0.") && run.out.contains(" higher for its "), "{run:#?}");
    let page = place.read("page.html");
    assert!(page.contains("<svg") && page.contains("higher for its") && !page.contains("<script"));
    let run = place.run(&args(&["a.csv", "longer.csv", "--json", "-q", "--threads", "1"])).ok();
    let found = run.json();
    let change = &found["changes"][0];
    assert_eq!(
        (&change["kind"], &change["where"], &change["column"]),
        (&"shift".into(), &"given".into(), &"FL".into())
    );
    assert!((change["size"].as_f64().unwrap() - 0.8).abs() < 0.2, "{found:#}");
    assert_eq!((&found["changed"], found["rows_b"].as_u64()), (&true.into(), Some(100)));
    assert!(found["drop"]["nats"].as_f64().unwrap() > 0.5, "{found:#}");
    let again = place.run(&args(&["a.csv", "longer.csv", "--json", "-q", "--threads", "3"])).ok();
    assert_eq!(again.out, run.out);
}

#[test]
fn a_model_can_stand_for_a_table_and_a_table_can_come_by_the_standard_input() {
    let place = place();
    let fit = "fit crabs.csv -o m.upoe --columns FL,RW,CL,CW,BD";
    place.run(&fit.split(' ').collect::<Vec<_>>()).ok();
    place.run(&["sample", "m.upoe", "-n", "300", "-o", "drawn.csv"]).ok();
    let same = place.run(&["compare", "m.upoe", "drawn.csv"]).ok();
    assert!(same.out.starts_with("no change found"), "{same:?}");
    let input = place.read("longer.csv");
    let run =
        place.run_with_input(&["compare", "m.upoe", "-", "--fail-on", "0.01"], input.as_bytes());
    assert_eq!(run.code, Some(3), "{run:#?}");
    assert!(run.out.contains("FL"), "{run:#?}");
}

#[test]
fn what_cannot_be_compared_is_refused_with_a_remedy() {
    let place = place();
    let run = |b: &str| place.run(&args(&["a.csv", b]));
    run("one.csv").failed(1, &["one.csv", "1 row cannot", "at least 2"]);
    run("constant.csv").failed(1, &["constant.csv", "`CW` is 4 in every row", "--exclude CW"]);
    let few = run("few.csv").ok();
    assert!(few.out.starts_with("cannot tell") && few.out.contains("15 in each table"), "{few:?}");
    let units = run("units.csv").ok();
    assert!(
        units
            .err
            .contains("CW seems to be in other units: its values are about 1000 times as large")
    );
    place.write("other.csv", "FL,RW\n1,2\n3,4\n5,6\n");
    let other = place.run(&["compare", "a.csv", "other.csv", "--exclude", "index"]);
    other.failed(1, &["other.csv", "lacks columns that a.csv has", "`CL`"]);
    place.write("hole.csv", "FL,RW,CL,CW,BD\n1,2,3,4,5\n1,,3,4,6\n");
    run("hole.csv").failed(1, &["hole.csv", "row 2", "`RW` is missing", "--missing drop"]);
    let hole = run("hole.csv");
    assert!(!hole.err.contains("model"), "{hole:?}");
    let keep = place.run(&args(&["a.csv", "hole.csv", "--missing", "model"]));
    keep.failed(2, &["--missing model", "cannot be compared", "--missing drop"]);
    run("a.csv").ok();
    place.run(&args(&["a.csv", "b.csv", "--fail-on", "0"])).failed(2, &["--fail-on 0", "0.0001"]);
    place.run(&args(&["-", "-"])).failed(2, &["standard input"]);
}
