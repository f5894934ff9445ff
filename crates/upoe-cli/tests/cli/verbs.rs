//! What each verb gives.

use crate::{Place, fit_crabs, parse};

#[test]
fn fit_says_what_was_learned_as_json() {
    let place = Place::new();
    let mut args = fit_crabs();
    args.extend(["--json", "--holdout", "0.2", "--quiet"]);
    let run = place.run(&args).ok();
    assert_eq!(run.err, "");
    let json = run.json();
    assert_eq!((json["rows"].as_u64(), json["holdout_rows"].as_u64()), (Some(160), Some(40)));
    assert_eq!(json["columns"].as_array().unwrap().len(), 5);
    assert_eq!((json["dims"].as_u64(), json["learner"].as_str()), (Some(5), Some("pursuit")));
    assert_eq!(json["stop_reason"], "experts");
    assert!(json["seconds"].as_f64().unwrap() > 0.0);
    for key in ["log_likelihood", "log_density"] {
        for value in ["train", "holdout", "holdout_standard_error"] {
            assert!(json[key][value].is_f64(), "{key} {value}");
        }
    }
    let expert = &json["experts"][0];
    assert!(expert["q"].as_f64().unwrap() < -0.2);
    assert_eq!(expert["kind"], "mixture");
    assert_eq!(expert["parameters"]["mu"], serde_json::json!([-1.0, 1.0]));
    for key in ["direction", "filter", "pattern"] {
        assert_eq!(expert[key].as_array().unwrap().len(), 5, "{key}");
    }
    // the older names
    assert_eq!(expert["gain"].as_f64().unwrap(), -expert["q"].as_f64().unwrap());
    assert_eq!(expert["fixed"], serde_json::json!(["mu", "beta"]));
    for (new, old) in [("family", "kind"), ("fixed", "held"), ("filter", "loadings")] {
        assert_eq!(expert[new], expert[old], "{old}");
    }
}

#[test]
fn people_read_of_gain_not_of_q() {
    let place = Place::new();
    let fit = place.run(&fit_crabs()).ok();
    let shown = place.run(&["inspect", "m.upoe"]).ok().out;
    let said = format!("{}{}{shown}{}", fit.out, fit.err, place.run(&["demo", "-o", "."]).ok().out);
    assert!(shown.contains("expert    gain  family") && shown.contains("     1  0.3566  mixture"));
    assert!(said.contains("nats per row") && !said.contains(" a row"), "{said}");
    assert!(!said.split(|c: char| !c.is_alphanumeric()).any(|word| word == "Q"), "{said}");
}

#[test]
fn filters_and_patterns_are_inverse_to_each_other() {
    let json = Place::with_model().run(&["inspect", "m.upoe", "--json"]).ok().json();
    let vector = |j: usize, key: &str| -> Vec<f64> {
        let list = json["experts"][j][key].as_array().unwrap();
        list.iter().map(|x| x.as_f64().unwrap()).collect()
    };
    for (a, b) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        let pairs = vector(a, "filter").into_iter().zip(vector(b, "pattern"));
        let product: f64 = pairs.map(|(w, p)| w * p).sum();
        assert!((product - f64::from(u8::from(a == b))).abs() < 1e-9, "{a} {b} {product}");
    }
}

#[test]
fn score_gives_the_likelihood_the_fit_reported() {
    let place = Place::with_model();
    let json = place.run(&["inspect", "m.upoe", "--json"]).ok().json();
    let run = place.run(&["score", "m.upoe", "crabs.csv", "--keep", "sp,index"]).ok();
    let (header, rows) = run.table();
    assert_eq!(header, ["sp", "index", "log_density"]);
    assert!(run.out.lines().nth(1).unwrap().starts_with("B,1,"), "{}", run.out);
    let mean = rows.iter().map(|row| row[2]).sum::<f64>() / 200.0;
    let train = json["log_density"]["train"].as_f64().unwrap();
    assert!((mean - train).abs() < 1e-9, "{mean} {train}");
}

#[test]
fn columns_are_matched_by_name() {
    let place = Place::with_model();
    let text = place.read("crabs.csv");
    let turned: String = text
        .lines()
        .map(|line| line.split(',').rev().collect::<Vec<_>>().join(",") + "\n")
        .collect();
    place.write("turned.csv", turned);
    let scores = |file: &str| place.run(&["score", "m.upoe", file]).ok().out;
    assert_eq!(scores("crabs.csv"), scores("turned.csv"));
}

