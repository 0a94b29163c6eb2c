//! What the help says beside keys: states, connections, actions, tiers and the filter.
//!
//! Invariants: a glyph always stands beside its word, in the glyph set of the screen.

use super::text::{Line, wrap};
use crate::console::theme::{Glyphs, Role};
use trueup_core::engine::State;

/// Width of a glyph and its word, with the space after them.
const WORDS: usize = 23;

/// An entry: what is seen, its role, and what it means.
type Entry = (String, Role, &'static str);

/// Every section, each under its title.
pub fn lines(width: usize, glyphs: &Glyphs) -> Vec<Line> {
    let sections: [(&str, Vec<Entry>); 5] = [
        ("STATES", states(glyphs)),
        ("CONNECTIONS", connections(glyphs)),
        ("ACTIONS", actions(glyphs)),
        ("TIERS", tiers()),
        ("FILTER", filter()),
    ];
    sections.into_iter().flat_map(|(title, entries)| section(title, entries, width)).collect()
}

fn section(title: &str, entries: Vec<Entry>, width: usize) -> Vec<Line> {
    let mut lines = vec![Line::blank(), Line::of(title, Role::Header)];
    for (seen, role, message) in entries {
        let mut label = format!("{seen:<before$} ", before = WORDS - 1);
        let texts = wrap(message, width.saturating_sub(WORDS), 0).into_iter();
        lines.extend(texts.map(|text| {
            let label = std::mem::replace(&mut label, " ".repeat(WORDS));
            Line::of(label, role).and(text, Role::HintText)
        }));
    }
    lines
}

fn states(glyphs: &Glyphs) -> Vec<Entry> {
    let meaning = |state: State| match state {
        State::Match => "as expected",
        State::Missing => "expected, and does not exist",
        State::Extra => "exists, and is not expected",
        State::Drift => "exists, and differs from what is expected",
        State::Stale => "expired, about to expire, or an update is under way",
        State::Unknown => "not judged: what it depends on could not be read",
        State::Error => "wrong in a way that needs a person",
        State::Blocked => "left alone: something has to end or to be removed first",
    };
    let entry =
        |state: State| (format!("{} {}", glyphs.state(state), state.as_str()), Role::from(state), meaning(state));
    let nothing = (glyphs.nothing.to_owned(), Role::Muted, "does not apply here; never that it could not be read");
    State::ALL.into_iter().map(entry).chain([nothing]).collect()
}

fn connections(glyphs: &Glyphs) -> Vec<Entry> {
    let entry = |glyph: &str, word: &str, role, message| (format!("{glyph} {word}"), role, message);
    vec![
        entry(glyphs.link_live, "live", Role::Text, "every list is read and watched"),
        entry(glyphs.link_partial, "partly read", Role::Warn, "some lists are forbidden or not served"),
        entry(glyphs.link_busy, "connecting", Role::Warn, "connecting, listing, or retrying after a lost connection"),
        entry(glyphs.link_failed, "down", Role::Error, "no connection"),
        entry(glyphs.link_idle, "idle", Role::Muted, "not connected"),
        entry(glyphs.link_recorded, "recording", Role::Muted, "read from files; never changes"),
    ]
}

fn actions(glyphs: &Glyphs) -> Vec<Entry> {
    let entry = |glyph: &str, word: &str, role, message| (format!("{glyph} {word}"), role, message);
    vec![
        entry(glyphs.done, "verified", Role::Ok, "sent, and read again as it should be"),
        entry(glyphs.running, "sending", Role::Text, "under way"),
        entry(glyphs.queued, "queued, not sent", Role::Muted, "nothing was sent for it"),
        entry(glyphs.skipped, "skipped", Role::Blocked, "the object changed, or a gate refused it"),
        entry(glyphs.failed, "failed", Role::Error, "the server refused it, or did not answer"),
    ]
}

fn tiers() -> Vec<Entry> {
    let entry = |tier: &str, role, message| (tier.to_owned(), role, message);
    vec![
        entry("T0", Role::Text, "read only"),
        entry("T1", Role::Text, "can be undone"),
        entry("T2", Role::Text, "delete with a backup"),
        entry("T3", Role::Text, "prod, several objects at once, ownership or logins: the cluster name is typed"),
        entry("T4", Role::Error, "cannot be undone: cluster name and plan id are typed"),
    ]
}

fn filter() -> Vec<Entry> {
    let entry = |term: &str, message| (term.to_owned(), Role::HintKey, message);
    vec![
        entry("state:extra,drift", "one of these states"),
        entry("class:prod", "clusters of a class"),
        entry("cluster:mgmt*", "clusters by name, * stands for anything"),
        entry("verdict:orphan", "a verdict that contains the word"),
        entry("name~part", "a name that contains the word"),
        entry("age>5m", "older than five minutes"),
        entry("!class:dev", "everything else"),
    ]
}
