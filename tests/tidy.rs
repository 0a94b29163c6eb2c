//! Rules the compiler cannot hold: purity, one place that sends deletes, files that are never compiled, file sizes,
//! the crates a crate may depend on, and banned words.
//!
//! Each rule is a function from source files to breaches, so that a test can plant a breach and see it found.

#![expect(
    clippy::unwrap_used,
    reason = "tests unwrap, wait on the real clock and name only the variants they are about"
)]

#[path = "tidy/clouds.rs"]
mod clouds;
#[path = "tidy/coverage.rs"]
mod coverage;
#[path = "tidy/docs.rs"]
mod docs;
#[path = "tidy/reference.rs"]
mod reference;
#[path = "tidy/rules.rs"]
mod rules;
#[path = "tidy/wording.rs"]
mod wording;

use std::path::{Path, PathBuf};

use rules::{Breach, SourceFile};

#[test]
fn the_sources_keep_the_rules() {
    let files = sources(&["src"]);
    assert!(files.len() > 500, "the sources were not found: {}", files.len());
    let breaches = rules::all(&files);
    assert!(breaches.is_empty(), "{}", listed(&breaches));
}

#[test]
fn texts_use_no_banned_word() {
    let files = texts();
    assert!(files.len() > 1_000, "the texts were not found: {}", files.len());
    let breaches = wording::breaches(&files);
    assert!(breaches.is_empty(), "{}", listed(&breaches));
}

#[test]
fn the_coverage_of_the_founding_documents_names_files_and_tests_that_exist() {
    let page = std::fs::read_to_string(root().join("docs/coverage.md")).unwrap();
    let files = sources(&["src", "tests"]);
    let functions = files.iter().flat_map(|file| coverage::functions(&file.text)).collect();
    let breaches = coverage::breaches(&page, root(), &functions);
    assert!(breaches.is_empty(), "{}", breaches.join("\n"));
}

#[test]
fn every_link_of_the_documents_leads_somewhere() {
    let pages = documents();
    assert!(pages.len() > 50, "the documents were not found: {}", pages.len());
    let dead = docs::dead_links(root(), &pages);
    assert!(dead.is_empty(), "links that lead nowhere:\n{}", dead.join("\n"));
}

#[test]
fn the_book_has_every_page() {
    let pages = documents();
    let summary = pages.iter().find(|page| page.path == "docs/SUMMARY.md").expect("the book has a summary");
    let missing = docs::not_in_the_book(&summary.text, &pages);
    assert!(missing.is_empty(), "docs/SUMMARY.md does not list:\n{}", missing.join("\n"));
}

#[test]
fn every_setting_is_documented() {
    let page = std::fs::read_to_string(root().join("docs/config.md")).unwrap();
    let checks: String =
        documents().into_iter().filter(|page| page.path.starts_with("docs/checks/")).map(|page| page.text).collect();
    let is_settings = |path: &str| path.starts_with("src/config/") || path.ends_with("/settings.rs");
    let files = sources(&["src"]).into_iter().filter(|file| is_settings(&file.path));
    let keys: Vec<(String, String)> = files
        .flat_map(|file| docs::setting_keys(&file.text).into_iter().map(move |key| (file.path.clone(), key)))
        .collect();
    assert!(keys.len() > 50, "the settings were not found: {}", keys.len());
    let missing: Vec<String> = keys
        .iter()
        .filter(|(_, key)| !docs::names(&page, key) && !docs::names(&checks, key))
        .map(|(path, key)| format!("{path}: {key}"))
        .collect();
    assert!(missing.is_empty(), "docs/config.md does not name:\n{}", missing.join("\n"));
}

#[test]
fn the_reference_of_words_is_what_the_sources_have() {
    let (path, page) = (root().join("docs/reference/words.md"), reference::page(&sources(&["src"])));
    if std::env::var_os("TRUEUP_WRITE_DOCS").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(written, page, "run TRUEUP_WRITE_DOCS=1 cargo test --test tidy");
}

#[test]
fn every_verdict_and_code_is_on_the_page_of_its_check() {
    let (files, pages) = (sources(&["src"]), documents());
    let mut missing = Vec::new();
    for (check, verdicts, codes) in reference::checks(&files) {
        let path = format!("docs/checks/{check}.md");
        let page = pages.iter().find(|page| page.path == path).expect("each check has a page");
        let words = verdicts.into_iter().chain(codes).filter(|word| !docs::names(&page.text, &word.word));
        missing.extend(words.map(|word| format!("{path}: {}", word.word)));
    }
    assert!(missing.is_empty(), "words that are not explained:\n{}", missing.join("\n"));
}