#[test]
fn tail_is_the_share_of_less_probable_samples() {
    let place = Place::with_model();
    place.run(&["sample", "m.upoe", "-n", "2000", "--seed", "5", "-o", "s.csv"]).ok();
    let run = place.run(&["score", "m.upoe", "s.csv", "--tail", "4999", "--json"]).ok();
    let tails: Vec<f64> = run
        .out
        .lines()
        .map(|line| {
            serde_json::from_str::<serde_json::Value>(line).unwrap()["tail"].as_f64().unwrap()
        })
        .collect();
    assert_eq!(tails.len(), 2000);
    assert!(tails.iter().all(|t| *t >= 1.0 / 5000.0 && *t <= 1.0));
    // of the model's own rows the tail is uniform: mean ½, deviation of the mean 0.0065
    let mean = tails.iter().sum::<f64>() / 2000.0;
    assert!((mean - 0.5).abs() < 0.03, "{mean}");
}

#[test]
fn samples_do_not_depend_on_how_many() {
    let place = Place::with_model();
    let draw = |n: &str, seed: &str| {
        place.run(&["sample", "m.upoe", "-n", n, "--seed", seed, "--threads", "2"]).ok().out
    };
    let (few, many) = (draw("10", "1"), draw("20000", "1"));
    assert!(many.starts_with(&few));
    assert_eq!(many.lines().count(), 20001);
    assert!(few.starts_with("FL,RW,CL,CW,BD\n"));
    assert_ne!(few, draw("10", "2"));
    assert_eq!(draw("0", "1").lines().count(), 1);
}

#[test]
fn transform_gives_white_projections() {
    let place = Place::with_model();
    let run = place.run(&["transform", "m.upoe", "crabs.csv", "--keep", "sp"]).ok();
    let (header, rows) = run.table();
    assert_eq!(header, ["sp", "z1", "z2"]);
    let mean = |f: &dyn Fn(&[f64]) -> f64| rows.iter().map(|row| f(row)).sum::<f64>() / 200.0;
    assert!((mean(&|z| z[1] * z[1]) - 1.0).abs() < 1e-9);
    assert!(mean(&|z| z[1] * z[2]).abs() < 1e-9);
}

#[test]
fn explanations_add_up() {
    let place = Place::with_model();
    for (by, columns) in [("expert", 2 + 3), ("column", 2 + 3 * 5)] {
        let args = ["explain", "m.upoe", "crabs.csv", "--by", by];
        let (header, rows) = place.run(&args).ok().table();
        assert_eq!(header.len(), columns);
        assert_eq!(header[..2], ["log_density", "baseline"]);
        for row in rows {
            let sum: f64 = row[1..].iter().sum();
            assert!((sum - row[0]).abs() <= 1e-9 * row[0].abs().max(1.0), "{sum} {}", row[0]);
        }
    }
    let (header, _) = place.run(&["explain", "m.upoe", "crabs.csv", "--by", "column"]).ok().table();
    assert_eq!((header[2].as_str(), header[16].as_str()), ("expert1:FL", "rest:BD"));
}

#[test]
fn explain_shows_values_beside_expected_ones() {
    let place = Place::with_model();
    let (header, rows) = place.run(&["explain", "m.upoe", "crabs.csv"]).ok().table();
    assert_eq!(header.len(), 1 + 6 * 5);
    let first =
        ["log_density", "FL", "FL:expected", "FL:low", "FL:high", "FL:surprise", "FL:blame"];
    assert_eq!(header[..7], first);
    let (_, scores) = place.run(&["score", "m.upoe", "crabs.csv"]).ok().table();
    let mut inside = 0;
    for (row, score) in rows.iter().zip(&scores) {
        assert_eq!(row[0], score[0]);
        for cell in row[1..].chunks(6) {
            assert!(cell[2] < cell[1] && cell[1] < cell[3], "{cell:?}");
            assert!((cell[4] < 0.1) != (cell[2]..=cell[3]).contains(&cell[0]), "{cell:?}");
            inside += usize::from(cell[4] >= 0.1);
        }
    }
    assert!((850..=950).contains(&inside), "{inside} of 1000 in intervals of 90 %");
    let said = place.run(&["explain", "m.upoe", "crabs.csv", "--words", "--keep", "sp"]).ok().out;
    assert_eq!(said.lines().count(), 200);
    assert!(said.lines().all(|line| line.matches(", expected ").count() == 3), "{said}");
    place.run(&["explain", "m.upoe", "crabs.csv", "--words", "--json"]).failed(2, &["--words"]);
}

