//! The reference of words: verdicts and codes of each check, gates, reasons, verbs, ways to undo and metrics, out of the
//! sources.
//!
//! `TRUEUP_WRITE_DOCS=1 cargo test --test tidy` writes the page again.

use std::collections::BTreeMap;

use super::rules::SourceFile;

/// The checks, in the order of the registry: folder and name.
const CHECKS: [(&str, &str); 5] = [
    ("hosted_oidc", "hosted-oidc"),
    ("external_oidc", "external-oidc"),
    ("kubeconfig", "kubeconfig"),
    ("powervs_tags", "powervs-tags"),
    ("machineset_capacity", "machineset-capacity"),
];

const HEAD: &str = "# Words\n\nThe closed sets that plans, screens and settings use, as the sources have them. What they mean is on the \
    pages of the [checks](../checks/hosted-oidc.md) and in [safety](../safety.md#gates). Exit codes are with each \
    [command](commands.md).\n\nMade by `TRUEUP_WRITE_DOCS=1 cargo test --test tidy`.\n";

/// A word of a set, and the state a verdict has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    pub word: String,
    pub state: Option<String>,
}

/// The words of each `named_enum!` of a source file.
pub fn sets(code: &str) -> BTreeMap<String, Vec<Word>> {
    let mut sets = BTreeMap::new();
    for part in code.split("named_enum! {").skip(1) {
        let body = part.split("\n}\n").next().unwrap_or_default();
        let Some((_, after)) = body.split_once("pub enum ") else { continue };
        let Some((name, variants)) = after.split_once(" {") else { continue };
        let words = variants.lines().filter_map(|line| {
            let (_, value) = line.split_once(" = \"").filter(|_| !line.trim_start().starts_with("//"))?;
            let (word, rest) = value.split_once('"')?;
            let state = rest.split_once("=> ").map(|(_, state)| state.trim_end_matches(',').to_lowercase());
            Some(Word { word: word.to_owned(), state })
        });
        sets.insert(name.trim().to_owned(), words.collect());
    }
    sets
}

/// The words of one set of one file. Panics when there is no such set: it was renamed.
fn set(files: &[SourceFile], path: &str, name: &str) -> Vec<Word> {
    let file = files.iter().find(|file| file.path == path).unwrap_or_else(|| panic!("no {path}"));
    sets(&file.text).remove(name).unwrap_or_else(|| panic!("no set {name} in {path}"))
}

/// Verdicts and codes of a check.
pub fn words_of(files: &[SourceFile], folder: &str) -> (Vec<Word>, Vec<Word>) {
    let path = format!("crates/checks/src/{folder}/verdict.rs");
    (set(files, &path, "Verdict"), set(files, &path, "Code"))
}

/// Every check with its verdicts and codes.
pub fn checks(files: &[SourceFile]) -> impl Iterator<Item = (&'static str, Vec<Word>, Vec<Word>)> {
    CHECKS.iter().map(move |(folder, name)| {
        let (verdicts, codes) = words_of(files, folder);
        (*name, verdicts, codes)
    })
}

/// The page of the docs.
pub fn page(files: &[SourceFile]) -> String {
    let mut page = HEAD.to_owned();
    for (name, verdicts, codes) in checks(files) {
        page += &format!("\n## {name}\n\n| verdict | state |\n| --- | --- |\n");
        for Word { word, state } in verdicts {
            page += &format!("| `{word}` | {} |\n", state.unwrap_or_default());
        }
        page += &format!("\nCodes: {}.\n", listed(&codes));
    }
    let problem = "crates/checks/src/external_oidc/problem.rs";
    page += &format!("\n## Problems of an Authentication\n\n{}.\n", listed(&set(files, problem, "Code")));
    page += &format!("\nWarnings: {}.\n", listed(&set(files, problem, "WarningCode")));
    let action = "crates/core/src/engine/action.rs";
    for (title, name) in [("Gates", "GateName"), ("Reasons", "Reason"), ("Verbs", "Verb"), ("Undo", "Undo")] {
        page += &format!("\n## {title}\n\n{}.\n", listed(&set(files, action, name)));
    }
    let states = set(files, "crates/core/src/engine/finding.rs", "State");
    page += &format!("\n## States\n\n{}.\n", listed(&states));
    let exposed = files.iter().find(|file| file.path == "crates/controller/src/metrics.rs");
    let metrics = exposed.map(|file| metrics(&file.text)).unwrap_or_default();
    if !metrics.is_empty() {
        page += "\n## Metrics\n\nOf `trueup run`, as OpenMetrics.\n\n| metric | type | |\n| --- | --- | --- |\n";
    }
    for Metric { name, kind, help } in metrics {
        // A counter's samples have another name than its family.
        let suffix = if kind == "counter" { "_total" } else { "" };
        page += &format!("| `{name}{suffix}` | {kind} | {help} |\n");
    }
    page
}

/// A family of metrics.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Metric {
    name: String,
    kind: String,
    help: String,
}

/// The families a source file writes: `family("name", "type", "help")`.
fn metrics(code: &str) -> Vec<Metric> {
    let families = code.split(".family(").skip(1).filter_map(|call| {
        let mut texts = call.split('"').skip(1).step_by(2).map(str::to_owned);
        Some(Metric { name: texts.next()?, kind: texts.next()?, help: texts.next()? })
    });
    families.collect()
}

fn listed(words: &[Word]) -> String {
    words.iter().map(|word| format!("`{}`", word.word)).collect::<Vec<_>>().join(", ")
}

#[test]
fn metrics_are_read() {
    let code = "text.family(\"trueup_x\", \"gauge\", \"An x.\");\nfor x in y {}\ntext.family(\n    \"trueup_y\",\n    \"counter\",\n    \"Ys.\",\n);";
    let metric =
        |name: &str, kind: &str, help: &str| Metric { name: name.into(), kind: kind.into(), help: help.into() };
    assert_eq!(metrics(code), [metric("trueup_x", "gauge", "An x."), metric("trueup_y", "counter", "Ys.")]);
}

#[test]
fn sets_are_read_with_their_states() {
    let code = "trueup_core::named_enum! {\n    /// What.\n    pub enum Verdict {\n        // a group = \"x\"\n        One = \"one\" => Match,\n        \
                Two = \"two\" => Error,\n    }\n}\n\nnamed_enum! {\n    pub enum Code {\n        Gone = \"gone\",\n    }\n}\n";
    let word = |word: &str, state: Option<&str>| Word { word: word.to_owned(), state: state.map(str::to_owned) };
    let expected = BTreeMap::from([
        ("Verdict".to_owned(), vec![word("one", Some("match")), word("two", Some("error"))]),
        ("Code".to_owned(), vec![word("gone", None)]),
    ]);
    assert_eq!(sets(code), expected);
}
