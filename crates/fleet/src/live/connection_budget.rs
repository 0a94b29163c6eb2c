//! Which guests are kept connected: every one until it has been judged once, then those needed last.
//!
//! Invariant: at most `live_max` guests hold a connection, and none is let go before it has been judged.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::cluster_session::ClusterSession;
use crate::connect::LinkEvent;
use trueup_core::world::{ClusterName, Link};

/// The guests by what may happen to their connection. Follows each guest, so that a choice visits only those it concerns.
#[derive(Debug, Default)]
pub(super) struct ConnectionBudget {
    guests: BTreeMap<ClusterName, Guest>,
    /// How many hold a connection.
    holding: usize,
    /// Waiting for their first connection: most needed first, then by name.
    unseen: BTreeSet<(Reverse<u64>, ClusterName)>,
    /// Released and needed again, in the same order.
    asleep: BTreeSet<(Reverse<u64>, ClusterName)>,
    /// May be released: least needed first, then the last by name.
    releasable: BTreeSet<(u64, Reverse<ClusterName>)>,
}

/// What a guest is to the choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Guest {
    standing: Standing,
    needed: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    /// Holds a connection and has something to finish.
    Working,
    /// Holds a connection and could do without.
    Judged,
    /// Waits for its first connection.
    Unseen,
    /// Has been judged and released.
    Resting,
}

impl ConnectionBudget {
    /// Takes in what has become of a session.
    pub fn note(&mut self, name: &ClusterName, session: Option<&ClusterSession>) {
        self.put(name, session.filter(|session| session.is_guest()).and_then(guest));
    }

    fn put(&mut self, name: &ClusterName, guest: Option<Guest>) {
        if self.guests.get(name) == guest.as_ref() {
            return;
        }
        if let Some(Guest { standing, needed }) = self.guests.remove(name) {
            match standing {
                Standing::Working => self.holding -= 1,
                Standing::Judged => {
                    self.holding -= 1;
                    self.releasable.remove(&(needed, Reverse(name.clone())));
                }
                Standing::Unseen => drop(self.unseen.remove(&(Reverse(needed), name.clone()))),
                Standing::Resting => drop(self.asleep.remove(&(Reverse(needed), name.clone()))),
            }
        }
        let Some(guest) = guest else { return };
        self.guests.insert(name.clone(), guest);
        let Guest { standing, needed } = guest;
        match standing {
            Standing::Working => self.holding += 1,
            Standing::Judged => {
                self.holding += 1;
                self.releasable.insert((needed, Reverse(name.clone())));
            }
            Standing::Unseen => drop(self.unseen.insert((Reverse(needed), name.clone()))),
            // One that no user looked at stays released.
            Standing::Resting if needed == 0 => {}
            Standing::Resting => drop(self.asleep.insert((Reverse(needed), name.clone()))),
        }
    }

    /// The links to release and to wake, in this order: each release frees the connection for the one that follows.
    pub fn changes(&self, live_max: usize) -> Vec<(ClusterName, LinkEvent)> {
        let mut free = live_max.saturating_sub(self.holding);
        let mut releasable = self.releasable.iter().peekable();
        let mut changes = Vec::new();
        let unseen = self.unseen.iter().map(|one| (one, true));
        for ((Reverse(needed), name), is_unseen) in unseen.chain(self.asleep.iter().map(|one| (one, false))) {
            if free == 0 {
                let out = releasable.next_if(|(least, _)| is_unseen || least < needed);
                let Some((_, Reverse(out))) = out else { break };
                changes.push((out.clone(), LinkEvent::Released));
                free += 1;
            }
            free -= 1;
            changes.push((name.clone(), LinkEvent::Wanted));
        }
        changes
    }
}

fn guest(session: &ClusterSession) -> Option<Guest> {
    let standing = match (session.is_busy(), session.machine.link()) {
        (true, _) if session.judged && session.is_answered() => Standing::Judged,
        (true, _) => Standing::Working,
        (false, Link::Idle) if session.judged => Standing::Resting,
        (false, Link::Idle) => Standing::Unseen,
        // Failed for good: only a user can change that, and asks for it.
        (false, _) => return None,
    };
    Some(Guest { standing, needed: session.needed })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guest(name: &str, standing: Standing, needed: u64) -> (ClusterName, Guest) {
        (ClusterName::new(name), Guest { standing, needed })
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
            let mut budget = ConnectionBudget::default();
            for (name, guest) in guests {
                budget.put(&name, Some(Guest { standing: Unseen, needed: 7 }));
                budget.put(&name, Some(guest));
            }
            let changes: Vec<String> = budget
                .changes(2)
                .into_iter()
                .map(|(name, event)| format!("{}{name}", if event == LinkEvent::Released { '-' } else { '+' }))
                .collect();
            assert_eq!(changes, expected, "case: {case}");
        }
    }
}
