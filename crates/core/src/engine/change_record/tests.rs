use super::*;
use crate::world::{Gap, GapCause};

fn states(links: &[LinkState]) -> Vec<(LinkState, LinkState)> {
    let (mut states, cluster) = (LinkStates::default(), ClusterName::new("a"));
    links.iter().filter_map(|now| Some((states.put(&cluster, *now)?, *now))).collect()
}

#[test]
fn a_link_that_stays_otherwise_is_a_change_and_the_first_is_none() {
    use LinkState::{Connecting, Down, Idle, Live, Partial, Retrying};
    type Case<'a> = (&'a str, &'a [LinkState], &'a [(LinkState, LinkState)]);
    let cases: [Case<'_>; 6] = [
        ("first connection", &[Idle, Connecting, Live], &[]),
        ("first connection fails", &[Connecting, Retrying], &[]),
        ("still live", &[Live, Live], &[]),
        ("lists forbidden", &[Live, Partial], &[(Live, Partial)]),
        ("lost and back", &[Live, Retrying, Connecting, Retrying, Live], &[(Live, Retrying), (Retrying, Live)]),
        ("login expired after idling", &[Live, Idle, Connecting, Down], &[(Live, Down)]),
    ];
    for (case, links, expected) in cases {
        assert_eq!(states(links), expected, "case: {case}");
    }
}

#[test]
fn a_cluster_that_left_is_forgotten() {
    let (mut states, cluster) = (LinkStates::default(), ClusterName::new("a"));
    assert_eq!(states.put(&cluster, LinkState::Live), None);
    states.remove(&cluster);
    assert_eq!(states.put(&cluster, LinkState::Down), None);
}

#[test]
fn the_state_of_a_link_counts_unread_lists() {
    let gap = || Gap::new(GapCause::Unreachable, "connection refused");
    let live = Link::Live { since: Timestamp::UNIX_EPOCH };
    let cases = [
        (live.clone(), ListsRead::All, LinkState::Live),
        (live, ListsRead::Some, LinkState::Partial),
        (Link::Listing { objects: 3 }, ListsRead::All, LinkState::Connecting),
        (Link::Degraded { gap: gap(), retry_at: Timestamp::UNIX_EPOCH }, ListsRead::Some, LinkState::Retrying),
        (Link::Failed { gap: gap() }, ListsRead::All, LinkState::Down),
    ];
    for (link, lists, expected) in cases {
        assert_eq!(LinkState::of(&link, lists), expected, "case: {link:?}");
    }
}
