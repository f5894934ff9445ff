//! Work on many rows goes block by block: the same bits, with progress, and Ctrl-C ends it.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use upoe::Rows;
use upoe_file::ModelFile;
use upoe_table::{ReadOptions, Table};

use crate::{Place, heavy_tails};

/// A model of few columns and one of many, each with rows for several blocks.
fn cases(place: &Place) -> [(&'static str, &'static str); 2] {
    place.run(&["sample", "m.upoe", "-n", "9000", "-o", "narrow.csv"]).ok();
    place.write("wide.csv", heavy_tails(3000, 70));
    let fit = "fit wide.csv -o w.upoe --experts 2 --family student-t --dims 60 --max-iter 5";
    place.run(&fit.split(' ').collect::<Vec<_>>()).ok();
    [("m.upoe", "narrow.csv"), ("w.upoe", "wide.csv")]
}

#[test]
fn blocks_give_the_bits_of_the_whole() {
    let place = Place::with_model();
    for (model, data) in cases(&place) {
        let file = ModelFile::read(place.path(model)).unwrap();
        let table = Table::read(place.path(data), &ReadOptions::default()).unwrap();
        let rows = Rows::new(&table.data, table.names.len()).unwrap();
        let numbers = |args: &[&str]| -> Vec<f64> {
            place.run(args).ok().table().1.into_iter().flatten().collect()
        };
        let scores = file.model.score(&rows).unwrap();
        assert_eq!(numbers(&["score", model, data]), scores);
        assert_eq!(numbers(&["transform", model, data]), file.model.transform(&rows).unwrap());
        let samples = file.model.sample(5000, 3);
        assert_eq!(numbers(&["sample", model, "-n", "5000", "--seed", "3"]), samples);
        let mut drawn = file.model.score(&Rows::new(&samples, table.names.len()).unwrap()).unwrap();
        drawn.sort_by(f64::total_cmp);
        let tail = |score: &f64| (drawn.partition_point(|d| d <= score) + 1) as f64 / 5001.0;
        let expected: Vec<f64> = scores.iter().flat_map(|score| [*score, tail(score)]).collect();
        assert_eq!(numbers(&["score", model, data, "--tail", "5000", "--seed", "3"]), expected);
    }
}

fn begin(place: &Place, args: &[&str]) -> Child {
    let mut command = place.command(args);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Ctrl-C: status 130, and how long the end took. Gives what was said.
#[track_caller]
fn interrupted(mut child: Child, mut said: String) -> String {
    let begin = Instant::now();
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    // what is still in the pipes
    std::io::copy(&mut child.stdout.take().unwrap(), &mut std::io::sink()).unwrap();
    if let Some(mut err) = child.stderr.take() {
        err.read_to_string(&mut said).unwrap();
    }
    assert_eq!(child.wait().unwrap().code(), Some(130), "{said}");
    // A second is the promise; the machine may be busy.
    assert!(begin.elapsed() < Duration::from_secs(2), "{:?}: {said}", begin.elapsed());
    said
}

/// What stderr says until a line that holds `text`.
fn until(child: &mut Child, text: &str) -> String {
    let mut said = String::new();
    let mut lines = BufReader::new(child.stderr.take().unwrap());
    while !said.contains(text) {
        assert_ne!(lines.read_line(&mut said).unwrap(), 0, "no `{text}` in {said}");
    }
    // What comes later is read here, or the command would wait.
    std::thread::spawn(move || std::io::copy(&mut lines, &mut std::io::sink()));
    said
}

#[test]
fn endless_work_says_how_far_it_is_and_ends_on_ctrl_c() {
    let place = Place::with_model();
    let most = "1000000000000";
    for (args, of) in [
        (&["sample", "m.upoe", "-n", most, "-o", "/dev/null"][..], " of 1,000,000,000,000 rows, "),
        (
            &["score", "m.upoe", "crabs.csv", "--tail", "100000000", "-o", "s.csv"],
            " of 100,000,000 rows, ",
        ),
    ] {
        let start = Instant::now();
        let mut child = begin(&place, args);
        let said = until(&mut child, " left\n");
        assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
        for part in [of, " per second, "] {
            assert!(said.contains(part), "{said}");
        }
        interrupted(child, said);
        assert!(!place.path("s.csv").exists());
    }
}

#[test]
fn ctrl_c_ends_work_on_a_table() {
    let place = Place::with_model();
    place.run(&["sample", "m.upoe", "-n", "60000", "-o", "t.csv"]).ok();
    for (verb, what) in
        [("score", "scoring"), ("transform", "projecting"), ("explain", "explaining")]
    {
        // It waits at the full pipe, with most rows still to come.
        let mut child = begin(&place, &[verb, "m.upoe", "t.csv"]);
        child.stdout.as_mut().unwrap().read_exact(&mut [0; 10]).unwrap();
        let said = interrupted(child, String::new());
        let text = format!("interrupted while {what}, after ");
        assert!(said.contains(&text) && said.contains(" of 60,000 rows"), "{said}");
    }
    place.run(&["sample", "m.upoe", "-n", "300000", "-o", "t.npy"]).ok();
    let mut child = begin(&place, &["report", "m.upoe", "t.npy", "-o", "r.html"]);
    let said = until(&mut child, "read t.npy");
    interrupted(child, said);
    assert!(!place.path("r.html").exists());
}
