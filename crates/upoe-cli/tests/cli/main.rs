//! End-to-end tests: they run the built binary as a person would.

mod bad_inputs;
mod blocks;
mod compare;
mod demo;
mod device;
mod groups;
mod large;
mod layers;
mod long_work;
mod manners;
mod missing;
mod model_files;
mod outliers;
mod remedies;
mod reproduce;
mod strange_text;
mod streams;
mod verbs;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// What a run of the command gave.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Run {
    pub(crate) fn of(output: Output) -> Run {
        Run {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// The run, having worked.
    pub(crate) fn ok(self) -> Run {
        assert_eq!(self.code, Some(0), "{self:#?}");
        self
    }

    /// The run, having failed with this status and a message that holds all of these.
    pub(crate) fn failed(self, code: i32, said: &[&str]) -> Run {
        assert_eq!(self.code, Some(code), "{self:#?}");
        for said in said {
            assert!(self.err.contains(said), "no `{said}` in {self:#?}");
        }
        assert!(!self.err.contains("fault in upoe"), "{self:#?}");
        assert_eq!(self.err.lines().filter(|l| l.starts_with("error:")).count(), 1, "{self:#?}");
        self
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap()
    }

    /// The numbers of a CSV table on the standard output, with its header.
    pub(crate) fn table(&self) -> (Vec<String>, Vec<Vec<f64>>) {
        parse(&self.out)
    }
}

pub(crate) fn parse(text: &str) -> (Vec<String>, Vec<Vec<f64>>) {
    let mut lines = text.lines();
    let header = lines.next().unwrap().split(',').map(str::to_owned).collect();
    let row = |line: &str| line.split(',').map(|x| x.parse().unwrap_or(f64::NAN)).collect();
    (header, lines.map(row).collect())
}

/// A directory to work in, with the Crabs data in it.
pub(crate) struct Place(tempfile::TempDir);

impl Place {
    pub(crate) fn new() -> Place {
        let place = Place(tempfile::tempdir().unwrap());
        place.write("crabs.csv", include_bytes!("../../data/crabs.csv"));
        place
    }

    /// With a model of the Crabs, `m.upoe`.
    pub(crate) fn with_model() -> Place {
        let place = Place::new();
        place.run(&fit_crabs()).ok();
        place
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn root(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), bytes).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_upoe"));
        command.current_dir(&self.0).args(args).stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Run {
        Run::of(self.command(args).output().unwrap())
    }

    /// The command in a terminal, as `script` makes one; nothing where there is no `script`.
    pub(crate) fn terminal(&self, line: &str, environment: &[(&str, &str)]) -> Option<Run> {
        let mut script = Command::new("script");
        script.current_dir(&self.0).stdin(Stdio::null());
        script.env_remove("NO_COLOR").env("TERM", "xterm").envs(environment.iter().copied());
        let line = format!("{} {line}", env!("CARGO_BIN_EXE_upoe"));
        let output = script.args(["-qec", &line, "/dev/null"]).output();
        if output.is_err() {
            eprintln!("no `script` here: not tested in a terminal");
        }
        Some(Run::of(output.ok()?))
    }

    pub(crate) fn run_with_input(&self, args: &[&str], input: &[u8]) -> Run {
        let mut command = self.command(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(input).unwrap();
        Run::of(child.wait_with_output().unwrap())
    }
}

/// A quick fit of the Crabs, two experts, to `m.upoe`.
pub(crate) fn fit_crabs() -> Vec<&'static str> {
    "fit crabs.csv -o m.upoe --columns FL,RW,CL,CW,BD --family mixture --fix-mu -1,1 --fix-beta 20 \
     --experts 2"
        .split_whitespace()
        .collect()
}

/// Numbers that look random: uniform in 0…1.
pub(crate) fn noise(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed;
    move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = state;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((x ^ (x >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// A CSV table of heavy-tailed columns, mixed.
pub(crate) fn heavy_tails(rows: usize, columns: usize) -> String {
    let mut next = noise(7);
    let mut text: String = (1..=columns).map(|c| format!("x{c},")).collect();
    text.pop();
    text.push('\n');
    for _ in 0..rows {
        let s: Vec<f64> = (0..columns)
            .map(|c| {
                let u = next() - 0.5;
                u.signum() * (1.0 / (1.0 - 2.0 * u.abs()).max(1e-9)).powf(0.2 + 0.02 * c as f64)
            })
            .collect();
        let cells = (0..columns).map(|c| format!("{:.6}", s[c] + 0.5 * s[(c + 1) % columns]));
        text += &cells.collect::<Vec<_>>().join(",");
        text.push('\n');
    }
    text
}
