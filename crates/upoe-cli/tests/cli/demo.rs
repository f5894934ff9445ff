//! The demo.

use crate::{Place, Run};

#[test]
fn demo_fits_the_crabs_as_the_paper_does() {
    let place = Place::new();
    let run = place.run(&["demo", "-o", "a folder"]).ok();
    let flowing = run.out.replace('\n', " ");
    for said in [
        "gain 0.35659 nats per crab",
        "gain 0.11067 nats per crab",
        "two groups",
        "separates the two species: 200 of 200",
        "separates the sexes: 185 of 200",
        "█",
        "•",
    ] {
        assert!(flowing.contains(said), "no {said} in {}", run.out);
    }
    let (shown, _) = run.out.split_once("Try next").unwrap();
    assert!(shown.lines().all(|line| line.chars().count() <= 100), "{shown}");
    let found = place.run(&["inspect", "a folder/crabs.upoe", "--json"]).ok().json();
    assert!((found["experts"][0]["q"].as_f64().unwrap() + 0.35659).abs() < 1e-4);
    // What it says to try next works as it is printed.
    let commands: Vec<String> = run.out.lines().filter_map(command).collect();
    assert!(commands.len() >= 6, "{commands:?}");
    for command in commands {
        let mut shell = std::process::Command::new("sh");
        shell.current_dir(place.root()).env("PATH", "/usr/bin:/bin").args(["-c", &command]);
        let done = shell.output().unwrap();
        assert!(done.status.success(), "{command}: {}", String::from_utf8_lossy(&done.stderr));
    }
}

/// The command that a line proposes.
fn command(line: &str) -> Option<String> {
    Some(line[line.find(env!("CARGO_BIN_EXE_upoe"))?..].to_owned())
}

/// Without a folder, the demo does not leave files where one works.
#[test]
fn demo_writes_to_a_temporary_folder_that_it_names() {
    let place = Place::new();
    std::fs::create_dir(place.path("t")).unwrap();
    let mut demo = place.command(&["demo"]);
    let run = Run::of(demo.env("TMPDIR", place.path("t")).output().unwrap()).ok();
    let folder = place.path("t").join("upoe-demo");
    assert!(folder.join("report.html").is_file());
    assert!(run.err.contains(&format!("report.html in {}", folder.display())), "{run:#?}");
    assert!(!place.path("crabs.upoe").exists());
}
