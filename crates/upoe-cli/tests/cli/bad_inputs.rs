//! Every bad input ends with status 1 and a message that names the place and the remedy.

use crate::Place;

/// Fits a table of this content and expects status 1 with all of these in the message.
fn refused(content: impl AsRef<[u8]>, said: &[&str]) {
    refused_with(content, &[], said);
}

fn refused_with(content: impl AsRef<[u8]>, flags: &[&str], said: &[&str]) {
    let place = Place::new();
    place.write("bad.csv", content);
    let mut args = vec!["fit", "bad.csv", "-o", "bad.upoe"];
    args.extend(flags);
    let mut all = vec!["bad.csv"];
    all.extend(said);
    place.run(&args).failed(1, &all);
    assert!(!place.path("bad.upoe").exists());
}

#[test]
fn a_missing_file() {
    let place = Place::new();
    place.run(&["fit", "no.csv", "-o", "m.upoe"]).failed(1, &["no.csv: no such file"]);
    place.run(&["score", "no.upoe", "crabs.csv"]).failed(1, &["no.upoe: no such file"]);
}

#[test]
fn a_directory() {
    let place = Place::new();
    std::fs::create_dir(place.path("dir")).unwrap();
    place.run(&["fit", "dir", "-o", "m.upoe"]).failed(1, &["dir: no table is there"]);
    place.run(&["fit", "crabs.csv", "-o", "dir"]).failed(1, &["dir: is a directory"]);
    place.run(&["inspect", "dir"]).failed(1, &["dir: is a directory"]);
}

#[test]
fn a_name_that_would_command_the_terminal() {
    refused("a\u{1b}[31mb,c\n1,2\n3,4\ninf,5\n", &["column `a\u{fffd}[31mb`"]);
}

#[test]
fn too_little_in_it() {
    refused("", &["is empty"]);
    refused("a,b\n", &["has a header but no rows"]);
    refused("a,b\n1,2\n", &["1 row to learn from", "at least 2"]);
    refused("a,b\nx,y\nz,w\n", &["no column holds numbers"]);
    refused("a,b\n1,2\n1,2\n1,2\n", &["none of the 2 columns (a, b) varies"]);
}

#[test]
fn cells_that_are_no_numbers() {
    refused("a,b\n1,2\n3\n", &["row 2 (line 3) has 1 cell where the first row has 2"]);
    refused("a,b\n1,2\n3,four\n", &["row 2 (line 3), column `b`: `four` is not a number"]);
    refused("a,b\n1,2\n,4\n", &["row 2 (line 3), column `a` is missing", "--missing drop"]);
    refused("a,b\n1,2\n3,inf\n", &["row 2 (line 3), column `b`: `inf` is not a finite number"]);
    refused("a,b\n1,2\n1e400,4\n", &["row 2 (line 3), column `a`: `1e400` is not a finite number"]);
    refused(b"a,b\n1,2\n3,\xff\xfe\n", &["row 2 (line 3), column 2 is not UTF-8"]);
}

#[test]
fn columns_that_cannot_be_had() {
    refused("Logger 3\n\na,b\n1,2\n3,4\n", &["skip the lines above it (`--skip N`)"]);
    refused("a|b\n1|2\n3|4\n", &["no column holds numbers", "say by what (`--sep CHAR`)"]);
    refused_with("length,b\n1,2\n3,5\n", &["--columns", "lenght"], &["did you mean `length`?"]);
    refused_with("a,t\n1,x\n3,y\n", &["--columns", "a,t"], &["column `t` is text"]);
    refused_with("a,b\n1,2\n3,5\n", &["--exclude", "a,b"], &["nothing is left to model"]);
    refused_with("a,w\n1,2\n3,-5\n", &["--weights", "w"], &["row 2", "must not be negative"]);
}

#[test]
fn missing_cells_can_be_dropped() {
    let place = Place::new();
    place.write("gaps.csv", "a,b\n1,2\nNA,4\n3,1\n2,7\n");
    let run = place.run(&["fit", "gaps.csv", "--json", "--missing", "drop", "--experts", "0"]).ok();
    assert_eq!(run.json()["rows"], 3);
    assert!(run.err.contains("left out 1 of 4 rows"), "{}", run.err);
}

#[test]
fn other_columns_at_score() {
    let place = Place::with_model();
    place.write("few.csv", "FL,RW,CL,cw\n1,2,3,4\n");
    let missing = "lacks columns the model needs: `CW` (did you mean `cw`?), `BD`";
    place.run(&["score", "m.upoe", "few.csv"]).failed(1, &["few.csv", missing]);
    place.write("bare.csv", "1,2,3\n4,5,6\n");
    let count = "has 3 columns without names where the model needs 5";
    place.run(&["score", "m.upoe", "bare.csv"]).failed(1, &["bare.csv", count]);
    // A choice that the model cannot do without is not ignored.
    let needs = "the model needs column `FL`";
    place.run(&["score", "m.upoe", "crabs.csv", "--exclude", "FL"]).failed(1, &[needs]);
    let leaves = "--columns leaves out column `FL`";
    place.run(&["score", "m.upoe", "crabs.csv", "--columns", "RW,CL"]).failed(1, &[leaves]);
}

