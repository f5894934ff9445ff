//! Work that is interrupted, killed and resumed.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::{Place, Run, heavy_tails};

const FIT: [&str; 12] = [
    "fit",
    "data.csv",
    "-o",
    "m.upoe",
    "--experts",
    "10",
    "--family",
    "student-t",
    "--stop",
    "train",
    "--tol",
    "1e-7",
];

fn place() -> Place {
    let place = Place::new();
    place.write("data.csv", heavy_tails(10_000, 12));
    place
}

/// Starts a fit and waits until its checkpoint is there.
fn start(place: &Place, args: &[&str]) -> Child {
    let mut command = place.command(args);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let begin = Instant::now();
    while !place.path("c.ckpt").exists() {
        assert!(begin.elapsed() < Duration::from_secs(120), "no checkpoint");
        std::thread::sleep(Duration::from_millis(2));
    }
    child
}

/// What a model says but for the time it took.
fn what_it_says(place: &Place, name: &str) -> serde_json::Value {
    let mut json = place.run(&["inspect", name, "--json"]).ok().json();
    json["seconds"].take();
    json
}

#[test]
fn a_killed_fit_resumes_with_the_same_bits() {
    let place = place();
    let mut whole = FIT;
    whole[3] = "whole.upoe";
    place.run(&whole).ok();

    let mut args = FIT.to_vec();
    args.extend(["--checkpoint", "c.ckpt", "--resume"]);
    let mut child = start(&place, &args);
    child.kill().unwrap(); // SIGKILL
    child.wait().unwrap();
    assert!(!place.path("m.upoe").exists(), "the fit was over before it was killed");

    let mut changed = args.clone();
    changed.extend(["--seed", "9"]);
    place.run(&changed).failed(1, &["other settings (seed was 0 and is 9 now)"]);
    let mut changed = args.clone();
    changed[1] = "crabs.csv";
    place.run(&changed).failed(1, &["c.ckpt: the checkpoint belongs to other data"]);
    place.run(&args[..args.len() - 1]).failed(1, &["add `--resume` to continue from it"]);

    args.extend(["--threads", "1"]); // may change
    let run = place.run(&args).ok();
    assert!(run.err.contains("resumed after"), "{}", run.err);
    assert_eq!(what_it_says(&place, "m.upoe"), what_it_says(&place, "whole.upoe"));
    let scores = |name: &str| place.run(&["score", name, "data.csv"]).ok().out;
    assert_eq!(scores("m.upoe"), scores("whole.upoe"));

    // resumed once more, when all is done
    place.run(&args).ok();
    assert_eq!(what_it_says(&place, "m.upoe"), what_it_says(&place, "whole.upoe"));
}

#[test]
fn ctrl_c_and_sigterm_keep_the_experts_learned_so_far() {
    for signal in ["-INT", "-TERM"] {
        let place = place();
        let mut args = FIT.to_vec();
        args.extend(["--checkpoint", "c.ckpt"]);
        let child = start(&place, &args);
        send(signal, &child);
        let run = Run::of(child.wait_with_output().unwrap());
        assert_eq!(run.code, Some(130), "{run:#?}");
        assert!(run.err.contains("kept in m.upoe"), "{run:#?}");
        let json = what_it_says(&place, "m.upoe");
        assert_eq!(json["stop_reason"], "interrupted");
        let experts = json["experts"].as_array().unwrap().len();
        assert!((1..10).contains(&experts), "{experts}");
    }
}

/// Where the pipe says nothing more, too: the verbs wait for it, and end within a second.
#[test]
fn ctrl_c_ends_the_wait_for_a_pipe() {
    let place = Place::with_model();
    for args in [["fit", "-", "-o", "n.upoe"], ["score", "m.upoe", "-", "--quiet"]] {
        let mut command = place.command(&args);
        let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = pipes.spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        std::io::Write::write_all(&mut input, b"FL,RW,CL,CW,BD\n1,2,3,4,5\n").unwrap();
        std::thread::sleep(Duration::from_millis(300));
        let begin = Instant::now();
        send("-INT", &child);
        let run = Run::of(child.wait_with_output().unwrap());
        assert_eq!(run.code, Some(130), "{run:#?}");
        assert!(run.err.contains("interrupted while reading"), "{run:#?}");
        assert!(begin.elapsed() < Duration::from_secs(1), "{:?}", begin.elapsed());
        drop(input);
    }
}

