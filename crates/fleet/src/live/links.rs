//! Each cluster's link: what it is told, and what is done for it.
//!
//! Not here: when a link is tried again (`fleet::LinkMachine`), which guest stays connected (`slots`).

use super::attempt;
use super::session::Live;
use super::station::{Asked, Member, Station};
use crate::connect::{Dice as LinkDice, LinkEffect, LinkEvent};
use crate::observe::Epoch;
use trueup_core::world::{ChangeSet, ClusterName, Delta, Gap, GapCause, Link, World};

impl Live {
    pub(super) fn enter(&mut self, member: Member, changes: &mut ChangeSet) {
        let name = member.name.clone();
        let station = Station::new(member);
        let is_guest = station.is_guest();
        changes.extend(self.world.put_cluster(station.cluster()));
        self.stations.insert(name.clone(), station);
        // Guests wait for a slot.
        if !is_guest {
            self.link(&name, LinkEvent::Wanted, changes);
        }
    }

    pub(super) fn need(&mut self, cluster: &ClusterName, changes: &mut ChangeSet) {
        self.needs += 1;
        let Some(station) = self.stations.get_mut(cluster) else { return };
        station.needed = self.needs;
        self.wishes_due = Some(self.ports.clock.now());
        if !station.is_guest() {
            self.link(cluster, LinkEvent::Wanted, changes);
        }
    }

    /// Tells a cluster's link what happened, and does what it asks for.
    pub(super) fn link(&mut self, cluster: &ClusterName, event: LinkEvent, changes: &mut ChangeSet) {
        let now = self.ports.clock.now();
        let dice = LinkDice((self.ports.dice.fraction() * f64::from(u16::MAX)) as u16);
        let Some(station) = self.stations.get_mut(cluster) else { return };
        let all_listed = event == LinkEvent::AllListed;
        let before = std::mem::discriminant(station.machine.link());
        let effect = station.step(event, now, dice);
        if before != std::mem::discriminant(station.machine.link()) {
            tracing::info!(%cluster, link = ?station.machine.link(), "the link changed");
        }
        station.judged |= all_listed;
        match effect {
            Some(LinkEffect::Connect) => {
                station.disconnect();
                station.retry_at = None;
                station.epoch = Epoch(station.epoch.0 + 1);
                let connector = station.member.connector.clone();
                self.aside.spawn(attempt::connect(cluster.clone(), station.epoch, connector));
            }
            Some(LinkEffect::RetryAt(at)) => {
                station.retry_at = Some(at);
                lose(&mut self.world, station, changes);
            }
            Some(LinkEffect::Disconnect) => {
                station.retry_at = None;
                lose(&mut self.world, station, changes);
            }
            None => {}
        }
        changes.extend(self.world.put_cluster(station.cluster()));
    }

    /// Notes why a guest is let go of, before it is.
    pub(super) fn rest(&mut self, cluster: &ClusterName, changes: &mut ChangeSet) {
        let now = self.ports.clock.now();
        let Some(station) = self.stations.get_mut(cluster) else { return };
        if matches!(station.machine.link(), Link::Live { .. }) {
            station.rest = Gap::new(GapCause::NotObserved, format!("read at {now:.0}, not watched"));
        }
        lose(&mut self.world, station, changes);
    }
}

/// Ends a station's connection and says of everything it held that it can't be relied on.
fn lose(world: &mut World, station: &mut Station, changes: &mut ChangeSet) {
    station.disconnect();
    // Late reports of the connection that ended must not look like news.
    station.epoch = Epoch(station.epoch.0 + 1);
    for interest in &station.interests {
        let gap = station.rest.clone();
        changes.extend(world.apply(&interest.id, interest.fact, Delta::Lost { gap }).1);
    }
    station.asked.values_mut().for_each(|asked| *asked = Asked::Answered);
}
