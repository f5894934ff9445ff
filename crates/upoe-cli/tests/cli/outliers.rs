//! `upoe outliers`.

use crate::Place;

const LENGTHS: &str = "FL,RW,CL,CW,BD";

/// The Crabs with the FL of the row 40 (of the file, from 1) raised by 8 mm.
fn with_an_odd_crab() -> Place {
    let place = Place::new();
    let text = place.read("crabs.csv");
    let odd = |(i, line): (usize, &str)| {
        let mut cells: Vec<String> = line.split(',').map(str::to_owned).collect();
        if i == 40 {
            cells[4] = format!("{:.1}", cells[4].parse::<f64>().unwrap() + 8.0);
        }
        cells.join(",") + "\n"
    };
    place.write("odd.csv", text.lines().enumerate().map(odd).collect::<String>());
    place
}

#[test]
fn the_odd_row_comes_first_with_the_column_to_blame() {
    let place = with_an_odd_crab();
    let args = ["outliers", "odd.csv", "--columns", LENGTHS, "--keep", "sp", "--alpha", "0.01"];
    let run = place.run(&args).ok();
    let lines: Vec<&str> = run.out.lines().collect();
    assert_eq!(lines[0], "row,sp,reason,oddness,p_value,q_value");
    assert!(lines[1].starts_with("40,") && lines[1].contains("FL "), "{}", lines[1]);
    assert!(lines[1].contains("expected") && lines[1].contains("given the others"), "{}", lines[1]);
    assert!(
        run.err.contains("1 of 200 rows is odd at alpha 0.01; chance alone would give about 2.0")
    );
    assert!(lines.len() <= 12, "{}", run.out);
    // A false discovery rate keeps the odd one, and says how many are expected by chance.
    let args = ["outliers", "odd.csv", "--columns", LENGTHS, "--fdr", "0.1"];
    let run = place.run(&args).ok();
    assert!(run.out.lines().nth(1).unwrap().starts_with("40,"), "{run:#?}");
    assert!(run.err.contains("of them by chance (--fdr 0.1)"), "{run:#?}");
    let args = ["outliers", "odd.csv", "--columns", LENGTHS, "--contamination", "0.05"];
    assert_eq!(place.run(&args).ok().out.lines().count(), 11);
}

#[test]
fn json_has_counts_and_exact_parts() {
    let place = with_an_odd_crab();
    let json = place.run(&["outliers", "odd.csv", "--columns", LENGTHS, "--json"]).ok().json();
    assert_eq!((json["rows"].as_u64(), json["by_chance"].as_f64()), (Some(200), Some(2.0)));
    let first = &json["outliers"][0];
    assert_eq!(first["row"], 40);
    let columns = first["columns"].as_array().unwrap();
    let fl = &columns[0];
    assert_eq!(fl["column"], "FL");
    assert!(fl["observed"].as_f64() > fl["high"].as_f64(), "{fl}");
    let largest =
        columns.iter().max_by(|a, b| a["part"].as_f64().partial_cmp(&b["part"].as_f64()).unwrap());
    assert_eq!(largest, Some(fl));
    assert_eq!(json["odd"].as_u64().unwrap() as usize, json["outliers"].as_array().unwrap().len());
}

