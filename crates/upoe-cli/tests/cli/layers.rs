//! Stacks and pools through every verb.

use crate::Place;

const COLUMNS: [&str; 2] = ["--columns", "FL,RW,CL,CW,BD"];

fn numbers(text: &str) -> Vec<Vec<f64>> {
    text.lines().skip(1).map(|l| l.split(',').map(|c| c.parse().unwrap()).collect()).collect()
}

#[test]
fn every_verb_works_for_every_kind() {
    let place = Place::with_model();
    for quality in ["good", "best"] {
        let fit = [
            "fit",
            "crabs.csv",
            "-o",
            "m.upoe",
            "--holdout",
            "0.2",
            "--quality",
            quality,
            "--json",
        ];
        let fit = place.run(&[&fit[..], &COLUMNS].concat()).ok();
        let json: serde_json::Value = serde_json::from_str(&fit.out).unwrap();
        assert_eq!(json["quality"], quality);
        let layers = json["layers"].as_array().unwrap();
        assert!(layers.len() > 1 && layers[0]["holdout_gain"].is_number(), "{layers:?}");
        assert_eq!(json["pool"].is_array(), quality == "best");
        assert!(json["gain"]["holdout"].as_f64().unwrap() > 0.0);
        let scores =
            numbers(&place.run(&["score", "m.upoe", "crabs.csv", "--tail", "500"]).ok().out);
        assert_eq!(scores.len(), 200);
        let by_expert = ["explain", "m.upoe", "crabs.csv", "--by", "expert"];
        let parts = numbers(&place.run(&by_expert).ok().out);
        let by_column = ["explain", "m.upoe", "crabs.csv", "--by", "column"];
        let columns = numbers(&place.run(&by_column).ok().out);
        for ((score, parts), columns) in scores.iter().zip(&parts).zip(&columns) {
            for split in [parts, columns] {
                assert_eq!(split[0], score[0]);
                let sum: f64 = split[1..].iter().sum();
                assert!((sum - score[0]).abs() < 1e-9, "{sum} {}", score[0]);
            }
        }
        let drawn = numbers(&place.run(&["sample", "m.upoe", "-n", "20"]).ok().out);
        assert_eq!((drawn.len(), drawn[0].len()), (20, 5));
        let z = numbers(&place.run(&["transform", "m.upoe", "crabs.csv"]).ok().out);
        assert_eq!(z[0].len(), json["experts"].as_array().unwrap().len());
        place.run(&["report", "m.upoe", "crabs.csv", "-o", "r.html"]).ok();
        assert!(std::fs::read_to_string(place.path("r.html")).unwrap().contains("layer1.expert1"));
        let text = place.run(&["inspect", "m.upoe"]).ok().out;
        assert!(text.contains("layer    gain  held out"), "{text}");
        assert_eq!(text.contains("member of the pool"), quality == "best");
        let note = place.run(&["score", "m.upoe", "crabs.csv", "--device", "cuda"]).ok();
        assert!(note.err.contains("the CPU does the work"), "{}", note.err);
    }
}

#[test]
fn depth_and_quality_say_how_many_layers_there_are() {
    let place = Place::with_model();
    let depth = |flags: &[&str]| {
        let fit = ["fit", "crabs.csv", "--json", "-q"];
        let run = place.run(&[&fit[..], &COLUMNS, flags].concat()).ok();
        let json: serde_json::Value = serde_json::from_str(&run.out).unwrap();
        (json["quality"].as_str().unwrap().to_owned(), json["depth"].as_u64())
    };
    assert_eq!(depth(&["--depth", "1"]), ("fast".into(), None));
    assert_eq!(depth(&["--depth", "2"]), ("good".into(), Some(2)));
    assert_eq!(depth(&["--experts", "2"]), ("fast".into(), None));
    assert_eq!(depth(&["--experts", "2", "--quality", "good", "--depth", "2"]).0, "good");
    let refused = |flags: &[&str], text: &str| {
        let fit = ["fit", "crabs.csv", "--json"];
        place.run(&[&fit[..], &COLUMNS, flags].concat()).failed(2, &[text]);
    };
    refused(
        &["--quality", "fast", "--depth", "auto"],
        "--depth auto: the quality fast has one layer",
    );
    refused(&["--quality", "good", "--learner", "parallel"], "use the learner pursuit");
    refused(&["--depth", "0"], "give a number of layers from 1, or auto");
}

#[test]
fn a_fit_of_layers_resumes_to_the_same_bits() {
    let place = Place::with_model();
    let fit = |output: &str, more: &[&str]| {
        let fit = ["fit", "crabs.csv", "-o", output, "--quality", "good", "-q"];
        place.run(&[&fit[..], &COLUMNS, more].concat()).ok();
        place.run(&["score", output, "crabs.csv"]).ok().out
    };
    let whole = fit("a.upoe", &["--checkpoint", "c.ckpt"]);
    assert_eq!(fit("b.upoe", &["--checkpoint", "c.ckpt", "--resume"]), whole);
}
