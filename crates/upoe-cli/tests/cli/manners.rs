//! Help, completions, manual, colours, broken pipes.

use std::io::Read;
use std::process::Stdio;

use crate::{Place, Run};

const VERBS: [&str; 10] = [
    "demo",
    "fit",
    "score",
    "sample",
    "transform",
    "explain",
    "inspect",
    "report",
    "completions",
    "man",
];

#[test]
fn every_verb_has_help_with_examples() {
    let place = Place::new();
    let top = place.run(&["--help"]).ok().out;
    for verb in VERBS {
        assert!(top.contains(&format!("\n  {verb} ")), "{verb} in {top}");
        let help = place.run(&[verb, "--help"]).ok().out;
        assert!(help.contains("Examples:"), "{help}");
        assert!(help.contains(&format!("upoe {verb}")), "{help}");
        assert!(help.lines().all(|line| line.chars().count() <= 100), "{help}");
    }
    let version = place.run(&["--version"]).ok().out;
    assert_eq!(version.trim(), concat!("upoe ", env!("CARGO_PKG_VERSION")));
}

#[test]
fn a_wrong_command_line_has_status_2() {
    let place = Place::new();
    let run = place.run(&["fitt"]);
    assert_eq!(run.code, Some(2));
    assert!(run.err.contains("'fit'"), "{}", run.err);
    assert_eq!(place.run(&[]).code, Some(2));
    assert_eq!(place.run(&["fit", "-o", "m"]).code, Some(2));
    let run = place.run(&["fit", "crabs.csv", "-o", "m", "--learnr", "pursuit"]);
    assert!(run.code == Some(2) && run.err.contains("--learner"), "{run:#?}");
    place.run(&["man", "nothing"]).failed(2, &["no verb `nothing`"]);
}

#[test]
fn completions_and_manual_pages() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = place.run(&["completions", shell]).ok().out;
        assert!(script.contains("holdout-by"), "{shell}");
    }
    let page = place.run(&["man"]).ok().out;
    assert!(page.contains(".TH upoe 1"), "{page}");
    let page = place.run(&["man", "fit"]).ok().out;
    assert!(page.contains(".TH upoe-fit 1") && page.contains("Exit status"), "{page}");
    place.run(&["man", "-o", "."]).ok();
    assert!(VERBS.iter().all(|verb| place.path(&format!("upoe-{verb}.1")).exists()));
}

#[test]
fn a_broken_pipe_ends_quietly() {
    let place = Place::with_model();
    for args in [
        vec!["sample", "m.upoe", "-n", "1000000"],
        vec!["sample", "m.upoe", "-n", "300000", "--json"],
        vec!["completions", "bash"],
    ] {
        let mut command = place.command(&args);
        let pipes = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = pipes.spawn().unwrap();
        let mut some = [0; 10];
        child.stdout.take().unwrap().read_exact(&mut some).unwrap(); // and closed
        let run = Run::of(child.wait_with_output().unwrap());
        assert_eq!((run.code, run.err.as_str()), (Some(0), ""), "{args:?}");
    }
}

#[test]
fn colours_only_where_they_are_wanted() {
    let place = Place::with_model();
    let coloured = |run: &Run| run.out.contains('\u{1b}') || run.err.contains('\u{1b}');
    assert!(!coloured(&place.run(&["inspect", "m.upoe"]).ok()));
    let mut command = place.command(&["inspect", "m.upoe"]);
    let forced = Run::of(command.env("CLICOLOR_FORCE", "1").output().unwrap());
    assert!(coloured(&forced), "{forced:#?}");
    let Some(plain) = place.terminal("inspect m.upoe", &[("NO_COLOR", "1")]) else { return };
    assert!(!coloured(&plain.ok()));
    assert!(coloured(&place.terminal("inspect m.upoe", &[]).unwrap().ok()));
}

#[test]
fn inspect_fits_80_columns_and_names_cannot_harm_the_terminal() {
    let place = Place::with_model();
    let said = place.run(&["inspect", "m.upoe"]).ok().out;
    assert!(said.contains("two groups") && said.contains("Stopped because"), "{said}");
    assert!(said.lines().all(|line| line.chars().count() <= 80), "{said}");
    let name = "\u{1b}[2J evil and very long indeed, so that it would not fit in a line";
    place.write("evil.csv", format!("\"{name}\",b\n1,2\n3,5\n7,1\n2,9\n4,4\n6,6\n"));
    place.run(&["fit", "evil.csv", "-o", "e.upoe", "--experts", "1"]).ok();
    let mut command = place.command(&["inspect", "e.upoe"]);
    let said = Run::of(command.env("CLICOLOR_FORCE", "1").output().unwrap()).ok().out;
    assert!(!said.contains("\u{1b}[2J") && said.contains("evil"), "{said}");
}
