//! Model files: exact, guarded by their checksum, readable without our code.

use std::process::Command;

use crate::{Place, Run};

#[test]
fn a_round_trip_is_exact() {
    let place = Place::with_model();
    let file = upoe_file::ModelFile::read(place.path("m.upoe")).unwrap();
    file.write(place.path("again.upoe")).unwrap();
    let bytes = |name: &str| std::fs::read(place.path(name)).unwrap();
    assert_eq!(bytes("m.upoe"), bytes("again.upoe"));
    let scores = |name: &str| place.run(&["score", name, "crabs.csv"]).ok().out;
    assert_eq!(scores("m.upoe"), scores("again.upoe"));
}

#[test]
fn scores_after_loading_are_those_before() {
    let names: Vec<String> = ["a", "b", "c"].map(str::to_owned).to_vec();
    let mut next = crate::noise(3);
    let values: Vec<f64> = (0..900).map(|i| next().powi(1 + i % 3) * 1e3f64.powi(i % 3)).collect();
    let rows = upoe::Rows::new(&values, 3).unwrap();
    for dims in [upoe::Dims::All, upoe::Dims::Count(2)] {
        for &family in upoe::expert::Family::ALL {
            let settings = upoe::Settings::default().with(|s| {
                s.experts = Some(2);
                s.families = family.into();
                s.dims = dims;
            });
            let fit = upoe::fit(&rows, &settings).unwrap();
            let before = fit.model.score(&rows).unwrap();
            let evaluation = upoe::evaluate::Evaluation::of(&fit.model, &rows, None).unwrap();
            let training = upoe_file::Training::new(evaluation, 0.1, &settings);
            let place = Place::new();
            let file = upoe_file::ModelFile::new(fit, names.clone(), settings, training);
            file.write(place.path("m.upoe")).unwrap();
            let loaded = upoe_file::ModelFile::read(place.path("m.upoe")).unwrap();
            let after = loaded.model.score(&rows).unwrap();
            let bits = |v: Vec<f64>| v.into_iter().map(f64::to_bits).collect::<Vec<_>>();
            assert_eq!(bits(before), bits(after));
            assert_eq!(loaded.state, file.state);
            assert_eq!(loaded.training, file.training);
        }
    }
}

#[test]
fn any_flipped_byte_is_found() {
    let place = Place::with_model();
    let bytes = std::fs::read(place.path("m.upoe")).unwrap();
    // every byte through the library, some through the command
    for i in 0..bytes.len() {
        let mut altered = bytes.clone();
        altered[i] ^= 1 << (i % 8);
        let path = place.path("altered.upoe");
        assert!(upoe_file::Container::from_bytes(&altered, &path).is_err(), "byte {i}");
    }
    for i in (0..bytes.len()).step_by(bytes.len() / 16) {
        let mut altered = bytes.clone();
        altered[i] ^= 0x10;
        place.write("altered.upoe", &altered);
        let run = place.run(&["score", "altered.upoe", "crabs.csv"]).failed(1, &["altered.upoe"]);
        assert_eq!(run.out, "");
    }
}

#[test]
fn other_files_are_told_apart() {
    let place = Place::with_model();
    let bytes = std::fs::read(place.path("m.upoe")).unwrap();
    place.write("cut.upoe", &bytes[..bytes.len() - 10]);
    place.run(&["inspect", "cut.upoe"]).failed(1, &["cut short"]);
    place.run(&["inspect", "crabs.csv"]).failed(1, &["crabs.csv: not a upoe model"]);
    place.write("empty.upoe", "");
    place.run(&["inspect", "empty.upoe"]).failed(1, &["the file is empty"]);
    let mut args = crate::fit_crabs();
    args.extend(["--checkpoint", "c.ckpt"]);
    place.run(&args).ok();
    place.run(&["inspect", "c.ckpt"]).failed(1, &["is the checkpoint of a fit"]);
}

/// The Python of docs/model-file.md, run on models of every family.
#[test]
fn plain_python_scores_a_row() {
    if Command::new("python3").arg("--version").output().is_err() {
        eprintln!("no python3 here: not tested");
        return;
    }
    let guide = include_str!("../../../../docs/model-file.md");
    let blocks = guide.split("```python\n").skip(1);
    let [ten, tilts] =
        blocks.map(|block| block.split("```").next().unwrap()).collect::<Vec<_>>()[..]
    else {
        panic!("two blocks of Python")
    };
    assert_eq!(ten.lines().count(), 10);
    let with_tilts =
        ten.replace("x = ", &format!("{tilts}x = ")).replace("sum(ln_t(", "sum(ln_expert(");
    let place = Place::new();
    place.write("rows.csv", "FL,RW,CL,CW,BD\n8.1,6.7,16.1,19,7\n30,5,20,50,9\n15,12,32,36,14\n");
    for (flags, code) in [
        ("--experts 0", ten),
        ("--experts 3 --family student-t", ten),
        ("--experts 3 --family mixture", ten),
        ("--experts 3 --family tilt", with_tilts.as_str()),
        ("--experts 3", with_tilts.as_str()),
    ] {
        place.write("score.py", code);
        let mut args = vec!["fit", "crabs.csv", "-o", "m.upoe", "--columns", "FL,RW,CL,CW,BD"];
        args.extend(flags.split(' '));
        place.run(&args).ok();
        let (_, scores) = place.run(&["score", "m.upoe", "rows.csv"]).ok().table();
        for (line, score) in place.read("rows.csv").lines().skip(1).zip(scores) {
            let mut python = Command::new("python3");
            python.current_dir(place.root()).args(["score.py", "m.upoe", line]);
            let said = Run::of(python.output().unwrap()).ok().out;
            let theirs: f64 = said.trim().parse().unwrap();
            let error = (theirs - score[0]).abs() / score[0].abs().max(1.0);
            assert!(error < 1e-10, "{flags} {line}: {theirs} and {}", score[0]);
        }
    }
}
