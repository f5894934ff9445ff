//! `upoe groups`: labels, profiles, agreement.

use crate::{Place, fit_crabs, parse};

#[test]
fn groups_are_named_and_agree_with_the_species() {
    let place = Place::new();
    place.run(&fit_crabs()).ok();
    let run = place.run(&["groups", "m.upoe", "crabs.csv", "--keep", "sp,sex"]).ok();
    for said in ["groups among 200 rows", "matches `sp` 100 %", " high for its ", "differs from"] {
        assert!(run.out.contains(said), "no {said} in {}", run.out);
    }
    let json = place.run(&["groups", "m.upoe", "crabs.csv", "--keep", "sp", "--json"]).ok().json();
    let groups = json["groups"].as_array().unwrap();
    assert!(groups.len() >= 2 && json["agreement"][0]["matches"] == 1.0, "{json:#}");
    let rows: u64 = groups.iter().map(|g| g["rows"].as_u64().unwrap()).sum();
    assert_eq!((rows, groups[0]["profile"][0]["interval"].as_array().unwrap().len()), (200, 2));
}

#[test]
fn the_label_of_a_row_is_the_same_in_any_table() {
    let place = Place::new();
    place.run(&fit_crabs()).ok();
    place.run(&["groups", "m.upoe", "crabs.csv", "-o", "all.csv"]).ok();
    let all = std::fs::read_to_string(place.path("all.csv")).unwrap();
    let (header, rows) = parse(&all);
    assert_eq!((header, rows.len()), (vec!["group".to_owned(), "probability".to_owned()], 200));
    let crabs = std::fs::read_to_string(place.path("crabs.csv")).unwrap();
    let one: Vec<&str> = crabs.lines().take(1).chain(crabs.lines().skip(42).take(1)).collect();
    place.write("one.csv", (one.join("\n") + "\n").as_bytes());
    place.run(&["groups", "m.upoe", "one.csv", "-o", "labels.csv"]).ok();
    let labels = std::fs::read_to_string(place.path("labels.csv")).unwrap();
    assert_eq!(labels.lines().nth(1), all.lines().nth(42));
}

#[test]
fn no_groups_and_other_columns_are_said_plainly() {
    let place = Place::new();
    let noise: String = (0..60_u64)
        .map(|i| {
            let half = |k: u64| (i.wrapping_mul(k) % 61) as f64 / 61.0 + (i * 7 % 59) as f64 / 59.0;
            format!("{},{}\n", half(17), half(23))
        })
        .collect();
    place.write("noise.csv", format!("a,b\n{noise}").as_bytes());
    place.run(&["fit", "noise.csv", "-o", "noise.upoe"]).ok();
    let run = place.run(&["groups", "noise.upoe", "noise.csv"]).ok();
    assert!(run.out.contains("No groups: no direction"), "{}", run.out);
    place.run(&["groups", "noise.upoe", "crabs.csv"]).failed(1, &["`a`"]);
}