#[test]
fn missing_cells_are_welcome_where_asked_for() {
    let place = Place::with_model();
    let text = "FL,RW,CL,CW,BD\n8.1,6.7,16.1,19.0,7\n8.1,,16.1,19.0,7\n,,,,\n8.1,,,,7\n";
    place.write("holes.csv", text);
    place.run(&["score", "m.upoe", "holes.csv"]).failed(1, &["--missing model"]);
    let args = ["score", "m.upoe", "holes.csv", "--missing", "model"];
    let (header, rows) = place.run(&args).ok().table();
    assert_eq!(header, ["log_density", "standard_error"]);
    let (_, whole) = place.run(&["score", "m.upoe", "crabs.csv"]).ok().table();
    assert_eq!(rows[0], [whole[0][0], 0.0]);
    assert!(rows[1][0].is_finite() && rows[1][0] != rows[0][0] && rows[1][1] == 0.0);
    assert_eq!(rows[2], [0.0, 0.0]);
    assert!(rows[3][1] < 0.01);
    let args = ["transform", "m.upoe", "holes.csv", "--missing", "model"];
    let (_, z) = place.run(&args).ok().table();
    assert!(z.len() == 4 && z.iter().flatten().all(|z| z.is_finite()));
    let args = ["explain", "m.upoe", "holes.csv", "--missing", "model", "--words"];
    let said = place.run(&args).ok().out;
    assert!(said.lines().nth(1).unwrap_or("").contains("expected"), "{said}");
    let args = ["score", "m.upoe", "holes.csv", "--missing", "model", "--tail", "10"];
    place.run(&args).failed(1, &["--missing drop"]);
}

#[test]
fn every_format_goes_out_and_comes_in() {
    let place = Place::with_model();
    let draw = |to: &str| place.run(&["sample", "m.upoe", "-n", "50", "-o", to]).ok();
    draw("s.csv");
    let scores = place.run(&["score", "m.upoe", "s.csv"]).ok().out;
    for file in ["s.tsv", "s.csv.gz", "s.parquet", "s.npy"] {
        draw(file);
        assert_eq!(place.run(&["score", "m.upoe", file]).ok().out, scores, "{file}");
    }
    let input = place.read("s.csv");
    assert_eq!(place.run_with_input(&["score", "m.upoe", "-"], input.as_bytes()).ok().out, scores);
    let args = ["score", "m.upoe", "crabs.csv", "--keep", "sp", "-o", "scores.parquet"];
    place.run(&args).ok();
    place.run(&["score", "m.upoe", "crabs.csv", "-o", "scores.npy"]).ok();
    let args = ["score", "m.upoe", "crabs.csv", "--keep", "sp", "-o", "scores.npy"];
    place.run(&args).failed(1, &["NPY holds numbers only"]);
    // MATLAB files have no names: a fit calls the columns c1, c2, …
    let mat = concat!(env!("CARGO_MANIFEST_DIR"), "/../upoe-table/tests/data/plain.mat");
    let run = place.run(&["fit", mat, "--json", "--experts", "0"]).ok();
    assert_eq!(run.json()["columns"][0], "c1");
}

#[test]
fn fit_reads_the_standard_input() {
    let place = Place::new();
    let input = place.read("crabs.csv");
    let args = ["fit", "-", "-o", "m.upoe", "--columns", "FL,RW", "--experts", "1"];
    place.run_with_input(&args, input.as_bytes()).ok();
    assert!(place.run(&["inspect", "m.upoe"]).ok().out.contains("200 rows × 2 columns"));
}

#[test]
fn whole_groups_are_held_out() {
    let place = Place::new();
    let text = place.read("crabs.csv");
    let mut lines = text.lines();
    let mut grouped = format!("{},g\n", lines.next().unwrap());
    for (i, line) in lines.enumerate() {
        grouped += &format!("{line},{}\n", i % 10);
    }
    place.write("grouped.csv", grouped);
    let mut args = fit_crabs();
    args[1] = "grouped.csv";
    args.extend(["--json", "--holdout-by", "g", "--holdout", "0.25"]);
    let json = place.run(&args).ok().json();
    // groups of 20 until there are 50
    assert_eq!((json["rows"].as_u64(), json["holdout_rows"].as_u64()), (Some(140), Some(60)));
    assert!(json["path"][2]["holdout"].is_f64());
}

