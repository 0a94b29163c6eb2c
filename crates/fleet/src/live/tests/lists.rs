//! Lists of a live cluster that could not be read: said once with the first reason, and once when all are read again.

use super::*;

/// Steps until an update says something about lists: `unread of all: why`, or nothing when all were read.
async fn next_lists(live: &mut Live) -> Vec<Option<String>> {
    let waited = tokio::time::timeout(Duration::from_secs(3600), async {
        loop {
            let update = live.step().await;
            let shown = |lists: &UnreadLists| format!("{} of {}: {}", lists.unread, lists.of, lists.first);
            if !update.lists.is_empty() {
                return update.lists.values().map(|lists| lists.as_ref().map(shown)).collect();
            }
        }
    });
    waited.await.expect("an update about lists")
}

fn with_widgets() -> SimCluster {
    let sim = cluster("c", 3);
    put(&sim, "x", json!({}));
    sim.register(ResourceKind::custom("example.org/v1", "Widget", "widgets"));
    sim
}

#[tokio::test(start_paused = true)]
async fn an_update_says_which_lists_are_unread_and_when_all_are_read_again() {
    let refuse = |code| FaultAction::Refuse { code, retry_after_seconds: None };
    let cases = [
        ("forbidden", refuse(403), "1 of 2: listing v1/configmaps in namespace watched: forbidden (403)"),
        ("not found although served", refuse(404), "1 of 2: listing v1/configmaps in namespace watched: "),
        ("unavailable", refuse(503), "1 of 2: listing v1/configmaps in namespace watched: "),
        ("html", FaultAction::Html, "1 of 2: listing v1/configmaps in namespace watched: "),
    ];
    for (case, action, expected) in cases {
        let sim = with_widgets();
        sim.fault(Fault::always(Matcher::of("configmaps").verb(Verb::List), action));
        let mut live = alone(&sim);
        let shown = next_lists(&mut live).await;
        assert!(matches!(&shown[..], [Some(text)] if text.starts_with(expected)), "case: {case}: {shown:?}");
        assert!(live.shown_lists().values().all(Option::is_some), "case: {case}: a later reader sees it too");
        sim.clear_faults();
        assert_eq!(next_lists(&mut live).await, [None], "case: {case}");
        assert!(live.shown_lists().is_empty(), "case: {case}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_kind_that_is_not_served_is_unread_only_while_discovery_is_incomplete() {
    let sim = cluster("c", 3);
    put(&sim, "x", json!({}));
    sim.register(ResourceKind::custom("other.org/v1", "Other", "others"));
    sim.with(|server, _| {
        server.faults().group("other.org", GroupFault::Unavailable);
    });
    let mut live = alone(&sim);
    let shown = next_lists(&mut live).await;
    assert!(matches!(&shown[..], [Some(text)] if text.contains("does not serve this path (404)")), "{shown:?}");
    sim.clear_faults();
    assert_eq!(next_lists(&mut live).await, [None]);
}