#[test]
fn every_crate_depends_only_on_what_the_architecture_allows() {
    let mut breaches = Vec::new();
    for entry in std::fs::read_dir(root().join("crates")).unwrap() {
        let folder = entry.unwrap().path();
        let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).unwrap();
        breaches.extend(rules::dependencies(folder.file_name().unwrap().to_str().unwrap(), &manifest));
    }
    assert!(breaches.is_empty(), "{}", listed(&breaches));
    let cases = [
        ("core on fleet", "core", "[package]\n\n[dependencies]\ntrueup-fleet.workspace = true\n", 1),
        ("an unknown crate on core", "other", "[dependencies]\n", 0),
        ("checks on core", "checks", "[package]\n\n[dependencies]\ntrueup-core = { path = \"\" }\n", 0),
        ("only for tests", "core", "[package]\n\n[dev-dependencies]\ntrueup-sim.workspace = true\n", 0),
    ];
    for (case, krate, manifest, expected) in cases {
        assert_eq!(rules::dependencies(krate, manifest).len(), expected, "case: {case}");
    }
}

#[test]
fn each_rule_finds_a_breach_made_on_purpose() {
    let cases = [
        ("a clock", file("crates/checks/src/x.rs", "fn f() { jiff::Timestamp::now(); }\n"), "Timestamp::now"),
        ("another clock", file("crates/core/src/x.rs", "fn f() { std::time::SystemTime::now(); }\n"), "SystemTime"),
        ("tokio", file("crates/core/src/x.rs", "async fn f() { tokio::task::yield_now().await; }\n"), "tokio"),
        ("randomness", file("crates/checks/src/x.rs", "fn f() { rand::random::<u8>(); }\n"), "rand::"),
        ("files", file("crates/core/src/x.rs", "fn f() { std::fs::read(\"x\"); }\n"), "std::fs"),
        ("kube decodes", file("crates/fleet/src/x.rs", "fn f() { client.request::<Secret>(r); }\n"), "Client::request"),
        ("a delete", file("crates/fleet/src/x.rs", "fn f() { Method::DELETE; }\n"), "delete"),
        (
            "a connection past the policy",
            file(
                "crates/fleet/src/x.rs",
                "async fn f() { tokio::net::TcpStream::connect(\"169.254.169.254:80\").await; }\n",
            ),
            "permit of the egress policy",
        ),
        (
            "a client of its own",
            file("src/x.rs", "fn f() { kube::Client::try_default(); }\n"),
            "permit of the egress policy",
        ),
        (
            "a login without our client",
            file("crates/fleet/src/x.rs", "async fn f() { aws_config::load_from_env().await; }\n"),
            "permit of the egress policy",
        ),
        (
            "a host of a cluster as the user's",
            file("crates/fleet/src/x.rs", "fn f() { HttpSettings::new(Egress::user_named()); }\n"),
            "hosts that the user named",
        ),
        (
            "a file without a limit",
            file("crates/fleet/src/x.rs", "fn f() { std::fs::read_to_string(\"token\"); }\n"),
            "limit of size and time",
        ),
        (
            "an asynchronous read without a limit",
            file("src/x.rs", "async fn f() { tokio::fs::read(\"token\").await; }\n"),
            "limit of size and time",
        ),
        (
            "a reader without a limit",
            file("src/x.rs", "fn f() { file.read_to_end(&mut bytes); }\n"),
            "a reader without a limit",
        ),
        (
            "text that is not escaped",
            file("src/cli/x.rs", "fn f() { print_exact(&finding.name); }\n"),
            "stdout takes Printable text",
        ),
        ("no header", SourceFile::new("crates/core/src/x.rs", "use std::fmt;\n"), "header"),
        ("never compiled", file("crates/core/src/orphan.rs", "fn f() {}\n"), "no `mod` line names it"),
        ("too long", file("src/x.rs", &"fn f() {}\n".repeat(601)), "lines"),
        ("a placeholder", file("src/x.rs", "fn f() { todo!() }\n"), "todo!"),
        ("printing", file("crates/core/src/x.rs", "fn f() { println!(); }\n"), "println!"),
    ];
    for (case, breaking, expected) in cases {
        let lib = |root: &str| SourceFile::new(&format!("{root}lib.rs"), "//! A crate.\n\nmod x;\n");
        let mut files: Vec<SourceFile> =
            ["src/", "crates/core/src/", "crates/checks/src/", "crates/fleet/src/"].map(lib).into();
        let quiet = rules::all(&files);
        assert!(quiet.is_empty(), "case: {case}: breaches before the planted one: {}", listed(&quiet));
        files.push(breaking);
        let breaches = rules::all(&files);
        let found = breaches.iter().any(|breach| breach.message.contains(expected));
        assert!(found, "case: {case}: not found in {}", listed(&breaches));
    }
}