#[test]
fn weights_count_rows() {
    let place = Place::new();
    let text = place.read("crabs.csv");
    let mut lines = text.lines();
    let header = lines.next().unwrap().to_owned();
    let (mut weighted, mut repeated) = (format!("{header},w\n"), format!("{header}\n"));
    for (i, line) in lines.enumerate() {
        weighted += &format!("{line},{}\n", i % 3);
        repeated += &format!("{line}\n").repeat(i % 3);
    }
    place.write("weighted.csv", weighted);
    place.write("repeated.csv", repeated);
    let q = |file: &'static str, flags: &[&'static str]| {
        let mut args = fit_crabs();
        args[1] = file;
        args.push("--json");
        args.extend(flags);
        place.run(&args).ok().json()["experts"][0]["q"].as_f64().unwrap()
    };
    let (a, b) = (q("weighted.csv", &["--weights", "w"]), q("repeated.csv", &[]));
    assert!((a - b).abs() < 1e-6, "{a} {b}");
}

#[test]
fn rows_that_belong_together_count_less() {
    let place = Place::new();
    let text = place.read("crabs.csv");
    let mut lines = text.lines();
    let mut blocks = format!("{},b\n", lines.next().unwrap());
    // Every row five times: blocks of five, and a table in order.
    lines.enumerate().for_each(|(i, line)| blocks += &format!("{line},{i}\n").repeat(5));
    place.write("blocks.csv", blocks);
    let notices = |flags: &[&'static str]| {
        let args = ["fit", "blocks.csv", "-o", "m.upoe", "--columns", "FL,RW,CL,CW,BD"];
        let args: Vec<&str> = args.iter().copied().chain(flags.iter().copied()).collect();
        place.run(&args).ok().out.replace('\n', " ")
    };
    let counted = "p-values count 200 independent rows instead of 1000";
    assert!(notices(&[]).contains(counted));
    assert!(!notices(&["--counts"]).contains("instead of 1000"));
    assert!(notices(&["--counts", "--blocks", "b"]).contains("because rows of a block resemble"));
    assert!(notices(&["--counts", "--ordered"]).contains("because rows resemble those before"));
    assert!(notices(&["--counts"]).contains("`--ordered`"));
    let json = place
        .run(&[
            "fit",
            "blocks.csv",
            "--json",
            "--columns",
            "FL,RW",
            "--blocks",
            "b",
            "--holdout",
            "0.2",
        ])
        .ok()
        .json();
    assert_eq!((json["rows"].as_u64(), json["holdout_rows"].as_u64()), (Some(800), Some(200)));
    let refused = place.run(&["fit", "blocks.csv", "--json", "--blocks", "b", "--holdout-by", "b"]);
    assert_eq!(refused.code, Some(2));
}

#[test]
fn every_learner_and_family_can_be_asked_for() {
    let place = Place::new();
    let columns = ["fit", "crabs.csv", "-o", "m.upoe", "--columns", "FL,RW,CL", "--experts", "2"];
    for flags in [
        "--learner sequential --family student-t --fix-mu 0",
        "--learner parallel --start pursuit --family tilt",
        "--learner parallel --start random --family student-t",
        "--learner parallel --start grow --family mixture --mixture-size 3",
        "--precision f32 --dims 2 --stop bic",
        "--recipe paper --family student-t --max-iter 20",
        "--dims 0.99 --stop train --starts 3 --tol 1e-4 --seed 4",
    ] {
        let mut args = columns.to_vec();
        args.extend(flags.split(' '));
        place.run(&args).ok();
        let (_, rows) = parse(&place.run(&["score", "m.upoe", "crabs.csv"]).ok().out);
        assert!(rows.iter().all(|row| row[0].is_finite()), "{flags}");
    }
}

#[test]
fn report_writes_one_page_with_the_rows_and_their_labels() {
    let place = Place::with_model();
    let run =
        place.run(&["report", "m.upoe", "crabs.csv", "--keep", "sp,sex", "-o", "page.html"]).ok();
    assert!(run.err.contains("wrote page.html"), "{}", run.err);
    let page = place.read("page.html");
    assert!(page.starts_with("<!doctype html>") || page.starts_with("<!DOCTYPE html>"));
    assert!(page.len() < 1_000_000, "{}", page.len());
    assert!(page.contains("\"sp\"") && page.contains("crabs.csv"));
    assert!(!page.contains("http://") || !page.contains("src=\"http"));
}

#[test]
fn a_fit_without_an_output_says_what_it_found_and_keeps_nothing() {
    let place = Place::new();
    let run = place.run(&["fit", "crabs.csv"]).ok();
    assert!(
        run.out.contains("columns that move with z") && run.out.contains("two groups"),
        "{run:#?}"
    );
    assert!(run.err.contains("`-o MODEL` writes it to a file"), "{run:#?}");
    // Crabs are numbered from 1 in each species and sex.
    assert!(run.err.contains("column `index` numbers the rows and is left out"), "{run:#?}");
    assert_eq!(std::fs::read_dir(place.root()).unwrap().count(), 1, "only the table");
}
