//! Past moments: what the lists show there, what is refused, and what two moments have apart.

use std::collections::BTreeMap;
use std::time::Duration;

use super::fixtures;
use super::screens::States;
use crate::console::keymap::Keymap;
use crate::console::model::{Compared, ScreenId};
use crate::console::task::{ReadOnly, TaskReply};
use crate::console::testing::{TestConsole, ago};
use trueup_core::engine::State;
use trueup_core::world::{ClusterName, Gap, GapCause, Link, RiskClass};
use trueup_fleet::live::Update;

/// A Secret of guest-payments became something, or is gone.
fn changed(console: &mut TestConsole, name: &str, became: Option<(State, &'static str)>) {
    console.later(Duration::from_secs(60));
    let id = fixtures::subject(fixtures::COPIES, "guest-payments", "Secret", name);
    let held = became.map(|(state, verdict)| fixtures::held(state, verdict, 0));
    console.data(Update::of([(id, held)]));
}

/// Five changes, a minute apart: healed, new, a lost connection, worse, gone.
fn with_changes() -> TestConsole {
    let mut console = TestConsole::full();
    changed(&mut console, "ext-auth-client-old", Some((State::Match, "in-use")));
    changed(&mut console, "fresh-copy", Some((State::Stale, "pending")));
    console.later(Duration::from_secs(60));
    let gap = Gap::new(GapCause::Unreachable, "connection refused");
    let link = Link::Degraded { gap, retry_at: ago(-300) };
    let lost = fixtures::cluster("mgmt-eu", RiskClass::Prod, link);
    console.data(Update { clusters: [(ClusterName::new("mgmt-eu"), Some(lost))].into(), ..Update::default() });
    changed(&mut console, "fresh-copy", Some((State::Error, "unreadable")));
    changed(&mut console, "half-written", None);
    console
}

/// The states of the findings, and the links.
fn shown(console: &TestConsole) -> (BTreeMap<String, State>, Vec<String>) {
    let findings = console.model.findings.iter().map(|(id, held)| (id.to_string(), held.judgement.state));
    let links = console.model.fleet.clusters().map(|cluster| format!("{:?}", cluster.link));
    (findings.collect(), links.collect())
}

pub fn states() -> States {
    let after = |keys: &str| {
        let mut console = with_changes();
        console.keys(keys);
        console
    };
    vec![
        ("no changes", {
            let mut console = TestConsole::full();
            console.keys("gt");
            console
        }),
        ("live", after("gt")),
        ("a past moment", after("gt [ [")),
        ("a check at a past moment", after("1 [ [ [")),
        ("two moments compared", after("t [ [ [ [ t")),
        ("the same moment twice", after("t t")),
    ]
}

#[test]
fn each_step_back_shows_the_rows_of_that_moment_and_forward_ends_live() {
    let mut console = TestConsole::full();
    let mut moments = vec![shown(&console)];
    let changes: [(&str, Option<(State, &'static str)>); 4] = [
        ("ext-auth-client-old", Some((State::Match, "in-use"))),
        ("fresh-copy", Some((State::Stale, "pending"))),
        ("fresh-copy", Some((State::Error, "unreadable"))),
        ("half-written", None),
    ];
    for (name, became) in changes {
        changed(&mut console, name, became);
        moments.push(shown(&console));
    }
    console.keys("1");
    for (back, expected) in moments.iter().rev().skip(1).enumerate() {
        console.keys("[");
        assert_eq!(&shown(&console), expected, "{} steps back", back + 1);
        assert_eq!(console.model.screen(), ScreenId::Check(0));
    }
    console.keys("[");
    assert_eq!(console.toasts(), ["This is the start of the session."]);
    for (forward, expected) in moments.iter().skip(1).enumerate() {
        console.keys("]");
        assert_eq!(&shown(&console), expected, "{} steps forward", forward + 1);
    }
    assert!(console.model.timeline.past.is_none(), "after the last change is live");
}

#[test]
fn links_are_restored_too() {
    let mut console = with_changes();
    let is_live = |console: &TestConsole| {
        matches!(console.model.fleet.get(&ClusterName::new("mgmt-eu")).unwrap().link, Link::Live { .. })
    };
    console.keys("[ [");
    assert!(!is_live(&console), "the moment right after the connection was lost");
    console.keys("[");
    assert!(is_live(&console));
    console.keys("esc");
    assert!(!is_live(&console));
}

#[test]
fn changes_that_arrive_at_a_past_moment_wait_and_none_is_lost() {
    let mut console = with_changes();
    console.keys("1 [ [ [");
    let past = shown(&console);
    changed(&mut console, "fresh-copy", Some((State::Drift, "differs")));
    changed(&mut console, "later-copy", Some((State::Extra, "orphan-certain")));
    assert_eq!(shown(&console), past, "the past does not change");
    console.keys("esc");
    let (live, _) = shown(&console);
    let state = |name: &str| live.iter().find(|(id, _)| id.ends_with(name)).map(|(_, state)| *state);
    assert_eq!(state("fresh-copy"), Some(State::Drift));
    assert_eq!(state("later-copy"), Some(State::Extra));
    assert_eq!(state("half-written"), None);
    assert_eq!(console.model.timeline.count(), 7, "and they can be stepped through");
}

#[test]
fn values_that_changed_without_news_are_kept_on_the_way_back_to_live() {
    let mut console = TestConsole::full();
    changed(&mut console, "fresh-copy", Some((State::Stale, "pending")));
    let id = fixtures::subject(fixtures::COPIES, "guest-payments", "Secret", "fresh-copy");
    // The same verdict, judged again: nothing new to say.
    let mut newest = fixtures::held(State::Stale, "pending", 0);
    newest.judgement.ownership_proofs = 1;
    console.data(Update::of([(id.clone(), Some(newest.clone()))]));
    console.keys("[");
    assert!(console.model.findings.get(&id).is_none());
    console.keys("]");
    assert_eq!(console.model.findings.get(&id), Some(&newest));
}

#[test]
fn nothing_is_planned_approved_or_accepted_at_a_past_moment() {
    let mut console = with_changes();
    console.keys("1 j [ [").forget();
    for key in ["r", "A"] {
        console.keys(key);
        assert_eq!(console.toasts(), ["Viewing 10:03:00: press esc for live"], "key {key}");
        assert_eq!(console.tasks.iter().filter(|task| !format!("{task:?}").starts_with("Explain")).count(), 0);
        console.model.toasts.clear();
    }
    console.keys("ga").keys("u");
    assert_eq!(console.toasts(), ["Viewing 10:03:00: press esc for live"]);
    console.model.keys = Keymap::with_user_file("[global]\nback = ['f2']\n[list]\nreconcile = ['f8']\n").0;
    console.model.toasts.clear();
    console.keys("1 f8");
    assert_eq!(console.toasts(), ["Viewing 10:03:00: press f2 for live"]);
}

#[test]
fn two_moments_are_compared_whichever_was_chosen_first() {
    for keys in ["t [ [ [ [ t", "[ [ [ [ t ] ] ] ] t"] {
        let mut console = with_changes();
        console.keys(keys);
        assert_eq!(console.model.screen(), ScreenId::Timeline, "{keys}");
        let comparison = console.model.timeline.comparison.as_ref().unwrap();
        let kinds: Vec<(Compared, &str)> =
            comparison.rows.iter().map(|row| (row.kind, row.subject.name.as_str())).collect();
        assert_eq!(kinds, [(Compared::Appeared, "fresh-copy"), (Compared::Healed, "half-written")], "{keys}");
    }
}

#[test]
fn the_first_listing_of_a_cluster_is_no_change() {
    let mut console = TestConsole::full();
    assert!(console.model.timeline.is_empty());
    console.keys("[");
    assert_eq!(console.toasts(), ["No changes in this session yet."]);
    assert!(console.model.timeline.past.is_none());
}

#[test]
fn an_acceptance_that_arrives_at_a_past_moment_returns_to_live() {
    let mut console = with_changes();
    let (live, _) = shown(&console);
    console.keys("[ [ [").reply(TaskReply::Acceptances { rules: Vec::new() });
    assert!(console.model.timeline.past.is_none());
    assert_eq!(shown(&console).0, live);
}

#[test]
fn evidence_at_a_past_moment_is_named_as_what_it_is() {
    let mut console = with_changes();
    console.keys("1 j").explained();
    let live = console.draw(160, 45);
    assert!(!live.contains("details are of now") && live.contains("r: plan it"), "{live}");
    console.keys("[ [").explained();
    let past = console.draw(160, 45);
    assert!(past.contains("PAST 10:03:00") && past.contains("details are of now"), "{past}");
    assert!(!past.contains("r: plan it"), "nothing is planned at a past moment: {past}");
    let read_only = Some(ReadOnly::Replay { age_seconds: 60 });
    let mut console = TestConsole::full_with(|start| start.read_only = read_only);
    changed(&mut console, "fresh-copy", Some((State::Stale, "pending")));
    let replayed = console.keys("1 [").draw(160, 45);
    assert!(replayed.contains("details as recorded last"), "{replayed}");
}
