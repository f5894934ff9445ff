//! What newcomers meet: each message fits the verb it comes from, and what it advises works.

use crate::{Place, fit_crabs};

#[test]
fn the_columns_of_a_model_are_not_to_be_left_out() {
    let place = Place::with_model();
    for (cells, said) in [
        ("1,2,3,,4\n2,3,4,5,5", "column `CW` is missing"),
        ("1,2,3,,4\n2,3,4,NA,5", "column `CW` has no values"),
        ("1,2,3,a,4\n2,3,4,5,5", "`a` is not a number"),
        ("1,2,3,a,4\n2,3,4,b,5", "where the model needs numbers"),
    ] {
        place.write("new.csv", format!("FL,RW,CL,CW,BD\n{cells}\n"));
        let takes_missing = said.contains("is missing") || said.contains("no values");
        for verb in ["score", "transform", "explain", "report"] {
            if takes_missing && verb == "report" {
                continue;
            }
            let run = place.run(&[verb, "m.upoe", "new.csv"]).failed(1, &[said, "model needs"]);
            assert!(!run.err.contains("--exclude") && !run.err.contains("--keep"), "{run:#?}");
        }
    }
}

#[test]
fn an_index_is_warned_of_at_the_fit_alone() {
    let place = Place::new();
    place.write("i.csv", "i,a\n1,2\n2,1\n3,5\n4,2\n");
    let warned = |args: &[&str]| place.run(args).ok().err.contains("looks like an index");
    assert!(warned(&["fit", "i.csv", "-o", "i.upoe"]));
    assert!(!warned(&["score", "i.upoe", "i.csv"]));
}

#[test]
fn a_header_of_numbers_is_noticed() {
    let place = Place::new();
    place.write("years.csv", "2019,2020,2022\n1.5,2.5,3.1\n2.5,1.5,0.3\n0.5,1.2,3.3\n2.2,2.2,1\n");
    let fit = ["fit", "years.csv", "-o", "y.upoe", "--experts", "0", "--json"];
    let run = place.run(&fit).ok();
    assert!(run.err.contains("--header yes") && run.json()["rows"] == 5, "{run:#?}");
    let run = place.run(&[&fit[..], &["--header", "no"]].concat()).ok();
    assert!(!run.err.contains("--header"), "{run:#?}");
    place.run(&[&fit[..], &["--columns", "2019"]].concat()).failed(1, &["--header yes"]);
    let run = place.run(&[&fit[..], &["--header", "yes"]].concat()).ok();
    assert!(run.json()["columns"][2] == "2022" && !run.err.contains("--header"), "{run:#?}");
    // the model knows the names
    assert_eq!(place.run(&["score", "y.upoe", "years.csv"]).ok().out.lines().count(), 5);
    // text among the numbers
    place.write("mixed.csv", "a,2020\n1.5,2.5\n2.5,1.5\n");
    let run = place.run(&["fit", "mixed.csv", "-o", "y.upoe"]);
    run.failed(1, &["mixed.csv: the first line has text (`a`)", "--header yes"]);
    // plain data
    place.write("data.csv", "3,17,2\n4,1,5\n7,2,2\n");
    assert!(!place.run(&["fit", "data.csv", "-o", "d.upoe"]).ok().err.contains("--header"));
}

#[test]
fn numbers_with_commas_are_told() {
    let place = Place::new();
    for text in
        ["a;b\n1,500;2,250\n2,500;3,125\n", "a,b\n2,\"1,500\"\n3,7\n", "a;b\n1.5;7\n2,5;7\n"]
    {
        place.write("comma.csv", text);
        let run = place.run(&["fit", "comma.csv", "-o", "c.upoe"]);
        run.failed(1, &["comma.csv: row", "looks like a number with a comma", "--decimal ,"]);
    }
    place.write("points.csv", "a;b\n1.5;2.5\n2.5;3.5\n3;1\n");
    place.run(&["fit", "points.csv", "-o", "p.upoe"]).ok();
    place.write("commas.csv", "a;b\n1,5;2,5\n2,5;3,5\n3;1\n");
    let run = place.run(&["fit", "commas.csv", "-o", "c.upoe"]).ok();
    assert!(run.err.contains("decimal commas"), "{run:#?}");
    let both = ["p.upoe", "c.upoe"].map(|model| {
        let run = place.run(&["inspect", model, "--json"]).ok();
        run.json()["log_density"].clone()
    });
    assert_eq!(both[0], both[1]);
}

