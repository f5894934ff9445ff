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

#[test]
fn the_page_has_the_same_words_and_numbers() {
    let place = Place::new();
    place.run(&fit_crabs()).ok();
    let command = ["groups", "m.upoe", "crabs.csv", "--keep", "sp,sex"];
    let text = place.run(&command).ok().out;
    let json = place.run(&[&command[..], &["--json"]].concat()).ok().json();
    place.run(&["report", "m.upoe", "crabs.csv", "--keep", "sp,sex", "-o", "page.html"]).ok();
    let page = std::fs::read_to_string(place.path("page.html")).unwrap();
    let block = page.split(r#"id="upoe-page">"#).nth(1).unwrap().split("</script>").next().unwrap();
    let page: serde_json::Value = serde_json::from_str(block).unwrap();

    let (shown, printed) = (&page["groups"]["groups"], json["groups"].as_array().unwrap());
    assert_eq!(shown.as_array().unwrap().len(), printed.len());
    for (shown, printed) in shown.as_array().unwrap().iter().zip(printed) {
        assert_eq!((&shown["name"], &shown["rows"]), (&printed["name"], &printed["rows"]));
        let all = shown["differences"].as_array().unwrap();
        let (given, profile): (Vec<_>, Vec<_>) = all.iter().partition(|d| !d["given"].is_null());
        assert_eq!(profile.len(), printed["profile"].as_array().unwrap().len());
        assert!(
            !given.is_empty() || shown["name"].as_str().is_some_and(|n| !n.contains(" for its "))
        );
        for told in profile.iter().take(3) {
            let [column, difference, low, high] =
                ["column", "difference", "low", "high"].map(|key| told[key].as_str().unwrap());
            let words = format!("{column} {difference} ({low} to {high})");
            assert!(text.contains(&words), "no {words} in {text}");
        }
    }
    let agreement = page["groups"]["agreement"].as_array().unwrap();
    assert_eq!(agreement.len(), 2);
    for told in agreement {
        assert!(text.lines().any(|line| line == told["words"]), "no {told} in {text}");
    }
}
