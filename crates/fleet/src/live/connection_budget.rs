//! Which guests are kept connected: every one until it has been judged once, then those needed last and the others in turn.
//!
//! Invariants: at most `live_max` guests hold a connection, and none is let go before it has been judged. A guest that was
//! let go is read again when a connection is free or after its predecessors had theirs for [`TURN`], so that no guest is
//! read twice while another waits. Those needed last keep at most three quarters of the connections while others wait.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use jiff::Timestamp;

use super::cluster_session::ClusterSession;
use super::session::later;
use trueup_core::world::{ClusterName, Link};

/// How long a guest stays connected while others wait: with 64 connections about one guest a second is read again, which
/// its API server does not notice, and 5,000 guests in an hour and a half.
pub(super) const TURN: Duration = Duration::from_secs(60);

/// The guests by what may happen to their connection. Follows each guest, so that a choice visits only those it concerns.
#[derive(Debug, Default)]
pub(super) struct ConnectionBudget {
    guests: BTreeMap<ClusterName, Guest>,
    /// How many hold a connection.
    holding: usize,
    /// How many of these were ever needed.
    needed_holding: usize,
    /// Waiting for their first connection: most needed first, then by name.
    unseen: BTreeSet<(Reverse<u64>, ClusterName)>,
    /// Released and needed again, in the same order.
    asleep: BTreeSet<(Reverse<u64>, ClusterName)>,
    /// Released, the one that was connected longest ago first.
    resting: BTreeSet<(u64, ClusterName)>,
    /// May be released: least needed first, then the last by name.
    releasable: BTreeSet<(u64, Reverse<ClusterName>)>,
    /// Of these, those that were never needed: the one connected first first.
    rotating: BTreeSet<(Timestamp, ClusterName)>,
}

/// What a guest is to the choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Guest {
    standing: Standing,
    needed: u64,
    /// When it was last given a connection.
    connected_at: Timestamp,
    /// How many connections had been given until then, to any guest.
    connection: u64,
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

/// What to do with the connection of a guest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Move {
    Release,
    /// The same for a guest that was needed, which has no precedence any more.
    Retire,
    Connect,
    /// The same for a guest that was read before and is not needed now.
    ReadAgain,
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
        if let Some(before) = self.guests.remove(name) {
            let Guest { standing, needed, connected_at, connection } = before;
            match standing {
                Standing::Working => {}
                Standing::Judged => {
                    self.releasable.remove(&(needed, Reverse(name.clone())));
                    self.rotating.remove(&(connected_at, name.clone()));
                }
                Standing::Unseen => drop(self.unseen.remove(&(Reverse(needed), name.clone()))),
                Standing::Resting => {
                    self.asleep.remove(&(Reverse(needed), name.clone()));
                    self.resting.remove(&(connection, name.clone()));
                }
            }
            self.holding -= usize::from(before.is_holding());
            self.needed_holding -= usize::from(before.is_holding() && needed > 0);
        }
        let Some(guest) = guest else { return };
        self.guests.insert(name.clone(), guest);
        let Guest { standing, needed, connected_at, connection } = guest;
        self.holding += usize::from(guest.is_holding());
        self.needed_holding += usize::from(guest.is_holding() && needed > 0);
        match standing {
            Standing::Working => {}
            Standing::Judged => {
                self.releasable.insert((needed, Reverse(name.clone())));
                if needed == 0 {
                    self.rotating.insert((connected_at, name.clone()));
                }
            }
            Standing::Unseen => drop(self.unseen.insert((Reverse(needed), name.clone()))),
            Standing::Resting => {
                self.resting.insert((connection, name.clone()));
                if needed > 0 {
                    self.asleep.insert((Reverse(needed), name.clone()));
                }
            }
        }
    }

    /// What to do now, in this order: each release frees the connection for the one that follows.
    pub fn moves(&self, live_max: usize, now: Timestamp) -> Vec<(ClusterName, Move)> {
        let mut free = live_max.saturating_sub(self.holding);
        let mut releasable = self.releasable.iter().peekable();
        let mut moves = Vec::new();
        let unseen = self.unseen.iter().map(|one| (one, true));
        for ((Reverse(needed), name), is_unseen) in unseen.chain(self.asleep.iter().map(|one| (one, false))) {
            if free == 0 {
                let out = releasable.next_if(|(least, _)| is_unseen || least < needed);
                let Some((_, Reverse(out))) = out else { break };
                moves.push((out.clone(), Move::Release));
                free += 1;
            }
            free -= 1;
            moves.push((name.clone(), Move::Connect));
        }
        // Nothing rotates before everything has been read once.
        if self.unseen.is_empty() {
            self.rotate(live_max, free, now, &mut moves);
        }
        moves
    }

    fn rotate(&self, live_max: usize, free: usize, now: Timestamp, moves: &mut Vec<(ClusterName, Move)>) {
        let moved: BTreeSet<ClusterName> = moves.iter().map(|(name, _)| name.clone()).collect();
        let mut waiting = self.resting.iter().map(|(_, name)| name).filter(|name| !moved.contains(*name));
        moves.extend(waiting.by_ref().take(free).map(|name| (name.clone(), Move::ReadAgain)));
        let over = self.rotating.iter().take_while(|(since, _)| later(*since, TURN) <= now);
        let over = over.map(|(_, name)| (name, Move::Release));
        let retired = self.least_needed(live_max).filter(|(since, _)| later(*since, TURN) <= now);
        let over = over.chain(retired.map(|(_, name)| (name, Move::Retire)));
        for ((out, how), next) in over.filter(|(name, _)| !moved.contains(*name)).zip(waiting) {
            moves.push((out.clone(), how));
            moves.push((next.clone(), Move::ReadAgain));
        }
    }

    /// The connected guest that was needed longest ago, while such guests keep more connections than they may, and since
    /// when it is connected.
    fn least_needed(&self, live_max: usize) -> Option<(Timestamp, &ClusterName)> {
        let spare = if live_max > 1 { (live_max / 4).max(1) } else { 0 };
        if self.needed_holding <= live_max - spare {
            return None;
        }
        let (_, Reverse(name)) = self.releasable.iter().find(|(needed, _)| *needed > 0)?;
        Some((self.guests.get(name)?.connected_at, name))
    }

    /// When the next guest has had its turn, while another waits.
    pub fn next_turn(&self, live_max: usize) -> Option<Timestamp> {
        if self.resting.is_empty() || !self.unseen.is_empty() {
            return None;
        }
        let rotating = self.rotating.first().map(|(since, _)| *since);
        let retired = self.least_needed(live_max).map(|(since, _)| since);
        rotating.into_iter().chain(retired).min().map(|since| later(since, TURN))
    }
}

impl Guest {
    fn is_holding(self) -> bool {
        match self.standing {
            Standing::Working | Standing::Judged => true,
            Standing::Unseen | Standing::Resting => false,
        }
    }
}

fn guest(session: &ClusterSession) -> Option<Guest> {
    let is_read = session.judged && session.is_answered();
    let standing = match (session.is_busy(), session.machine.link()) {
        // It was read, and holds nothing that others wait for.
        (true, _) if is_read && session.is_unwatched() => return None,
        (true, _) if is_read => Standing::Judged,
        (true, _) => Standing::Working,
        (false, Link::Idle) if session.judged => Standing::Resting,
        (false, Link::Idle) => Standing::Unseen,
        // Failed for good: only a user can change that, and asks for it.
        (false, _) => return None,
    };
    let ClusterSession { needed, connected_at, connection_number: connection, .. } = *session;
    Some(Guest { standing, needed, connected_at, connection })
}

#[cfg(test)]
mod tests;
