//! Every command of the README is run.

use std::process::Command;

use crate::{Place, Run};

#[test]
fn the_session_works_as_written() {
    let readme = include_str!("../../../../README.md");
    let session = readme.split("```sh\n").skip(1).map(|part| part.split("```").next().unwrap());
    let place = Place::new();
    let upoe = std::path::Path::new(env!("CARGO_BIN_EXE_upoe"));
    let path = format!("{}:{}", upoe.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let mut count = 0;
    for line in session.flat_map(str::lines).filter(|line| line.contains("upoe ")) {
        let mut shell = Command::new("bash");
        shell.current_dir(place.root()).env("PATH", &path).args(["-ec", line]);
        let run = Run::of(shell.output().unwrap());
        assert_eq!(run.code, Some(0), "{line}: {run:#?}");
        count += 1;
    }
    assert!(count >= 6, "{count} commands");
    // what the session says is there is there
    for file in ["crabs.upoe", "scores.csv", "more.csv"] {
        assert!(place.path(file).exists(), "{file}");
    }
}
