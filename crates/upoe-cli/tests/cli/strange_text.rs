//! Text from a stranger's file never commands the terminal; files and pipes get it unchanged.

use sha2::{Digest, Sha256};

use crate::{Place, Run};

/// Clears the screen, rings, breaks the line, reverses the text, hides itself.
const HOSTILE: &str = "a\u{1b}[2J\u{7}\nRun: x\u{9b}\u{202e}\u{200b}\u{2028}z";

/// Whether a run showed only what can be shown; colours and line ends are the command's own.
#[track_caller]
fn harmless(line: &str, run: &Run) {
    let said = format!("{}{}", run.out, run.err);
    let bare = said.replace('\r', "").replace("\u{1b}[", "[");
    let obeyed = |c: char| (c.is_control() && c != '\n') || "\u{202e}\u{200b}\u{2028}".contains(c);
    assert!(!bare.contains(obeyed) && !said.contains("\u{1b}[2J"), "{line}: {said:?}");
    assert!(!bare.lines().any(|line| line.starts_with("Run:")), "{line}: {said:?}");
}

/// A model of a hostile column, `e.upoe`, and its table with a hostile label in each row.
fn place() -> Place {
    let place = Place::new();
    let rows = (0..8).map(|i| format!("{},{},\"{HOSTILE}{i}\"\n", i * i % 7, i * 3 % 5));
    let table = format!("\"{HOSTILE}\",b,\"l{HOSTILE}\"\n{}", rows.collect::<String>());
    place.write("evil.csv", table);
    place.run(&["fit", "evil.csv", "-o", "e.upoe", "--experts", "1"]).ok();
    place
}

#[test]
fn no_verb_passes_it_on_to_a_terminal() {
    let place = place();
    for line in [
        "sample e.upoe -n 3",
        "sample e.upoe -n 3 --json",
        "score e.upoe evil.csv --keep 3",
        "score e.upoe evil.csv --keep 3 --json",
        "explain e.upoe evil.csv --by column --keep 3",
        "transform e.upoe evil.csv --keep 3",
        "inspect e.upoe",
        "inspect e.upoe --json",
        "fit evil.csv -o f.upoe --experts 1",
        "fit evil.csv -o f.upoe --experts 1 --json",
        "report e.upoe evil.csv -o r.html",
        "score e.upoe evil.csv --keep 3 --tail 10 -o s.csv",
    ] {
        let Some(run) = place.terminal(line, &[("NO_COLOR", "1")]) else { return };
        harmless(line, &run.ok());
    }
    for line in [
        "score e.upoe crabs.csv",
        "fit evil.csv -o f.upoe --columns c",
        "fit evil.csv -o f.upoe --columns 3",
        "fit evil.csv -o f.upoe --holdout-by 3 --keep 3 --columns 3",
    ] {
        let run = place.terminal(line, &[("NO_COLOR", "1")]).unwrap();
        assert_eq!(run.code, Some(1), "{run:#?}");
        harmless(line, &run);
    }
}

#[test]
fn files_and_pipes_get_it_unchanged() {
    let place = place();
    let args = ["score", "e.upoe", "evil.csv", "--keep", "3"];
    let piped = place.run(&args).ok().out;
    assert!(piped.starts_with(&format!("\"l{HOSTILE}\",log_density\n\"{HOSTILE}0\",")), "{piped}");
    place.run(&[&args[..], &["-o", "s.csv"]].concat()).ok();
    assert_eq!(place.read("s.csv"), piped);
    let names = place.run(&["inspect", "e.upoe", "--json"]).ok().json()["columns"].clone();
    assert_eq!(names, serde_json::json!([HOSTILE, "b"]));
}

/// Messages are one line each, also of a model whose text was made on purpose.
#[test]
fn what_a_model_says_of_itself_is_shown_on_one_line() {
    let place = Place::with_model();
    let bytes = std::fs::read(place.path("m.upoe")).unwrap();
    let hostile = serde_json::Value::from(HOSTILE).to_string();
    let upoe = concat!("\"upoe ", env!("CARGO_PKG_VERSION"), "\"");
    place.write(
        "new.upoe",
        altered(&bytes, "\"format_version\":\"3\"", "\"format_version\":\"99\""),
    );
    place.run(&["inspect", "new.upoe"]).failed(1, &["reads up to format 3"]);
    let new = altered(&bytes, "\"format_version\":\"3\"", "\"format_version\":\"99\"");
    place.write("new.upoe", altered(&new, upoe, &hostile));
    for verb in ["inspect new.upoe", "sample new.upoe -n 1", "score new.upoe crabs.csv"] {
        let run = place.run(&verb.split(' ').collect::<Vec<_>>());
        harmless(verb, &run.failed(1, &["written by a\u{fffd}[2J"]));
    }
    // `training.version`, in the document that is a text in the header
    let (version, inner) = (concat!("\\\"version\\\":\\\"", env!("CARGO_PKG_VERSION")), &hostile);
    let inner = serde_json::Value::from(inner.trim_matches('"')).to_string();
    let inner = format!("\\\"version\\\":\\\"{}", inner.trim_matches('"'));
    place.write("said.upoe", altered(&bytes, version, &inner));
    let run = place.run(&["inspect", "said.upoe"]).ok();
    assert!(run.out.contains("fitted by upoe a\u{fffd}[2J"), "{}", run.out);
    harmless("inspect said.upoe", &run);
}

/// The model file with one text of its header replaced, under a correct checksum.
fn altered(bytes: &[u8], from: &str, to: &str) -> Vec<u8> {
    let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let (head, arrays) = bytes[8..].split_at(length);
    let head = std::str::from_utf8(head).unwrap().trim_end();
    assert_eq!(head.matches(from).count(), 1, "{from}");
    let mut head = head.replace(from, to).into_bytes();
    head.resize(head.len().next_multiple_of(8), b' ');
    let mut file = [&(head.len() as u64).to_le_bytes()[..], &head, arrays].concat();
    let after = |file: &[u8], key: &[u8]| {
        file.windows(key.len()).position(|at| at == key).unwrap() + key.len()
    };
    let at = after(&file, b"\"file_bytes\":\"");
    let length = format!("{:016}", file.len());
    file[at..at + 16].copy_from_slice(length.as_bytes());
    let at = after(&file, b"\"checksum\":\"");
    file[at..at + 64].fill(b'0');
    let digest: String = Sha256::digest(&file).iter().map(|byte| format!("{byte:02x}")).collect();
    file[at..at + 64].copy_from_slice(digest.as_bytes());
    file
}
