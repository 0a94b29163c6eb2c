//! Jobs of a user from the first key to the last, by keys alone.

use std::time::Duration;

use super::fixtures;
use crate::console::model::{Layer, ScreenId};
use crate::console::testing::{TestConsole, after};
use trueup_core::engine::State;
use trueup_core::world::{ClusterName, Gap, GapCause, Link, RiskClass};
use trueup_fleet::live::{UnreadLists, Update};

/// The screen, which has these texts.
fn shows(console: &mut TestConsole, texts: &[&str]) -> String {
    let text = console.draw(80, 24);
    for expected in texts {
        assert!(text.contains(expected), "no `{expected}` in\n{text}");
    }
    text
}

/// What is wrong, where it is worst, and what to do there.
#[test]
fn first_look() {
    let mut console = TestConsole::full();
    let text = shows(&mut console, &["Fleet · worst first", "1 as expected (=: show)", "9 clusters: 2 live"]);
    let first = text.lines().nth(4).unwrap();
    assert!(first.starts_with(" ▸ !1 −2") && first.contains("guest-payments"), "{text}");
    shows(console.keys("="), &["monday"]);
    shows(console.keys("= /class:stage enter"), &["class:stage", "stage-1"]);
    shows(console.keys("esc s c"), &["by cluster", "└ guest-search"]);
    shows(console.keys("- - s w"), &["worst first"]);
    shows(console.keys("home enter"), &["cluster:guest-payments", "half-written"]);
    assert_eq!(console.model.screen(), ScreenId::Check(0));
    // Out of the filter, then out of the screen.
    shows(console.keys("esc esc"), &["Fleet · worst first"]);
    shows(console.keys("?"), &["Help: Fleet"]);
    shows(console.keys("esc"), &["Fleet · worst first"]);
}

/// A wall screen over three minutes: what changes is on it, and nothing else is drawn.
#[test]
fn monitoring_for_three_minutes() {
    let mut console = TestConsole::full();
    console.keys("W").later(Duration::from_secs(60));
    let before = shows(&mut console, &["Worst", "Applies", "Next to expire", "News", "10:01 UTC", "!1 ≠2"]);
    assert!(!before.contains('▸'), "no cursor");
    let lost = fixtures::subject(fixtures::COPIES, "mgmt-eu", "Secret", "lost-again");
    console.data(Update::of([(lost, Some(fixtures::held(State::Error, "unreadable", 0)))]));
    shows(console.later(Duration::from_secs(60)), &["10:02 UTC", "!2 ≠2", "10:01:00", "lost-again"]);
    // Other keys are off.
    console.keys("j r a / ? 1").later(Duration::from_secs(60));
    assert!(matches!(console.model.layer, Some(Layer::Wall)) && console.tasks.is_empty());
    let down = Link::Failed { gap: Gap::new(GapCause::Unreachable, "connection refused") };
    let all = fixtures::clusters()
        .into_values()
        .flatten()
        .map(|cluster| (cluster.name.clone(), Some(trueup_core::world::Cluster { link: down.clone(), ..cluster })));
    console.data(Update { clusters: all.collect(), ..Update::default() }).later(Duration::from_secs(240));
    shows(&mut console, &["No data for 4m"]);
    for leave in ["W", "esc", "q"] {
        console.keys(leave);
        assert!(console.model.layer.is_none() && !console.has_ended, "{leave}");
        shows(&mut console, &["Fleet · worst first"]);
        console.keys("W");
    }
}

/// Clusters that refuse, that are gone, and that are being connected are reported apart, and none looks live.
#[test]
fn dead_and_forbidden_clusters() {
    let mut console = TestConsole::started();
    let name = ClusterName::new("lab");
    let lab = |link: Link| {
        let cluster = fixtures::cluster("lab", RiskClass::Dev, link);
        Update { clusters: [(cluster.name.clone(), Some(cluster))].into(), ..Update::default() }
    };
    console.data(lab(Link::Connecting)).later(Duration::from_secs(8));
    shows(&mut console, &["↻ lab connecting 8s of 10s"]);
    console.data(lab(Link::Live { since: after(9) }));
    let first = Gap::new(GapCause::Forbidden, "listing v1/secrets: forbidden (403)");
    let lists = Some(UnreadLists { unread: 8, of: 11, first });
    console.data(Update { lists: [(name, lists)].into(), ..Update::default() });
    let text =
        shows(&mut console, &["◑ lab 3 of 11 lists", "?8", "8 of 11 lists not read", "trueup doctor --context lab"]);
    assert!(!text.contains('●'), "{text}");
    shows(console.keys("1"), &["Some clusters could not be read"]);
    let gap = Gap::new(GapCause::Unreachable, "connection refused");
    console.keys("0").data(lab(Link::Degraded { gap: gap.clone(), retry_at: after(24) }));
    shows(&mut console, &["↻ lab retry in 16s", "connection refused", "ctrl-r: retry now"]);
    console.forget().keys("ctrl-r");
    assert_eq!(console.take_tasks(), ["reconnect lab"]);
    console.data(lab(Link::Failed { gap }));
    shows(&mut console, &["✕ lab unreachable", "connection refused"]);
}
