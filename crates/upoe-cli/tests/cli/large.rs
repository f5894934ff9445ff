//! Tables larger than the memory that they may take.

use crate::{Place, Run};
use serde_json::Value;
use upoe_file::ModelFile;

const ROWS: &str = "60000";

/// 60,000 rows of five columns as CSV, TSV, NPY, Parquet and compressed CSV, and CSV in a folder of three files.
fn place() -> Place {
    let place = Place::with_model();
    for kind in ["csv", "tsv", "csv.gz", "npy", "parquet"] {
        place.run(&["sample", "m.upoe", "-n", ROWS, "-o", &format!("data.{kind}")]).ok();
    }
    let text = place.read("data.csv");
    let (header, rows) = text.split_once('\n').unwrap();
    let lines: Vec<&str> = rows.lines().collect();
    std::fs::create_dir(place.path("parts")).unwrap();
    for (k, part) in [&lines[..1], &lines[1..50_000], &lines[50_000..]].iter().enumerate() {
        place.write(&format!("parts/part-{k}.csv"), format!("{header}\n{}\n", part.join("\n")));
    }
    place.write("parts/_SUCCESS", "");
    place
}

/// A fit that may take so little memory that it works in passes over a scratch file.
fn fit(place: &Place, data: &str, more: &[&str]) -> Run {
    let mut args = vec!["fit", data, "--json", "--memory", "1M", "--scratch", "."];
    args.extend(["--experts", "2", "--family", "mixture", "--sample", "10000"]);
    args.extend(more);
    place.run(&args)
}

/// What was learned, without names and times.
fn learned(run: &Run) -> (Value, Value) {
    let json = run.json();
    let of = |e: &Value| (e["q"].clone(), e["parameters"].clone(), e["direction"].clone());
    let experts = json["experts"].as_array().unwrap().iter().map(of).collect::<Vec<_>>();
    (serde_json::json!(experts), json["log_density"]["train"].clone())
}

#[test]
fn every_format_and_several_files_give_the_same_bits_and_the_model_of_memory() {
    let place = place();
    let one = fit(&place, "data.csv", &[]).ok();
    assert!(one.err.contains("would take") && one.err.contains("passes over"), "{}", one.err);
    let expected = learned(&one);
    for data in ["data.parquet", "data.npy", "data.tsv", "data.csv.gz", "parts", "parts/part-?.csv"]
    {
        assert_eq!(learned(&fit(&place, data, &[]).ok()), expected, "{data}");
    }
    // A first file with one row does not hide how many there are.
    let said = fit(&place, "parts", &[]).ok().err;
    let about = said.split("about ").nth(1).unwrap().split(" rows").next().unwrap();
    let about: f64 = about.replace(',', "").parse().unwrap();
    assert!((about / 60_000.0 - 1.0).abs() < 0.1, "{said}");
    let memory = place.run(&[
        "fit",
        "data.csv",
        "--json",
        "--experts",
        "2",
        "--family",
        "mixture",
        "--sample",
        "10000",
    ]);
    let mean = learned(&memory.ok()).1.as_f64().unwrap();
    assert!((mean - expected.1.as_f64().unwrap()).abs() < 1e-9, "{mean} {}", expected.1);
    let counted = |l: &&str| l.starts_with(|c: char| c.is_ascii_digit());
    let passes = one.err.lines().filter(counted).find_map(|l| l.split_once(" passes over"));
    let passes = passes.unwrap().0;
    // One for the moments, one that spheres, one for the sample; and at most 8 for each expert.
    assert!(passes.parse::<usize>().unwrap() <= 3 + 2 * 8, "{}", one.err);
    let left: Vec<_> = std::fs::read_dir(place.root()).unwrap().flatten().collect();
    assert!(left.iter().all(|f| !f.file_name().to_string_lossy().contains("scratch")), "{left:?}");
}

/// The bytes of a model file, without what is different for each run: the seconds it took; and without what
/// is computed of rows in memory after the fit: ln p from the scores of all rows, and groups.
fn bytes(place: &Place, name: &str) -> Vec<u8> {
    let mut file = ModelFile::read(place.path(name)).unwrap();
    let training = &mut file.training;
    training.seconds = 0.0;
    training.evaluation.log_density.train = None;
    training.evaluation.log_likelihood.train = None;
    file.groups = None;
    // NPY has none.
    file.names = (1..=file.names.len()).map(|k| format!("c{k}")).collect();
    file.write(place.path("bare.upoe")).unwrap();
    std::fs::read(place.path("bare.upoe")).unwrap()
}

/// More numbers than are summed together at once, in files with blocks of several sizes.
#[test]
fn model_files_of_memory_and_of_files_have_the_same_bytes() {
    let place = Place::new();
    place.write("few.csv", crate::heavy_tails(2_000, 80));
    place.run(&["fit", "few.csv", "-o", "m.upoe", "--experts", "0", "--quiet"]).ok();
    for kind in ["npy", "parquet", "csv"] {
        place.run(&["sample", "m.upoe", "-n", "54000", "-o", &format!("data.{kind}")]).ok();
    }
    let fit = |data: &str, model: &str, more: &[&str]| {
        let mut args = vec!["fit", data, "-o", model, "--experts", "1", "--family", "student-t"];
        args.extend(["--starts", "4", "--max-iter", "10", "--scratch", ".", "--quiet"]);
        place.run(&[&args, more].concat()).ok();
        bytes(&place, model)
    };
    for sample in [["--sample", "all"], ["--sample", "10000"]] {
        let memory = fit("data.npy", "memory.upoe", &sample);
        for kind in ["npy", "parquet", "csv"] {
            let more = [&sample[..], &["--memory", "1M"]].concat();
            let file = fit(&format!("data.{kind}"), &format!("{kind}.upoe"), &more);
            assert!(file == memory, "{kind} {sample:?}");
        }
    }
}