#[test]
fn tests_may_do_what_sources_may_not() {
    let text = "//! A file.\n\nfn f() {}\n\n#[cfg(test)]\nmod tests {\n    use crate::cli::Args;\n    fn f() { tokio::spawn(x); }\n}\n";
    let files = [
        SourceFile::new("crates/core/src/lib.rs", "//! A crate.\nmod x;\n"),
        SourceFile::new("crates/core/src/x.rs", text),
    ];
    assert_eq!(rules::all(&files), []);
}

/// The numbers and the tests of one line of the table of edge cases.
fn edge(line: &str) -> Option<(Vec<u32>, Vec<&str>)> {
    let (numbers, tests) = line.strip_prefix("//! | ")?.split_once(" | ")?;
    let numbers: Option<Vec<u32>> = numbers.split(", ").map(|number| number.parse().ok()).collect();
    Some((numbers?, tests.split('`').skip(1).step_by(2).collect()))
}

#[test]
fn every_edge_case_of_a_check_names_a_test_that_exists() {
    let sources = sources(&["src", "tests"]);
    for (check, last) in [("powervs_tags", 38), ("machineset_capacity", 22)] {
        let path = format!("crates/checks/src/{check}/tests/edges.rs");
        let table = &sources.iter().find(|file| file.path == path).expect("the table of edge cases").text;
        let edges: Vec<(Vec<u32>, Vec<&str>)> = table.lines().filter_map(edge).collect();
        let mut numbers: Vec<u32> = edges.iter().flat_map(|(numbers, _)| numbers.clone()).collect();
        numbers.sort_unstable();
        assert_eq!(numbers, (1..=last).collect::<Vec<u32>>(), "{check}");
        for (numbers, tests) in edges {
            assert!(!tests.is_empty(), "{check} {numbers:?} names no test");
            for test in tests {
                let name = test.rsplit("::").next().unwrap_or_default();
                let is_there = sources.iter().any(|file| file.text.contains(&format!("fn {name}()")));
                assert!(is_there, "{check} {numbers:?}: there is no test {test}");
            }
        }
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every source file of the crates, and of these folders of the root package.
fn sources(own: &[&str]) -> Vec<SourceFile> {
    let mut folders: Vec<_> = own.iter().map(|folder| root().join(folder)).collect();
    folders.extend(std::fs::read_dir(root().join("crates")).unwrap().map(|entry| entry.unwrap().path().join("src")));
    read(folders, &["rs"])
}

/// Every text of the project: code, documents, scripts and snapshots.
fn texts() -> Vec<SourceFile> {
    let folders = ["src", "crates", "tests", "docs", "examples", "benches", "release"];
    let mut files = read(
        folders.iter().map(|folder| root().join(folder)).collect(),
        &["go", "md", "py", "rs", "sh", "snap", "toml", "txt"],
    );
    for name in ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"] {
        files.push(SourceFile::new(name, &std::fs::read_to_string(root().join(name)).unwrap()));
    }
    files
}

/// Every document in Markdown.
fn documents() -> Vec<SourceFile> {
    let mut files = read(vec![root().join("docs")], &["md"]);
    let at_the_root = std::fs::read_dir(root()).unwrap().map(|entry| entry.unwrap().path());
    for path in at_the_root.filter(|path| path.extension().is_some_and(|end| end == "md")) {
        let name = path.file_name().unwrap().to_str().unwrap();
        files.push(SourceFile::new(name, &std::fs::read_to_string(&path).unwrap()));
    }
    files
}

/// The files with these extensions below folders.
fn read(mut folders: Vec<PathBuf>, extensions: &[&str]) -> Vec<SourceFile> {
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let is_read = path.extension().is_some_and(|end| extensions.iter().any(|extension| end == *extension));
            if path.is_dir() {
                folders.push(path);
            } else if is_read {
                let name = path.strip_prefix(root()).unwrap().to_str().unwrap().to_owned();
                files.push(SourceFile::new(&name, &std::fs::read_to_string(&path).unwrap()));
            }
        }
    }
    files.sort_by(|one, other| one.path.cmp(&other.path));
    files
}

fn file(path: &str, code: &str) -> SourceFile {
    SourceFile::new(path, &format!("//! A file.\n\n{code}"))
}

fn listed(breaches: &[Breach]) -> String {
    breaches.iter().map(|breach| format!("\n{}: {}", breach.place, breach.message)).collect()
}
