//! The house rules a machine can check: which room may use which, files nobody compiles, clocks in pure rooms.
//!
//! Each rule is a function from source files to broken places, so that a test can plant a breach and see it found.

#[path = "tidy/clouds.rs"]
mod clouds;
#[path = "tidy/rules.rs"]
mod rules;

use std::path::Path;

use rules::{Breach, SourceFile};

#[test]
fn the_house_keeps_its_rules() {
    let files = read_sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    assert!(files.len() > 30, "the sources were not found: {}", files.len());
    let breaches = rules::all(&files);
    assert!(breaches.is_empty(), "{}", listed(&breaches));
}

#[test]
fn only_the_registration_names_providers() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    for folder in ["crates/fleet/src/live", "src/cli", "src/console"] {
        let read = read_sources(&root.join(folder));
        assert!(!read.is_empty(), "no sources in {folder}");
        files.extend(read.into_iter().map(|file| SourceFile::new(&format!("{folder}/{}", file.path), &file.text)));
    }
    let breaches = clouds::named_providers(&files);
    assert!(breaches.is_empty(), "{}", listed(&breaches));
}

#[test]
fn each_rule_finds_a_breach_made_on_purpose() {
    let cases = [
        ("a pure room reaches back", file("world/x.rs", "use trueup_core::engine::Plan;\n"), "may not use engine"),
        (
            "a grouped import reaches back",
            file("engine/x.rs", "use crate::{world::Key, cli::Args};\n"),
            "may not use cli",
        ),
        (
            "a path inside code reaches back",
            file("domains/x.rs", "fn f() { trueup_fleet::observe::look(); }\n"),
            "may not use observe",
        ),
        ("the demo touches the engine", file("demo/x.rs", "use trueup_core::engine::Plan;\n"), "may not use engine"),
        ("a clock in a pure room", file("domains/x.rs", "fn f() { jiff::Timestamp::now(); }\n"), "Timestamp::now"),
        ("another clock", file("world/x.rs", "fn f() { std::time::SystemTime::now(); }\n"), "SystemTime"),
        ("tokio in a pure room", file("engine/x.rs", "async fn f() { tokio::task::yield_now().await; }\n"), "tokio"),
        ("randomness in a pure room", file("domains/x.rs", "fn f() { rand::random::<u8>(); }\n"), "rand::"),
        ("files in a pure room", file("world/x.rs", "fn f() { std::fs::read(\"x\"); }\n"), "std::fs"),
        ("kube decodes a body", file("observe/x.rs", "fn f() { client.request::<Secret>(r); }\n"), "Client::request"),
        ("a delete outside the executor", file("live/x.rs", "fn f() { Method::DELETE; }\n"), "delete"),
        ("no header", SourceFile::new("world/x.rs", "use std::fmt;\n"), "header"),
        ("a file nobody compiles", file("world/orphan.rs", "fn f() {}\n"), "no `mod` names it"),
        ("a file that grew too long", file("cli/x.rs", &"fn f() {}\n".repeat(601)), "lines"),
        ("a placeholder", file("cli/x.rs", "fn f() { todo!() }\n"), "todo!"),
        ("printing below the command line", file("engine/x.rs", "fn f() { println!(); }\n"), "println!"),
    ];
    for (case, breaking, expected) in cases {
        let mut files = vec![SourceFile::new(
            "lib.rs",
            "//! map\npub mod world;\npub mod engine;\npub mod domains;\npub mod observe;\npub mod live;\npub mod cli;\npub mod demo;\n",
        )];
        for room in ["world", "engine", "domains", "observe", "live", "cli", "demo"] {
            files.push(SourceFile::new(&format!("{room}/mod.rs"), "//! A room.\n\nmod x;\n"));
        }
        let quiet = rules::all(&files);
        assert!(quiet.is_empty(), "{case}: the house was untidy before: {}", listed(&quiet));
        files.push(breaking);
        let breaches = rules::all(&files);
        assert!(
            breaches.iter().any(|breach| breach.says.contains(expected)),
            "{case}: not found in {}",
            listed(&breaches)
        );
    }
}

#[test]
fn tests_may_do_what_sources_may_not() {
    let text = "//! A file.\n\nfn f() {}\n\n#[cfg(test)]\nmod tests {\n    use crate::cli::Args;\n    fn f() { tokio::spawn(x); }\n}\n";
    let files = [
        SourceFile::new("lib.rs", "//! map\nmod world;\n"),
        SourceFile::new("world/mod.rs", "//! A room.\n\nmod x;\n"),
        SourceFile::new("world/x.rs", text),
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
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let sources: Vec<SourceFile> = ["src", "tests"].iter().flat_map(|room| read_sources(&root.join(room))).collect();
    for (check, last) in [("powervs_tags", 38), ("machineset_capacity", 22)] {
        let table = std::fs::read_to_string(root.join(format!("src/domains/{check}/tests/edges.rs"))).unwrap();
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

fn file(path: &str, code: &str) -> SourceFile {
    SourceFile::new(path, &format!("//! A file.\n\n{code}"))
}

fn listed(breaches: &[Breach]) -> String {
    breaches.iter().map(|breach| format!("\n{}: {}", breach.place, breach.says)).collect()
}

fn read_sources(root: &Path) -> Vec<SourceFile> {
    let mut files = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "rs") {
                let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
                files.push(SourceFile::new(&name, &std::fs::read_to_string(&path).unwrap()));
            }
        }
    }
    files.sort_by(|one, other| one.path.cmp(&other.path));
    files
}
