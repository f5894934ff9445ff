//! Tables with missing cells, and conditions.

use crate::{Place, Run};

/// The Crabs with every seventh measurement missing.
fn with_holes(place: &Place) {
    let mut cell = 0;
    let lines: Vec<String> = place
        .read("crabs.csv")
        .lines()
        .enumerate()
        .map(|(i, line)| {
            let cells = line.split(',').enumerate().map(|(c, text)| {
                let measured = i > 0 && c >= 4;
                cell += usize::from(measured);
                if measured && (cell * 11).is_multiple_of(7) { "NA" } else { text }
            });
            cells.collect::<Vec<_>>().join(",")
        })
        .collect();
    place.write("holes.csv", lines.join("\n") + "\n");
}

fn columns(run: &Run) -> (Vec<String>, Vec<Vec<f64>>) {
    run.table()
}

#[test]
fn missing_cells_are_filled_in_and_others_stay() {
    let place = Place::with_model();
    with_holes(&place);
    let had = place.run(&["impute", "m.upoe", "crabs.csv"]).ok().table().1;
    let (header, filled) = columns(&place.run(&["impute", "m.upoe", "holes.csv"]).ok());
    assert_eq!(header, ["FL", "RW", "CL", "CW", "BD"]);
    let same = filled.iter().flatten().zip(had.iter().flatten()).filter(|(a, b)| a == b).count();
    assert!(filled.len() == 200 && (850..900).contains(&same), "{same}");
    let close = |(a, b): (&f64, &f64)| (a - b).abs() < 3.0;
    assert!(filled.iter().flatten().zip(had.iter().flatten()).filter(|p| close(*p)).count() > 990);
    let (header, five) = columns(
        &place.run(&["impute", "m.upoe", "holes.csv", "--draws", "5", "--keep", "sp"]).ok(),
    );
    assert_eq!((five.len(), header[..3].join(",")), (1000, "sp,draw,FL".into()));
    assert_eq!(five[..6].iter().map(|row| row[1]).collect::<Vec<_>>(), [1., 2., 3., 4., 5., 1.]);
    let args = ["impute", "m.upoe", "holes.csv", "--interval", "0.9", "--method", "median"];
    let (header, rows) = columns(&place.run(&args).ok());
    assert_eq!(header[..4].join(","), "FL,FL_lo,FL_hi,RW");
    assert!(rows.iter().all(|row| row[1] <= row[0] && row[0] <= row[2]));
    place.run(&["impute", "m.upoe", "holes.csv", "--draws", "0"]).failed(2, &["--draws 0"]);
    let args = ["impute", "m.upoe", "holes.csv", "--draws", "2", "--method", "mean"];
    place.run(&args).failed(2, &["--method mean"]);
}

#[test]
fn a_column_is_expected_from_the_others() {
    let place = Place::with_model();
    let run = place.run(&["expect", "m.upoe", "crabs.csv", "--target", "BD"]).ok();
    let (header, rows) = columns(&run);
    assert_eq!(header, ["BD", "BD_mean", "BD_median", "BD_lo", "BD_hi"]);
    let inside = rows.iter().filter(|r| r[3] < r[0] && r[0] < r[4]).count();
    assert!((165..=195).contains(&inside), "{inside} of 200 in their 90 % intervals");
    // also where the table does not have it
    let without: String = place
        .read("crabs.csv")
        .lines()
        .map(|l| l.rsplit_once(',').unwrap().0.to_owned() + "\n")
        .collect();
    place.write("without.csv", without);
    let other = place.run(&["expect", "m.upoe", "without.csv", "--target", "BD"]).ok();
    assert!(other.err.contains("lacks columns") && columns(&other).1[7][1] == rows[7][1]);
    place
        .run(&["expect", "m.upoe", "crabs.csv", "--target", "XX"])
        .failed(1, &["no column `XX`", "FL"]);
}

#[test]
fn rows_are_drawn_under_conditions() {
    let place = Place::with_model();
    let draw = |given: &str| place.run(&["sample", "m.upoe", "-n", "50", "--given", given]);
    let (_, rows) = columns(&draw("CW=40,FL=17").ok());
    assert!(rows.len() == 50 && rows.iter().all(|r| r[3] == 40.0 && r[0] == 17.0 && r[4] > 10.0));
    let run = draw("CW>40,FL<18").ok();
    assert!(columns(&run).1.iter().all(|r| r[3] > 40.0 && r[0] < 18.0));
    assert!(run.err.contains("% of the rows drawn lie in the ranges"), "{}", run.err);
    draw("XX=1").failed(1, &["no column `XX`", "FL, RW, CL, CW, BD"]);
    draw("CW=40,CW=41").failed(1, &["cannot be 40 and 41"]);
    draw("CW=40,CW>41").failed(1, &["outside the range"]);
    draw("CW>1e6").failed(1, &["fewer than 1 in 10,000"]);
    draw("FL=1,RW=1,CL=1,CW=1,BD=1").failed(1, &["all columns are given"]);
}

#[test]
fn a_fit_says_what_is_missing_and_uses_the_rest() {
    let place = Place::new();
    with_holes(&place);
    let args = ["fit", "holes.csv", "--columns", "FL,RW,CL,CW,BD", "-o", "h.upoe"];
    place.run(&args).failed(1, &["is missing", "--missing model"]);
    let run = place.run(&[&args[..], &["--missing", "model", "--experts", "1"]].concat()).ok();
    let said = format!("{}{}", run.err, run.out).replace('\n', " ");
    assert!(said.contains("% of all cells are missing, in") && said.contains("`FL`"), "{said}");
    assert!(said.contains("missing at random"), "{said}");
    place.run(&["score", "h.upoe", "crabs.csv"]).ok();
    let args = ["--missing", "model", "--checkpoint", "c.ckpt"];
    let all =
        [&["fit", "holes.csv", "--columns", "FL,RW,CL,CW,BD", "-o", "h.upoe"][..], &args].concat();
    place.run(&all).failed(1, &["cannot be continued"]);
}

#[test]
fn rows_with_missing_cells_have_a_group() {
    let place = Place::with_model();
    with_holes(&place);
    place.run(&["groups", "m.upoe", "holes.csv"]).failed(1, &["`--missing model`"]);
    let run = place.run(&["groups", "m.upoe", "holes.csv", "--missing", "model", "--keep", "sp"]);
    assert!(run.ok().out.contains("matches `sp`"));
}
