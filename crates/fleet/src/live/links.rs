//! Each cluster's link: its events and their effects.
//!
//! Elsewhere: when a link is tried again (`fleet::LinkMachine`), which guest stays connected (`connection_budget`).

use super::asked::Asked;
use super::attempt;
use super::cluster_session::{ClusterSession, Member};
use super::session::Live;
use crate::connect::{Jitter as LinkDice, LinkEffect, LinkEvent};
use crate::observe::Epoch;
use trueup_core::world::{ChangeSet, ClusterName, Delta, Gap, GapCause, Link, World};

impl Live {
    pub(super) fn enter(&mut self, member: Member, changes: &mut ChangeSet) {
        let name = member.name.clone();
        let session = ClusterSession::new(member);
        let is_guest = session.is_guest();
        changes.extend(self.world.put_cluster(session.cluster()));
        self.sessions.insert(session);
        self.interests.mark(&name);
        // Guests wait for a slot.
        if !is_guest {
            self.link(&name, LinkEvent::Wanted, changes);
        }
    }

    pub(super) fn need(&mut self, cluster: &ClusterName, changes: &mut ChangeSet) {
        self.needs += 1;
        let Some(session) = self.sessions.get_mut(cluster) else { return };
        session.needed = self.needs;
        self.wishes_due = Some(self.ports.clock.now());
        if !session.is_guest() {
            self.link(cluster, LinkEvent::Wanted, changes);
        }
    }

    /// Tells a cluster's link what happened, and does what it asks for.
    pub(super) fn link(&mut self, cluster: &ClusterName, event: LinkEvent, changes: &mut ChangeSet) {
        let now = self.ports.clock.now();
        let jitter = LinkDice((self.ports.jitter.fraction() * f64::from(u16::MAX)) as u16);
        let Some(session) = self.sessions.get_mut(cluster) else { return };
        let all_listed = event == LinkEvent::AllListed;
        let is_progress = matches!(event, LinkEvent::Progress(_));
        let before = std::mem::discriminant(session.machine.link());
        let effect = session.step(event, now, jitter);
        if before != std::mem::discriminant(session.machine.link()) {
            tracing::info!(%cluster, link = ?session.machine.link(), "the link changed");
        }
        if all_listed {
            session.judged = true;
            session.turn = None;
        }
        match effect {
            Some(LinkEffect::Connect) => {
                session.disconnect();
                session.retry_at = None;
                // What still waits is answered with the reason why it cannot be observed.
                if !session.is_answered() {
                    self.interests.mark(cluster);
                }
                session.epoch = Epoch(session.epoch.0 + 1);
                let connector = session.member.connector.clone();
                self.aside.spawn(attempt::connect(cluster.clone(), session.epoch, connector, self.turns.clone()));
            }
            Some(LinkEffect::RetryAt(at)) => {
                session.retry_at = Some(at);
                lose(&mut self.world, session, changes);
            }
            Some(LinkEffect::Disconnect) => {
                session.retry_at = None;
                lose(&mut self.world, session, changes);
            }
            None => {}
        }
        let changed = self.world.put_cluster(session.cluster());
        if is_progress {
            // How far a list has come is shown. Nothing is judged by it, and no interest follows from it.
            self.progressed.extend(changed.iter().map(|change| change.cluster().clone()));
        } else {
            changes.extend(changed);
        }
    }

    /// Notes why a guest is let go of, before it is.
    pub(super) fn rest(&mut self, cluster: &ClusterName, changes: &mut ChangeSet) {
        let now = self.ports.clock.now();
        let Some(session) = self.sessions.get_mut(cluster) else { return };
        if matches!(session.machine.link(), Link::Live { .. }) {
            session.rest = Gap::new(GapCause::NotObserved, format!("read at {now:.0}, not watched"));
        }
        lose(&mut self.world, session, changes);
    }
}

/// Ends the connection of a cluster session and says of everything it held that it can't be relied on.
fn lose(world: &mut World, session: &mut ClusterSession, changes: &mut ChangeSet) {
    session.disconnect();
    // Late reports of the connection that ended must not look like news.
    session.epoch = Epoch(session.epoch.0 + 1);
    for (id, fact) in session.asked.iter() {
        let gap = session.rest.clone();
        changes.extend(world.apply(id, fact, Delta::Lost { gap }).1);
    }
    session.asked.set_all(Asked::Answered, |_| true);
}