#[test]
fn roles_that_contradict_each_other() {
    let place = Place::new();
    let fit = |flags: &[&str]| place.run(&[&["fit", "crabs.csv", "-o", "m.upoe"], flags].concat());
    fit(&["--columns", "FL,RW", "--keep", "FL"]).failed(1, &["`FL`", "--columns", "--keep"]);
    fit(&["--columns", "FL,RW", "--exclude", "RW"]).failed(1, &["`RW`", "--columns", "--exclude"]);
    let run = fit(&["--weights", "sp"]).failed(1, &["column `sp` is text", "--weights"]);
    assert!(!run.err.contains("--keep"), "{run:#?}");
    fit(&["--columns", "FL,RW", "--dims", "5"]).failed(1, &["--dims 5", "in 2 dimensions only"]);
    fit(&["--columns", "FL,RW", "--experts", "0"]).ok();
    place.run(&["fit", "m.upoe", "-o", "n.upoe"]).failed(1, &["m.upoe: is a model", "not a table"]);
    // where a model chooses the columns, any of them can be carried along too
    let run = place.run(&["score", "m.upoe", "crabs.csv", "--keep", "FL"]).ok();
    assert!(run.out.starts_with("FL,log_density\n8.1,"), "{run:#?}");
}

#[test]
fn names_with_commas_stand_in_quotes() {
    let place = Place::new();
    place.write("comma.csv", "\"a, b\",c,d\n1.5,2.5,1\n2.5,3.5,4\n1.0,2.7,2\n");
    let fit = ["fit", "comma.csv", "-o", "c.upoe", "--experts", "0", "--json", "--columns"];
    place
        .run(&[&fit[..], &["a, b,c"]].concat())
        .failed(1, &["columns are \"a, b\", c", "in quotes"]);
    let run = place.run(&[&fit[..], &["\"a, b\",c"]].concat()).ok();
    assert_eq!(run.json()["columns"], serde_json::json!(["a, b", "c"]));
}

#[test]
fn outputs_of_no_known_format_are_refused_before_the_work() {
    let place = Place::with_model();
    let score = |to: &[&str]| place.run(&[&["score", "m.upoe", "crabs.csv", "-o"], to].concat());
    for name in ["s.xlsx", "s.npy.gz", "s.json"] {
        let run = score(&[name]).failed(1, &[name, ".csv", ".parquet", ".npy", "--json"]);
        assert!(!run.err.contains("read crabs.csv") && !place.path(name).exists(), "{run:#?}");
    }
    score(&["s.csv", "--json"]).failed(1, &["s.csv: `--json` writes JSON", ".jsonl"]);
    for to in [&["s"][..], &["s.txt"], &["s.csv"], &["s.tsv"], &["s.jsonl", "--json"]] {
        score(to).ok();
    }
    place.run(&["sample", "m.upoe", "-n", "3", "-o", "s.xls"]).failed(1, &["s.xls"]);
}

#[test]
fn json_has_a_word_for_what_is_not_finite_and_keeps_numbers() {
    let place = Place::new();
    let rows = "a,b,code,n,big\n1,7,007,3,1\n2,7,008,,12345678901234567890123\n4,8,009,1.50,2\n";
    place.write("flat.csv", rows);
    place.write("train.csv", "a,b\n1,7\n2,7\n3,7\n");
    place.run(&["fit", "train.csv", "-o", "f.upoe", "--experts", "0"]).ok();
    let keep = ["score", "f.upoe", "flat.csv", "--json", "--keep", "code,n,big"];
    let out = place.run(&keep).ok().out;
    let lines: Vec<serde_json::Value> =
        out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(lines[0]["log_density"].is_f64() && lines[2]["log_density"] == "-inf", "{out}");
    let column = |name: &str| lines.iter().map(|line| line[name].clone()).collect::<Vec<_>>();
    assert_eq!(serde_json::json!(column("n")), serde_json::json!([3, null, 1.5]));
    assert_eq!(column("code"), ["007", "008", "009"]);
    assert!(column("big").iter().all(serde_json::Value::is_string), "{out}");
}

#[test]
fn fewer_rows_than_columns_leave_held_out_rows_a_way_to_a_density() {
    let place = Place::new();
    let wide = crate::heavy_tails(20, 30);
    place.write("wide.csv", wide);
    let fit = ["fit", "wide.csv", "-o", "w.upoe", "--experts", "0", "--holdout", "0.2", "--json"];
    let json = place.run(&fit).ok().json();
    assert_eq!(json["log_density"]["holdout"], "-inf");
    assert!(json["notices"][0].as_str().unwrap().contains("`--dims 14` or fewer"), "{json}");
    let json = place.run(&[&fit[..], &["--dims", "14"]].concat()).ok().json();
    assert!(json["log_density"]["holdout"].is_f64(), "{json}");
}

