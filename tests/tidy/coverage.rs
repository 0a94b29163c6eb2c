//! `docs/coverage.md` against the repository: ids, files, tests and counts.
//!
//! A row says where a requirement is met and which test shows it. A file that moves or a test that is renamed makes the
//! row wrong, and so this test fails.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

const STATES: [&str; 5] = ["done", "partly", "different", "not done", "not applicable"];

/// What is wrong with the page. `tests` are the names of all functions of the repository.
pub fn breaches(page: &str, root: &Path, functions: &BTreeSet<String>) -> Vec<String> {
    let mut found = Vec::new();
    let mut ids = BTreeSet::new();
    let mut counted: BTreeMap<&str, BTreeMap<&str, usize>> = BTreeMap::new();
    for cells in rows(page).filter(|cells| cells.len() == 5 && cells[0] != "id") {
        let [id, requirement, state, place, test] = [0, 1, 2, 3, 4].map(|at| cells[at]);
        let mut wrong = |what: &str| found.push(format!("{id}: {what}"));
        if !ids.insert(id) {
            wrong("the id is used twice");
        }
        if requirement.is_empty() {
            wrong("no requirement");
        }
        let (word, why) = state.split_once(": ").unwrap_or((state, ""));
        if !STATES.contains(&word) {
            wrong(&format!("unknown state {word:?}"));
        }
        if matches!(word, "partly" | "different" | "not applicable") && why.is_empty() {
            wrong("the state has no reason");
        }
        if matches!(word, "done" | "partly" | "different") && place == "-" {
            wrong("no file");
        }
        let (place, test) = (place.trim_matches('`'), test.trim_matches('`'));
        if place != "-" && !root.join(place).exists() {
            wrong(&format!("{place} does not exist"));
        }
        // What has no test of its own is a page or a file of settings.
        let needs_test = place.ends_with(".rs") && place != "tests/tidy.rs";
        if test == "-" && needs_test {
            wrong("no test");
        }
        if test != "-" && !functions.contains(test) {
            wrong(&format!("there is no test {test}"));
        }
        let document = id.split('-').next().unwrap_or_default();
        *counted.entry(document).or_default().entry(word).or_default() += 1;
    }
    found.extend(count_breaches(page, &counted));
    found
}

/// The summary has one row per document, in the order of its sections, and one for all.
fn count_breaches(page: &str, counted: &BTreeMap<&str, BTreeMap<&str, usize>>) -> Vec<String> {
    let summary: Vec<Vec<&str>> = rows(page).filter(|cells| cells.len() == 7 && cells[0] != "document").collect();
    let mut sections: Vec<&str> = Vec::new();
    for cells in rows(page).filter(|cells| cells.len() == 5 && cells[0] != "id") {
        let document = cells[0].split('-').next().unwrap_or_default();
        if !sections.contains(&document) {
            sections.push(document);
        }
    }
    let count = |documents: &[&str], state: &str| -> usize {
        documents.iter().filter_map(|document| counted.get(document)?.get(state)).sum()
    };
    let expected = |documents: &[&str]| -> Vec<String> {
        let each: Vec<usize> = STATES.iter().map(|state| count(documents, state)).collect();
        std::iter::once(each.iter().sum::<usize>()).chain(each.iter().copied()).map(|one| one.to_string()).collect()
    };
    let mut found = Vec::new();
    let all = sections.iter().map(std::slice::from_ref).chain([sections.as_slice()]);
    for (at, documents) in all.enumerate() {
        let shown: Vec<String> =
            summary.get(at).map_or(Vec::new(), |cells| cells[1..].iter().map(|one| (*one).to_owned()).collect());
        if shown != expected(documents) {
            found.push(format!("the summary of {documents:?} is {shown:?}, the rows are {:?}", expected(documents)));
        }
    }
    found
}

/// The cells of each row of each table.
fn rows(page: &str) -> impl Iterator<Item = Vec<&str>> {
    let lines = page.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| ---"));
    lines.map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
}

/// The names of the functions in a source.
pub fn functions(source: &str) -> impl Iterator<Item = String> + '_ {
    let after_fn = source.split("fn ").skip(1);
    after_fn.filter_map(|rest| {
        let name: String = rest.chars().take_while(|one| one.is_ascii_alphanumeric() || *one == '_').collect();
        (!name.is_empty()).then_some(name)
    })
}

#[test]
fn each_fault_of_the_page_is_found() {
    let row =
        |id: &str, state: &str, place: &str, test: &str| format!("| {id} | asked | {state} | {place} | {test} |\n");
    let good = row("A-001", "done", "`Cargo.toml`", "`known`");
    let page = |rows: &str, numbers: &str| {
        format!(
            "| document | rows | done | partly | different | not done | not applicable |\n| --- | --- |\n| one | {numbers} |\n| all | {numbers} |\n{rows}"
        )
    };
    let one = "1 | 1 | 0 | 0 | 0 | 0";
    let none = "1 | 0 | 0 | 1 | 0 | 0";
    let cases = [
        ("nothing", page(&good, one), ""),
        ("an id twice", page(&format!("{good}{good}"), "2 | 2 | 0 | 0 | 0 | 0"), "used twice"),
        ("a file that is not there", page(&row("A-001", "done", "`none.rs`", "`known`"), one), "does not exist"),
        ("a test that is not there", page(&row("A-001", "done", "`Cargo.toml`", "`gone`"), one), "there is no test"),
        ("no reason", page(&row("A-001", "different", "`Cargo.toml`", "`known`"), none), "no reason"),
        ("no test", page(&row("A-001", "done", "`src/main.rs`", "-"), one), "no test"),
        ("another count", page(&good, "1 | 0 | 1 | 0 | 0 | 0"), "the summary"),
        (
            "an unknown state",
            page(&row("A-001", "fine", "`Cargo.toml`", "`known`"), "0 | 0 | 0 | 0 | 0 | 0"),
            "unknown state",
        ),
    ];
    let known = BTreeSet::from(["known".to_owned()]);
    for (case, page, expected) in cases {
        let found = breaches(&page, super::root(), &known);
        match expected {
            "" => assert_eq!(found, [""; 0], "case: {case}"),
            _ => assert!(found.iter().any(|one| one.contains(expected)), "case: {case}: {found:?}"),
        }
    }
}
