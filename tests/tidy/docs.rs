//! The documents: every link leads somewhere, also in the book, the book has every page, and the references are those of the sources.
//!
//! Links to other sites are not followed: a test needs no network.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use super::rules::SourceFile;

/// A link of a document that leads nowhere, with its place.
pub type DeadLink = String;

/// Every relative link, and every anchor of it, that does not resolve among the files below `root`.
pub fn dead_links(root: &Path, pages: &[SourceFile]) -> Vec<DeadLink> {
    let anchors: BTreeMap<PathBuf, BTreeSet<String>> =
        pages.iter().map(|page| (PathBuf::from(&page.path), anchors(&page.text))).collect();
    let mut dead = Vec::new();
    for page in pages {
        for (line, link) in links(&page.text) {
            let (path, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let folder = Path::new(&page.path).parent().unwrap_or(Path::new(""));
            let target = match path {
                "" => PathBuf::from(&page.path),
                path => normalized(&folder.join(path)),
            };
            // The book has nothing but docs/, and names the pages of a folder by the folder.
            let leaves_the_book = page.path.starts_with("docs/") && !target.starts_with("docs");
            let is_there = !leaves_the_book
                && (anchors.contains_key(&target) || root.join(&target).exists())
                && (!page.path.starts_with("docs/") || page.path == "docs/SUMMARY.md" || !path.ends_with("README.md"));
            let has_anchor = anchor.is_empty() || anchors.get(&target).is_none_or(|known| known.contains(anchor));
            if !is_there || !has_anchor {
                dead.push(format!("{}:{line}: {link}", page.path));
            }
        }
    }
    dead
}

/// `docs/checks/../config.md` is `docs/config.md`.
fn normalized(path: &Path) -> PathBuf {
    let mut parts = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(parts.pop()),
            Component::CurDir => {}
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => parts.push(part),
        }
    }
    parts
}

/// The lines of a document outside of its code blocks, with their numbers.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut is_code = false;
    text.lines().enumerate().filter_map(move |(index, line)| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        (!is_code && !is_fence).then_some((index + 1, line))
    })
}

/// The targets of relative links: `[text](target)` and `[name]: target`.
fn links(text: &str) -> Vec<(usize, String)> {
    let mut links = Vec::new();
    for (number, line) in prose(text) {
        let plain = without_code(line);
        let mut rest = plain.as_str();
        while let Some(at) = rest.find("](") {
            rest = &rest[at + 2..];
            let end = rest.find([')', ' ']).unwrap_or(rest.len());
            links.push((number, rest[..end].to_owned()));
        }
        if let Some((name, target)) = plain.split_once("]: ").filter(|_| plain.starts_with('[')) {
            let is_reference = !name[1..].contains('[');
            links.extend(is_reference.then(|| (number, target.trim().to_owned())));
        }
    }
    links.retain(|(_, link)| !link.contains("://") && !link.starts_with("mailto:"));
    links
}

/// A line without what is in backticks.
fn without_code(line: &str) -> String {
    line.split('`').step_by(2).collect::<Vec<_>>().join("` `")
}

/// The anchors of the headings, as GitHub and mdBook make them.
fn anchors(text: &str) -> BTreeSet<String> {
    let headings = prose(text)
        .filter_map(|(_, line)| line.trim_start_matches('#').strip_prefix(' ').filter(|_| line.starts_with('#')));
    let mut found = BTreeSet::new();
    for heading in headings {
        let letters = heading.trim().to_lowercase();
        let anchor: String = letters
            .chars()
            .filter(|letter| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_'))
            .map(|letter| if letter == ' ' { '-' } else { letter })
            .collect();
        let mut name = anchor.clone();
        let mut count = 0;
        while !found.insert(name.clone()) {
            count += 1;
            name = format!("{anchor}-{count}");
        }
    }
    found
}

/// The pages of the book that its summary does not list.
pub fn not_in_the_book(summary: &str, pages: &[SourceFile]) -> Vec<String> {
    let listed: BTreeSet<String> = links(summary).into_iter().map(|(_, link)| format!("docs/{link}")).collect();
    let is_page = |page: &&SourceFile| page.path.starts_with("docs/") && page.path != "docs/SUMMARY.md";
    pages.iter().filter(is_page).map(|page| page.path.clone()).filter(|path| !listed.contains(path)).collect()
}

/// The keys a settings file accepts: those of its `…KEYS` constants, of `known_keys`, and of calls of `unknown_keys`.
pub fn setting_keys(code: &str) -> BTreeSet<String> {
    let code = code.split("#[cfg(test)]").next().unwrap_or_default();
    let mut keys = BTreeSet::new();
    for (start, end) in [("KEYS: [", "];"), ("known_keys: &[", "]"), ("unknown_keys(&[", "]")] {
        for part in code.split(start).skip(1) {
            let list = part.split(end).next().unwrap_or_default();
            // A constant has its length before the list.
            let list = list.split("= [").last().unwrap_or_default();
            keys.extend(list.split('"').skip(1).step_by(2).map(str::to_owned));
        }
    }
    keys
}

/// Whether a text has the word, not as a part of another.
pub fn names(text: &str, word: &str) -> bool {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == '-';
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back().is_none_or(|letter| !is_part(letter));
        before && text[at + word.len()..].chars().next().is_none_or(|letter| !is_part(letter))
    })
}

#[test]
fn dead_links_and_anchors_are_found() {
    let page = |path: &str, text: &str| SourceFile::new(path, text);
    let cases = [
        ("a page", "[x](b.md)", 0),
        ("no such page", "[x](c.md)", 1),
        ("an anchor", "[x](b.md#two-words)", 0),
        ("no such anchor", "[x](b.md#three)", 1),
        ("its own anchor", "# A `b` (c)\n\n[x](#a-b-c)", 0),
        ("the second of two headings", "# A\n# A\n[x](#a-1)", 0),
        ("out of the book", "[x](../README.md)", 1),
        ("a folder's first page", "[x](c/README.md)", 1),
        ("another site", "[x](https://no.invalid/y)", 0),
        ("in code", "`[x](c.md)`\n\n```\n[x](c.md)\n```", 0),
        ("a reference", "[x]\n\n[x]: c.md", 1),
        ("two on a line", "[x](b.md) and [y](c.md)", 1),
    ];
    for (case, text, expected) in cases {
        let pages = [page("docs/a.md", text), page("docs/b.md", "# B\n## Two words\n"), page("README.md", "")];
        let dead = dead_links(Path::new("/nonexistent"), &pages);
        assert_eq!(dead.len(), expected, "case: {case}: {dead:?}");
    }
}

#[test]
fn keys_and_pages_that_are_left_out_are_found() {
    let code =
        "const KNOWN_KEYS: [&str; 2] =\n    [\"one\", \"two\"];\nknown_keys: &[\"three\"], t.unknown_keys(&[\"four\"])";
    assert_eq!(setting_keys(code).into_iter().collect::<Vec<_>>(), ["four", "one", "three", "two"]);
    assert!(names("`live_max` = 1", "live_max") && !names("live_maximum other-live_max", "live_max"));
    let pages = [SourceFile::new("docs/a.md", ""), SourceFile::new("docs/b/c.md", "")];
    assert_eq!(not_in_the_book("- [A](a.md)\n", &pages), ["docs/b/c.md"]);
}