#[test]
fn rows_beyond_single_precision_reach_the_page() {
    let place = Place::with_model();
    place.write("far.csv", "FL,RW,CL,CW,BD\n1e39,1,2,3,4\n1e300,1,2,3,4\n10,11,20,22,9\n");
    place.run(&["report", "m.upoe", "far.csv", "-o", "far.html"]).ok();
    assert!(place.read("far.html").contains("</html>"));
    // a row without projections, alone and among others
    let crabs = "10,11,20,22,9\n9,10,19,21,8\n";
    for rows in ["", crabs] {
        let far = "1e308,-1e308,1e308,1e308,1e308";
        place.write("farther.csv", format!("FL,RW,CL,CW,BD\n{far}\n{rows}"));
        place.run(&["report", "m.upoe", "farther.csv", "-o", "far.html"]).ok();
        assert!(place.read("far.html").contains("1 row is so far from the mean"));
    }
    let scores = place.run(&["score", "m.upoe", "far.csv"]).ok();
    assert!(!scores.out.contains("NaN"), "{}", scores.out);
}

#[test]
fn damaged_tables_of_other_formats() {
    let place = Place::with_model();
    place.run(&["sample", "m.upoe", "-n", "500", "-o", "s.parquet"]).ok();
    let bytes = std::fs::read(place.path("s.parquet")).unwrap();
    place.write("half.parquet", &bytes[..bytes.len() / 2]);
    let run = place.run(&["fit", "half.parquet", "-o", "b.upoe"]);
    run.failed(1, &["half.parquet: not a whole Parquet file"]);

    place.run(&["sample", "m.upoe", "-n", "500", "-o", "s.npy"]).ok();
    let mut bytes = std::fs::read(place.path("s.npy")).unwrap();
    let shape = bytes.windows(5).position(|word| word == b"shape").unwrap();
    bytes[shape] = b'?';
    place.write("wrong.npy", &bytes);
    let run = place.run(&["fit", "wrong.npy", "-o", "b.upoe"]);
    run.failed(1, &["wrong.npy: not a NPY file as numpy writes it"]);
    place
        .write("wrong.mat", "nothing of the kind, though it is long enough for a header of a file");
    place
        .run(&["fit", "wrong.mat", "-o", "b.upoe"])
        .failed(1, &["wrong.mat: not a MATLAB v5 file"]);
}

#[test]
fn outputs_that_cannot_be_written() {
    let place = Place::with_model();
    let absent = "the directory no does not exist";
    let mut fit = crate::fit_crabs();
    fit[3] = "no/m.upoe";
    // said before the work begins: nothing was read
    assert!(!place.run(&fit).failed(1, &[absent]).err.contains("read crabs.csv"));
    place.run(&["score", "m.upoe", "crabs.csv", "-o", "no/s.csv"]).failed(1, &[absent]);
    fit[3] = "/dev/full";
    place.run(&fit).failed(1, &["/dev/full: no space left on the device"]);
    let run = place.run(&["score", "m.upoe", "crabs.csv", "-o", "/dev/full"]);
    run.failed(1, &["/dev/full: no space left on the device"]);
}

#[test]
fn a_constant_column_is_named() {
    let place = Place::new();
    place.write("flat.csv", "a,level,b\n1,7,2\n3,7,5\n4,7,1\n2,7,2\n");
    let run = place.run(&["fit", "flat.csv", "-o", "f.upoe", "--experts", "0"]).ok();
    let said = run.out.replace('\n', " ");
    assert!(
        said.contains("vary in 2 of 3 dimensions") && said.contains("constant: level"),
        "{said}"
    );
    place.write("off.csv", "a,level,b\n1,7,2\n1,8,2\n");
    let (_, rows) = place.run(&["score", "f.upoe", "off.csv"]).ok().table();
    assert!(rows[0][0].is_finite() && rows[1][0] == f64::NEG_INFINITY, "{rows:?}");
    for args in [
        &["score", "f.upoe", "off.csv"][..],
        &["score", "f.upoe", "off.csv", "--tail", "100"],
        &["explain", "f.upoe", "off.csv"],
        &["report", "f.upoe", "off.csv", "-o", "off.html"],
    ] {
        let said = place.run(args).ok().err;
        let why = "1 of 2 rows lie outside the subspace of the training rows and have ln p = -inf: \
                   column `level` was constant (7) in training";
        assert!(said.contains(why), "{args:?}: {said}");
    }
}

#[test]
fn settings_outside_their_range() {
    let place = Place::new();
    let usage = |flags: &[&str], said: &str| {
        let mut args = vec!["fit", "crabs.csv", "-o", "m.upoe"];
        args.extend(flags);
        let run = place.run(&args);
        assert_eq!(run.code, Some(2), "{run:#?}");
        assert!(run.err.contains(said), "{run:#?}");
    };
    usage(&["--tol", "-1"], "--tol -1: the tolerance must be positive");
    usage(&["--tol", "0"], "--tol 0: the tolerance must be positive");
    usage(&["--experts", "many"], "give a number, or auto");
    usage(&["--dims", "1.5"], "a share of the variance between 0 and 1");
    usage(&["--holdout", "1"], "a share of the rows between 0 and 1");
    usage(&["--family", "mixtures"], "mixture");
    usage(&["--stop", "holdout"], "held-out rows are needed; add `--holdout 0.2`");
    usage(&["--start", "random"], "--start random: only the parallel learner starts");
    usage(&["--resume"], "--checkpoint");
    usage(&["--fix-beta", "0.1"], "--fix-beta 0.1: beta must be above 0.505");
    usage(&["--learner", "parallel", "--start", "random"], "--start random");
    let run =
        place.run(&["fit", "crabs.csv", "-o", "m.upoe", "--dims", "99", "--exclude", "index"]);
    run.failed(1, &["--dims 99: the data have variance in"]);
}
