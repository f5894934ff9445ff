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
        let dependencies = package["dependencies"].as_array().expect("dependencies");
        let imported: BTreeSet<String> = (dependencies.iter().filter(|d| d["kind"].is_null()))
            .filter_map(|dependency| dependency["name"].as_str())
            .filter(|imported| ours.contains(imported))
            .map(str::to_owned)
            .collect();
        assert_eq!(&imported, may, "imports of {name}, and its row of CONTRIBUTING");
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

/// The entries of a list in braces, without what follows them: `{a::B, c::{D, E}}` has `a` and `c`.
fn entries(list: &str) -> Vec<String> {
    let (mut depth, mut entries) = (0, vec![String::new()]);
    for c in list.chars() {
        match c {
            '{' => depth += 1,
            '}' if depth == 1 => break,
            '}' => depth -= 1,
            ',' if depth == 1 => entries.push(String::new()),
            _ if depth == 1 => entries.last_mut().expect("an entry").push(c),
            _ => {}
        }
    }
    entries.iter().map(|entry| identifier(entry.trim())).filter(|name| !name.is_empty()).collect()
}

fn is_identifier(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// The identifier with which a text begins.
fn identifier(text: &str) -> String {
    text.chars().take_while(|&c| is_identifier(c)).collect()
}

/// The names that follow a prefix such as `crate::`, one by one or as a list in braces.
fn names_after(code: &str, prefix: &str) -> Vec<String> {
    let found = code.match_indices(prefix).filter(|(at, _)| !code[..*at].ends_with(is_identifier));
    let names = |(at, _)| {
        let rest: &str = &code[at + prefix.len()..];
        if rest.starts_with('{') { entries(rest) } else { vec![identifier(rest)] }
    };
    found.flat_map(names).collect()
}

/// The code without comments and without its tests, which may use anything.
fn without_comments_and_tests(text: &str) -> String {
    let code = text.split("#[cfg(test)]\nmod tests").next().expect("text");
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    lines.collect::<Vec<_>>().join("\n")
}

/// Which module defines each name that `lib.rs` exports at the root by `pub use module::…`.
fn exports(lib: &str) -> BTreeMap<String, String> {
    let code = without_comments_and_tests(lib);
    let uses = code.split("pub use ").skip(1).filter_map(|part| part.split(';').next());
    let mut exports = BTreeMap::new();
    for (module, names) in uses.filter_map(|part| part.split_once("::")) {
        let names = if names.starts_with('{') { entries(names) } else { vec![identifier(names)] };
        exports.extend(names.into_iter().map(|name| (name, module.to_owned())));
    }
    exports
}

#[test]
fn imports_are_found_in_lists_and_through_the_root() {
    let code = without_comments_and_tests(
        "// crate::comment\nuse crate::{a::{B, C}, d, E};\nfn f() { crate::g::h() }\n\
         #[cfg(test)]\nmod tests { use crate::only_here; }",
    );
    assert_eq!(names_after(&code, "crate::"), ["a", "d", "E", "g"]);
    let exports = exports("pub use a::{\n    B, C,\n};\npub use d::E;\n");
    let pairs: Vec<_> = exports.iter().map(|(name, module)| (&**name, &**module)).collect();
    assert_eq!(pairs, [("B", "a"), ("C", "a"), ("E", "d")]);
}

#[test]
fn modules_of_the_library_import_what_contributing_allows() {
    let text = read("CONTRIBUTING.md");
    let rows = table(&text, "| module of `upoe` | may import |");
    let allowed: Edges =
        rows.iter().map(|row| (code(&row[0])[0].to_owned(), words(&row[1]))).collect();
    let exports = exports(&read("crates/upoe/src/lib.rs"));
    let mut imports = Edges::new();
    for (file, text) in sources(&root().join("crates/upoe/src")) {
        let module = file.split('/').next().expect("a name").trim_end_matches(".rs").to_owned();
        if module == "lib" {
            continue;
        }
        let code = without_comments_and_tests(&text);
        let mut names = names_after(&code, "crate::");
        // In the file of a module, its parent is the root.
        if !file.contains('/') || file == format!("{module}/mod.rs") {
            names.extend(names_after(&code, "super::"));
        }
        let imported = imports.entry(module.clone()).or_default();
        for name in names {
            let used = if allowed.contains_key(&name) { Some(&name) } else { exports.get(&name) };
            let used = used.unwrap_or_else(|| panic!("crates/upoe/src/{file}: what is {name}?"));
            let may = *used == module || allowed.get(&module).is_some_and(|may| may.contains(used));
            assert!(
                may,
                "crates/upoe/src/{file} imports {used}, which CONTRIBUTING does not allow"
            );
            imported.insert(used.clone());
        }
        imported.remove(&module);
    }
    assert_eq!(imports, allowed, "imports of modules, and the rows of CONTRIBUTING");
}

/// Whether a Rust file defines a name.
fn defines(code: &str, name: &str) -> bool {
    ["struct", "enum", "trait", "type", "fn"].iter().any(|keyword| {
        let definition = format!("{keyword} {name}");
        code.match_indices(&definition).any(|(at, _)| {
            let rest = &code[at + definition.len()..];
            !code[..at].ends_with(is_identifier) && !rest.starts_with(is_identifier)
        })
    })
}

#[test]
fn types_are_where_the_architecture_says() {
    let text = read("docs/architecture.md");
    let heading = "| stop | type | where | what happens |";
    let tables = text.match_indices(heading).map(|(at, _)| table(&text[at..], heading));
    let rows: Vec<_> = tables.flatten().collect();
    assert!(rows.len() > 15, "{} rows", rows.len());
    for row in rows {
        let files: Vec<String> =
            code(&row[2]).into_iter().map(|file| without_comments_and_tests(&read(file))).collect();
        for name in code(&row[1]) {
            let last = name.rsplit("::").next().expect("text");
            let found = files.iter().any(|file| defines(file, last));
            assert!(found, "docs/architecture.md: {name} is not in {}", row[2]);
        }
    }
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
