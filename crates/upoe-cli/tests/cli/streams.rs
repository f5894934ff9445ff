//! Where results go: never over an input, and never into nothing.

use std::process::Command;

use crate::{Place, Run};

#[test]
fn nothing_is_written_over_what_it_is_made_from() {
    let place = Place::with_model();
    let over = &["which this command reads", "would be written over"];
    place.run(&["fit", "crabs.csv", "-o", "./crabs.csv"]).failed(1, over);
    place.run(&["fit", "crabs.csv", "-o", "n.upoe", "--checkpoint", "crabs.csv"]).failed(1, over);
    place.run(&["score", "m.upoe", "crabs.csv", "-o", "crabs.csv"]).failed(1, over);
    place.run(&["transform", "m.upoe", "crabs.csv", "-o", "m.upoe"]).failed(1, over);
    place.run(&["explain", "m.upoe", "crabs.csv", "-o", "crabs.csv"]).failed(1, over);
    place.run(&["report", "m.upoe", "crabs.csv", "-o", "m.upoe"]).failed(1, over);
    place.run(&["sample", "m.upoe", "-n", "1", "-o", "m.upoe"]).failed(1, over);
    let swapped = "crabs.csv: not a upoe model, but m.upoe is: name the model first";
    place.run(&["score", "crabs.csv", "m.upoe"]).failed(1, &[swapped]);
    let same = &["are the same file"];
    for checkpoint in ["new.upoe", "./new.upoe", "m.upoe"] {
        let output = if checkpoint == "m.upoe" { "./m.upoe" } else { "new.upoe" };
        let args = ["fit", "crabs.csv", "-o", output, "--resume", "--checkpoint", checkpoint];
        place.run(&args).failed(1, same);
    }
}

#[cfg(unix)]
#[test]
fn a_file_is_known_under_its_other_names() {
    let place = Place::with_model();
    let over = &["which this command reads"];
    std::fs::hard_link(place.path("m.upoe"), place.path("second.csv")).unwrap();
    std::os::unix::fs::symlink("m.upoe", place.path("link.csv")).unwrap();
    std::os::unix::fs::symlink(".", place.path("here")).unwrap();
    for name in ["second.csv", "link.csv", "here/second.csv"] {
        place.run(&["sample", "m.upoe", "-n", "1", "-o", name]).failed(1, over);
        place.run(&["sample", name, "-n", "1", "-o", "./second.csv"]).failed(1, over);
        place.run(&["score", "m.upoe", "crabs.csv", "-o", name]).failed(1, over);
    }
    // on the standard output, and from the standard input
    shell(&place, "upoe sample m.upoe -n 1 >> link.csv").failed(1, over);
    shell(&place, "upoe fit - -o crabs.csv < here/crabs.csv").failed(1, over);
    place.run(&["inspect", "m.upoe"]).ok();
}

#[test]
fn the_run_compared_with_is_kept() {
    let place = Place::new();
    std::fs::create_dir(place.path("out")).unwrap();
    std::fs::copy(
        concat!(env!("CARGO_MANIFEST_DIR"), "/data/peers-crabs.json"),
        place.path("out/results.json"),
    )
    .unwrap();
    let args = ["reproduce", "crabs", "--peers", "out/results.json", "-o", "out"];
    place.run(&args).failed(1, &["out/results.json", "which this command reads"]);
}

/// Every verb, with a result for the standard output.
const VERBS: [&str; 16] = [
    "--help",
    "--version",
    "fit --help",
    "help score",
    "completions bash",
    "man",
    "man fit",
    "inspect m.upoe",
    "inspect m.upoe --json",
    "score m.upoe crabs.csv",
    "score m.upoe crabs.csv --json",
    "sample m.upoe -n 9",
    "transform m.upoe crabs.csv",
    "explain m.upoe crabs.csv -o -",
    "fit crabs.csv --columns FL,RW --experts 0 -o n.upoe",
    "demo -o demo",
];

#[test]
fn a_result_that_goes_nowhere_is_an_error() {
    let place = Place::with_model();
    std::fs::create_dir(place.path("demo")).unwrap();
    for verb in VERBS {
        shell(&place, &format!("upoe {verb} > all.txt")).ok();
        assert!(!place.read("all.txt").is_empty(), "{verb}");
        shell(&place, &format!("upoe {verb} > /dev/null")).ok();
        let full = shell(&place, &format!("upoe {verb} > /dev/full"));
        full.failed(1, &["standard output: no space left on the device"]);
        let closed = shell(&place, &format!("upoe {verb} >&-"));
        closed.failed(1, &["standard output: is closed"]);
    }
    // where nothing goes there, nothing is missed
    shell(&place, "upoe score m.upoe crabs.csv -o scores.csv >&-").ok();
    shell(&place, "upoe report m.upoe crabs.csv -o page.html >&-").ok();
    shell(&place, "upoe fit crabs.csv --columns FL,RW --experts 0 -q -o n.upoe >&-").ok();
}

fn shell(place: &Place, line: &str) -> Run {
    let upoe = std::path::Path::new(env!("CARGO_BIN_EXE_upoe"));
    let path = format!("{}:{}", upoe.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let mut bash = Command::new("bash");
    bash.current_dir(place.root()).env("PATH", path).args(["-c", line]);
    Run::of(bash.output().unwrap())
}
