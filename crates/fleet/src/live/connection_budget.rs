//! Which guests are kept connected: every one until it has been judged once, then those needed last.
//!
//! Invariant: at most `live_max` guests hold a connection, and none is let go before it has been judged.

use super::cluster_session::ClusterSession;
use crate::connect::LinkEvent;
use trueup_core::world::{ClusterName, Link};

/// What a guest is to the choice.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Guest {
    name: ClusterName,
    standing: Standing,
    needed: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    /// Holds a slot and has something to finish.
    Working,
    /// Holds a slot and could do without.
    Judged,
    /// Waits for its first slot.
    Unseen,
    /// Has been judged and let go of.
    Resting,
}

/// The links to wake and to release, in this order: releases free capacity for the ones that follow.
pub(super) fn changes<'s>(
    sessions: impl Iterator<Item = &'s ClusterSession>,
    live_max: usize,
) -> Vec<(ClusterName, LinkEvent)> {
    choose(sessions.filter(|session| session.is_guest()).filter_map(guest).collect(), live_max)
}

fn guest(session: &ClusterSession) -> Option<Guest> {
    let standing = match (session.is_busy(), session.machine.link()) {
        (true, _) if session.judged && session.is_answered() => Standing::Judged,
        (true, _) => Standing::Working,
        (false, Link::Idle) if session.judged => Standing::Resting,
        (false, Link::Idle) => Standing::Unseen,
        // Failed for good: only a person can change that, and asks for it.
        (false, _) => return None,
    };
    Some(Guest { name: session.member.name.clone(), standing, needed: session.needed })
}

fn choose(mut guests: Vec<Guest>, live_max: usize) -> Vec<(ClusterName, LinkEvent)> {
    let holding = |guest: &&Guest| matches!(guest.standing, Standing::Working | Standing::Judged);
    let mut free = live_max.saturating_sub(guests.iter().filter(holding).count());
    // Most wanted first: never seen, then needed last, then by name.
    guests.sort_by(|one, other| {
        let unseen = |guest: &Guest| guest.standing == Standing::Unseen;
        (unseen(other), other.needed, &one.name).cmp(&(unseen(one), one.needed, &other.name))
    });
    let mut releasable: Vec<&Guest> = guests.iter().filter(|guest| guest.standing == Standing::Judged).collect();
    releasable.sort_by(|one, other| (one.needed, &other.name).cmp(&(other.needed, &one.name)).reverse());
    let mut changes = Vec::new();
    for guest in &guests {
        let may_push_out = match guest.standing {
            Standing::Unseen => true,
            Standing::Resting if guest.needed > 0 => releasable.last().is_some_and(|last| last.needed < guest.needed),
            Standing::Resting | Standing::Working | Standing::Judged => continue,
        };
        if free == 0 {
            let Some(out) = releasable.pop().filter(|_| may_push_out) else { continue };
            changes.push((out.name.clone(), LinkEvent::Released));
            free += 1;
        }
        free -= 1;
        changes.push((guest.name.clone(), LinkEvent::Wanted));
    }
    changes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guest(name: &str, standing: Standing, needed: u64) -> Guest {
        Guest { name: ClusterName::new(name), standing, needed }
    }

    #[test]
    fn every_guest_is_judged_once_and_those_needed_last_stay() {
        use Standing::{Judged, Resting, Unseen, Working};
        let cases = [
            ("capacity for all", vec![guest("a", Unseen, 0), guest("b", Unseen, 0)], vec!["+a", "+b"]),
            (
                "no capacity while all work",
                vec![guest("a", Working, 0), guest("b", Working, 0), guest("c", Unseen, 0)],
                vec![],
            ),
            (
                "the one needed longest ago is released",
                vec![guest("a", Judged, 5), guest("b", Judged, 3), guest("c", Unseen, 0)],
                vec!["-b", "+c"],
            ),
            ("resting guests stay at rest", vec![guest("a", Judged, 0), guest("b", Resting, 0)], vec![]),
            (
                "a guest that is looked at comes back",
                vec![guest("a", Judged, 1), guest("b", Judged, 2), guest("c", Resting, 3)],
                vec!["-a", "+c"],
            ),
            (
                "but releases none that is needed more",
                vec![guest("a", Judged, 8), guest("b", Judged, 9), guest("c", Resting, 3)],
                vec![],
            ),
            ("and takes a free slot", vec![guest("a", Judged, 8), guest("c", Resting, 3)], vec!["+c"]),
        ];
        for (case, guests, expected) in cases {
            let changes: Vec<String> = choose(guests, 2)
                .into_iter()
                .map(|(name, event)| format!("{}{name}", if event == LinkEvent::Released { '-' } else { '+' }))
                .collect();
            assert_eq!(changes, expected, "case: {case}");
        }
    }
}
