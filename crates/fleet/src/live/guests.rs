//! Members that follow from what is known: the guests of HostedClusters, and the accounts of clusters.
//!
//! Invariants: a guest enters and leaves with the change that says so; no other guest is looked at. A guest waits for one of
//! `live_max` connections, and for its turn once all were read (`connection_budget`).

use std::collections::BTreeSet;

use super::cluster_session::{HostState, Member};
use super::connection_budget::Move;
use super::discover::{self, ClusterAccount, Guest, GuestState};
use super::session::Live;
use super::work;
use crate::connect::LinkEvent;
use trueup_core::world::{Change, ChangeSet, ClusterName, DeletionState, HostedBy, View};

impl Live {
    pub(super) fn follow_guests(&mut self, news: &ChangeSet, changes: &mut ChangeSet) {
        let changed = self.changed_guests(news);
        let mut listed = Vec::new();
        for by in changed {
            work::count(1);
            let state = discover::guest_state(self.now_view(), &by);
            match state {
                GuestState::Listed(link) => {
                    self.guest_names.insert(&by);
                    listed.push((by, link));
                }
                GuestState::HasContext | GuestState::Gone => {
                    self.guest_names.remove(&by);
                    self.leave(&by, changes);
                }
                GuestState::NotSeen => self.guest_names.remove(&by),
            }
        }
        let view = self.now_view();
        let named = |(by, link): (HostedBy, _)| Guest { name: self.guest_names.name(&by, view), hosted_by: by, link };
        let guests: Vec<Guest> = listed.into_iter().map(named).collect();
        for guest in guests {
            let management = self.sessions.get(&guest.hosted_by.cluster).and_then(|host| host.connection.as_ref());
            let is_new = !self.sessions.contains(&guest.name) && guest.link.deletion_state == DeletionState::Active;
            if let Some(connection) = management.filter(|_| is_new) {
                let member = self.resolver.member(&guest, connection);
                self.enter(member, changes);
            }
        }
        self.move_connections(changes);
    }

    /// Gives connections to guests that wait for one, in the place of others where there is none left.
    pub(super) fn move_connections(&mut self, changes: &mut ChangeSet) {
        let now = self.ports.clock.now();
        for (cluster, how) in self.sessions.moves(self.live_max, now) {
            let Some(session) = self.sessions.get_mut(&cluster) else { continue };
            if how == Move::Retire {
                session.needed = 0;
            }
            match how {
                Move::Release | Move::Retire => {
                    self.rest(&cluster, changes);
                    self.link(&cluster, LinkEvent::Released, changes);
                }
                Move::Connect | Move::ReadAgain => {
                    self.connections_given += 1;
                    session.connection_number = self.connections_given;
                    session.connected_at = now;
                    session.is_read_again = how == Move::ReadAgain;
                    self.link(&cluster, LinkEvent::Wanted, changes);
                }
            }
        }
    }

    fn now_view(&self) -> View<'_> {
        self.world.view(self.ports.clock.now())
    }

    /// The HostedClusters that changes are about, and all of a cluster that was connected or may host others than before.
    fn changed_guests(&mut self, news: &ChangeSet) -> BTreeSet<HostedBy> {
        let view = self.world.view(self.ports.clock.now());
        let mut changed = discover::changed_guests(news, view);
        for change in news.iter() {
            let Some(name) = change.whole_cluster() else { continue };
            let (Some(session), Some(cluster)) = (self.sessions.get(name), view.cluster(name)) else { continue };
            let may_host = discover::may_host(cluster);
            let hosted = HostState { epoch: session.epoch, is_connected: session.connection.is_some(), may_host };
            if session.hosted != Some(hosted) {
                changed.extend(discover::guests_of(name, view));
                if let Some(session) = self.sessions.get_mut(name) {
                    session.hosted = Some(hosted);
                }
            }
        }
        changed
    }

    /// Forgets the guest of a HostedCluster.
    fn leave(&mut self, by: &HostedBy, changes: &mut ChangeSet) {
        let known: Vec<ClusterName> = self.now_view().guests_at(by).cloned().collect();
        for name in known {
            if !self.sessions.get(&name).is_some_and(|session| session.is_guest()) {
                continue;
            }
            let removed = self.sessions.remove(&name);
            if removed.is_some_and(|session| session.clock_shown.is_some()) {
                self.clock_changes.insert(name.clone(), None);
            }
            changes.extend(self.world.remove_cluster(&name));
        }
    }

    /// Accounts enter with the first object that points into them, and stay.
    pub(super) fn follow_accounts(&mut self, news: &ChangeSet, changes: &mut ChangeSet) {
        let changed: BTreeSet<&ClusterName> = news.iter().map(Change::cluster).collect();
        for account in changed.into_iter().flat_map(|cluster| self.accounts_of(cluster)).collect::<Vec<_>>() {
            if !self.sessions.contains(&account.name)
                && let Some(member) = self.account(&account)
            {
                self.enter(member, changes);
            }
        }
    }

    fn accounts_of(&self, cluster: &ClusterName) -> Vec<ClusterAccount> {
        work::count(1);
        let view = self.now_view();
        view.cluster(cluster).map(|cluster| discover::accounts_of(cluster, view, &self.needed)).unwrap_or_default()
    }

    /// An account is read with its cluster's credentials, so a new connection to the cluster gives the account a new
    /// connector, used at once: the old one would read Secrets with a login that may have ended.
    pub(super) fn renew_account_of(&mut self, cluster: &ClusterName, changes: &mut ChangeSet) {
        for account in self.accounts_of(cluster) {
            let renewed = self.account(&account);
            if let (Some(session), Some(member)) = (self.sessions.get_mut(&account.name), renewed) {
                session.member.connector = member.connector;
                self.link(&account.name, LinkEvent::KubeconfigChanged, changes);
            }
        }
    }

    fn account(&self, account: &ClusterAccount) -> Option<Member> {
        let session = self.sessions.get(&account.cluster)?;
        let connection = session.connection.as_ref()?;
        self.resolver.account_of(account, &session.cluster(), &connection.client)
    }

    /// Guests are reached over their management cluster's connection, so a new one gives them new connectors.
    pub(super) fn renew_guests_of(&mut self, management: &ClusterName) {
        let Some(connection) = self.connection(management).cloned() else { return };
        let view = self.world.view(self.ports.clock.now());
        for by in discover::guests_of(management, view) {
            let GuestState::Listed(link) = discover::guest_state(view, &by) else { continue };
            let guest = Guest { name: self.guest_names.name(&by, view), hosted_by: by, link };
            if let Some(session) = self.sessions.get_mut(&guest.name).filter(|session| session.is_guest()) {
                session.member.connector = self.resolver.member(&guest, &connection).connector;
            }
        }
    }
}