#[test]
fn a_checkpoint_resumes_on_the_same_rows_and_refuses_others() {
    let place = place();
    let kept = ["--checkpoint", "c.ckpt", "-o", "a.upoe"];
    let whole = fit(&place, "data.npy", &kept).ok();
    let again = ["--checkpoint", "c.ckpt", "--resume", "-o", "b.upoe"];
    let resumed = fit(&place, "data.npy", &again).ok();
    assert!(resumed.err.contains("resumed after 2 experts"), "{}", resumed.err);
    assert_eq!(learned(&resumed), learned(&whole));
    place.run(&["sample", "m.upoe", "-n", ROWS, "--seed", "5", "-o", "other.npy"]).ok();
    fit(&place, "other.npy", &again).failed(1, &["belongs to other data"]);
}

#[test]
fn verbs_write_the_same_block_by_block() {
    let place = place();
    let verbs: [&[&str]; 4] = [
        &["score", "m.upoe", "parts", "--keep", "BD"],
        &["score", "m.upoe", "data.parquet", "--tail", "100"],
        &["transform", "m.upoe", "data.npy"],
        &["explain", "m.upoe", "data.csv"],
    ];
    for verb in verbs {
        let whole = place.run(verb).ok();
        let blocks = place.run(&[verb, &["--memory", "1M"]].concat()).ok();
        assert_eq!(whole.out.lines().count(), 60_001, "{verb:?}");
        assert!(whole.out == blocks.out, "{verb:?}");
    }
    let report = place.run(&["report", "m.upoe", "data.csv", "--memory", "1M"]).ok();
    assert!(report.err.contains("larger than memory"), "{}", report.err);
    assert!(place.path("report.html").exists());
}

#[test]
fn what_cannot_be_done_is_said() {
    let place = place();
    let text = place.read("data.csv");
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines[50_001] = "1,2,x,4,5".into();
    place.write("bad.csv", lines.join("\n"));
    let said = fit(&place, "bad.csv", &[]);
    said.failed(1, &["row 50001", "column `CL`", "x"]);
    place.write("parts/part-9.csv", "a,RW,CL,CW,BD\n1,2,3,4,5\n");
    let unlike = fit(&place, "parts", &[]);
    unlike.failed(1, &["part-9.csv", "columns that parts/part-0.csv has", "`FL`"]);
    let small = place.run(&["fit", "parts", "--experts", "0"]);
    small.failed(1, &["part-9.csv", "columns that parts/part-0.csv has", "`FL`"]);
    lines[50_001] = "1,2,,4,5".into();
    place.write("bad.csv", lines.join("\n"));
    let dropped = fit(&place, "bad.csv", &["--missing", "drop"]).ok();
    assert!(dropped.err.contains("left out 1 of 60000 rows"), "{}", dropped.err);
    let piped = ["fit", "-", "--memory", "1M", "--experts", "0"];
    let piped = place.run_with_input(&piped, text.as_bytes()).ok();
    assert!(piped.err.contains("standard input is read into memory"), "{}", piped.err);
    fit(&place, "data.csv", &["--ordered"]).failed(1, &["--ordered", "--memory"]);
    fit(&place, "nothing*.csv", &[]).failed(1, &["no table is there"]);
    let mut args = vec!["fit", "data.csv", "--json", "--memory", "1M", "--scratch", "gone"];
    place.run(&args).failed(1, &["gone", "--scratch"]);
    args[4] = "much";
    assert_eq!(place.run(&args).code, Some(2));
}

#[test]
fn too_little_space_is_said_before_anything_is_written() {
    let place = place();
    // The same table with 4 TB of zeros behind it, which take no space.
    let mut header = std::fs::read(place.path("data.npy")).unwrap();
    header.truncate(128);
    let text = String::from_utf8(header[10..].to_vec()).unwrap();
    let rows = 100_000_000_000_u64;
    let text = text.replacen(&format!("({ROWS}, 5), }}      "), &format!("({rows}, 5), }}"), 1);
    let text = format!("{:<117}\n", text.trim_end());
    header.splice(10.., text.into_bytes());
    place.write("huge.npy", header);
    let file = std::fs::OpenOptions::new().write(true).open(place.path("huge.npy")).unwrap();
    file.set_len(128 + 8 * 5 * rows).unwrap();
    let said = fit(&place, "huge.npy", &[]);
    said.failed(1, &["the scratch file needs about", "GB are free", "--scratch"]);
}

#[cfg(target_os = "linux")]
#[test]
fn nothing_is_left_of_a_fit_that_is_killed() {
    let place = place();
    std::fs::create_dir(place.path("scratch")).unwrap();
    let args = ["fit", "data.csv", "--json", "--memory", "1M", "--scratch", "scratch"];
    let mut command = place.command(&args);
    command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    let mut child = command.spawn().unwrap();
    let open = format!("/proc/{}/fd", child.id());
    let is_scratch = |file: &std::fs::DirEntry| {
        let target = std::fs::read_link(file.path()).unwrap_or_default();
        let target = target.to_string_lossy();
        target.contains(".upoe-scratch") && target.ends_with(" (deleted)")
    };
    let mut seen = false;
    while !seen && child.try_wait().unwrap().is_none() {
        seen = std::fs::read_dir(&open).is_ok_and(|files| files.flatten().any(|f| is_scratch(&f)));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(seen);
    assert_eq!(std::fs::read_dir(place.path("scratch")).unwrap().count(), 0);
}