#[test]
fn columns_in_tiny_units_are_not_called_constant() {
    let place = Place::new();
    place.write("tiny.csv", "a,b\n1e-160,2\n3e-160,5\n2e-160,1\n5e-160,2\n");
    let run = place.run(&["fit", "tiny.csv", "-o", "t.upoe"]);
    run.failed(1, &["tiny.csv: column `a` spreads too little", "multiply it"]);
    place.write("small.csv", "a,b\n1e-140,2\n3e-140,5\n2e-140,1\n5e-140,2\n");
    assert_eq!(place.run(&["fit", "small.csv", "--json"]).ok().json()["dims"], 2);
}

#[test]
fn columns_in_huge_units_spread_too_far() {
    let place = Place::new();
    for (name, cell) in [("huge.csv", "1e300"), ("opposite.csv", "-1.7e308"), ("once.csv", "7")] {
        place.write(name, format!("a,b\n3,{cell}\n3.1,1.7e308\n2,5e299\n1,2\n"));
        let run = place.run(&["fit", name, "-o", "h.upoe"]);
        run.failed(1, &[name, "column `b` spreads too far", "divide it by a large number"]);
    }
}

#[test]
fn large_groups_held_out_are_told() {
    let place = Place::new();
    let mut args = fit_crabs();
    args.extend(["--holdout-by", "sex"]);
    let run = place.run(&args).ok();
    assert!(
        run.err.contains("100 of 200 rows (50 %) are held out where 20 % would do"),
        "{run:#?}"
    );
    args.extend(["--holdout", "0.4"]);
    assert!(!place.run(&args).ok().err.contains("would do"));
}

#[test]
fn every_expert_has_its_line_when_all_are_learned_together() {
    let place = Place::new();
    let mut args = fit_crabs();
    args.extend(["--learner", "parallel", "--start", "random"]);
    let run = place.run(&args).ok();
    let lines: Vec<&str> = run.err.lines().filter(|line| line.starts_with("expert ")).collect();
    assert!(lines.len() == 2 && lines[1].contains("expert 2 of 2: gain 0."), "{run:#?}");
}

#[test]
fn requests_that_cannot_be_met() {
    let place = Place::with_model();
    place.write("book.xlsx", b"PK\x03\x04 and so on");
    place
        .run(&["fit", "book.xlsx", "-o", "b.upoe"])
        .failed(1, &["book.xlsx: not an Excel workbook", "CSV"]);
    place.write("book.zip", b"PK\x03\x04 and so on");
    place.run(&["fit", "book.zip"]).failed(1, &["book.zip: is an archive", "CSV"]);
    place.run(&["fit", "crabs.csv", "-o", "-"]).failed(2, &["--output -", "give its name"]);
    place
        .run(&["report", "m.upoe", "crabs.csv", "--image", "3x3"])
        .failed(1, &["--image 3x3", "5"]);
    place.run(&["score", "m.upoe", "crabs.csv", "--tail", "0"]).failed(2, &["--tail"]);
    place.run(&["inspect", "m.upoe", "--threads", "100000"]).ok(); // needs none
    place.run(&["score", "m.upoe", "crabs.csv", "--threads", "100000"]).failed(2, &["--threads"]);
    place.write("again.csv", "FL,RW,CL,CW,BD,log_density\n8,7,16,19,7,1\n");
    let keep = ["score", "m.upoe", "again.csv", "--keep", "log_density"];
    place.run(&keep).failed(1, &["--keep log_density", "rename"]);
    let run = place.run(&["sample", "m.upoe", "-n", "-5"]);
    assert!(run.code == Some(2) && run.err.contains("invalid value '-5'"), "{run:#?}");
}

#[test]
fn quiet_and_json_are_kept_to() {
    let place = Place::with_model();
    let run = place.run(&["demo", "--quiet", "-o", "."]).ok();
    assert_eq!((run.out.as_str(), run.err.as_str()), ("", ""));
    let run = place.run(&["report", "m.upoe", "crabs.csv", "-o", "p.html", "--json"]).ok();
    assert_eq!(run.json(), serde_json::json!({ "page": "p.html", "rows": 200 }));
}