#[test]
fn ctrl_c_while_reading_ends_at_once() {
    let place = Place::new();
    let mut command = place.command(&["fit", "-", "-o", "m.upoe"]);
    let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = pipes.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let table = heavy_tails(2000, 10);
    std::io::Write::write_all(&mut input, table.as_bytes()).unwrap();
    std::thread::sleep(Duration::from_millis(200));
    send("-INT", &child);
    std::thread::sleep(Duration::from_millis(100));
    let rows = table.split_once('\n').unwrap().1;
    for _ in 0..20 {
        // it may be gone already
        let _ = std::io::Write::write_all(&mut input, rows.as_bytes());
    }
    drop(input);
    let run = Run::of(child.wait_with_output().unwrap());
    assert_eq!(run.code, Some(130), "{run:#?}");
    assert!(run.err.contains("interrupted while reading"), "{run:#?}");
    assert!(!place.path("m.upoe").exists());
}

/// Even a killed program leaves nothing where the file system has files without a name, as those
/// of Linux have but NFS has not.
#[cfg(target_os = "linux")]
#[test]
fn an_ended_program_leaves_no_half_written_file() {
    let place = Place::with_model();
    let files = || {
        let entries = std::fs::read_dir(place.root()).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    place.write("old.csv", "old");
    let before = files();
    let flags = rustix::fs::OFlags::TMPFILE | rustix::fs::OFlags::WRONLY;
    let unnamed = rustix::fs::open(place.root(), flags, rustix::fs::Mode::empty()).is_ok();
    for (signal, to) in [("-KILL", "big.csv"), ("-TERM", "big.csv"), ("-KILL", "old.csv")] {
        let mut command = place.command(&["sample", "m.upoe", "-n", "900000000", "-o", to]);
        let mut child = command.stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(700));
        assert_eq!(child.try_wait().unwrap(), None, "it was over before it was ended");
        send(signal, &child);
        child.wait().unwrap();
        if unnamed || signal == "-TERM" {
            assert_eq!(files(), before, "{signal}");
        }
        assert_eq!(place.read("old.csv"), "old");
    }
}

#[cfg(unix)]
#[test]
fn links_given_as_outputs_are_followed() {
    let place = Place::with_model();
    std::fs::create_dir(place.path("far")).unwrap();
    place.write("far/there.csv", "old");
    for name in ["there.csv", "nowhere.csv"] {
        let link = format!("to-{name}");
        std::os::unix::fs::symlink(format!("far/{name}"), place.path(&link)).unwrap();
        place.run(&["sample", "m.upoe", "-n", "3", "-o", &link]).ok();
        assert!(std::fs::symlink_metadata(place.path(&link)).unwrap().is_symlink(), "{name}");
        assert_eq!(place.read(&format!("far/{name}")).lines().count(), 4, "{name}");
    }
}

fn send(signal: &str, child: &Child) {
    let pid = child.id().to_string();
    assert!(Command::new("kill").args([signal, &pid]).status().unwrap().success());
}

#[test]
fn a_fit_says_what_it_does_a_line_an_expert() {
    let place = Place::new();
    let run = place.run(&crate::fit_crabs()).ok();
    for said in [
        "read crabs.csv: 200 rows × 5 columns",
        "sphering",
        "expert 1 of 2: gain 0.3566 nats per row",
        "expert 2 of 2",
        "scoring",
        "wrote m.upoe",
    ] {
        assert!(run.err.contains(said), "no `{said}` in {}", run.err);
    }
    let mut quiet = crate::fit_crabs();
    quiet.push("--quiet");
    let run = place.run(&quiet).ok();
    assert_eq!((run.out.as_str(), run.err.as_str()), ("", ""));
}
