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
    order: RowOrder,
    pub list: ListState<ClusterName>,
    pub filter_text: String,
}

/// Whether the rows have to be arranged again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum RowOrder {
    #[default]
    Current,
    /// A cluster came, went, or belongs elsewhere.
    Outdated,
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

    /// Takes in a cluster, or that it left.
    pub fn put(&mut self, name: ClusterName, cluster: Option<Cluster>, now: Timestamp) {
        self.links.put(&name, cluster.as_ref(), self.unread.contains_key(&name), now);
        let moves = match (self.clusters.get(&name), &cluster) {
            (Some(before), Some(after)) => is_moved(before, after),
            (None, None) => false,
            (Some(_), None) | (None, Some(_)) => true,
        };
        if moves {
            self.order = RowOrder::Outdated;
        }
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

    /// Sorts the rows again where clusters came, went or moved. Links change far more often, and move nothing.
    pub fn follow_moves(&mut self) {
        if self.order == RowOrder::Outdated {
            self.arrange();
        }
    }

    /// Sorts the rows: each cluster, then its guests; local files last.
    fn arrange(&mut self) {
        self.order = RowOrder::Current;
        #[cfg(test)]
        ARRANGED.set(ARRANGED.get() + 1);
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

/// Whether a cluster has another row than before: everything that the order of the rows and the filter look at.
fn is_moved(before: &Cluster, after: &Cluster) -> bool {
    let Cluster { name: _, class, source, hosted_by, link: _, identity: _, served: _ } = before;
    *class != after.class || *source != after.source || *hosted_by != after.hosted_by
}

#[cfg(test)]
thread_local! {
    /// How often the rows were arranged.
    static ARRANGED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use trueup_core::world::{ClusterIdentity, Provider, Served};

    #[test]
    fn rows_are_arranged_when_clusters_come_go_or_move_and_not_for_links() {
        let mut sheet = FleetSheet::default();
        let cluster = |number: usize, link: Link| {
            let name = ClusterName::new(format!("c{number:04}"));
            let source = ClusterSource::Kubeconfig { context: name.to_string() };
            let (class, identity, served) =
                (RiskClass::Dev, ClusterIdentity::default(), Served::Recorded(std::collections::BTreeSet::new()));
            Cluster { name, class, source, hosted_by: None, link, identity, served }
        };
        let mut take = |clusters: Vec<(ClusterName, Option<Cluster>)>| {
            ARRANGED.set(0);
            clusters.into_iter().for_each(|(name, cluster)| sheet.put(name, cluster, Timestamp::UNIX_EPOCH));
            sheet.follow_moves();
            (ARRANGED.get(), sheet.rows().len())
        };
        let all = |link: Link| -> Vec<(ClusterName, Option<Cluster>)> {
            (0..1_000).map(|number| cluster(number, link.clone())).map(|one| (one.name.clone(), Some(one))).collect()
        };
        assert_eq!(take(all(Link::Idle)), (1, 1_000), "they come");
        assert_eq!(take(all(Link::Connecting)), (0, 1_000), "their links change");
        let prod = Cluster { class: RiskClass::Prod, ..cluster(7, Link::Connecting) };
        assert_eq!(
            take(vec![(prod.name.clone(), Some(prod))]),
            (1, 1_000),
            "a filter by class may have another answer"
        );
        assert_eq!(take(vec![(ClusterName::new("c0007"), None)]), (1, 999), "one goes");
        assert_eq!(take(vec![(ClusterName::new("c0007"), None)]), (0, 999), "it is gone already");
    }

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
        sheet.follow_moves();
        let rows: Vec<&str> = sheet.rows.iter().map(|row| row.name.as_str()).collect();
        assert_eq!(rows, ["m-cluster", "z-cluster", "a-account", "a-local"]);
    }
}
