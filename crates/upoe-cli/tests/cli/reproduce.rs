//! The paper's experiments. Those on data that cannot be shipped run where `UPOE_DATA` names a
//! folder that has them.

use std::path::PathBuf;

use serde_json::Value;

use crate::Place;

fn data(what: &str) -> Option<PathBuf> {
    let path = PathBuf::from(std::env::var_os("UPOE_DATA")?).join(what);
    if !path.exists() {
        eprintln!("UPOE_DATA names no folder with {what}: skipped");
    }
    path.exists().then_some(path)
}

fn results(place: &Place, directory: &str) -> Value {
    serde_json::from_str(&place.read(&format!("{directory}/results.json"))).unwrap()
}

/// Every figure is there twice, and the page shows each.
fn figures(place: &Place, directory: &str, count: usize) {
    let results = results(place, directory);
    let listed = results["figures"].as_array().unwrap();
    assert_eq!(listed.len(), count);
    let page = place.read(&format!("{directory}/results.md"));
    for figure in listed {
        let name = |i: usize| figure["files"][i].as_str().unwrap().to_owned();
        let svg = place.read(&format!("{directory}/{}", name(0)));
        assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n") && !svg.contains("NaN"));
        let png = std::fs::read(place.path(directory).join(name(1))).unwrap();
        assert!(png.starts_with(b"\x89PNG") && png.len() > 2000, "{}", name(1));
        assert!(page.contains(&name(1)), "{}", name(1));
    }
    assert!(!page.contains("NaN"), "{page}");
}

fn close(value: &Value, expected: f64, tolerance: f64) {
    let value = value.as_f64().unwrap();
    assert!((value - expected).abs() < tolerance, "{value} is not {expected}");
}

#[test]
fn crabs_give_figures_two_and_three() {
    let place = Place::new();
    let few = ["reproduce", "crabs", "--seeds", "5", "--single", "40"];
    let run = place.run(&[&few[..], &["-o", "a", "--json", "--threads", "1"]].concat()).ok();
    let mut a = results(&place, "a");
    assert_eq!(run.json(), a);
    for seed in a["seeds"]["q"].as_array().unwrap() {
        close(&seed[0], -0.35659, 1e-4);
        close(&seed[1], -0.11067, 1e-4);
    }
    close(&a["adjusted_rand"], 0.82, 0.005);
    assert_eq!(a["right_by_species"], 200);
    // A single start does not always find it, and never better.
    let single = a["single_starts"]["q"].as_array().unwrap();
    assert!(single.iter().all(|q| q[0].as_f64().unwrap() > -0.35669));
    assert!(a["single_starts"]["share_at_best"][0].as_f64().unwrap() < 0.9);
    // The bars of a histogram have area 1.
    for histogram in a["histograms"].as_array().unwrap() {
        let bars = histogram["density"].as_array().unwrap();
        let width = (histogram["to"].as_f64().unwrap() - histogram["from"].as_f64().unwrap())
            / bars.len() as f64;
        let area: f64 = bars.iter().map(|bar| width * bar.as_f64().unwrap()).sum();
        assert!((area - 1.0).abs() < 1e-9, "{area}");
    }
    figures(&place, "a", 4);
    // Same bits for another number of threads.
    place.run(&[&few[..], &["-o", "b", "--quiet", "--threads", "3"]].concat()).ok();
    let mut b = results(&place, "b");
    (a["seconds"], b["seconds"]) = (0.into(), 0.into());
    assert_eq!(a, b);
    assert_eq!(place.read("a/figure-2.svg"), place.read("b/figure-2.svg"));
}

#[test]
fn faces_follow_figure_one() {
    let Some(data) = data("frey") else { return };
    let place = Place::new();
    let rows = data.join("train_rows.txt");
    for (file, directory) in [("frey_rawface.npy", "npy"), ("frey_rawface.mat", "mat")] {
        let file = data.join(file);
        let file = file.to_str().unwrap();
        let split = ["--train-rows", rows.to_str().unwrap()];
        let rest = ["--projections", "5", "-o", directory, "--quiet"];
        let args = [&["reproduce", "frey", "--data", file][..], &split, &rest].concat();
        place.run(&args).ok();
        figures(&place, directory, 3);
    }
    let (mut npy, mut mat) = (results(&place, "npy"), results(&place, "mat"));
    let first = &npy["random"]["splits"][0];
    assert_eq!(first["train_rows"].as_array().unwrap().len(), 1000);
    for path in first["paths"].as_array().unwrap() {
        close(&path["train"][0], -70.947, 1e-3);
        close(&path["test"][0], -68.686, 1e-3);
        close(&path["train"][1], -69.883, 1e-3);
        close(&path["test"][1], -67.669, 1e-3);
        assert!(path["train"][5].as_f64().unwrap() > -66.34 - 0.2);
        assert!(path["test"][5].as_f64().unwrap() > -64.6 - 0.2);
    }
    // Rows that are really new are less probable.
    let blocks = &npy["blocks"]["splits"][0]["paths"][1];
    assert!(blocks["test"][5].as_f64().unwrap() < -70.0);
    for results in [&mut npy, &mut mat] {
        results["seconds"] = 0.into();
        for kind in ["random", "blocks"] {
            for path in results[kind]["splits"][0]["paths"].as_array_mut().unwrap() {
                path["seconds"] = 0.into();
            }
        }
    }
    assert_eq!(npy, mat);
}

