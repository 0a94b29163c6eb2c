//! Each cluster's link: what it is told, and what is done for it.
//!
//! Not here: when a link is tried again (`fleet::LinkMachine`), which guest stays connected (`connection_budget`).

use super::attempt;
use super::cluster_session::{Asked, ClusterSession, Member};
use super::session::Live;
use crate::connect::{Jitter as LinkDice, LinkEffect, LinkEvent};
use crate::observe::Epoch;
use trueup_core::world::{ChangeSet, ClusterName, Delta, Gap, GapCause, Link, World};

impl Live {
    pub(super) fn enter(&mut self, member: Member, changes: &mut ChangeSet) {
        let name = member.name.clone();
        let session_of = ClusterSession::new(member);
        let is_guest = session_of.is_guest();
        changes.extend(self.world.put_cluster(session_of.cluster()));
        self.sessions.insert(name.clone(), session_of);
        // Guests wait for a slot.
        if !is_guest {
            self.link(&name, LinkEvent::Wanted, changes);
        }
    }

    pub(super) fn need(&mut self, cluster: &ClusterName, changes: &mut ChangeSet) {
        self.needs += 1;
        let Some(session_of) = self.sessions.get_mut(cluster) else { return };
        session_of.needed = self.needs;
        self.wishes_due = Some(self.ports.clock.now());
        if !session_of.is_guest() {
            self.link(cluster, LinkEvent::Wanted, changes);
        }
    }

    /// Tells a cluster's link what happened, and does what it asks for.
    pub(super) fn link(&mut self, cluster: &ClusterName, event: LinkEvent, changes: &mut ChangeSet) {
        let now = self.ports.clock.now();
        let jitter = LinkDice((self.ports.jitter.fraction() * f64::from(u16::MAX)) as u16);
        let Some(session_of) = self.sessions.get_mut(cluster) else { return };
        let all_listed = event == LinkEvent::AllListed;
        let before = std::mem::discriminant(session_of.machine.link());
        let effect = session_of.step(event, now, jitter);
        if before != std::mem::discriminant(session_of.machine.link()) {
            tracing::info!(%cluster, link = ?session_of.machine.link(), "the link changed");
        }
        session_of.judged |= all_listed;
        match effect {
            Some(LinkEffect::Connect) => {
                session_of.disconnect();
                session_of.retry_at = None;
                session_of.epoch = Epoch(session_of.epoch.0 + 1);
                let connector = session_of.member.connector.clone();
                self.aside.spawn(attempt::connect(cluster.clone(), session_of.epoch, connector));
            }
            Some(LinkEffect::RetryAt(at)) => {
                session_of.retry_at = Some(at);
                lose(&mut self.world, session_of, changes);
            }
            Some(LinkEffect::Disconnect) => {
                session_of.retry_at = None;
                lose(&mut self.world, session_of, changes);
            }
            None => {}
        }
        changes.extend(self.world.put_cluster(session_of.cluster()));
    }

    /// Notes why a guest is let go of, before it is.
    pub(super) fn rest(&mut self, cluster: &ClusterName, changes: &mut ChangeSet) {
        let now = self.ports.clock.now();
        let Some(session_of) = self.sessions.get_mut(cluster) else { return };
        if matches!(session_of.machine.link(), Link::Live { .. }) {
            session_of.rest = Gap::new(GapCause::NotObserved, format!("read at {now:.0}, not watched"));
        }
        lose(&mut self.world, session_of, changes);
    }
}

/// Ends a session_of's connection and says of everything it held that it can't be relied on.
fn lose(world: &mut World, session_of: &mut ClusterSession, changes: &mut ChangeSet) {
    session_of.disconnect();
    // Late reports of the connection that ended must not look like news.
    session_of.epoch = Epoch(session_of.epoch.0 + 1);
    for interest in &session_of.interests {
        let gap = session_of.rest.clone();
        changes.extend(world.apply(&interest.id, interest.fact, Delta::Lost { gap }).1);
    }
    session_of.asked.values_mut().for_each(|asked| *asked = Asked::Answered);
}