#[test]
fn the_page_lists_the_same_rows_with_the_same_words() {
    let place = with_an_odd_crab();
    place.run(&["fit", "crabs.csv", "--columns", LENGTHS, "-o", "m.upoe"]).ok();
    let page = |data: &str, options: &[&str]| -> serde_json::Value {
        place.run(&[&["report", "m.upoe", data, "-o", "page.html"], options].concat()).ok();
        let page = place.read("page.html");
        let block = page.split(r#"id="upoe-page">"#).nth(1).unwrap();
        serde_json::from_str(block.split("</script>").next().unwrap()).unwrap()
    };
    let run = place.run(&["outliers", "odd.csv", "--columns", LENGTHS, "--json"]).ok();
    let (json, shown) = (run.json(), page("odd.csv", &[]));
    assert!(run.err.contains(shown["outliers"]["words"].as_str().unwrap()), "{run:#?}");
    let listed = json["outliers"].as_array().unwrap();
    let cards = shown["outliers"]["rows"].as_array().unwrap();
    let odd: Vec<_> = cards.iter().filter(|card| card["judgement"]["odd"] == true).collect();
    assert_eq!(odd.len(), listed.len().min(12));
    for (card, told) in odd.iter().zip(listed) {
        let judged = &card["judgement"];
        assert_eq!(card["number"], told["row"]);
        for name in ["oddness", "p_value", "q_value"] {
            assert_eq!(judged[name], told[name]);
        }
        let reasons: Vec<&str> =
            judged["reasons"].as_array().unwrap().iter().map(|r| r.as_str().unwrap()).collect();
        assert_eq!(reasons.join("; "), told["reason"]);
    }
    let found = shown["summary"]["findings"].as_array().unwrap();
    assert!(found.iter().any(|text| text.as_str().unwrap().contains("The oddest is row 40: FL ")));

    // Missing cells are shown, or their rows left out; rows keep their numbers in the file.
    let mut lines: Vec<String> = place.read("odd.csv").lines().map(str::to_owned).collect();
    let cells: Vec<&str> = lines[2].split(',').collect();
    lines[2] = [&cells[..cells.len() - 1], &[""]].concat().join(",");
    place.write("holes.csv", lines.join("\n"));
    let shown = page("holes.csv", &[]);
    assert_eq!((&shown["missing"]["rows"], &shown["missing"]["cells"]), (&1.into(), &1.into()));
    let first = &shown["missing"]["filled"][0]["cells"][0];
    assert!(first["words"].as_str().unwrap().starts_with("BD missing, expected "), "{first}");
    let shown = page("holes.csv", &["--missing", "drop"]);
    assert!(shown["missing"].is_null());
    assert_eq!(shown["outliers"]["rows"][0]["number"], 40);
}

#[test]
fn a_saved_detector_judges_new_rows() {
    let place = with_an_odd_crab();
    let save =
        ["outliers", "crabs.csv", "--columns", LENGTHS, "--save", "d.upoe", "--alpha", "0.02"];
    place.run(&save).ok();
    let run = place.run(&["outliers", "d.upoe", "odd.csv", "-o", "odd-rows.csv"]).ok();
    assert!(run.err.contains("at alpha 0.02"), "{run:#?}");
    let listed = place.read("odd-rows.csv");
    let first: Vec<&str> = listed.lines().nth(1).unwrap().split(',').collect();
    assert_eq!(first[0], "40");
    // 1/201: no training crab is as odd.
    assert!(listed.lines().nth(1).unwrap().contains(&format!(",{},", 1.0 / 201.0)), "{listed}");
    // A level that 200 rows cannot reach.
    let run = place.run(&["outliers", "d.upoe", "odd.csv", "--alpha", "0.001"]).ok();
    assert!(run.err.contains("no p-value is below 5.0e-3"), "{run:#?}");
    // The same detector in a pipe, from the standard input.
    let piped =
        place.run_with_input(&["outliers", "d.upoe", "-"], place.read("odd.csv").as_bytes());
    assert!(piped.ok().out.contains("\n40,"));
    // Other verbs say what it is.
    place.run(&["score", "d.upoe", "odd.csv"]).failed(1, &["is a detector of odd rows"]);
}

#[test]
fn a_model_judges_by_its_density() {
    let place = with_an_odd_crab();
    place.run(&crate::fit_crabs()).ok();
    let run = place.run(&["outliers", "m.upoe", "odd.csv"]).ok();
    let line = run.out.lines().nth(1).unwrap();
    assert!(line.starts_with("40,") && line.contains("FL "), "{line}");
}

#[test]
fn bad_requests_are_named() {
    let place = with_an_odd_crab();
    place.run(&["outliers", "crabs.csv", "--columns", LENGTHS, "--save", "d.upoe"]).ok();
    place.run(&["outliers"]).failed(2, &["DATA"]);
    place.run(&["outliers", "crabs.csv", "--alpha", "2"]).failed(2, &["--alpha 2: give a number"]);
    place.run(&["outliers", "crabs.csv", "--fdr", "-1"]).failed(2, &["--fdr -1: give a number"]);
    let both = ["outliers", "crabs.csv", "--alpha", "0.1", "--fdr", "0.1"];
    place.run(&both).failed(2, &["cannot be used with"]);
    place.run(&["outliers", "d.upoe", "crabs.csv", "--save", "e.upoe"]).failed(2, &["--save"]);
    let swapped = ["outliers", "odd.csv", "d.upoe"];
    place.run(&swapped).failed(1, &["not a upoe detector or model, but d.upoe is"]);
    place.write("other.csv", "a,b\n1,2\n3,4\n");
    place.run(&["outliers", "d.upoe", "other.csv"]).failed(1, &["other.csv", "FL"]);
    place.write("one.csv", "a,b\n1,2\n");
    place.run(&["outliers", "one.csv"]).failed(1, &["one.csv: 1 row to", "at least 2"]);
    place.write("same.csv", "a,b\n1,2\n1,2\n1,2\n");
    place.run(&["outliers", "same.csv"]).failed(1, &["none of the 2 columns (a, b) varies"]);
    place.write("flat.csv", "a,b\n1,2\n2,2\n3,2\n7,2\n");
    let run = place.run(&["outliers", "flat.csv"]).ok();
    assert!(run.err.contains("column `b` is constant: it is not looked at"), "{run:#?}");
    place.write("hole.csv", "a,b\n1,2\n,3\n4,5\n");
    place.run(&["outliers", "hole.csv"]).failed(1, &["hole.csv", "missing"]);
    place.run(&["outliers", "hole.csv", "--missing", "drop"]).ok();
    place.run(&["outliers", "hole.csv", "--missing", "model"]).ok();
    let over = ["outliers", "crabs.csv", "--columns", LENGTHS, "-o", "crabs.csv"];
    place.run(&over).failed(1, &["would be written over"]);
}

#[test]
fn a_table_unlike_the_one_learned_from_is_told() {
    let place = Place::new();
    let text = place.read("crabs.csv");
    let changed = |change: &dyn Fn(&str) -> String| -> String {
        let line = |(i, line): (usize, &str)| {
            let mut cells: Vec<String> = line.split(',').map(str::to_owned).collect();
            if i > 0 {
                cells[4] = change(&cells[4]);
            }
            cells.join(",") + "\n"
        };
        text.lines().enumerate().map(line).collect()
    };
    let thousand = |cell: &str| format!("{}", 1000.0 * cell.parse::<f64>().unwrap());
    place.write("units.csv", changed(&thousand));
    place.write("flat.csv", changed(&|_| "15".into()));
    place.run(&["fit", "crabs.csv", "--columns", LENGTHS, "-o", "m.upoe", "--quiet"]).ok();
    let save = ["outliers", "crabs.csv", "--columns", LENGTHS, "--save", "m.detector"];
    place.run(&save).ok();
    let said = [
        ("units.csv", "FL seems to be in other units: its values are about 1000 times as large"),
        ("flat.csv", "FL is 15 in every row; it varied where the model was learned"),
    ];
    for (table, note) in said {
        for run in [
            ["outliers", "m.detector", table],
            ["outliers", "m.upoe", table],
            ["groups", "m.upoe", table],
            ["compare", "m.upoe", table],
        ] {
            let run = place.run(&run).ok();
            assert!(run.err.contains(note), "{run:#?}");
        }
    }
    // The column is blamed, whatever can be said of the others that far out.
    let far = place.run(&["outliers", "m.upoe", "units.csv"]).ok();
    assert!(far.out.lines().nth(1).unwrap().contains("FL"), "{}", far.out);
    for own in [["outliers", "m.detector", "crabs.csv"], ["groups", "m.upoe", "crabs.csv"]] {
        let run = place.run(&own).ok();
        assert!(!run.err.contains("units") && !run.err.contains("every row"), "{run:#?}");
    }
}

#[test]
fn rows_with_missing_cells_are_judged_by_the_others() {
    let place = Place::new();
    let text = place.read("crabs.csv");
    // Every fifth row lacks a length, which the fifth to ninth cells are; row 7 is odd in another.
    let holed = |(i, line): (usize, &str)| {
        let mut cells: Vec<&str> = line.split(',').collect();
        if i % 5 == 2 {
            cells[4 + i % 4] = "";
        }
        if i == 7 {
            cells[8] = "40";
        }
        cells.join(",") + "\n"
    };
    place.write("holes.csv", text.lines().enumerate().map(holed).collect::<String>());
    let all = ["--missing", "model", "--columns", LENGTHS];
    let fitted = [&["outliers", "holes.csv", "--save", "h.detector"][..], &all].concat();
    let run = place.run(&fitted).ok();
    let first = run.out.lines().nth(1).unwrap().to_owned();
    assert!(first.starts_with("7,") && first.contains("BD 40"), "{}", run.out);
    // Applied, and with a model, which says what it cannot do.
    let run = place.run(&["outliers", "h.detector", "holes.csv", "--missing", "model"]).ok();
    assert!(run.out.lines().nth(1).unwrap().starts_with("7,"), "{}", run.out);
    place.run(&["fit", "crabs.csv", "--columns", LENGTHS, "-o", "whole.upoe", "--quiet"]).ok();
    place
        .run(&["outliers", "whole.upoe", "holes.csv", "--missing", "model"])
        .failed(1, &["a model compares ln p of complete rows", "--missing drop"]);
    for by in ["expert", "column"] {
        let explain = ["explain", "whole.upoe", "holes.csv", "--missing", "model", "--by", by];
        let run = place.run(&explain).ok();
        assert!(!run.out.contains("NaN") && run.out.lines().count() == 201, "{}", run.out);
    }
}