#[test]
fn images_give_filters() {
    let Some(data) = data("images") else { return };
    let place = Place::new();
    let data = data.to_str().unwrap();
    let small = "--patches 4000 --held-out 500 --dims 60 --experts 3 --quiet";
    let small: Vec<&str> = small.split(' ').collect();
    let args = [&["reproduce", "images", "--data", data, "-o", "out"][..], &small].concat();
    place.run(&args).ok();
    figures(&place, "out", 6);
    let found = results(&place, "out");
    let experts = found["experts"].as_array().unwrap();
    assert_eq!(experts.len(), 3);
    for expert in experts {
        assert!(expert["gain_train"].as_f64().unwrap() > 0.05);
        assert_eq!(expert["filter"].as_array().unwrap().len(), 900);
        let r2 = expert["gabor_of_filter"]["r2"].as_f64().unwrap();
        assert!((0.0..=1.0).contains(&r2), "{r2}");
    }
    // Whole images are held out.
    let (_, places) = crate::parse(&place.read("out/patches.csv"));
    assert_eq!(places.len(), 4500);
    assert!(places.iter().all(|row| (row[0] == 1.0) == (row[1] <= 11.0)));
    // The paper's recipe, beside it.
    let other = ["--recipe", "paper", "--compare", "out/results.json", "-o", "paper"];
    let args = [&["reproduce", "images", "--data", data][..], &other, &small].concat();
    place.run(&args).ok();
    assert_eq!(results(&place, "paper")["compared_with"], found["run"]);
    assert!(place.read("paper/results.md").contains("To a held-out gain of"));
}

#[test]
fn missing_data_say_what_to_get() {
    let place = Place::new();
    let faces = ["no Frey faces there", "www.cs.toronto.edu/~roweis/data", "--data"];
    place.run(&["reproduce", "frey"]).failed(1, &faces);
    place.run(&["reproduce", "frey", "--data", "no.mat"]).failed(1, &faces);
    let images = ["no natural images there", "www.cis.hut.fi/projects/ica/data/images", "--data"];
    place.run(&["reproduce", "images"]).failed(1, &images);
    place.run(&["reproduce", "images", "--data", "no"]).failed(1, &images);
    assert!(!place.path("reproduce-frey").exists() && !place.path("reproduce-images").exists());
}

#[test]
fn wrong_data_say_what_was_expected() {
    let place = Place::new();
    let shape = ["crabs.csv: 200 rows × 5 columns", "1965 frames of 560 pixels"];
    place.run(&["reproduce", "frey", "--data", "crabs.csv"]).failed(1, &shape);
    let text: String = vec![vec!["300"; 560].join(",") + "\n"; 1965].concat();
    place.write("bright.csv", text);
    let bright = ["bright.csv: values from 300 to 300", "between 0 and 255"];
    place.run(&["reproduce", "frey", "--data", "bright.csv"]).failed(1, &bright);
    std::fs::create_dir(place.path("pictures")).unwrap();
    place.write("pictures/1.tiff", "no picture");
    let damaged = ["pictures/1.tiff: not an 8-bit grey TIFF file"];
    place.run(&["reproduce", "images", "--data", "pictures"]).failed(1, &damaged);
    place.write("other.json", "{}");
    let peers = ["other.json: not results of other methods", "bench/peers.py crabs"];
    place.run(&["reproduce", "crabs", "--peers", "other.json"]).failed(1, &peers);
    place.run(&["reproduce", "images", "--experts", "500"]).failed(2, &["--experts 500"]);
    place.run(&["reproduce", "frey", "--projections", "7"]).failed(2, &["multiple of 5"]);
    place.run(&["reproduce", "crabs", "-o", "crabs.csv"]).failed(1, &["crabs.csv"]);
    let Some(data) = data("") else { return };
    let faces = data.join("frey/frey_rawface.npy");
    place.write("rows.txt", "3 4 5000");
    let rows = ["reproduce", "frey", "--data", faces.to_str().unwrap(), "--train-rows", "rows.txt"];
    place.run(&rows).failed(1, &["rows.txt: entry 3: `5000`", "between 0 and 1964"]);
    // One of the images renamed.
    let copies = place.path("images");
    std::fs::create_dir(&copies).unwrap();
    for number in 1..=13 {
        let name = format!("{number}.tiff");
        std::fs::copy(data.join("images").join(&name), copies.join(name)).unwrap();
    }
    std::fs::rename(copies.join("7.tiff"), copies.join("seven.tiff")).unwrap();
    let renamed = ["7.tiff: no such file", "all of 1.tiff … 13.tiff are needed"];
    place.run(&["reproduce", "images", "--data", "images"]).failed(1, &renamed);
}
