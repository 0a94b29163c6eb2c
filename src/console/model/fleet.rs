//! The fleet's list: clusters, with guests below their management cluster.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::links::Links;
use crate::console::table::ListState;
use trueup_core::world::{ClockSkew, Cluster, ClusterName, ClusterSource, Link, RiskClass};
use trueup_fleet::live::UnreadLists;

#[derive(Debug, Default)]
pub struct FleetSheet {
    clusters: BTreeMap<ClusterName, Cluster>,
    /// Clocks that differ too much from the local one.
    clocks: BTreeMap<ClusterName, ClockSkew>,
    /// Lists of live clusters that could not be read.
    unread: BTreeMap<ClusterName, UnreadLists>,
    links: Links,
    /// In list order, filtered.
    rows: Vec<FleetRow>,
    names: Vec<ClusterName>,
    pub list: ListState<ClusterName>,
    pub filter_text: String,
}

/// A cluster's position in the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FleetRow {
    pub name: ClusterName,
    pub hangs: Hangs,
}

/// Relation of a row to the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hangs {
    Root,
    Between,
    Last,
}

impl FleetSheet {
    pub fn get(&self, name: &ClusterName) -> Option<&Cluster> {
        self.clusters.get(name)
    }

    pub fn clusters(&self) -> impl Iterator<Item = &Cluster> {
        self.clusters.values()
    }

    pub fn total(&self) -> usize {
        self.clusters.len()
    }

    pub fn rows(&self) -> &[FleetRow] {
        &self.rows
    }

    /// The list state and its rows.
    pub fn list_and_rows(&mut self) -> (&mut ListState<ClusterName>, &[ClusterName]) {
        (&mut self.list, &self.names)
    }

    /// The class of a cluster; an unknown cluster is prod.
    pub fn class_of(&self, name: &ClusterName) -> RiskClass {
        self.clusters.get(name).map_or_else(RiskClass::default, |cluster| cluster.class)
    }

    pub fn put(&mut self, name: ClusterName, cluster: Option<Cluster>, now: Timestamp) {
        self.links.put(&name, cluster.as_ref(), self.unread.contains_key(&name), now);
        match cluster {
            Some(cluster) => self.clusters.insert(name, cluster),
            None => self.clusters.remove(&name),
        };
    }

    /// The connections of all clusters, counted.
    pub fn links(&self) -> &Links {
        &self.links
    }

    /// Takes in a clock that differs too much from the local one, or that it no longer does.
    pub fn put_clock(&mut self, name: ClusterName, clock: Option<ClockSkew>) {
        match clock {
            Some(clock) => self.clocks.insert(name, clock),
            None => self.clocks.remove(&name),
        };
    }

    /// Takes in the lists of a live cluster that could not be read, or that all were.
    pub fn put_lists(&mut self, name: ClusterName, lists: Option<UnreadLists>, now: Timestamp) {
        self.links.put(&name, self.clusters.get(&name), lists.is_some(), now);
        match lists {
            Some(lists) => self.unread.insert(name, lists),
            None => self.unread.remove(&name),
        };
    }

    /// The lists of a live cluster that could not be read.
    pub fn unread(&self, cluster: &Cluster) -> Option<&UnreadLists> {
        self.unread.get(&cluster.name).filter(|_| matches!(cluster.link, Link::Live { .. }))
    }

    /// The clocks that differ too much from the local one.
    pub fn clocks(&self) -> &BTreeMap<ClusterName, ClockSkew> {
        &self.clocks
    }

    /// Shows only clusters with all of these words in their name, class or source.
    pub fn filter_by(&mut self, text: &str) {
        self.filter_text = text.to_owned();
        self.arrange();
    }

    /// Sorts the rows: each cluster, then its guests; local files last.
    pub fn arrange(&mut self) {
        let host = |cluster: &Cluster| {
            let by = cluster.hosted_by.as_ref().map(|by| by.cluster.clone());
            by.filter(|by| self.clusters.contains_key(by) && *by != cluster.name)
        };
        let mut guests: BTreeMap<ClusterName, Vec<&Cluster>> = BTreeMap::new();
        let mut roots = Vec::new();
        for cluster in self.clusters.values() {
            match host(cluster) {
                Some(by) => guests.entry(by).or_default().push(cluster),
                None => roots.push(cluster),
            }
        }
        // Clusters first, then accounts, then local kubeconfig files.
        roots.sort_by_key(|member| (member.source == ClusterSource::Local, member.source.is_account()));
        let mut rows = Vec::new();
        for root in roots {
            let shown: Vec<&&Cluster> =
                guests.get(&root.name).into_iter().flatten().filter(|guest| self.fits(guest)).collect();
            if !shown.is_empty() || self.fits(root) {
                rows.push(FleetRow { name: root.name.clone(), hangs: Hangs::Root });
            }
            let last = shown.len().saturating_sub(1);
            for (place, guest) in shown.into_iter().enumerate() {
                let hangs = if place == last { Hangs::Last } else { Hangs::Between };
                rows.push(FleetRow { name: guest.name.clone(), hangs });
            }
        }
        self.names = rows.iter().map(|row| row.name.clone()).collect();
        self.rows = rows;
    }

    pub fn settle(&mut self, height: usize) {
        self.list.apply(self.names.as_slice(), height);
    }

    /// The selected cluster.
    pub fn cursor(&self) -> Option<&Cluster> {
        self.clusters.get(self.list.cursor()?)
    }

    fn fits(&self, cluster: &Cluster) -> bool {
        let text = format!("{} {} {}", cluster.name, cluster.class.as_str(), cluster.source.as_str()).to_lowercase();
        self.filter_text.split_whitespace().all(|word| text.contains(&word.to_lowercase()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trueup_core::world::{ClusterIdentity, Provider, Served};

    #[test]
    fn clusters_sort_before_accounts_and_accounts_before_local_files() {
        let account = || ClusterSource::Cloud {
            provider: Provider::Ibm,
            account: "a".to_owned(),
            used_from: trueup_core::world::MemberRule::default(),
        };
        let kubeconfig = |name: &str| ClusterSource::Kubeconfig { context: name.to_owned() };
        let mut sheet = FleetSheet::default();
        for (name, source) in [
            ("a-account", account()),
            ("a-local", ClusterSource::Local),
            ("z-cluster", kubeconfig("z-cluster")),
            ("m-cluster", kubeconfig("m-cluster")),
        ] {
            let name = ClusterName::new(name);
            let (class, identity, served) =
                (RiskClass::Dev, ClusterIdentity::default(), Served::Recorded(std::collections::BTreeSet::new()));
            let cluster =
                Cluster { name: name.clone(), class, source, hosted_by: None, link: Link::Idle, identity, served };
            sheet.put(name, Some(cluster), Timestamp::UNIX_EPOCH);
        }
        sheet.arrange();
        let rows: Vec<&str> = sheet.rows.iter().map(|row| row.name.as_str()).collect();
        assert_eq!(rows, ["m-cluster", "z-cluster", "a-account", "a-local"]);
    }
}
