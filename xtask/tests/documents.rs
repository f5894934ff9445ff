//! What CONTRIBUTING.md and docs/architecture.md say about the code is true.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

type Edges = BTreeMap<String, BTreeSet<String>>;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a workspace").to_owned()
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// The rows of the Markdown table whose heading begins so, cell by cell.
fn table(text: &str, heading: &str) -> Vec<Vec<String>> {
    let from = text.find(heading).unwrap_or_else(|| panic!("no table `{heading}`"));
    let cells = |line: &str| -> Vec<String> {
        line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()
    };
    let rows = text[from..].lines().skip(2).take_while(|line| line.starts_with('|'));
    rows.map(cells).collect()
}

/// What stands between backticks.
fn code(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

fn words(cell: &str) -> BTreeSet<String> {
    let words = cell.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-' || c == '_'));
    words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

#[test]
fn crates_import_what_contributing_allows() {
    let text = read("CONTRIBUTING.md");
    let rows = table(&text, "| where | what | may import |");
    // A row without an entry in its last cell sets no rule.
    let allowed: Edges = (rows.iter().filter(|row| !row[2].is_empty()))
        .map(|row| (code(&row[0])[0].to_owned(), words(&row[2])))
        .collect();
    let done = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--format-version=1", "--offline"])
        .current_dir(root())
        .output()
        .expect("cargo metadata");
    let metadata: serde_json::Value = serde_json::from_slice(&done.stdout).expect("JSON");
    let packages = metadata["packages"].as_array().expect("packages");
    let ours: BTreeSet<&str> = packages.iter().filter_map(|p| p["name"].as_str()).collect();
    let mut seen = BTreeSet::new();
    for package in packages {
        let manifest = Path::new(package["manifest_path"].as_str().expect("a path"));
        let folder = manifest.parent().and_then(|f| f.strip_prefix(root()).ok()).expect("below");
        let name = format!("{}/", folder.display());
        let known = rows.iter().any(|row| code(&row[0])[0] == name);
        assert!(known, "CONTRIBUTING has no row `{name}`");
        let Some(may) = allowed.get(&name) else { continue };
        for dependency in package["dependencies"].as_array().expect("dependencies") {
            let imported = dependency["name"].as_str().expect("a name");
            let normal = dependency["kind"].is_null();
            assert!(
                !normal || !ours.contains(imported) || may.contains(imported),
                "{name} imports {imported}, which CONTRIBUTING does not allow"
            );
        }
        seen.insert(name);
    }
    assert_eq!(seen, allowed.into_keys().collect(), "rows of CONTRIBUTING without a crate");
}

/// Every Rust file below a folder, with its path relative to it.
fn sources(folder: &Path) -> Vec<(String, String)> {
    let mut out = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(&next).expect("a folder").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                let name = path.strip_prefix(folder).expect("below").display().to_string();
                out.push((name, std::fs::read_to_string(&path).expect("text")));
            }
        }
    }
    out
}

#[test]
fn modules_of_the_library_import_what_contributing_allows() {
    let text = read("CONTRIBUTING.md");
    let rows = table(&text, "| module of `upoe` | may import |");
    let allowed: Edges =
        rows.iter().map(|row| (code(&row[0])[0].to_owned(), words(&row[1]))).collect();
    let mut seen = BTreeSet::new();
    for (file, text) in sources(&root().join("crates/upoe/src")) {
        let module = file.split('/').next().expect("a name").trim_end_matches(".rs").to_owned();
        if module == "lib" {
            continue;
        }
        let may = allowed.get(&module).unwrap_or_else(|| panic!("no row `{module}`"));
        // Tests inside a module may use anything.
        let code = text.split("#[cfg(test)]\nmod tests").next().expect("text");
        for part in code.split("crate::").skip(1) {
            let used: String =
                part.chars().take_while(|c| c.is_ascii_lowercase() || *c == '_').collect();
            let imports = !used.is_empty() && used != module && allowed.contains_key(&used);
            assert!(
                !imports || may.contains(&used),
                "crates/upoe/src/{file} imports {used}, which CONTRIBUTING does not allow"
            );
        }
        seen.insert(module);
    }
    assert_eq!(seen, allowed.into_keys().collect(), "modules and rows of CONTRIBUTING");
}

#[test]
fn files_that_documents_name_exist() {
    for document in ["CONTRIBUTING.md", "docs/architecture.md"] {
        let text = read(document);
        for name in code(&text).into_iter().filter(|name| !name.contains(['*', ' ', '…', '<'])) {
            let path = name.split("::").next().expect("text");
            let is_path = path.ends_with(".rs") || path.ends_with(".py") || path.ends_with('/');
            let bases = ["", "docs/", "crates/upoe/src/"];
            let exists = bases.iter().any(|base| root().join(base).join(path).exists());
            assert!(!is_path || exists, "{document} names {path}, which does not exist");
        }
        for link in text.split("](").skip(1).filter_map(|part| part.split(')').next()) {
            let from = root().join(document);
            let path = from.parent().expect("a folder").join(link.split('#').next().expect("text"));
            assert!(link.starts_with("http") || path.exists(), "{document} links to {link}");
        }
    }
}

#[test]
fn tests_that_documents_name_exist() {
    let text = read("SECURITY.md");
    let named: Vec<(&str, &str)> =
        code(&text).into_iter().filter_map(|name| name.split_once("::")).collect();
    assert!(named.len() > 20, "{named:?}");
    for (path, test) in named {
        let defined = ["fn ", "def "].map(|kind| format!("{kind}{test}("));
        let found = defined.iter().any(|definition| read(path).contains(definition));
        assert!(found, "SECURITY.md names {path}::{test}, which does not exist");
    }
}

#[test]
fn source_files_are_short_or_give_a_reason() {
    let list = Command::new("git")
        .args(["ls-files", "*.rs", "*.py", "*.ts"])
        .current_dir(root())
        .output()
        .expect("git ls-files");
    let files = String::from_utf8(list.stdout).expect("UTF-8");
    let mut lengths = Vec::new();
    for file in files.lines() {
        // A file that is deleted but not committed yet is still in the list.
        let Ok(text) = std::fs::read_to_string(root().join(file)) else { continue };
        let lines = text.lines().count();
        let reason = text.lines().take(12).any(|line| line.contains("Long because"));
        assert!(
            lines <= 400 || reason,
            "{file}: {lines} lines, and no `Long because …` at its top"
        );
        lengths.push(lines);
    }
    lengths.sort_unstable();
    let median = lengths[lengths.len() / 2];
    println!("{} source files, median {median} lines", lengths.len());
    assert!(median <= 200, "the median source file has {median} lines");
}
